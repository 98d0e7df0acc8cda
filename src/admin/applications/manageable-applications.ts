// Finds the application that an action changes: it checks the rights of the actor, and the version that the change was made of.
import type { Application } from '../../applications/application.ts';
import type { Applications } from '../../applications/applications.ts';
import { rightsOfApplication } from '../../applications/rules/field-rights.ts';
import { AppError, forbidden } from '../../base/http/errors.ts';
import type { Tx } from '../../base/storage/database.ts';
import { lockRow } from '../../base/storage/row-lock.ts';
import type { Sql } from '../../base/storage/statements.ts';
import { t } from '../../base/texts/text.ts';
import { applicationEntry } from '../../config-file/export.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Authority } from '../../people/rbac/authority.ts';
import { assertVersion, type Expected } from '../api/versions.ts';

/** Both throw not_found, and forbidden. */
export type ManageableApplications = ReturnType<typeof createManageableApplications>;

export interface ManagedApplicationsDependencies {
  sql: Sql;
  applications: Applications;
  authority: Authority;
}

export function createManageableApplications(dependencies: ManagedApplicationsDependencies) {
  const { sql, applications, authority } = dependencies;

  /** An actor who can change an application could use its permissions, so must have them. */
  async function assertMayChange(application: Application, by: Actor, tx?: Tx) {
    await authority.assertMay(by, { what: 'application', identifier: application.clientId }, tx);
    try {
      await authority.assertMay(by, { what: 'permissions', permissions: rightsOfApplication(application) }, tx);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'forbidden') throw error;
      const message = t('console.roles.problem.application-more', { app: application.name });
      throw forbidden('forbidden', { message, detail: error.detail });
    }
  }

  return {
    async find(id: string, by: Actor): Promise<Application> {
      const application = await applications.get(id);
      await assertMayChange(application, by);
      return application;
    },

    /** Locks its row. Throws precondition_failed unless it has the expected version. */
    async lockForChange(id: string, by: Actor, expected: Expected, tx: Tx): Promise<Application> {
      await lockRow(tx, sql, 'applications', id);
      const application = await applications.get(id, tx);
      await assertMayChange(application, by, tx);
      assertVersion(expected, applicationVersion(application));
      return application;
    },
  };
}

/** What the ETag of an application is made of. */
export function applicationVersion(application: Application): unknown {
  return [application.source, applicationEntry(application)];
}
