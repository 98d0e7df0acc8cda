// An application as the rest of the code sees it, read from its row: one shape for OpenID Connect clients, SAML service providers and websites
// behind a proxy. A new field goes into the file of its protocol in fields/ (CONTRIBUTING.md).

import { invalidInput } from '../base/http/errors.ts';
import { BoundedMap } from '../base/platform/bounded-map.ts';
import { OperatorError } from '../base/platform/errors.ts';
import type { Tx } from '../base/storage/database.ts';
import { trustedText } from '../base/storage/fragments.ts';
import { fault } from '../base/texts/faults.ts';
import { type Access, needsSecretValue, type OidcMetadata, oidcMetadata } from './fields/oidc-client.ts';
import { type ProxiedSettings, proxiedSettings } from './fields/proxied-application.ts';
import { type ServiceProviderSettings, serviceProviderSettings } from './fields/service-provider.ts';

/** dynamic: the client registered itself (RFC 7591). document: its client_id is the address of its metadata (client ID metadata document). */
export type ApplicationSource = 'local' | 'file' | 'dynamic' | 'document';

type Common = {
  id: string;
  /** OIDC client_id, SAML entity ID, or the origin of a website. */
  clientId: string;
  name: string;
  enabled: boolean;
  consent: 'explicit' | 'implicit';
  access: Access;
  source: ApplicationSource;
  createdAt: Date;
  updatedAt: Date;
};
export type OidcApplication = Common & { protocol: 'oidc'; metadata: OidcMetadata };
export type SamlApplication = Common & { protocol: 'saml'; metadata: ServiceProviderSettings };
/** A website behind a reverse proxy. */
export type ProxiedApplication = Common & { protocol: 'proxy'; metadata: ProxiedSettings };
export type Application = OidcApplication | SamlApplication | ProxiedApplication;
export type Protocol = Application['protocol'];

/** How an application is registered with its protocol. */
export type Registration =
  | Pick<OidcApplication, 'protocol' | 'metadata'>
  | Pick<SamlApplication, 'protocol' | 'metadata'>
  | Pick<ProxiedApplication, 'protocol' | 'metadata'>;

/**
 * Whether a new secret replaces the old one immediately: the engine signs with the newest one (HS256), which the
 * application does not know yet.
 */
export function newSecretReplacesOld({ protocol, metadata }: Registration): boolean {
  return protocol === 'oidc' && needsSecretValue(metadata);
}

/** It acts for itself only, so that nobody signs in to it. */
export function isServiceAccount({ protocol, metadata }: Application): boolean {
  return protocol === 'oidc' && metadata.grant_types?.length === 1 && metadata.grant_types[0] === 'client_credentials';
}

/** What few registrations have: prisma/schema.prisma has a partial index of each, whose condition a query repeats. */
const MARKS = {
  askGroup: '"ask_group":true',
  contacts: '"contacts":["',
  provision: '"provision":{',
  withoutPkce: '"require_pkce":false',
} as const;

/** The ids of the applications with this text in their registration; the parsed one decides. */
export async function idsMarked(mark: keyof typeof MARKS, tx: Tx): Promise<string[]> {
  const pattern = trustedText(`'%${MARKS[mark]}%'`);
  const rows = await tx.$queryRaw<
    { id: string }[]
  >`SELECT id FROM applications WHERE metadata LIKE ${pattern} ORDER BY id`;
  return rows.map(({ id }) => id);
}

/** What Prisma selects with `withAccess`. */
export const withAccess = {
  roles: { select: { role: { select: { name: true } } } },
  groups: { select: { group: { select: { name: true } } } },
} as const;

type Row = {
  id: string;
  clientId: string;
  protocol: string;
  name: string;
  enabled: boolean;
  consent: string;
  access: string;
  metadata: string;
  source: string;
  createdAt: Date;
  updatedAt: Date;
  roles: { role: { name: string } }[];
  groups: { group: { name: string } }[];
};

// A later version may have written fields that this one does not know.
const stored = { oidc: oidcMetadata.loose(), saml: serviceProviderSettings.loose(), proxy: proxiedSettings.loose() };
/** Short texts are parsed once; long ones are SAML metadata, which protocols/saml/metadata/service-providers.ts caches. */
const MAX_TEXT = 10_000;
const MAX_PARSED = 1000;
const parsed = new BoundedMap<string, Application['metadata']>(MAX_PARSED);

