// The applications that a user can open, and why.
import { accessDecision, grantingRoles } from '../../../applications/access-decision.ts';
import type { Application } from '../../../applications/application.ts';
import type { Actor } from '../../../audit/audit.ts';
import { t } from '../../../texts/text.ts';
import { isServiceAccount } from '../../applications/console-list.ts';
import { protocolName } from '../../applications/console-parts.ts';
import type { Block, Cell, Empty } from '../../console/blocks.ts';
import type { UserDetails } from '../actions.ts';
import { nameOf, type UserTabsDependencies } from './tab-page.ts';

type Account = UserDetails['account'];
const MOST = 100;

/** One query, whatever the number of applications. */
export async function accessBlock({ applications }: UserTabsDependencies, account: Account, by: Actor): Promise<Block> {
  const read = await applications.openTo(account, MOST + 1, by);
  const open = read.slice(0, MOST).filter((one) => !isServiceAccount(one) && accessDecision(one, account).allowed);
  return {
    kind: 'table',
    title: t('console.users.access.title'),
    lead: t('console.users.access.lead'),
    caption: t('console.users.access.caption', { user: nameOf(account) }),
    columns: [
      t('console.users.access.application'),
      { label: t('console.users.access.protocol'), isShort: true, isMinor: true },
      t('console.users.access.why'),
    ],
    rows: open.map((one) => [
      { text: one.name, href: `/admin/applications/${one.id}`, logo: { name: one.name } },
      protocolName[one.protocol],
      reasonCell(one, account),
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
