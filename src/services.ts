// The composition root of everything but HTTP: creates each domain's services with their dependencies, in order.
import { createAccounts } from './accounts/accounts.ts';
import { createApplications } from './applications/applications.ts';
import { type AlarmKind, createAlarm } from './audit/alarm.ts';
import { createAudit } from './audit/audit.ts';
import { createAuditChain } from './audit/chain.ts';
import { createOutsideCheckpoints } from './audit/outside-checkpoints.ts';
import { createProtectedRows } from './audit/protected-rows.ts';
import { createRepeatedEntries } from './audit/repeated-entries.ts';
import type { Config } from './config.ts';
import { createConfigFile } from './config-file/config-file.ts';
import { createFileReader } from './config-file/file-reader.ts';
import { createConsents } from './consents/consents.ts';
import { createPasswordServices } from './credentials/create-credentials.ts';
import { openDataKeys } from './keys/data-keys.ts';
import { createKeyring } from './keys/keyring.ts';
import { limits } from './limits.ts';
import { createEndSession } from './logout/end-session.ts';
import { createLogoutRuns } from './logout/logout-runs.ts';
import { createLogoutOnRoleChange } from './logout/role-change.ts';
import { createMail } from './mail/create-mail.ts';
import { type AdministratorMail, recipientOf } from './mail/messages.ts';
import { createCodeDelivery } from './mfa/code-delivery.ts';
import { createMfa } from './mfa/create-mfa.ts';
import { createOutgoingFetch } from './network/outgoing-fetch.ts';
import { removeClientArtifacts } from './oidc/store/removals.ts';
import { createSessions } from './oidc/store/sessions.ts';
import { type Clock, systemClock } from './platform/clock.ts';
import type { Logger } from './platform/logger.ts';
import { viewsDir } from './platform/package.ts';
import { createVault } from './platform/vault.ts';
import { createLimits } from './rate-limits/create-limits.ts';
import { addressKey } from './rate-limits/lockout.ts';
import { siteKey } from './rate-limits/network-limits.ts';
import { listAdministrators } from './rbac/administrators.ts';
import { createPermissions } from './rbac/permissions.ts';
import { createRoles } from './rbac/roles.ts';
import { createRejections } from './rejections/rejections.ts';
import { FIRST_PARTY_CLIENT_ID } from './rp/first-party-client.ts';
import { createMetadataFetch } from './saml/metadata/fetch.ts';
import { parseServiceProviderMetadata } from './saml/metadata/parse.ts';
import { removeServiceProviderData } from './saml/slo/removals.ts';
import { createSettings } from './settings/settings.ts';
import { abandonSignIns } from './sign-in/abandon-sign-ins.ts';
import { createSignInPolicy } from './sign-in/sign-in-policy.ts';
import { createSmsGateway } from './sms/gateway.ts';
import { openDatabase, type Tx } from './storage/database.ts';
import { migrate } from './storage/migrations/migrate.ts';

export type Services = Awaited<ReturnType<typeof createServices>>;

export interface ServicesOptions {
  config: Config;
  logger: Logger;
  now?: Clock;
  /** Called when a logout delivery or a mail is queued; without it, the running server finds it by polling. */
  logoutQueued?: () => void;
  mailQueued?: () => void;
  /** Counts an alarm in the metrics. */
  alarmRaised?: (kind: AlarmKind) => void;
}

