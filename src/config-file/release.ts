// Hands entries of the configuration file back: they stay as they are, and the console, the API and the command line can change them. A file
// that still declares one takes it again when it is applied.
import { releaseResource } from '../applications/resources.ts';
import { notFound } from '../base/http/errors.ts';
import { type Tx, transaction } from '../base/storage/database.ts';
import { t } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import { nameKey } from '../people/accounts/names.ts';
import type { ConfigFileServices, Section } from './planning.ts';
import { entrySections } from './schema.ts';

/** An entry by the name that a plan has for it; of a service provider also its entity ID. */
export interface FileEntry {
  section: Section;
  name: string;
}

const sections: readonly Section[] = ['settings', ...entrySections];

/** `clients:web`, split at the first colon; undefined for another text. */
export function parseEntry(text: string): FileEntry | undefined {
  const [, head = '', name = ''] = /^([a-z_]+):(.+)$/s.exec(text) ?? [];
  const section = sections.find((one) => one === head);
  return section && name !== '' ? { section, name } : undefined;
}

const ofFile = { source: 'file' } as const;

type Release = (services: ConfigFileServices, name: string, by: Actor, tx: Tx) => Promise<boolean>;

/** Each is false where the file owns none of this name. */
const releases: Record<Section, Release> = {
  async settings({ settings }, name, _by, tx) {
    const found = (await settings.list({ withSecrets: true })).find(
      (one) => one.name === name && one.source === 'file',
    );
    if (found) await settings.set(found.name, found.value as never, { source: 'local', tx });
    return found !== undefined;
  },
  resources: (_services, name, _by, tx) => releaseResource(tx, name),
  clients: ({ applications }, name, _by, tx) => applications.release('oidc', { clientId: name }, tx),
  service_providers: async ({ applications }, name, _by, tx) =>
    (await applications.release('saml', { clientId: name }, tx)) || applications.release('saml', { name }, tx),
  proxied_applications: async ({ applications }, name, _by, tx) =>
    (await applications.release('proxy', { clientId: name }, tx)) || applications.release('proxy', { name }, tx),
  async roles({ roles }, name, by, tx) {
    const found = (await roles.list()).some((role) => role.name === name && role.source === 'file');
    if (found) await roles.update(name, { source: 'local' }, by, tx);
    return found;
  },
  async groups({ groups }, name, by, tx) {
    const found = await groups.find(name, tx);
    if (found?.source !== 'file') return false;
    await groups.release(found.id, { ...ofFile, by, tx });
    return true;
  },
  connections: ({ connections }, name, _by, tx) => connections.release(name, tx),
  async users({ accounts }, name, by, tx) {
    const row = await tx.asStored.user.findFirst({ where: { usernameKey: nameKey(name), ...ofFile } });
    if (row) await accounts.update(row.id, { source: 'local' }, by, tx);
    return row !== null;
  },
  sign_up_codes: ({ signUpCodes }, name, _by, tx) => signUpCodes.release(name, tx),
  scim: ({ scimConnections }, name, _by, tx) => scimConnections.release(name, tx),
  event_streams: ({ eventStreams }, name, _by, tx) => eventStreams.release(name, tx),
};

const OF_APPLICATIONS: readonly Section[] = ['clients', 'service_providers', 'proxied_applications'];

/** The application that an entry is about, for the audit log. */
export const clientOf = ({ section, name }: FileEntry): { clientId?: string } =>
  OF_APPLICATIONS.includes(section) ? { clientId: name } : {};

/** All of these or none. Throws not_found for one that the file does not own. */
export async function releaseEntries(
  services: ConfigFileServices,
  entries: readonly FileEntry[],
  by: Actor,
): Promise<void> {
  const { db, audit, settings } = services;
  await transaction(db, async (tx) => {
    for (const { section, name } of entries) {
      if (!(await releases[section](services, name, by, tx)))
        throw notFound({ message: t('console.shared.not-of-file', { entry: `${section}:${name}` }) });
      const data = { section, name };
      const event = { type: 'configuration.released', outcome: 'success', ...clientOf(data), data } as const;
      await audit.record({ ...by, ...event }, tx);
    }
  });
  await settings.reload();
}

/** Every entry that the file owns. */
export async function entriesOfFile({ db, settings }: ConfigFileServices): Promise<FileEntry[]> {
  const where = ofFile;
  const stored = db.asStored;
  const applications = await stored.application.findMany({ where, select: { protocol: true, clientId: true } });
  const ofProtocol = (wanted: string) =>
    applications.filter(({ protocol }) => protocol === wanted).map(({ clientId }) => clientId);
  const names: Record<Section, string[]> = {
    settings: (await settings.list()).filter(({ source }) => source === 'file').map(({ name }) => name),
    resources: (await stored.resource.findMany({ where })).map(({ identifier }) => identifier),
    clients: ofProtocol('oidc'),
    service_providers: ofProtocol('saml'),
    proxied_applications: ofProtocol('proxy'),
    roles: (await db.role.findMany({ where })).map(({ name }) => name),
    groups: (await stored.group.findMany({ where })).map(({ name }) => name),
    connections: (await stored.connection.findMany({ where })).map(({ id }) => id),
    users: (await stored.user.findMany({ where, select: { username: true } })).map(({ username }) => username),
    sign_up_codes: (await stored.signUpCode.findMany({ where })).map(({ name }) => name),
    scim: (await stored.scimConnection.findMany({ where })).map(({ id }) => id),
    event_streams: (await stored.eventStream.findMany({ where })).map(({ id }) => id),
  };
  return sections.flatMap((section) => names[section].map((name) => ({ section, name })));
}
