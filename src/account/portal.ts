// /dashboard, the portal: the applications that the user may open, and warnings about the account.

import Router from '@koa/router';
import { z } from 'zod';
import { accessDecisionFilter } from '../applications/access-decision.ts';
import { registrationOf } from '../applications/application.ts';
import type { ApplicationServices } from '../applications/application-services.ts';
import { withoutGroupToChoose } from '../applications/groups-to-choose.ts';
import { startUrl } from '../applications/start-url.ts';
import type { Base } from '../base/base.ts';
import type { Extras, State } from '../base/http/context.ts';
import { parseQuery } from '../base/http/input.ts';
import { inLanguage, type PageText, t } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import type { Account } from '../people/accounts/account.ts';
import type { People } from '../people/people.ts';
import { ADMIN_ROLE } from '../people/rbac/built-in.ts';
import type { SessionServices } from '../protocols/logout/session-services.ts';
import { applicationsIn } from '../protocols/oidc/store/sessions/sessions.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';
import { recoveryCodeWarning } from './overview-routes.ts';

interface Notice {
  text: PageText;
  href: string;
  label: PageText;
}

/** So many are listed; the search finds the others. */
const MAX_REQUESTABLE = 50;
const query = z.object({ q: z.string().max(100).default('') });

/** Whether an empty portal links to the console. */
const mayAddApplications = ({ roles, permissions }: Account) =>
  roles.includes(ADMIN_ROLE) || permissions.includes('gatehouse.applications:write');

export function portalRoutes(
  dependencies: Base & People & SessionServices & { page: AccountPageHelpers; portal: Portal },
): Router<State, Extras> {
  const { page, portal, sessions, credentials, groupRequests } = dependencies;
  const { factors } = dependencies.mfa;
  const { signedIn } = page;
  const router = new Router<State, Extras>();

  router.get('/dashboard', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const { q } = parseQuery(ctx, query);
    const inSession = new Set((await sessions.list(account.id)).flatMap(applicationsIn));
    const open = await portal.openTo(account);
    const tiles = await portal.tiles(account, { search: q, open, inSession, language: ctx.state.language() });
    ctx.render('account/portal', {
      account,
      mayAddApplications: mayAddApplications(account),
      search: q,
      tiles,
      notices: await noticesFor(account),
      ...(await requestableApplications(account, q, open)),
    });
  });

  /** Applications that the account may not open, but whose groups it can ask to join. */
  async function requestableApplications(account: Account, search: string, open: readonly { id: string }[]) {
    const except = new Set(open.map(({ id }) => id));
    const found = await groupRequests.askable(account.id, { except, search, limit: MAX_REQUESTABLE + 1 });
    return { closed: found.slice(0, MAX_REQUESTABLE), moreClosed: found.length > MAX_REQUESTABLE };
  }

  async function noticesFor({ id, email, emailVerified }: Account): Promise<Notice[]> {
    const accountFactors = await factors.of(id);
    const status = await credentials.status(id);
    const codeWarning = recoveryCodeWarning(accountFactors);
    return [
      ...(codeWarning ? [{ text: codeWarning, href: '/account/factors', label: t('recovery-codes.create') }] : []),
      ...(status?.mustChange
        ? [{ text: t('portal.must-change'), href: '/account/password', label: t('change-password.submit') }]
        : []),
      ...(email && !emailVerified
        ? [{ text: t('portal.unconfirmed'), href: '/account', label: t('verify-email.confirm-submit') }]
        : []),
    ];
  }

  return router;
}

// The applications that a user can open from the portal, in the order of their last use.

interface OpenApplication {
  id: string;
  clientId: string;
  name: string;
  protocol: string;
}

interface Tile {
  name: PageText;
  url: string;
  logo: string | undefined;
  /** Its logo stands in for a missing picture. */
  product: string | undefined;
  isRecent: boolean;
}

type Portal = ReturnType<typeof createPortal>;

const MAX_TILES = 500;
const RECENT_DAYS = 30;
const RECENT_EVENTS = 200;

export function createPortal(
  dependencies: Core &
    ApplicationServices & {
      /** The name of a SAML application in the language of the page. */
      titleOf(row: { id: string; clientId: string; name: string; updatedAt: Date; metadata: string }): PageText;
    },
) {
  const { db, audit, now, pictures, titleOf } = dependencies;
  const { issuer } = dependencies.config;

  /** Client ids of the applications that the user used lately, the most recent one first. */
  async function recentClientIds(userId: string): Promise<string[]> {
    const events = await audit.list({
      types: ['sign-in.completed', 'saml.response', 'authorization.granted'],
      outcome: 'success',
      subjectId: userId,
      limit: RECENT_EVENTS,
      from: new Date(now().getTime() - RECENT_DAYS * 24 * 3600 * 1000),
    });
    return [...new Set(events.flatMap(({ clientId }) => clientId ?? []))];
  }

  /** The names in the language of the page, of SAML applications. */
  async function titlesOf(allowed: readonly { id: string; protocol: string }[]): Promise<Map<string, PageText>> {
    const ids = allowed.filter(({ protocol }) => protocol === 'saml').map(({ id }) => id);
    const rows = ids.length > 0 ? await db.asStored.application.findMany({ where: { id: { in: ids } } }) : [];
    return new Map(rows.map((row) => [row.id, titleOf(row)]));
  }

  return {
    /** The applications that the account can sign in to, by name. They are read as stored, which is fast for thousands. */
    async openTo(account: Account) {
      const allowed = await db.asStored.application.findMany({
        where: accessDecisionFilter(account),
        select: { id: true, clientId: true, name: true, protocol: true },
        orderBy: [{ nameKey: 'asc' }, { id: 'asc' }],
      });
      const shut = new Set(await withoutGroupToChoose(account, db));
      return allowed.filter(({ id }) => !shut.has(id));
    },

    /** Applications used lately or in a live session come first, the most recent one first; then the others by name. */
    async tiles(
      account: Account,
      given: { search: string; open: readonly OpenApplication[]; inSession: ReadonlySet<string>; language: string },
    ): Promise<Tile[]> {
      const { search, open, inSession, language } = given;
      const textOf = (text: PageText) => inLanguage(language, () => String(text));
      // A test sign-in of an administrator puts an application into the session without using it.
      const used = await recentClientIds(account.id);
      const recent = [...new Set([...used, ...inSession])];
      const rank = (clientId: string) => (recent.includes(clientId) ? recent.indexOf(clientId) : recent.length);
      const titles = search ? await titlesOf(open) : new Map<string, PageText>();
      const wanted = fold(search);
      const found = open
        .filter(({ id, name }) => [name, titles.get(id) ?? ''].some((one) => fold(textOf(one)).includes(wanted)))
        .sort((a, b) => rank(a.clientId) - rank(b.clientId))
        .slice(0, MAX_TILES);
      const ids = found.map(({ id }) => id);
      // A tile shows only rows with a valid MAC.
      const rows = await db.application.findMany({ where: { id: { in: ids } } });
      const logos = await pictures.addressesOf(ids);
      return found.flatMap(({ id, clientId, name }) => {
        const row = rows.find((one) => one.id === id);
        if (!row) return [];
        const registration = registrationOf(row);
        const url = startUrl(clientId, registration, issuer);
        if (!url) return [];
        const title = row.protocol === 'saml' ? titleOf(row) : name;
        return [
          {
            name: title,
            url,
            logo: logos.get(id),
            product: registration.metadata.preset,
            isRecent: used.includes(clientId),
          },
        ];
      });
    },
  };
}

function fold(text: string): string {
  return text.normalize('NFKC').toLowerCase();
}
