// What an administrator can do for one user with a button: a table, from which the page of the user and the routes are made.
import type Router from '@koa/router';
import type { Actor } from '../../audit/audit.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { forbidden } from '../../http/errors.ts';
import type { OwnPermission } from '../../rbac/built-in.ts';
import { within } from '../../rbac/rights.ts';
import type { Frame } from '../console/frame.ts';
import type { UserAdmin, UserDetails } from './actions.ts';

const WRITE = 'gatehouse.users:write' as const;

export interface UserAction {
  /** Below /admin/users/:id. */
  path: string;
  label: string;
  needs: OwnPermission;
  /** The warning on a confirmation page, behind a recent sign-in. Absent: one button is enough. */
  consequence?: string;
  isOffered(details: UserDetails): boolean;
  /** Returns what the next page says. */
  run(users: UserAdmin, id: string, by: Actor): Promise<string>;
}

export const userActions: readonly UserAction[] = [
  {
    path: 'unlock',
    label: 'Unlock',
    needs: 'gatehouse.users:unlock',
    isOffered: ({ lockedSeconds }) => lockedSeconds > 0,
    run: async (users, id, by) => {
      await users.unlock(id, by);
      return 'The user may try again.';
    },
  },
  {
    path: 'invite',
    label: 'Send an invitation',
    needs: WRITE,
    isOffered: ({ hasCredentials, account }) => !hasCredentials && Boolean(account.email),
    run: async (users, id, by) => {
      await users.invite(id, by);
      return 'The invitation is on its way.';
    },
  },
  {
    path: 'send-reset',
    label: 'Send a link for a new password',
    needs: 'gatehouse.users:reset-password',
    isOffered: ({ account }) => Boolean(account.email),
    run: async (users, id, by) => {
      await users.sendPasswordReset(id, by);
      return 'The link is on its way.';
    },
  },
  {
    path: 'force-change',
    label: 'Force a new password',
    needs: WRITE,
    isOffered: ({ password }) => password?.mustChange === false,
    consequence: 'Every session ends, and the user has to choose another password at the next sign-in.',
    run: async (users, id, by) => {
      await users.forcePasswordChange(id, by);
      return 'The user has to choose a new password at the next sign-in.';
    },
  },
  {
    path: 'enable',
    label: 'Enable',
    needs: WRITE,
    isOffered: ({ account }) => !account.isActive,
    run: async (users, id, by) => {
      await users.setActive(id, true, by);
      return 'The account is enabled.';
    },
  },
  {
    path: 'reset-factors',
    label: 'Reset second factors',
    needs: 'gatehouse.users:reset-factors',
    consequence:
      'Every second factor, passkey and recovery code is removed, and every session ends. Verify who asked you for this.',
    isOffered: ({ factors }) => factors.totp || factors.passkeys > 0 || factors.phone !== undefined,
    run: async (users, id, by) => {
      await users.resetFactors(id, by);
      return 'The second factors are removed.';
    },
  },
  {
    path: 'allow-factor',
    label: 'Allow two-step verification',
    needs: 'gatehouse.users:reset-factors',
    consequence:
      'For a week, this password is enough to set up a second factor. Verify that the request comes from the user.',
    isOffered: ({ firstEnrolment }) => firstEnrolment.requestedAt !== null,
    run: async (users, id, by) => {
      await users.allowFirstFactor(id, by);
      return 'The user may set up a second factor.';
    },
  },
  {
    path: 'end-sessions',
    label: 'Sign out everywhere',
    needs: 'gatehouse.sessions:end',
    isOffered: () => true,
    consequence: 'Every session of this user ends, and the applications are notified.',
    run: async (users, id, by) => `${await users.endSessions(id, by)} sessions ended.`,
  },
  {
    path: 'disable',
    label: 'Disable',
    needs: WRITE,
    isOffered: ({ account }) => account.isActive,
    consequence: 'The account can no longer sign in, and every session ends now.',
    run: async (users, id, by) => {
      await users.setActive(id, false, by);
      return 'The account is disabled.';
    },
  },
  {
    path: 'delete',
    label: 'Delete',
    needs: WRITE,
    isOffered: ({ account }) => account.source !== 'file',
    consequence: 'The account is deleted for good. Its identifier is never used again.',
    run: async (users, id, by) => {
      await users.remove(id, by);
      return 'The account was deleted.';
    },
  },
];

/** One action of the table each: a confirmation page where it has a consequence, and the form's target. */
export function userActionPages(
  router: Router<State, Extras>,
  { frame, users }: { frame: Frame; users: UserAdmin },
): void {
  for (const { path, label, needs, consequence, run } of userActions) {
    const done = async (ctx: Context & { params: { id?: string } }) => {
      const { id = '' } = ctx.params;
      const sentence = await run(users, id, frame.actor(ctx));
      frame.redirect(ctx, path === 'delete' ? '/admin/users' : `/admin/users/${id}`, sentence);
    };
    if (consequence === undefined) {
      router.post(`/:id/${path}`, ...frame.change(within(needs)), (ctx) => done(ctx));
      continue;
    }
    router.get(`/:id/${path}`, ...frame.page(within(needs)), async (ctx) => {
      // Ending sessions takes the permission only, whatever rights the user has.
      const find = needs === 'gatehouse.sessions:end' ? users.get : users.getForChange;
      const { account } = await find(ctx.params.id ?? '', frame.actor(ctx), needs);
      if (path === 'delete' && account.source === 'file') throw forbidden('owned_by_file');
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
    router.post(`/:id/${path}`, ...frame.change(within(needs)), (ctx) => done(ctx));
  }
}
