// Everything but HTTP, built once and in order: what the server, the command line and the tests stand on.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { createAccounts } from './accounts/accounts.ts';
import { createApplications } from './applications/applications.ts';
import { createAudit } from './audit/audit.ts';
import { createAuditChain } from './audit/chain.ts';
import type { Config } from './config.ts';
import { createConsents } from './consents/consents.ts';
import { createBreached } from './credentials/breached.ts';
import { createCredentials } from './credentials/credentials.ts';
import { createPasswords } from './credentials/password.ts';
import { createStrengthMeter } from './credentials/strength.ts';
import { createKeyring } from './keys/keyring.ts';
import { limits } from './limits.ts';
import { createEndSession } from './logout/end-session.ts';
import { createRuns } from './logout/runs.ts';
import { createLetterRenderer } from './mail/html.ts';
import { createNotices } from './mail/notices.ts';
import { createOutbox } from './mail/outbox.ts';
import { assembleFactors } from './mfa/assemble.ts';
import { createSessions } from './oidc/sessions.ts';
import { type Clock, systemClock } from './platform/clock.ts';
import { openDatabase } from './platform/db.ts';
import type { Logger } from './platform/logger.ts';
import { migrate } from './platform/migrate.ts';
import { createOutgoingFetch } from './platform/outgoing.ts';
import { createVault } from './platform/vault.ts';
import { createProvisioning } from './provisioning/provisioning.ts';
import { createCaptcha } from './rate-limits/captcha.ts';
import { createMailLimits } from './rate-limits/mail-limits.ts';
import { createRateLimits } from './rate-limits/rate-limits.ts';
import { addressKey, createSignInGuard } from './rate-limits/sign-in-guard.ts';
import { createPermissions } from './rbac/permissions.ts';
import { createRoles } from './rbac/roles.ts';
import { createRefusals } from './refusals/refusals.ts';
import { OWN_CLIENT_ID } from './rp/own-client.ts';
import { createMetadataFetch } from './saml/metadata-fetch.ts';
import { parseServiceProviderMetadata } from './saml/metadata-parse.ts';
import { createSettings } from './settings.ts';
import { createSignInPolicy } from './signin/policy.ts';
import { createSentCodes } from './signin/sent-codes.ts';
import { createSmsGateway } from './sms/gateway.ts';

export type Services = Awaited<ReturnType<typeof createServices>>;

export interface ServicesOptions {
  config: Config;
  logger: Logger;
  now?: Clock;
  /** Told when a relying party is to hear of a logout; without it the running server finds out by itself. */
  logoutQueued?: () => void;
  /** Told when a mail is to be sent; likewise. */
  mailQueued?: () => void;
}

/** Folder that holds views/, prisma/ and package.json, from src/ and from dist/ alike. */
export const packageRoot = path.dirname(path.dirname(fileURLToPath(import.meta.url)));

/** The version in package.json. */
export function packageVersion(): string {
  const { version } = JSON.parse(readFileSync(path.join(packageRoot, 'package.json'), 'utf8')) as { version: string };
  return version;
}

