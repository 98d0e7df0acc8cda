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
import { present } from '../base/platform/defined.ts';
import { withoutUnstorable } from '../base/storage/storable-text.ts';
import { inLanguage, type PageText, t } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import type { Account } from '../people/accounts/account.ts';
import { nameKey } from '../people/accounts/names.ts';
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
  async function requestableApplications(account: Account, search: string, open: object) {
    const found = await groupRequests.askable(account.id, { except: open, search, limit: MAX_REQUESTABLE + 1 });
    return { closed: found.slice(0, MAX_REQUESTABLE), moreClosed: found.length > MAX_REQUESTABLE };
  }

  async function noticesFor({ id, email, emailVerified }: Account): Promise<Notice[]> {
    const accountFactors = await factors.of(id);
    const status = await credentials.status(id);
    const codeWarning = recoveryCodeWarning(accountFactors);
    const isUnconfirmed = Boolean(email) && !emailVerified;
    return present([
      codeWarning !== undefined && { text: codeWarning, href: '/account/factors', label: t('recovery-codes.create') },
      status?.mustChange && {
        text: t('portal.must-change'),
        href: '/account/password',
        label: t('change-password.submit'),
      },
      isUnconfirmed && { text: t('portal.unconfirmed'), href: '/account', label: t('verify-email.confirm-submit') },
    ]);
  }

  return router;
}

// The applications that a user can open from the portal, in the order of their last use.

interface Tile {
  name: PageText;
  url: string;
  logo: string | undefined;
  /** Its logo stands in for a missing picture. */
  product: string | undefined;
  isRecent: boolean;
}

type Portal = ReturnType<typeof createPortal>;
type ApplicationRow = Awaited<ReturnType<Core['db']['application']['findMany']>>[number];

const MAX_TILES = 500;
/** Names and beginnings of SAML applications in the language of the page are looked for among so many. */
const MAX_TITLES = 500;
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

  const select = { id: true, clientId: true } as const;
  const orderBy = [{ nameKey: 'asc' as const }, { id: 'asc' as const }];

  /** The condition of those that match by name, or by a name in the language of the page. */
  async function matching(search: string, open: object, language: string): Promise<object> {
    const key = nameKey(withoutUnstorable(search));
    if (key === '') return open;
    const where = { AND: [open, { protocol: 'saml', metadata: { contains: '"metadata_xml":' } }] };
    const rows = await db.asStored.application.findMany({ where, orderBy, take: MAX_TITLES });
    const titled = rows.filter((row) => nameKey(inLanguage(language, () => String(titleOf(row)))).includes(key));
    return { AND: [open, { OR: [{ nameKey: { contains: key } }, { id: { in: titled.map(({ id }) => id) } }] }] };
  }

  /** The ids of the applications that meet the condition: the recent ones in their order, then the others by name. */
  async function idsInOrder(where: object, recent: string[]): Promise<string[]> {
    const { application } = db.asStored;
    const used = await application.findMany({ where: { AND: [where, { clientId: { in: recent } }] }, select });
    const byName = await application.findMany({ where, select, orderBy, take: MAX_TILES });
    const idOf = new Map(used.map(({ id, clientId }) => [clientId, id]));
    const first = present(recent.map((clientId) => idOf.get(clientId)));
    const ids = new Set([...first, ...byName.map(({ id }) => id)]);
    return [...ids].slice(0, MAX_TILES);
  }

  /** Undefined for an application without a page at which a sign-in begins. */
  function tileOf(row: ApplicationRow, logo: string | undefined, isRecent: boolean): Tile | undefined {
    const registration = registrationOf(row);
    const url = startUrl(row.clientId, registration, issuer);
    if (!url) return undefined;
    const name = row.protocol === 'saml' ? titleOf(row) : row.name;
    return { name, url, logo, product: registration.metadata.preset, isRecent };
  }

  return {
    /** The condition of the applications that the account can sign in to. */
    openTo: async (account: Account): Promise<object> => ({
      ...accessDecisionFilter(account),
      NOT: { id: { in: await withoutGroupToChoose(account, db) } },
    }),

    /** Applications used lately or in a live session come first, the most recent one first; then the others by name. */
    async tiles(
      account: Account,
      given: { search: string; open: object; inSession: ReadonlySet<string>; language: string },
    ): Promise<Tile[]> {
      const where = await matching(given.search, given.open, given.language);
      // A test sign-in of an administrator puts an application into the session without using it.
      const used = await recentClientIds(account.id);
      const ids = await idsInOrder(where, [...new Set([...used, ...given.inSession])].slice(0, MAX_TILES));
      // A tile shows only rows with a valid MAC.
      const rows = await db.application.findMany({ where: { id: { in: ids } } });
      const rowOf = new Map(rows.map((row) => [row.id, row]));
      const logos = await pictures.addressesOf(ids);
      const tiles = ids.map((id) => {
        const row = rowOf.get(id);
        return row && tileOf(row, logos.get(id), used.includes(row.clientId));
      });
      return present(tiles);
    },
  };
}
