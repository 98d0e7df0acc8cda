// Every rate limit with its reason: brute force, credential stuffing, password spraying. The numbers are in limits.ts.
// A window counts to `points` in `seconds` and then waits for its end; one that slides ends so long after the last attempt. A back-off lets `freeAttempts` attempts pass, then one
// after each pause, which doubles up to `maxSeconds`; attempts during a pause are rejected and change nothing, so that
// further attempts cannot prolong it.
import { isIPv4 } from 'node:net';
import ipaddr from 'ipaddr.js';
import { limits } from '../../base/limits.ts';

export interface Window {
  kind: 'window';
  points: number;
  seconds: number;
  /** Each attempt begins the window again. */
  slides?: boolean;
}

export interface Backoff {
  kind: 'backoff';
  /** At least 2. */
  freeAttempts: number;
  baseSeconds: number;
  maxSeconds: number;
  /** Forgotten after this long without an attempt. */
  forgetSeconds: number;
}

const { rateLimits, storageBudget } = limits;
const window = (limit: { points: number; seconds: number }): Window => ({ kind: 'window', ...limit });
/** The same for an IPv6 network of 48 bits, which holds 65,536 of 64 bits; some providers give one to many customers. */
export const ofSite = (policy: Window): Window => ({ ...policy, points: policy.points * rateLimits.siteFactor });
const PAUSE = { baseSeconds: 30, maxSeconds: 15 * 60, forgetSeconds: 60 * 60 };

