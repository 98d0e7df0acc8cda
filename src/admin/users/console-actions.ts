// What an administrator can do for one user with a button: a table, from which the page of the user and the routes are made.
import type Router from '@koa/router';
import type { Account } from '../../accounts/account.ts';
import type { Accounts } from '../../accounts/accounts.ts';
import type { Actor, Audit } from '../../audit/audit.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { forbidden } from '../../http/errors.ts';
import { plural } from '../../platform/plural.ts';
import type { OwnPermission } from '../../rbac/built-in.ts';
import { within } from '../../rbac/rights.ts';
import type { Frame } from '../console/frame.ts';
import type { UserAdmin, UserDetails } from './actions.ts';
import { disabledBy, disabledSentence } from './disabled-by.ts';

const WRITE = 'gatehouse.users:write' as const;

export interface UserAction {
  /** Below /admin/users/:id. */
  path: string;
  label: string;
  /** It sends an email. The label where no mail server is set, so that the email becomes a file. */
  fileLabel?: string;
  needs: OwnPermission;
  /** The warning on a confirmation page, behind a recent sign-in. Absent: one button is enough. */
  consequence?: string;
  /** The title of that page; `…` is the username. */
  question?: string;
  /** It gives nothing away and can be taken back: no part of the danger zone. */
  isHarmless?: boolean;
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
      return 'User unlocked.';
    },
  },
  {
    path: 'invite',
    label: 'Send invitation',
    fileLabel: 'Write invitation to a file',
    needs: WRITE,
    isOffered: ({ hasCredentials, account }) => !hasCredentials && Boolean(account.email),
    run: async (users, id, by) => {
      await users.invite(id, by);
      return 'Invitation sent.';
    },
  },
  {
    path: 'send-reset',
    label: 'Send password reset',
    fileLabel: 'Write password reset to a file',
    needs: 'gatehouse.users:reset-password',
    isOffered: ({ account }) => Boolean(account.email),
    run: async (users, id, by) => {
      await users.sendPasswordReset(id, by);
      return 'Password reset sent.';
    },
  },
  {
    path: 'force-change',
    label: 'Require password change',
    needs: WRITE,
    isOffered: ({ password }) => password?.mustChange === false,
    question: 'Require a password change from …?',
    consequence: 'Ends all sessions. The user must choose a new password at the next sign-in.',
    run: async (users, id, by) => {
      await users.forcePasswordChange(id, by);
      return 'Password change required at the next sign-in.';
    },
  },
  {
    path: 'enable',
    label: 'Enable',
    needs: WRITE,
    isOffered: ({ account }) => !account.isActive,
    question: 'Enable …?',
    consequence: 'If you enable it, the user can sign in again.',
    isHarmless: true,
    run: async (users, id, by) => {
      await users.setActive(id, true, by);
      return 'User enabled.';
    },
  },
  {
    path: 'reset-factors',
    label: 'Reset two-step verification',
    question: 'Reset two-step verification for …?',
    needs: 'gatehouse.users:reset-factors',
    consequence:
      'Removes all two-step verification methods, passkeys, and recovery codes, and ends all sessions. Verify who asked you for this.',
    isOffered: ({ factors }) => factors.totp || factors.passkeys > 0 || factors.phone !== undefined,
    run: async (users, id, by) => {
      await users.resetFactors(id, by);
      return 'Two-step verification reset.';
    },
  },
  {
    path: 'allow-factor',
    label: 'Allow two-step verification',
    question: 'Allow two-step verification for …?',
    needs: 'gatehouse.users:reset-factors',
    consequence:
      'For seven days, the password is enough to set up two-step verification. Verify that the request comes from the user.',
    isOffered: ({ firstEnrolment }) => firstEnrolment.requestedAt !== null,
    run: async (users, id, by) => {
      await users.allowFirstFactor(id, by);
      return 'The user can now set up two-step verification.';
    },
  },
  {
    path: 'end-sessions',
    label: 'Sign out everywhere',
    question: 'Sign … out everywhere?',
    needs: 'gatehouse.sessions:end',
    isOffered: () => true,
    consequence: 'Ends all sessions of this user and notifies the applications.',
    run: async (users, id, by) => `${plural(await users.endSessions(id, by), 'session')} ended.`,
  },
  {
    path: 'disable',
    label: 'Disable',
    question: 'Disable …?',
    needs: WRITE,
    isOffered: ({ account }) => account.isActive,
    consequence: 'The user can’t sign in anymore, and all sessions end now.',
    run: async (users, id, by) => {
      await users.setActive(id, false, by);
      return 'User disabled.';
    },
  },
  {
    path: 'delete',
    label: 'Delete',
    question: 'Delete …?',
    needs: WRITE,
    isOffered: ({ account }) => account.source !== 'file',
    consequence: 'Deletes the account. You can’t undo this.',
    run: async (users, id, by) => {
      await users.remove(id, by);
      return 'User deleted.';
    },
  },
];

/** What a page says instead of `sent` where no mail server is set. */
export const WRITTEN_TO_FILE =
  'No mail server is set, so the email was written to a file and nobody received it. Create a temporary password instead.';

export interface UserActionDependencies {
  frame: Frame;
  users: UserAdmin;
  audit: Pick<Audit, 'list'>;
  accounts: Pick<Accounts, 'find'>;
  hasMailServer: boolean;
}

/** Who disabled the account and when, for an administrator who may read the activity log. */
async function disabledText(
  { frame, ...dependencies }: UserActionDependencies,
  ctx: Context,
  account: Account,
): Promise<string> {
  const found = frame.may(ctx, 'gatehouse.audit:read') ? await disabledBy(dependencies, account) : undefined;
  return found ? `This account is disabled. ${disabledSentence(found)}` : 'This account is disabled.';
}

/** One action of the table each: a confirmation page where it has a consequence, and the form's target. */
export function userActionPages(router: Router<State, Extras>, dependencies: UserActionDependencies): void {
  const { frame, users, hasMailServer } = dependencies;
  for (const { path, label, fileLabel, needs, consequence, question = label, isHarmless, run } of userActions) {
    const done = async (ctx: Context & { params: { id?: string } }) => {
      const { id = '' } = ctx.params;
      const done = await run(users, id, frame.actor(ctx));
      const sentence = fileLabel && !hasMailServer ? WRITTEN_TO_FILE : done;
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
        title: question.replace('…', () => account.username),
        back: { href: at, label: account.username },
        blocks: [
          {
            kind: 'form',
            lead: [path === 'enable' ? await disabledText(dependencies, ctx, account) : '', consequence]
              .join(' ')
              .trim(),
            action: `${at}/${path}`,
            fields: [],
            button: label,
            look: isHarmless ? 'primary' : 'danger',
            cancel: at,
          },
        ],
      });
    });
    router.post(`/:id/${path}`, ...frame.change(within(needs)), (ctx) => done(ctx));
  }
}
