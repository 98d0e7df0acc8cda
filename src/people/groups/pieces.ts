// The people in the pieces of a change (bulk-changes.ts), and the change that signs them out.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { randomId } from '../../base/platform/random.ts';
import type { Tx } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { expiryOf, PIECE, storedActor, storePieces } from '../bulk-changes.ts';
import type { LogoutOnRoleChange } from '../rbac/assign-roles.ts';

export interface Person {
  userId: string;
  since?: Date | null | undefined;
  until?: Date | null | undefined;
}

type StoredPerson = [userId: string, since: number | null, until: number | null];

/** As a piece stores people. */
export const storedPeople = (people: readonly Person[]): { members: string } => ({
  members: JSON.stringify(
    people.map(
      ({ userId, since = null, until = null }): StoredPerson => [
        userId,
        since?.getTime() ?? null,
        until?.getTime() ?? null,
      ],
    ),
  ),
});

export function peopleIn(json: string): Person[] {
  const dateOf = (at: number | null) => (at === null ? null : new Date(at));
  return (JSON.parse(json) as StoredPerson[]).map(([userId, since, until]) => ({
    userId,
    since: dateOf(since),
    until: dateOf(until),
  }));
}

/** Signs out the people of a change of roles or groups: a few in its transaction, more by the job of changes.ts. */
export function createLogoutOnRoleChange(
  { settings, now, wake }: Core,
  logout: (userId: string, by: Actor, tx: Tx) => Promise<void>,
): LogoutOnRoleChange {
  return async function logoutOnRoleChange(userIds, by, tx, groupId = null) {
    if (!settings.latest().sign_out_on_role_change) return;
    if (userIds.length <= PIECE) {
      for (const id of userIds) await logout(id, by, tx);
      return;
    }
    const id = randomId();
    const about = { id, kind: 'sign_out', groupId, by: storedActor(by), options: '', total: userIds.length };
    const row = { ...about, state: 'waiting' };
    await tx.bulkChange.create({ data: { ...row, createdAt: now(), expiresAt: expiryOf(now) } });
    const people = userIds.map((userId) => ({ userId }));
    await storePieces(id, people, storedPeople, tx, nextTurn);
    wake('group-changes', tx);
  };
}
