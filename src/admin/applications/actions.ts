// What administrators do with applications of both protocols, declared as in the configuration file. The API and the console
// call the same functions. An application that has permissions in Gatehouse may only be changed by an actor who has them too.
//
// A change: the console turns its form into a merge patch (admin/applications/form/change.ts), the API has one. update-actions.ts checks the
// rights (manageable-applications.ts, people/rbac/authority.ts), locks the row and compares its version. applications/applications.ts or
// applications/applications.ts validate; applications/write.ts checks each field (applications/rules/field-rights.ts) and writes the row with its
// MAC and audit entry. A field that decides whom the application trusts needs a fresh proof (admin/proof/sensitive-changes.ts).

import type { AccessSubject } from '../../applications/access-decision.ts';
import type { Application } from '../../applications/application.ts';
import type { Applications, Registered } from '../../applications/applications.ts';
import type { OidcClientInput } from '../../applications/fields/oidc-client.ts';
import type { ApplicationPictures } from '../../applications/pictures/pictures.ts';
import type { ApplicationPage, ListApplications } from '../../applications/read.ts';
import { isClosed, rolesOf } from '../../applications/rules/field-rights.ts';
import type { UnexpiredSecret } from '../../applications/secrets.ts';
import { badRequest, notFound } from '../../base/http/errors.ts';
import { faultMessage } from '../../base/platform/fault-messages.ts';
import { type Db, type Tx, transaction } from '../../base/storage/database.ts';
import type { Sql } from '../../base/storage/statements.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { type Authority, falseIfForbidden } from '../../people/rbac/authority.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import type { SpMetadata } from '../../protocols/saml/metadata/parse.ts';
import type { WaitingMetadata, WaitingMetadataDecisions } from '../../protocols/saml/metadata/waiting-metadata.ts';
import type { OnCreated } from '../api/idempotency.ts';
import type { Expected } from '../api/versions.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import { createManageableApplications, type ManageableApplications } from './manageable-applications.ts';
import { pictureActions } from './picture/actions.ts';
import {
  createSamlDeclarations,
  type Declaration,
  inputOf,
  type MetadataSource,
  type SamlDeclarations,
  type SamlDeclarationsDependencies,
} from './saml-declarations.ts';
import { secretActions } from './secret-actions.ts';
import { updateActions } from './update-actions.ts';

export type ApplicationDetails = { application: Application; secrets: Omit<UnexpiredSecret, 'hash' | 'value'>[] };

/** What a form asks of a registration. */
export interface RegistrationOptions {
  /** Runs first in the transaction of the creation. */
  prepare?(tx: Tx): Promise<void>;
  /** Rejects a name that another application has. */
  isNameUnique?: boolean;
}

/** `onCreated` runs in the transaction of a creation. */
export type ApplicationAdmin = ReturnType<typeof createApplicationAdmin>;

export interface ApplicationAdminDependencies extends SamlDeclarationsDependencies {
  db: Db;
  sql: Sql;
  applications: Applications;
  authority: Authority;
  waitingMetadata: WaitingMetadataDecisions;
  pictures: Pick<ApplicationPictures, 'state' | 'choose' | 'removeChosen' | 'fetchAgain'>;
}

