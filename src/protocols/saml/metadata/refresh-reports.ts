// What a refresh of metadata reports: to the log, to the audit log, and by mail to the administrators.
import type { SamlApplication } from '../../../applications/application.ts';
import type { Clock } from '../../../base/platform/clock.ts';
import type { Logger } from '../../../base/platform/logger.ts';
import { type Db, type Tx, transaction } from '../../../base/storage/database.ts';
import { isFirstUse } from '../../../base/storage/single-use.ts';
import type { Sql } from '../../../base/storage/statements.ts';
import type { Audit } from '../../../core/audit/audit.ts';
import type { AdministratorMail } from '../../../core/mail/messages.ts';
import type { MetadataChange } from './differences.ts';
import { metadataEnd } from './service-providers.ts';

export interface RefreshReportsDependencies {
  db: Db;
  sql: Sql;
  audit: Audit;
  logger: Logger;
  now: Clock;
  /** Queues a mail to each administrator. */
  notifyAdministrators(message: AdministratorMail, tx: Tx): Promise<void>;
}

export type RefreshReports = ReturnType<typeof createRefreshReports>;

export function createRefreshReports(dependencies: RefreshReportsDependencies) {
  const { db, sql, audit, logger, now, notifyAdministrators } = dependencies;
  return {
    async rejected({ clientId, name }: SamlApplication, url: string, reason: string): Promise<void> {
      logger.warn({ clientId, url, reason }, `metadata of ${name} was rejected; the last valid one stays in use`);
      await audit.record({ type: 'application.metadata-invalid', outcome: 'failure', clientId, reason, data: { url } });
    },

    async waiting(
      { id, clientId, name }: SamlApplication,
      url: string,
      changes: readonly MetadataChange[],
      tx: Tx,
    ): Promise<void> {
      const judged = changes.filter((change) => change.needsApproval);
      const data = { url, changes: judged.map((one) => ({ ...one })) };
      logger.warn({ clientId, url }, `changed metadata of ${name} waits for the approval of an administrator`);
      await audit.record({ type: 'application.metadata-waiting', outcome: 'success', clientId, data }, tx);
      await notifyAdministrators({ ...noticeOf(name, id, judged), state: 'waiting' }, tx);
    },

    async applied(
      { id, clientId, name }: SamlApplication,
      url: string,
      changes: readonly MetadataChange[],
      tx: Tx,
    ): Promise<void> {
      const data = { url, changes: changes.map((one) => ({ ...one })) };
      await audit.record({ type: 'application.metadata-applied', outcome: 'success', clientId, data }, tx);
      await notifyAdministrators({ ...noticeOf(name, id, changes), state: 'applied' }, tx);
    },

    /** Reports once that the registered document has expired; until the grace period ends it stays in use. */
    async expired({ id, clientId, name, metadata }: SamlApplication): Promise<void> {
      const end = metadataEnd(metadata);
      if (!end || end.validUntil > now()) return;
      const { validUntil, endsAt } = end;
      await transaction(db, async (tx) => {
        const rememberUntil = new Date(endsAt.getTime() + 365 * 24 * 3600 * 1000);
        const key = `metadata-expired:${id}:${validUntil.getTime()}`;
        if (!(await isFirstUse(sql.in(tx), key, rememberUntil))) return;
        logger.warn(
          { clientId, validUntil, endsAt },
          `the metadata of ${name} has expired and no valid one can be read`,
        );
        const data = { validUntil: validUntil.toISOString(), endsAt: endsAt.toISOString() };
        await audit.record({ type: 'application.metadata-expired', outcome: 'failure', clientId, data }, tx);
        await notifyAdministrators({ ...noticeOf(name, id, []), state: 'expired', until: endsAt }, tx);
      });
    },
  };
}

function noticeOf(application: string, applicationId: string, changes: readonly MetadataChange[]) {
  return { kind: 'saml-metadata' as const, application, applicationId, changes: changes.map(({ what }) => what) };
}
