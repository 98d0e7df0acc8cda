// The schema of gatehouse.yaml: every key and its values. Checks that need the database (whether a role exists) run when
// the plan is made.

import { z } from 'zod';
import { accessField, type OidcClient } from '../applications/fields/oidc-client.ts';
import type { ProxiedEntry } from '../applications/fields/proxied-application.ts';
import type { ServiceProviderEntry } from '../applications/fields/service-provider.ts';
import { agentSchemas, apiScope, type Resource, scopeFaults } from '../applications/resources.ts';
import { resourceFault, resourceSchema, typedAddress } from '../applications/uris.ts';
import { limits } from '../base/limits.ts';
import { emailDomain } from '../base/network/domains.ts';
import { defined } from '../base/platform/defined.ts';
import { line, nameUpTo } from '../base/schemas/line-schema.ts';
import { isStorableTime } from '../base/storage/storable-text.ts';
import { type Fault, fault, faultFrom, rule } from '../base/texts/faults.ts';
import { keyAlgs } from '../core/keys/rotation.ts';
import { settingSchemas } from '../core/settings/settings.ts';
import type { ConnectionEntry } from '../federation/connections/schema.ts';
import type { Profile } from '../people/accounts/profile.ts';
import { addressSchema, textFieldNames, textFields, textSchemas } from '../people/accounts/profile-fields.ts';
import { isAcceptableHash } from '../people/credentials/password.ts';
import { parseTotpKey } from '../people/mfa/factors/totp-key.ts';
import { OWN_PREFIX } from '../people/rbac/built-in.ts';
import {
  isDeceptivePermission,
  isGroupName,
  isRoleName,
  parsePermission,
  permissionSchema,
} from '../people/rbac/names.ts';
import { isBrokenLimit, limitSyntax } from '../people/rbac/rights.ts';
import { eventStreamFields, streamSecret } from '../protocols/event-streams/streams.ts';
import { scimDeclaration } from '../protocols/scim/connections.ts';

export const settings = z.strictObject(
  // Absent means "not declared here", so no defaults are filled in.
  Object.fromEntries(
    Object.entries(settingSchemas).map(([name, schema]) => {
      const { description = '' } = schema;
      return [name, schema.unwrap().optional().describe(description)];
    }),
  ) as {
    [Name in keyof typeof settingSchemas]: z.ZodOptional<ReturnType<(typeof settingSchemas)[Name]['unwrap']>>;
  },
);

const isPermission = (value: string) => parsePermission(value) !== undefined;
const permission = z
  .string()
  .refine(isPermission, rule('permission'))
  .refine((value) => !isDeceptivePermission(value), rule('like-permission'))
  .meta(permissionSchema);
const isOrdinary = (value: string) => !value.startsWith(OWN_PREFIX);

