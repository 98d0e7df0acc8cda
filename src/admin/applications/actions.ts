// What administrators do with applications of every protocol, declared as in the configuration file. The API and the console
// call the same functions. An application that has permissions in Gatehouse may only be changed by an actor who has them too.
//
// A change: the console turns its form into a merge patch (form/change.ts), the API has one. `update` checks the rights
// (people/rbac/authority.ts), locks the row and compares its version. applications/applications.ts validates,
// checks each field and writes the row with its MAC and audit entry. A field that decides whom the application trusts needs a fresh
// proof (admin/proof/sensitive-changes.ts).

import { type Application, newSecretReplacesOld, type Protocol } from '../../applications/application.ts';
import type { Registered } from '../../applications/applications.ts';
import { fieldsWith } from '../../applications/fields/application-field.ts';
import { type OidcClientInput, oidcClient } from '../../applications/fields/oidc-client.ts';
import type { Provision } from '../../applications/fields/provisioning.ts';
import { proxiedApplication } from '../../applications/fields/proxied-application.ts';
import { serviceProvider } from '../../applications/fields/service-provider.ts';
import type { PictureState } from '../../applications/pictures/pictures.ts';
import {
  type ApplicationPage,
  type ListApplications,
  listKey,
  type OpenTo,
  type StoredApplication,
} from '../../applications/read.ts';
import { isClosed, rolesOf } from '../../applications/rules/field-rights.ts';
import type { UnexpiredSecret } from '../../applications/secrets.ts';
import { AppError, conflict, forbidden, invalidInput, notFound } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { lockRow } from '../../base/storage/row-lock.ts';
import { fault } from '../../base/texts/faults.ts';
import { t } from '../../base/texts/text.ts';
import { applicationEntry } from '../../config-file/sections/applications.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import { falseIfForbidden } from '../../people/rbac/authority.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import type { SpMetadata } from '../../protocols/saml/metadata/parse.ts';
import type { WaitingMetadata } from '../../protocols/saml/metadata/waiting-metadata.ts';
import type { AdminServices } from '../admin-services.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { assertVersion, type Expected, etagOf } from '../api/versions.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import {
  createSamlDeclarations,
  type Declaration,
  inputOf,
  type MetadataSource,
  mergePatch,
} from './saml-declarations.ts';

export type ApplicationDetails = { application: Application; secrets: Omit<UnexpiredSecret, 'hash' | 'value'>[] };

/** `value` is readable only now. */
export type NewSecret = { id: string; value: string };

/** What a form asks of a registration. */
export interface RegistrationOptions {
  /** Runs first in the transaction of the creation. */
  prepare?(tx: Tx): Promise<void>;
  /** Rejects a name that another application has. */
  isNameUnique?: boolean;
  /** A service provider without a name is called what its metadata calls it. */
  isNamedByMetadata?: boolean;
}

/** A registered application; with the secret of an OIDC client that got one. */
export type Created = Pick<Registered, 'clientSecret'> & { application: Application };

/** What is done in the transaction of a change, such as creating a role that the access rule names. */
export interface Around {
  before?(tx: Tx): Promise<void>;
  after?(tx: Tx, changed: Application): Promise<void>;
}

export type ApplicationAdmin = ReturnType<typeof createApplicationAdmin>;

/**
 * Sensitive changes throw StepUpNeeded. Every change throws forbidden, precondition_failed, or invalid_input with the field. It is about an
 * ID, or an application that the caller has just read: then it is read only once more, locked. `onCreated` runs in the transaction of a
 * creation.
 */
