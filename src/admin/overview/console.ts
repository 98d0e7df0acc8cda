// /admin: what needs attention, the first steps, statistics and the last sign-ins.

import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../base/http/context.ts';
import { nameAndUsername } from '../../base/http/pages/tokens.ts';
import { present } from '../../base/platform/defined.ts';
import { waitText } from '../../base/texts/dates.ts';
import { type PageText, sentences, t } from '../../base/texts/text.ts';
import type { AccountSummary } from '../../people/accounts/account-list.ts';
import { hasSecondFactor } from '../../people/mfa/policy.ts';
import { listAdministrators } from '../../people/rbac/administrators.ts';
import { ADMIN_ROLE } from '../../people/rbac/built-in.ts';
import type { Need } from '../../people/rbac/rights.ts';
import { FIRST_PARTY_CLIENT_ID } from '../../protocols/oidc/in-process-clients.ts';
import { HOW_TO_SET_THE_ADDRESS } from '../applications/tabs/setup-guide.ts';
import { eventItems } from '../audit/console-rows.ts';
import {
  type Action,
  type Block,
  type Cell,
  type ConsolePage,
  maxBarValue,
  type Step,
  type Tone,
} from '../console/blocks.ts';
import { tableOf } from '../console/lists.ts';
import { type NamedUser, userMark } from '../console/names.ts';
import { navigationAt } from '../console/navigation.ts';
import { addPage, type Visit } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import { settingPermission } from '../settings/setting-tabs.ts';
import type { Statistics } from './statistics.ts';
import type { Warnings } from './warnings.ts';

const DAYS = 30;
const LAST_SIGN_INS = 8;
const form = z.object({ first_steps: z.enum(['hide', 'show']).optional(), unused: z.literal('approve').optional() });
/** As the setting of unused accounts needs. */
const APPROVE = settingPermission('inactive_after_days');

/** The page /admin. */
export function overviewRoutes(services: ConsoleServices): Router<State, Extras> {
  const { accounts, frame, names, now, warnings } = services;
  const { statistics, audit, settings } = services.admin;
  const firstSteps = createFirstSteps(services);
  const router = new Router<State, Extras>({ prefix: '/admin' });

  addPage<undefined, z.output<typeof form>>(router, frame, '/', {
    needs: [],
    elsewhere: ({ ctx, may }) => (may('gatehouse.audit:read') ? undefined : { to: frame.firstPage(ctx) }),
    page,
    form,
    async submit({ ctx, by }, { first_steps, unused }) {
      if (first_steps) await accounts.setFirstSteps(frame.account(ctx), first_steps === 'hide');
      if (!unused) return { to: '/admin' };
      await settings.approveUnused(by);
      return { to: '/admin', notice: t('console.overview.unused-approved') };
    },
  });

  async function page(visit: Visit<undefined>): Promise<ConsolePage> {
    const { ctx, by, may, meets } = visit;
    const [counted, warned, last] = await Promise.all([
      statistics(DAYS),
      warnings(),
      audit.list({ types: ['sign-in.completed'], limit: LAST_SIGN_INS }, by),
    ]);
    const applications = await names.applications(counted.byApplication.map(({ clientId }) => clientId));
    const users = await names.users([...warned.locked, ...warned.waiting].map(({ id }) => id));
    const mayOpen = may('gatehouse.applications:read');
    const bars = counted.byApplication.slice(0, 10).map(({ clientId, signIns }) => {
      const application = applications.get(clientId);
      return {
        label: application?.name ?? (clientId === FIRST_PARTY_CLIENT_ID ? 'Gatehouse' : clientId),
        value: signIns,
        href: application?.id && mayOpen ? `/admin/applications/${application.id}` : undefined,
      };
    });
    const { id } = frame.account(ctx);
    const isHidden = await accounts.hidesFirstSteps(id);
    const steps = isHidden ? [] : await firstSteps(id, counted, meets);
    const { attention, quiet } = warningBlocks(warned, users, visit);
    return {
      title: t('console.navigation.overview'),
      lead: t('console.overview.lead', { count: DAYS }),
      ...(isHidden && { actions: [firstStepsButton('show')] }),
      above: attention,
      blocks: [
        ...steps,
        numbers(counted, warned),
        days(counted, now()),
        {
          kind: 'bars',
          title: t('console.overview.by-application'),
          summary: t('console.overview.last-days', { count: DAYS }),
          bars,
          max: maxBarValue(bars),
          empty: t('console.overview.no-sign-ins'),
        },
      ],
      aside: [
        {
          kind: 'events',
          title: t('console.overview.last-sign-ins'),
          actions: [{ label: t('console.navigation.activity-log'), href: '/admin/audit' }],
          items: await eventItems(last, names),
          empty: t('console.overview.no-sign-ins'),
        },
        ...quiet,
      ],
    };
  }

  return router;
}

