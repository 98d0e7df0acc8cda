// /admin/sessions: the live single sign-on sessions, and the end of one.
import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../http/context.ts';
import { parseQuery } from '../../http/input.ts';
import { browserName } from '../../mail/browser-name.ts';
import { within } from '../../rbac/rights.ts';
import type { Cell } from '../console/blocks.ts';
import { type Frame, listPath } from '../console/frame.ts';
import type { SessionAdmin, SessionView } from './actions.ts';

const READ = 'gatehouse.sessions:read' as const;
const END = 'gatehouse.sessions:end' as const;
const query = z.object({ after: z.string().max(200).optional() });
const back = { href: '/admin/sessions', label: 'Sessions' };

export interface SessionPagesDependencies {
  frame: Frame;
  sessions: SessionAdmin;
}

/** All pages below /admin/sessions. */
export function sessionRoutes({ frame, sessions }: SessionPagesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/sessions' });

  router.get('/', ...frame.page(within(READ)), async (ctx) => {
    const { after } = parseQuery(ctx, query);
    const page = await sessions.list({ after, limit: 50 }, frame.actor(ctx));
    const mayEnd = frame.meets(ctx, within(END));
    frame.show(ctx, {
      title: 'Sessions',
      lead: 'Who is signed in now, with which browser and in which applications.',
      blocks: [
        {
          kind: 'table',
          caption: 'Live sessions, the newest first',
          columns: ['User', 'Since', 'Browser', 'Applications', ...(mayEnd ? ['Action'] : [])],
          rows: page.sessions.map((one) => [
            ...sessionCells(one),
            ...(mayEnd ? [{ text: 'End', href: `/admin/sessions/${one.uid}/end` }] : []),
          ]),
          empty: 'No user is signed in.',
          next: page.next && listPath('/admin/sessions', { after: page.next }),
        },
      ],
    });
  });

  router.get('/:uid/end', ...frame.page(within(END)), async (ctx) => {
    const { uid, username } = await sessions.get(ctx.params.uid ?? '', frame.actor(ctx), END);
    const lead = 'It ends now, and its applications are notified.';
    const action = `/admin/sessions/${uid}/end`;
    frame.show(ctx, {
      title: `End the session of ${username}?`,
      back,
      blocks: [{ kind: 'form', lead, action, fields: [], button: 'End it', look: 'danger', cancel: back.href }],
    });
  });

  router.post('/:uid/end', ...frame.change(within(END)), async (ctx) => {
    await sessions.end(ctx.params.uid ?? '', frame.actor(ctx));
    frame.redirect(ctx, '/admin/sessions', 'The session ended.');
  });

  return router;
}

function sessionCells({ username, accountId, signedInAt, device, participants }: SessionView): Cell[] {
  return [
    { text: username || accountId, href: `/admin/users/${accountId}` },
    signedInAt,
    device ? { text: browserName(device.userAgent) ?? 'Unknown browser', small: device.address } : null,
    participants.map(({ clientId }) => clientId),
  ];
}
