// The access check: whether a person can sign in to an application, or why not and what fixes it; what the application would receive,
// without a sign-in; and the last attempts, each with its exact reason.

import { z } from 'zod';
import { type Endpoint, endpoint } from '../../admin/api/endpoint.ts';
import { createApplicationPreviews } from '../../admin/applications/preview.ts';
import { accessDecision } from '../../applications/access-decision.ts';
import type { Application } from '../../applications/application.ts';
import { pathMethods } from '../../applications/fields/proxied-application.ts';
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
import { type AskedPage, readFacts } from './facts.ts';
import { causesOf } from './fixes.ts';

export interface AccessReport {
  /** The access rule (applications/access-decision.ts), and the path rules where the question is about a page. */
  mayOpen: boolean;
  /** The access rule, and every other check. */
  canSignIn: boolean;
  /** The page is open to everyone, without a sign-in. */
  isPublic: boolean;
  checks: Check[];
}

/** What a question is about: an application, or a page of a website. */
export interface Asked {
  application: Application;
  page?: AskedPage | undefined;
}

/** The longest address of a page that a question may name. */
export const MAX_ADDRESS = 4096;

export type AccessCheck = ReturnType<typeof createAccessCheck>;

/** Reads only, except for the fixes. */
export function createAccessCheck(services: DiagnosticServices) {
  const { db, applications } = services;

  async function reportOf(account: Account, { application, page: asked }: Asked) {
    const facts = await readFacts(services, account, application, asked);
    const checks = checksOf(facts);
    const { allowed } = accessDecision(application, account);
    const { page } = facts;
    const isPublic = page?.isPublic === true && !page.isAmbiguous;
    const mayOpen = isPublic ? application.enabled : allowed && !page?.isAmbiguous && !page?.broken;
    return {
      facts,
      report: {
        mayOpen,
        canSignIn: allowed && checks.every(({ state }) => state !== 'failed'),
        isPublic: isPublic && mayOpen,
        checks,
      },
    };
  }

  /** By id, client_id, entity ID or name. */
  async function findApplication(text: string): Promise<Application | undefined> {
    const byClient = await applications.find(text);
    if (byClient) return byClient;
    const byId = await db.asStored.application.findUnique({ where: { id: text }, select: { id: true } });
    if (byId) return applications.get(text);
    const { applications: found } = await applications.list({ search: text, limit: 2 });
    const exact = found.find(({ name }) => name.toLowerCase() === text.toLowerCase());
    return exact ?? (found.length === 1 ? found[0] : undefined);
  }

  return {
    /** By id, username, email address or full name. */
    findUser: services.findUser,

    /** An application by id, client_id, entity ID or name; a page of a website by its address, as a browser sends it. */
    async findAsked(text: string, method: string): Promise<Asked | undefined> {
      const url = URL.canParse(text) ? new URL(text) : undefined;
      const website = url && url.origin !== text ? await applications.find(url.origin) : undefined;
      if (url && website?.protocol === 'proxy')
        return { application: website, page: { address: `${url.origin}${url.pathname}`, method, path: url.pathname } };
      const application = await findApplication(text);
      return application && { application };
    },

    report: async (account: Account, asked: Asked): Promise<AccessReport> => (await reportOf(account, asked)).report,

    /** The report, and what this actor can do about each cause. */
    async diagnose(account: Account, asked: Asked, viewer: { by: Actor; mayOpen(permission: OwnPermission): boolean }) {
      const { facts, report } = await reportOf(account, asked);
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
  page: z
    .object({ method: z.string(), path: z.string() })
    .optional()
    .describe('Of a website, where the question is about one'),
  may_open: z.boolean().describe('What the access rule says, and of a page its path rule'),
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
        application: z
          .string()
          .min(1)
          .max(MAX_ADDRESS)
          .describe('Id, client_id, entity ID or name; or the address of a page of a website, for its path rules'),
        method: z.enum(pathMethods).default('GET').describe('Of the request for the page'),
      }),
      response: result,
      rejects: [[404, 'The user or the application is not known']],
      async handle({ query, by }) {
        const [{ account }, asked] = await Promise.all([
          accessCheck.findUser(query.user, by),
          accessCheck.findAsked(query.application, query.method),
        ]);
        if (!account) throw notKnown('user');
        if (!asked) throw notKnown('application');
        const { application, page } = asked;
        const { id: userId, username } = account;
        const { clientId, name } = application;
        const [{ mayOpen, canSignIn, checks }, attempts] = await Promise.all([
          accessCheck.report(account, asked),
          accessCheck.attempts({ userId, clientId }),
        ]);
        return {
          body: {
            user: { id: userId, username },
            application: { id: application.id, identifier: clientId, name },
            ...(page && { page: { method: page.method, path: page.path } }),
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
