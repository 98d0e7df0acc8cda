// What a directory says about the state of an account: in Active Directory why it would reject even the right password, in others
// whether it is locked. Pure.
import type { Entry } from 'ldapts';
import type { LdapSettings } from '../connections/kinds/ldap.ts';
import { valuesOf } from './identity.ts';

export type AccountProblem =
  | 'account_disabled'
  | 'account_expired'
  | 'account_locked'
  | 'password_expired'
  | 'password_must_change'
  | 'not_now';

const ACTIVE_DIRECTORY = [
  ...['userAccountControl', 'msDS-User-Account-Control-Computed', 'accountExpires', 'pwdLastSet', 'logonHours'],
  'msDS-ResultantPSO',
];
/** Of OpenLDAP (ppolicy) and 389 Directory Server. */
const OTHERS = ['pwdAccountLockedTime', 'nsAccountLock'];

export const stateAttributes = ({ active_directory }: Pick<LdapSettings, 'active_directory'>): string[] =>
  active_directory ? ACTIVE_DIRECTORY : OTHERS;

/** MS-ADTS 2.2.16 and 3.1.1.4.5.17. */
const DISABLED = 0x2;
const LOCKED = 0x10;
const NEVER_EXPIRES = 0x10000;
const PASSWORD_EXPIRED = 0x80_0000;

/** Why a sign-in with the right password would be rejected; undefined where nothing is known against it. */
export function problemOf(
  entry: Entry,
  { active_directory: isActiveDirectory }: Pick<LdapSettings, 'active_directory'>,
  now: Date,
): AccountProblem | undefined {
  const text = (name: string) => {
    const [value] = valuesOf(entry, name);
    return typeof value === 'string' ? value : undefined;
  };
  if (!isActiveDirectory) {
    if (text('nsAccountLock')?.toLowerCase() === 'true') return 'account_disabled';
    const lockedAt = text('pwdAccountLockedTime');
    // Locked by an administrator, without an end (draft-behera-ldap-password-policy-11 5.3.3).
    if (lockedAt === '000001010000Z') return 'account_disabled';
    return lockedAt === undefined ? undefined : 'account_locked';
  }
  const control = Number(text('userAccountControl') ?? 0);
  const computed = Number(text('msDS-User-Account-Control-Computed') ?? 0);
  const expires = timeOf(text('accountExpires'));
  if ((control & DISABLED) !== 0) return 'account_disabled';
  if (expires !== undefined && expires <= now) return 'account_expired';
  if ((computed & LOCKED) !== 0) return 'account_locked';
  if ((control & NEVER_EXPIRES) === 0) {
    if (text('pwdLastSet') === '0') return 'password_must_change';
    if ((computed & PASSWORD_EXPIRED) !== 0) return 'password_expired';
  }
  const [hours] = valuesOf(entry, 'logonHours');
  return Buffer.isBuffer(hours) && !isWithin(hours, now) ? 'not_now' : undefined;
}

/** Intervals of 100 ns since 1601 (FILETIME); undefined for never. */
function timeOf(text: string | undefined): Date | undefined {
  if (text === undefined || !/^\d{1,19}$/.test(text) || text === '0' || text === '9223372036854775807')
    return undefined;
  const at = new Date(Number(BigInt(text) / 10_000n) - 11_644_473_600_000);
  return Number.isNaN(at.getTime()) ? undefined : at;
}

/** One bit for each hour of the week, from Sunday 00:00 UTC (MS-ADA2 2.48). */
function isWithin(hours: Buffer, now: Date): boolean {
  if (hours.length !== 21) return true;
  const hour = now.getUTCDay() * 24 + now.getUTCHours();
  return ((hours[hour >> 3] as number) & (1 << (hour & 7))) !== 0;
}
