// Exports the database in the format of the configuration file, without secrets. Applied to an empty server it gives the
// same settings, applications, roles and users, with the same `sub`.

import { Document } from 'yaml';
import type { Application, OidcApplication, SamlApplication } from '../applications/application.ts';
import type { ApplicationServices } from '../applications/application-services.ts';
import { type ImageStore, imageType } from '../applications/brand/image-store.ts';
import { type PictureValues, picturesIn } from '../applications/brand/pictures.ts';
import { oidcClient } from '../applications/fields/oidc-client.ts';
import { serviceProvider } from '../applications/fields/service-provider.ts';
import { type Resource, resourceOf } from '../applications/resources.ts';
import { inChunks } from '../base/storage/chunks.ts';
import type { Db } from '../base/storage/database.ts';
import type { Core } from '../core/core.ts';
import type { SettingEntry } from '../core/settings/settings.ts';
import type { Connections } from '../federation/connections/connections.ts';
import { shortEntryOf } from '../federation/connections/schema.ts';
import type { FederationServices } from '../federation/federation-services.ts';
import { textFieldNames, textFields } from '../people/accounts/profile-fields.ts';
import type { People } from '../people/people.ts';
import { isGenuineRole } from '../people/rbac/protected-grants.ts';
import type { Role } from '../people/rbac/roles.ts';
import type { SignUpCode } from '../people/sign-up-codes/sign-up-codes.ts';
import { declaredApplication } from './plan/clients.ts';

type Entry = Record<string, unknown>;

const roleDefaults = { description: '', permissions: [] };
const HEADER = ` Exported from Gatehouse without secrets: client secrets, secrets of connections, passwords, sign-up
 codes, and TOTP secrets. Add client_secret, code, and password (or password_hash) before you apply this file to
 another server.`;

/** The configuration as YAML. */
export async function exportConfiguration(
  dependencies: Core & People & ApplicationServices & FederationServices,
): Promise<string> {
  // Applications with the same metadata share one object (applications/application.ts); the file repeats it.
  const document = new Document(await exportedConfiguration(dependencies), { aliasDuplicateObjects: false });
  document.commentBefore = HEADER;
  return document.toString({ lineWidth: 0 });
}

/** The configuration as plain values. */
export async function exportedConfiguration({
  db,
  applications,
  connections,
  roles: roleStore,
  settings,
  signUpCodes,
  brandImages,
}: Core & People & ApplicationServices & FederationServices): Promise<Record<string, unknown>> {
  const set = (await settings.list()).filter(({ source }) => source !== 'default');
  const resources = await db.resource.findMany({ orderBy: { identifier: 'asc' } });
  const roles: Role[] = [];
  for (const role of await roleStore.list()) if (await isGenuineRole(role, db)) roles.push(role);
  const known = new Set(roles.map(({ name }) => name));
  const all = (await applications.allGenuine()).map((application) => withKnownRoles(application, known));
  const content = {
    settings: await settingEntries(set, brandImages),
    resources: resources.map(resourceOf).map(resourceEntry),
    clients: all.filter(isOidc).map(clientEntry),
    service_providers: all.filter(isSaml).map(serviceProviderEntry),
    roles: roles
      .filter(({ source }) => source !== 'built-in')
      .map(({ name, description, permissions }) => withoutDefaults({ name, description, permissions }, roleDefaults)),
    connections: await connectionEntries(connections),
    users: await userEntries(db, known),
    sign_up_codes: (await signUpCodes.list()).filter(({ state }) => state === 'usable').map(signUpCodeEntry),
  };
  return Object.fromEntries(Object.entries(content).filter(([, part]) => Object.keys(part).length > 0));
}

/** Each picture with its content, so that another server can have it. */
async function settingEntries(set: readonly SettingEntry[], images: ImageStore): Promise<Entry> {
  const entries: Entry = structuredClone(Object.fromEntries(set.map(({ name, value }) => [name, value])));
  for (const { value, replace } of picturesIn(entries as PictureValues)) {
    const bytes = await images.read(value);
    if (bytes) replace(`data:${imageType(value)};base64,${bytes.toString('base64')}`);
  }
  return entries;
}

/** Without the roles of its access rule that another program wrote: the rule becomes stricter. */
function withKnownRoles<A extends Application>(application: A, known: ReadonlySet<string>): A {
  const { access } = application;
  if (access === 'everyone') return application;
  return { ...application, access: { roles: access.roles.filter((name) => known.has(name)) } };
}

function resourceEntry({ identifier, scopes, scopePermissions, signingAlg }: Resource): Entry {
  const tied = Object.keys(scopePermissions).length > 0 ? { scope_permissions: scopePermissions } : {};
  return { identifier, scopes, ...tied, signing_alg: signingAlg };
}

