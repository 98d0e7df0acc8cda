// A rejection explained: its rules in order, the one that failed, and the fixes that are safe.

import { z } from 'zod';
import { type Endpoint, endpoint } from '../../admin/api/endpoint.ts';
import { iso, paged, pageOf, text, time } from '../../admin/api/parts.ts';
import type { RegistrationFault } from '../../admin/applications/preview.ts';
import type { Application } from '../../applications/application.ts';
import { type AppError, conflict, notFound } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Rejection } from '../../core/rejections/rejections.ts';
import type { Connection } from '../../federation/connections/connection.ts';
import type { Account } from '../../people/accounts/account.ts';
import { ownResources } from '../../people/rbac/built-in.ts';
import { samlSideOf } from '../../protocols/saml/metadata/service-providers.ts';
import type { DiagnosticServices } from '../services.ts';
import { type AgentCase, agentCase } from './agents.ts';
import { type Case, type ExplainedRule, explainedRules, passesNow, registrationFaultIn } from './evaluation.ts';
import { type ApplicableFix, type Fix, fixesOf, noteOn, noteOnFixed } from './fixes.ts';

export interface Explanation {
  rejection: Rejection;
  application: Application | undefined;
  account: Account | undefined;
  /** Of a rejected sign-in at an upstream. */
  connection: Connection | undefined;
  /** Of a rejected request of a directory (SCIM). */
  directory: { id: string; name: string } | undefined;
  /** Of a client that nobody registered. */
  agent: AgentCase | undefined;
  rules: ExplainedRule[];
  /** Whether the rule that failed would pass now. */
  isFixed: boolean;
  fixes: Fix[];
  /** Why no fix is offered, or what the fix cannot know. */
  note?: PageText | undefined;
  /** What is wrong with the registration, where that failed. */
  error?: RegistrationFault | undefined;
}

export type RejectionAdmin = ReturnType<typeof createRejectionAdmin>;

function unknownReference(): AppError {
  const { keepDays, perHour } = limits.rejections;
  const advice = t('console.rejections.not-found.advice', { days: keepDays, limit: perHour });
  return notFound({ message: t('console.rejections.not-found'), advice });
}

export function createRejectionAdmin(services: DiagnosticServices) {
  const { rejections, accounts, applications, config, connections, db, oidc } = services;
  const apisOfServer = ownResources(config.issuer);

  /** Of these APIs, those that are neither registered nor of this server. */
  async function missingApis(identifiers: readonly string[]): Promise<string[]> {
    const where = { identifier: { in: [...identifiers] } };
    const rows = await db.asStored.resource.findMany({ where, select: { identifier: true } });
    const existing = [...rows.map(({ identifier }) => identifier), ...Object.keys(apisOfServer)];
    return identifiers.filter((identifier) => !existing.includes(identifier));
  }

  async function caseOf(code: string): Promise<Case> {
    const rejection = await rejections.find(code);
    if (!rejection) throw unknownReference();
    const { clientId, endpoint } = rejection;
    const [application, connection, account] = await Promise.all([
      clientId === undefined || endpoint === 'upstream' || endpoint === 'scim'
        ? undefined
        : applications.find(clientId),
      clientId !== undefined && endpoint === 'upstream' ? connections.find(clientId) : undefined,
      rejection.subjectId === undefined ? undefined : accounts.find(rejection.subjectId),
    ]);
    const side = application?.protocol === 'saml' ? samlSideOf(application.clientId, application.metadata) : undefined;
    const requested = rejection.received.resource?.split(' ') ?? [];
    const ownApis = requested.filter((identifier) => Object.hasOwn(apisOfServer, identifier));
    const isRegistration = rejection.rules.some(({ rule, state }) => rule === 'registration' && state === 'failed');
    const registrationFault =
      isRegistration && application ? await oidc.registrationFaultOf(application.clientId) : undefined;
    const apis = { missingApis: await missingApis(requested), ownApis };
    const agent = await agentCase(rejection, application, services);
    return { rejection, application, account, connection, registrationFault, side, agent, ...apis };
  }

  async function explained(code: string): Promise<{ explanation: Explanation; fixes: ApplicableFix[] }> {
    const about = await caseOf(code);
    const { rejection, application, account, connection } = about;
    const ofScim = rejection.endpoint === 'scim' ? { id: rejection.clientId ?? '', removedAt: null } : undefined;
    const select = { id: true, name: true } as const;
    const directory = ofScim && (await db.asStored.scimConnection.findUnique({ where: ofScim, select }));
    const failed = rejection.rules.find(({ state }) => state === 'failed')?.rule;
    const isFixed = failed !== undefined && passesNow(failed, about) === true;
    const fixes = failed !== undefined && !isFixed ? await fixesOf(failed, about, services) : [];
    const note = failed && (isFixed ? noteOnFixed(failed, about) : noteOn(failed, about, fixes.length > 0));
    return {
      fixes,
      explanation: {
        rejection,
        application,
        connection,
        directory: directory ?? undefined,
        isFixed,
        rules: explainedRules(about),
        agent: about.agent,
        account,
        fixes: fixes.map(({ apply: _apply, ...fix }) => fix),
        note,
        error: failed === 'registration' ? registrationFaultIn(about) : undefined,
      },
    };
  }

  return {
    list: rejections.list,
    /** Throws not_found. */
    explain: async (code: string): Promise<Explanation> => (await explained(code)).explanation,

    /** Applies one of the fixes. Throws conflict when it is not offered any more, or changed nothing. */
    async fix(code: string, id: string, by: Actor): Promise<Explanation> {
      const { fixes } = await explained(code);
      const wanted = fixes.find((one) => one.id === id);
      if (!wanted) throw conflict('conflict', { message: t('console.rejections.fix-gone') });
      await wanted.apply(by);
      return (await explained(code)).explanation;
    },
  };
}

