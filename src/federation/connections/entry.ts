// A stored connection as an entry declares it, for the plan, the export, the API and the forms. It never has a secret.
import type { Connection } from './connection.ts';
import type { ConnectionDomain } from './domains.ts';
import { declaredMappings, type RoleMapping } from './role-mappings.ts';
import { type ConnectionEntry, defaultsOf, partsOf } from './schema.ts';

export type DeclaredConnection = Record<string, unknown> & { id: string };

export interface ConnectionLists {
  domains: readonly Pick<ConnectionDomain, 'domain'>[];
  roleMappings: readonly RoleMapping[];
}

/** Every field of a connection. */
export function entryOf(connection: Connection, { domains, roleMappings }: ConnectionLists): DeclaredConnection {
  const { id, kind, preset, name, enabled, position: order, settings } = connection;
  const lists = { domains: domains.map(({ domain }) => domain), role_mappings: declaredMappings(roleMappings) };
  return { id, kind, preset, name, enabled, order, ...settings, ...lists };
}

/** The same of a checked entry, so that both can be compared. */
export function entryWithoutSecrets(entry: ConnectionEntry): DeclaredConnection {
  const { id, kind, preset, name, enabled, order, settings, domains, roleMappings } = partsOf(entry);
  const mappings = Object.entries(roleMappings).map(([group, roles]) => [group, [...new Set(roles)].sort()] as const);
  const lists = {
    domains: [...new Set(domains)].sort(),
    role_mappings: Object.fromEntries(mappings.sort(([a], [b]) => (a < b ? -1 : 1))),
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
