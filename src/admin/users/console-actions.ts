// What an administrator can do for one user with a button: a table, from which the page of the user and the routes are made.

import type Router from '@koa/router';
import { z } from 'zod';
import type { Notice } from '../../account/account-page-helpers.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { displayName } from '../../base/http/pages/tokens.ts';
import { present } from '../../base/platform/defined.ts';
import { type PageText, sentences, type Text, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { type Account, ownedUser } from '../../people/accounts/account.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import { within } from '../../people/rbac/rights.ts';
import type { Action, Block, ConsolePage, Field } from '../console/blocks.ts';
import { addForm, addPage, addQuestion, type Next, type Params, type Visit } from '../console/pages.ts';
import { ACCESS_CHECK_NEEDS } from '../console/suggest.ts';
import type { ConsoleServices } from '../console-services.ts';
import { ACTIVITY, endedNotice } from '../sessions/console.ts';
import type { UserAdmin, UserDetails } from './actions.ts';
import { invitationMessage } from './api.ts';
import { disabledBy, disabledSentence } from './disabled-by.ts';

const WRITE = 'gatehouse.users:write' as const;
const END = 'gatehouse.sessions:end' as const;
const INVITED: Notice = { text: t('console.user-action.invite.done'), tone: 'plain' };

/** The tabs of a user, by the last part of their address. */
export type UserTab = '' | 'roles' | 'access' | 'security' | 'sessions' | 'activity';

export interface UserAction {
  /** Below /admin/users/:id. */
  path: string;
  label: Text;
  /** The tab that has its button, and that the page which asks leads back to. */
  tab: UserTab;
  /** It sends an email. The label where no mail server is set, so that the email becomes a file, and what the next page says then. */
  file?: { label: Text; done(folder: string): Text };
  needs: OwnPermission;
  /** The warning on a confirmation page, behind a recent sign-in. Absent: one button is enough. */
  consequence?: Text;
  /** The title of that page. */
  question?(user: string): Text;
  /** A page of its own asks for more: its button leads there. */
  hasForm?: true;
  /** It can't be undone: the administrator types the username first. */
  asksForName?: boolean;
  /** It gives nothing away and can be taken back: no part of the danger zone. */
  isHarmless?: boolean;
  /** It stands beside the fact that it changes. */
  isBeside?: true;
  isOffered(details: UserDetails): boolean;
  /** Returns what the next page says; with a tone unless it is done. */
  run(users: UserAdmin, id: string, by: Actor, message?: string): Promise<Text | Notice>;
}

export const userActions: readonly UserAction[] = [
  {
    path: 'unlock',
    tab: '',
    isBeside: true,
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
    isBeside: true,
    label: t('console.user-action.invite'),
    file: {
      label: t('console.user-action.invite.file'),
      done: (folder) => t('console.user-action.invite.not-sent', { folder }),
    },
    needs: 'gatehouse.users:reset-password',
    hasForm: true,
    isOffered: ({ hasCredentials, account }) => !hasCredentials && Boolean(account.email),
    run: async (users, id, by, message) => {
      await users.invite(id, by, message);
      return INVITED;
    },
  },
  {
    path: 'send-reset',
    tab: 'security',
    label: t('console.user-action.send-reset'),
    file: {
      label: t('console.user-action.send-reset.file'),
      done: (folder) => t('console.user-action.send-reset.not-sent', { folder }),
    },
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
    isBeside: true,
    label: t('console.user-action.enable'),
    needs: WRITE,
    isOffered: ({ account }) => !account.isEnabled,
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
      return withoutFactorNotice(users, id, by, t('console.user-action.reset-factors.done'));
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
      return {
        ...endedNotice(t('console.user-action.end-sessions.done', { count }), [ended]),
        link: ended.run && ACTIVITY,
      };
    },
  },
  {
    path: 'disable',
    tab: '',
    isBeside: true,
    label: t('console.user-action.disable'),
    question: (user) => t('console.user-action.disable.question', { user }),
    needs: WRITE,
    isOffered: ({ account }) => account.isEnabled,
    consequence: t('console.user-action.disable.consequence'),
    run: async (users, id, by) => {
      const ended = await users.disable(id, by);
      const done = sentences([
        t('console.user-action.disable.done'),
        t('console.user-action.disable.ended', { count: ended.count }),
      ]);
      return { ...endedNotice(done, [ended]), link: ended.run && ACTIVITY };
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
  { frame, admin: { users }, mailServer }: ConsoleServices,
): Promise<OpenUser> {
  const { id = '' } = ctx.params ?? {};
  const by = frame.actor(ctx);
  const details = await users.get(id, by);
  const may: OpenUser['may'] = (permission) => frame.may(ctx, permission, details.account);
  // To end sessions takes the permission only; every other action depends on the roles of the user.
  const mayDo = async (permission: OwnPermission) =>
    may(permission) && (permission === END || (await users.mayChange(id, by, [permission])));
  const offered: UserAction[] = [];
  for (const action of userActions) {
    const label = mailServer.isSet() ? action.label : (action.file?.label ?? action.label);
    if (action.isOffered(details) && (await mayDo(action.needs))) offered.push({ ...action, label });
  }
  // Helping a user back in may be possible where a change is not.
  const obstacle = may(WRITE) ? (await users.check(id, by, [WRITE])).reason : undefined;
  const mayReadApplications = frame.meets(ctx, within('gatehouse.applications:read'));
  const mayWrite = await mayDo(WRITE);
  const mayCheckAccess = ACCESS_CHECK_NEEDS.every((need) => frame.meets(ctx, need));
  const user = { details, path: `/admin/users/${id}`, may, mayWrite, offered, obstacle };
  return { ...user, mayCheckAccess, mayReadApplications };
}

/** The button of an action of the user at `path`: what has a consequence is asked first. */
export function actionButton(
  path: string,
  { path: action, label, consequence, isHarmless, hasForm }: UserAction,
): Action {
  const at = `${path}/${action}`;
  if (consequence === undefined && !hasForm) return { label, post: at };
  return { label, href: at, ...(consequence !== undefined && !isHarmless && { look: 'danger' as const }) };
}

/** What an administrator adds to an invitation. */
export const messageField: Field = {
  name: 'message',
  label: t('console.user-action.invite.message'),
  hint: t('console.user-action.invite.message.hint'),
  type: 'textarea',
  rows: 4,
};

/** What the page of the user says where the invitation is on its way, or has become a file: then a temporary password helps. */
export const invitedNotice = ({ mailServer, config }: ConsoleServices, id: string): Notice =>
  mailServer.isSet() ? INVITED : notSent(t('console.user-action.invite.not-sent', { folder: config.outboxDir }), id);

const notSent = (text: PageText, id: string, tone: 'plain' | 'warn' = 'plain'): Notice => ({
  text,
  tone,
  link: { href: `/admin/users/${id}/password`, label: t('console.users.temporary') },
});

/** What the page says after a factor was removed: also when the person has no way in left. */
export async function withoutFactorNotice(users: UserAdmin, id: string, by: Actor, done: Text): Promise<Text | Notice> {
  const { hasCredentials } = await users.get(id, by);
  if (hasCredentials) return done;
  return notSent(sentences([done, t('console.user-action.reset-factors.locked-out')]), id, 'warn');
}

/** Before an account ends: what its user still owns that this administrator can hand over, and the keys that end with it. */
export async function leavingNotice({ id }: Account, by: Actor, users: UserAdmin): Promise<Block[]> {
  const { items, apiKeys } = await users.owned(id, by);
  const open = items.filter(({ obstacle }) => obstacle === undefined);
  const groups = open.filter(({ kind }) => kind === 'group').length;
  const applications = open.length - groups;
  const of = groups === 0 ? 'applications' : applications === 0 ? 'groups' : 'both';
  const texts = present([
    open.length > 0 && t('console.users.hand-over.leaving', { of, groups, applications }),
    apiKeys.length > 0 && t('console.users.hand-over.leaving-keys', { count: apiKeys.length }),
  ]);
  if (texts.length === 0) return [];
  const link =
    open.length > 0
      ? { label: t('console.users.hand-over'), href: `/admin/users/${id}/hand-over` }
      : { label: t('console.users.hand-over.see'), href: tabPath(id, 'roles') };
  return [{ kind: 'text', tone: 'notice', text: sentences(texts), link }];
}

/** The pages of the actions: a form, a question where the action has a consequence, or else what its button sends. */
export function userActionPages(router: Router<State, Extras>, services: ConsoleServices): void {
  const { frame, mailServer, config } = services;
  const { users } = services.admin;

  async function carryOut(
    { path, tab, file, run }: UserAction,
    { by, subject: { id }, may }: Visit<Account>,
    message?: string,
  ): Promise<Next> {
    const done = await run(users, id, by, message);
    const given = 'tone' in done ? done : { text: done, tone: 'good' as const };
    const { link, ...notice } = file && !mailServer.isSet() ? notSent(file.done(config.outboxDir), id) : given;
    // Only for who may set a password, or read the activity log.
    const isOpen = link && may(link === ACTIVITY ? 'gatehouse.audit:read' : WRITE);
    const to = path === 'delete' ? '/admin/users' : tabPath(id, tab);
    return { to, notice: { ...notice, link: isOpen ? link : undefined } };
  }

  for (const action of userActions) {
    const { path, tab, file, needs, label, consequence, question = () => label } = action;
    const target = {
      needs: [within(needs)],
      load: ({ params: { id = '' } }: Params, by: Actor) => users.find(id, by, needs),
      back: (account: Account) => ({ href: tabPath(account.id, tab), label: displayName(account) }),
      submit: (visit: Visit<Account>) => carryOut(action, visit),
    };
    if (action.hasForm)
      addForm<Account, { message?: string | undefined }>(router, frame, `/:id/${path}`, {
        ...target,
        assertOpen: ({ by, subject }) => users.assertMayChange(subject, by, needs),
        title: (account) => t('console.user-action.invite.title', { user: displayName(account) }),
        lead: async ({ subject: { email } }) => t('console.user-action.invite.lead', { email: email ?? '' }),
        fields: () => [messageField],
        button: () => (file && !mailServer.isSet() ? file.label : label),
        body: z.strictObject({ message: invitationMessage.optional() }),
        submit: (visit, { message }) => carryOut(action, visit, message),
      });
    else if (consequence === undefined) addPage(router, frame, `/:id/${path}`, target);
    else
      addQuestion<Account>(router, frame, `/:id/${path}`, {
        ...target,
        async assertOpen({ by, subject }) {
          // Ending sessions takes the permission only, whatever rights the user has.
          if (needs !== 'gatehouse.sessions:end') await users.assertMayChange(subject, by, needs);
          if (path === 'delete' && subject.source === 'file') throw ownedUser(subject);
        },
        title: (account) => question(displayName(account)),
        above: async ({ by, subject }) =>
          path === 'delete' || path === 'disable' ? leavingNotice(subject, by, users) : [],
        lead: async (visit) => {
          const disabled = path === 'enable' ? await disabledTexts(services, visit) : [];
          const isLast = path === 'reset-factors' && !(await users.get(visit.subject.id, visit.by)).password;
          return sentences([...disabled, consequence, isLast && t('console.user-action.reset-factors.no-password')]);
        },
        look: action.isHarmless ? 'primary' : 'danger',
        button: (account) =>
          action.asksForName ? t('console.shared.delete-name', { name: displayName(account) }) : label,
        ...(action.asksForName && { typedName: ({ username }) => username }),
      });
  }
}

/** Who disabled the account and when, for an administrator who may read the activity log. */
async function disabledTexts(services: ConsoleServices, { subject, may }: Visit<Account>): Promise<Text[]> {
  const found = may('gatehouse.audit:read') ? await disabledBy(services, subject) : undefined;
  return present([t('console.users.disabled.account'), found && disabledSentence(found)]);
}

/** The address of one of the user's tabs. */
export const tabPath = (id: string, tab: UserTab) => (tab === '' ? `/admin/users/${id}` : `/admin/users/${id}/${tab}`);

// /admin/users/:id/password: a temporary password.

/** The page …/password and its action. */
export function oneTimePasswordPages(router: Router<State, Extras>, services: ConsoleServices): void {
  const { frame } = services;
  const { users } = services.admin;
  addQuestion(router, frame, '/:id/password', {
    needs: [within('gatehouse.users:write')],
    isReturning: true,
    load: ({ params: { id = '' } }, by) => users.find(id, by, 'gatehouse.users:write'),
    assertOpen: ({ by, subject }) => users.assertMayChange(subject, by, 'gatehouse.users:write'),
    title: (account) => t('console.users.temporary.title', { user: displayName(account) }),
    back: (account) => ({ href: tabPath(account.id, ''), label: displayName(account) }),
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
    title: t('console.users.temporary.created', { user: displayName(account) }),
    back: { href: tabPath(account.id, ''), label: displayName(account) },
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