/** Sensitive changes throw StepUpNeeded. Every change throws forbidden, precondition_failed, or invalid_input with the field. */
export function createApplicationAdmin(dependencies: ApplicationAdminDependencies) {
  const { applications, authority } = dependencies;
  const declarations = createSamlDeclarations(dependencies);
  const manageable = createManageableApplications(dependencies);

  const get: (id: string, by: Actor, needs?: OwnPermission) => Promise<ApplicationDetails> = async (
    id,
    by,
    needs = 'gatehouse.applications:read',
  ) => {
    const application = await applications.get(id);
    const extent = await authority.extent(by, needs);
    if (extent !== 'all' && !extent.includes(application.clientId)) throw notFound({ detail: { applicationId: id } });
    if (needs === 'gatehouse.applications:write') await manageable.find(id, by);
    const unexpired = await applications.unexpiredSecrets(id);
    return { application, secrets: unexpired.map(({ hash: _hash, value: _value, ...secret }) => secret) };
  };

  async function visibleTo(by: Actor): Promise<Pick<ListApplications, 'identifiers'>> {
    const extent = await authority.extent(by, 'gatehouse.applications:read');
    return extent === 'all' ? {} : { identifiers: extent };
  }

  return {
    /** Only applications that the actor may see. */
    list: async (query: Omit<ListApplications, 'identifiers'>, by: Actor): Promise<ApplicationPage> =>
      applications.list({ ...query, ...(await visibleTo(by)) }),
    /** Those of them that the access rule opens to this account, by name, at most so many. */
    openTo: async (account: AccessSubject, limit: number, by: Actor): Promise<Application[]> =>
      applications.openTo(account, { ...(await visibleTo(by)), limit }),
    /** How many a list of this query has, by protocol. */
    countByProtocol: async (
      query: Omit<ListApplications, 'identifiers'>,
      by: Actor,
    ): Promise<{ oidc: number; saml: number }> => applications.countByProtocol({ ...query, ...(await visibleTo(by)) }),

    /** Throws not_found also for an application that the actor's permission (applications:read, or `needs`) does not cover. */
    get,

    /** Whether the actor may change this application. */
    mayChange: (id: string, by: Actor): Promise<boolean> => manageable.find(id, by).then(() => true, falseIfForbidden),

    ...registrationActions(dependencies, declarations),
    ...updateActions(dependencies, declarations, manageable),
    ...lifecycleActions(dependencies, manageable),
    ...secretActions(dependencies, manageable),
    ...pictureActions(dependencies, manageable, get),

    /** Changed metadata that waits for approval; undefined when nothing waits. */
    async waitingMetadata(id: string, by: Actor, needs?: OwnPermission): Promise<WaitingMetadata | undefined> {
      await get(id, by, needs);
      return dependencies.waitingMetadata.find(id);
    },

    /** Applies or drops the document with this SHA-256. Throws not_found, or conflict when another one waits by now. */
    async decideMetadata(
      id: string,
      decision: 'approve' | 'reject',
      documentHash: string,
      by: Actor,
    ): Promise<Application> {
      const { name } = await manageable.find(id, by);
      assertFreshProof(by, 'application.change', name);
      await dependencies.waitingMetadata[decision](id, documentHash, by);
      return applications.get(id);
    },

    /** Reads metadata without registering it. */
    async readMetadata(source: MetadataSource): Promise<SpMetadata> {
      return declarations.read(source);
    },
  };
}

function registrationActions({ db, applications }: ApplicationAdminDependencies, declarations: SamlDeclarations) {
  return {
    /** An OIDC client; its secret is returned here and never again. */
    async createOidc(
      declaration: Declaration,
      by: Actor,
      onCreated: OnCreated<Registered> = async () => {},
      options: RegistrationOptions = {},
    ): Promise<Registered> {
      return transaction(db, async (tx) => {
        await options.prepare?.(tx);
        const registered = await applications.createOidc(declaration as Partial<OidcClientInput>, { by, tx });
        if (options.isNameUnique) await assertNameUnique(registered.application, tx);
        assertFreshProof(by, 'application.register', registered.application.name);
        await onCreated(registered, tx);
        return registered;
      });
    },

    /** A SAML service provider, by its metadata, the URL of its metadata, or its addresses. */
    async createSaml(
      declaration: Declaration,
      by: Actor,
      onCreated: OnCreated<Application> = async () => {},
      options: RegistrationOptions = {},
    ): Promise<Application> {
      const resolved = await declarations.resolve(declaration);
      return transaction(db, async (tx) => {
        await options.prepare?.(tx);
        const input = { entityId: resolved.entityId, ...inputOf(resolved) };
        const application = await applications.createSaml(input, { by, tx });
        if (options.isNameUnique) await assertNameUnique(application, tx);
        assertFreshProof(by, 'application.register', application.name);
        await onCreated(application, tx);
        return application;
      });
    },
  };
}

/** Throws invalid_input when another application has the same name. */
async function assertNameUnique({ id, name }: Application, tx: Tx): Promise<void> {
  if ((await tx.application.count({ where: { name, id: { not: id } } })) === 0) return;
  throw badRequest('invalid_input', {
    fields: [{ field: 'name', message: faultMessage('name-in-use') }],
  });
}

function lifecycleActions(
  { db, applications, authority }: ApplicationAdminDependencies,
  manageable: ManageableApplications,
) {
  return {
    async setEnabled(id: string, enabled: boolean, by: Actor): Promise<Application> {
      const { name } = await manageable.find(id, by);
      assertFreshProof(by, enabled ? 'application.enable' : 'application.disable', name);
      await applications.setEnabled(id, enabled, { by });
      return applications.get(id);
    },

    remove: (id: string, by: Actor, expected: Expected = 'any'): Promise<void> =>
      transaction(db, async (tx) => {
        const { name, access } = await manageable.lockForChange(id, by, expected, tx);
        // It ends the access rule, and the same application could be registered again for everyone.
        await authority.assertMay(by, { what: 'access', roles: rolesOf(access), isClosed: isClosed(access) }, tx);
        assertFreshProof(by, 'application.delete', name);
        await applications.remove(id, { by, tx });
      }),
  };
}
