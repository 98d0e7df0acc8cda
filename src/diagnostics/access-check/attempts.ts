// The recent attempts of a person or at an application, for the access check: audit events and rejected requests.
import type { Audit, AuditEntry } from '../../core/audit/audit.ts';
import type { AuditEventType } from '../../core/audit/events.ts';
import type { Rejection, Rejections } from '../../core/rejections/rejections.ts';

/** Steps before the application is known, so their events name none. */
const STEPS: AuditEventType[] = [
  'sign-in.password',
  'sign-in.passkey',
  'sign-in.upstream',
  'sign-in.second-factor',
  'sign-in.recovery-code',
  'sign-in.throttled',
  'sign-in.unlocked',
  'account.disabled',
  'account.enabled',
];
const AT_APPLICATION: AuditEventType[] = [
  'sign-in.completed',
  'authorization.granted',
  'authorization.rejected',
  'consent.denied',
  'token.rejected',
  'token.revoked',
  'saml.request',
  'saml.response',
];
const MAX_ATTEMPTS = 30;

export interface AttemptsQuery {
  userId?: string | undefined;
  clientId?: string | undefined;
  requestId?: string | undefined;
}

export interface Attempts {
  events: AuditEntry[];
  rejections: Rejection[];
}

/** Newest first. With a user and an application: what the user did there, and the steps before. */
export async function readAttempts(
  { audit, rejections }: { audit: Audit; rejections: Rejections },
  { userId, clientId, requestId }: AttemptsQuery,
): Promise<Attempts> {
  const about = {
    ...(userId && { subjectId: userId }),
    ...(clientId && { clientId }),
    ...(requestId && { requestId }),
  };
  const types = requestId ? {} : { types: [...STEPS, ...AT_APPLICATION] };
  const [events, steps, stored] = await Promise.all([
    audit.list({ ...about, ...types, limit: MAX_ATTEMPTS }),
    userId && clientId && !requestId
      ? audit.list({ subjectId: userId, types: STEPS, limit: MAX_ATTEMPTS })
      : Promise.resolve([]),
    rejections.list({ ...about, limit: MAX_ATTEMPTS }),
  ]);
  const all = new Map([...events, ...steps].map((event) => [event.id, event]));
  return {
    events: [...all.values()].sort((one, other) => other.id - one.id).slice(0, MAX_ATTEMPTS),
    rejections: stored.rejections,
  };
}
