// /account/sessions: the browsers in which the user is signed in. The user can end each of these sessions.

import Router from '@koa/router';
import { z } from 'zod';
import { type Context, type Extras, type State, seeOther } from '../base/http/context.ts';
import type { Http } from '../base/http/http.ts';
import { parseForm } from '../base/http/input.ts';
import { addressIn, listOf, type PageText, sentences, t } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import { browserName } from '../core/mail/browser-name.ts';
import type { People } from '../people/people.ts';
import type { LogoutBrowser } from '../protocols/logout/logout-run.ts';
import type { SessionServices } from '../protocols/logout/session-services.ts';
import { FIRST_PARTY_CLIENT_ID } from '../protocols/oidc/in-process-clients.ts';
import { applicationsIn } from '../protocols/oidc/store/sessions/sessions.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';

const endForm = z.object({ uid: z.string().min(1).max(64) });

export function sessionRoutes(
  services: Core &
    SessionServices & {
      page: AccountPageHelpers;
      /** The browser of a request, for a logout that goes through it. */
      logoutBrowserOf(ctx: Context): LogoutBrowser;
      /** The name of a SAML application in the language of the page. */
      titleOf: (row: { id: string; clientId: string; name: string; updatedAt: Date; metadata: string }) => PageText;
    },
): Router<State, Extras> {
  const { page, db, countries, sessions, endSession, logoutBrowserOf, titleOf } = services;
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: '/account' });

  router.get('/sessions', signedIn.requireSignIn, async (ctx) => {
    const { account, session: here } = signedIn.userOf(ctx);
    const live = await sessions.list(account.id);
    const devices = await db.sessionDevice.findMany({ where: { uid: { in: live.map(({ uid }) => uid) } } });
    const nameOf = await applicationNames(live.flatMap(applicationsIn));
    ctx.render('account/sessions', {
      notice: page.takeNotice(ctx),
      sessions: live.map((session) => {
        const { uid, signedInAt } = session;
        const device = devices.find((one) => one.uid === uid);
        return {
          uid,
          isHere: uid === here.ssoUid,
          browser: browserName(device?.userAgent) ?? t('browsers.unknown'),
          address: device && addressIn(device.address, countries.of(device.address)),
          signedInAt,
          lastSeenAt: device?.lastSeenAt ?? signedInAt,
          apps: applicationsIn(session)
            .filter((clientId) => clientId !== FIRST_PARTY_CLIENT_ID)
            .map((clientId) => nameOf.get(clientId) ?? clientId),
        };
      }),
    });
  });

  router.post('/sessions/end', signedIn.requireSignIn, checkChange, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const { uid } = await parseForm(ctx, endForm);
    const own = (await sessions.list(account.id)).some((session) => session.uid === uid);
    const ended = own ? await endSession.one(uid, 'ended-by-person', page.actorOf(ctx)) : undefined;
    showEnded(page, ctx, t('sessions.ended'), ended?.run?.notNotified);
  });

  router.post('/sessions/end-others', signedIn.requireSignIn, checkChange, async (ctx) => {
    const { account, session } = signedIn.userOf(ctx);
    const ended = await endSession.everywhere(account.id, { ...page.actorOf(ctx), except: session.ssoUid });
    showEnded(page, ctx, t('sessions.others-ended'), ended?.run?.notNotified);
  });

  // Also ends this session: the browser goes through the front-channel logout of the applications of all sessions.
  router.post('/sessions/end-all', signedIn.requireSignIn, checkChange, async (ctx) => {
    const { account, session } = signedIn.userOf(ctx);
    const completion = { kind: 'page' as const };
    const frontChannel = { browser: logoutBrowserOf(ctx), completion, sessionUid: session.ssoUid };
    const ended = await endSession.everywhere(account.id, { ...page.actorOf(ctx), frontChannel });
    seeOther(ctx, ended?.run ? `/signout/${ended.run.id}` : '/');
  });
  return router;

  async function applicationNames(clientIds: string[]): Promise<Map<string, PageText>> {
    const rows = await db.asStored.application.findMany({ where: { clientId: { in: [...new Set(clientIds)] } } });
    return new Map(rows.map((row) => [row.clientId, row.protocol === 'saml' ? titleOf(row) : row.name]));
  }
}

/** Names the applications that the logout did not reach: without back-channel logout, in a session of another browser. */
function showEnded(page: AccountPageHelpers, ctx: Context, ended: PageText, notNotified: string[] = []): void {
  const path = '/account/sessions';
  const rest = t('sessions.not-notified', { apps: listOf(notNotified) });
  if (notNotified.length === 0) page.redirectWithNotice(ctx, path, ended);
  else page.redirectWithNotice(ctx, path, sentences([ended, rest]), 'warn');
}

const HERE = '/account/browsers';
const forgetForm = z.object({ id: z.string().min(1).max(64) });

export function browserRoutes(services: Core & Http & People & { page: AccountPageHelpers }): Router<State, Extras> {
  const { page, cookies, audit } = services;
  const { knownBrowsers } = services.mfa;
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: HERE });

  router.get('/', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const here = await knownBrowsers.recognize(cookies.get(ctx, 'knownBrowser'), account.id);
    const browsers = await knownBrowsers.list(account.id);
    ctx.render('account/browsers', {
      notice: page.takeNotice(ctx),
      browsers: browsers.map(({ userAgent, ...browser }) => ({
        ...browser,
        name: browserName(userAgent) ?? t('browsers.unknown'),
        isHere: browser.id === here?.id,
      })),
    });
  });

  router.post('/forget', signedIn.requireSignIn, checkChange, async (ctx) => {
    const { id } = await parseForm(ctx, forgetForm);
    await forget(ctx, id);
    page.redirectWithNotice(ctx, HERE, t('browsers.forgotten'));
  });

  router.post('/forget-all', signedIn.requireSignIn, checkChange, async (ctx) => {
    await forget(ctx);
    page.redirectWithNotice(ctx, HERE, t('browsers.all-forgotten'));
  });

  async function forget(ctx: Context, id?: string): Promise<void> {
    const { account } = signedIn.userOf(ctx);
    const count = await knownBrowsers.forget(account.id, id);
    if (count === 0) return;
    const about = { subjectId: account.id, data: { count }, ...page.actorOf(ctx) };
    await audit.record({ type: 'browser.forgotten', outcome: 'success', ...about });
  }

  return router;
}
