// How people and groups are written to an application by SCIM 2.0, as it is declared. The token is stored apart, sealed.
import { z } from 'zod';
import { type Fault, fault, faultFrom, rule } from '../../base/texts/faults.ts';
import { typedAddress, webUriFault, webUriSchema } from '../uris.ts';
import { applicationFields } from './application-field.ts';
import { userField } from './claim-settings.ts';

const MOST_ATTRIBUTES = 50;

/** The parts of the path of an attribute: `urn:…:User:department`, `phoneNumbers[type eq "work"].value`, `title`. */
export const SCIM_PATH =
  /^(?:(urn:[A-Za-z0-9._:-]{1,200}):)?([A-Za-z][A-Za-z0-9-]{0,60})(?:\[type eq "([A-Za-z0-9-]{1,30})"\])?(?:\.([A-Za-z][A-Za-z0-9-]{0,60}))?$/;
/** Written by rules of their own, or not by a client (RFC 7643 3.1). */
const NOT_MAPPED = new Set(['id', 'meta', 'schemas', 'username', 'externalid', 'active', 'groups', 'password']);
const isMappable = (path: string) => {
  const [, urn, name = ''] = SCIM_PATH.exec(path) ?? [];
  return name !== '' && (urn !== undefined || !NOT_MAPPED.has(name.toLowerCase()));
};

const settings = z.strictObject({
  url: typedAddress(2048)
    .superRefine(faultFrom(webUriFault))
    .refine((url) => !URL.canParse(url) || new URL(url).search + new URL(url).hash === '', rule('no-query'))
    .transform((url) => url.replace(/\/+$/, ''))
    .meta(webUriSchema),
  dialect: z.enum(['standard', 'entra']).optional(),
  user_name: z.enum(['username', 'email']).optional(),
  attributes: z
    .record(z.string().max(300).refine(isMappable, rule('scim-attribute')), userField)
    .refine((given) => Object.keys(given).length <= MOST_ATTRIBUTES, rule('max-entries', { entries: MOST_ATTRIBUTES }))
    .optional(),
  groups: z.boolean().optional(),
  adopt: z.enum(['never', 'user_name']).optional(),
  delete_policy: z.enum(['deactivate', 'delete']).optional(),
  max_leavers_percent: z.int().min(1).max(100).optional(),
});
export type ProvisionSettings = z.output<typeof settings>;

const declared = settings.extend({
  token: z
    .string()
    .min(1)
    .max(4096)
    .regex(/^[\x21-\x7e]+$/, rule('visible-ascii'))
    .optional(),
  token_file: z.string().max(1000).optional(),
});
export type Provision = z.output<typeof declared>;

export const provisionField = {
  provision: declared
    .optional()
    .describe('people and groups are [written to it by SCIM](provisioning.md); either `token` or `token_file`')
    .register(applicationFields, { section: 'provisioning', gives: 'people' }),
};

/** Every setting, with its default. */
export const withDefaults = (provision: ProvisionSettings): Required<ProvisionSettings> => ({
  dialect: 'standard',
  user_name: 'username',
  attributes: {},
  groups: false,
  adopt: 'never',
  delete_policy: 'deactivate',
  max_leavers_percent: 20,
  ...provision,
});

/** The declaration as it is stored, without the secret. */
export function withoutToken<Settings extends { provision?: Provision | undefined }>(given: Settings): Settings {
  if (given.provision === undefined) return given;
  const { token: _token, token_file: _file, ...provision } = given.provision;
  return { ...given, provision };
}

/** One token, here or in a file. */
export const provisionFaults = ({ provision }: { provision?: Provision | undefined }): Fault[] =>
  provision?.token !== undefined && provision.token_file !== undefined
    ? [fault(['provision', 'token_file'], 'not-with', { key: 'token' })]
    : [];