export const resource = z.strictObject({
  identifier: typedAddress(255)
    .min(1)
    .overwrite((uri) => uri.replace(/^https?:\/\/[^/?#]*/i, (origin) => origin.toLowerCase()))
    .superRefine(faultFrom(resourceFault))
    .meta(resourceSchema),
  scopes: z.array(apiScope).default([]),
  scope_permissions: z.record(z.string(), permission.refine(isOrdinary, rule('own-permission'))).default({}),
  scope_titles: z
    .record(z.string(), nameUpTo(100))
    .default({})
    .describe('scope to what it lets an application do, as people read it on the consent page; default: its name'),
  signing_alg: z.enum(keyAlgs).default('RS256'),
  access: accessField.access.describe(
    'which users get tokens for it: as for [applications](#clients); a client that acts for itself is not asked',
  ),
  ...agentSchemas,
});

export const role = z.strictObject({
  name: z.string().refine(isRoleName, rule('role-name')),
  description: z.string().max(1000).default(''),
  permissions: z.array(permission.refine((text) => !isBrokenLimit(text), limitSyntax)).default([]),
});

const instant = z.iso.datetime({ offset: true }).optional();
const times = { since: instant, until: instant };

const text = z.string().nullable().optional(); // null clears the field; an absent one is not changed

export const user = z.strictObject({
  username: z
    .string()
    .describe('up to 64 characters without spaces; unique, independent of case and look-alike alphabets'),
  sub: z
    .string()
    .regex(/^[\w.~|-]{8,64}$/, rule('subject'))
    .optional()
    .describe('subject identifier (user ID), 8 to 64 of `A-Z a-z 0-9 . _ ~ | -`; default: generated. Never changes'),
  email: text.describe('unique; may be used to sign in'),
  email_verified: z.boolean().optional().describe('whether the address is verified'),
  ...textSchemas(z.string(), (one) => one.nullable().optional()),
  phone_number: text.describe('verified only by a code that was sent to it'),
  address: addressSchema
    .nullable()
    .optional()
    .describe('postal address (OpenID Connect Core 5.1.1); replaces the whole address'),
  sso_id: text.describe('its subject at `sso_connection` ([connections](connections.md#what-a-user-experiences))'),
  sso_connection: text.describe('`null` disconnects'),
  attributes: z
    .record(line.max(64), z.json())
    .optional()
    .describe('further fields, for claims and SAML attributes as `attributes.NAME`'),
  active: z.boolean().default(true).describe('`false` disables the account: no sign-in, and its tokens stop working'),
  active_from: instant.nullable().describe('the account can be used from then on; `null`: at once'),
  active_until: instant.nullable().describe('and until then; `null`: no end'),
  password: z
    .string()
    .min(limits.password.minWithMfa)
    .max(limits.password.max)
    .optional()
    .describe('in plain text; stored as Argon2id'),
  password_hash: z
    .string()
    .refine(isAcceptableHash, rule('hash'))
    .optional()
    .describe('Argon2id, bcrypt, scrypt or PBKDF2 from another system'),
  totp_secret: z
    .string()
    .refine(isTotpSecret, rule('totp-key'))
    .optional()
    .describe(
      'key of an authenticator app: a base32 secret, or an `otpauth://totp/` URI with `algorithm` (SHA1, SHA256, SHA512), `digits` (6 to 8) and `period` (15 to 120 seconds)',
    ),
  roles: z
    .array(z.union([line, z.strictObject({ name: line, ...times })]))
    .default([])
    .describe('names of roles; each must exist. `{ name: editor, until: 2026-12-31T00:00:00Z }` has an end'),
});

const person = z.union([line, z.strictObject({ username: line, ...times })]);

export const group = z.strictObject({
  name: z
    .string()
    .refine(isGroupName, rule('group-name-form'))
    .describe('up to 100 characters; unique, independent of case and look-alike alphabets'),
  description: z.string().max(1000).default(''),
  members: z
    .array(person)
    .optional()
    .describe(
      'usernames; `{ username: zoe, until: 2026-12-31T00:00:00Z }` has an end. Without the key, the members are managed elsewhere',
    ),
  groups: z.array(line).default([]).describe('names of the groups directly below'),
  roles: z.array(line).default([]).describe('names of the roles of the members'),
  owners: z
    .array(z.union([line, z.strictObject({ username: line, until: instant })]))
    .optional()
    .describe('usernames, as for `members`; without the key, nobody’s ownership changes'),
  domains: z
    .array(emailDomain)
    .max(50)
    .default([])
    .describe('email domains whose people join at sign-in, see [domains](groups.md#domains)'),
  requests: z.boolean().default(false).describe('people may ask to become members'),
});

/** A SCIM connection with its token. */
export const scimConnection = z.strictObject({
  id: z
    .string()
    .regex(/^\w[\w-]{0,39}$/)
    .describe('never changes; letters, digits, `-`, `_`'),
  ...scimDeclaration.shape,
  token: z.string().min(32).max(256).optional().describe('what the directory sends (`openssl rand -base64 48`)'),
  token_file: z.string().max(1000).optional().describe('file with the token, relative to the configuration file'),
});

export const signUpCode = z.strictObject({
  name: nameUpTo(100),
  code: z.string().min(limits.signUpCode.minLength).max(limits.signUpCode.maxLength).optional(),
  max_uses: z.int().min(1).max(limits.signUpCode.maxUses).default(1),
  expires_at: z.iso.datetime({ offset: true }).optional(),
});

/** An entry as applications/resources.ts takes it. */
export function resourceInput(
  identifier: string,
  entry: Omit<DeclaredResource, 'identifier'>,
): Omit<Resource, 'source'> {
  const { scopes, scope_permissions: scopePermissions, scope_titles: scopeTitles, signing_alg: signingAlg } = entry;
  const { access, clients, document_hosts: documentHosts, agent_scopes: agentScopes } = entry;
  const ofScopes = { scopes, scopePermissions, scopeTitles };
  return { identifier, ...ofScopes, signingAlg, access, clients, documentHosts, agentScopes };
}

/** Rules between the fields of an API. */
export const resourceRules = ({ identifier, ...entry }: DeclaredResource): Fault[] =>
  scopeFaults(resourceInput(identifier, entry));

export type DeclaredSettings = z.output<typeof settings>;
export type DeclaredResource = z.output<typeof resource>;
export type DeclaredRole = z.output<typeof role>;
export type DeclaredGroup = z.output<typeof group>;
export type DeclaredUser = z.output<typeof user>;
export type DeclaredScimConnection = z.output<typeof scimConnection>;

/** An event stream with its secret. */
export const eventStream = z.strictObject({
  id: scimConnection.shape.id,
  ...eventStreamFields,
  secret: streamSecret
    .optional()
    .describe(
      'of a webhook: `whsec_` and Base64, required for a new one; of a `siem`: its token. Without it, the stored one stays',
    ),
  secret_file: z.string().max(1000).optional().describe('file with the secret, relative to the configuration file'),
});
export type DeclaredEventStream = z.output<typeof eventStream>;
export type DeclaredSignUpCode = z.output<typeof signUpCode>;

export const entrySections = [
  'resources',
  'clients',
  'service_providers',
  'proxied_applications',
  'roles',
  'groups',
  'connections',
  'users',
  'sign_up_codes',
  'scim',
  'event_streams',
] as const;

const ofSections = <Value>(make: () => Value) =>
  Object.fromEntries(entrySections.map((section) => [section, make()])) as Record<EntrySection, Value>;

/** The top level: sections are lists of entries that are checked one by one. */
export const top = z.strictObject({
  settings: z.looseObject({}).nullable().optional(),
  ...ofSections(() => z.array(z.unknown()).nullable().optional()),
});

/** A file that declares nothing. */
export const emptyDeclaration = (): Declared => ({ settings: {}, ...ofSections(() => []) });

export type EntrySection = (typeof entrySections)[number];

export type Declared = {
  settings: DeclaredSettings;
  resources: DeclaredResource[];
  clients: OidcClient[];
  service_providers: ServiceProviderEntry[];
  proxied_applications: ProxiedEntry[];
  roles: DeclaredRole[];
  groups: DeclaredGroup[];
  connections: ConnectionEntry[];
  users: DeclaredUser[];
  sign_up_codes: DeclaredSignUpCode[];
  scim: DeclaredScimConnection[];
  event_streams: DeclaredEventStream[];
};

/** A role of a user, or a person in a group: a name, or an object with the name and times. */
export interface Timed {
  name: string;
  since: Date | null;
  until: Date | null;
}

type DeclaredTimed =
  | string
  | { username?: string; name?: string; since?: string | undefined; until?: string | undefined };

export function timed(declared: DeclaredTimed): Timed {
  if (typeof declared === 'string') return { name: declared, since: null, until: null };
  const { username, name = username ?? '', since, until } = declared;
  return {
    name,
    since: since === undefined ? null : new Date(since),
    until: until === undefined ? null : new Date(until),
  };
}

/** The same as the file declares it. */
export function declaredTimed(
  key: 'name' | 'username',
  { name, since, until }: Timed,
): string | Record<string, string> {
  if (since === null && until === null) return name;
  return {
    [key]: name,
    ...(since && { since: since.toISOString() }),
    ...(until && { until: until.toISOString() }),
  };
}

/** What has not ended. */
export const lasting = <One extends { until: Date | null }>(list: readonly One[], now: Date): One[] =>
  list.filter(({ until }) => until === null || until > now);

/** The faults of a list of them: times in the wrong order, and a name that is in it twice. */
export function timedFaults(
  path: string,
  list: readonly DeclaredTimed[],
  keyOf: (name: string) => string = (name) => name,
): Fault[] {
  const first = new Map<string, number>();
  return list.map(timed).flatMap(({ name, since, until }, index) => {
    const key = keyOf(name);
    const before = first.get(key);
    first.set(key, before ?? index);
    const far = Object.entries({ since, until }).filter(([, at]) => at !== null && !isStorableTime(at));
    return [
      ...far.map(([field]) => fault([path, index, field], 'wrong-form')),
      ...(since && until && until <= since ? [fault([path, index, 'until'], 'end-passed')] : []),
      ...(before === undefined ? [] : [fault([path, index], 'declared-already', { where: `${path}[${before}]` })]),
    ];
  });
}

function isTotpSecret(value: string): boolean {
  try {
    return parseTotpKey(value).secret !== '';
  } catch {
    return false;
  }
}

/** The profile of an entry, without the fields that it leaves out. */
export function profileOf(entry: DeclaredUser): Profile {
  const { username } = entry;
  const texts = textFieldNames.map((field) => [field, entry[textFields[field].claim]] as const);
  const profile: Partial<Profile> = {
    ...Object.fromEntries(texts),
    email: entry.email,
    emailVerified: entry.email_verified,
    phoneNumber: entry.phone_number,
    address: entry.address,
    ssoId: entry.sso_id,
    attributes: entry.attributes,
    activeFrom: momentOf(entry.active_from),
    activeUntil: momentOf(entry.active_until),
  };
  return { username, ...(defined(profile) as Partial<Profile>) };
}

const momentOf = (text: string | null | undefined): Date | null | undefined =>
  text ? new Date(text) : (text as null | undefined);

/** `givenName` -> `given_name`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Without the fields that have their default value, or none, as the file declares an entry. */
export function withoutDefaults(
  entry: Record<string, unknown>,
  defaults: Record<string, unknown>,
): Record<string, unknown> {
  const isOwn = ([key, value]: [string, unknown]) =>
    value !== undefined && value !== null && JSON.stringify(value) !== JSON.stringify(defaults[key]);
  return Object.fromEntries(Object.entries(entry).filter(isOwn));
}
