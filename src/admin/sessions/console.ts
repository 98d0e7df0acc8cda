// /admin/sessions: the live single sign-on sessions, and the end of one.
import Router from '@koa/router';
import { z } from 'zod';
import type { Notice } from '../../account/account-page-helpers.ts';
import type { Extras, State } from '../../base/http/context.ts';
import { parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { listOf, type PageText, sentences, t } from '../../base/texts/text.ts';
import { browserName } from '../../core/mail/browser-name.ts';
import { within } from '../../people/rbac/rights.ts';
import type { EndResult } from '../../protocols/logout/end-session.ts';
import type { Cell, Empty, Search } from '../console/blocks.ts';
import { cursorField, type Frame, trailField } from '../console/frame.ts';
import { pageLinks, sortColumn } from '../console/lists.ts';
import { applicationTags, type Names, nameAndUsername } from '../console/names.ts';
import { type FindTypedUser, sameNameText, typedUserValue } from '../suggestions/typed-user.ts';
import type { SessionAdmin, SessionView } from './actions.ts';

const READ = 'gatehouse.sessions:read' as const;
const END = 'gatehouse.sessions:end' as const;
const query = z.object({
  after: cursorField,
  trail: trailField,
  user: z.string().trim().max(254).default(''),
  sort: z.enum(['since', '-since']).default('-since'),
});
const back = { href: '/admin/sessions', label: t('console.navigation.sessions') };

export interface SessionPagesDependencies {
  frame: Frame;
  sessions: SessionAdmin;
  findUser: FindTypedUser;
  names: Names;
}

/** All pages below /admin/sessions. */
export function sessionRoutes(dependencies: SessionPagesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/sessions' });
  sessionList(router, dependencies);
  sessionEnd(router, dependencies);
  return router;
}

function sessionList(router: Router<State, Extras>, dependencies: SessionPagesDependencies): void {
  const { frame, sessions, findUser, names } = dependencies;
  router.get('/', ...frame.page(within(READ)), async (ctx) => {
    const given = parseQuery(ctx, query);
    const { after, user, sort } = given;
    const found = user === '' ? undefined : await findUser(user, frame.actor(ctx));
    const filter = { isAscending: sort === 'since', ...(user !== '' && { userId: found?.account?.id ?? '' }) };
    const page = await sessions.list({ ...filter, after, limit: limits.api.pageSize }, frame.actor(ctx));
    const list = { path: back.href, filters: { user }, sort, defaultSort: '-since' };
    const mayEnd = frame.meets(ctx, within(END));
    const applications = await names.applications(
      page.sessions.flatMap(({ participants }) => participants.map(({ clientId }) => clientId)),
    );
    frame.show(ctx, {
      title: t('console.navigation.sessions'),
      lead: t('console.sessions.lead'),
      blocks: [
        {
          kind: 'table',
          caption: t('console.sessions.caption'),
          filter: filterOf(typedUserValue(user, found), sort),
          columns: [
            t('console.person.user'),
            t('console.sessions.column.device'),
            t('console.person.applications'),
            sortColumn(t('console.sessions.column.since'), '-since', list),
            t('console.sessions.column.last-used'),
            ...(mayEnd ? [t('console.sessions.column.action')] : []),
          ],
          rows: page.sessions.map((one) => [...sessionCells(one, applications), ...(mayEnd ? [endCell(one)] : [])]),
          empty: found ? (sameNameText(user, found) ?? t('console.sessions.not-signed-in', { user })) : NOBODY,
          pages: pageLinks(list, given, page.next),
        },
      ],
    });
  });
}

function sessionEnd(router: Router<State, Extras>, { frame, sessions }: SessionPagesDependencies): void {
  router.get('/:uid/end', ...frame.page(within(END)), async (ctx) => {
    const session = await sessions.get(ctx.params.uid ?? '', frame.actor(ctx), END);
    const { uid, name, username } = session;
    const lead = t('console.sessions.end.lead', { user: name ?? username });
    const action = `/admin/sessions/${uid}/end`;
    frame.show(ctx, {
      title: t('console.sessions.end.title', { user: nameAndUsername(session) }),
      back,
      blocks: [
        {
          kind: 'form',
          lead,
          action,
          fields: [],
          button: t('console.sessions.end.button'),
          look: 'danger',
          cancel: back.href,
        },
      ],
    });
  });

  router.post('/:uid/end', ...frame.change(within(END)), async (ctx) => {
    const ended = await sessions.end(ctx.params.uid ?? '', frame.actor(ctx));
    const { text, tone } = endedNotice(t('console.sessions.ended'), [ended]);
    const log = frame.may(ctx, 'gatehouse.audit:read') ? ACTIVITY : undefined;
    frame.redirect(ctx, '/admin/sessions', text, tone, ended.run && log);
  });
}

/** Where the result of each application is listed. */
const ACTIVITY = { href: '/admin/audit?kind=session', label: t('console.audit.title') };

/** That sessions ended, which of their applications are being notified, and which cannot be. */
export function endedNotice(ended: PageText, results: readonly EndResult[]): Notice {
  const namesOf = (which: 'notified' | 'notNotified') => [...new Set(results.flatMap(({ run }) => run?.[which] ?? []))];
  const [notified, others] = [namesOf('notified'), namesOf('notNotified')];
  return {
    text: sentences([
      ended,
      ...(notified.length > 0 ? [t('console.sessions.notifying', { apps: listOf(notified) })] : []),
      ...(others.length > 0 ? [t('console.sessions.not-notified', { apps: listOf(others) })] : []),
    ]),
    tone: others.length > 0 ? 'warn' : 'good',
  };
}

function filterOf(user: ReturnType<typeof typedUserValue>, sort: string): Search {
  const text = t('console.sessions.search');
  return {
    action: back.href,
    fields: [
      { name: 'user', label: text, ...user, suggest: 'users', isLabelHidden: true, placeholder: text },
      { name: 'sort', label: '', type: 'hidden', value: sort === '-since' ? '' : sort },
    ],
  };
}

const NOBODY: Empty = {
  icon: 'monitor-smartphone',
  title: t('console.sessions.none'),
  text: t('console.sessions.none.text'),
};

function endCell(session: SessionView): Cell {
  return {
    action: {
      label: t('console.sessions.end'),
      of: t('console.sessions.end.of', { user: nameAndUsername(session) }),
      href: `/admin/sessions/${session.uid}/end`,
    },
  };
}

function sessionCells(
  { name, username, accountId, signedInAt, device, participants }: SessionView,
  applications: Awaited<ReturnType<Names['applications']>>,
): Cell[] {
  const text = name ?? (username || accountId);
  const small = name === null ? undefined : username;
  return [
    { text, small, href: `/admin/users/${accountId}`, logo: { name: text, isPerson: true } },
    device
      ? { text: browserName(device.userAgent) ?? t('console.person.unknown-browser'), small: device.address }
      : null,
    applicationTags(
      participants.map(({ clientId }) => clientId),
      applications,
    ),
    signedInAt,
    device?.lastSeenAt,
  ];
}
