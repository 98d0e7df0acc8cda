// Enables, disables and deletes a connection.
import type Router from '@koa/router';
import { z } from 'zod';
import type { Connection } from '../../connections/connection.ts';
import type { Extras, State } from '../../http/context.ts';
import { parseForm } from '../../http/input.ts';
import { plural } from '../../platform/plural.ts';
import type { ConsolePage, Field } from '../console/blocks.ts';
import { type ConnectionPagesDependencies, HOME, pathOf, WRITE } from './console-parts.ts';

const endForm = z.object({ end_sessions: z.literal('on').optional() });

export function addStateRoutes(
  router: Router<State, Extras>,
  { frame, connections }: ConnectionPagesDependencies,
): void {
  router.post('/:id/enable', ...frame.change(WRITE), async (ctx) => {
    const { id = '' } = ctx.params;
    await connections.setEnabled(id, true, frame.actor(ctx));
    frame.redirect(ctx, pathOf(id), 'Connection enabled.');
  });

  router.get('/:id/disable', ...frame.page(WRITE), async (ctx) => {
    const { connection } = await connections.get(ctx.params.id ?? '');
    frame.show(ctx, disablePage(connection, await connections.countSessions(connection.id)));
  });

  router.post('/:id/disable', ...frame.change(WRITE), async (ctx) => {
    const { id = '' } = ctx.params;
    const { end_sessions: ends } = await parseForm(ctx, endForm.loose());
    await connections.setEnabled(id, false, frame.actor(ctx));
    const ended = ends === 'on' ? await connections.endSessions(id, frame.actor(ctx)) : undefined;
    frame.redirect(ctx, pathOf(id), `Connection disabled.${endedText(ended)}`);
  });

  router.get('/:id/delete', ...frame.page(WRITE), async (ctx) => {
    const { id = '' } = ctx.params;
    frame.show(ctx, deletePage(id, await connections.countSessions(id)));
  });

  router.post('/:id/delete', ...frame.change(WRITE), async (ctx) => {
    const { id = '' } = ctx.params;
    const { end_sessions: ends } = await parseForm(ctx, endForm.loose());
    // First: afterwards nothing says which sessions began there.
    const ended = ends === 'on' ? await connections.endSessions(id, frame.actor(ctx)) : undefined;
    await connections.remove(id, frame.actor(ctx));
    frame.redirect(ctx, HOME, `Connection deleted.${endedText(ended)}`);
  });
}

function disablePage({ id, name }: Connection, sessions: number): ConsolePage {
  const at = pathOf(id);
  return {
    title: `Disable ${name}?`,
    back: { href: at, label: name },
    blocks: [
      {
        kind: 'form',
        lead: 'People can’t sign in or link an account with it. Existing links stay.',
        action: `${at}/disable`,
        fields: [endSessionsField(sessions)],
        button: 'Disable',
        look: 'danger',
        cancel: at,
      },
    ],
  };
}

function deletePage(id: string, sessions: number): ConsolePage {
  const lead =
    'Deletes the users’ links to it and the roles they have through it. Their accounts stay. Users without a password or passkey here can’t sign in anymore.';
  return {
    title: `Delete the connection ${id}?`,
    back: { href: HOME, label: 'Connections' },
    blocks: [
      {
        kind: 'form',
        lead,
        action: `${pathOf(id)}/delete`,
        fields: [endSessionsField(sessions)],
        button: 'Delete',
        look: 'danger',
        cancel: HOME,
      },
    ],
  };
}

function endSessionsField(count: number): Field {
  return {
    ...{ name: 'end_sessions', type: 'checkbox', label: 'Also end sessions from this connection' },
    hint: `${count} now. If you don’t end them, they stay until they expire.`,
  };
}

function endedText(ended: number | undefined): string {
  return ended === undefined ? '' : ` ${plural(ended, 'session')} ended.`;
}
