// /admin/users: the list, and one user with everything that can be done for them.
import Router from '@koa/router';
import type { Accounts } from '../../accounts/accounts.ts';
import type { AttributeSchema } from '../../accounts/attributes.ts';
import { addressPartNames, addressParts, textFieldNames, textFields } from '../../accounts/profile-fields.ts';
import type { Actor, Audit } from '../../audit/audit.ts';
import type { Extras, State } from '../../http/context.ts';
import { browserName } from '../../mail/browser-name.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Authority } from '../../rbac/authority.ts';
import type { OwnPermission } from '../../rbac/built-in.ts';
import { within } from '../../rbac/rights.ts';
import { type PageText, t } from '../../texts/text.ts';
import { visibleTo } from '../audit/api.ts';
import { eventItems } from '../audit/console-rows.ts';
import type { Action, Block, Cell, Mark } from '../console/blocks.ts';
import { type Frame, listPath } from '../console/frame.ts';
import { FILE_TAG, fileNotice } from '../console/managed-by-file.ts';
import { applicationCell, type Names } from '../console/names.ts';
import type { RoleAdmin } from '../roles/actions.ts';
import type { SessionAdmin } from '../sessions/actions.ts';
import type { UserAdmin, UserDetails } from './actions.ts';
import { attributeWords } from './attribute-fields.ts';
import { type UserAction, userActionPages, userActions } from './console-actions.ts';
import { bulkPages } from './console-bulk.ts';
import { userFormPages } from './console-forms.ts';
import { statusTag, userList } from './console-list.ts';
import { oneTimePasswordPages } from './console-password.ts';
import { type DisabledBy, disabledBy } from './disabled-by.ts';

export interface UserPagesDependencies {
  frame: Frame;
  users: UserAdmin;
  roles: Pick<RoleAdmin, 'assignable' | 'choices'>;
  issuer: string;
  attributeSchema(): Promise<AttributeSchema>;
  /** The path of the configuration file. */
  configFile: string | undefined;
  /** Without one, mail becomes files that nobody receives. */
  hasMailServer: boolean;
  /** The accounts that are locked now. */
  lockedAccounts(): Promise<{ id: string }[]>;
  sessions: Pick<SessionAdmin, 'ofUser'>;
  now: Clock;
  names: Names;
  accounts: Pick<Accounts, 'find'>;
  audit: Pick<Audit, 'list'>;
  authority: Pick<Authority, 'extent'>;
}

const READ = 'gatehouse.users:read' as const;
const WRITE = 'gatehouse.users:write' as const;
const RECENT_EVENTS = 10;
const END = 'gatehouse.sessions:end' as const;
/** All pages below /admin/users. */
export function userRoutes(dependencies: UserPagesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/users' });
  // `/new` and `/bulk` first: they would match `/:id`.
  bulkPages(router, dependencies);
  userFormPages(router, dependencies);
  userList(router, dependencies);
  userPage(router, dependencies);
  oneTimePasswordPages(router, dependencies);
  userActionPages(router, dependencies);
  return router;
}

function userPage(router: Router<State, Extras>, dependencies: UserPagesDependencies): void {
  const { frame, users, sessions } = dependencies;
  router.get('/:id', ...frame.page(within(READ)), async (ctx) => {
    const { id = '' } = ctx.params;
    const details = await users.get(id, frame.actor(ctx));
    const { account } = details;
    const at = `/admin/users/${id}`;
    const may = (permission: OwnPermission) => frame.may(ctx, permission, { roles: account.roles });
    // To end sessions takes the permission only; every other action depends on the roles of the user.
    const mayDo = async (permission: OwnPermission) =>
      may(permission) && (permission === END || (await users.mayChange(id, frame.actor(ctx), [permission])));
    const mayWrite = await mayDo(WRITE);
    const offered: UserAction[] = [];
    for (const action of userActions) {
      const label = dependencies.hasMailServer ? action.label : (action.fileLabel ?? action.label);
      if (action.isOffered(details) && (await mayDo(action.needs))) offered.push({ ...action, label });
    }
    const disabled = may('gatehouse.audit:read') ? await disabledBy(dependencies, account) : undefined;
    const live = may('gatehouse.sessions:read') ? await sessions.ofUser(id, frame.actor(ctx)) : [];
    const { actions, danger } = actionsBlocks(at, offered, mayWrite);
    frame.show(ctx, {
      title: account.name ?? account.username,
      ...(account.name && { lead: account.username }),
      logo: { name: account.name ?? account.username, isPerson: true },
      back: { href: '/admin/users', label: t('console.navigation.users') },
      tags: tagsOf(details),
      actions: [
        {
          label: t('console.navigation.access-check'),
          href: `/admin/why?${new URLSearchParams({ user: account.username })}`,
        },
        ...(mayWrite && account.source !== 'file'
          ? [{ label: t('console.shared.edit'), href: `${at}/edit`, look: 'primary' as const }]
          : []),
      ],
      blocks: [
        ...(account.source === 'file' ? [fileNotice(dependencies.configFile, 'user')] : []),
        detailsBlock(details, disabled),
        ...actions,
        await sessionsBlock(dependencies, live),
        ...danger,
      ],
      aside: may('gatehouse.audit:read') ? [await activityBlock(dependencies, account, frame.actor(ctx))] : [],
    });
  });
}

