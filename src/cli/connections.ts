// `gatehouse connection …`: the upstream identity providers at which users sign in.

import { ConfigError } from '../base/config/config-error.ts';
import type { Clock } from '../base/platform/clock.ts';
import type { Connection } from '../federation/connections/connection.ts';
import type { SecretPurpose } from '../federation/connections/schema.ts';
import type { Services } from '../server/services.ts';
import { type Command, type Input, jsonOption, UsageError } from './command.ts';
import { withServices } from './context.ts';
import { formatDate, type Io, plain, proofLine } from './io.ts';

export const connectionList: Command = {
  name: 'connection list',
  summary: 'list all connections',
  options: jsonOption,
  run: (input, io) =>
    withServices(io, async ({ connections }) => {
      const [all, forged] = [await connections.list(), await connections.forgedIds()];
      for (const id of forged)
        io.note(
          `warning: another program changed ${plain(id)}, so it is disabled. To remove it, run: gatehouse connection remove ${plain(id)}`,
        );
      const rows = all.map(({ id, name, kind, preset, enabled, source }) => ({
        id,
        name,
        kind,
        preset,
        enabled,
        source,
      }));
      if (input.flag('json')) io.json(rows);
      else
        io.table(
          ['ID', 'NAME', 'KIND', 'PRESET', 'ENABLED', 'SOURCE'],
          rows.map(({ enabled, id, name, kind, preset, source }) => [
            id,
            name,
            kind,
            preset,
            enabled ? 'yes' : 'no',
            source,
          ]),
        );
      return 0;
    }),
};

export const connectionShow: Command = {
  name: 'connection show',
  args: ['ID'],
  summary: 'show a connection in the format of the configuration file, and what to enter there',
  options: jsonOption,
  run: (input, io) => withConnection(input, io, (connection, services) => show(connection, services, input, io)),
};

export const connectionAdd: Command = {
  name: 'connection add',
  args: ['FILE'],
  summary: 'add a connection from a YAML or JSON file; - reads standard input',
  details: `The file holds one entry of connections: as in the configuration file (docs/connections.md), such as
{ id: google, preset: google, name: Google, client_id: …, client_secret: … }. It prints what to enter at the provider.`,
  options: jsonOption,
  run: (input, io) =>
    withServices(io, async (services) => {
      const entry = await readConnection(input.words[0] ?? '', services.now, io);
      const connection = await services.connections.create(entry);
      return show(connection, services, input, io);
    }),
};

export const connectionRemove: Command = {
  name: 'connection remove',
  args: ['ID'],
  summary: 'delete a connection and its links to users',
  run: (input, io) =>
    withServices(io, async ({ connections }) => {
      const [id = ''] = input.words;
      const known = (await connections.find(id)) !== undefined || (await connections.forgedIds()).includes(id);
      if (!known) return unknown(id, io);
      await connections.remove(id);
      io.out(`Deleted ${plain(id)}.`);
      return 0;
    }),
};

export const connectionEnable = stateCommand('enable', true, 'turn on sign-in with a connection');
export const connectionDisable = stateCommand('disable', false, 'turn off sign-in with a connection');

export const connectionSecret: Command = {
  name: 'connection secret',
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
    ...jsonOption,
  },
  run: (input, io) =>
    withConnection(input, io, async (connection, { connections }) => {
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
      if (input.flag('json')) io.json({ id, purpose, expiresAt });
      else io.out(`The secret is stored${expiresAt ? `, until ${formatDate(expiresAt)}` : ''}.`);
      return 0;
    }),
};

export const connectionCommands: readonly Command[] = [
  ...[connectionList, connectionShow, connectionAdd, connectionRemove],
  ...[connectionEnable, connectionDisable, connectionSecret],
];

function stateCommand(word: 'enable' | 'disable', enabled: boolean, summary: string): Command {
  return {
    name: `connection ${word}`,
    args: ['ID'],
    summary,
    run: (input, io) =>
      withConnection(input, io, async ({ id }, { connections }) => {
        await connections.setEnabled(id, enabled);
        io.out(`${plain(id)} is ${word}d.`);
        return 0;
      }),
  };
}

async function show(connection: Connection, services: Services, input: Input, io: Io): Promise<number> {
  const { connections, config } = services;
  const [{ shortEntryOf, entryOf }, { pasteValuesOf }, { writeYaml }] = await Promise.all([
    import('../federation/connections/schema.ts'),
    import('../federation/connections/presets/presets.ts'),
    import('../config-file/yaml.ts'),
  ]);
  const { id } = connection;
  const lists = {
    domains: await connections.domains(id),
    roleMappings: await connections.roleMappings(id),
    groupMappings: await connections.groupMappings(id),
  };
  const secrets = await connections.secretInfos(id);
  const values = pasteValuesOf(connection, config.issuer);
  if (input.flag('json')) {
    const enter = Object.fromEntries(values.map(({ key, value }) => [key, value]));
    io.json({
      ...entryOf(connection, lists),
      source: connection.source,
      values: enter,
      domains: lists.domains,
      secrets,
    });
    return 0;
  }
  io.out(`# from ${connection.source}`);
  for (const { purpose, createdAt, expiresAt } of secrets)
    io.out(`# a ${purpose} of ${formatDate(createdAt)}${expiresAt ? `, until ${formatDate(expiresAt)}` : ''}`);
  for (const { domain, provenAt, record } of lists.domains) io.out(proofLine({ domain, provenAt, record }));
  io.out(writeYaml(shortEntryOf(connection, lists)).trimEnd());
  if (values.length > 0) io.out('\nTo enter at the provider:');
  for (const { label, value } of values) io.out(`  ${label}: ${value}`);
  return 0;
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

function withConnection(
  input: Input,
  io: Io,
  work: (connection: Connection, services: Services) => Promise<number>,
): Promise<number> {
  const [id = ''] = input.words;
  return withServices(io, async (services) => {
    const connection = await services.connections.find(id);
    return connection ? work(connection, services) : unknown(id, io);
  });
}

function unknown(id: string, io: Io): number {
  io.err(`There is no connection "${plain(id)}". To see all connections, run: gatehouse connection list`);
  return 1;
}
