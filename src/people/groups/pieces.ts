// The rows of a change of many people: the change, and what is left of it in pieces, of which the transaction that carries one out deletes it.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { randomId } from '../../base/platform/random.ts';
import type { Tx } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import { expiryOf, PIECE, pieceId, STORED, storedActor } from '../bulk-changes.ts';
import type { LogoutOnRoleChange } from '../rbac/assign-roles.ts';

export interface Person {
  userId: string;
  since?: Date | null | undefined;
  until?: Date | null | undefined;
}

type StoredPerson = [userId: string, since: number | null, until: number | null];

/** Stores the people of a change; the event loop gets a turn after each statement. */
export async function storePieces(
  changeId: string,
  people: readonly Person[],
  tx: Tx,
  pause: () => Promise<unknown> = nextTurn,
): Promise<void> {
  const count = Math.ceil(people.length / PIECE);
  for (let first = 0; first < count; first += STORED) {
    const positions = Array.from({ length: Math.min(STORED, count - first) }, (_, offset) => first + offset);
    const data = positions.map((position) => ({
      id: pieceId(changeId, position),
      changeId,
      position,
      members: toJson(people.slice(position * PIECE, (position + 1) * PIECE)),
    }));
    await tx.bulkChangePiece.createMany({ data });
    await pause();
  }
}

const toJson = (people: readonly Person[]): string =>
  JSON.stringify(
    people.map(
      ({ userId, since = null, until = null }): StoredPerson => [
        userId,
        since?.getTime() ?? null,
        until?.getTime() ?? null,
      ],
    ),
  );

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
    await storePieces(
      id,
      userIds.map((userId) => ({ userId })),
      tx,
    );
    wake('group-changes', tx);
  };
}
