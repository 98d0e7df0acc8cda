// /api/admin/refusals and /api/admin/why: the reason behind the code on somebody's page, and whether a person may open an
// application.
import { z } from 'zod';
import { badRequest } from '../../http/errors.ts';
import type { Refusal } from '../../refusals/refusals.ts';
import type { Explanation, RefusalAdmin } from '../refusals.ts';
import type { WhyAdmin } from '../why.ts';
import { type Endpoint, endpoint } from './endpoint.ts';
import { iso, paged, pageOf, text, time } from './parts.ts';

const tag = 'Refusals';
const needs = ['gatehouse.audit:read'] as const;

const refusal = z
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
  .meta({ id: 'Refusal' });
const rule = z.object({
  rule: z.string(),
  state: z.enum(['passed', 'failed', 'unknown']),
  received: z.string().nullable(),
  registered: z.string().nullable(),
  explanation: z.string().nullable(),
});
const explanation = z.object({
  refusal,
  rules: z.array(rule).describe('In the order in which they are asked'),
  mended: z.boolean().describe('Whether the rule that failed would pass now'),
  mends: z.array(z.string()).describe('What the console offers a button for'),
});
const verdict = z.object({
  user: z.object({ id: z.string(), username: z.string() }),
  application: z.object({ id: z.string(), identifier: z.string(), name: z.string() }),
  may_open: z.boolean(),
  rules: z.array(z.object({ rule: z.string(), met: z.boolean(), explanation: z.string() })),
  refusals: z.array(refusal).describe('The last ones of this person at this application, newest first'),
});

export function refusalEndpoints(refusals: RefusalAdmin, why: WhyAdmin): Endpoint[] {
  return [
    endpoint({
      ...{ method: 'get', path: '/refusals', operationId: 'listRefusals', tag, needs },
      summary: 'Refused requests of the last two weeks, newest first',
      query: z.object({
        ...paged,
        user: text.optional().describe('Id of the account'),
        client: z.string().max(1024).optional().describe('client_id or entity ID'),
        request_id: text.optional(),
      }),
      response: pageOf(refusal),
      async handle({ query: { limit, cursor, user, client, request_id } }) {
        const about = { subjectId: user, clientId: client, requestId: request_id };
        const page = await refusals.list({ ...about, limit, after: cursor });
        return { body: { items: page.refusals.map(shown), next: page.next ?? null } };
      },
    }),
    endpoint({
      ...{ method: 'get', path: '/refusals/{code}', operationId: 'getRefusal', tag, needs },
      summary: 'One refusal by its code: each rule in order, with what was received beside what is registered',
      params: z.object({ code: z.string().min(1).max(20) }),
      response: explanation,
      handle: async ({ params }) => ({ body: explained(await refusals.explain(params.code)) }),
    }),
    endpoint({
      ...{ method: 'get', path: '/why', operationId: 'why', tag, needs: [...needs, 'gatehouse.users:read'] },
      summary: 'May this person open this application, by which role or why not',
      query: z.object({
        user: z.string().min(1).max(254).describe('Id, user name or e-mail address'),
        application: z.string().min(1).max(1024).describe('Id, client_id, entity ID or name'),
      }),
      response: verdict,
      async handle({ query }) {
        const [account, application] = await Promise.all([
          why.findUser(query.user),
          why.findApplication(query.application),
        ]);
        if (!account) throw unknown('user', 'is nobody here');
        if (!application) throw unknown('application', 'is no application, or the name of more than one');
        const { id, username } = account;
        const { clientId, name } = application;
        const [{ mayOpen, reasons }, { refusals: last }] = await Promise.all([
          why.verdict(account, application),
          why.attempts({ userId: id, clientId }),
        ]);
        const rules = reasons.map(({ label, isMet, explanation: told }) => ({
          rule: label,
          met: isMet,
          explanation: told,
        }));
        const about = { user: { id, username }, application: { id: application.id, identifier: clientId, name } };
        return { body: { ...about, may_open: mayOpen, rules, refusals: last.map(shown) } };
      },
    }),
  ];
}

function unknown(field: string, message: string) {
  return badRequest('invalid_input', { fields: [{ field, message }] });
}

function shown({ clientId, subjectId, requestId, at, ...refused }: Refusal) {
  const { code, endpoint: where, reason, message, received } = refused;
  const about = { client: clientId ?? null, user: subjectId ?? null, request_id: requestId };
  return { code, at: iso(at), endpoint: where, reason, message, ...about, received };
}

function explained({ refusal: refused, rules, isMended, mends }: Explanation) {
  return {
    refusal: shown(refused),
    rules: rules.map(({ label, state, received, registered, explanation: told }) => ({
      ...{ rule: label, state, received: received ?? null, registered: registered ?? null, explanation: told ?? null },
    })),
    mended: isMended,
    mends: mends.map(({ label }) => label),
  };
}
