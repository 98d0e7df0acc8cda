// Enables, disables and deletes a connection.
import type Router from '@koa/router';
import { z } from 'zod';
import type { Notice } from '../../account/account-page-helpers.ts';
import type { Extras, State } from '../../base/http/context.ts';
import { parseForm } from '../../base/http/input.ts';
import { type PageText, sentences, t } from '../../base/texts/text.ts';
import type { Connection } from '../../federation/connections/connection.ts';
import type { EndResult } from '../../protocols/logout/end-session.ts';
import type { ConsolePage, Field } from '../console/blocks.ts';
import { assertTypedName, deletionForm, readTypedName } from '../console/danger-zone.ts';
import { endedNotice } from '../sessions/console.ts';
import { assertChangeable, type ConnectionPagesDependencies, HOME, pathOf, WRITE } from './console-parts.ts';

const endForm = z.object({ end_sessions: z.literal('on').optional() });

export function addStateRoutes(
  router: Router<State, Extras>,
  { frame, connections }: ConnectionPagesDependencies,
): void {
  router.post('/:id/enable', ...frame.change(WRITE), async (ctx) => {
    const { id = '' } = ctx.params;
    await connections.setEnabled(id, true, frame.actor(ctx));
    frame.redirect(ctx, pathOf(id), t('console.connections.enabled-notice'));
  });

  router.get('/:id/disable', ...frame.page(WRITE), async (ctx) => {
    await assertChangeable({ connections }, ctx.params.id ?? '');
    const { connection } = await connections.get(ctx.params.id ?? '');
    frame.show(ctx, disablePage(connection, await connections.countSessions(connection.id)));
  });

  router.post('/:id/disable', ...frame.change(WRITE), async (ctx) => {
    const { id = '' } = ctx.params;
    const { end_sessions: ends } = await parseForm(ctx, endForm.loose());
    await connections.setEnabled(id, false, frame.actor(ctx));
    const ended = ends === 'on' ? await connections.endSessions(id, frame.actor(ctx)) : undefined;
    const { text, tone } = withEnded(t('console.connections.disabled-notice'), ended);
    frame.redirect(ctx, pathOf(id), text, tone);
  });

  router.get('/:id/delete', ...frame.page(WRITE), async (ctx) => {
    const { id = '' } = ctx.params;
    await assertChangeable({ connections }, id);
    frame.show(ctx, await deletePage(id));
  });

  router.post('/:id/delete', ...frame.change(WRITE), async (ctx) => {
    const { id = '' } = ctx.params;
    const { end_sessions: ends } = await parseForm(ctx, endForm.loose());
    const typed = await readTypedName(ctx);
    await frame.attempt(
      ctx,
      async () => {
        assertTypedName(typed, id);
        // First: afterwards nothing says which sessions began there.
        const ended = ends === 'on' ? await connections.endSessions(id, frame.actor(ctx)) : undefined;
        await connections.remove(id, frame.actor(ctx));
        const { text, tone } = withEnded(t('console.connections.deleted'), ended);
        frame.redirect(ctx, HOME, text, tone);
      },
      () => deletePage(id, { typed, ends: ends === 'on' }),
    );
  });

  /** Names the ID, because a row that another program wrote has no name that could be trusted. */
  async function deletePage(id: string, { typed = '', ends = false } = {}): Promise<ConsolePage> {
    const lead = t('console.connections.delete-lead');
    const fields = [{ ...endSessionsField(await connections.countSessions(id)), checked: ends }];
    return {
      title: t('console.connections.delete-title', { id }),
      back: { href: HOME, label: t('console.navigation.connections') },
      blocks: [deletionForm({ at: pathOf(id), name: id, lead, fields, typed, cancel: HOME })],
    };
  }
}

function disablePage({ id, name }: Connection, sessions: number): ConsolePage {
  const at = pathOf(id);
  return {
    title: t('console.connections.disable-title', { name }),
    back: { href: at, label: name },
    blocks: [
      {
        kind: 'form',
        lead: t('console.connections.disable-lead'),
        action: `${at}/disable`,
        fields: [endSessionsField(sessions)],
        button: t('console.shared.disable'),
        look: 'danger',
        cancel: at,
      },
    ],
  };
}

function endSessionsField(count: number): Field {
  return {
    name: 'end_sessions',
    type: 'checkbox',
    label: t('console.connections.end-sessions'),
    hint: t('console.connections.end-sessions-hint', { count }),
  };
}

function withEnded(sentence: PageText, ended: readonly EndResult[] | undefined): Notice {
  if (ended === undefined) return { text: sentence, tone: 'good' };
  const count = t('console.connections.sessions-ended', { count: ended.length });
  return endedNotice(sentences([sentence, count]), ended);
}
