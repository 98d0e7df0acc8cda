// The composition root of everything but HTTP: creates the services of each folder, in order.

import { FIRST_PARTY_CLIENT_ID } from '../account/rp/first-party-client.ts';
import { createApplicationServices } from '../applications/application-services.ts';
import type { Config } from '../base/config.ts';
import type { ResolveTxt } from '../base/network/txt-records.ts';
import { type Clock, systemClock } from '../base/platform/clock.ts';
import type { Logger } from '../base/platform/logger.ts';
import type { DatabaseLimits } from '../base/storage/open-options.ts';
import { createConfigFile } from '../config-file/config-file.ts';
import { createFileReader } from '../config-file/file-reader.ts';
import type { AlarmKind } from '../core/audit/alarm.ts';
import { createFederationServices } from '../federation/federation-services.ts';
import { createPeople } from '../people/people.ts';
import type { LogoutOnRoleChange } from '../people/rbac/connection-roles.ts';
import type { PlanUpstream } from '../protocols/logout/upstream.ts';
import { removeClientArtifacts } from '../protocols/oidc/store/removals.ts';
import { createMetadataFetch } from '../protocols/saml/metadata/fetch.ts';
import { parseServiceProviderMetadata } from '../protocols/saml/metadata/parse.ts';
import { parseIdentityProviderMetadata } from '../protocols/saml/metadata/parse-identity-provider.ts';
import { removeServiceProviderData } from '../protocols/saml/slo/removals.ts';
import { decodeXml } from '../protocols/saml/xml/encoding.ts';
import { createSessionServices } from '../protocols/session-services.ts';
import { abandonSignIns } from '../sign-in/abandon-sign-ins.ts';
import { createSignInPolicy } from '../sign-in/sign-in-policy.ts';
import { createCore } from './create-core.ts';

export type Services = Awaited<ReturnType<typeof createServices>>;

export interface ServicesOptions {
  config: Config;
  logger: Logger;
  now?: Clock;
  /** Starts the job that delivers a queued logout or mail; without it, the job finds them at its next run. */
  wakeLogoutDeliveries?: () => void;
  wakeMailDelivery?: () => void;
  wakePictureFetch?: () => void;
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
  const { config, logger, now = systemClock, wakeLogoutDeliveries = () => {}, wakeMailDelivery = () => {} } = options;
  const { countAlarm = () => {}, databaseLimits, isServing = () => true, wakePictureFetch = () => {} } = options;
  const { core, brand, brandImages, closeDatabase } = await createCore({
    config,
    logger,
    now,
    wakeMailDelivery,
    countAlarm,
    databaseLimits,
    isServing,
  });
  // Of a folder above.
  const logoutOnRoleChange: LogoutOnRoleChange = (userId, by, tx) => sessions.logoutOnRoleChange(userId, by, tx);
  const planUpstream: PlanUpstream = (sessionUid, tx) => federation.planUpstream(sessionUid, tx);
  const ownClientId = FIRST_PARTY_CLIENT_ID;

  const { closePasswords, ...people } = createPeople(core, { abandonSignIns, logoutOnRoleChange });
  const users = { ...core, ...people };
  const sessions = createSessionServices(users, { abandonSignIns, planUpstream, wakeLogoutDeliveries, ownClientId });
  const applications = createApplicationServices(users, {
    brand,
    brandImages,
    ownClientId,
    wakePictureFetch,
    removeClientArtifacts,
    removeServiceProviderData,
  });
  const federation = createFederationServices({ ...users, ...sessions }, options.resolveTxt);
  const services = { ...users, ...sessions, ...applications, ...federation };
  const fetchMetadata = createMetadataFetch(core);
  const configFile = createConfigFile({
    ...services,
    fetchMetadata,
    importHash: people.credentials.importHash,
    endAllSessions: sessions.endSession.all,
    decodeMetadata: decodeXml,
    parseMetadata: (xml) => parseServiceProviderMetadata(xml, now()),
    parseUpstreamMetadata: (xml) => parseIdentityProviderMetadata(xml, now()),
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