function numbers({ users, applications, sessions, mail }: Statistics, { locked }: Warnings): Block {
  return {
    kind: 'stats',
    items: [
      { label: t('console.navigation.users'), value: users.total, href: '/admin/users' },
      {
        label: t('console.overview.two-step'),
        value: t('console.overview.of-users', { count: users.withSecondFactor, total: users.total }),
      },
      {
        label: t('console.navigation.applications'),
        value: applications.oidc + applications.saml + applications.proxy,
        href: '/admin/applications',
      },
      { label: t('console.overview.live-sessions'), value: sessions, href: '/admin/sessions' },
      {
        label: t('console.overview.locked-now'),
        value: locked.length,
        tone: locked.length > 0 ? 'warn' : 'plain',
        ...(locked.length > 0 && { href: '/admin/users?state=locked' }),
      },
      {
        label: t('console.overview.unsent-mail'),
        value: mail.failed,
        tone: mail.failed > 0 ? 'bad' : 'plain',
        ...(mail.failed > 0 && { href: '/admin/mail?state=failed' }),
      },
    ],
  };
}

function days({ at, days: counted }: Statistics, today: Date): Block {
  const bars = counted.map(({ day, signIns, failures }) => ({ label: day, value: signIns, bad: failures }));
  const signIns = bars.reduce((all, { value }) => all + value, 0);
  const failures = bars.reduce((all, { bad }) => all + bad, 0);
  const minutes = Math.round((today.getTime() - at.getTime()) / 60_000);
  const counts = t('console.overview.days-summary', { signIns, failures, count: DAYS });
  const summary = minutes < 1 ? counts : sentences([counts, t('console.overview.counted', { count: minutes })]);
  return { kind: 'days', title: t('console.overview.sign-ins'), summary, bars, max: maxBarValue(bars) };
}

type Users = ReadonlyMap<string, NamedUser>;

/** Unused accounts that are not warned, disabled or deleted before an administrator approves it, because they are so many. */
function unusedBlock(unused: NonNullable<Warnings['unused']>, mayApprove: boolean): Block {
  const approve = { label: t('console.overview.unused-approve'), post: '/admin', fields: { unused: 'approve' } };
  const value = { text: t('console.overview.unused-of', unused), href: '/admin/users?state=unseen' };
  return {
    kind: 'facts',
    title: t('console.overview.unused'),
    lead: t('console.overview.unused-text'),
    ...(mayApprove && { actions: [approve] }),
    rows: [{ label: t('console.navigation.users'), value }],
  };
}

/** Users who have to wait after wrong passwords. */
const lockedTable = (locked: Warnings['locked'], users: Users, mayUnlock: boolean): Block => ({
  kind: 'table',
  title: t('console.overview.locked'),
  caption: t('console.overview.locked-caption'),
  ...tableOf(locked, [
    [t('console.overview.user'), (one) => userIn(users, one)],
    [t('console.overview.locked-for'), ({ seconds }) => waitText(seconds)],
    mayUnlock && [
      t('console.shared.action'),
      ({ id, username }) => ({ label: t('console.overview.unlock'), of: username, post: `/admin/users/${id}/unlock` }),
    ],
  ]),
});

/** Users who cannot sign in before an administrator allows their first second factor. */
const waitingTable = (waiting: Warnings['waiting'], users: Users): Block => ({
  kind: 'table',
  title: t('console.overview.waiting'),
  caption: t('console.overview.waiting-caption'),
  ...tableOf(waiting, [
    [t('console.overview.user'), (one) => ({ ...userIn(users, one), href: `/admin/users/${one.id}/security` })],
    [t('console.overview.since'), ({ requestedAt }) => requestedAt],
  ]),
});

const userIn = (users: Users, { id, username }: { id: string; username: string }) =>
  userMark({ ...(users.get(id) ?? { username }), id });

