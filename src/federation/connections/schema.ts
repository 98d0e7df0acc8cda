// An entry of `connections:` as the file, the API and the console declare it: one object per connection, checked by
// its kind, with the defaults of its preset.

import type { z } from 'zod';
import { type Checked, check, type Fault, fault } from '../../base/texts/faults.ts';
import { type Connection, type ConnectionKind, connectionKinds } from './connection.ts';
import type { ConnectionDomain } from './domains.ts';
import type { DeclaredSecret } from './kinds/fields.ts';
import { checkLdapFields, ldapEntry } from './kinds/ldap.ts';
import { oauth2Entry, oauth2Rules } from './kinds/oauth2.ts';
import { checkOidcFields, oidcEntry } from './kinds/oidc.ts';
import { checkSamlFields, samlEntry } from './kinds/saml.ts';
import { presetOf, presets } from './presets/presets.ts';
import { declaredMappings, type Mappings } from './role-mappings.ts';

export type OidcEntry = z.output<typeof oidcEntry>;
export type SamlEntry = z.output<typeof samlEntry>;
export type OAuth2Entry = z.output<typeof oauth2Entry>;
export type LdapEntry = z.output<typeof ldapEntry>;
export type ConnectionEntry = OidcEntry | SamlEntry | OAuth2Entry | LdapEntry;

/** The fields of an entry that hold secrets, and the purpose of each in its rows. */
export const secretPurposeByField = {
  client_secret: 'client-secret',
  private_key: 'private-key',
  bind_password: 'bind-password',
} as const;
export type SecretField = keyof typeof secretPurposeByField;
export type SecretPurpose = (typeof secretPurposeByField)[SecretField];

export const entrySchemas = { oidc: oidcEntry, saml: samlEntry, oauth2: oauth2Entry, ldap: ldapEntry } as const;

/** The entry with every default filled in, or every fault in it. */
export function checkConnection(entry: unknown): Checked<ConnectionEntry> {
  const raw = typeof entry === 'object' && entry !== null ? (entry as Record<string, unknown>) : {};
  const id = typeof raw.preset === 'string' ? raw.preset : 'generic';
  const kind = kindOf(raw, id);
  if (kind === undefined) return { ok: false, faults: [kindFault(raw)] };
  const preset = presetOf(id, kind);
  if (!preset) return { ok: false, faults: [presetFault(id, kind)] };
  const complete = { ...preset.defaults(raw), ...raw, kind, preset: id };
  switch (kind) {
    case 'oidc':
      return check(oidcEntry, complete, checkOidcFields);
    case 'saml':
      return check(samlEntry, complete, checkSamlFields);
    case 'oauth2':
      return check(oauth2Entry, complete, oauth2Rules);
    default:
      return check(ldapEntry, complete, checkLdapFields);
  }
}

/** The parts of a checked entry: columns and lists, settings, and secrets by purpose. */
export function partsOf(entry: ConnectionEntry) {
  const { id, kind, preset, name, enabled, order, domains, role_mappings, group_mappings, ...rest } = entry;
  const secrets: Partial<Record<SecretPurpose, DeclaredSecret[]>> = {};
  const settings: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(rest)) {
    if (value === undefined || key === 'metadata_file') continue;
    if (key in secretPurposeByField) secrets[secretPurposeByField[key as SecretField]] = value as DeclaredSecret[];
    else settings[key] = value;
  }
  const mappings = { roleMappings: role_mappings, groupMappings: group_mappings };
  return { id, kind, preset, name, enabled, order, domains, ...mappings, settings, secrets };
}

/** The purposes for which a kind has secrets. */
export function secretPurposesOf(kind: ConnectionKind): SecretPurpose[] {
  const keys = Object.keys(entrySchemas[kind].shape);
  return Object.entries(secretPurposeByField).flatMap(([key, purpose]) => (keys.includes(key) ? [purpose] : []));
}

/** The settings that an entry has when it declares nothing but what is required, for an export without defaults. */
export function defaultsOf(
  kind: ConnectionKind,
  preset: string,
  entry: Record<string, unknown>,
): Record<string, unknown> {
  const shape = entrySchemas[kind].shape as Record<string, z.ZodType>;
  const own = Object.entries(shape).flatMap(([key, schema]) => {
    const parsed = schema.safeParse(undefined);
    return parsed.success && parsed.data !== undefined ? [[key, parsed.data] as const] : [];
  });
  return { ...Object.fromEntries(own), ...presetOf(preset, kind)?.defaults(entry) };
}

function kindOf(raw: Record<string, unknown>, preset: string): ConnectionKind | undefined {
  if (raw.kind !== undefined) return connectionKinds.find((kind) => kind === raw.kind);
  // A preset that exists for one kind only determines the kind.
  const kinds = presets()
    .filter(({ id }) => id === preset)
    .map(({ kind }) => kind);
  return kinds.length === 1 ? kinds[0] : undefined;
}

function kindFault({ kind }: Record<string, unknown>): Fault {
  const values = connectionKinds.join(', ');
  return kind === undefined ? fault(['kind'], 'missing-choice', { values }) : fault(['kind'], 'none-of', { values });
}

function presetFault(id: string, kind: ConnectionKind): Fault {
  const kinds = presets()
    .filter((preset) => preset.id === id)
    .map((preset) => preset.kind);
  if (kinds.length > 0) return fault(['kind'], 'preset-kind', { kinds: kinds.join(' or '), preset: id });
  const known = presets()
    .filter((preset) => preset.kind === kind)
    .map((preset) => preset.id);
  return fault(['preset'], 'none-of', { values: known.join(', ') });
}

// A stored connection as an entry declares it, for the plan, the export, the API and the forms. It never has a secret.

export type DeclaredConnection = Record<string, unknown> & { id: string };

export interface ConnectionLists extends Mappings {
  domains: readonly ConnectionDomain[];
}

/** Every field of a connection. */
export function entryOf(
  connection: Connection,
  { domains, roleMappings, groupMappings }: ConnectionLists,
): DeclaredConnection {
  const { id, kind, preset, name, enabled, position: order, settings } = connection;
  const lists = {
    domains: domains.map(({ domain }) => domain),
    role_mappings: declaredMappings(roleMappings),
    group_mappings: declaredMappings(groupMappings),
  };
  return { id, kind, preset, name, enabled, order, ...settings, ...lists };
}

/** The same of a checked entry, so that both can be compared. */
export function entryWithoutSecrets(entry: ConnectionEntry): DeclaredConnection {
  const { id, kind, preset, name, enabled, order, settings, domains, roleMappings, groupMappings } = partsOf(entry);
  const sorted = (mappings: Record<string, readonly string[]>) =>
    declaredMappings(
      Object.entries(mappings).flatMap(([upstream, names]) => [...new Set(names)].map((name) => ({ upstream, name }))),
    );
  const lists = {
    domains: [...new Set(domains)].sort(),
    role_mappings: sorted(roleMappings),
    group_mappings: sorted(groupMappings),
  };
  return { id, kind, preset, name, enabled, order, ...settings, ...lists };
}

/** Without the fields that have their default, for the export and `gatehouse connection show`. */
export function shortEntryOf(connection: Connection, lists: ConnectionLists): DeclaredConnection {
  const { kind, preset } = connection;
  const entry = entryOf(connection, lists);
  const defaults = { ...defaultsOf(kind, preset, entry), id: undefined, kind: undefined };
  const short = Object.entries(entry).filter(
    ([key, value]) => JSON.stringify(value) !== JSON.stringify((defaults as Record<string, unknown>)[key]),
  );
  return Object.fromEntries(short) as DeclaredConnection;
}