export function createApplicationAdmin(services: AdminServices) {
  const { db, sql, applications, authority, pictures } = services;
  const { waitingMetadata } = services.saml;
  const declarations = createSamlDeclarations(services);

  /** An actor who can change an application could use what it has, so must have it. */
  async function assertMayChange(application: Application, by: Actor, tx?: Tx): Promise<void> {
    await authority.assertMay(by, { what: 'application', identifier: application.clientId }, tx);
    try {
      await applications.assertMayUse(application, by, tx);
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'forbidden') throw error;
      const message = t('console.roles.error.application-more', { app: application.name });
      throw forbidden('forbidden', { message, detail: error.detail });
    }
  }

  async function changeable(of: string | Application, by: Actor): Promise<Application> {
    const application = typeof of === 'string' ? await applications.get(of) : of;
    await assertMayChange(application, by);
    return application;
  }

  /** Locks its row. Throws precondition_failed unless it has the expected version. */
  async function lock(id: string, expected: Expected, tx: Tx): Promise<StoredApplication> {
    await lockRow(tx, sql, 'applications', id);
    const stored = await applications.forChange(id, tx);
    assertVersion(expected, applicationVersion(stored.application));
    return stored;
  }

  /** The locked row of a change that was made of `before`. */
  async function lockUnchanged(before: Application, expected: Expected, tx: Tx): Promise<StoredApplication> {
    const stored = await lock(before.id, expected, tx);
    // Otherwise the patch was merged with an older version.
    assertVersion(etagOf(applicationVersion(before)), applicationVersion(stored.application));
    return stored;
  }

  async function visibleTo(by: Actor): Promise<ListApplications> {
    const extent = await authority.extent(by, 'gatehouse.applications:read');
    return extent === 'all' ? {} : { identifiers: extent.application };
  }

  return {
    /** Only applications that the actor may see. */
    list: async (query: Omit<ListApplications, 'identifiers'>, by: Actor): Promise<ApplicationPage> =>
      applications.list({ ...query, ...(await visibleTo(by)) }),
    /** Those of them that the access rule opens to this account, by name, at most so many. */
    openTo: async (account: Account, page: Omit<OpenTo, 'identifiers'>, by: Actor): Promise<ApplicationPage> =>
      applications.openTo(account, { ...(await visibleTo(by)), ...page }),
    /** How many a list of this query has, by protocol. */
    countByProtocol: async (
      query: Omit<ListApplications, 'identifiers'>,
      by: Actor,
    ): Promise<Record<Protocol, number>> => applications.countByProtocol({ ...query, ...(await visibleTo(by)) }),

    /** Throws not_found also for an application that the actor's permission (applications:read, or `needs`) does not cover. */
    async get(
      id: string,
      by: Actor,
      needs: OwnPermission = 'gatehouse.applications:read',
    ): Promise<ApplicationDetails> {
      const application = await applications.get(id);
      const extent = await authority.extent(by, needs);
      if (extent !== 'all' && !extent.application.includes(application.clientId))
        throw notFound({ detail: { applicationId: id } });
      const unexpired = await applications.unexpiredSecrets(id);
      return { application, secrets: unexpired.map(({ hash: _hash, value: _value, ...secret }) => secret) };
    },

    /** For a page: throws what a change would throw. */
    assertMayChange,

    /** Whether the actor may change this application. */
    mayChange: (of: string | Application, by: Actor): Promise<boolean> =>
      changeable(of, by).then(() => true, falseIfForbidden),

    /** The secret of an OIDC client is returned here and never again. */
    async create(
      protocol: Protocol,
      declaration: Declaration,
      by: Actor,
      onCreated: OnCreated<Created> = async () => {},
      options: RegistrationOptions = {},
    ): Promise<Created> {
      // May fetch metadata, so it runs before the transaction.
      const resolved = protocol === 'saml' ? await declarations.resolve(declaration, options) : undefined;
      return transaction(db, async (tx) => {
        await options.prepare?.(tx);
        const change = { by, tx };
        const created: Created = resolved
          ? {
              application: await applications.createSaml({ entityId: resolved.entityId, ...inputOf(resolved) }, change),
            }
          : protocol === 'proxy'
            ? { application: await applications.createProxied(declaration, change) }
            : await applications.createOidc(declaration as Partial<OidcClientInput>, change);
        if (options.isNameUnique) await assertNameUnique(created.application, tx);
        assertFreshProof(by, 'application.register', created.application.name);
        await onCreated(created, tx);
        return created;
      });
    },

    /** Applies a JSON merge patch (RFC 7396) to the declaration. */
    async update(
      of: string | Application,
      patch: Declaration,
      by: Actor,
      expected: Expected = 'any',
      around: Around = {},
    ): Promise<{ application: Application; clientSecret?: string }> {
      const before = await changeable(of, by);
      const entry = applicationEntry(before);
      const merged = mergePatch(entry, patch);
      // May fetch metadata, so it runs before the transaction, which then checks that nothing changed meanwhile.
      const resolved =
        before.protocol === 'saml'
          ? await declarations.resolve(merged, { registered: { entry, xml: before.metadata.metadata_xml } })
          : undefined;
      const { client_id, client_secret, ...client } = merged;
      const isOidc = before.protocol === 'oidc';
      if (resolved && resolved.entityId !== before.clientId)
        throw invalidInput([fault(['entity_id'], 'entity-fixed', { entityId: resolved.entityId })]);
      if (isOidc && client_id !== before.clientId) throw invalidInput([fault(['client_id'], 'never-changes')]);
      if (isOidc && client_secret !== undefined)
        throw invalidInput([fault(['client_secret'], 'made-at', { path: '/applications/{id}/secrets' })]);
      return transaction(db, async (tx) => {
        await around.before?.(tx);
        const stored = await lockUnchanged(before, expected, tx);
        const changed = resolved
          ? await applications.update('saml', stored, inputOf(resolved), { by, tx })
          : isOidc
            ? await applications.update('oidc', stored, client as OidcClientInput, { by, tx })
            : await applications.update('proxy', stored, merged, { by, tx });
        const { token } = (patch.provision ?? {}) as Partial<Provision>;
        if (token !== undefined || changesTrust(before, changed.application))
          assertFreshProof(by, 'application.change', before.name);
        await around.after?.(tx, changed.application);
        return changed;
      });
    },

    /**
     * Fetches the metadata of a service provider again and applies it. Throws conflict when it has not changed, and when its changes need
     * approval, for which they wait then.
     */
    async readMetadataAgain(id: string, by: Actor): Promise<Application> {
      const before = await changeable(id, by);
      const url = before.protocol === 'saml' ? before.metadata.metadata_url : undefined;
      if (before.protocol !== 'saml' || url === undefined)
        throw conflict('conflict', { message: t('console.applications.error.no-metadata-url') });
      const resolved = await declarations.resolve(applicationEntry(before));
      const { entityId, xml } = resolved;
      if (entityId !== before.clientId)
        throw conflict('conflict', { message: t('console.applications.error.other-entity', { url, entityId }) });
      if (xml === before.metadata.metadata_xml)
        throw conflict('conflict', { message: t('console.applications.error.same-metadata', { url }) });
      if (xml !== undefined && (await waitingMetadata.receive(before, xml))) {
        const next = { href: `/admin/applications/${id}/metadata`, label: t('console.applications.error.compare') };
        throw conflict('conflict', { message: t('console.applications.error.needs-approval'), next });
      }
      return transaction(db, async (tx) => {
        const stored = await lockUnchanged(before, 'any', tx);
        const { application } = await applications.update('saml', stored, inputOf(resolved), { by, tx });
        if (changesTrust(before, application)) assertFreshProof(by, 'application.change', before.name);
        return application;
      });
    },

    /** Reads metadata without registering it. */
    readMetadata: (source: MetadataSource): Promise<SpMetadata> => declarations.read(source),

    /** Changed metadata that waits for approval; undefined when nothing waits. */
    waitingMetadata: ({ id }: Application): Promise<WaitingMetadata | undefined> => waitingMetadata.find(id),

    /** Applies or drops the document with this SHA-256. Throws not_found, or conflict when another one waits by now. */
    async decideMetadata(
      of: string | Application,
      decision: 'approve' | 'reject',
      documentHash: string,
      by: Actor,
    ): Promise<Application> {
      const { id, name } = await changeable(of, by);
      assertFreshProof(by, 'application.change', name);
      await waitingMetadata[decision](id, documentHash, by);
      return applications.get(id);
    },

    async setEnabled(of: string | Application, enabled: boolean, by: Actor): Promise<Application> {
      const { id, name } = await changeable(of, by);
      assertFreshProof(by, enabled ? 'application.enable' : 'application.disable', name);
      await applications.setEnabled(id, enabled, { by });
      return applications.get(id);
    },

    remove: (id: string, by: Actor, expected: Expected = 'any'): Promise<void> =>
      transaction(db, async (tx) => {
        const stored = await lock(id, expected, tx);
        const { application } = stored;
        await assertMayChange(application, by, tx);
        const { name, access } = application;
        // The access rule ends too: the same application could be registered again for everyone.
        await authority.assertMay(by, { what: 'access', roles: rolesOf(access), isClosed: isClosed(access) }, tx);
        assertFreshProof(by, 'application.delete', name);
        await applications.remove(stored, { by, tx });
      }),

    /** A new secret; the others stay valid for `overlapSeconds` (0: they end now). */
    async addSecret(
      of: string | Application,
      overlapSeconds: number,
      by: Actor,
      onCreated: OnCreated<NewSecret> = async () => {},
    ): Promise<NewSecret> {
      const application = await changeable(of, by);
      assertFreshProof(by, 'application.add-secret', application.name);
      const replace =
        overlapSeconds === 0 || newSecretReplacesOld(application)
          ? 'now'
          : Math.min(overlapSeconds, limits.secretOverlap.maxSeconds);
      return transaction(db, async (tx) => {
        const added = await applications.addSecret(application.id, { replace }, { by, tx });
        await onCreated(added, tx);
        return added;
      });
    },

    async removeSecret(of: string | Application, secretId: string, by: Actor): Promise<void> {
      const { id, name } = await changeable(of, by);
      assertFreshProof(by, 'application.remove-secret', name);
      await applications.removeSecret(id, secretId, { by });
    },

    /** Undefined for an application without logo_uri and without a picture. */
    pictureState: (id: string): Promise<PictureState | undefined> => pictures.state(id),

    // A picture needs no fresh sign-in, as a change of the logo_uri does not.

    /** Throws invalid_input with the field `picture`. */
    async choosePicture(of: string | Application, bytes: Buffer, by: Actor): Promise<void> {
      const { id } = await changeable(of, by);
      await pictures.choose(id, bytes, { by });
    },

    async removePicture(of: string | Application, by: Actor): Promise<void> {
      const { id } = await changeable(of, by);
      await pictures.removeChosen(id, { by });
    },

    /** Reads the picture of the logo_uri again, which changes nothing that the registration does not say. */
    async fetchPicture(of: string | Application, by: Actor): Promise<void> {
      const { id } = await changeable(of, by);
      await pictures.fetchAgain(id);
    },
  };
}

/** What the ETag of an application is made of. */
export function applicationVersion(application: Application): unknown {
  return [application.source, applicationEntry(application)];
}

/** Throws invalid_input when another application has the same name. */
async function assertNameUnique({ id, name }: Application, tx: Tx): Promise<void> {
  if ((await tx.application.count({ where: { nameKey: listKey(name), name, id: { not: id } } })) === 0) return;
  throw invalidInput([fault(['name'], 'name-in-use')]);
}

const descriptive = fieldsWith('isDescriptive', oidcClient.shape, serviceProvider.shape, proxiedApplication.shape);

/** Whether the registrations differ in an address, a key, a right, or another field that is not descriptive. */
function changesTrust(before: Application, after: Application): boolean {
  const rest = (application: Application) => [
    Object.entries(applicationEntry(application)).filter(([name]) => !descriptive.includes(name)),
    // The entry of a service provider that is registered by URL does not hold the document.
    application.protocol === 'saml' && application.metadata.metadata_xml,
  ];
  return JSON.stringify(rest(before)) !== JSON.stringify(rest(after));
}
