// Adds and removes secrets of an OIDC client, with an audit event each.
import { conflict, notFound } from '../http/errors.ts';
import { withinTransaction } from '../storage/database.ts';
import { t } from '../texts/text.ts';
import type { Change } from './changes.ts';
import { needsSecretValue, usesSecret } from './fields/oidc-client.ts';
import { getApplication } from './read.ts';
import type { AddSecret, Secrets } from './secrets.ts';
import { genuineApplication, recordChange, type WriteContext } from './write.ts';

type SecretContext = WriteContext & { secrets: Secrets };

/** Returns the new secret, whose value cannot be read later. Throws conflict (409) if the client uses no secret. */
export function addSecret(
  context: SecretContext,
  id: string,
  options: Omit<AddSecret, 'sealed'>,
  { by, tx: outer }: Change,
): Promise<{ id: string; value: string }> {
  return withinTransaction(context.db, outer, async (tx) => {
    const { clientId, protocol, metadata } = await genuineApplication(context, id, tx);
    if (protocol !== 'oidc' || !usesSecret(metadata)) {
      throw conflict('conflict', { message: t('console.applications.problem.no-secret') });
    }
    const added = await context.secrets.add(id, { ...options, sealed: needsSecretValue(metadata) }, tx);
    const data = {
      secretId: added.id,
      othersStaySeconds: options.replace === 'now' ? 0 : (options.replace ?? null),
    };
    await recordChange(context, 'application.secret-created', clientId, tx, by, data);
    return added;
  });
}

/** Throws not_found (404). */
export function removeSecret(
  context: SecretContext,
  id: string,
  secretId: string,
  { by, tx: outer }: Change,
): Promise<void> {
  return withinTransaction(context.db, outer, async (tx) => {
    const { clientId } = await getApplication(id, tx);
    const { count } = await tx.clientSecret.deleteMany({ where: { id: secretId, applicationId: id } });
    if (count === 0) throw notFound();
    await recordChange(context, 'application.secret-removed', clientId, tx, by, { secretId });
  });
}
