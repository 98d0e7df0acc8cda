// The frame of a user's tabs: name and state, the tabs that the administrator may open, and what the administrator may do.

import type { Context } from '../../../base/http/context.ts';
import { type PageText, sentences, type Text, t } from '../../../base/texts/text.ts';
import type { Account } from '../../../people/accounts/account.ts';
import type { OwnPermission } from '../../../people/rbac/built-in.ts';
import { within } from '../../../people/rbac/rights.ts';
import type { Action, Block, ConsolePage } from '../../console/blocks.ts';
import { dangerZone } from '../../console/danger-zone.ts';
import { FILE_TAG, fileNotice } from '../../console/managed-by-file.ts';
import { missingSentence } from '../../console/permission-words.ts';
import { ACCESS_CHECK_NEEDS } from '../../console/suggest.ts';
import type { ConsoleServices } from '../../console-services.ts';
import type { UserDetails } from '../actions.ts';
import { type UserAction, type UserTab, userActions } from '../console-actions.ts';
import { statusTag } from '../console-list.ts';

const WRITE = 'gatehouse.users:write' as const;
const END = 'gatehouse.sessions:end' as const;
/** Of the first second factor. */
const NEEDS_APPROVAL = { text: t('console.users.factors.needs-approval'), tone: 'warn' as const };

/** The last part of its address, its label, and whether the administrator may open it. */
const tabs: Readonly<Record<UserTab, { label: Text; isOpen(user: OpenUser): boolean }>> = {
  '': { label: t('console.users.tab.profile'), isOpen: () => true },
  access: { label: t('console.users.tab.access'), isOpen: ({ mayReadApplications }) => mayReadApplications },
  security: { label: t('console.users.tab.security'), isOpen: () => true },
  sessions: { label: t('console.navigation.sessions'), isOpen: ({ may }) => may('gatehouse.sessions:read') },
  activity: { label: t('console.users.activity'), isOpen: ({ may }) => may('gatehouse.audit:read') },
};

/** A user, and what the administrator may do with the account. */
export interface OpenUser {
  details: UserDetails;
  path: string;
  may(permission: OwnPermission): boolean;
  mayReadApplications: boolean;
  /** Whether the administrator may change the account. */
  mayWrite: boolean;
  /** What can be done now, with the label of the button. */
  offered: readonly UserAction[];
  mayCheckAccess: boolean;
  /** Why the administrator may not change this user, although the permission is there. */
  obstacle: PageText | undefined;
}

/** Throws not_found also for a user whom the administrator may not see. */
export async function openUser(
  ctx: Context & { params?: Record<string, string> },
  { frame, admin: { users }, config: { hasMailServer } }: ConsoleServices,
): Promise<OpenUser> {
  const { id = '' } = ctx.params ?? {};
  const by = frame.actor(ctx);
  const details = await users.get(id, by);
  const may: OpenUser['may'] = (permission) => frame.may(ctx, permission, { roles: details.account.roles });
  // To end sessions takes the permission only; every other action depends on the roles of the user.
  const mayDo = async (permission: OwnPermission) =>
    may(permission) && (permission === END || (await users.mayChange(id, by, [permission])));
  const offered: UserAction[] = [];
  for (const action of userActions) {
    const label = hasMailServer ? action.label : (action.file?.label ?? action.label);
    if (action.isOffered(details) && (await mayDo(action.needs))) offered.push({ ...action, label });
  }
  // Helping a user back in may be possible where a change is not.
  const obstacle = may(WRITE) ? (await users.check(id, by, [WRITE])).reason : undefined;
  const mayReadApplications = frame.meets(ctx, within('gatehouse.applications:read'));
  const mayWrite = await mayDo(WRITE);
  const mayCheckAccess = ACCESS_CHECK_NEEDS.every((need) => frame.meets(ctx, need));
  return { mayCheckAccess, details, path: `/admin/users/${id}`, may, mayReadApplications, mayWrite, offered, obstacle };
}

