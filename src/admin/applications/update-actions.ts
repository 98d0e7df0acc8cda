// Changes the declaration of an application: by a merge patch, or by the metadata of a service provider, fetched again.

import type { Application, OidcApplication } from '../../applications/application.ts';
import type { Applications } from '../../applications/applications.ts';
import { fieldsWith } from '../../applications/fields/application-field.ts';
import { type OidcClientInput, oidcClient } from '../../applications/fields/oidc-client.ts';
import { serviceProvider } from '../../applications/fields/service-provider.ts';
import { conflict } from '../../base/http/errors.ts';
import { faultMessage } from '../../base/platform/fault-messages.ts';
import { type Db, transaction } from '../../base/storage/database.ts';
import { t } from '../../base/texts/text.ts';
import { applicationEntry } from '../../config-file/export.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { WaitingMetadataDecisions } from '../../protocols/saml/metadata/waiting-metadata.ts';
import { assertVersion, type Expected, etagOf } from '../api/versions.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import { mergePatch } from './declaration-values.ts';
import { applicationVersion, type ManageableApplications } from './manageable-applications.ts';
import {
  type Declaration,
  inputOf,
  invalidInput,
  type ResolvedDeclaration,
  type SamlDeclarations,
} from './saml-declarations.ts';

export interface UpdateActions {
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
}

export interface UpdateActionsDependencies {
  db: Db;
  applications: Applications;
  waitingMetadata: WaitingMetadataDecisions;
}

export function updateActions(
  dependencies: UpdateActionsDependencies,
  declarations: SamlDeclarations,
  manageable: ManageableApplications,
): UpdateActions {
  const { replaceOidc, replaceSaml } = createReplacements(dependencies, manageable);

  return {
    async update(id, patch, by, expected = 'any') {
      const before = await manageable.find(id, by);
      const entry = applicationEntry(before);
      const merged = mergePatch(entry, patch);
      if (before.protocol === 'oidc') return replaceOidc(before, merged, by, expected);
      // May fetch metadata, so it runs before the transaction; assertUnchanged() then checks that nothing changed meanwhile.
      const resolved = await declarations.resolve(merged, { entry, xml: before.metadata.metadata_xml });
      if (resolved.entityId !== before.clientId) {
        const message = faultMessage('entity-fixed', { entityId: resolved.entityId });
        throw invalidInput([{ path: ['entity_id'], message }]);
      }
      return { application: await replaceSaml(before, resolved, by, expected) };
    },

    async readMetadataAgain(id, by) {
      const before = await manageable.find(id, by);
      const url = before.protocol === 'saml' ? before.metadata.metadata_url : undefined;
      if (before.protocol !== 'saml' || url === undefined)
        throw conflict('conflict', { message: t('console.applications.problem.no-metadata-url') });
      const resolved = await declarations.resolve(applicationEntry(before));
      const { entityId, xml } = resolved;
      if (entityId !== before.clientId)
        throw conflict('conflict', { message: t('console.applications.problem.other-entity', { url, entityId }) });
      if (xml === before.metadata.metadata_xml)
        throw conflict('conflict', { message: t('console.applications.problem.same-metadata', { url }) });
      if (xml !== undefined && (await dependencies.waitingMetadata.receive(before, xml))) {
        const next = { href: `/admin/applications/${id}/metadata`, label: t('console.applications.problem.compare') };
        throw conflict('conflict', { message: t('console.applications.problem.needs-approval'), next });
      }
      return replaceSaml(before, resolved, by, 'any');
    },
  };
}

/** Each replaces a declaration as a whole, in one transaction. The domain checks what the change needs of the actor. */
function createReplacements(
  { db, applications }: UpdateActionsDependencies,
  { lockForChange }: ManageableApplications,
) {
  async function replaceOidc(before: OidcApplication, merged: Declaration, by: Actor, expected: Expected) {
    const { client_id, client_secret, ...declaration } = merged;
    if (client_id !== before.clientId)
      throw invalidInput([{ path: ['client_id'], message: faultMessage('never-changes') }]);
    if (client_secret !== undefined)
      throw invalidInput([{ path: ['client_secret'], message: 'is made at /applications/{id}/secrets' }]);
    return transaction(db, async (tx) => {
      assertUnchanged(before, await lockForChange(before.id, by, expected, tx));
      const changed = await applications.updateOidc(before.id, declaration as OidcClientInput, { by, tx });
      if (changesTrust(before, changed.application)) assertFreshProof(by, 'application.change', before.name);
      return changed;
    });
  }

  async function replaceSaml(before: Application, resolved: ResolvedDeclaration, by: Actor, expected: Expected) {
    return transaction(db, async (tx) => {
      assertUnchanged(before, await lockForChange(before.id, by, expected, tx));
      const changed = await applications.updateSaml(before.id, inputOf(resolved), { by, tx });
      if (changesTrust(before, changed)) assertFreshProof(by, 'application.change', before.name);
      return changed;
    });
  }

  return { replaceOidc, replaceSaml };
}

function assertUnchanged(before: Application, now: Application): void {
  // Otherwise the patch was merged with an older version.
  assertVersion(etagOf(applicationVersion(before)), applicationVersion(now));
}

const descriptive = fieldsWith('isDescriptive', oidcClient.shape, serviceProvider.shape);

/** Whether the registrations differ in an address, a key, a right, or another field that is not descriptive. */
function changesTrust(before: Application, after: Application): boolean {
  const rest = (application: Application) => [
    Object.entries(applicationEntry(application)).filter(([name]) => !descriptive.includes(name)),
    // The entry of a service provider that is registered by URL does not hold the document.
    application.protocol === 'saml' && application.metadata.metadata_xml,
  ];
  return JSON.stringify(rest(before)) !== JSON.stringify(rest(after));
}