/** Opens the database (migrating it first) and builds the services on it; `close` takes all of it down again. */
export async function createServices({
  config,
  logger,
  now = systemClock,
  logoutQueued = () => {},
  mailQueued = () => {},
}: ServicesOptions) {
  for (const name of await migrate(config.databaseUrl)) logger.info({ migration: name }, 'migration applied');
  const { db, sql, kind, close } = await openDatabase(config.databaseUrl);
  const vault = createVault([...config.secrets]);
  const audit = createAudit({ db, sql, kind, logger, now });
  const auditChain = createAuditChain({ db, kind, vault, now, logger });
  const settings = createSettings({ db, now, vault });
  await settings.reload();
  const outgoing = (input: string | URL | Request, init?: RequestInit) =>
    createOutgoingFetch({
      allowedNetworks: settings.latest().outgoing_networks,
      allowLoopback: config.loopback,
      ...limits.outgoing,
    })(input, init);

  const outbox = createOutbox({
    db,
    vault,
    now,
    issuer: config.issuer,
    renderHtml: createLetterRenderer(path.join(packageRoot, 'views')),
    queued: mailQueued,
  });

  // People and what they may
  const attributeSchema = () => settings.latest().user_attributes;
  const accounts = createAccounts({ db, sql, kind, now, audit, attributeSchema });
  const roles = createRoles({
    db,
    now,
    audit,
    async rolesChanged(userId, by, tx) {
      const isWanted = settings.latest().sign_out_on_role_change;
      if (isWanted && (await sessions.list(userId, tx)).length > 0)
        await endSession.all(userId, 'roles-changed', by, tx);
    },
  });
  const permissions = createPermissions({ db });
  const consents = createConsents({ db });
  const mfa = assembleFactors({ db, sql, kind, vault, now, audit, issuerUrl: config.issuerUrl });
  const passwords = createPasswords();
  const strength = createStrengthMeter();
  // For the pages, apart from the one that judges: whoever floods it keeps nobody from setting a password.
  const meter = createStrengthMeter({ maxWaiting: 8 });
  const breached = createBreached({
    strength,
    logger,
    rangeFetch: outgoing,
    isLookupOn: () => settings.latest().breached_password_lookup,
  });
  const { hasSecondFactor } = mfa.factors;
  const serviceNames = ['gatehouse', config.issuerUrl.hostname];
  const credentials = createCredentials({
    db,
    sql,
    kind,
    now,
    audit,
    passwords,
    breached,
    hasSecondFactor,
    serviceNames,
  });
  const rateLimits = createRateLimits({ sql, kind, now, isEnabled: () => settings.latest().rate_limits });
  const refusals = createRefusals({
    db,
    now,
    logger,
    admit: async (address) => (await rateLimits.consume('refusals:address', addressKey(address))).allowed,
  });
  const sms = createSmsGateway({
    gateway: () => settings.latest().sms_gateway,
    fetch: outgoing,
    logger,
    host: config.issuerUrl.host,
  });
  const { oneTimeCodes, phones, factors } = mfa;
  const emailCodes = () => settings.latest().email_codes;
  const mailLimits = createMailLimits({ rateLimits, knownBrowsers: mfa.knownBrowsers });
  const sentCodes = createSentCodes({ oneTimeCodes, phones, outbox, sms, rateLimits, mailLimits, audit, emailCodes });
  const signInPolicy = createSignInPolicy({ credentials, factors, sentCodes, settings: () => settings.latest() });

  const tell = createNotices({ outbox, now });

  // Applications, keys, sessions
  const applications = createApplications({ db, vault, audit, now });
  const sessionSeconds = () => settings.latest().session_hours * 3600;
  const keyring = createKeyring({ db, vault, now, issuer: config.issuer, logger, audit, sessionSeconds });
  const sessions = createSessions({ db, sql, kind, now });
  const runs = createRuns({ db, now, audit, deliverSoon: logoutQueued });
  const endSession = createEndSession({
    db,
    now,
    audit,
    sessions,
    runs,
    ownClientId: OWN_CLIENT_ID,
    async endTrust(accountId, uids, tx) {
      const browsers = uids === 'all' ? undefined : await sessions.browsersOf(uids, tx);
      await mfa.knownBrowsers.endTrust(accountId, tx, browsers);
    },
    deliverSoon: logoutQueued,
  });

  const fetchMetadata = createMetadataFetch({ outgoing: outgoing as typeof fetch });
  const provisioning = createProvisioning({
    db,
    now,
    vault,
    audit,
    accounts,
    applications,
    roles,
    settings,
    passwords,
    totp: mfa.totp,
    importHash: credentials.importHash,
    endAllSessions: endSession.all,
    parseMetadata: (xml) => parseServiceProviderMetadata(xml, now()),
    fetchMetadata,
  });

  return {
    config,
    logger,
    now,
    db,
    sql,
    kind,
    vault,
    audit,
    auditChain,
    settings,
    outgoing,
    outbox,
    accounts,
    roles,
    permissions,
    consents,
    mfa,
    passwords,
    serviceNames,
    strength,
    meter,
    credentials,
    rateLimits,
    mailLimits,
    refusals,
    captcha: createCaptcha({ db, vault, now, rateLimits }),
    sms,
    sentCodes,
    tell,
    signInPolicy,
    signInGuard: createSignInGuard({ rateLimits }),
    applications,
    keyring,
    sessions,
    runs,
    endSession,
    provisioning,
    fetchMetadata,
    async close() {
      await Promise.all([passwords.close(), strength.close(), meter.close()]);
      await close();
    },
  };
}
