// Mail about a change of an account, to its owner: a password or a second factor that is not what it was.
import type { Clock } from '../platform/clock.ts';
import type { RequestInfo } from '../platform/request-info.ts';
import { type FactorChange, recipientOf } from './messages.ts';
import type { Outbox } from './outbox.ts';
import { placeOf } from './wording.ts';

export type AccountChange = 'password-changed' | FactorChange;

/** `by`: the owner on a page of theirs unless it was an admin. */
export type Tell = (
  account: { id: string; username: string; name: string | null; email: string | null },
  change: AccountChange,
  request?: RequestInfo,
  by?: 'owner' | 'admin',
) => Promise<void>;

export function createNotices({ outbox, now }: { outbox: Pick<Outbox, 'send'>; now: Clock }): Tell {
  return async (account, change, request, by = 'owner') => {
    const to = recipientOf(account);
    if (!to) return;
    const place = placeOf(request, now());
    if (change === 'password-changed') await outbox.send({ to, kind: change, by, place });
    else await outbox.send({ to, kind: 'factor-changed', change, place });
  };
}
