// The composition root of everything but HTTP: creates each domain's services with their dependencies, in order.

import type { Config } from '../base/config.ts';
import type { ResolveTxt } from '../base/network/txt-records.ts';
import { type Clock, systemClock } from '../base/platform/clock.ts';
import type { Logger } from '../base/platform/logger.ts';
import type { DatabaseLimits } from '../base/storage/open-options.ts';
import type { AlarmKind } from '../core/audit/alarm.ts';
import { createDirectoryUsers } from '../federation/directory-users.ts';
import { createSsoIds } from '../federation/sso-ids.ts';
import { createAuthority } from '../people/rbac/authority.ts';
import { createApplicationServices } from './services/applications.ts';
import { createBase } from './services/base.ts';
import { createConfigFileServices } from './services/config-file.ts';
import { createConnectionServices } from './services/connections.ts';
import { createFederationServices } from './services/federation.ts';
import { createSessionServices } from './services/sessions.ts';
import { createUserServices } from './services/users.ts';

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
  const { closeDatabase, ...base } = await createBase({
    config,
    logger,
    now,
    wakeMailDelivery,
    countAlarm,
    databaseLimits,
    isServing,
  });
  const { closePasswords, ...users } = createUserServices(base);
  const connections = createConnectionServices({ base, users, resolveTxt: options.resolveTxt });
  const federation = createFederationServices({ base, connections });
  const applications = createApplicationServices({ base, users, wakePictureFetch });
  const sessions = createSessionServices({ base, users, federation, wakeLogoutDeliveries });
  const { setConnectionRoles } = sessions;
  const ssoIds = createSsoIds({ ...connections, ...federation, authority: createAuthority(users), setConnectionRoles });
  const directoryUsers = createDirectoryUsers({ ...base, ...connections, ...federation, ...sessions });
  const configFile = createConfigFileServices({ base, users, connections, applications, sessions, ssoIds });
  return {
    ...base,
    ...users,
    ...connections,
    ...federation,
    ...applications,
    ...sessions,
    ...configFile,
    ssoIds,
    directoryUsers,
    async close() {
      try {
        await base.repeatedEntries.flush();
      } finally {
        await Promise.all([closePasswords(), configFile.fileReader.close(), base.brandImages.close()]);
        await closeDatabase();
      }
    },
  };
}
