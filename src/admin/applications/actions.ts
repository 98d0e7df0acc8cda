// What administrators do with applications of both protocols, declared as in the configuration file. The API and the console
// call the same functions. An application that has permissions in Gatehouse may only be changed by an actor who has them too.

import { isDeepStrictEqual } from 'node:util';
import type { Application, OidcApplication } from '../../applications/application.ts';
import type { Applications, Registered } from '../../applications/applications.ts';
import type { OidcClientInput } from '../../applications/oidc-client.ts';
import type { ApplicationPage, ListApplications } from '../../applications/read.ts';
import type { UnexpiredSecret } from '../../applications/secrets.ts';
import type { Actor } from '../../audit/audit.ts';
import { applicationEntry } from '../../config-file/export.ts';
import { conflict, notFound } from '../../http/errors.ts';
import type { Authority } from '../../rbac/authority.ts';
import { type OwnPermission, rightsOfClient } from '../../rbac/built-in.ts';
import type { SpMetadata } from '../../saml/metadata/parse.ts';
import type { WaitingMetadata, WaitingMetadataDecisions } from '../../saml/metadata/waiting-metadata.ts';
import { type Db, type Tx, transaction } from '../../storage/database.ts';
import { lockRow } from '../../storage/row-lock.ts';
import type { Sql } from '../../storage/statements.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { assertVersion, type Expected, etagOf } from '../api/versions.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import { isClosed, mergePatch, rolesOf } from './declaration-values.ts';
import {
  createSamlDeclarations,
  type Declaration,
  inputOf,
  invalidInput,
  type MetadataSource,
  type ResolvedDeclaration,
  type SamlDeclarations,
  type SamlDeclarationsDependencies,
} from './saml-declarations.ts';
import { type SecretActions, secretActions } from './secret-actions.ts';
import { changesTrust } from './trusted-fields.ts';

export type ApplicationDetails = { application: Application; secrets: Omit<UnexpiredSecret, 'hash' | 'value'>[] };

/** `onCreated` runs in the transaction of a creation. */
export interface ApplicationAdmin extends SecretActions {
  /** Only applications that the actor may see. */
  list(query: Omit<ListApplications, 'identifiers'>, by: Actor): Promise<ApplicationPage>;
  /** Throws not_found also for an application that the actor's permission (applications:read, or `needs`) does not cover. */
  get(id: string, by: Actor, needs?: OwnPermission): Promise<ApplicationDetails>;
  /** An OIDC client; its secret is returned here and never again. */
  createOidc(declaration: Declaration, by: Actor, onCreated?: OnCreated<Registered>): Promise<Registered>;
  /** A SAML service provider, by its metadata, the URL of its metadata, or its addresses. */
  createSaml(declaration: Declaration, by: Actor, onCreated?: OnCreated<Application>): Promise<Application>;
  /** Applies a JSON merge patch (RFC 7396) to the declaration. */
  update(
    id: string,
    patch: Declaration,
    by: Actor,
    expected?: Expected,
  ): Promise<{ application: Application; clientSecret?: string }>;
  /**
   * Fetches the metadata of a service provider again and applies it. Throws conflict when it has not changed, or when its changes
   * need approval; it waits for that then.
   */
  readMetadataAgain(id: string, by: Actor): Promise<Application>;
  setEnabled(id: string, enabled: boolean, by: Actor): Promise<Application>;
  remove(id: string, by: Actor, expected?: Expected): Promise<void>;
  /** Changed metadata that waits for approval; undefined when nothing waits. */
  waitingMetadata(id: string, by: Actor, needs?: OwnPermission): Promise<WaitingMetadata | undefined>;
  /** Applies or drops the document with this SHA-256. Throws not_found, or conflict when another one waits by now. */
  decideMetadata(id: string, decision: 'approve' | 'reject', document: string, by: Actor): Promise<Application>;
  /** Reads metadata without registering it. */
  readMetadata(source: MetadataSource): Promise<SpMetadata>;
}

export interface ApplicationAdminDependencies extends SamlDeclarationsDependencies {
  db: Db;
  sql: Sql;
  applications: Applications;
  authority: Pick<Authority, 'assertMay' | 'extent'>;
  waitingMetadata: WaitingMetadataDecisions;
}