export const policies = {
  /**
   * Guessing one account's password. By the login as typed, existing or not, so that the response does not reveal which. The
   * longest pause is 15 minutes: an attacker can delay the owner in a new browser, but not in known ones (below), and
   * the unlock mail ends the lockout.
   */
  'sign-in:account': { kind: 'backoff', freeAttempts: rateLimits.signInPerAccount.points, ...PAUSE },
  /**
   * The same under all names of the account together, username and email address. At this limit no password is checked
   * under a name that is not at its own: the response is that to a wrong password, so that it does not tell which names
   * belong together.
   */
  'sign-in:all-names': { kind: 'backoff', freeAttempts: rateLimits.signInPerAccount.points, ...PAUSE },
  /**
   * Guessing the password of one user of a directory, under all names by which the directory finds the user. Counted before the bind,
   * so that the directory does not lock the account; the real numbers are those of the directory (directory-budget.ts).
   */
  'sign-in:directory-user': {
    ...window({ points: limits.ldap.lockout.threshold - 1, seconds: limits.ldap.lockout.windowSeconds }),
    slides: true,
  },
  /** A known browser of the account: its own counter, which an attacker elsewhere cannot reach. */
  'sign-in:known-browser': window({ points: 10, seconds: 15 * 60 }),
  /** Credential stuffing from one machine: failures over all accounts. High, because offices share an address. */
  'sign-in:address': window(rateLimits.signInPerAddress),
  'sign-in:site': ofSite(window(rateLimits.signInPerAddress)),
  /** Password spraying from many machines: failures of the whole server. Beyond it every sign-in needs a CAPTCHA. */
  'sign-in:overall': window(rateLimits.signInOverall),
  /** Guessing a TOTP, mailed or recovery code: a million values, so few tries and then pauses. */
  'code:account': {
    kind: 'backoff',
    freeAttempts: rateLimits.codePerAccount.points,
    baseSeconds: 60,
    maxSeconds: 15 * 60,
    forgetSeconds: 60 * 60,
  },
  /** Reset mails for one account: enough for a lost mail, too few to flood an inbox. */
  'reset:account': window(rateLimits.resetPerAccount),
  /** Unlock mails for one account, counted apart from resets. */
  'unlock:account': window(rateLimits.resetPerAccount),
  /** Reset requests from one machine: trying a list of addresses. */
  'reset:address': window(rateLimits.resetPerAddress),
  /** Trying reset or verification links: 256 bits cannot be guessed, so this only spares the database. */
  'link:address': window({ points: 30, seconds: 15 * 60 }),
  /** Confirmations of an address: an account must not be usable to send mail to other people. */
  'email-proof:account': window({ points: 5, seconds: 60 * 60 }),
  /** Mails of one kind to one recipient that anyone can cause (rate-limits.ts). */
  'mail:recipient': window(rateLimits.mailPerRecipient),
  /** Codes by SMS cost money (toll fraud). */
  'sms:account': window(rateLimits.smsPerAccount),
  'registration:address': window(rateLimits.registrationPerAddress),
  /** Waiting in place of the CAPTCHA: fewer attempts than with the CAPTCHA, or bots would prefer to wait. */
  'captcha-wait:address': window(rateLimits.captchaWaitPerAddress),
  /** Changes of users on their own account pages, each of which is an audit entry. */
  'own-changes:account': window(rateLimits.ownChangesPerAccount),
  /** Downloads of the own data. */
  'own-data:account': window(rateLimits.ownDataPerAccount),
  /** People whom an owner adds to groups by name: the members afterwards show which of the names have accounts. Also invitations. */
  'group-additions:account': window(rateLimits.groupAdditionsPerAccount),
  /** The strength meter while a user types: each estimate costs up to a quarter of a second. */
  'strength:address': window(rateLimits.strengthPerAddress),
  /** Typing user codes: eight letters, so guessing must be slow (RFC 8628 5.1). */
  'device:address': window(rateLimits.deviceCodePerAddress),
  /** Starting device flows, by client and address: each leaves a row for ten minutes. */
  'device-start:address': window(rateLimits.deviceStartPerAddress),
  /** Audit entries for an address in a denied network, which could fill the log otherwise. */
  'denied:address': window({ points: 1, seconds: 60 * 60 }),
  /** Parts of what a network address or a user may store, which the processes report (storage-budget.ts). */
  'storage:sender': window({ points: storageBudget.parts, seconds: storageBudget.seconds }),
  /** The same for an IPv6 network of 48 bits, which holds 65,536 of 64 bits. */
  'storage:site': window({ points: storageBudget.parts, seconds: storageBudget.seconds }),
  /** SAML messages, each of which is parsed, may be verified, and leaves a row: ten a second, since offices share one. */
  'saml:address': window(rateLimits.samlPerAddress),
  /** Logout tokens and front-channel logouts of upstreams, which are verified and look up sessions. */
  'upstream-logout:address': window(rateLimits.upstreamLogoutPerAddress),
  /** Polling by one device (RFC 8628 3.5); one second less than the announced interval, for network jitter. */
  'device:poll': window({ points: 1, seconds: limits.deviceCode.pollSeconds - 1 }),
  /** Rejected requests that are stored for administrators, by IPv4 address or IPv6 network of 48 bits; anyone can cause any number. */
  'rejections:address': window({ points: limits.rejections.perHour, seconds: 60 * 60 }),
  /** Clients that register themselves without a token, each of which is a row. */
  'client-registration:address': window(rateLimits.clientRegistrationPerAddress),
  /** Client metadata documents that are read from other servers, by the address that asks and by their host. */
  'client-document:address': window(rateLimits.clientDocumentPerAddress),
  'client-document:host': window(rateLimits.clientDocumentPerHost),
  /** Failed client authentication, by client and address, so that an attacker elsewhere cannot lock a client out. */
  'client-auth:address': window(rateLimits.clientAuthPerAddress),
  /** Calls of the admin API and of access evaluation, by caller. */
  'api:caller': window(rateLimits.apiPerCaller),
  /** Requests of a SCIM connection. */
  'scim:connection': window(rateLimits.scimPerConnection),
  /** Verification events that a receiver of shared signals asks for, each of which is an audit entry (SSF 1.0 8.1.4.2). */
  'ssf-verification:stream': window({ points: 1, seconds: limits.ssf.verificationSeconds }),
  /** Audit entries about evaluations that were denied: one application may ask about every account. */
  'access-entries:caller': window({ points: 60, seconds: 60 }),
  /** Calls with a wrong token or secret. */
  'api:address': window(rateLimits.apiFailuresPerAddress),
  /** Requests to websites with a wrong access token or app password. Random values are too long to guess: this only spares the database. */
  'programs:address': window(rateLimits.apiFailuresPerAddress),
} as const satisfies Record<string, Window | Backoff>;

export type PolicyName = keyof typeof policies;

// Limits by the network that a request comes from. One customer of a provider has an IPv4 address or an IPv6 network of 64
// bits, and may have one of 48 bits with 65,536 of those: so IPv6 is counted twice (RFC 6177).

/** The key under which requests of one customer are counted: an IPv4 address, or an IPv6 network of 64 bits. */
export function addressBlock(address: string): string {
  return blockOf(address, 64);
}

/** The largest block that one customer can have: an IPv4 address, or an IPv6 network of 48 bits. */
export function siteBlock(address: string): string {
  return blockOf(address, 48);
}

function blockOf(address: string, ipv6Bits: number): string {
  if (isIPv4(address)) return address; // in its only form: with four decimal numbers without leading zeros
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  if (parsed.kind() === 'ipv4') return parsed.toString();
  return `${ipaddr.IPv6.networkAddressFromCIDR(`${parsed.toString()}/${ipv6Bits}`).toString()}/${ipv6Bits}`;
}
