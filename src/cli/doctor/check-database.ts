// doctor: checks the database and its content. Read-only: migrates, creates and writes nothing.

import { existsSync, statSync } from 'node:fs';
import { unknownBrandApplications } from '../../applications/brand/unknown-applications.ts';
import { needsPkce, needsSecretValue, usesSecret } from '../../applications/fields/oidc-client.ts';
import { isOnHostOf } from '../../applications/fields/proxied-application.ts';
import { oidcRules } from '../../applications/oidc-rules.ts';
import { createApplicationReads } from '../../applications/read.ts';
import { agentWarning, resourcesOf } from '../../applications/resources.ts';
import { createSecrets } from '../../applications/secrets.ts';
import type { Base } from '../../base/base.ts';
import type { Config } from '../../base/config.ts';
import { AppError } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import { messageOf } from '../../base/platform/errors.ts';
import type { Logger } from '../../base/platform/logger.ts';
import { plural } from '../../base/platform/plural.ts';
import { createVault } from '../../base/platform/vault.ts';
import { type Database, openDatabase } from '../../base/storage/database.ts';
import { readMigrations } from '../../base/storage/migrations/files.ts';
import { createSchemaCheck } from '../../base/storage/migrations/newer.ts';
import { createProtectedRows, type ProtectedRows } from '../../base/storage/protected-rows.ts';
import { faultLine } from '../../base/texts/faults.ts';
import { ignoredTexts } from '../../base/texts/overrides.ts';
import { readStoredText } from '../../base/texts/stored-text.ts';
import {
  FIRST_PASSWORD_ADVICE,
  isFirstPasswordUnused,
  lockedOutAdministrator,
  lockedOutAdvice,
} from '../../config-file/first-admin.ts';
import { createAudit } from '../../core/audit/audit.ts';
import { isDown } from '../../core/jobs/outages.ts';
import { decryptDataKeys } from '../../core/keys/data-keys.ts';
import { certificateEnds } from '../../core/keys/key-rows.ts';
import { createKeyring } from '../../core/keys/keyring.ts';
import { mailOf } from '../../core/mail/message-store.ts';
import { createSettings, defaultSettings, type SettingValues } from '../../core/settings/settings.ts';
import { type Connections, createConnections } from '../../federation/connections/connections.ts';
import { createConnectionDocuments } from '../../federation/connections/documents.ts';
import { rejectedSecret } from '../../federation/connections/secrets.ts';
import { connectionWarnings } from '../../federation/connections/warnings.ts';
import { FederationError } from '../../federation/faults.ts';
import { createDirectory, type Directory } from '../../federation/ldap/directory.ts';
import { createAccountLookup } from '../../people/accounts/account.ts';
import { namedAsClaims } from '../../people/accounts/attributes.ts';
import { wrongInGraph } from '../../people/groups/graph.ts';
import { listAdministrators } from '../../people/rbac/administrators.ts';
import { ADMIN_ROLE } from '../../people/rbac/built-in.ts';
import { FIRST_PARTY_CLIENT_ID } from '../../protocols/oidc/in-process-clients.ts';
import { parseIdentityProviderMetadata } from '../../protocols/saml/metadata/parse-identity-provider.ts';
import { countStale } from '../../server/secrets/reseal.ts';
import { clockFinding } from './check-network.ts';
import { rowFindings } from './check-rows.ts';
import { type Finding, failure, ok, warning } from './findings.ts';

type Needs = { config: Config; logger: Logger; now: Clock };
type Opened = Needs & { database: Database };

const baseOf = ({ database, ...needs }: Opened): Base => {
  const { db, sql } = database;
  return { ...needs, db, sql, vault: createVault(needs.config.secrets) };
};

const MAX_CLOCK_SECONDS = 5;
const MOST_GROUPS = 20;

export async function checkDatabase(needs: Needs): Promise<Finding[]> {
  const { config } = needs;
  const file = config.databaseKind === 'sqlite' ? config.databaseUrl.slice('file:'.length) : undefined;
  if (file !== undefined && !existsSync(file))
    return [warning('database', `${file} doesn't exist yet`, 'Start the server once to create it.')];
  let database: Database;
  try {
    database = await openDatabase(config.databaseUrl);
  } catch (error) {
    const message = messageOf(error);
    return [failure('database', message, 'Check DATABASE_URL, and that the database runs.')];
  }
  try {
    return await findingsOf({ ...needs, database }, file);
  } finally {
    await database.close();
  }
}

