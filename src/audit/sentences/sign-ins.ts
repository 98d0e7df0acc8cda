// Sentences of sign-ins, sessions and sign-outs.
import type { AuditEventType } from '../events.ts';
import type { EventText, Template } from './event-text.ts';

const NO_PASSWORD: Record<string, string> = {
  wrong_password: '{user} entered a wrong password',
  too_many_tries: '{user} entered a password while sign-in was paused',
  no_password: '{user} entered a password, but has none',
  disabled_account: '{user} entered the right password, but the account is disabled',
};

const passwordFailed: Template = ({ reason, subjectId }) => {
  if (subjectId === null) return 'A password was entered for an unknown username or email';
  return NO_PASSWORD[reason ?? ''] ?? 'The password of {user} was rejected';
};

const THROTTLED: Record<string, string> = {
  too_many_codes: '{user} entered too many wrong codes and has to wait',
  too_many_tries: '{sign-in} was paused after too many wrong passwords',
  captcha_unsolved: '{sign-in} didn’t solve the CAPTCHA',
  too_many_at_once: '{sign-in} was paused, because too many came at once',
};
const throttled = ({ reason, subjectId }: Parameters<Exclude<Template, string>>[0]) =>
  (THROTTLED[reason ?? ''] ?? '{sign-in} was paused').replace(
    '{sign-in}',
    subjectId === null ? 'A sign-in' : 'A sign-in of {user}',
  );

const METHODS: Record<string, string> = {
  totp: 'from the authenticator app',
  email: 'from an email',
  sms: 'from an SMS',
  'recovery-code': 'from the recovery codes',
};

const codeText =
  (what: string): Template =>
  ({ data }) =>
    `{user} entered ${what} ${METHODS[String(data.method)] ?? 'of the second step'}`;

const ENDED: Record<string, string> = {
  'signed-out': '{user} signed out',
  'application-signed-out': '{app} signed {user} out',
  'upstream-signed-out': 'The identity provider signed {user} out',
  'ended-by-person': '{user} ended other sessions',
  'ended-by-admin': '{actor} ended a session of {user}',
  'session-limit': 'The oldest session of {user} ended, because there were too many',
  expired: 'A session of {user} expired',
};

const ALL_ENDED: Record<string, string> = {
  'password-reset': 'Every session of {user} ended after a new password',
  'account-disabled': 'Every session of {user} ended, because the account was disabled',
  'account-deleted': 'Every session of {user} ended, because the account was deleted',
  'roles-changed': 'Every session of {user} ended after a change of roles',
  'identity-linked': 'Every session of {user} ended after an identity was linked',
  'ended-by-admin': '{actor} ended every session of {user}',
};

type Types = Extract<
  AuditEventType,
  | `sign-in.${string}`
  | `session.${string}`
  | `sessions.${string}`
  | `logout.${string}`
  | `browser.${string}`
  | `upstream.${string}`
  | 'sign-out.refused'
>;

export const signInTexts: Record<Types, EventText> = {
  'sign-in.password': {
    kind: 'sign-in',
    done: '{user} entered the right password',
    failed: passwordFailed,
    saysReason: true,
  },
  'sign-in.passkey': {
    kind: 'sign-in',
    done: '{user} used a passkey',
    failed: ({ subjectId }) => (subjectId === null ? 'A passkey was rejected' : 'A passkey of {user} was rejected'),
  },
  'sign-in.upstream': {
    kind: 'sign-in',
    done: '{connection} confirmed the sign-in of {user}',
    failed: 'A sign-in at {connection} was rejected',
  },
  'sign-in.second-factor': { kind: 'sign-in', done: codeText('a right code'), failed: codeText('a wrong code') },
  'sign-in.recovery-code': { kind: 'sign-in', done: '{user} used a recovery code' },
  'sign-in.completed': {
    kind: 'sign-in',
    done: ({ clientId }) =>
      clientId === null ? '{user} signed in with {with}' : '{user} signed in to {app} with {with}',
  },
  'sign-in.throttled': {
    kind: 'sign-in',
    done: throttled,
    failed: throttled,
    saysReason: true,
  },
  'sign-in.unlocked': {
    kind: 'sign-in',
    done: '{actor} unlocked {user}',
    own: '{user} ended the sign-in pause with a link from an email',
  },
  'sign-in.new-browser': { kind: 'sign-in', done: '{user} signed in with a new browser' },
  'session.ended': {
    kind: 'session',
    done: ({ reason }) => ENDED[reason ?? ''] ?? ALL_ENDED[reason ?? ''] ?? 'A session of {user} ended',
    saysReason: true,
  },
  'sessions.ended-all': {
    kind: 'session',
    done: ({ reason }) => ALL_ENDED[reason ?? ''] ?? 'Every session of {user} ended',
    saysReason: true,
  },
  'logout.delivered': { kind: 'session', done: '{app} received the sign-out of {user}' },
  'logout.failed': {
    kind: 'session',
    done: '{app} didn’t receive the sign-out of {user}',
    failed: '{app} didn’t receive the sign-out of {user}',
  },
  'sign-out.refused': {
    kind: 'session',
    done: 'A sign-out was rejected',
    failed: 'A sign-out from {app} was rejected',
  },
  'upstream.logout': { kind: 'session', done: '{connection} signed {user} out' },
  'browser.remembered': { kind: 'factor', done: '{user} chose to skip the second step in a browser' },
  'browser.forgotten': {
    kind: 'factor',
    done: '{actor} removed a trusted browser of {user}',
    own: '{user} removed a trusted browser',
  },
};
