// Enables, disables and deletes applications of either protocol, with the grants and tokens that they hold.
import { conflict } from '../http/errors.ts';
import { type Tx, withinTransaction } from '../storage/database.ts';
import { declarationForAudit } from './audit-data.ts';
import type { Change } from './changes.ts';
import { applicationMac } from './macs/protected-applications.ts';
import { changeableApplication, recordChange, removableApplication, type WriteContext } from './write.ts';

/** Nothing happens when the application is in that state already. */
export function setEnabled(
  context: WriteContext,
  id: string,
  enabled: boolean,
  { by, tx: outer, source = 'local' }: Change,
): Promise<void> {
  return withinTransaction(context.db, outer, async (tx) => {
    const { clientId } = await changeableApplication(context, id, source, tx);
    const row = await tx.application.findUniqueOrThrow({ where: { id } });
    if (row.enabled === enabled) return;
    const mac = applicationMac({ ...row, enabled }, context.protectedRows);
    const data = { enabled, mac, updatedAt: context.now() };
    const { count } = await tx.application.updateMany({ where: { id, mac: row.mac }, data });
    if (count === 0) throw conflict('changed_meanwhile');
    if (!enabled) await context.removeClientArtifacts(clientId, tx);
    const difference = { before: { enabled: !enabled }, after: { enabled } };
    await recordChange(context, enabled ? 'application.enabled' : 'application.disabled', clientId, tx, by, difference);
  });
}

/** Deletes the application with every grant, token and session entry of it. */
export function removeApplication(
  context: WriteContext & { removeServiceProviderData(applicationId: string, tx: Tx): Promise<void> },
  id: string,
  { by, tx: outer, source = 'local' }: Change,
): Promise<void> {
  return withinTransaction(context.db, outer, async (tx) => {
    const before = await removableApplication(id, source, tx);
    const { clientId, name } = before;
    await tx.application.delete({ where: { id }, select: { id: true } });
    // No old token may be valid when the same client_id is registered again, perhaps by another owner.
    await context.removeClientArtifacts(clientId, tx);
    await context.removeServiceProviderData(id, tx);
    await recordChange(context, 'application.deleted', clientId, tx, by, { name, before: declarationForAudit(before) });
  });
}