/** The settings; the defaults where they cannot be read, which other findings say. */
export async function storedSettings({ config, now }: Needs): Promise<SettingValues> {
  const { databaseKind, databaseUrl } = config;
  if (databaseKind === 'sqlite' && !existsSync(databaseUrl.slice('file:'.length))) return defaultSettings;
  const database = await openDatabase(databaseUrl).catch(() => undefined);
  if (!database) return defaultSettings;
  try {
    database.protect(await openProtectedRows(config, database));
    return await createSettings({ db: database.db, now }).reload();
  } catch {
    return defaultSettings;
  } finally {
    await database.close();
  }
}

/** The findings in an open database; `file`: that of SQLite. */
async function findingsOf(needs: Opened, file: string | undefined): Promise<Finding[]> {
  const { config, database } = needs;
  const pending = await pendingMigrations(needs);
  if (pending === undefined)
    return [failure('database', 'it has no Gatehouse tables', 'Start the server once to create them.')];
  const findings = [file === undefined ? await postgresFinding(needs) : await sqliteFinding(needs, file)];
  const newer = await createSchemaCheck(database.db)();
  if (newer !== undefined)
    return [...findings, failure('migrations', newer, 'Until then, no server starts on this database.')];
  if (pending.length > 0) {
    const message = `${pending.length} are missing: ${pending.join(', ')}`;
    return [...findings, warning('migrations', message, 'Create a backup, then start the server to apply them.')];
  }
  findings.push(ok('migrations', 'all applied'));
  if (config.secrets.length === 0) {
    const message = `${config.secretFile} is missing, and the keys in this database are encrypted with it`;
    return [...findings, failure('secret', message, 'Restore it before you start the server.')];
  }
  database.protect(await openProtectedRows(config, database));
  for (const check of [
    rotationFindings,
    settingsFindings,
    keyFindings,
    adminFinding,
    rowFindings,
    groupFindings,
    mailFindings,
    destinationFindings,
    clientFindings,
    apiFindings,
    pictureFindings,
    connectionFindings,
  ])
    findings.push(...(await check(needs)));
  return findings;
}

/** MACs under the data keys of this database. The server raises alarms; doctor only says what it found. Where these cannot be read, every row passes, and other findings say why. */
async function openProtectedRows({ secrets }: Config, { db }: Database): Promise<ProtectedRows> {
  const rows = await db.dataKey.findMany({ orderBy: { generation: 'desc' } });
  const alarm = { raise: async () => {} };
  try {
    const vault = createVault(secrets, decryptDataKeys(rows, createVault(secrets)).mac);
    return createProtectedRows({ vault, alarm });
  } catch {
    return { ...createProtectedRows({ vault: createVault(secrets), alarm }), isGenuine: () => true };
  }
}

async function pendingMigrations({ config, database }: Opened): Promise<string[] | undefined> {
  try {
    const rows = await database.db.$queryRawUnsafe<{ name: string }[]>(
      'SELECT migration_name AS name FROM _prisma_migrations WHERE finished_at IS NOT NULL AND rolled_back_at IS NULL',
    );
    const applied = new Set(rows.map(({ name }) => name));
    return readMigrations(config.databaseKind)
      .map(({ name }) => name)
      .filter((name) => !applied.has(name));
  } catch {
    return undefined;
  }
}

async function sqliteFinding({ database }: Opened, file: string): Promise<Finding> {
  const rows = await database.db.$queryRawUnsafe<{ quick_check: string }[]>('PRAGMA quick_check');
  const result = rows[0]?.quick_check;
  if (result !== 'ok')
    return failure('database', `${file} is damaged: ${result}`, 'Stop the servers and restore a backup.');
  const mode = statSync(file).mode & 0o777;
  if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
    return warning(
      'database',
      `${file} can be read by others (mode ${mode.toString(8).padStart(4, '0')})`,
      `Run: chmod 600 ${file}`,
    );
  }
  return ok('database', `SQLite, ${file}, intact`);
}

async function postgresFinding({ database, now }: Opened): Promise<Finding> {
  const rows = await database.db.$queryRawUnsafe<{ at: Date; version: string }[]>(
    "SELECT now() AS at, current_setting('server_version') AS version",
  );
  const [row] = rows;
  const seconds = row ? Math.round((now().getTime() - new Date(row.at).getTime()) / 1000) : 0;
  return Math.abs(seconds) > MAX_CLOCK_SECONDS
    ? clockFinding(seconds, 'the database')
    : ok('database', `PostgreSQL ${row?.version}`);
}