/**
 * Reads the column `applications.metadata`, the only place that does. The result is frozen, because it is shared by
 * everything that reads the same text. Throws when the text is not what the schema of its protocol describes.
 */
export function readMetadata(protocol: 'oidc', text: string): OidcMetadata;
export function readMetadata(protocol: 'saml', text: string): ServiceProviderSettings;
export function readMetadata(protocol: 'proxy', text: string): ProxiedSettings;
export function readMetadata(protocol: Protocol, text: string): Application['metadata'];
export function readMetadata(protocol: Protocol, text: string): Application['metadata'] {
  const key = `${protocol} ${text}`;
  const known = parsed.get(key);
  if (known) return known;
  const metadata = deepFreeze(stored[protocol].parse(JSON.parse(text)));
  if (text.length <= MAX_TEXT) parsed.set(key, metadata);
  return metadata;
}

/** The registration in a row, with its metadata read. */
export function registrationOf(row: { protocol: string; metadata: string }): Registration {
  if (row.protocol === 'saml') return { protocol: 'saml', metadata: readMetadata('saml', row.metadata) };
  if (row.protocol === 'proxy') return { protocol: 'proxy', metadata: readMetadata('proxy', row.metadata) };
  return { protocol: 'oidc', metadata: readMetadata('oidc', row.metadata) };
}

/** Another program, or a fault of the disk, damaged the row. The message names the application and says what to do, in one line. */
export class UnreadableApplication extends OperatorError {
  override name = 'UnreadableApplication';
  readonly clientId: string;
  readonly source: ApplicationSource;

  constructor({ id, clientId, source }: Pick<Row, 'id' | 'clientId' | 'source'>, cause: unknown) {
    const fault = `The application ${JSON.stringify(clientId)} can’t be read, because its stored registration is damaged.`;
    const advice = `Restore the database from a backup, or delete the row of the table applications with the id ${id}.`;
    super(`${fault} ${advice}`, { cause });
    this.clientId = clientId;
    this.source = source as ApplicationSource;
  }
}

/** The application of a row; throws UnreadableApplication. */
export function fromRow(row: Row): Application {
  const { id, clientId, name, enabled, createdAt, updatedAt } = row;
  const roles = row.roles.map(({ role }) => role.name).sort();
  const groups = row.groups.map(({ group }) => group.name).sort();
  return {
    id,
    clientId,
    name,
    enabled,
    consent: row.consent === 'implicit' ? 'implicit' : 'explicit',
    access: row.access === 'roles' ? accessOf(roles, groups) : 'everyone',
    source: row.source as ApplicationSource,
    createdAt,
    updatedAt,
    ...readRegistration(row),
  };
}

/** The access rule that names these; it has the groups only where there are some. */
export const accessOf = (roles: string[], groups: string[]): Access => ({
  roles,
  ...(groups.length > 0 && { groups }),
});

/** The ids of the roles and groups that an access rule, or the field at this path, names. Throws invalid_input for a name that nothing has. */
export async function idsOfAccess(
  access: Access,
  tx: Tx,
  path: readonly (string | number)[] = ['access'],
): Promise<{ roles: string[]; groups: string[] }> {
  const { roles: names, groups: groupNames = [] } = access === 'everyone' ? { roles: [] } : access;
  const roles = await tx.role.findMany({ where: { name: { in: names } }, select: { id: true, name: true } });
  const missing = names.filter((name) => !roles.some((role) => role.name === name));
  if (missing.length > 0)
    throw invalidInput([fault([...path, 'roles'], 'unknown-role', { roles: missing.join(', ') })]);
  if (groupNames.length === 0) return { roles: roles.map(({ id }) => id), groups: [] };
  const groups = await tx.group.findMany({ where: { name: { in: groupNames } }, select: { id: true, name: true } });
  const unknown = groupNames.filter((name) => !groups.some((group) => group.name === name));
  if (unknown.length > 0)
    throw invalidInput([fault([...path, 'groups'], 'unknown-group', { groups: unknown.join(', ') })]);
  return { roles: roles.map(({ id }) => id), groups: groups.map(({ id }) => id) };
}

function readRegistration(row: Row): Registration {
  try {
    return registrationOf(row);
  } catch (cause) {
    throw new UnreadableApplication(row, cause);
  }
}

function deepFreeze<T>(value: T): T {
  if (typeof value === 'object' && value !== null) {
    for (const part of Object.values(value)) deepFreeze(part);
    Object.freeze(value);
  }
  return value;
}
