// Enables, disables and deletes applications of either protocol, with the grants and tokens that they hold.
import { type Tx, withinTransaction } from '../storage/database.ts';
import { auditedDeclaration } from './audit-data.ts';
import type { Change } from './changes.ts';
import { changeableApplication, recordChange, type WriteContext } from './write.ts';

/** Nothing happens when the application is in that state already. */
export function setEnabled(
  context: WriteContext,
  id: string,
  enabled: boolean,
  { by, tx: outer, source = 'local' }: Change,
): Promise<void> {
  return withinTransaction(context.db, outer, async (tx) => {
    const { clientId } = await changeableApplication(id, source, tx);
    const { count } = await tx.application.updateMany({
      where: { id, enabled: !enabled },
      data: { enabled, updatedAt: context.now() },
    });
    if (count > 0 && !enabled) await context.removeClientArtifacts(clientId, tx);
    if (count === 0) return;
    const data = { before: { enabled: !enabled }, after: { enabled } };
    await recordChange(context, enabled ? 'application.enabled' : 'application.disabled', clientId, tx, by, data);
  });
}

/** Deletes the application with every grant, token and session entry of it. */
export function removeApplication(
  context: WriteContext & { removeServiceProviderData(applicationId: string, tx: Tx): Promise<void> },
  id: string,
  { by, tx: outer, source = 'local' }: Change,
): Promise<void> {
  return withinTransaction(context.db, outer, async (tx) => {
    const before = await changeableApplication(id, source, tx);
    const { clientId, name } = before;
    await tx.application.delete({ where: { id }, select: { id: true } });
    // No old token may be valid when the same client_id is registered again, perhaps by another owner.
    await context.removeClientArtifacts(clientId, tx);
    await context.removeServiceProviderData(id, tx);
    await recordChange(context, 'application.deleted', clientId, tx, by, { name, before: auditedDeclaration(before) });
  });
}
