// What administrators do with applications of both protocols, in the words of the configuration file. The API and the
// console call the same functions. An application that may act in Gatehouse is changed only by who has those rights.
import type { Application } from '../applications/application.ts';
import type { Applications } from '../applications/applications.ts';
import type { ApplicationPage, ListApplications } from '../applications/list.ts';
import { needsSecretValue, type OidcClientInput } from '../applications/oidc-client.ts';
import type { OpenSecret } from '../applications/secrets.ts';
import {
  type ServiceProvider,
  serviceProvider,
  serviceProviderRules,
  settingsOf,
} from '../applications/service-provider.ts';
import { check, showPath } from '../applications/validation.ts';
import type { By } from '../audit/audit.ts';
import { badRequest, conflict } from '../http/errors.ts';
import { limits } from '../limits.ts';
import type { DatabaseKind } from '../platform/database-url.ts';
import { type Db, type Tx, transaction } from '../platform/db.ts';
import type { Fault } from '../platform/faults.ts';
import { lockRow } from '../platform/lock.ts';
import { applicationEntry } from '../provisioning/export.ts';
import type { Authority } from '../rbac/authority.ts';
import { rightsOfClient } from '../rbac/built-in.ts';
import type { SpMetadata } from '../saml/metadata-parse.ts';
import { assertVersion, type Expected, etagOf } from './versions.ts';

/** An application as the configuration file would declare it. */
export type Declaration = Record<string, unknown>;
export type ApplicationDetails = { application: Application; secrets: Omit<OpenSecret, 'hash' | 'value'>[] };

export interface ApplicationAdmin {
  list(query: ListApplications): Promise<ApplicationPage>;
  get(id: string): Promise<ApplicationDetails>;
  /** An OIDC client; its secret is returned here and never again. */
  createOidc(declaration: Declaration, by: By): Promise<{ application: Application; clientSecret?: string }>;
  /** A SAML service provider, from its metadata, the URL of its metadata, or by hand. */
  createSaml(declaration: Declaration, by: By): Promise<Application>;
  /** JSON merge patch (RFC 7396) of the declaration. */
  update(
    id: string,
    patch: Declaration,
    by: By,
    expected?: Expected,
  ): Promise<{ application: Application; clientSecret?: string }>;
  /** Takes over what the metadata of a service provider says now. Throws conflict where it says the same as before. */
  readMetadataAgain(id: string, by: By): Promise<Application>;
  setEnabled(id: string, enabled: boolean, by: By): Promise<Application>;
  remove(id: string, by: By, expected?: Expected): Promise<void>;
  /** A new secret beside the others, which stay valid for so long: 0 ends them now. */
  addSecret(id: string, overlapSeconds: number, by: By): Promise<{ id: string; value: string }>;
  removeSecret(id: string, secretId: string, by: By): Promise<void>;
  /** What metadata says, before it is registered. */
  readMetadata(source: MetadataSource): Promise<SpMetadata>;
}

export type MetadataSource = { metadata?: string | undefined; metadata_url?: string | undefined };

export interface ApplicationAdminNeeds {
  db: Db;
  kind: DatabaseKind;
  applications: Applications;
  authority: Pick<Authority, 'assertHolds'>;
  /** Throw with a sentence for the administrator. */
  parseMetadata(xml: string): SpMetadata;
  fetchMetadata(url: string): Promise<string>;
}