/** Migrates and opens the database and creates the services; `close` releases everything. Throws DatabaseError. */
export async function createServices(options: ServicesOptions) {
  const { config, logger, now = systemClock, logoutQueued = () => {}, mailQueued = () => {} } = options;
  const { alarmRaised = () => {} } = options;
  const { issuer, issuerUrl, loopback: allowLoopback } = config;
  for (const name of await migrate(config.databaseUrl)) logger.info({ migration: name }, 'migration applied');
  const { db, sql, close: closeDatabase } = await openDatabase(config.databaseUrl);
  const dataKeys = await openDataKeys({ db, vault: createVault(config.secrets), now });
  const vault = createVault(config.secrets, dataKeys.mac);
  const audit = createAudit({ db, sql, vault, logger, now });
  const repeatedEntries = createRepeatedEntries({ audit, now, logger, networkOf: siteKey });
  const settings = createSettings({ db, now, vault });
  const setting = settings.latest;
  await settings.reload();
  const network = () => ({ allowedNetworks: setting().outgoing_networks, allowLoopback, ...limits.outgoing });
  const outgoing: typeof fetch = (input, init) => createOutgoingFetch(network())(input, init);
  const { outbox, notifyOwner } = createMail({ db, vault, now, issuer, viewsDir, queued: mailQueued });
  const notifyAdministrators = async (message: AdministratorMail, tx?: Tx) => {
    for (const administrator of await listAdministrators(db)) {
      const to = recipientOf(administrator);
      if (to) await outbox.send({ ...message, to }, tx);
    }
  };
  const alarm = createAlarm({
    ...{ audit, logger, now, counted: alarmRaised },
    notify: (message) => notifyAdministrators({ kind: 'integrity-alarm', message, at: now() }),
  });
  const protectedRows = createProtectedRows({ vault, alarm });
  const checkpointKey = dataKeys.checkpoint;
  const { checkpointFile: file, checkpointUrl: url } = config;
  const checkpoints = createOutsideCheckpoints({ file, url, key: checkpointKey, fetch: outgoing, logger });
  const auditChain = createAuditChain({ db, sql, vault, now, checkpointKey, outside: checkpoints, alarm });
  await auditChain.begin();

  // Users, their credentials and rights
  const accounts = createAccounts({
    db,
    sql,
    now,
    audit,
    protectedRows,
    attributeSchema: () => setting().user_attributes,
    usernameDomains: () => setting().username_domains,
  });
  const permissions = createPermissions({ accounts });
  const consents = createConsents({ db, now });
  const mfa = createMfa({
    ...{ db, sql, vault, now, audit, protectedRows, issuerUrl, settings: setting },
    requiredSince: async () => (setting().mfa === 'required' ? settings.changedAt('mfa') : undefined),
  });
  const { factors, knownBrowsers, oneTimeCodes, phones } = mfa;
  const isLookupOn = () => setting().breached_password_lookup;
  const { hasSecondFactor } = factors;
  const { close: closePasswords, ...passwordServices } = createPasswordServices({
    ...{ db, sql, now, audit, protectedRows, logger, issuerUrl, outgoing, isLookupOn, hasSecondFactor, abandonSignIns },
  });
  const { credentials, passwords } = passwordServices;
  const limiters = createLimits({ db, sql, now, vault, knownBrowsers, isEnabled: () => setting().rate_limits });
  const { rateLimits, mailLimits } = limiters;
  const admit = async (address: string) => (await rateLimits.consume('refusals:address', addressKey(address))).allowed;
  const rejections = createRejections({ db, now, logger, admit });
  const sms = createSmsGateway({ gateway: () => setting().sms_gateway, fetch: outgoing, logger, host: issuerUrl.host });
  const emailCodes = () => setting().email_codes;
  const sending = { outbox, sms, rateLimits, mailLimits };
  const codeDelivery = createCodeDelivery({ ...sending, oneTimeCodes, phones, audit, emailCodes });
  const signInPolicy = createSignInPolicy({
    credentials,
    factors,
    firstFactor: mfa.firstFactor,
    codeDelivery,
    settings: setting,
  });

  // Applications, keys and sessions
  const applications = createApplications({ db, vault, audit, now, removeClientArtifacts, removeServiceProviderData });
  const sessionSeconds = () => setting().session_hours * 3600;
  const keyring = createKeyring({ db, vault, now, issuer, logger, audit, sessionSeconds });
  const idleSeconds = () => setting().session_idle_minutes * 60;
  const sessions = createSessions({ db, sql, now, idleSeconds });
  const runs = createLogoutRuns({ db, now, audit, deliverSoon: logoutQueued });
  const endSession = createEndSession({
    ...{ db, now, audit, sessions, runs, ownClientId: FIRST_PARTY_CLIENT_ID, deliverSoon: logoutQueued },
    endTrust: async (accountId, uids, tx) =>
      knownBrowsers.endTrust(accountId, tx, uids === 'all' ? undefined : await sessions.browsersOf(uids, tx)),
  });
  const isEnabled = () => setting().sign_out_on_role_change;
  const rolesChanged = createLogoutOnRoleChange({ isEnabled, sessions, endSession });
  const roles = createRoles({ db, now, audit, accounts, protectedRows, rolesChanged });
  const fetchMetadata = createMetadataFetch({ outgoing });
  const configFile = createConfigFile({
    ...{ db, now, vault, audit, accounts, applications, roles, settings, passwords, totp: mfa.totp, fetchMetadata },
    ...{ importHash: credentials.importHash, endAllSessions: endSession.all },
    parseMetadata: (xml) => parseServiceProviderMetadata(xml, now()),
  });
  const fileReader = createFileReader();
  return {
    ...{
      config,
      logger,
      now,
      db,
      sql,
      vault,
      audit,
      repeatedEntries,
      auditChain,
      checkpoints,
      alarm,
      protectedRows,
      settings,
    },
    ...{ outgoing, outbox, notifyAdministrators, notifyOwner, accounts },
    ...{ permissions, consents, mfa, ...passwordServices, ...limiters, rejections, sms, codeDelivery, signInPolicy },
    ...{ applications, keyring, sessions, runs, endSession, roles, fetchMetadata, configFile, fileReader },
    async close() {
      await repeatedEntries.flush();
      await Promise.all([closePasswords(), fileReader.close()]);
      await closeDatabase();
    },
  };
}