/** Whether a page is one of the navigation that the administrator may open, or below it. */
function opensBy(meets: (need: Need) => boolean): (href: string) => boolean {
  const entries = navigationAt('', meets, { rejections: 0 }).flatMap((group) => group.entries);
  return (path) => entries.some(({ href }) => path === href || (path.startsWith(`${href}/`) && href !== '/admin'));
}

/** What needs attention, and what is as it should be. */
function warningBlocks(
  { locked, waiting, ending, health, unused }: Warnings,
  users: Users,
  { may, meets }: Visit<undefined>,
): { attention: Block[]; quiet: Block[] } {
  const opens = opensBy(meets);
  const endingCell = ({ what, applicationId, connectionId }: Warnings['ending'][number]): Cell => {
    if (applicationId && may('gatehouse.applications:read'))
      return { text: what, href: `/admin/applications/${applicationId}` };
    if (connectionId && may('gatehouse.connections:read'))
      return { text: what, href: `/admin/connections/${connectionId}` };
    return what;
  };
  const expiry: Block = {
    kind: 'table',
    title: t('console.overview.expires-soon'),
    caption: t('console.overview.expires-caption'),
    ...tableOf(ending, [
      [t('console.overview.what'), endingCell],
      [t('console.overview.until'), ({ until }) => until],
    ]),
    empty: t('console.overview.nothing-expires'),
  };
  const parts = (title: PageText, states: readonly Tone[]): Block[] => {
    const found = states.flatMap((state) => health.filter((one) => one.state === state));
    if (found.length === 0) return [];
    return [
      {
        kind: 'table',
        title,
        caption: t('console.overview.health-caption'),
        columns: [t('console.overview.part'), t('console.shared.state')],
        // What is wrong is a sentence, too long for a tag.
        rows: found.map(({ what, state, text, href }) =>
          state === 'good'
            ? [what, { text, tone: state }]
            : [{ text: what, tone: state, ...(href && opens(href) && { href }) }, text],
        ),
      },
    ];
  };
  const isUrgent = ending.length > 0;
  return {
    attention: present([
      ...parts(t('console.overview.attention'), ['bad', 'warn']),
      unused && unusedBlock(unused, may(APPROVE)),
      locked.length > 0 && lockedTable(locked, users, may('gatehouse.users:unlock')),
      waiting.length > 0 && waitingTable(waiting, users),
      isUrgent && expiry,
    ]),
    quiet: present([!isUrgent && expiry, ...parts(t('console.overview.health'), ['good'])]),
  };
}

// What a new installation still needs, at the top of the overview until all of it is done.

/** Dismisses the checklist for this administrator, or brings it back. */
const firstStepsButton = (what: 'hide' | 'show'): Action => ({
  label: t(`console.overview.first-steps-${what}`),
  post: '/admin',
  fields: { first_steps: what },
});

/** Returns the function that makes the checklist for one administrator; no block when nothing is left to do. */
function createFirstSteps(services: ConsoleServices) {
  const { accounts, config, mailServer } = services;
  const { factors } = services.mfa;
  const { users: userAdmin } = services.admin;

  /** Another administrator: one who can sign in, and so let this one in again, else one who cannot yet. */
  async function otherOf(userId: string): Promise<OtherAdministrator | undefined> {
    const ids = (await listAdministrators(services, accounts.find)).flatMap(({ id }) => (id === userId ? [] : id));
    const { accounts: others } = await accounts.list({ ids, sort: 'created' });
    for (const { id, invitation } of others)
      if (invitation === null || invitation === 'accepted' || (await userAdmin.hasCredentials(id)))
        return { state: 'ready' };
    const isInvited = ({ invitation }: AccountSummary) => invitation === 'invited' || invitation === 'opened';
    const invited = others.find(isInvited);
    const other = invited ?? others[0];
    return other && { state: invited ? 'invited' : 'locked-out', who: nameAndUsername(other), id: other.id };
  }

  /** What other people of the first ones lack: an account, or an invitation for all of them. */
  async function othersLack(userId: string): Promise<'people' | 'invitations' | undefined> {
    const first = (await accounts.list({ sort: 'created', limit: FIRST_PEOPLE })).accounts;
    const others = first.filter(({ id }) => id !== userId);
    if (others.length === 0) return 'people';
    return others.every(({ invitation }) => invitation === 'needed') ? 'invitations' : undefined;
  }

  return async function firstSteps(
    userId: string,
    { applications }: Statistics,
    may: (need: Need) => boolean,
  ): Promise<Block[]> {
    const [own, otherAdmin, lack] = await Promise.all([factors.of(userId), otherOf(userId), othersLack(userId)]);
    const isProtected = hasSecondFactor(own) || own.phone !== undefined;
    const all = stepsOf({
      config,
      hasMailServer: mailServer.isSet(),
      isProtected,
      otherAdmin,
      lack,
      applications,
      may,
    });
    // Only what this administrator may do.
    const steps = all.flatMap(({ isAllowed, ...step }) => (isAllowed ? [step] : []));
    const done = steps.filter(({ isDone }) => isDone).length;
    if (done === steps.length) return [];
    return [
      {
        kind: 'steps',
        title: t('console.overview.first-steps'),
        lead: t('console.overview.first-steps-done', { done, total: steps.length }),
        actions: [firstStepsButton('hide')],
        steps,
      },
    ];
  };
}

