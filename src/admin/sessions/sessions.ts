// Single sign-on sessions: their user, browser and applications, and their end.

import { z } from 'zod';
import { notFound } from '../../base/http/errors.ts';
import { fullName, nameAndUsername } from '../../base/http/pages/tokens.ts';
import { limits } from '../../base/limits.ts';
import { fromTimeCursor, type TimePlace, toTimeCursor } from '../../base/storage/cursors.ts';
import { fragment, trustedText } from '../../base/storage/fragments.ts';
import { t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { isWithinExtent } from '../../people/accounts/members.ts';
import { NAMED_PERSON } from '../../people/accounts/names.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import { type Extent, within } from '../../people/rbac/rights.ts';
import type { EndResult } from '../../protocols/logout/end-session.ts';
import { applicationsIn, type SessionEntry } from '../../protocols/oidc/store/sessions/sessions.ts';
import type { AdminServices } from '../admin-services.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { byId, id, iso, jsonOf, paged, pageOf, time } from '../api/parts.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';
import { endpointsOf, type Resource } from '../resource.ts';
import type { UserAdmin } from '../users/actions.ts';

const READ = 'gatehouse.sessions:read' as const;
export const END = 'gatehouse.sessions:end' as const;

export interface SessionView extends SessionEntry {
  username: string;
  /** The display name of the user. */
  name: string | null;
  /** Not yet stored in the first moment after the sign-in. */
  device?: { userAgent: string; address: string; country: string | undefined; lastSeenAt: Date };
}

export type SessionPage = { sessions: SessionView[]; next?: string };

export interface ListSessions {
  limit?: number | undefined;
  /** `next` of the page before, in the same order. */
  after?: string | undefined;
  /** The oldest first. */
  isAscending?: boolean | undefined;
  userId?: string | undefined;
}

export type SessionAdmin = ReturnType<typeof createSessionAdmin>;

/** `get` and `end` throw not_found for a session that has ended. */
export function createSessionAdmin(services: AdminServices) {
  const { db, authority, sessions, endSession, applications } = services;

  const get: (uid: string, by: Actor, needs?: OwnPermission) => Promise<SessionView> = async (
    uid,
    by,
    needs = READ,
  ) => {
    const session = await sessions.find(uid);
    if (session) await authority.assertCovers(by, needs, session.accountId).catch(throwNoSession);
    const [view] = session ? await viewsOf(services, [session]) : [];
    return view ?? throwNoSession();
  };

  return {
    /** The live sessions of the users whom the actor may see, the newest first. */
    async list({ limit = limits.api.pageSize, after, ...query }: ListSessions, by: Actor): Promise<SessionPage> {
      const extent = await authority.extent(by, READ);
      return listSessions(services, { ...query, limit, cursor: fromTimeCursor(after), extent });
    },

    async ofUser(userId: string, by: Actor): Promise<SessionView[]> {
      await authority.assertCovers(by, READ, userId);
      if ((await db.user.count({ where: { id: userId } })) === 0)
        throw notFound({ message: t('console.person.unknown') });
      return viewsOf(services, await sessions.list(userId));
    },

    get,

    /** Whether the user is signed in anywhere: in a browser, or at an application that stays connected. */
    async isSignedIn(userId: string, by: Actor): Promise<boolean> {
      await authority.assertCovers(by, READ, userId);
      return (await sessions.list(userId)).length > 0 || (await sessions.grantsOf(userId)).length > 0;
    },

    async end(uid: string, by: Actor): Promise<EndResult> {
      const session = await get(uid, by, END);
      assertFreshProof(by, 'session.end', nameAndUsername(session));
      return (await endSession.one(uid, 'ended-by-admin', by)) ?? throwNoSession();
    },

    /** Ends every session that the application takes part in. Returns their number. */
    async endOfApplication(id: string, by: Actor): Promise<number> {
      const { clientId, name } = await applications.get(id);
      assertFreshProof(by, 'application.end-sessions', name);
      return endSession.ofApplication(clientId, 'ended-by-admin', by);
    },
  };
}

function throwNoSession(): never {
  throw notFound({ message: t('console.sessions.unknown') });
}

/** The live sessions after the cursor, at most `limit`. */
async function listSessions(
  services: AdminServices,
  { limit, cursor, extent, isAscending = false, userId }: PageOfSessions,
): Promise<SessionPage> {
  const { db, sessions } = services;
  const [beyond, order] = isAscending
    ? [trustedText('>'), trustedText('ASC')]
    : [trustedText('<'), trustedText('DESC')];
  const isOfUser = userId === undefined ? fragment`1 = 1` : fragment`d.user_id = ${userId}`;
  const found: SessionView[] = [];
  let last = cursor;
  // The rows of ended sessions are deleted later, so a page may take more than one query.
  for (;;) {
    const isAfter = last
      ? fragment`d.created_at ${beyond}= ${last.at} AND (d.created_at ${beyond} ${last.at} OR d.uid ${beyond} ${last.id})`
      : fragment`1 = 1`;
    const isVisible = extent === 'all' ? fragment`1 = 1` : isWithinExtent('d.user_id', extent);
    const page = await db.$queryRaw<{ uid: string }[]>`SELECT d.uid FROM session_devices d
      WHERE ${isAfter} AND ${isVisible} AND ${isOfUser} ORDER BY d.created_at ${order}, d.uid ${order} LIMIT ${limit}`;
    const rows = await db.sessionDevice.findMany({
      where: { uid: { in: page.map(({ uid }) => uid) } },
      orderBy: isAscending ? [{ createdAt: 'asc' }, { uid: 'asc' }] : [{ createdAt: 'desc' }, { uid: 'desc' }],
      select: { uid: true, createdAt: true },
    });
    const live = await viewsOf(services, await sessions.findAll(rows.map(({ uid }) => uid)));
    for (const { uid, createdAt } of rows) {
      const session = live.find((one) => one.uid === uid);
      if (session && found.length === limit)
        return { sessions: found, ...(last && { next: toTimeCursor(last.at, last.id) }) };
      if (session) found.push(session);
      last = { at: createdAt, id: uid };
    }
    if (page.length < limit || rows.length === 0) return { sessions: found };
  }
}

/** Each session with its username and its browser. */
async function viewsOf({ db, countries }: AdminServices, live: readonly SessionEntry[]): Promise<SessionView[]> {
  const [devices, users] = await Promise.all([
    db.sessionDevice.findMany({ where: { uid: { in: live.map(({ uid }) => uid) } } }),
    db.asStored.user.findMany({
      where: { id: { in: live.map(({ accountId }) => accountId) } },
      select: NAMED_PERSON,
    }),
  ]);
  return live.map((session) => {
    const device = devices.find(({ uid }) => uid === session.uid);
    const user = users.find(({ id }) => id === session.accountId);
    const { username = '' } = user ?? {};
    const found = device && { device: { ...device, country: countries.of(device.address) } };
    return { ...session, username, name: user ? fullName(user) : null, ...found };
  });
}

interface PageOfSessions extends Omit<ListSessions, 'after'> {
  limit: number;
  cursor: TimePlace | undefined;
  extent: Extent;
}

const schema = z
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
    applications: z.array(z.string()).describe('client_id or entity ID of the applications that the user signed in to'),
  })
  .meta({ id: 'Session' });

