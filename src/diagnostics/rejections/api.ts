// /api/admin/rejections: the reason for the code that a user reads on the error page.
import { z } from 'zod';
import { type Endpoint, endpoint } from '../../admin/api/endpoint.ts';
import { iso, paged, pageOf, text, time } from '../../admin/api/parts.ts';
import type { PageText } from '../../base/texts/text.ts';
import type { Rejection } from '../../core/rejections/rejections.ts';
import type { Explanation, RejectionAdmin } from './explanation.ts';

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
    endpoint({
      method: 'get',
      path: '/rejections',
      operationId: 'listRejections',
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
    endpoint({
      method: 'get',
      path: '/rejections/{code}',
      operationId: 'getRejection',
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
