// What an administrator can do for one user with a button: a table, from which the page of the user and the routes are made.

import type Router from '@koa/router';
import type { Notice } from '../../account/account-page-helpers.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { forbidden } from '../../base/http/errors.ts';
import { sentences, type Text, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import { within } from '../../people/rbac/rights.ts';
import type { ConsolePage } from '../console/blocks.ts';
import { assertTypedName, readTypedName, typedNameField } from '../console/danger-zone.ts';
import type { ConsoleServices } from '../console-services.ts';
import { endedNotice } from '../sessions/console.ts';
import type { UserAdmin, UserDetails } from './actions.ts';
import { disabledBy, disabledSentence } from './disabled-by.ts';

const WRITE = 'gatehouse.users:write' as const;
const INVITED: Notice = { text: t('console.user-action.invite.done'), tone: 'plain' };

/** The tabs of a user, by the last part of their address. */
export type UserTab = '' | 'access' | 'security' | 'sessions' | 'activity';

export interface UserAction {
  /** Below /admin/users/:id. */
  path: string;
  label: Text;
  /** The tab that has its button, and that the page which asks leads back to. */
  tab: UserTab;
  /** It sends an email. The label where no mail server is set, so that the email becomes a file, and what the next page says then. */
  file?: { label: Text; done: Text };
  needs: OwnPermission;
  /** The warning on a confirmation page, behind a recent sign-in. Absent: one button is enough. */
  consequence?: Text;
  /** The title of that page. */
  question?(user: string): Text;
  /** It can't be undone: the administrator types the username first. */
  asksForName?: boolean;
  /** It gives nothing away and can be taken back: no part of the danger zone. */
  isHarmless?: boolean;
  isOffered(details: UserDetails): boolean;
  /** Returns what the next page says; with a tone unless it is done. */
  run(users: UserAdmin, id: string, by: Actor): Promise<Text | Notice>;
}

export const userActions: readonly UserAction[] = [
  {
    path: 'unlock',
    tab: '',
    label: t('console.user-action.unlock'),
    needs: 'gatehouse.users:unlock',
    isOffered: ({ lockedSeconds }) => lockedSeconds > 0,
    run: async (users, id, by) => {
      await users.unlock(id, by);
      return t('console.user-action.unlock.done');
    },
  },
  {
    path: 'invite',
    tab: '',
    label: t('console.user-action.invite'),
    file: { label: t('console.user-action.invite.file'), done: t('console.user-action.invite.not-sent') },
    needs: 'gatehouse.users:reset-password',
    isOffered: ({ hasCredentials, account }) => !hasCredentials && Boolean(account.email),
    run: async (users, id, by) => {
      await users.invite(id, by);
      return INVITED;
    },
  },
  {
    path: 'send-reset',
    tab: 'security',
    label: t('console.user-action.send-reset'),
    file: { label: t('console.user-action.send-reset.file'), done: t('console.user-action.send-reset.not-sent') },
    needs: 'gatehouse.users:reset-password',
    isOffered: ({ account }) => Boolean(account.email),
    run: async (users, id, by) => {
      await users.sendPasswordReset(id, by);
      return { text: t('console.user-action.send-reset.done'), tone: 'plain' };
    },
  },
  {
    path: 'force-change',
    tab: 'security',
    label: t('console.user-action.force-change'),
    needs: WRITE,
    isOffered: ({ password }) => password?.mustChange === false,
    question: (user) => t('console.user-action.force-change.question', { user }),
    consequence: t('console.user-action.force-change.consequence'),
    run: async (users, id, by) => {
      await users.forcePasswordChange(id, by);
      return t('console.user-action.force-change.done');
    },
  },
  {
    path: 'enable',
    tab: '',
    label: t('console.user-action.enable'),
    needs: WRITE,
    isOffered: ({ account }) => !account.isActive,
    question: (user) => t('console.user-action.enable.question', { user }),
    consequence: t('console.user-action.enable.consequence'),
    isHarmless: true,
    run: async (users, id, by) => {
      await users.setActive(id, true, by);
      return t('console.user-action.enable.done');
    },
  },
  {
    path: 'reset-factors',
    tab: 'security',
    label: t('console.user-action.reset-factors'),
    question: (user) => t('console.user-action.reset-factors.question', { user }),
    needs: 'gatehouse.users:reset-factors',
    consequence: t('console.user-action.reset-factors.consequence'),
    isOffered: ({ factors }) => factors.totp || factors.passkeys > 0 || factors.phone !== undefined,
    run: async (users, id, by) => {
      await users.resetFactors(id, by);
      return t('console.user-action.reset-factors.done');
    },
  },
  {
    path: 'allow-factor',
    tab: 'security',
    label: t('console.user-action.allow-factor'),
    question: (user) => t('console.user-action.allow-factor.question', { user }),
    needs: 'gatehouse.users:reset-factors',
    consequence: t('console.user-action.allow-factor.consequence'),
    isOffered: ({ firstEnrolment }) => firstEnrolment.requestedAt !== null,
    run: async (users, id, by) => {
      await users.allowFirstFactor(id, by);
      return t('console.user-action.allow-factor.done');
    },
  },
  {
    path: 'end-sessions',
    tab: 'sessions',
    label: t('console.user-action.end-sessions'),
    question: (user) => t('console.user-action.end-sessions.question', { user }),
    needs: 'gatehouse.sessions:end',
    isOffered: () => true,
    consequence: t('console.user-action.end-sessions.consequence'),
    run: async (users, id, by) => {
      const ended = await users.endSessions(id, by);
      const { count } = ended;
      if (count === 0) return { text: t('console.user-action.end-sessions.none'), tone: 'warn' };
      return endedNotice(t('console.user-action.end-sessions.done', { count }), [ended]);
    },
  },
  {
    path: 'disable',
    tab: '',
    label: t('console.user-action.disable'),
    question: (user) => t('console.user-action.disable.question', { user }),
    needs: WRITE,
    isOffered: ({ account }) => account.isActive,
    consequence: t('console.user-action.disable.consequence'),
    run: async (users, id, by) => {
      await users.setActive(id, false, by);
      return t('console.user-action.disable.done');
    },
  },
  {
    path: 'delete',
    tab: '',
    label: t('console.user-action.delete'),
    question: (user) => t('console.user-action.delete.question', { user }),
    needs: WRITE,
    isOffered: ({ account }) => account.source !== 'file',
    consequence: t('console.user-action.delete.consequence'),
    asksForName: true,
    run: async (users, id, by) => {
      await users.remove(id, by);
      return t('console.user-action.delete.done');
    },
  },
];

/** What the page of the user says where the invitation is on its way, or has become a file: then a temporary password helps. */
export const invitedNotice = (hasMailServer: boolean, id: string): Notice =>
  hasMailServer ? INVITED : notSent(t('console.user-action.invite.not-sent'), id);

const notSent = (text: Text, id: string): Notice => ({
  text,
  tone: 'warn',
  link: { href: `/admin/users/${id}/password`, label: t('console.users.temporary') },
});

/** Who disabled the account and when, for an administrator who may read the activity log. */
async function disabledText(services: ConsoleServices, ctx: Context, account: Account): Promise<Text[]> {
  const mayRead = services.frame.may(ctx, 'gatehouse.audit:read');
  const found = mayRead ? await disabledBy(services, account) : undefined;
  return [t('console.users.disabled.account'), ...(found ? [disabledSentence(found)] : [])];
}

/** One action of the table each: a confirmation page where it has a consequence, and the form's target. */
export function userActionPages(router: Router<State, Extras>, services: ConsoleServices): void {
  const {
    frame,
    admin: { users },
    config: { hasMailServer },
  } = services;
  for (const action of userActions) {
    const { path, tab, file, needs, consequence, run } = action;
    const work = async (ctx: Context, id: string) => {
      const done = await run(users, id, frame.actor(ctx));
      const given = 'tone' in done ? done : { text: done, tone: 'good' as const };
      const { text, tone, link } = file && !hasMailServer ? notSent(file.done, id) : given;
      // Only for who may set a password.
      const mayHelp = link && frame.may(ctx, WRITE);
      frame.redirect(ctx, path === 'delete' ? '/admin/users' : pathOf(id, tab), text, tone, mayHelp ? link : undefined);
    };
    // Ending sessions takes the permission only, whatever rights the user has.
    const find = needs === 'gatehouse.sessions:end' ? users.get : users.getForChange;
    if (consequence !== undefined)
      router.get(`/:id/${path}`, ...frame.page(within(needs)), async (ctx) => {
        const { account } = await find(ctx.params.id ?? '', frame.actor(ctx), needs);
        if (path === 'delete' && account.source === 'file') throw forbidden('owned_by_file');
        frame.show(ctx, await questionPage(services, ctx, { action, account }));
      });
    router.post(`/:id/${path}`, ...frame.change(within(needs)), async (ctx) => {
      const { id = '' } = ctx.params;
      if (!action.asksForName) return work(ctx, id);
      const { account } = await find(id, frame.actor(ctx), needs);
      const typed = await readTypedName(ctx);
      await frame.attempt(
        ctx,
        async () => {
          assertTypedName(typed, account.username);
          await work(ctx, id);
        },
        () => questionPage(services, ctx, { action, account, typed }),
      );
    });
  }
}

/** The address of one of the user's tabs. */
const pathOf = (id: string, tab: UserTab) => (tab === '' ? `/admin/users/${id}` : `/admin/users/${id}/${tab}`);

/** The page that asks. */
async function questionPage(
  services: ConsoleServices,
  ctx: Context,
  { action, account, typed }: { action: UserAction; account: Account; typed?: string },
): Promise<ConsolePage> {
  const { path, tab, label, consequence = '', question = () => label, isHarmless, asksForName } = action;
  const { id, username } = account;
  const name = account.name ?? username;
  const back = pathOf(id, tab);
  return {
    title: question(name),
    back: { href: back, label: name },
    blocks: [
      {
        kind: 'form',
        lead: sentences([...(path === 'enable' ? await disabledText(services, ctx, account) : []), consequence]),
        action: `/admin/users/${id}/${path}`,
        fields: asksForName ? [typedNameField(username, typed)] : [],
        button: asksForName ? t('console.shared.delete-name', { name }) : label,
        look: isHarmless ? 'primary' : 'danger',
        cancel: back,
      },
    ],
  };
}