export function createApplicationAdmin(needs: ApplicationAdminNeeds): ApplicationAdmin {
  const { db, kind, applications, authority } = needs;

  /** Whoever changes an application that has rights here could use them. */
  async function assertMayChange(application: Application, by: By, tx?: Tx) {
    if (application.protocol === 'oidc') await authority.assertHolds(by, rightsOfClient(application.metadata), tx);
  }

  async function changeable(id: string, by: By, expected: Expected, tx: Tx): Promise<Application> {
    await lockRow(tx, kind, 'applications', id);
    const application = await applications.get(id, tx);
    assertVersion(expected, applicationVersion(application));
    await assertMayChange(application, by, tx);
    return application;
  }

  async function managed(id: string, by: By): Promise<Application> {
    const application = await applications.get(id);
    await assertMayChange(application, by);
    return application;
  }

  async function load({ metadata, metadata_url }: MetadataSource): Promise<string | undefined> {
    if (metadata_url === undefined) return metadata;
    try {
      return await needs.fetchMetadata(metadata_url);
    } catch (cause) {
      throw refused([{ path: ['metadata_url'], message: sentence(cause) }], cause);
    }
  }

  function parse(xml: string, { metadata_url }: MetadataSource): SpMetadata {
    try {
      return needs.parseMetadata(xml);
    } catch (cause) {
      throw refused([{ path: [metadata_url ? 'metadata_url' : 'metadata'], message: sentence(cause) }], cause);
    }
  }

  /** The entry behind a declaration, and what its metadata says; `kept` is what is registered already. */
  async function resolved(declaration: Declaration, kept?: { entry: Declaration; xml: string | undefined }) {
    // A path would be one on this server, for whoever may register applications.
    if (declaration.metadata_file !== undefined) {
      throw refused([{ path: ['metadata_file'], message: 'is for the configuration file; send metadata instead' }]);
    }
    const checked = check(serviceProvider, declaration, serviceProviderRules);
    if (!checked.ok) throw refused(checked.faults);
    const entry = checked.value;
    if (entry.acs_url !== undefined) return { entry, entityId: entry.entity_id ?? '', xml: undefined };
    const isSame = kept && kept.entry.metadata_url === entry.metadata_url && kept.entry.metadata === entry.metadata;
    const xml = (isSame && kept.xml) || (await load(entry)) || '';
    const { entityId } = parse(xml, entry);
    if (entry.entity_id !== undefined && entry.entity_id !== entityId) {
      throw refused([{ path: ['entity_id'], message: `does not agree with the metadata, which says ${entityId}` }]);
    }
    return { entry, entityId, xml };
  }

  return {
    list: (query) => applications.list(query),

    async get(id) {
      const application = await applications.get(id);
      const open = await applications.openSecrets(id);
      return { application, secrets: open.map(({ hash: _hash, value: _value, ...secret }) => secret) };
    },

    async createOidc(declaration, by) {
      await authority.assertHolds(by, rightsOfClient(declaration));
      return applications.createOidc(declaration as Partial<OidcClientInput>, { by });
    },

    async createSaml(declaration, by) {
      const { entry, entityId, xml } = await resolved(declaration);
      return applications.createSaml({ entityId, ...inputOf(entry, xml) }, { by });
    },

    async update(id, patch, by, expected = 'any') {
      const before = await applications.get(id);
      const entry = applicationEntry(before);
      const merged = mergePatch(entry, patch);
      if (before.protocol === 'oidc') {
        const { client_id, client_secret, ...declaration } = merged;
        if (client_id !== before.clientId) throw refused([{ path: ['client_id'], message: 'never changes' }]);
        if (client_secret !== undefined)
          throw refused([{ path: ['client_secret'], message: 'is made at /applications/{id}/secrets' }]);
        await authority.assertHolds(by, rightsOfClient(declaration));
        return transaction(db, async (tx) => {
          unchanged(before, await changeable(id, by, expected, tx));
          return applications.updateOidc(id, declaration as OidcClientInput, { by, tx });
        });
      }
      // Metadata may be fetched on the way, so this is done before the transaction, and holds only for what was read.
      const { entry: wanted, entityId, xml } = await resolved(merged, { entry, xml: before.metadata.metadata_xml });
      if (entityId !== before.clientId) {
        throw refused([{ path: ['entity_id'], message: `never changes; the metadata says ${entityId}` }]);
      }
      const application = await transaction(db, async (tx) => {
        unchanged(before, await changeable(id, by, expected, tx));
        return applications.updateSaml(id, inputOf(wanted, xml), { by, tx });
      });
      return { application };
    },

    async readMetadataAgain(id, by) {
      const before = await applications.get(id);
      const url = before.protocol === 'saml' ? before.metadata.metadata_url : undefined;
      if (before.protocol !== 'saml' || url === undefined)
        throw conflict('conflict', { message: 'It was not registered by the address of its metadata.' });
      const { entry, entityId, xml } = await resolved(applicationEntry(before));
      if (entityId !== before.clientId)
        throw conflict('conflict', { message: `The metadata at ${url} now describes another entity, ${entityId}.` });
      if (xml === before.metadata.metadata_xml)
        throw conflict('conflict', { message: `The metadata at ${url} still says the same as before.` });
      return transaction(db, async (tx) => {
        unchanged(before, await changeable(id, by, 'any', tx));
        return applications.updateSaml(id, inputOf(entry, xml), { by, tx });
      });
    },

    async setEnabled(id, enabled, by) {
      await managed(id, by);
      await applications.setEnabled(id, enabled, { by });
      return applications.get(id);
    },

    remove: (id, by, expected = 'any') =>
      transaction(db, async (tx) => {
        await changeable(id, by, expected, tx);
        await applications.remove(id, { by, tx });
      }),

    async addSecret(id, overlapSeconds, by) {
      const application = await managed(id, by);
      // The engine signs with the newest of such secrets, which the application does not know yet.
      const atOnce = application.protocol === 'oidc' && needsSecretValue(application.metadata);
      const replace =
        overlapSeconds === 0 || atOnce ? 'now' : Math.min(overlapSeconds, limits.secretOverlap.maxSeconds);
      return applications.addSecret(id, { replace }, { by });
    },

    async removeSecret(id, secretId, by) {
      await managed(id, by);
      await applications.removeSecret(id, secretId, { by });
    },

    async readMetadata(source) {
      return parse((await load(source)) ?? '', source);
    },
  };
}

/** What a version of an application is made of. */
export function applicationVersion(application: Application): unknown {
  return [application.source, applicationEntry(application)];
}

/** RFC 7396. */
export function mergePatch(target: unknown, patch: unknown): Declaration {
  const merged: Declaration = isGroup(target) ? { ...target } : {};
  for (const [key, value] of Object.entries(isGroup(patch) ? patch : {})) {
    if (key === '__proto__') continue;
    if (value === null) delete merged[key];
    else merged[key] = isGroup(value) && isGroup(merged[key]) ? mergePatch(merged[key], value) : value;
  }
  return merged;
}

function isGroup(value: unknown): value is Declaration {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function unchanged(before: Application, now: Application): void {
  // Somebody else was in between the two reads: what was merged is not what is there.
  assertVersion(etagOf(applicationVersion(before)), applicationVersion(now));
}

function inputOf(entry: ServiceProvider, xml: string | undefined) {
  const { name, enabled, consent, access } = entry;
  return { name, enabled, consent, access, settings: settingsOf(entry, xml) };
}

function refused(faults: readonly Fault[], cause?: unknown) {
  const fields = faults.map(({ path, message }) => ({ field: showPath(path), message }));
  return badRequest('invalid_input', { fields, detail: fields, ...(cause === undefined ? {} : { cause }) });
}

function sentence(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