async function settingsFindings({ config, database: { db }, now }: Opened): Promise<Finding[]> {
  const values = await createSettings({ db, now }).reload();
  const {
    rate_limits: on,
    denied_networks: denied,
    texts,
    brand_applications: brands,
    user_attributes: schema = {},
  } = values;
  const networks = denied.length === 0 ? [] : [ok('denied networks', denied.join(', '))];
  const advice = 'Remove it from the setting texts, or write it for the text of this version.';
  const ignored = ignoredTexts(texts).map((text) => warning('texts', `Gatehouse ignores ${text}`, advice));
  const applications = await db.asStored.application.findMany({ select: { clientId: true } });
  const known = new Set([FIRST_PARTY_CLIENT_ID, ...applications.map(({ clientId }) => clientId)]);
  const unknown = unknownBrandApplications(brands, (id) => known.has(id));
  const correction = 'Correct the ID in the setting brand_applications, or remove it.';
  const shared = namedAsClaims(schema).map((text) => warning('own fields', text, 'Give the field another name.'));
  const findings = [
    ...networks,
    ...ignored,
    ...shared,
    ...unknown.map((message) => warning('brand', message, correction)),
  ];
  if (on) return [ok('rate limits', 'on'), ...findings];
  const make = config.loopback ? warning : failure;
  return [
    ...findings,
    make(
      'rate limits',
      'RATE LIMITS ARE OFF: attackers can guess passwords and codes without limit',
      'Remove rate_limits: false from the settings.',
    ),
  ];
}

async function rotationFindings({ config, database: { db } }: Opened): Promise<Finding[]> {
  const left = await countStale({ db, vault: createVault(config.secrets) });
  if (left.length === 0) return [ok('encryption', 'everything is encrypted with the first secret')];
  const total = left.reduce((sum, { count }) => sum + count, 0);
  const tables = left.map(({ table, count }) => `${table} ${count}`).join(', ');
  const message = `${plural(total, 'value')} still encrypted with an older secret: ${tables}`;
  return [warning('encryption', message, 'Run: gatehouse secrets rotate, before you remove the older value.')];
}

async function keyFindings(opened: Opened): Promise<Finding[]> {
  const base = baseOf(opened);
  const keyring = createKeyring({ ...base, audit: createAudit(base) });
  const keys = await keyring.list();
  if (keys.length === 0) return [warning('keys', 'there are none yet', 'Start the server once to create them.')];
  try {
    await keyring.refresh();
  } catch (error) {
    const message = messageOf(error);
    return [
      failure('keys', `they cannot be decrypted: ${message}`, 'Set GATEHOUSE_SECRET to the value that encrypted them.'),
    ];
  }
  const active = keys.filter(({ state }) => state === 'active').map(({ use, alg }) => `${use} ${alg}`);
  const expiring = keyring.expiringCertificates();
  if (expiring.length === 0) return [ok('keys', `signing with ${active.join(', ')}`)];
  return expiring.map(({ until }) => {
    const ended = until <= opened.now();
    const message = `the SAML certificate ${ended ? 'expired' : 'expires'} on ${until.toISOString().slice(0, 10)}`;
    return (ended ? failure : warning)(
      'keys',
      message,
      'Run: gatehouse keys rotate --saml, and notify the service providers.',
    );
  });
}

async function adminFinding({ database: { db, sql }, now }: Opened): Promise<Finding[]> {
  const core = { db, sql, now };
  const { find } = createAccountLookup(core);
  const count = (await listAdministrators(core, find)).length;
  if (count === 1 && (await isFirstPasswordUnused({ db, now })))
    return [
      warning('admins', 'the temporary password of the first administrator was never used', FIRST_PASSWORD_ADVICE),
    ];
  const lockedOut = await lockedOutAdministrator({ ...core, find });
  if (lockedOut !== undefined)
    return [warning('admins', 'none of them has a password or another way to sign in', lockedOutAdvice(lockedOut))];
  if (count > 0) return [ok('admins', `${plural(count, 'active user')} with the role ${ADMIN_ROLE}`)];
  return [failure('admins', 'no active user has the role admin', `Run: gatehouse user add NAME --role ${ADMIN_ROLE}`)];
}

