// Sentences about sign-ins, sessions and logouts.
import type { AuditEventType } from '../events.ts';
import type { EventText, SentenceKey, Template } from './event-text.ts';

const NO_PASSWORD: Record<string, SentenceKey> = {
  wrong_password: 'activity.event.password-wrong',
  too_many_tries: 'activity.event.password-while-paused',
  no_password: 'activity.event.password-none',
  disabled_account: 'activity.event.password-disabled',
};

const passwordFailed: Template = ({ reason, subjectId }) => {
  if (subjectId === null) return 'console.events.unknown-password';
  return NO_PASSWORD[reason ?? ''] ?? 'activity.event.password-rejected';
};

/** For a known user, and for an unknown one. */
const THROTTLED: Record<string, readonly [SentenceKey, SentenceKey]> = {
  too_many_codes: ['activity.event.too-many-codes', 'console.events.unknown-too-many-codes'],
  too_many_tries: ['activity.event.paused-by-passwords', 'console.events.unknown-paused-by-passwords'],
  captcha_unsolved: ['activity.event.captcha-unsolved', 'console.events.unknown-captcha-unsolved'],
  too_many_at_once: ['activity.event.paused-by-load', 'console.events.unknown-paused-by-load'],
};

const throttled: Template = ({ reason, subjectId }) => {
  const [known, unknown] = THROTTLED[reason ?? ''] ?? ['activity.event.paused', 'console.events.unknown-paused'];
  return subjectId === null ? unknown : known;
};

const ENDED: Record<string, SentenceKey> = {
  'signed-out': 'activity.event.signed-out',
  'application-signed-out': 'activity.event.signed-out-by-app',
  'upstream-signed-out': 'activity.event.signed-out-by-provider',
  'ended-by-person': 'activity.event.other-sessions-ended',
  'ended-by-admin': 'activity.event.session-ended-by-admin',
  'session-limit': 'activity.event.session-limit',
  expired: 'activity.event.session-expired',
};

const ALL_ENDED: Record<string, SentenceKey> = {
  'password-reset': 'activity.event.sessions-ended-password',
  'account-disabled': 'activity.event.sessions-ended-disabled',
  'account-deleted': 'activity.event.sessions-ended-deleted',
  'roles-changed': 'activity.event.sessions-ended-roles',
  'identity-linked': 'activity.event.sessions-ended-identity',
  'ended-by-admin': 'activity.event.sessions-ended-by-admin',
};

type Types = Extract<
  AuditEventType,
  | `sign-in.${string}`
  | `session.${string}`
  | `sessions.${string}`
  | `logout.${string}`
  | `browser.${string}`
  | `upstream.${string}`
  | 'sign-out.rejected'
>;

export const signInTexts: Record<Types, EventText> = {
  'sign-in.password': {
    kind: 'sign-in',
    done: 'activity.event.password-right',
    failed: passwordFailed,
    saysReason: true,
  },
  'sign-in.passkey': {
    kind: 'sign-in',
    done: 'activity.event.passkey-used',
    failed: ({ subjectId }) =>
      subjectId === null ? 'console.events.unknown-passkey' : 'activity.event.passkey-rejected',
  },
  'sign-in.upstream': {
    kind: 'sign-in',
    done: 'activity.event.connection-confirmed',
    failed: 'console.events.connection-sign-in-rejected',
  },
  'sign-in.second-factor': { kind: 'sign-in', done: 'activity.event.code-right', failed: 'activity.event.code-wrong' },
  'sign-in.recovery-code': { kind: 'sign-in', done: 'activity.event.recovery-code-used' },
  'sign-in.completed': {
    kind: 'sign-in',
    done: ({ clientId }) => (clientId === null ? 'activity.event.signed-in' : 'activity.event.signed-in-to-app'),
  },
  'sign-in.throttled': {
    kind: 'sign-in',
    done: throttled,
    failed: throttled,
    saysReason: true,
  },
  'sign-in.unlocked': {
    kind: 'sign-in',
    done: 'activity.event.unlocked',
    own: 'activity.event.unlocked-by-link',
  },
  'sign-in.new-browser': { kind: 'sign-in', done: 'activity.event.new-browser' },
  'session.ended': {
    kind: 'session',
    done: ({ reason }) => ENDED[reason ?? ''] ?? ALL_ENDED[reason ?? ''] ?? 'activity.event.session-ended',
    saysReason: true,
  },
  'sessions.ended-all': {
    kind: 'session',
    done: ({ reason }) => ALL_ENDED[reason ?? ''] ?? 'activity.event.sessions-ended',
    saysReason: true,
  },
  'logout.delivered': { kind: 'session', done: 'activity.event.sign-out-delivered' },
  'logout.rejected': {
    kind: 'session',
    done: 'activity.event.sign-out-rejected',
    failed: 'activity.event.sign-out-rejected',
    saysReason: true,
  },
  'logout.failed': {
    kind: 'session',
    done: 'activity.event.sign-out-undelivered',
    failed: 'activity.event.sign-out-undelivered',
  },
  'sign-out.rejected': {
    kind: 'session',
    done: 'console.events.sign-out-rejected',
    failed: 'console.events.sign-out-rejected-of-app',
  },
  'upstream.logout': { kind: 'session', done: 'activity.event.signed-out-by-connection' },
  'browser.remembered': { kind: 'factor', done: 'activity.event.browser-trusted' },
  'browser.forgotten': {
    kind: 'factor',
    done: 'activity.event.browser-forgotten',
    own: 'activity.event.browser-forgotten-own',
  },
};
