// The access check: whether a person can sign in to an application, or why not and what fixes it; what the application would receive,
// without a sign-in; and the last attempts, each with its exact reason.

import { z } from 'zod';
import { type Endpoint, endpoint } from '../../admin/api/endpoint.ts';
import { createApplicationPreviews } from '../../admin/applications/preview.ts';
import { accessDecision } from '../../applications/access-decision.ts';
import type { Application } from '../../applications/application.ts';
import { notFound } from '../../base/http/errors.ts';
import { fault } from '../../base/texts/faults.ts';
import type { Actor, Audit, AuditEntry } from '../../core/audit/audit.ts';
import type { AuditEventType } from '../../core/audit/events.ts';
import type { Rejection, Rejections } from '../../core/rejections/rejections.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import { rejection, rejectionJson } from '../rejections/explanation.ts';
import type { DiagnosticServices } from '../services.ts';
import { type Check, checkIds, checkStates } from './check.ts';
import { checksOf } from './checks.ts';
import { readFacts } from './facts.ts';
import { type Cause, causesOf } from './fixes.ts';

export interface AccessReport {
  /** The access rule (applications/access-decision.ts). */
  mayOpen: boolean;
  /** The access rule, and every other check. */
  canSignIn: boolean;
  checks: Check[];
}

export type AccessCheck = ReturnType<typeof createAccessCheck>;

/** Reads only, except for the fixes. */
export function createAccessCheck(services: DiagnosticServices) {
  const { db, applications } = services;

  async function reportOf(account: Account, application: Application) {
    const facts = await readFacts(services, account, application);
    const checks = checksOf(facts);
    const { allowed: mayOpen } = accessDecision(application, account);
    return {
      facts,
      report: { mayOpen, canSignIn: mayOpen && checks.every(({ state }) => state !== 'failed'), checks },
    };
  }

  return {
    /** By id, username, email address or full name. */
    findUser: services.findUser,

    /** By id, client_id, entity ID or name. */
    async findApplication(text: string): Promise<Application | undefined> {
      const byClient = await applications.find(text);
      if (byClient) return byClient;
      const byId = await db.asStored.application.findUnique({ where: { id: text }, select: { id: true } });
      if (byId) return applications.get(text);
      const { applications: found } = await applications.list({ search: text, limit: 2 });
      const exact = found.find(({ name }) => name.toLowerCase() === text.toLowerCase());
      return exact ?? (found.length === 1 ? found[0] : undefined);
    },

    report: async (account: Account, application: Application): Promise<AccessReport> =>
      (await reportOf(account, application)).report,

    /** The report, and what this actor can do about each cause. */
    async diagnose(
      account: Account,
      application: Application,
      viewer: { by: Actor; mayOpen(permission: OwnPermission): boolean },
    ): Promise<AccessReport & { causes: Cause[] }> {
      const { facts, report } = await reportOf(account, application);
      return { ...report, causes: await causesOf(services, report.checks, facts, viewer) };
    },

    preview: createApplicationPreviews(services),
    attempts: (about: AttemptsQuery): Promise<Attempts> => readAttempts(services, about),
  };
}

// /api/admin/access-check: whether a user may open an application.

const result = z.object({
  user: z.object({ id: z.string(), username: z.string() }),
  application: z.object({ id: z.string(), identifier: z.string(), name: z.string() }),
  may_open: z.boolean().describe('What the access rule says'),
  can_sign_in: z
    .boolean()
    .describe('The access rule, and everything else that decides: lockout, sign-in methods, two-step verification'),
  rules: z.array(
    z.object({
      id: z.enum(checkIds).describe('Of the check, the same in every language'),
      rule: z.string(),
      met: z.boolean(),
      state: z
        .enum(checkStates)
        .describe(
          '`later`: the user does something at the sign-in. `warning`: it blocks nothing, but may be the cause. `skipped`: it does not apply',
        ),
      explanation: z.string(),
    }),
  ),
  rejections: z.array(rejection).describe('The last ones of this user at this application, newest first'),
});

/** /access-check. */
export function accessCheckEndpoints(accessCheck: AccessCheck): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/access-check',
      operationId: 'why',
      tag: 'Rejections',
      needs: ['gatehouse.audit:read', 'gatehouse.users:read'],
      summary: 'Whether this user may open this application: by which role, or why not',
      query: z.object({
        user: z.string().min(1).max(254).describe('Id, username, email address or full name'),
        application: z.string().min(1).max(1024).describe('Id, client_id, entity ID or name'),
      }),
      response: result,
      rejects: [[404, 'The user or the application is not known']],
      async handle({ query, by }) {
        const [{ account }, application] = await Promise.all([
          accessCheck.findUser(query.user, by),
          accessCheck.findApplication(query.application),
        ]);
        if (!account) throw notKnown('user');
        if (!application) throw notKnown('application');
        const { id: userId, username } = account;
        const { clientId, name } = application;
        const [{ mayOpen, canSignIn, checks }, attempts] = await Promise.all([
          accessCheck.report(account, application),
          accessCheck.attempts({ userId, clientId }),
        ]);
        return {
          body: {
            user: { id: userId, username },
            application: { id: application.id, identifier: clientId, name },
            may_open: mayOpen,
            can_sign_in: canSignIn,
            rules: checks.map(({ id, label, state, explanation }) => ({
              id,
              state,
              rule: String(label),
              met: state !== 'failed',
              explanation: String(explanation),
            })),
            rejections: attempts.rejections.map(rejectionJson),
          },
        };
      },
    }),
  ];
}

function notKnown(field: string) {
  return notFound({ faults: [fault([field], 'not-known')] });
}

// The recent attempts of a person or at an application, for the access check: audit events and rejected requests.

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

interface Attempts {
  events: AuditEntry[];
  rejections: Rejection[];
}

/** Newest first. With a user and an application: what the user did there, and the steps before. */
async function readAttempts(
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
