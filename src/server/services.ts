// The composition root of everything but HTTP: creates the services of each folder, in order.

import { createDeletion } from '../account/deletion.ts';
import { createOwnData } from '../account/own-data.ts';
import { createApplicationServices } from '../applications/application-services.ts';
import { createBrand } from '../applications/brand/brand.ts';
import { createImageStore } from '../applications/brand/image-store.ts';
import type { Base } from '../base/base.ts';
import type { Config } from '../base/config.ts';
import { createStoredPages } from '../base/http/stored-pages.ts';
import { limits } from '../base/limits.ts';
import { createCountries } from '../base/network/countries.ts';
import { createOutgoingFetch } from '../base/network/outgoing-fetch.ts';
import { createTxtResolver, type ResolveTxt } from '../base/network/txt-records.ts';
import { type Clock, systemClock } from '../base/platform/clock.ts';
import type { Logger } from '../base/platform/logger.ts';
import { createVault } from '../base/platform/vault.ts';
import { openDatabase, type Tx } from '../base/storage/database.ts';
import { migrate } from '../base/storage/migrations/migrate.ts';
import type { DatabaseLimits } from '../base/storage/open-options.ts';
import { afterCommit } from '../base/storage/protected-client.ts';
import { createProtectedRows } from '../base/storage/protected-rows.ts';
import { createConfigFile } from '../config-file/config-file.ts';
import { createFileReader } from '../config-file/file-reader.ts';
import { type AlarmKind, createAlarm } from '../core/audit/alarm.ts';
import { createAudit } from '../core/audit/audit.ts';
import { createAuditChain } from '../core/audit/chain/chain.ts';
import { createOutsideCheckpoints } from '../core/audit/chain/outside-checkpoints.ts';
import { createAuditErasure } from '../core/audit/erasure.ts';
import { createRepeatedEntries } from '../core/audit/repeated-entries.ts';
import type { Core } from '../core/core.ts';
import type { WokenJob } from '../core/jobs/scheduler.ts';
import { openDataKeys } from '../core/keys/data-keys.ts';
import { createKeyring } from '../core/keys/keyring.ts';
import { createMail } from '../core/mail/create-mail.ts';
import { createMailServer } from '../core/mail/mail-server.ts';
import { type AdministratorMail, recipientOf } from '../core/mail/messages.ts';
import { createSettings, createTextSource } from '../core/settings/settings.ts';
import { offeredLanguages } from '../core/settings/value-schemas.ts';
import { createFederationServices } from '../federation/federation-services.ts';
import { createAccountLookup } from '../people/accounts/account.ts';
import { createInactivity } from '../people/accounts/inactivity.ts';
import { createAccountLife } from '../people/accounts/life.ts';
import { createPeople, type PeopleOptions } from '../people/people.ts';
import { siteBlock } from '../people/rate-limits/policies.ts';
import { listAdministrators } from '../people/rbac/administrators.ts';
import { createEventStreams, type EventStreams } from '../protocols/event-streams/streams.ts';
import { createSessionServices } from '../protocols/logout/session-services.ts';
import type { PlanUpstream } from '../protocols/logout/upstream.ts';
import { FIRST_PARTY_CLIENT_ID } from '../protocols/oidc/in-process-clients.ts';
import { removeClientArtifacts } from '../protocols/oidc/store/removals.ts';
import { createProvisioning } from '../protocols/provisioning/provisioning.ts';
import { createMetadataFetch } from '../protocols/saml/metadata/fetch.ts';
import { parseServiceProviderMetadata } from '../protocols/saml/metadata/parse.ts';
import { removeServiceProviderData } from '../protocols/saml/slo/session-participants.ts';
import { createScimConnections } from '../protocols/scim/connections.ts';
import { abandonSignIns } from '../sign-in/attempts.ts';
import { createSignInPolicy } from '../sign-in/sign-in-policy.ts';

export type Services = Awaited<ReturnType<typeof createServices>>;