/** The last events of the user, and about the user. */
async function activityBlock(
  { audit, authority, names }: UserPagesDependencies,
  { id, username }: UserDetails['account'],
  by: Actor,
): Promise<Block> {
  const events = await audit.list({ partyId: id, ...(await visibleTo(authority, by)), limit: RECENT_EVENTS });
  return {
    kind: 'events',
    title: t('console.users.activity'),
    caption: t('console.users.activity.caption'),
    actions: [{ label: t('console.navigation.activity-log'), href: listPath('/admin/audit', { user: username }) }],
    items: await eventItems(events, names),
    empty: t('console.users.activity.none'),
  };
}

function tagsOf({ account, lockedSeconds }: UserDetails): (Mark & { icon?: string })[] {
  return [statusTag(account, lockedSeconds > 0), ...(account.source === 'file' ? [FILE_TAG] : [])];
}

/** What can be done: buttons at once, and what has a consequence in the danger zone. No block when there is nothing. */
function actionsBlocks(
  at: string,
  offered: readonly UserAction[],
  mayWrite: boolean,
): { actions: Block[]; danger: Block[] } {
  const items: Action[] = [
    ...(mayWrite ? [{ label: t('console.users.temporary'), href: `${at}/password` }] : []),
    ...offered.flatMap(({ path, label, consequence, isHarmless }): Action[] => {
      if (consequence === undefined) return [{ label, post: `${at}/${path}` }];
      return isHarmless ? [{ label, href: `${at}/${path}` }] : [];
    }),
  ];
  const rows = offered.flatMap(({ path, label, consequence, isHarmless }) =>
    consequence === undefined || isHarmless
      ? []
      : [{ text: consequence, action: { label, href: `${at}/${path}`, look: 'danger' as const } }],
  );
  return {
    actions: items.length > 0 ? [{ kind: 'actions', title: t('console.users.actions'), items }] : [],
    danger: rows.length > 0 ? [{ kind: 'tasks', title: t('console.shared.danger-zone'), isDanger: true, rows }] : [],
  };
}

async function sessionsBlock(
  { names }: Pick<UserPagesDependencies, 'names'>,
  live: Awaited<ReturnType<SessionAdmin['ofUser']>>,
): Promise<Block> {
  const found = await names.applications(
    live.flatMap(({ participants }) => participants.map(({ clientId }) => clientId)),
  );
  return {
    kind: 'table',
    title: t('console.navigation.sessions'),
    caption: t('console.users.sessions.caption'),
    columns: [t('console.users.sessions.since'), t('console.users.sessions.browser'), t('console.person.applications')],
    rows: live.map(({ signedInAt, device, participants }) => [
      signedInAt,
      device
        ? { text: browserName(device.userAgent) ?? t('console.person.unknown-browser'), small: device.address }
        : null,
      participants.map(({ clientId }) => applicationCell(clientId, found)),
    ]),
    empty: t('console.users.sessions.none'),
  };
}

function detailsBlock(
  { account, password, factors, firstEnrolment }: UserDetails,
  disabled: DisabledBy | undefined,
): Block {
  const second = [
    ...(factors.totp ? [t('console.users.factor.app')] : []),
    ...(factors.passkeys > 0 ? [t('console.users.factor.passkeys', { count: factors.passkeys })] : []),
    ...(factors.phone ? [t('console.users.factor.sms')] : []),
  ];
  const waiting: { label: PageText; value: Cell }[] = firstEnrolment.requestedAt
    ? [
        {
          label: t('console.users.factors.setup'),
          value: { text: t('console.users.factors.needs-approval'), tone: 'warn' },
        },
      ]
    : [];
  return {
    kind: 'facts',
    rows: [
      { label: t('console.users.username'), value: account.username },
      {
        label: t('console.shared.email'),
        value: account.email
          ? {
              text: account.email,
              small: account.emailVerified ? t('console.users.verified') : t('console.users.not-verified'),
            }
          : null,
      },
      ...textFieldNames.flatMap((field) => {
        const value = account[field];
        return value ? [{ label: textFields[field].label, value }] : [];
      }),
      ...(account.phoneNumber
        ? [
            {
              label: t('console.users.phone'),
              value: {
                text: account.phoneNumber,
                small: account.phoneNumberVerified ? t('console.users.verified') : t('console.users.not-verified'),
              },
            },
          ]
        : []),
      ...addressPartNames.flatMap((part) => {
        const value = account.address?.[part];
        return value ? [{ label: addressParts[part].label, value }] : [];
      }),
      ...Object.entries(account.attributes).map(([label, value]) => ({ label, value: attributeWords(value) })),
      { label: t('console.users.roles'), value: account.roles.map((text) => ({ text, tone: 'plain' as const })) },
      {
        label: password?.mustChange === false ? t('console.users.password.changed') : t('console.users.password'),
        value: password
          ? password.mustChange
            ? t('console.users.password.must-change')
            : password.changedAt
          : t('console.users.password.not-set'),
      },
      { label: t('console.users.factors'), value: second.length > 0 ? second : t('console.users.factors.none') },
      ...waiting,
      ...(disabled
        ? [
            {
              label: t('console.users.disabled'),
              value: [disabled.at, ...(disabled.by ? [t('console.users.disabled.by', { user: disabled.by })] : [])],
            },
          ]
        : []),
      { label: t('console.users.sub'), value: { text: account.id, copy: t('console.users.sub.copy') } },
      { label: t('console.users.created'), value: account.createdAt },
    ],
  };
}