// /api/admin/rejections: the reason for the code that a user reads on the error page.

const tag = 'Rejections';
const needs = ['gatehouse.audit:read'] as const;

export const rejection = z
  .object({
    code: z.string(),
    at: time,
    endpoint: z.string(),
    reason: z.string(),
    message: z.string(),
    client: z.string().nullable().describe('client_id or entity ID as it was sent'),
    user: z.string().nullable(),
    request_id: z.string(),
    received: z.record(z.string(), z.string()).describe('What was received, without secrets'),
  })
  .meta({ id: 'Rejection' });
const rule = z.object({
  rule: z.string(),
  state: z.enum(['passed', 'failed', 'unknown']),
  received: z.string().nullable(),
  registered: z.string().nullable(),
  explanation: z.string().nullable(),
});
const explanation = z.object({
  rejection,
  rules: z.array(rule).describe('In the order in which they are checked'),
  fixed: z.boolean().describe('Whether the rule that failed would pass now'),
  fixes: z.array(z.string()).describe('What the console offers a button for'),
});
export function rejectionEndpoints(rejections: RejectionAdmin): Endpoint[] {
  return [
    endpoint('listRejections', 'GET /rejections', {
      tag,
      needs,
      summary: 'Rejected requests of the last two weeks, newest first',
      query: z.object({
        ...paged,
        user: text.optional().describe('Id of the account'),
        client: z.string().max(1024).optional().describe('client_id or entity ID'),
        request_id: text.optional(),
      }),
      response: pageOf(rejection),
      async handle({ query: { limit, cursor, user, client, request_id } }) {
        const about = { subjectId: user, clientId: client, requestId: request_id };
        const page = await rejections.list({ ...about, limit, after: cursor });
        return { body: { items: page.rejections.map(rejectionJson), next: page.next ?? null } };
      },
    }),
    endpoint('getRejection', 'GET /rejections/{code}', {
      tag,
      needs,
      summary: 'One rejected request by its code: each rule in order, with what was received beside what is registered',
      params: z.object({ code: z.string().min(1).max(20) }),
      response: explanation,
      handle: async ({ params }) => ({ body: explanationJson(await rejections.explain(params.code)) }),
    }),
  ];
}

/** A rejection as the API writes it. */
export function rejectionJson({ clientId, subjectId, requestId, at, ...rest }: Rejection) {
  const { code, endpoint: name, reason, message, received } = rest;
  const about = { client: clientId ?? null, user: subjectId ?? null, request_id: requestId };
  return { code, at: iso(at), endpoint: name, reason, message, ...about, received };
}

function explanationJson({ rejection: rejected, rules, isFixed, fixes }: Explanation) {
  return {
    rejection: rejectionJson(rejected),
    rules: rules.map((one) => ({
      rule: String(one.label),
      state: one.state,
      received: textOrNull(one.received),
      registered: textOrNull(one.registered),
      explanation: textOrNull(one.explanation),
    })),
    fixed: isFixed,
    fixes: fixes.map(({ label }) => String(label)),
  };
}

const textOrNull = (text: PageText | undefined) => (text === undefined ? null : String(text));
