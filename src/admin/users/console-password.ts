// /admin/users/:id/password: a temporary password.
import type Router from '@koa/router';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { t } from '../../base/texts/text.ts';
import type { Account } from '../../people/accounts/account.ts';
import { within } from '../../people/rbac/rights.ts';
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
      title: t('console.users.temporary.title', { user: account.name ?? account.username }),
      back: { href: at, label: account.name ?? account.username },
      blocks: [
        {
          kind: 'form',
          lead: t('console.users.temporary.lead'),
          action: `${at}/password`,
          fields: [],
          button: t('console.users.temporary.button'),
          look: 'danger',
          cancel: at,
        },
      ],
    });
  });

  router.post('/:id/password', ...frame.change(within(WRITE)), async (ctx) => {
    const { account } = await users.getForChange(ctx.params.id ?? '', frame.actor(ctx), WRITE);
    const { oneTimePassword = '' } = await users.setPassword(account.id, undefined, frame.actor(ctx));
    await showOneTimePassword(dependencies, ctx, account, oneTimePassword);
  });
}

/** What the user needs for the first sign-in: the address, the username and the temporary password. */
export function showOneTimePassword(
  { frame, issuer }: { frame: Frame; issuer: string },
  ctx: Context,
  account: Account,
  password: string,
): Promise<void> {
  return frame.showResult(ctx, {
    title: t('console.users.temporary.created', { user: account.name ?? account.username }),
    back: { href: `/admin/users/${account.id}`, label: account.name ?? account.username },
    blocks: [
      {
        kind: 'text',
        tone: 'warning',
        text: t('console.users.temporary.copy'),
      },
      { kind: 'code', label: t('console.users.temporary.label'), text: password },
      {
        kind: 'facts',
        title: t('console.users.temporary.also'),
        rows: [
          {
            label: t('console.users.temporary.page'),
            value: { text: `${issuer}/dashboard`, copy: t('console.users.temporary.page.copy') },
          },
          {
            label: t('console.users.username'),
            value: { text: account.username, copy: t('console.users.temporary.username.copy') },
          },
        ],
      },
    ],
  });
}
