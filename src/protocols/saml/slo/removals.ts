// Removes rows of the SAML protocol, inside the transaction of the change that makes them void.
import { limits } from '../../../base/limits.ts';
import type { Tx } from '../../../base/storage/database.ts';

/** Removes all that is stored for a service provider: its requests, session participants and persistent NameIDs. */
export async function removeServiceProviderData(applicationId: string, tx: Tx): Promise<void> {
  await tx.samlRequest.deleteMany({ where: { applicationId } });
  await tx.samlParticipant.deleteMany({ where: { applicationId } });
  await tx.samlNameId.deleteMany({ where: { applicationId } });
}

/** No service provider takes part in these sessions any more; which ones did stays, for a LogoutRequest that comes later. */
export async function endSessionParticipants(sessionUids: readonly string[], now: Date, tx: Tx): Promise<void> {
  await endParticipants({ sessionUid: { in: [...sessionUids] } }, now, tx);
}

/** The same for every session of the account. */
export async function endAccountParticipants(userId: string, now: Date, tx: Tx): Promise<void> {
  await endParticipants({ userId }, now, tx);
}

/** Removes which service providers a deleted account was known to. */
export async function removeAccountParticipants(userId: string, tx: Tx): Promise<void> {
  await tx.samlParticipant.deleteMany({ where: { userId } });
}

async function endParticipants(
  which: { userId: string } | { sessionUid: { in: string[] } },
  now: Date,
  tx: Tx,
): Promise<void> {
  const expiresAt = new Date(now.getTime() + limits.saml.endedParticipantSeconds * 1000);
  await tx.samlParticipant.updateMany({ where: { ...which, endedAt: null }, data: { endedAt: now, expiresAt } });
}
