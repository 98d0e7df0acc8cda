// Registers and changes SAML service providers.
import { conflict } from '../base/http/errors.ts';
import { withinTransaction } from '../base/storage/database.ts';
import { t } from '../base/texts/text.ts';
import type { Application } from './application.ts';
import type { Change, SamlInput } from './changes.ts';
import {
  type ApplicationColumns,
  changeableApplication,
  insertApplication,
  updateApplication,
  type WriteContext,
} from './write.ts';

/** Throws as insertApplication does. */
export function createSaml(
  context: WriteContext,
  { entityId, ...input }: SamlInput,
  change: Change,
): Promise<Application> {
  return insertApplication(context, { clientId: entityId, protocol: 'saml', ...columnsOf(input) }, change);
}

/** Replaces the declaration of a service provider; its entity ID stays. Throws conflict (409) for an OIDC client. */
export function updateSaml(
  context: WriteContext,
  id: string,
  input: Omit<SamlInput, 'entityId'>,
  change: Change,
): Promise<Application> {
  return withinTransaction(context.db, change.tx, async (tx) => {
    const before = await changeableApplication(context, id, change.source ?? 'local', tx);
    if (before.protocol !== 'saml') throw conflict('conflict', { message: t('console.applications.problem.not-saml') });
    return updateApplication(context, before, columnsOf(input), change, tx);
  });
}

function columnsOf({ name, enabled, consent, access, settings }: Omit<SamlInput, 'entityId'>): ApplicationColumns {
  return { name, enabled, consent, access, metadata: JSON.stringify(settings) };
}
