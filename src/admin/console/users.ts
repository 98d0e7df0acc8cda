// /admin/users: the list, and one person with everything that can be done for them.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../http/context.ts';
import { parseQuery } from '../../http/input.ts';
import { browserName } from '../../mail/browser-name.ts';
import type { OwnPermission } from '../../rbac/built-in.ts';
import type { SessionAdmin } from '../sessions.ts';
import type { UserAdmin, UserDetails } from '../users.ts';
import type { Action, Block } from './blocks.ts';
import { type Frame, listPath, listQuery } from './frame.ts';

export interface UserPagesNeeds {
  frame: Frame;
  users: UserAdmin;
  sessions: Pick<SessionAdmin, 'ofUser'>;
}

const READ = 'gatehouse.users:read' as const;
const WRITE = 'gatehouse.users:write' as const;
const query = listQuery.extend({
  state: z.enum(['', 'active', 'disabled']).default(''),
  role: z.string().max(100).default(''),
});

interface Deed {
  path: string;
  label: string;
  needs: OwnPermission;
  /** Asked on a page of its own, behind a recent sign-in; without it one button does. */
  consequence?: string;
  isOffered(details: UserDetails): boolean;
  act(ctx: Context, id: string): Promise<string>;
}

export function userRoutes({ frame, users, sessions }: UserPagesNeeds): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/users' });

  const deeds: Deed[] = [
    {
      ...{
        path: 'unlock',
        label: 'Unlock',
        needs: 'gatehouse.users:unlock',
        isOffered: ({ lockedSeconds }) => lockedSeconds > 0,
      },
      act: async (ctx, id) => {
        await users.unlock(id, frame.by(ctx));
        return 'They may try again.';
      },
    },
    {
      ...{
        path: 'invite',
        label: 'Send an invitation',
        needs: WRITE,
        isOffered: ({ password, account }) => !password && Boolean(account.email),
      },
      act: async (ctx, id) => {
        await users.invite(id, frame.by(ctx));
        return 'The invitation is on its way.';
      },
    },
    {
      ...{
        path: 'send-reset',
        label: 'Send a link for a new password',
        needs: 'gatehouse.users:reset-password',
        isOffered: ({ account }) => Boolean(account.email),
      },
      act: async (ctx, id) => {
        await users.sendPasswordReset(id, frame.by(ctx));
        return 'The link is on its way.';
      },
    },
    {
      ...{
        path: 'force-change',
        label: 'Force a new password',
        needs: WRITE,
        isOffered: ({ password }) => password?.mustChange === false,
      },
      consequence: 'Every session ends, and at the next sign-in they have to choose another password.',
      act: async (ctx, id) => {
        await users.forcePasswordChange(id, frame.by(ctx));
        return 'They have to choose a new password at the next sign-in.';
      },
    },
    {
      ...{ path: 'enable', label: 'Enable', needs: WRITE, isOffered: ({ account }) => !account.isActive },
      act: async (ctx, id) => {
        await users.setActive(id, true, frame.by(ctx));
        return 'The account is enabled.';
      },
    },
    {
      ...{ path: 'reset-factors', label: 'Reset second factors', needs: 'gatehouse.users:reset-factors' },
      consequence:
        'Every second factor, passkey and recovery code is removed, and every session ends. Be sure who asked you.',
      isOffered: ({ factors }) => factors.totp || factors.passkeys > 0 || factors.phone !== undefined,
      act: async (ctx, id) => {
        await users.resetFactors(id, frame.by(ctx));
        return 'The second factors are removed.';
      },
    },
    {
      ...{ path: 'end-sessions', label: 'Sign out everywhere', needs: 'gatehouse.sessions:end', isOffered: () => true },
      consequence: 'Every session of this person ends, and the applications are told.',
      act: async (ctx, id) => `${await users.endSessions(id, frame.by(ctx))} sessions ended.`,
    },
    {
      ...{ path: 'disable', label: 'Disable', needs: WRITE, isOffered: ({ account }) => account.isActive },
      consequence: 'Nobody can sign in with it any more, and every session ends now.',
      act: async (ctx, id) => {
        await users.setActive(id, false, frame.by(ctx));
        return 'The account is disabled.';
      },
    },
    {
      ...{ path: 'delete', label: 'Delete', needs: WRITE, isOffered: ({ account }) => account.source !== 'file' },
      consequence: 'The account is gone for good. Its identifier is never given to another person.',
      act: async (ctx, id) => {
        await users.remove(id, frame.by(ctx));
        return 'The account was deleted.';
      },
    },
  ];

  router.get('/', ...frame.page(READ), async (ctx) => {
    const { q, after, state, role } = parseQuery(ctx, query);
    const page = await users.list({
      search: q,
      after,
      ...(state && { isActive: state === 'active' }),
      ...(role && { role }),
      limit: 50,
    });
    frame.show(ctx, {
      title: 'Users',
      actions: frame.may(ctx, WRITE)
        ? [
            { label: 'New user', href: '/admin/users/new', look: 'primary' },
            { label: 'Import', href: '/admin/import' },
          ]
        : [],
      blocks: [
        {
          kind: 'search',
          action: '/admin/users',
          fields: [
            { name: 'q', label: 'Name or e-mail', type: 'search', value: q },
            { name: 'role', label: 'Role', value: role },
            {
              name: 'state',
              label: 'State',
              type: 'select',
              value: state,
              options: [
                { value: '', label: 'All' },
                { value: 'active', label: 'Active' },
                { value: 'disabled', label: 'Disabled' },
              ],
            },
          ],
        },
        {
          kind: 'table',
          caption: 'Users, the newest first',
          columns: ['User', 'E-mail', 'Roles', 'State'],
          rows: page.accounts.map((one) => [
            { text: one.username, href: `/admin/users/${one.id}`, small: one.name ?? undefined },
            one.email,
            one.roles.map((text) => ({ text, tone: 'plain' as const })),
            one.isActive ? { text: 'active', tone: 'good' } : { text: 'disabled', tone: 'bad' },
          ]),
          empty: 'Nobody is called that.',
          next: page.next && listPath('/admin/users', { q, state, role, after: page.next }),
        },
      ],
    });
  });

  router.get('/:id', ...frame.page(READ), async (ctx) => {
    const { id = '' } = ctx.params;
    const details = await users.get(id);
    const { account } = details;
    const at = `/admin/users/${id}`;
    const offered = deeds.filter((deed) => frame.may(ctx, deed.needs) && deed.isOffered(details));
    const live = frame.may(ctx, 'gatehouse.sessions:read') ? await sessions.ofUser(id) : [];
    frame.show(ctx, {
      title: account.name ?? account.username,
      back: { href: '/admin/users', label: 'Users' },
      tags: [
        account.isActive ? { text: 'active', tone: 'good' } : { text: 'disabled', tone: 'bad' },
        ...(details.lockedSeconds > 0 ? [{ text: 'locked', tone: 'warn' as const }] : []),
        ...(account.source === 'file' ? [{ text: 'owned by the configuration file' }] : []),
      ],
      actions: [
        { label: 'Why?', href: `/admin/why?${new URLSearchParams({ user: account.username })}` },
        ...(frame.may(ctx, WRITE) && account.source !== 'file'
          ? [{ label: 'Edit', href: `${at}/edit`, look: 'primary' as const }]
          : []),
      ],
      blocks: [
        factsOf(details),
        ...(offered.length > 0 || frame.may(ctx, WRITE)
          ? [
              {
                kind: 'actions' as const,
                title: 'Help them',
                items: [
                  ...(frame.may(ctx, WRITE) ? [{ label: 'Make a one-time password', href: `${at}/password` }] : []),
                  ...offered.map(
                    ({ path, label, consequence }): Action =>
                      consequence === undefined
                        ? { label, post: `${at}/${path}` }
                        : { label, href: `${at}/${path}`, look: 'danger' },
                  ),
                ],
              },
            ]
          : []),
        {
          kind: 'table',
          title: 'Signed in',
          caption: 'Sessions',
          columns: ['Since', 'Browser', 'Applications'],
          rows: live.map(({ signedInAt, device, participants }) => [
            signedInAt,
            device ? { text: browserName(device.userAgent) ?? 'Unknown browser', small: device.address } : null,
            participants.map(({ clientId }) => clientId),
          ]),
          empty: 'Nowhere.',
        },
      ],
    });
  });

  for (const { path, label, needs, consequence, act } of deeds) {
    const done = async (ctx: Context & { params: { id?: string } }) => {
      const { id = '' } = ctx.params;
      const sentence = await act(ctx, id);
      frame.back(ctx, path === 'delete' ? '/admin/users' : `/admin/users/${id}`, sentence);
    };
    if (consequence === undefined) {
      router.post(`/:id/${path}`, ...frame.change(needs), (ctx) => done(ctx));
      continue;
    }
    router.get(`/:id/${path}`, ...frame.danger(needs), async (ctx) => {
      const { account } = await users.get(ctx.params.id ?? '');
      const at = `/admin/users/${account.id}`;
      frame.show(ctx, {
        title: `${label}: ${account.username}?`,
        back: { href: at, label: account.username },
        blocks: [
          {
            kind: 'form',
            lead: consequence,
            action: `${at}/${path}`,
            fields: [],
            button: label,
            look: 'danger',
            cancel: at,
          },
        ],
      });
    });
    router.post(`/:id/${path}`, ...frame.danger(needs), (ctx) => done(ctx));
  }

  return router;
}

function factsOf({ account, password, factors }: UserDetails): Block {
  const second = [
    factors.totp && 'authenticator app',
    factors.passkeys > 0 && `${factors.passkeys} passkeys`,
    factors.phone && 'codes by SMS',
  ].filter((one): one is string => typeof one === 'string');
  return {
    kind: 'facts',
    rows: [
      { label: 'User name', value: account.username },
      {
        label: 'E-mail',
        value: account.email
          ? { text: account.email, small: account.emailVerified ? 'confirmed' : 'not confirmed' }
          : null,
      },
      { label: 'Roles', value: account.roles.map((text) => ({ text, tone: 'plain' as const })) },
      {
        label: 'Password',
        value: password ? (password.mustChange ? 'must be changed' : password.changedAt) : 'none yet',
      },
      { label: 'Second factors', value: second.length > 0 ? second : 'none' },
      { label: 'Identifier (sub)', value: { text: account.id, code: true } },
      { label: 'Since', value: account.createdAt },
    ],
  };
}
