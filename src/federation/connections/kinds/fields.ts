// Field schemas that several kinds of connection use.

import { z } from 'zod';
import { characterFault, typedAddress, webUriFault, webUriSchema } from '../../../applications/uris.ts';
import { limits } from '../../../base/limits.ts';
import type { DescribedField } from '../../../base/platform/described-fields.ts';
import { line } from '../../../base/schemas/line-schema.ts';
import { type Fault, faultFrom, rule } from '../../../base/texts/faults.ts';
import { authorityFault, certificateFault, certificatePem } from '../../../core/keys/foreign-keys.ts';

/** The parts of the console's form of a connection. */
export type ConnectionSection = 'upstream' | 'button' | 'users' | 'roles' | 'assurance';

/** What is known about a field of a connection beside its schema: form and documents follow from it. */
export interface ConnectionField extends DescribedField<ConnectionSection> {
  /** The preset of the one vendor that has it; empty: none, another field says it. */
  vendor?: string;
}

export const connectionFields = z.registry<ConnectionField>();

/** Fields of one section; null: no field of the form. A field that says more of itself is registered already. */
export function inSection<Fields extends Record<string, z.ZodType>>(
  section: ConnectionSection | null,
  fields: Fields,
): Fields {
  for (const schema of Object.values(fields))
    if (!connectionFields.has(schema)) connectionFields.add(schema, { section });
  return fields;
}

/** https, or http on a loopback address; the outgoing fetch checks the address again at each call. */
export const webUri = typedAddress(2048).superRefine(faultFrom(webUriFault)).meta(webUriSchema);

/** An issuer, whose rules depend on the preset. */
export const issuerUrl = typedAddress(2048).superRefine(faultFrom(characterFault));

/** The name or path of a claim: `groups`, `realm_access.roles`, or a namespaced claim such as `https://example.com/roles`. */
export const claimPath = line;

export const scope = z
  .string()
  .max(255)
  .regex(/^[\x21\x23-\x5b\x5d-\x7e]+$/, rule('scope'));

const pem = (faultOf: (value: string) => Fault | undefined) =>
  z.string().trim().superRefine(faultFrom(faultOf)).overwrite(certificatePem);

/** A certificate in PEM form whose key verifies signatures. */
export const certificate = pem(certificateFault);

/** A certificate of an authority in PEM form. */
export const authority = pem(authorityFault);

/** One secret, or several with the time at which each ends at the upstream. */
export const secretValues = z.union([
  z
    .string()
    .min(1)
    .max(16_384)
    .transform((value): DeclaredSecret[] => [{ value }]),
  z
    .array(
      z.strictObject({
        value: z.string().min(1).max(16_384),
        expires_at: z.iso.datetime({ offset: true }).or(z.iso.date()).optional(),
      }),
    )
    .min(1)
    .max(limits.connections.maxSecrets),
]);

/** The end is text, because an entry of the configuration file crosses a thread as JSON. */
export type DeclaredSecret = { value: string; expires_at?: string | undefined };
