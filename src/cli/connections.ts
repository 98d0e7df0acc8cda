// `gatehouse connection …`: the upstream identity providers at which users sign in.

import { ConfigError } from '../base/config/config-error.ts';
import type { Clock } from '../base/platform/clock.ts';
import type { Connection } from '../federation/connections/connection.ts';
import type { SecretPurpose } from '../federation/connections/schema.ts';
import type { Services } from '../server/services.ts';
import { type Commands, type Description, type Input, noSuch, type Result, UsageError, type Work } from './command.ts';
import { formatDate, type Io, proofLine } from './io.ts';

export const connectionCommands: Commands = {
  'connection list': {
    summary: 'list all connections',
    async act({ connections }) {
      const all = await connections.list();
      return {
        json: all.map(({ id, name, kind, preset, enabled, source }) => ({ id, name, kind, preset, enabled, source })),
        table: [
          ['ID', 'NAME', 'KIND', 'PRESET', 'ENABLED', 'SOURCE'],
          all.map((one) => [one.id, one.name, one.kind, one.preset, one.enabled ? 'yes' : 'no', one.source]),
        ],
        notes: (await connections.forgedIds()).map(
          (id) =>
            `warning: another program changed ${id}, so it is disabled. To remove it, run: gatehouse connection remove ${id}`,
        ),
      };
    },
  },

  'connection show': {
    args: ['ID'],
    summary: 'show a connection in the format of the configuration file, and what to enter there',
    act: async (services, input) => describe(await connectionOf(services, input), services),
  },

  'connection add': {
    args: ['FILE'],
    summary: 'add a connection from a YAML or JSON file; - reads standard input',
    details: `The file holds one entry of connections: as in the configuration file (docs/connections.md), such as
{ id: google, preset: google, name: Google, client_id: …, client_secret: … }. It prints what to enter at the provider.`,
    async act(services, input, io) {
      const entry = await readConnection(input.words[0] ?? '', services.now, io);
      return describe(await services.connections.create(entry), services);
    },
  },

  'connection remove': {
    args: ['ID'],
    summary: 'delete a connection and its links to users',
    async act({ connections }, { words: [id = ''] }) {
      const isKnown = (await connections.find(id)) !== undefined || (await connections.forgedIds()).includes(id);
      if (!isKnown) noSuch('connection', 'connection', id);
      await connections.remove(id);
      return { json: { id, deleted: true }, text: `Deleted ${id}.` };
    },
  },

  'connection enable': stateCommand(true, 'turn on sign-in with a connection'),
  'connection disable': stateCommand(false, 'turn off sign-in with a connection'),

  'connection secret': {
    args: ['ID'],
    summary: 'add a secret of a connection, read from standard input',
    details:
      'Gatehouse uses it right away. The old secrets stay until you remove them, or until you add one with --replace.',
    options: {
      purpose: { type: 'string', value: 'PURPOSE', help: 'client-secret, private-key or bind-password' },
      expires: {
        type: 'string',
        value: 'DATE',
        help: 'date on which it expires at the provider, for warnings, such as 2027-01-31',
      },
      replace: { type: 'boolean', help: 'remove the other secrets of this purpose' },
    },
    async act(services, input, io) {
      const { connections } = services;
      const connection = await connectionOf(services, input);
      const { secretPurposesOf } = await import('../federation/connections/schema.ts');
      const possible = secretPurposesOf(connection.kind);
      const purpose = input.text('purpose') ?? possible[0];
      if (!possible.includes(purpose as SecretPurpose))
        throw new UsageError(
          possible.length === 0 ? 'this kind has no secret' : `--purpose must be ${possible.join(' or ')}`,
        );
      const expires = input.text('expires');
      if (expires !== undefined && Number.isNaN(Date.parse(expires))) throw new UsageError('--expires must be a date');
      const value = (await io.stdin()).trim();
      if (value === '') throw new UsageError('standard input is empty');
      const others = (await connections.secretInfos(connection.id)).filter((one) => one.purpose === purpose);
      const secret = { value, ...(expires === undefined ? {} : { expires_at: expires }) };
      if (input.flag('replace')) for (const { id } of others) await connections.removeSecret(connection.id, id);
      const { id, expiresAt } = await connections.addSecret(connection.id, purpose as SecretPurpose, secret);
      return {
        json: { id, purpose, expiresAt },
        text: `The secret is stored${expiresAt ? `, until ${formatDate(expiresAt)}` : ''}.`,
      };
    },
  },
};

function stateCommand(enabled: boolean, summary: string): Description & Work {
  return {
    args: ['ID'],
    summary,
    async act(services, input) {
      const { id } = await connectionOf(services, input);
      await services.connections.setEnabled(id, enabled);
      return { json: { id, enabled }, text: `${id} is ${enabled ? 'enabled' : 'disabled'}.` };
    },
  };
}

async function connectionOf({ connections }: Services, { words: [id = ''] }: Input): Promise<Connection> {
  return (await connections.find(id)) ?? noSuch('connection', 'connection', id);
}

async function describe(connection: Connection, { connections, config }: Services): Promise<Result> {
  const [{ shortEntryOf, entryOf }, { pasteValuesOf }, { writeYaml }] = await Promise.all([
    import('../federation/connections/schema.ts'),
    import('../federation/connections/presets/presets.ts'),
    import('../config-file/yaml.ts'),
  ]);
  const { id, source } = connection;
  const lists = await connections.lists(id);
  const { domains } = lists;
  const secrets = await connections.secretInfos(id);
  const values = pasteValuesOf(connection, config.issuer);
  const enter = Object.fromEntries(values.map(({ key, value }) => [key, value]));
  return {
    json: { ...entryOf(connection, lists), source, values: enter, domains, secrets },
    text: [
      `# from ${source}`,
      ...secrets.map(
        ({ purpose, createdAt, expiresAt }) =>
          `# a ${purpose} of ${formatDate(createdAt)}${expiresAt ? `, until ${formatDate(expiresAt)}` : ''}`,
      ),
      ...domains.map(proofLine),
      ...writeYaml(shortEntryOf(connection, lists)).trimEnd().split('\n'),
      ...(values.length > 0 ? ['', 'To enter at the provider:'] : []),
      ...values.map(({ label, value }) => `  ${label}: ${value}`),
    ],
  };
}

async function readConnection(path: string, now: Clock, io: Io) {
  const { readEntry, readBytes } = await import('../config-file/read-file.ts');
  const declared = await readEntry('connections', path, io.stdin);
  if (declared.kind !== 'saml') return declared;
  const { metadata_file: file, ...entry } = declared;
  const { decodeXml } = await import('../protocols/saml/xml/encoding.ts');
  const metadata = file === undefined ? entry.metadata : decodeXml(await readBytes(file));
  if (metadata === undefined) return entry;
  const { parseIdentityProviderMetadata } = await import('../protocols/saml/metadata/parse-identity-provider.ts');
  const { entityId } = parseIdentityProviderMetadata(metadata, now());
  if (entry.entity_id !== undefined && entry.entity_id !== entityId)
    throw new ConfigError([`${path}: entity_id: doesn't match the metadata, which says ${entityId}`]);
  return { ...entry, metadata };
}