/** Sensitive changes throw StepUpNeeded. Every change throws forbidden, precondition_failed, or invalid_input with the field. */
export function createApplicationAdmin(dependencies: ApplicationAdminDependencies): ApplicationAdmin {
  const { applications, authority } = dependencies;
  const declarations = createSamlDeclarations(dependencies);
  const lookup = createApplicationLookup(dependencies);

  const get: ApplicationAdmin['get'] = async (id, by, needs = 'gatehouse.applications:read') => {
    const application = await applications.get(id);
    const extent = await authority.extent(by, needs);
    if (extent !== 'all' && !extent.includes(application.clientId)) throw notFound({ detail: { applicationId: id } });
    const open = await applications.unexpiredSecrets(id);
    return { application, secrets: open.map(({ hash: _hash, value: _value, ...secret }) => secret) };
  };

  return {
    async list(query, by) {
      const extent = await authority.extent(by, 'gatehouse.applications:read');
      return applications.list({ ...query, ...(extent !== 'all' && { identifiers: extent }) });
    },

    get,

    ...registrationActions(dependencies, declarations),
    ...updateActions(dependencies, declarations, lookup),
    ...stateActions(dependencies, lookup),
    ...secretActions(dependencies, lookup),

    async waitingMetadata(id, by, needs) {
      await get(id, by, needs);
      return dependencies.waitingMetadata.find(id);
    },

    async decideMetadata(id, decision, document, by) {
      const { name } = await lookup.findManaged(id, by);
      assertFreshProof(by, 'application.change', name);
      await dependencies.waitingMetadata[decision](id, document, by);
      return applications.get(id);
    },

    async readMetadata(source) {
      return declarations.read(source);
    },
  };
}

type ApplicationLookup = ReturnType<typeof createApplicationLookup>;

/** Finds the application that an action changes. All throw not_found, and forbidden. */
function createApplicationLookup({ sql, applications, authority }: ApplicationAdminDependencies) {
  /** An actor who can change an application could use its permissions, so must have them. */
  async function assertMayChange(application: Application, by: Actor, tx?: Tx) {
    await authority.assertMay(by, { what: 'application', identifier: application.clientId }, tx);
    if (application.protocol !== 'oidc') return;
    await authority.assertMay(by, { what: 'permissions', permissions: rightsOfClient(application.metadata) }, tx);
  }

  /** The application, its row locked. Throws unless it has the expected version. */
  async function lockForChange(id: string, by: Actor, expected: Expected, tx: Tx): Promise<Application> {
    await lockRow(tx, sql, 'applications', id);
    const application = await applications.get(id, tx);
    await assertMayChange(application, by, tx);
    assertVersion(expected, applicationVersion(application));
    return application;
  }

  async function findManaged(id: string, by: Actor): Promise<Application> {
    const application = await applications.get(id);
    await assertMayChange(application, by);
    return application;
  }

  return { lockForChange, findManaged };
}

function registrationActions(
  { db, applications, authority }: ApplicationAdminDependencies,
  declarations: SamlDeclarations,
): Pick<ApplicationAdmin, 'createOidc' | 'createSaml'> {
  return {
    async createOidc(declaration, by, onCreated = async () => {}) {
      return transaction(db, async (tx) => {
        await authority.assertMay(by, { what: 'permissions', permissions: rightsOfClient(declaration) }, tx);
        await authority.assertMay(by, { what: 'access', roles: rolesOf(declaration.access) }, tx);
        const registered = await applications.createOidc(declaration as Partial<OidcClientInput>, { by, tx });
        assertFreshProof(by, 'application.register', registered.application.name);
        await onCreated(registered, tx);
        return registered;
      });
    },

    async createSaml(declaration, by, onCreated = async () => {}) {
      const resolved = await declarations.resolve(declaration);
      return transaction(db, async (tx) => {
        await authority.assertMay(by, { what: 'access', roles: rolesOf(declaration.access) }, tx);
        const input = { entityId: resolved.entityId, ...inputOf(resolved) };
        const application = await applications.createSaml(input, { by, tx });
        assertFreshProof(by, 'application.register', application.name);
        await onCreated(application, tx);
        return application;
      });
    },
  };
}

