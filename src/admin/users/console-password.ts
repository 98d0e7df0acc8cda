// /admin/users/:id/password: a temporary password, which is displayed once.
import type Router from '@koa/router';
import type { Account } from '../../accounts/account.ts';
import type { Context, Extras, State } from '../../http/context.ts';
import { within } from '../../rbac/rights.ts';
import type { Frame } from '../console/frame.ts';
import type { UserAdmin } from './actions.ts';

const WRITE = 'gatehouse.users:write' as const;

/** The page …/password and its action. */
export function oneTimePasswordPages(
  router: Router<State, Extras>,
  dependencies: { frame: Frame; users: UserAdmin; issuer: string },
): void {
  const { frame, users } = dependencies;
  router.get('/:id/password', ...frame.page(within(WRITE)), async (ctx) => {
    const { account } = await users.getForChange(ctx.params.id ?? '', frame.actor(ctx), WRITE);
    const at = `/admin/users/${account.id}`;
    frame.show(ctx, {
      title: `Create a temporary password for ${account.username}`,
      back: { href: at, label: account.username },
      blocks: [
        {
          kind: 'form',
          lead: 'Replaces the current password and ends all sessions. The user must change it at the next sign-in.',
          action: `${at}/password`,
          fields: [],
          button: 'Create password',
          look: 'danger',
          cancel: at,
        },
      ],
    });
  });

  router.post('/:id/password', ...frame.change(within(WRITE)), async (ctx) => {
    const { account } = await users.getForChange(ctx.params.id ?? '', frame.actor(ctx), WRITE);
    const { oneTimePassword = '' } = await users.setPassword(account.id, undefined, frame.actor(ctx));
    showOneTimePassword(dependencies, ctx, account, oneTimePassword);
  });
}

/** What the user needs for the first sign-in: the address, the username, and the password, this once. */
export function showOneTimePassword(
  { frame, issuer }: { frame: Frame; issuer: string },
  ctx: Context,
  account: Account,
  password: string,
  status = 200,
): void {
  frame.show(
    ctx,
    {
      title: `${account.username} can sign in`,
      back: { href: `/admin/users/${account.id}`, label: account.username },
      blocks: [
        {
          kind: 'text',
          tone: 'warning',
          text: 'Copy the password now. You won’t see it again. The user must change it at the next sign-in.',
        },
        { kind: 'code', label: 'Temporary password', text: password },
        {
          kind: 'facts',
          title: 'Also give the user',
          rows: [
            { label: 'Sign-in page', value: { text: `${issuer}/dashboard`, copy: 'sign-in page' } },
            { label: 'Username', value: { text: account.username, copy: 'username' } },
          ],
        },
      ],
    },
    status,
  );
}
