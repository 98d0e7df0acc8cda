// Ends the sign-ins of an account that are not finished: when the password that they began with is void, or its sessions end.

import type { Tx } from '../base/storage/database.ts';
import { removeInteractions } from '../protocols/oidc/store/removals.ts';
import { removeAttemptsOf } from './attempts.ts';

/** Removes the account's attempts and the interactions of the engine, also those that only have to be resumed. */
export async function abandonSignIns(userId: string, tx: Tx): Promise<void> {
  await removeAttemptsOf(userId, tx);
  await removeInteractions(userId, tx);
}