function updateActions(
  { db, applications, authority, waitingMetadata }: ApplicationAdminDependencies,
  declarations: SamlDeclarations,
  { lockForChange, findManaged }: ApplicationLookup,
): Pick<ApplicationAdmin, 'update' | 'readMetadataAgain'> {
  /** A changed access rule gives what was meant for the roles that it names, or takes it from them. */
  async function assertMayOpen(before: unknown, after: unknown, by: Actor, tx: Tx) {
    const [old, next] = [rolesOf(before), rolesOf(after)];
    if (isDeepStrictEqual(new Set(old), new Set(next)) && isClosed(before) === isClosed(after)) return;
    await authority.assertMay(by, { what: 'access', roles: [...old, ...next], isClosed: isClosed(before) }, tx);
  }

  async function updateOidc(before: OidcApplication, merged: Declaration, by: Actor, expected: Expected) {
    const { client_id, client_secret, ...declaration } = merged;
    if (client_id !== before.clientId) throw invalidInput([{ path: ['client_id'], message: 'never changes' }]);
    if (client_secret !== undefined)
      throw invalidInput([{ path: ['client_secret'], message: 'is made at /applications/{id}/secrets' }]);
    await authority.assertMay(by, { what: 'permissions', permissions: rightsOfClient(declaration) });
    return transaction(db, async (tx) => {
      assertUnchanged(before, await lockForChange(before.id, by, expected, tx));
      await assertMayOpen(before.access, declaration.access, by, tx);
      const changed = await applications.updateOidc(before.id, declaration as OidcClientInput, { by, tx });
      if (changesTrust(before, changed.application)) assertFreshProof(by, 'application.change', before.name);
      return changed;
    });
  }

  async function updateSaml(before: Application, resolved: ResolvedDeclaration, by: Actor, expected: Expected) {
    return transaction(db, async (tx) => {
      assertUnchanged(before, await lockForChange(before.id, by, expected, tx));
      await assertMayOpen(before.access, inputOf(resolved).access, by, tx);
      const changed = await applications.updateSaml(before.id, inputOf(resolved), { by, tx });
      if (changesTrust(before, changed)) assertFreshProof(by, 'application.change', before.name);
      return changed;
    });
  }

  return {
    async update(id, patch, by, expected = 'any') {
      const before = await findManaged(id, by);
      const entry = applicationEntry(before);
      const merged = mergePatch(entry, patch);
      if (before.protocol === 'oidc') return updateOidc(before, merged, by, expected);
      // May fetch metadata, so it runs before the transaction; assertUnchanged() then checks that nothing changed meanwhile.
      const resolved = await declarations.resolve(merged, { entry, xml: before.metadata.metadata_xml });
      if (resolved.entityId !== before.clientId) {
        const message = `never changes; the metadata says ${resolved.entityId}`;
        throw invalidInput([{ path: ['entity_id'], message }]);
      }
      return { application: await updateSaml(before, resolved, by, expected) };
    },

    async readMetadataAgain(id, by) {
      const before = await findManaged(id, by);
      const url = before.protocol === 'saml' ? before.metadata.metadata_url : undefined;
      if (before.protocol !== 'saml' || url === undefined)
        throw conflict('conflict', { message: 'It was not registered by the address of its metadata.' });
      const resolved = await declarations.resolve(applicationEntry(before));
      const { entityId, xml } = resolved;
      if (entityId !== before.clientId)
        throw conflict('conflict', { message: `The metadata at ${url} now describes another entity, ${entityId}.` });
      if (xml === before.metadata.metadata_xml)
        throw conflict('conflict', { message: `The metadata at ${url} still says the same as before.` });
      if (xml !== undefined && (await waitingMetadata.receive(before, xml))) {
        const next = { href: `/admin/applications/${id}/metadata`, label: 'Compare and approve it' };
        throw conflict('conflict', { message: 'The new metadata changes something that needs your approval.', next });
      }
      return updateSaml(before, resolved, by, 'any');
    },
  };
}

function stateActions(
  { db, applications, authority }: ApplicationAdminDependencies,
  { lockForChange, findManaged }: ApplicationLookup,
): Pick<ApplicationAdmin, 'setEnabled' | 'remove'> {
  return {
    async setEnabled(id, enabled, by) {
      const { name } = await findManaged(id, by);
      assertFreshProof(by, enabled ? 'application.enable' : 'application.disable', name);
      await applications.setEnabled(id, enabled, { by });
      return applications.get(id);
    },

    remove: (id, by, expected = 'any') =>
      transaction(db, async (tx) => {
        const { name, access } = await lockForChange(id, by, expected, tx);
        // It ends the access rule, and the same application could be registered again for everyone.
        await authority.assertMay(by, { what: 'access', roles: rolesOf(access), isClosed: isClosed(access) }, tx);
        assertFreshProof(by, 'application.delete', name);
        await applications.remove(id, { by, tx });
      }),
  };
}

/** What the ETag of an application is made of. */
export function applicationVersion(application: Application): unknown {
  return [application.source, applicationEntry(application)];
}

function assertUnchanged(before: Application, now: Application): void {
  // Otherwise the patch was merged with an older version.
  assertVersion(etagOf(applicationVersion(before)), applicationVersion(now));
}