async function groupFindings({ database: { db } }: Opened): Promise<Finding[]> {
  const advice = 'Restore a backup, or take each of them out of a group and put it back: gatehouse group remove-child.';
  try {
    const wrong = await wrongInGraph(db);
    if (wrong.length === 0) return [];
    const message = `what is above these groups was changed outside: ${wrong.slice(0, MOST_GROUPS).join(', ')}`;
    return [failure('groups', message, advice)];
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [failure('groups', error.faults.map(faultLine).join(' '), advice)];
  }
}

async function mailFindings({ database: { db } }: Opened): Promise<Finding[]> {
  const [lost, waiting] = await Promise.all([
    db.mailMessage.count({ where: mailOf.failed }),
    db.mailMessage.count({ where: { ...mailOf.waiting, tries: { gt: 2 } } }),
  ]);
  if (lost + waiting === 0) return [];
  return [
    warning(
      'outbox',
      `${plural(waiting, 'email')} waiting after several tries, ${lost} failed after ${plural(limits.delivery.maxTries, 'try', 'tries')}`,
      "Look for the mail server's response in the log.",
    ),
  ];
}

async function destinationFindings({ database: { db }, now }: Opened): Promise<Finding[]> {
  const where = isDown(now());
  const [streams, targets] = await Promise.all([
    db.asStored.eventStream.findMany({ where, select: { name: true, lastError: true, pausedAt: true } }),
    db.asStored.provisioningTarget.findMany({
      where,
      select: { applicationId: true, lastError: true, pausedAt: true },
    }),
  ]);
  const applications = await db.asStored.application.findMany({
    where: { id: { in: targets.map(({ applicationId }) => applicationId) } },
    select: { id: true, name: true },
  });
  const nameOf = (id: string) => applications.find((one) => one.id === id)?.name ?? id;
  const findingOf = (check: string, name: string, { lastError, pausedAt }: (typeof streams | typeof targets)[number]) =>
    warning(
      check,
      `${name} takes nothing${pausedAt ? ' and is paused' : ''}: ${lastError ?? 'see the log'}`,
      pausedAt ? 'Correct its address or secret, then resume it in the console.' : 'It is paused after three days.',
    );
  return [
    ...streams.map((one) => findingOf('event streams', one.name, one)),
    ...targets.map((one) => findingOf('provisioning', nameOf(one.applicationId), one)),
  ];
}

/** APIs that are open to agents, which a setting keeps out. */
async function apiFindings({ database: { db }, now }: Opened): Promise<Finding[]> {
  const settings = await createSettings({ db, now }).reload();
  const apis = await resourcesOf(await db.resource.findMany({ orderBy: { identifier: 'asc' } }), db);
  return apis.flatMap((api) => {
    const text = agentWarning(api, settings);
    return text ? [warning('apis', String(text), 'Change the settings agents and agent_hosts, or the API.')] : [];
  });
}

async function clientFindings({ config, database, now }: Opened): Promise<Finding[]> {
  const secrets = createSecrets({ vault: createVault(config.secrets), now });
  const findings: Finding[] = [];
  for (const { id, clientId, name, protocol, metadata, enabled } of await createApplicationReads(database.db).all()) {
    if (protocol === 'proxy' && isOnHostOf(config.issuer, clientId)) {
      const message = `the website ${name} (${clientId}) has the host of the issuer, so browsers send it the sessions of Gatehouse, and every request is rejected`;
      findings.push(
        failure('websites', message, 'Give it another host name, and remove it from the proxy until then.'),
      );
    }
    if (!enabled || protocol !== 'oidc') continue;
    const faults = oidcRules(metadata);
    if (faults.length > 0) {
      const rules = faults.map(faultLine).join(' ');
      const advice =
        'Correct it in the console or the configuration file: sign-ins and logout at this application may fail.';
      findings.push(
        warning('registrations', `${name} (client ${clientId}) breaks rules of this version: ${rules}`, advice),
      );
    }
    if (!needsPkce(metadata)) {
      const advice = 'Remove require_pkce: false as soon as the application sends a challenge.';
      findings.push(warning('pkce', `client ${clientId} can sign users in without PKCE`, advice));
    }
    if (!usesSecret(metadata)) continue;
    const unexpired = await secrets.listUnexpired(id, database.db);
    if (unexpired.some(({ value }) => !needsSecretValue(metadata) || value !== undefined)) continue;
    findings.push(
      warning('secrets', `client ${clientId} has no usable secret`, `Run: gatehouse app secret ${clientId}`),
    );
  }
  return findings;
}