/** Without the code, of which only a hash is stored. */
function signUpCodeEntry({ name, maxUses, expiresAt }: SignUpCode): Entry {
  return {
    name,
    ...(maxUses === 1 ? {} : { max_uses: maxUses }),
    ...(expiresAt && { expires_at: expiresAt.toISOString() }),
  };
}

/** One application as the file would declare it. */
export function applicationEntry(application: Application): Entry {
  return isOidc(application) ? clientEntry(application) : serviceProviderEntry(application);
}

function clientEntry(application: OidcApplication): Entry {
  const { client_name: name, response_types: _derived, ...rest } = declaredApplication(application);
  const defaults = oidcClient.parse({ client_id: 'x' });
  return {
    client_id: application.clientId,
    ...(name === application.clientId ? {} : { client_name: name }),
    ...withoutDefaults(rest, defaults),
  };
}

function serviceProviderEntry({ name, clientId, enabled, consent, access, metadata }: SamlApplication): Entry {
  const { metadata_xml, metadata_url, acs, slo, certificates, ...answer } = metadata;
  const defaults = serviceProvider.parse({ name: 'x' });
  const source =
    metadata_url !== undefined
      ? { metadata_url }
      : metadata_xml !== undefined
        ? { metadata: metadata_xml }
        : { entity_id: clientId, acs_url: acs?.map(shortAcs) ?? [], slo_url: slo, certificates };
  return withoutDefaults({ name, ...source, ...answer, enabled, consent, access }, defaults, ['name']);
}

/** Only the URL, where index and default have their default values. */
function shortAcs(endpoint: { url: string; index: number; default: boolean }, position: number) {
  const { url, index, default: isDefault } = endpoint;
  return index === position && isDefault === (position === 0) ? url : { url, index, default: isDefault };
}

async function connectionEntries(connections: Connections): Promise<Entry[]> {
  const entries: Entry[] = [];
  for (const connection of await connections.list()) {
    const { id } = connection;
    const [domains, roleMappings] = await Promise.all([connections.domains(id), connections.roleMappings(id)]);
    entries.push(shortEntryOf(connection, { domains, roleMappings }));
  }
  return entries;
}

async function userEntries(db: Db, known: ReadonlySet<string>): Promise<Entry[]> {
  const ids = await db.asStored.user.findMany({ select: { id: true }, orderBy: { usernameKey: 'asc' } });
  const include = {
    roles: { where: { via: '' }, include: { role: { select: { name: true } } } },
    externalIdentities: { select: { connectionId: true, subject: true, userId: true } },
  } as const;
  const rows = await inChunks(ids, (piece) =>
    db.user.findMany({
      where: { id: { in: piece.map(({ id }) => id) } },
      include,
      orderBy: { usernameKey: 'asc' },
    }),
  );
  return rows.map((row) => {
    const attributes = JSON.parse(row.attributes) as Entry;
    const roles = row.roles
      .filter((grant) => known.has(grant.role.name))
      .map(({ role }) => role.name)
      .sort();
    const entry = {
      username: row.username,
      sub: row.id,
      email: row.email,
      email_verified: row.emailVerified || null,
      ...Object.fromEntries(textFieldNames.map((field) => [textFields[field].claim, row[field]])),
      phone_number: row.phoneNumber,
      address: row.address === null ? null : (JSON.parse(row.address) as Entry),
      sso_id: row.ssoId,
      sso_connection: ssoConnectionOf(row),
      attributes: Object.keys(attributes).length > 0 ? attributes : null,
      active: row.isActive ? null : false,
      roles: roles.length > 0 ? roles : null,
    };
    return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== null));
  });
}

/** The connection of the identity that `sso_id` names; null where there is none, or another program wrote it. */
function ssoConnectionOf(row: {
  ssoId: string | null;
  externalIdentities: { connectionId: string; subject: string }[];
}): string | null {
  return row.externalIdentities.find(({ subject }) => subject === row.ssoId)?.connectionId ?? null;
}

// Fields that have their default value are left out.
function withoutDefaults(entry: Entry, defaults: Entry, keep: readonly string[] = []): Entry {
  const isDefault = (key: string, value: unknown) => JSON.stringify(value) === JSON.stringify(defaults[key]);
  return Object.fromEntries(
    Object.entries(entry).filter(
      ([key, value]) => value !== undefined && (keep.includes(key) || !isDefault(key, value)),
    ),
  );
}

function isOidc(application: Application): application is OidcApplication {
  return application.protocol === 'oidc';
}

function isSaml(application: Application): application is SamlApplication {
  return application.protocol === 'saml';
}
