// /admin/sessions: the live single sign-on sessions, and the end of one.

import { z } from 'zod';
import type { Notice } from '../../account/account-page-helpers.ts';
import { nameAndUsername } from '../../base/http/pages/tokens.ts';
import { limits } from '../../base/limits.ts';
import { addressIn, listOf, type PageText, sentences, t } from '../../base/texts/text.ts';
import { browserName } from '../../core/mail/browser-name.ts';
import { within } from '../../people/rbac/rights.ts';
import type { EndResult } from '../../protocols/logout/end-session.ts';
import { applicationsIn } from '../../protocols/oidc/store/sessions/sessions.ts';
import type { Cell } from '../console/blocks.ts';
import { listAt, tableOf } from '../console/lists.ts';
import { applicationTags, type NamedUser, type Names, personLogo } from '../console/names.ts';
import type { FormRoute } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import { pagesOf } from '../noun-pages.ts';
import { sameNameText, typedUserValue, userFilter } from '../suggestions/typed-user.ts';
import { END, type SessionView, sessionNoun } from './sessions.ts';

const back = { href: '/admin/sessions', label: t('console.navigation.sessions') };
const listIn = listAt(back.href, { user: z.string().trim().max(254).default('') }, ['-since', 'since']);

/** All pages below /admin/sessions. */
export function sessionRoutes(services: ConsoleServices) {
  const {
    admin: { sessions },
    findUser,
    names,
  } = services;
  const { router, list, question } = pagesOf(services, sessionNoun(sessions));

  list(async ({ ctx, by, meets }) => {
    const list = listIn(ctx);
    const { after, user, sort } = list.given;
    const found = user === '' ? undefined : await findUser(user, by);
    const filter = { isAscending: sort === 'since', ...(user !== '' && { userId: found?.account?.id ?? '' }) };
    const page = await sessions.list({ ...filter, after, limit: limits.api.pageSize }, by);
    const users = await names.users(page.sessions.map(({ accountId }) => accountId));
    return {
      title: t('console.navigation.sessions'),
      lead: t('console.sessions.lead'),
      blocks: [
        {
          kind: 'table',
          caption: t('console.sessions.caption'),
          filter: list.search([userFilter(t('console.sessions.search'), typedUserValue(user, found))]),
          ...tableOf(page.sessions, [
            [t('console.person.user'), (one) => userOf(one, users)],
            [t('console.sessions.column.device'), deviceCell],
            [t('console.person.applications'), await applicationsOf(page.sessions, names)],
            [list.column(t('console.sessions.column.since'), '-since'), ({ signedInAt }) => signedInAt],
            [t('console.sessions.column.last-used'), ({ device }) => device?.lastSeenAt],
            meets(within(END)) && [
              t('console.sessions.column.action'),
              (one) => endCell(one, `${back.href}/${one.uid}/end`),
            ],
          ]),
          empty: found
            ? (sameNameText(user, found) ?? t('console.sessions.not-signed-in', { user }))
            : {
                icon: 'monitor-smartphone',
                title: t('console.sessions.none'),
                text: t('console.sessions.none.text'),
              },
          pages: list.pages(page.next),
        },
      ],
    };
  });

  question(
    '/end',
    endQuestion(sessions, () => back),
  );
  return router;
}

/** The question before a session is ended, from the list of all or of a user. */
export function endQuestion(
  sessions: ConsoleServices['admin']['sessions'],
  back: (session: SessionView) => { href: string; label: PageText },
): FormRoute<SessionView> {
  return {
    needs: [within(END)],
    load: ({ params: { uid = '' } }, by) => sessions.get(uid, by, END),
    title: (session) => t('console.sessions.end.title', { user: nameAndUsername(session) }),
    back,
    above: ({ subject }) => [
      {
        kind: 'facts',
        rows: [
          { label: t('console.sessions.column.device'), value: deviceCell(subject) },
          { label: t('console.sessions.column.since'), value: subject.signedInAt },
          { label: t('console.sessions.column.last-used'), value: subject.device?.lastSeenAt },
        ],
      },
    ],
    lead: () => t('console.sessions.end.lead'),
    button: t('console.sessions.end.button'),
    async submit({ by, may, subject }) {
      const ended = await sessions.end(subject.uid, by);
      const link = ended.run && may('gatehouse.audit:read') ? ACTIVITY : undefined;
      return { to: back(subject).href, notice: { ...endedNotice(t('console.sessions.ended'), [ended]), link } };
    },
  };
}

/** Where the result of each application is listed. */
export const ACTIVITY = { href: '/admin/audit?kind=session', label: t('console.audit.title') };

/** That sessions ended, which of their applications are being notified, and which cannot be. */
export function endedNotice(ended: PageText, results: readonly EndResult[]): Notice {
  const namesOf = (which: 'notified' | 'notNotified') => [...new Set(results.flatMap(({ run }) => run?.[which] ?? []))];
  const [notified, others] = [namesOf('notified'), namesOf('notNotified')];
  return {
    text: sentences([
      ended,
      notified.length > 0 && t('console.sessions.notifying', { apps: listOf(notified) }),
      others.length > 0 && t('console.sessions.not-notified', { apps: listOf(others) }),
    ]),
    tone: others.length > 0 ? 'warn' : 'good',
  };
}

function userOf({ name, username, accountId }: SessionView, users: ReadonlyMap<string, NamedUser>): Cell {
  const text = name ?? (username || accountId);
  const small = name === null ? undefined : username;
  return {
    text,
    small,
    href: `/admin/users/${accountId}`,
    logo: personLogo(users.get(accountId) ?? { username: text }),
  };
}

/** The browser and its address. */
export function deviceCell({ device }: SessionView): Cell {
  if (!device) return null;
  const text = browserName(device.userAgent) ?? t('console.person.unknown-browser');
  return { text, small: addressIn(device.address, device.country) };
}

/** The applications in which each of these sessions is. */
export async function applicationsOf(sessions: readonly SessionView[], names: Names) {
  const found = await names.applications(sessions.flatMap(applicationsIn));
  return (session: SessionView): Cell => applicationTags(applicationsIn(session), found);
}

export function endCell(session: SessionView, href: string): Cell {
  const { device, signedInAt } = session;
  const browser = browserName(device?.userAgent ?? '') ?? t('console.person.unknown-browser');
  const of = t('console.sessions.end.of', { user: nameAndUsername(session), browser, since: signedInAt });
  return { label: t('console.sessions.end'), of, href };
}
