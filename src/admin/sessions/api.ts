// /api/admin/sessions: the live single sign-on sessions.
import { z } from 'zod';
import { within } from '../../people/rbac/rights.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { byId, id, iso, paged, pageOf, time } from '../api/parts.ts';
import type { UserAdmin } from '../users/actions.ts';
import type { SessionAdmin, SessionView } from './actions.ts';

const tag = 'Sessions';
const readPermissions = [within('gatehouse.sessions:read')];
const endPermissions = [within('gatehouse.sessions:end')];
/** It affects every user of the application. */
const endAllPermissions = ['gatehouse.sessions:end', 'gatehouse.applications:write'] as const;

const byUid = z.object({ uid: id });
const session = z
  .object({
    uid: z.string(),
    user: z.string().describe('Id of the account'),
    username: z.string(),
    signed_in_at: time,
    expires_at: time.describe('The latest end'),
    idle_expires_at: time.describe('The end if the user makes no further request'),
    acr: z.string().nullable(),
    amr: z.array(z.string()),
    address: z.string().nullable(),
    user_agent: z.string().nullable(),
    last_seen_at: time.nullable(),
    applications: z.array(z.string()).describe('client_id or entity ID of the applications that take part'),
  })
  .meta({ id: 'Session' });

/** /sessions, and the end of all sessions of an application. */
export function sessionEndpoints(sessions: SessionAdmin): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/sessions',
      operationId: 'listSessions',
      tag,
      needs: readPermissions,
      summary: 'The live single sign-on sessions, newest first',
      query: z.object(paged),
      response: pageOf(session),
      async handle({ query: { limit, cursor }, by }) {
        const page = await sessions.list({ limit, after: cursor }, by);
        return { body: { items: page.sessions.map(sessionJson), next: page.next ?? null } };
      },
    }),
    endpoint({
      method: 'get',
      path: '/sessions/{uid}',
      operationId: 'getSession',
      tag,
      needs: readPermissions,
      summary: 'One session',
      params: byUid,
      response: session,
      handle: async ({ params, by }) => ({ body: sessionJson(await sessions.get(params.uid, by)) }),
    }),
    endpoint({
      method: 'delete',
      path: '/sessions/{uid}',
      operationId: 'endSession',
      tag,
      needs: endPermissions,
      summary: 'Ends the session; its applications are notified',
      params: byUid,
      status: 204,
      handle: async ({ params, by }) => void (await sessions.end(params.uid, by)),
    }),
    endpoint({
      method: 'delete',
      path: '/applications/{id}/sessions',
      operationId: 'endApplicationSessions',
      tag,
      needs: endAllPermissions,
      summary: 'Ends every session that the application takes part in; all applications of these sessions are notified',
      params: byId,
      response: z.object({ ended: z.int() }),
      handle: async ({ params, by }) => ({ body: { ended: await sessions.endOfApplication(params.id, by) } }),
    }),
  ];
}

/** /users/{id}/sessions. */
export function userSessionEndpoints(sessions: SessionAdmin, users: Pick<UserAdmin, 'endSessions'>): Endpoint[] {
  return [
    endpoint({
      method: 'get',
      path: '/users/{id}/sessions',
      operationId: 'listUserSessions',
      tag,
      needs: readPermissions,
      summary: 'The live sessions of one user',
      params: byId,
      response: z.object({ items: z.array(session) }),
      handle: async ({ params, by }) => ({
        body: { items: (await sessions.ofUser(params.id, by)).map(sessionJson) },
      }),
    }),
    endpoint({
      method: 'delete',
      path: '/users/{id}/sessions',
      operationId: 'endUserSessions',
      tag,
      needs: endPermissions,
      summary: 'Ends every session of the user and revokes every token',
      params: byId,
      response: z.object({ ended: z.int() }),
      handle: async ({ params, by }) => ({ body: { ended: (await users.endSessions(params.id, by)).count } }),
    }),
  ];
}

function sessionJson({ uid, accountId, username, acr, amr, device, participants, ...session }: SessionView) {
  const { signedInAt, expiresAt, idleExpiresAt } = session;
  return {
    uid,
    user: accountId,
    username,
    signed_in_at: iso(signedInAt),
    expires_at: iso(expiresAt),
    idle_expires_at: iso(idleExpiresAt),
    acr: acr ?? null,
    amr,
    address: device?.address ?? null,
    user_agent: device?.userAgent ?? null,
    last_seen_at: iso(device?.lastSeenAt),
    applications: participants.map(({ clientId }) => clientId),
  };
}