export const sessionNoun = (sessions: SessionAdmin): Resource<SessionView> => ({
  names: ['Session', 'Sessions'],
  tag: 'Sessions',
  api: '/sessions',
  home: '/admin/sessions',
  title: t('console.navigation.sessions'),
  nameOf: nameAndUsername,
  params: z.object({ uid: id }),
  read: [within(READ)],
  write: [within(END)],
  keyOf: ({ uid }) => uid,
  get: sessions.get,
  schema,
  json: sessionJson,
});

/** /api/admin/sessions, and those of an application and of a user. */
export function sessionEndpoints(sessions: SessionAdmin, users: UserAdmin): Endpoint[] {
  const noun = sessionNoun(sessions);
  const { list, get, remove } = endpointsOf(noun);
  const { tag } = noun;
  return [
    list({
      summary: 'The live single sign-on sessions, newest first',
      query: z.object(paged),
      response: pageOf(schema),
      async handle({ limit, cursor }, by) {
        const page = await sessions.list({ limit, after: cursor }, by);
        return { items: page.sessions.map(sessionJson), next: page.next ?? null };
      },
    }),
    get({ summary: 'One session' }),
    remove({ verb: 'end', summary: 'Ends the session; its applications are notified', run: sessions.end }),
    endpoint('endApplicationSessions', 'DELETE /applications/{id}/sessions', {
      tag,
      // It affects every user of the application.
      needs: [END, 'gatehouse.applications:write'],
      summary: 'Ends every session that the application takes part in; all applications of these sessions are notified',
      params: byId,
      response: z.object({ ended: z.int() }),
      handle: async ({ params, by }) => ({ body: { ended: await sessions.endOfApplication(params.id, by) } }),
    }),
    endpoint('listUserSessions', 'GET /users/{id}/sessions', {
      tag,
      needs: noun.read,
      summary: 'The live sessions of one user',
      params: byId,
      response: z.object({ items: z.array(schema) }),
      handle: async ({ params, by }) => ({
        body: { items: (await sessions.ofUser(params.id, by)).map(sessionJson) },
      }),
    }),
    endpoint('endUserSessions', 'DELETE /users/{id}/sessions', {
      tag,
      needs: noun.write,
      summary: 'Ends every session of the user and revokes every token',
      params: byId,
      response: z.object({ ended: z.int() }),
      handle: async ({ params, by }) => ({ body: { ended: (await users.endSessions(params.id, by)).count } }),
    }),
  ];
}

function sessionJson(session: SessionView) {
  const { accountId, acr = null, device } = session;
  return jsonOf(schema, session, {
    user: accountId,
    acr,
    address: device?.address ?? null,
    user_agent: device?.userAgent ?? null,
    last_seen_at: iso(device?.lastSeenAt),
    applications: applicationsIn(session),
  });
}