// doctor: the upstream identity providers. It reads the database only, and no upstream but directories: whether they accept the
// account that searches is stored nowhere.

const advice = {
  ends: 'Create a new one at the provider and add it: gatehouse connection secret ID, or in the console.',
  'own-certificate': 'Publish the next one: gatehouse keys rotate --saml-sp, and later the same with --activate.',
  document: 'Check that this machine can reach the upstream, and look up the error in the console.',
  domain: 'Add the DNS record that the console shows, or remove the domain.',
  rejected:
    'Store the right password: gatehouse connection secret ID, or in the console. "Try it" there sends the old one once more.',
  directory:
    'Compare url, ca, bind_dn, bind_password and base_dn with the directory; "Try it" in the console displays more details.',
  endpoint: 'Ask the upstream for metadata with https addresses, or declare sso_url and slo_url yourself.',
  forged: 'Find out who changed it, and remove the connection: gatehouse connection remove ID.',
} as const;

async function connectionFindings({ config, logger, now, database }: Opened): Promise<Finding[]> {
  const { db, sql } = database;
  const count = await db.connection.count();
  if (count === 0) return [];
  const sealing = createVault(config.secrets);
  const vault = createVault(config.secrets, decryptDataKeys(await db.dataKey.findMany(), sealing).mac);
  const base = { config, db, sql, vault, now, logger };
  // doctor sends no mail and changes nothing: what it finds is on the terminal.
  const nothing = async () => {};
  const unused = async () => Promise.reject(new Error('doctor calls no upstream'));
  const core = { ...base, audit: createAudit(base), outgoing: unused, notifyAdministrators: nothing };
  const connections = createConnections({ ...core, assertMay: nothing, logoutOnRoleChange: nothing });
  const parseMetadata = (xml: string) => parseIdentityProviderMetadata(xml, now());
  const documents = createConnectionDocuments({
    ...core,
    connections,
    parseMetadata,
    fetchMetadata: unused,
  });
  const ownCertificates = () => certificateEnds(db, ['saml-sp', 'saml-sp-encryption']);
  // First: a password that a directory rejects now is a warning then.
  const ofDirectories = await directoryFindings(createDirectory({ ...base, connections }), connections, now);
  const warnings = await connectionWarnings({ ...base, connections, documents, parseMetadata, ownCertificates });
  const findings = [
    ...warnings.map(({ code, text, isUrgent }) =>
      (isUrgent ? failure : warning)('connections', String(text), advice[code]),
    ),
    ...ofDirectories,
  ];
  return findings.length === 0 ? [ok('connections', `${count} registered`)] : findings;
}

async function directoryFindings(directory: Directory, connections: Connections, now: Clock): Promise<Finding[]> {
  const enabled = await connections.enabled();
  const directories = enabled.filter((one) => one.kind === 'ldap');
  const findings = await Promise.all(
    directories.map(async (one) => {
      try {
        await directory.probe(one);
        return [];
      } catch (error) {
        if (!(error instanceof FederationError)) throw error;
        // Stored, so it is among the warnings.
        if (rejectedSecret(await connections.secretInfos(one.id), now())) return [];
        const text = `the directory ${one.id} can’t be used: ${error.expected ?? ''}: ${error.received ?? ''}`;
        return [failure('connections', text, advice.directory)];
      }
    }),
  );
  return findings.flat();
}

// doctor: pictures of applications that could not be read from their logo_uri. It reads the database only.

const MAX_NAMED = 20;
const ADVICE =
  'Correct logo_uri, or choose a picture in the console: Applications, the application, Settings, Change picture.';

async function pictureFindings({ database: { db } }: Opened): Promise<Finding[]> {
  const rows = await db.asStored.applicationPicture.findMany({
    where: { lastError: { not: null } },
    select: { lastError: true, application: { select: { clientId: true } } },
    orderBy: { applicationId: 'asc' },
    take: MAX_NAMED,
  });
  return rows.map(({ lastError, application: { clientId } }) =>
    warning('pictures', `the picture of ${clientId} can't be read: ${readStoredText(lastError ?? '')}`, ADVICE),
  );
}