export interface ServicesOptions {
  config: Config;
  logger: Logger;
  now?: Clock;
  /** Runs a job now; without it, the job finds its work at its next run. */
  wakeJob?: (name: WokenJob) => void;
  /** Counts an alarm in the metrics. */
  countAlarm?: (kind: AlarmKind) => void;
  /** The time limits of the database; those of commands by default. */
  databaseLimits?: DatabaseLimits | undefined;
  /** Whether the log says that the database cannot be used, and that it answers again; always by default. */
  isServing?: () => boolean;
  /** The look-up of DNS records; the system's by default. */
  resolveTxt?: ResolveTxt | undefined;
}

/** Migrates and opens the database and creates the services; `close` releases everything. Throws DatabaseError. */
export async function createServices(options: ServicesOptions) {
  const { config, logger, now = systemClock, wakeJob = () => {} } = options;
  const { countAlarm = () => {}, databaseLimits, isServing = () => true } = options;
  let eventStreams: EventStreams | undefined;
  const { core, brand, brandImages, closeDatabase } = await createCore({
    config,
    logger,
    now,
    wakeJob,
    hasEventStreams: () => eventStreams?.areAny() ?? false,
    countAlarm,
    databaseLimits,
    isServing,
    resolveTxt: options.resolveTxt,
  });
  // Of services that are created below, because their folders are above.
  const signOutOnRoleChange: PeopleOptions['signOutOnRoleChange'] = (userId, by, tx) =>
    sessions.signOutOnRoleChange(userId, by, tx);
  const nameChanged: PeopleOptions['nameChanged'] = (change, by, tx) =>
    applications.applications.nameChanged(change, by, tx);
  const endAppPasswords: PeopleOptions['endAppPasswords'] = (userId, by, tx) =>
    applications.appPasswords.endAll(userId, by, tx);
  const planUpstream: PlanUpstream = (sessionUid, tx) => federation.planUpstream(sessionUid, tx);
  const ownClientId = FIRST_PARTY_CLIENT_ID;

  const { closePasswords, ...people } = createPeople(core, {
    abandonSignIns,
    endAppPasswords,
    signOutOnRoleChange,
    nameChanged,
    checkImage: brandImages.check,
  });
  const users = { ...core, ...people };
  const sessions = createSessionServices(users, { abandonSignIns, planUpstream, ownClientId });
  const applications = createApplicationServices(users, {
    brand,
    brandImages,
    ownClientId,
    removeClientArtifacts,
    removeServiceProviderData,
  });
  const federation = createFederationServices({ ...users, ...sessions });
  eventStreams = createEventStreams(core);
  const scimConnections = createScimConnections(core);
  const provisioning = createProvisioning({ ...users, ...applications });
  const services = {
    ...users,
    ...sessions,
    ...applications,
    ...federation,
    scimConnections,
    provisioning,
    ownData: createOwnData(core),
    deletion: createDeletion({ ...users, ...sessions }),
    inactivity: createInactivity({ ...users, ...sessions }),
    eventStreams,
    accountLife: createAccountLife({ ...users, ...sessions }),
    auditErasure: createAuditErasure(core),
  };
  const fetchMetadata = createMetadataFetch(core);
  const configFile = createConfigFile({
    ...services,
    metadata: { fetch: fetchMetadata, parse: (xml) => parseServiceProviderMetadata(xml, now()) },
  });
  const fileReader = createFileReader();
  return {
    ...services,
    fetchMetadata,
    signInPolicy: createSignInPolicy({ ...people, ...people.mfa, settings: core.settings.latest }),
    configFile,
    fileReader,
    async close() {
      try {
        await core.repeatedEntries.flush();
      } finally {
        await Promise.all([closePasswords(), fileReader.close(), brandImages.close()]);
        await closeDatabase();
      }
    },
  };
}

// Creates what every service needs: the database, keys, the audit log, settings, outgoing calls and mail.

interface CoreOptions {
  config: Config;
  logger: Logger;
  now: Clock;
  wakeJob(name: WokenJob): void;
  /** Asked at each audit event. */
  hasEventStreams(): boolean;
  /** Counts an alarm in the metrics. */
  countAlarm(kind: AlarmKind): void;
  databaseLimits: DatabaseLimits | undefined;
  /** False during a start, whose failure is one line. */
  isServing(): boolean;
  resolveTxt: ResolveTxt | undefined;
}