type OtherAdministrator = { state: 'ready' } | { state: 'invited' | 'locked-out'; who: string; id: string };

function secondAdministrator(other: OtherAdministrator | undefined): Omit<Step, 'title'> {
  if (other && other.state !== 'ready') {
    const { state, who, id } = other;
    const action = { label: t('console.users.directory-open', { name: who }), href: `/admin/users/${id}` };
    return { text: t('console.overview.step.second-admin-waits', { state, who }), isDone: false, action };
  }
  return {
    text: t('console.overview.step.second-admin-text'),
    isDone: other !== undefined,
    action: {
      label: t('console.overview.step.people-action'),
      of: t('console.overview.step.second-admin'),
      href: `/admin/users/new?role=${ADMIN_ROLE}`,
    },
  };
}

/** So many accounts, the oldest first, say whether people were invited. */
const FIRST_PEOPLE = 20;

interface Situation extends Pick<Statistics, 'applications'> {
  config: ConsoleServices['config'];
  hasMailServer: boolean;
  /** Whether the administrator has a second factor. */
  isProtected: boolean;
  otherAdmin: OtherAdministrator | undefined;
  lack: 'people' | 'invitations' | undefined;
  may(need: Need): boolean;
}

function stepsOf({
  config,
  hasMailServer,
  isProtected,
  otherAdmin,
  lack,
  applications,
  may,
}: Situation): (Step & { isAllowed: boolean })[] {
  return [
    {
      isAllowed: true,
      title: t('console.overview.step.protect'),
      text: t('console.overview.step.protect-text'),
      isDone: isProtected,
      action: {
        label: t('console.overview.step.protect-action'),
        of: t('console.overview.step.protect-action-of'),
        href: '/account/factors',
      },
    },
    {
      isAllowed: may('gatehouse.settings:write'),
      title: t('console.overview.step.address'),
      text: sentences([t('console.overview.step.address-text', { issuer: config.issuer }), HOW_TO_SET_THE_ADDRESS]),
      isDone: !config.loopback,
    },
    {
      isAllowed: may('gatehouse.settings:read') && may('gatehouse.settings:write-security'),
      title: t('console.overview.step.mail'),
      text: t('console.overview.step.mail-text'),
      isDone: hasMailServer,
      action: { label: t('console.overview.step.mail-action'), href: '/admin/settings/mail' },
    },
    {
      isAllowed: may('gatehouse.applications:write'),
      title: t('console.overview.step.application'),
      text: t('console.overview.step.application-text'),
      isDone: applications.oidc + applications.saml + applications.proxy > 0,
      action: { label: t('console.overview.step.application-action'), href: '/admin/applications/new' },
    },
    {
      isAllowed: may('gatehouse.users:write'),
      title: t('console.overview.step.people'),
      isDone: lack === undefined,
      ...(lack === 'invitations'
        ? {
            text: t('console.overview.step.people-waits'),
            action: { label: t('console.import.invite-them'), href: '/admin/users?state=needed' },
          }
        : {
            text: t('console.overview.step.people-text'),
            link: { label: t('console.import.title'), href: '/admin/import' },
            action: { label: t('console.overview.step.people-action'), href: '/admin/users/new' },
          }),
    },
    {
      isAllowed: may('gatehouse.users:write') && may('gatehouse.roles:manage'),
      title: t('console.overview.step.second-admin'),
      ...secondAdministrator(otherAdmin),
    },
  ];
}
