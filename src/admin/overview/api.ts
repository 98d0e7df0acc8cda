// /api/admin/me (the caller) and /api/admin/statistics.
import { z } from 'zod';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import type { Statistics } from './statistics.ts';

const statistics = z.object({
  counted_at: z.iso.datetime(),
  users: z.object({ total: z.int(), disabled: z.int(), with_second_factor: z.int() }),
  applications: z.object({ oidc: z.int(), saml: z.int(), disabled: z.int() }),
  sessions: z.int(),
  mail: z.object({ waiting: z.int(), failed: z.int() }),
  days: z.array(z.object({ day: z.iso.date(), sign_ins: z.int(), failures: z.int() })),
  by_application: z
    .array(z.object({ client: z.string(), sign_ins: z.int() }))
    .describe('Sign-ins to applications, also with a session that exists'),
});

/** /me and /statistics. */
export function overviewEndpoints(count: (days: number) => Promise<Statistics>): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/me',
      operationId: 'whoAmI',
      tag: 'Server',
      needs: [],
      summary: 'The caller and its permissions',
      response: z.object({
        application: z.string().nullable().describe('null with an API key'),
        api_key: z.object({ id: z.string(), name: z.string() }).optional(),
        user: z.object({ id: z.string(), username: z.string() }).nullable(),
        permissions: z.union([z.literal('everything'), z.array(z.string())]),
      }),
      async handle({ caller: { app = null, apiKey, account, rights } }) {
        const user = account ? { id: account.id, username: account.username } : null;
        const permissions = rights === 'everything' ? rights : [...rights];
        return { body: { application: app, ...(apiKey && { api_key: apiKey }), user, permissions } };
      },
    }),
    endpoint({
      method: 'get',
      path: '/statistics',
      operationId: 'statistics',
      tag: 'Server',
      needs: ['gatehouse.audit:read'],
      summary: 'Totals, and sign-ins by day and by application',
      query: z.object({ days: z.coerce.number().int().min(1).max(90).default(30) }),
      response: statistics,
      handle: async ({ query }) => ({ body: statisticsJson(await count(query.days)) }),
    }),
  ];
}

function statisticsJson({ at, users, applications, sessions, mail: mails, days, byApplication }: Statistics) {
  return {
    counted_at: at.toISOString(),
    users: { total: users.total, disabled: users.disabled, with_second_factor: users.withSecondFactor },
    applications,
    sessions,
    mail: mails,
    days: days.map(({ day, signIns, failures }) => ({ day, sign_ins: signIns, failures })),
    by_application: byApplication.map(({ clientId, signIns }) => ({ client: clientId, sign_ins: signIns })),
  };
}
