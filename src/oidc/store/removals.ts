// Removes rows of the engine, inside the transaction of the change that makes them void.
import type { Tx } from '../../storage/database.ts';

/** Removes all that an application holds: grants, codes, tokens. */
export async function removeClientArtifacts(clientId: string, tx: Tx): Promise<void> {
  await tx.oidcArtifact.deleteMany({ where: { clientId } });
}

/** Removes the account's interactions: authorization requests whose sign-in is not finished. */
export async function removeInteractions(accountId: string, tx: Tx): Promise<void> {
  await tx.oidcArtifact.deleteMany({ where: { accountId, model: 'Interaction' } });
}
