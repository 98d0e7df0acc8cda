// /admin/sessions: the live single sign-on sessions, and the end of one.
import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../http/context.ts';
import { parseQuery } from '../../http/input.ts';
import { browserName } from '../../mail/browser-name.ts';
import { within } from '../../rbac/rights.ts';
import { FIRST_PARTY_CLIENT_ID } from '../../rp/first-party-client.ts';
import type { Cell, Empty } from '../console/blocks.ts';
import { type Frame, listPath } from '../console/frame.ts';
import { applicationCell, type Names } from '../console/names.ts';
import type { SessionAdmin, SessionView } from './actions.ts';

const READ = 'gatehouse.sessions:read' as const;
const END = 'gatehouse.sessions:end' as const;
const query = z.object({ after: z.string().max(200).optional() });
const back = { href: '/admin/sessions', label: 'Sessions' };

export interface SessionPagesDependencies {
  frame: Frame;
  sessions: SessionAdmin;
  names: Pick<Names, 'applications'>;
}

/** All pages below /admin/sessions. */
export function sessionRoutes({ frame, sessions, names }: SessionPagesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/sessions' });

  router.get('/', ...frame.page(within(READ)), async (ctx) => {
    const { after } = parseQuery(ctx, query);
    const page = await sessions.list({ after, limit: 50 }, frame.actor(ctx));
    const mayEnd = frame.meets(ctx, within(END));
    const applications = await names.applications(
      page.sessions.flatMap(({ participants }) => participants.map(({ clientId }) => clientId)),
    );
    frame.show(ctx, {
      title: 'Sessions',
      lead: 'Who is signed in now, on which device and in which applications.',
      blocks: [
        {
          kind: 'table',
          caption: 'Live sessions, newest first',
          columns: ['User', 'Device', 'Applications', 'Signed in', 'Last used', ...(mayEnd ? ['Action'] : [])],
          rows: page.sessions.map((one) => [...sessionCells(one, applications), ...(mayEnd ? [endCell(one)] : [])]),
          empty: NOBODY,
          next: page.next && listPath('/admin/sessions', { after: page.next }),
        },
      ],
    });
  });

  router.get('/:uid/end', ...frame.page(within(END)), async (ctx) => {
    const { uid, username } = await sessions.get(ctx.params.uid ?? '', frame.actor(ctx), END);
    const lead = `Signs ${username} out on this device, and notifies the applications of the session.`;
    const action = `/admin/sessions/${uid}/end`;
    frame.show(ctx, {
      title: `End the session of ${username}?`,
      back,
      blocks: [{ kind: 'form', lead, action, fields: [], button: 'End session', look: 'danger', cancel: back.href }],
    });
  });

  router.post('/:uid/end', ...frame.change(within(END)), async (ctx) => {
    await sessions.end(ctx.params.uid ?? '', frame.actor(ctx));
    frame.redirect(ctx, '/admin/sessions', 'Session ended');
  });

  return router;
}

const NOBODY: Empty = {
  icon: 'monitor-smartphone',
  title: 'No live sessions',
  text: 'Sessions appear here when people sign in.',
};

function endCell({ uid, username }: SessionView): Cell {
  return { action: { label: 'End', of: `session of ${username}`, href: `/admin/sessions/${uid}/end` } };
}

function sessionCells(
  { username, accountId, signedInAt, device, participants }: SessionView,
  applications: Awaited<ReturnType<Names['applications']>>,
): Cell[] {
  const name = username || accountId;
  return [
    { text: name, href: `/admin/users/${accountId}`, logo: { name, isPerson: true } },
    device ? { text: browserName(device.userAgent) ?? 'Unknown browser', small: device.address } : null,
    participants.map(({ clientId }) =>
      clientId === FIRST_PARTY_CLIENT_ID ? 'Gatehouse' : applicationCell(clientId, applications),
    ),
    signedInAt,
    device?.lastSeenAt,
  ];
}
