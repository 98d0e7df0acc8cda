// Whether an account can be used now: it is enabled, has begun and has not ended. Nothing else decides it: `Account.isActive` is the answer for
// one account, and the other two find such accounts in the database.

import { type Fragment, fragment, trustedText } from '../../base/storage/fragments.ts';
import { type Text, t } from '../../base/texts/text.ts';

export interface Activity {
  isEnabled: boolean;
  /** Null: at once. */
  activeFrom: Date | null;
  /** Null: no end. */
  activeUntil: Date | null;
}

/** `waiting`: before `activeFrom`; `ended`: at or after `activeUntil`. */
export const accountStates = ['active', 'disabled', 'waiting', 'ended'] as const;
export type AccountState = (typeof accountStates)[number];

export function stateOf({ isEnabled, activeFrom, activeUntil }: Activity, now: Date): AccountState {
  if (!isEnabled) return 'disabled';
  if (activeUntil !== null && activeUntil <= now) return 'ended';
  return activeFrom !== null && activeFrom > now ? 'waiting' : 'active';
}

/** Not now, or not for good: such an account cannot be that of the only administrator. */
export const isLimited = (times: { activeFrom?: Date | null; activeUntil?: Date | null }, now: Date): boolean =>
  Boolean(times.activeUntil) || (times.activeFrom ?? now) > now;

/** The day of the last use; null: never used. */
export const seenAt = ({ lastSeenAt, createdAt }: { lastSeenAt: Date; createdAt: Date }): Date | null =>
  lastSeenAt.getTime() === createdAt.getTime() ? null : lastSeenAt;

/** A stored row with its state. */
export const withState = <Row extends Activity>(row: Row, now: Date) => {
  const state = stateOf(row, now);
  return { ...row, state, isActive: state === 'active' };
};

/** An account that is not stored yet. */
export const NEW_ACTIVITY = {
  state: 'active',
  isActive: true,
  isEnabled: true,
  activeFrom: null,
  activeUntil: null,
  wasUnused: false,
} as const;

/** Why an account cannot be used, for an audit entry. */
export const inactiveReason = ({ state }: { state: AccountState }) =>
  `${state as Exclude<AccountState, 'active'>}_account` as const;

/** The same for its person, who has proven to be that. */
export function inactiveText({
  state,
  wasUnused,
  activeFrom,
  activeUntil,
  lastSeenAt,
}: Activity & { state: AccountState; wasUnused: boolean; lastSeenAt: Date }): Text {
  const at = { waiting: activeFrom, ended: activeUntil, disabled: lastSeenAt, active: null }[state] ?? lastSeenAt;
  return t('sign-in.inactive', { state: wasUnused ? 'unused' : state, at });
}

/** The accounts that can be used, for a query of Prisma. */
export const whereActive = (now: Date) => ({
  isEnabled: true,
  AND: [
    { OR: [{ activeFrom: null }, { activeFrom: { lte: now } }] },
    { OR: [{ activeUntil: null }, { activeUntil: { gt: now } }] },
  ],
});

/** Whether the accounts of this alias of `users` are in the state, as SQL. */
export function isInState(alias: 'u' | 'f', state: AccountState, now: Date): Fragment {
  const [enabled, from, until] = ['is_enabled', 'active_from', 'active_until'].map((name) =>
    trustedText(`${alias}.${name}`),
  ) as [Fragment, Fragment, Fragment];
  switch (state) {
    case 'disabled':
      return fragment`${enabled} = ${false}`;
    case 'ended':
      return fragment`${enabled} = ${true} AND ${until} <= ${now}`;
    case 'waiting':
      return fragment`${enabled} = ${true} AND ${from} > ${now} AND (${until} IS NULL OR ${until} > ${now})`;
    case 'active':
      return fragment`${enabled} = ${true} AND (${from} IS NULL OR ${from} <= ${now}) AND (${until} IS NULL OR ${until} > ${now})`;
  }
}
