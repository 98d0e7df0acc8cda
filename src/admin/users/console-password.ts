// /admin/users/:id/password: a temporary password.

import type Router from '@koa/router';
import type { Extras, State } from '../../base/http/context.ts';
import { t } from '../../base/texts/text.ts';
import type { Account } from '../../people/accounts/account.ts';
import { within } from '../../people/rbac/rights.ts';
import type { ConsolePage } from '../console/blocks.ts';
import { addQuestion } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';

const WRITE = 'gatehouse.users:write' as const;

/** The page …/password and its action. */
export function oneTimePasswordPages(router: Router<State, Extras>, services: ConsoleServices): void {
  const { frame } = services;
  const { users } = services.admin;
  addQuestion(router, frame, '/:id/password', {
    needs: [within(WRITE)],
    load: ({ params: { id = '' } }, by) => users.find(id, by, WRITE),
    assertOpen: ({ by, subject }) => users.assertMayChange(subject, by, WRITE),
    title: (account) => t('console.users.temporary.title', { user: account.name ?? account.username }),
    back: ({ id, name, username }) => ({ href: `/admin/users/${id}`, label: name ?? username }),
    lead: () => t('console.users.temporary.lead'),
    button: t('console.users.temporary.button'),
    async submit({ by, subject: account }) {
      const { oneTimePassword = '' } = await users.setPassword(account.id, undefined, by);
      return { result: oneTimePasswordPage(services, account, oneTimePassword) };
    },
  });
}

/** What the user needs for the first sign-in: the address, the username and the temporary password. */
export function oneTimePasswordPage(
  { config: { issuer } }: ConsoleServices,
  account: Account,
  password: string,
): ConsolePage {
  return {
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
  };
}
