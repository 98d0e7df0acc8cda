// The page of one user: its tabs, each at an address of its own.

import type Router from '@koa/router';
import { z } from 'zod';
import { accessDecision, grantingRoles } from '../../../applications/access-decision.ts';
import type { Application } from '../../../applications/application.ts';
import type { Context, Extras, State } from '../../../base/http/context.ts';
import { parseQuery } from '../../../base/http/input.ts';
import { t } from '../../../base/texts/text.ts';
import type { Actor } from '../../../core/audit/audit.ts';
import { within } from '../../../people/rbac/rights.ts';
import { isServiceAccount, protocolName } from '../../applications/console-parts.ts';
import { visibleTo } from '../../audit/api.ts';
import { eventPageQuery, orderLink, readEventPage } from '../../audit/console-rows.ts';
import type { Block, Cell, Empty } from '../../console/blocks.ts';
import { tableOf } from '../../console/lists.ts';
import type { ConsoleServices } from '../../console-services.ts';
import { deliveryCell } from '../../mail/states.ts';
import { applicationsOf, deviceCell, endCell } from '../../sessions/console.ts';
import type { SessionView } from '../../sessions/sessions.ts';
import type { UserDetails } from '../actions.ts';
import type { UserTab } from '../console-actions.ts';
import { disabledBy } from '../disabled-by.ts';
import { profileFacts, securityFacts } from './facts.ts';
import { isOpenTab, nameOf, type OpenUser, openUser, tabPath, userTabPage } from './tab-page.ts';

const READ = 'gatehouse.users:read' as const;
const activityQuery = z.object(eventPageQuery);
type Blocks = (ctx: Context, user: OpenUser, services: ConsoleServices) => Promise<readonly Block[]>;

const blocksOf: Readonly<Record<UserTab, Blocks>> = {
  '': async (ctx, { details, may }, services) => {
    const disabled = may('gatehouse.audit:read') ? await disabledBy(services, details.account) : undefined;
    const invitation = await deliveryOf(services, details.account.id, 'invitation');
    return [profileFacts(details, { disabled, invitation, language: services.frame.language(ctx) })];
  },

  access: async (ctx, { details: { account } }, services) => [
    await accessBlock(services, account, services.frame.actor(ctx)),
  ],

  security: async (_ctx, { details }, services) => [
    securityFacts(details, await deliveryOf(services, details.account.id, 'password-reset')),
  ],

  sessions: async (ctx, { details: { account } }, services) => {
    const live = await services.admin.sessions.ofUser(account.id, services.frame.actor(ctx));
    const mayEnd = services.frame.meets(ctx, within('gatehouse.sessions:end'));
    return [await sessionsBlock(services, live, mayEnd)];
  },

  activity: async (ctx, user, services) => [await activityBlock(ctx, user, services)],
};

/** The routes of every tab, below /admin/users/:id. */
export function userTabs(router: Router<State, Extras>, services: ConsoleServices): void {
  const { frame } = services;
  for (const tab of Object.keys(blocksOf) as UserTab[])
    router.get(tabPath('/:id', tab), ...frame.page(within(READ)), async (ctx) => {
      const user = await openUser(ctx, services);
      const blocks = isOpenTab(user, tab) ? await blocksOf[tab](ctx, user, services) : [noPermission];
      frame.show(ctx, userTabPage(user, tab, blocks, services));
    });
}

/** What became of the last email of this kind. */
async function deliveryOf(
  { admin: { mail }, config: { hasMailServer } }: ConsoleServices,
  userId: string,
  kind: 'invitation' | 'password-reset',
): Promise<Cell | undefined> {
  const last = await mail.lastTo(userId, kind);
  return last && deliveryCell(last, hasMailServer);
}

const noPermission: Block = { kind: 'text', text: t('console.users.tab.no-permission') };

async function sessionsBlock(
  { names }: ConsoleServices,
  live: readonly SessionView[],
  mayEnd: boolean,
): Promise<Block> {
  return {
    kind: 'table',
    caption: t('console.users.sessions.caption'),
    ...tableOf(live, [
      [t('console.users.sessions.browser'), deviceCell],
      [t('console.person.applications'), await applicationsOf(live, names)],
      [{ label: t('console.users.sessions.since'), isShort: true }, ({ signedInAt }) => signedInAt],
      [{ label: t('console.sessions.column.last-used'), isShort: true }, ({ device }) => device?.lastSeenAt],
      mayEnd && [t('console.shared.action'), (one) => endCell(one, one.username)],
    ]),
    empty: t('console.users.sessions.none'),
  };
}

/** The events of the user, and about the user. */
async function activityBlock(ctx: Context, { details, path }: OpenUser, services: ConsoleServices): Promise<Block> {
  const given = parseQuery(ctx, activityQuery);
  const list = { path: tabPath(path, 'activity'), filters: {} };
  const visible = await visibleTo(services.admin.authority, services.frame.actor(ctx));
  const { items, pages } = await readEventPage(services, { partyId: details.account.id, ...visible }, given, list);
  return {
    kind: 'events',
    title: t('console.users.activity.title'),
    caption: t('console.users.activity.caption', { order: given.sort === 'at' ? 'oldest' : 'newest' }),
    actions: items.length > 1 ? [orderLink(given, list)] : [],
    items,
    empty: t('console.users.activity.none'),
    pages,
  };
}

type Account = UserDetails['account'];
const MOST = 100;

/** One query, whatever the number of applications. */
async function accessBlock({ admin: { applications } }: ConsoleServices, account: Account, by: Actor): Promise<Block> {
  const read = await applications.openTo(account, MOST + 1, by);
  const open = read.slice(0, MOST).filter((one) => !isServiceAccount(one) && accessDecision(one, account).allowed);
  return {
    kind: 'table',
    title: t('console.users.access.title'),
    lead: t('console.users.access.lead'),
    caption: t('console.users.access.caption', { user: nameOf(account) }),
    ...tableOf(open, [
      [
        t('console.users.access.application'),
        ({ id, name }) => ({ text: name, href: `/admin/applications/${id}`, logo: { name } }),
      ],
      [
        { label: t('console.users.access.protocol'), isShort: true, isMinor: true },
        ({ protocol }) => protocolName[protocol],
      ],
      [t('console.users.access.why'), (one) => reasonCell(one, account)],
    ]),
    empty: nothingOpen(account),
    ...(read.length > MOST && { count: t('console.users.access.cut', { count: MOST }) }),
  };
}

function reasonCell({ access }: Application, account: Account): Cell {
  const roles = grantingRoles(access, account);
  if (roles.length === 0) return t('console.users.access.everyone');
  return [
    t('console.users.access.roles', { count: roles.length }),
    ...roles.map((text) => ({ text, tone: 'plain' as const })),
  ];
}

function nothingOpen(account: Account): Empty {
  return {
    icon: 'layout-grid',
    title: t('console.users.access.none'),
    text: account.isActive
      ? t('console.users.access.none-text', { user: nameOf(account) })
      : t('console.users.access.disabled', { user: nameOf(account) }),
  };
}
