// Mail to the owner of an account whose password or second factor was changed.
import type { Clock } from '../../base/platform/clock.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import { type FactorChange, type RemovedMethod, recipientOf } from './messages.ts';
import type { Outbox } from './outbox.ts';
import { placeOf } from './wording.ts';

/** The mail names the actor of the change: the owner, unless the name ends in `by-admin` or is `factors-reset`. */
export type AccountChange = 'password-changed' | 'password-changed-by-admin' | FactorChange;

/** Queues the mail; nothing for an account without an address. `removed`: what an administrator took away. */
export type NotifyOwner = (
  account: Parameters<typeof recipientOf>[0],
  change: AccountChange,
  request?: RequestInfo,
  removed?: RemovedMethod,
) => Promise<void>;

export function createOwnerNotifier({ outbox, now }: { outbox: Outbox; now: Clock }): NotifyOwner {
  return async (account, change, request, removed) => {
    const to = recipientOf(account, request && { application: request.application });
    if (!to) return;
    const place = placeOf(request, now());
    if (change === 'password-changed') await outbox.send({ to, kind: 'password-changed', by: 'owner', place });
    else if (change === 'password-changed-by-admin')
      await outbox.send({ to, kind: 'password-changed', by: 'admin', place });
    else await outbox.send({ to, kind: 'factor-changed', change, place, removed });
  };
}