/** Migrates and opens the database. Throws DatabaseError. */
async function createCore({ config, logger, now, ...options }: CoreOptions) {
  const { loopback: allowLoopback } = config;
  const { wakeJob, hasEventStreams, countAlarm, databaseLimits, isServing, resolveTxt = createTxtResolver() } = options;
  for (const name of await migrate(config.databaseUrl)) logger.info({ migration: name }, 'migration applied');
  const {
    db,
    sql,
    protect,
    close: closeDatabase,
  } = await openDatabase(config.databaseUrl, {
    ...(databaseLimits && { limits: databaseLimits }),
    onChange(away) {
      if (!isServing()) return;
      const message = away?.isConnectionLost ? 'the database does not answer' : 'the database cannot be used';
      if (away) logger.error({ reason: away.reason, detail: away.logFields }, message);
      else logger.warn('the database answers again');
    },
    withSpans: config.tracing !== undefined,
  });
  const dataKeys = await openDataKeys({ config, logger, now, db, sql, vault: createVault(config.secrets) });
  const vault = createVault(config.secrets, dataKeys.mac);
  const base: Base = { config, logger, now, db, sql, vault };
  const wake = (job: WokenJob, tx: Tx) => afterCommit(tx, () => wakeJob(job));
  // Without event streams, an event joins the chain at the job's next turn.
  const audit = createAudit(base, (tx) => hasEventStreams() && wake('audit-chain', tx));
  const repeatedEntries = createRepeatedEntries({ ...base, audit, networkOf: siteBlock });
  // The settings below raise an alarm, which is sent by mail.
  const look = { brand: () => brand.current(), brandOf: (application: string) => brand.ofApplication(application) };
  const offered = () => offeredLanguages(settings.latest());
  const { outbox, notifyOwner } = createMail({
    ...base,
    ...look,
    offered,
    texts: () => texts(),
    wake,
  });
  const notifyAdministrators = async (message: AdministratorMail, tx?: Tx) => {
    for (const administrator of await listAdministrators(base, accounts.find)) {
      const to = recipientOf(administrator);
      if (to) await outbox.send({ ...message, to }, tx);
    }
  };
  const alarm = createAlarm({
    ...base,
    audit,
    countAlarm,
    notify: (message) => notifyAdministrators({ kind: 'integrity-alarm', message, at: now() }),
  });
  protect(createProtectedRows({ vault, alarm }));
  const accounts = createAccountLookup(base);
  const settings = createSettings(base);
  const brand = createBrand({ settings });
  const texts = createTextSource(settings);
  const setting = settings.latest;
  await settings.reload();
  const outgoingRules = () => ({ allowedNetworks: setting().outgoing_networks, allowLoopback });
  const outgoing = createOutgoingFetch({ rules: outgoingRules, ...limits.outgoing });
  const checkpointKey = dataKeys.checkpoint;
  const { checkpointFile: file, checkpointUrl: url } = config;
  const checkpoints = createOutsideCheckpoints({ file, url, key: checkpointKey, fetch: outgoing, logger });
  const auditChain = createAuditChain({ ...base, checkpointKey, outside: checkpoints, alarm });
  await auditChain.begin();
  const sessionSeconds = () => setting().session_hours * 3600;
  const core: Core = {
    ...base,
    audit,
    repeatedEntries,
    auditChain,
    checkpoints,
    alarm,
    settings,
    texts,
    keyring: createKeyring({ ...base, audit, sessionSeconds }),
    outgoing,
    outgoingRules,
    countries: createCountries(config.countryDatabase, base),
    resolveTxt,
    outbox,
    mailServer: createMailServer({ config, settings }),
    notifyOwner,
    notifyAdministrators,
    storedPages: createStoredPages(base),
    wake,
  };
  return { core, brand, brandImages: createImageStore(base), closeDatabase };
}
