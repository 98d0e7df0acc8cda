// Removes rows of the engine, inside the transaction of the change that makes them invalid.
import type { Tx } from '../../../base/storage/database.ts';
import { removeRpSessions } from './sessions/rp-sessions.ts';

const REGISTRATION = 'RegistrationAccessToken';

/** Removes the grants, codes and tokens of an application. With `keepsRegistration` it may still manage its registration (RFC 7592). */
export async function removeClientArtifacts(
  clientId: string,
  tx: Tx,
  { keepsRegistration = false }: { keepsRegistration?: boolean } = {},
): Promise<void> {
  await removeRpSessions(clientId, tx);
  await tx.oidcArtifact.deleteMany({
    where: { clientId, ...(keepsRegistration && { model: { not: REGISTRATION } }) },
  });
}

/** Removes the account's interactions: authorization requests whose sign-in is not finished. */
export async function removeInteractions(accountId: string, tx: Tx): Promise<void> {
  await tx.oidcArtifact.deleteMany({ where: { accountId, model: 'Interaction' } });
}
