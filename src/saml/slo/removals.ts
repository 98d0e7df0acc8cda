// Removes rows of the SAML protocol, inside the transaction of the change that makes them void.
import type { Tx } from '../../storage/database.ts';

/** Removes all that is stored for a service provider: its requests, session participants and persistent NameIDs. */
export async function removeServiceProviderData(applicationId: string, tx: Tx): Promise<void> {
  await tx.samlRequest.deleteMany({ where: { applicationId } });
  await tx.samlParticipant.deleteMany({ where: { applicationId } });
  await tx.samlNameId.deleteMany({ where: { applicationId } });
}

/** Removes which service providers take part in these sessions. */
export async function removeSessionParticipants(sessionUids: readonly string[], tx: Tx): Promise<void> {
  await tx.samlParticipant.deleteMany({ where: { sessionUid: { in: [...sessionUids] } } });
}

/** Removes which service providers take part in any session of the account. */
export async function removeAccountParticipants(userId: string, tx: Tx): Promise<void> {
  await tx.samlParticipant.deleteMany({ where: { userId } });
}
