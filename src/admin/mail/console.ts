// /admin/mail: how mail leaves this server, a test email with the answer of the mail server, and the queue.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { parseQuery } from '../../base/http/input.ts';
import { t } from '../../base/texts/text.ts';
import type { SendOutcome } from '../../core/mail/transport.ts';
import type { Action, Block, Cell, ConsolePage, Mark, Search } from '../console/blocks.ts';
import { cursorField, trailField } from '../console/frame.ts';
import { type ListAddress, pageLinks, sortColumn } from '../console/lists.ts';
import type { ConsoleServices } from '../console-services.ts';
import type { MailAdmin, MailView } from './actions.ts';
import { STATES, stateMark, WRITTEN } from './states.ts';
import { mailTabs } from './tabs.ts';

const HERE = '/admin/mail';
const READ = 'gatehouse.mail:read' as const;
const WRITE = 'gatehouse.mail:write' as const;
const query = z.object({
  state: z.enum(['', 'waiting', 'sent', 'failed']).default(''),
  after: cursorField,
  trail: trailField,
  sort: z.enum(['created', '-created']).default('-created'),
});
const SEND_TEST = { label: t('console.mail.send-test'), icon: 'send', post: `${HERE}/test` };

/** All pages below /admin/mail, except the templates. */
export function mailRoutes(services: ConsoleServices): Router<State, Extras> {
  const {
    frame,
    admin: { mail },
  } = services;
  const router = new Router<State, Extras>({ prefix: HERE });

  router.get('/', ...frame.page(READ), async (ctx) => frame.show(ctx, await queuePage(services, ctx)));

  // Displayed at once and not stored: the answer of the mail server is for this administrator.
  router.post('/test', ...frame.change(WRITE), (ctx) =>
    frame.attempt(
      ctx,
      async () => {
        const result = await mail.sendTest(frame.account(ctx), frame.actor(ctx));
        frame.show(
          ctx,
          await queuePage(services, ctx, testBlocks(result, frame.account(ctx).email ?? '', mail.server)),
        );
      },
      () => queuePage(services, ctx),
    ),
  );

  router.post('/:id/retry', ...frame.change(WRITE), async (ctx) => {
    await mail.retry(ctx.params.id ?? '', frame.actor(ctx));
    frame.redirect(ctx, HERE, t('console.mail.queued'), 'plain');
  });

  return router;
}

async function queuePage(
  { frame, admin: { mail } }: ConsoleServices,
  ctx: Context,
  result: Block[] = [],
): Promise<ConsolePage> {
  const given = parseQuery(ctx, query);
  const { state, after, sort } = given;
  const [page, counts] = await Promise.all([
    mail.list({ limit: 50, after, isOldestFirst: sort === 'created', ...(state && { state }) }),
    mail.state(),
  ]);
  const list: ListAddress = { path: HERE, filters: { state }, sort, defaultSort: '-created' };
  const mayWrite = frame.may(ctx, WRITE);
  return {
    title: t('console.navigation.mail'),
    lead: t('console.mail.lead'),
    tabs: mailTabs('queue'),
    actions: mayWrite ? [{ ...SEND_TEST, look: 'primary' }] : [],
    blocks: [
      ...result,
      stateBlock(mail.server, counts),
      {
        kind: 'table',
        title: t('console.mail.queue'),
        filter: stateFilter(given, mail.server),
        caption: t('console.navigation.mail'),
        columns: [
          ...[t('console.mail.to'), t('console.mail.subject'), t('console.shared.state')],
          sortColumn(t('console.mail.created'), '-created', list),
          t('console.mail.attempts'),
          ...(mayWrite ? [t('console.shared.action')] : []),
        ],
        rows: page.items.map((one) => mailCells(one, mayWrite, mail.server)),
        empty: state
          ? t('console.mail.no-match')
          : { icon: 'mail', title: t('console.mail.empty.title'), text: t('console.mail.empty.text') },
        pages: pageLinks(list, given, page.next),
      },
    ],
  };
}