/** A page of the user, on one of the tabs. */
export function userTabPage(
  user: OpenUser,
  tab: UserTab,
  blocks: readonly Block[],
  { config: { configFile } }: ConsoleServices,
): ConsolePage {
  const { details, path, mayWrite, obstacle } = user;
  const { account, firstEnrolment, lockedSeconds } = details;
  const isFile = account.source === 'file';
  const edit = { label: t('console.shared.edit'), href: `${path}/edit`, look: 'primary' as const };
  const { danger, harmless } = actionBlocks(user, tab);
  return {
    title: nameOf(account),
    ...(account.name && { lead: account.username }),
    logo: { name: nameOf(account), isPerson: true },
    back: { href: '/admin/users', label: t('console.navigation.users') },
    tags: [
      statusTag(account, lockedSeconds > 0),
      ...(firstEnrolment.requestedAt ? [NEEDS_APPROVAL] : []),
      ...(isFile ? [FILE_TAG] : []),
    ],
    actions: [
      ...(user.mayCheckAccess
        ? [
            {
              label: t('console.navigation.access-check'),
              href: `/admin/access-check?${new URLSearchParams({ user: account.username })}`,
            },
          ]
        : []),
      ...(mayWrite && !isFile ? [edit] : []),
    ],
    tabs: (Object.keys(tabs) as UserTab[])
      .filter((one) => tabs[one].isOpen(user))
      .map((one) => ({ href: tabPath(path, one), label: tabs[one].label, isCurrent: one === tab })),
    blocks: [
      ...(isFile ? [fileNotice(configFile, 'user')] : []),
      ...(obstacle ? [{ kind: 'text' as const, tone: 'notice' as const, text: obstacle }] : []),
      ...blocks,
      ...harmless,
      ...danger,
      ...(harmless.length + danger.length === 0 && !obstacle && !isFile ? viewOnly(tab) : []),
    ],
  };
}

/** Why a tab with actions offers none: which permissions would. */
function viewOnly(tab: UserTab): Block[] {
  if (tab !== 'security') return [];
  const needs = [...new Set(userActions.flatMap((one) => (one.tab === tab ? one.needs : [])))];
  const text = sentences([t('console.users.view-only'), missingSentence([within(...needs)])]);
  return [{ kind: 'text', tone: 'small', text }];
}

/** A tab that the administrator may not open says so. */
export function isOpenTab(user: OpenUser, tab: UserTab): boolean {
  return tabs[tab].isOpen(user);
}

export const nameOf = ({ name, username }: Pick<Account, 'name' | 'username'>): string => name ?? username;

export const tabPath = (path: string, tab: UserTab): string => (tab === '' ? path : `${path}/${tab}`);

/** What can be done on this tab: buttons at once, and what has a consequence in the danger zone. No block when there is nothing. */
function actionBlocks({ path, offered, mayWrite }: OpenUser, tab: UserTab): { harmless: Block[]; danger: Block[] } {
  const here = offered.filter((one) => one.tab === tab);
  const items: Action[] = [
    ...(mayWrite && tab === 'security' ? [{ label: t('console.users.temporary'), href: `${path}/password` }] : []),
    ...here.flatMap(({ path: action, label, consequence, isHarmless }): Action[] => {
      if (consequence === undefined) return [{ label, post: `${path}/${action}` }];
      return isHarmless ? [{ label, href: `${path}/${action}` }] : [];
    }),
  ];
  const rows = here.flatMap(({ path: action, label, consequence, isHarmless }) =>
    consequence === undefined || isHarmless
      ? []
      : [{ text: consequence as PageText, action: { label, href: `${path}/${action}`, look: 'danger' as const } }],
  );
  return {
    harmless: items.length > 0 ? [{ kind: 'actions', title: t('console.users.actions'), items }] : [],
    danger: rows.length > 0 ? [dangerZone(rows)] : [],
  };
}
