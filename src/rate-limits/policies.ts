// Every limit on attempts (seed 5.7: brute force, stuffing and spraying), with its reason. The numbers are in limits.ts.
// A window counts to `points` in `seconds` and then waits for its end. A back-off lets `free` attempts pass, then one
// after each pause, which doubles up to `maxSeconds`; attempts made during a pause are refused and change nothing, so
// that nobody can prolong it by hammering.
import { limits } from '../limits.ts';

export interface Window {
  kind: 'window';
  points: number;
  seconds: number;
}

export interface Backoff {
  kind: 'backoff';
  /** At least 2. */
  free: number;
  baseSeconds: number;
  maxSeconds: number;
  /** Forgotten after this long without an attempt. */
  forgetSeconds: number;
}

const { rateLimits } = limits;
const window = (limit: { points: number; seconds: number }): Window => ({ kind: 'window', ...limit });
const PAUSE = { baseSeconds: 30, maxSeconds: 15 * 60, forgetSeconds: 60 * 60 };

export const policies = {
  /**
   * Guessing one account's password. By the login as typed, known or not, so that the answer tells nothing. A quarter
   * of an hour is the longest pause: an attacker slows the owner down at a new browser, but not at known ones (below),
   * and the unlock mail ends it.
   */
  'sign-in:account': { kind: 'backoff', free: rateLimits.signInPerAccount.points, ...PAUSE },
  /** The owner at a browser used before: a count of its own, out of reach of the attacker above. */
  'sign-in:known-browser': window({ points: 10, seconds: 15 * 60 }),
  /** Stuffing from one machine: failures over all accounts. Higher than one person needs: offices share an address. */
  'sign-in:address': window(rateLimits.signInPerAddress),
  /** Spraying from many machines: failures of the whole server. Beyond it everybody gets a CAPTCHA; nobody is refused. */
  'sign-in:overall': window(rateLimits.signInOverall),
  /** Guessing a TOTP, mailed or recovery code: a million values, so few tries and then pauses. */
  'code:account': {
    kind: 'backoff',
    free: rateLimits.codePerAccount.points,
    baseSeconds: 60,
    maxSeconds: 15 * 60,
    forgetSeconds: 60 * 60,
  },
  /** Reset mails to one person: enough for a lost mail, too few to flood an inbox. */
  'reset:account': window(rateLimits.resetPerAccount),
  /** The same for mails that end a pause; whoever asks for resets uses up none of these. */
  'unlock:account': window(rateLimits.resetPerAccount),
  /** Reset requests from one machine: walking through a list of addresses. */
  'reset:address': window(rateLimits.resetPerAddress),
  /** Trying reset or verification links: 256 bits cannot be guessed, so this only spares the database. */
  'link:address': window({ points: 30, seconds: 15 * 60 }),
  /** Proofs of an address and changes of it: an account is no means to write to strangers. */
  'email-proof:account': window({ points: 5, seconds: 60 * 60 }),
  /** Mails of one kind to one recipient that somebody else can bring about (mail-limits.ts). */
  'mail:recipient': window(rateLimits.mailPerRecipient),
  /** Codes by SMS cost money (toll fraud). */
  'sms:account': window(rateLimits.smsPerAccount),
  'registration:address': window(rateLimits.registrationPerAddress),
  /** Waiting in place of the CAPTCHA: fewer tries than the CAPTCHA leaves, or bots would rather wait. */
  'captcha-wait:address': window(rateLimits.captchaWaitPerAddress),
  /** The strength meter while somebody types: each estimate costs up to a quarter of a second. */
  'strength:address': window(rateLimits.strengthPerAddress),
  /** Typing user codes: eight letters, so guessing must be slow (RFC 8628 5.1). */
  'device:address': window(rateLimits.deviceCodePerAddress),
  /** Starting device flows, by client and address: each leaves a row for ten minutes. */
  'device-start:address': window(rateLimits.deviceStartPerAddress),
  /** How often an address in a denied network gets into the audit log, which it could fill otherwise. */
  'denied:address': window({ points: 1, seconds: 60 * 60 }),
  /** SAML messages, each of which is parsed, may be verified, and leaves a row: ten a second, since offices share one. */
  'saml:address': window(rateLimits.samlPerAddress),
  /** One device asking whether it is connected; a second less than it was told, for what the network adds. */
  'device:poll': window({ points: 1, seconds: limits.deviceCode.pollSeconds - 1 }),
  /** Refused requests that are kept for administrators: a stranger can make as many as they like. */
  'refusals:address': window({ points: 100, seconds: 60 * 60 }),
  /** Wrong credentials of applications, by client and address: no stranger locks a client out. */
  'client-auth:address': window(rateLimits.clientAuthPerAddress),
  /** Calls of the admin API and of access evaluation, by who calls: a program gone wild costs itself. */
  'api:caller': window(rateLimits.apiPerCaller),
  /** Calls with tokens or secrets that are none. */
  'api:address': window(rateLimits.apiFailuresPerAddress),
} as const satisfies Record<string, Window | Backoff>;

export type PolicyName = keyof typeof policies;