function mailCells(
  { id, recipient, subject, state, createdAt, tries, lastError }: MailView,
  mayWrite: boolean,
  { host }: MailAdmin['server'],
): Cell[] {
  const of = t('console.mail.retry-of', { subject, recipient });
  const retry: Action = { label: t('console.mail.retry'), of, post: `${HERE}/${id}/retry` };
  return [
    { text: recipient, small: state === 'sent' ? undefined : (lastError ?? undefined) },
    subject,
    stateMark({ state }, host !== undefined),
    createdAt,
    tries,
    ...(mayWrite ? [state === 'sent' ? null : { action: retry }] : []),
  ];
}

function stateBlock(
  { host, sender, folder }: MailAdmin['server'],
  { waiting, failed, lastError }: Awaited<ReturnType<MailAdmin['state']>>,
): Block {
  const isStuck = waiting > 0 && lastError !== null;
  const state: Mark = isStuck
    ? { text: t('console.mail.not-delivering'), tone: 'bad' }
    : failed > 0
      ? { text: t('console.mail.some-failed'), tone: 'warn' }
      : { text: host ? t('console.mail.ready') : t('console.mail.written-to-files'), tone: host ? 'good' : 'warn' };
  return {
    kind: 'facts',
    title: t('console.mail.delivery'),
    rows: [
      { label: t('console.shared.state'), value: state },
      {
        label: t('console.mail.server'),
        value: host ?? { text: t('console.mail.no-server'), small: t('console.mail.no-server-hint', { folder }) },
      },
      { label: t('console.mail.sender'), value: sender },
      { label: t('console.mail.state.waiting'), value: waiting },
      { label: t('console.mail.state.failed'), value: failed },
      ...(lastError ? [{ label: t('console.mail.last-error'), value: lastError }] : []),
    ],
  };
}

/** The result of a test in words, and the answer of the mail server behind it. */
function testBlocks(result: SendOutcome, email: string, { host, sender }: MailAdmin['server']): Block[] {
  const answer = result.outcome === 'sent' ? result.answer : result.reason;
  const busy = { title: t('console.mail.test.busy'), text: t('console.mail.test.busy-text') };
  const texts = {
    sent: host
      ? { title: t('console.mail.test.accepted'), text: t('console.mail.test.accepted-text', { email }) }
      : { title: t('console.mail.test.written'), text: t('console.mail.test.written-text') },
    rejected: { title: t('console.mail.test.rejected'), text: t('console.mail.test.rejected-text', { email }) },
    unusable: { title: t('console.mail.test.no-server'), text: t('console.mail.test.no-server-text') },
    sender: { title: t('console.mail.test.sender'), text: t('console.mail.test.sender-text', { sender }) },
    busy,
  };
  const isPostponed = result.outcome === 'rejected' && !result.isFinal;
  const words = isPostponed ? busy : texts[result.outcome === 'no-server' ? result.cause : result.outcome];
  return [
    {
      kind: 'verdict',
      isGood: result.outcome === 'sent',
      isWarning: result.outcome === 'sent' && host === undefined,
      ...words,
      causes: [],
    },
    ...(answer
      ? [
          {
            kind: 'code' as const,
            title: t('console.mail.details'),
            label: t('console.mail.answer'),
            text: answer,
            isClosed: true,
          },
        ]
      : []),
  ];
}

function stateFilter({ state, sort }: z.output<typeof query>, { host }: MailAdmin['server']): Search {
  const options = [
    { value: '', label: t('console.mail.any-state') },
    ...Object.entries(host ? STATES : { ...STATES, sent: WRITTEN }).map(([value, { text }]) => ({
      value,
      label: text,
    })),
  ];
  const field = { name: 'state', label: t('console.shared.state'), type: 'select' as const, value: state, options };
  const order = { name: 'sort', label: '', type: 'hidden' as const, value: sort === '-created' ? '' : sort };
  return { action: HERE, button: t('console.mail.filter'), fields: [field, order] };
}
