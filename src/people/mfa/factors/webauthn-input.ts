// Parses the response of a WebAuthn ceremony, which a browser sends as JSON in a form field, and limits its size.
// passkeys.ts verifies it.
import { z } from 'zod';

const base64url = z.string().regex(/^[A-Za-z0-9_-]*$/);
const bytes = base64url.max(16_384); // attestation objects carry certificates
const credential = { id: base64url.min(1).max(1400), rawId: base64url.max(1400), type: z.literal('public-key') };
const extensions = z.object({ credProps: z.object({ rk: z.boolean().optional() }).optional() }).default({});
const attachment = z
  .enum(['platform', 'cross-platform'])
  .nullish()
  .transform((value) => value ?? undefined);

const attestation = z.object({
  ...credential,
  authenticatorAttachment: attachment,
  clientExtensionResults: extensions,
  response: z.object({
    clientDataJSON: bytes,
    attestationObject: bytes,
    transports: z.array(z.string().max(20)).max(10).optional(),
  }),
});

const assertion = z.object({
  ...credential,
  authenticatorAttachment: attachment,
  clientExtensionResults: extensions,
  response: z.object({
    clientDataJSON: bytes,
    authenticatorData: bytes,
    signature: bytes,
    userHandle: base64url
      .max(128)
      .nullish()
      .transform((value) => value ?? undefined),
  }),
});

export type AttestationResponse = z.output<typeof attestation>;
export type AssertionResponse = z.output<typeof assertion>;

/** The response to registration options; undefined when it is malformed. */
export function parseAttestation(text: string): AttestationResponse | undefined {
  return attestation.safeParse(fromJson(text)).data;
}

/** The response to authentication options; undefined when it is malformed. */
export function parseAssertion(text: string): AssertionResponse | undefined {
  return assertion.safeParse(fromJson(text)).data;
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
