// /account/sessions: where the person is signed in; each session can be ended.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../http/context.ts';
import { parseForm } from '../http/input.ts';
import type { EndSession } from '../logout/end-session.ts';
import type { Walker } from '../logout/run.ts';
import { browserName } from '../mail/browser-name.ts';
import type { Sessions } from '../oidc/sessions.ts';
import type { Db } from '../platform/db.ts';
import { OWN_CLIENT_ID } from '../rp/own-client.ts';
import type { OwnPage } from './page.ts';

export interface SessionRoutesNeeds {
  page: OwnPage;
  db: Db;
  sessions: Sessions;
  endSession: EndSession;
  /** This browser, as the one that walks a sign-out. */
  walkerOf(ctx: Context): Walker;
}

const endForm = z.object({ uid: z.string().min(1).max(64) });

export function sessionRoutes({ page, db, sessions, endSession, walkerOf }: SessionRoutesNeeds): Router<State, Extras> {
  const { signedIn, protect } = page;
  const router = new Router<State, Extras>({ prefix: '/account' });

  router.get('/sessions', signedIn.required, async (ctx) => {
    const { account, session: here } = signedIn.of(ctx);
    const live = await sessions.list(account.id);
    const devices = await db.sessionDevice.findMany({ where: { uid: { in: live.map(({ uid }) => uid) } } });
    const clientIds = [...new Set(live.flatMap(({ participants }) => participants.map(({ clientId }) => clientId)))];
    const applications = await db.application.findMany({
      where: { clientId: { in: clientIds } },
      select: { clientId: true, name: true },
    });
    const nameOf = new Map(applications.map(({ clientId, name }) => [clientId, name]));
    ctx.render('account/sessions', {
      notice: page.notice(ctx),
      sessions: live.map(({ uid, signedInAt, participants }) => {
        const device = devices.find((one) => one.uid === uid);
        return {
          uid,
          isHere: uid === here.ssoUid,
          browser: browserName(device?.userAgent) ?? 'Unknown browser',
          address: device?.address,
          signedInAt,
          lastSeenAt: device?.lastSeenAt ?? signedInAt,
          apps: participants
            .filter(({ clientId }) => clientId !== OWN_CLIENT_ID)
            .map(({ clientId }) => nameOf.get(clientId) ?? clientId),
        };
      }),
    });
  });

  router.post('/sessions/end', signedIn.required, protect, async (ctx) => {
    const { account } = signedIn.of(ctx);
    const { uid } = await parseForm(ctx, endForm);
    const own = (await sessions.list(account.id)).some((session) => session.uid === uid);
    const ended = own ? await endSession.one(uid, 'ended-by-person', page.by(ctx)) : undefined;
    page.back(ctx, '/account/sessions', `Signed out there.${untold(ended?.run?.untold)}`);
  });

  router.post('/sessions/end-others', signedIn.required, protect, async (ctx) => {
    const { account, session } = signedIn.of(ctx);
    const others = (await sessions.list(account.id)).filter(({ uid }) => uid !== session.ssoUid);
    const ended = await endSession.several(
      others.map(({ uid }) => uid),
      'ended-by-person',
      page.by(ctx),
    );
    page.back(ctx, '/account/sessions', `Signed out everywhere else.${untold(ended?.run?.untold)}`);
  });

  /** Here as well: this browser is led through the applications of all of them. */
  router.post('/sessions/end-all', signedIn.required, protect, async (ctx) => {
    const { account } = signedIn.of(ctx);
    const uids = (await sessions.list(account.id)).map(({ uid }) => uid);
    const walk = { browser: walkerOf(ctx), answer: { kind: 'page' as const } };
    const ended = await endSession.several(uids, 'ended-by-person', { ...page.by(ctx), walk });
    ctx.status = 303;
    ctx.redirect(ended?.run ? `/signout/${ended.run.id}` : '/');
  });

  return router;
}

/** Only the browser that an application is used in could tell these. */
function untold(names: string[] = []): string {
  return names.length === 0
    ? ''
    : ` Could not be told, and may go on until that browser is closed: ${names.join(', ')}.`;
}
