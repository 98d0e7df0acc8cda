// /admin/mail: how mail leaves this server, a test email with the answer of the mail server, and the queue. /admin/mail/templates: every mail.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../http/context.ts';
import { notFound } from '../../http/errors.ts';
import { parseQuery } from '../../http/input.ts';
import type { MailKind } from '../../mail/messages.ts';
import type { SendOutcome } from '../../mail/transport.ts';
import type { Action, Block, Cell, ConsolePage, Mark, Search, Tone } from '../console/blocks.ts';
import { type Frame, trailField } from '../console/frame.ts';
import { type ListAddress, pageLinks, sortColumn } from '../console/lists.ts';
import type { MailAdmin, MailState, MailView } from './actions.ts';
import { templateNames } from './template-names.ts';

const HERE = '/admin/mail';
const READ = 'gatehouse.mail:read' as const;
const WRITE = 'gatehouse.mail:write' as const;
const query = z.object({
  state: z.enum(['', 'waiting', 'sent', 'failed']).default(''),
  after: z.string().max(200).optional(),
  trail: trailField,
  sort: z.enum(['created', '-created']).default('-created'),
});
const STATES: Record<MailState, { text: string; tone: Tone }> = {
  sent: { text: 'Sent', tone: 'good' },
  waiting: { text: 'Waiting', tone: 'plain' },
  failed: { text: 'Failed', tone: 'bad' },
};
/** Without a mail server. */
const WRITTEN: { text: string; tone: Tone } = { text: 'Written to a file', tone: 'warn' };
/** What a template may load: nothing, and no script. */
const TEMPLATE_POLICY =
  "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'self'; sandbox";

export interface MailPagesDependencies {
  frame: Frame;
  mail: MailAdmin;
}

/** All pages below /admin/mail. */
export function mailRoutes(dependencies: MailPagesDependencies): Router<State, Extras> {
  const { frame, mail } = dependencies;
  const router = new Router<State, Extras>({ prefix: HERE });

  router.get('/', ...frame.page(READ), async (ctx) => frame.show(ctx, await queuePage(dependencies, ctx)));

  // Displayed at once and not stored: the answer of the mail server is for this administrator.
  router.post('/test', ...frame.change(WRITE), (ctx) =>
    frame.attempt(
      ctx,
      async () => {
        const result = await mail.sendTest(frame.account(ctx), frame.actor(ctx));
        frame.show(
          ctx,
          await queuePage(dependencies, ctx, testBlocks(result, frame.account(ctx).email ?? '', mail.server)),
        );
      },
      () => queuePage(dependencies, ctx),
    ),
  );

  router.post('/:id/retry', ...frame.change(WRITE), async (ctx) => {
    await mail.retry(ctx.params.id ?? '', frame.actor(ctx));
    frame.redirect(ctx, HERE, 'Email queued.');
  });

  templateRoutes(router, { frame, mail });

  return router;
}

async function queuePage(
  { frame, mail }: MailPagesDependencies,
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
    title: 'Email',
    lead: 'How email leaves this server, and what was sent.',
    tabs: tabs('queue'),
    actions: mayWrite ? [{ label: 'Send test email', icon: 'send', post: `${HERE}/test`, look: 'primary' }] : [],
    blocks: [
      ...result,
      stateBlock(mail.server, counts),
      {
        kind: 'table',
        title: 'Queue',
        filter: stateFilter(given, mail.server),
        caption: 'Email',
        columns: [
          ...['To', 'Subject', 'State'],
          sortColumn('Created', '-created', list),
          'Attempts',
          ...(mayWrite ? ['Action'] : []),
        ],
        rows: page.items.map((one) => mailCells(one, mayWrite, mail.server)),
        empty: state
          ? 'No email matches.'
          : { icon: 'mail', title: 'No email yet', text: 'Send a test email to see whether email arrives.' },
        pages: pageLinks(list, given, page.next),
      },
    ],
  };
}

const tabs = (current: 'queue' | 'templates') => [
  { href: HERE, label: 'Delivery', isCurrent: current === 'queue' },
  { href: `${HERE}/templates`, label: 'Templates', isCurrent: current === 'templates' },
];

function mailCells(
  { id, recipient, subject, state, createdAt, tries, lastError }: MailView,
  mayWrite: boolean,
  { host }: MailAdmin['server'],
): Cell[] {
  const retry: Action = { label: 'Retry', of: `${subject}, to ${recipient}`, post: `${HERE}/${id}/retry` };
  return [
    { text: recipient, small: state === 'sent' ? undefined : (lastError ?? undefined) },
    subject,
    state === 'sent' && !host ? WRITTEN : STATES[state],
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
    ? { text: 'Not delivering', tone: 'bad' }
    : failed > 0
      ? { text: 'Some failed', tone: 'warn' }
      : { text: host ? 'Ready' : 'Written to files', tone: host ? 'good' : 'warn' };
  return {
    kind: 'facts',
    title: 'Delivery',
    rows: [
      { label: 'State', value: state },
      {
        label: 'Mail server',
        value: host ?? { text: 'None', small: `Email is written to ${folder}. Set SMTP_URL, then restart.` },
      },
      { label: 'Sender', value: sender },
      { label: 'Waiting', value: waiting },
      { label: 'Failed', value: failed },
      ...(lastError ? [{ label: 'Last error', value: lastError }] : []),
    ],
  };
}

/** The result of a test in words, and the answer of the mail server behind it. */
function testBlocks(result: SendOutcome, email: string, { host }: MailAdmin['server']): Block[] {
  const answer = result.outcome === 'sent' ? result.answer : result.reason;
  const texts = {
    sent: host
      ? {
          title: 'The mail server accepted the test email',
          text: `Look for it in the mailbox of ${email}, also under spam.`,
        }
      : { title: 'The test email was written to a file', text: 'No mail server is set, so nothing was sent.' },
    rejected: { title: 'The mail server rejected the test email', text: `It doesn’t accept this sender or ${email}.` },
    'no-server': {
      title: 'The mail server can’t be used',
      text: 'Check the address, the user and the password in SMTP_URL, and that this server can reach it.',
    },
  };
  return [
    { kind: 'verdict', isGood: result.outcome === 'sent', ...texts[result.outcome], causes: [] },
    ...(answer
      ? [{ kind: 'code' as const, title: 'Details for the developer', label: 'Answer', text: answer, isClosed: true }]
      : []),
  ];
}

function stateFilter({ state, sort }: z.output<typeof query>, { host }: MailAdmin['server']): Search {
  const options = [
    { value: '', label: 'Any state' },
    ...Object.entries(host ? STATES : { ...STATES, sent: WRITTEN }).map(([value, { text }]) => ({
      value,
      label: text,
    })),
  ];
  const field = { name: 'state', label: 'State', type: 'select' as const, value: state, options };
  const order = { name: 'sort', label: '', type: 'hidden' as const, value: sort === '-created' ? '' : sort };
  return { action: HERE, button: 'Filter', fields: [field, order] };
}

/** The mails with example data, in HTML and as text. */
function templateRoutes(router: Router<State, Extras>, { frame, mail: { templates } }: MailPagesDependencies): void {
  const kindOf = (ctx: Context & { params: { kind?: string } }): MailKind => {
    const kind = templates.kinds.find((one) => one === ctx.params.kind);
    if (!kind) throw notFound();
    return kind;
  };

  router.get('/templates', ...frame.page(READ), (ctx) =>
    frame.show(ctx, {
      title: 'Email',
      lead: 'Every email that this server sends, with example data.',
      tabs: tabs('templates'),
      blocks: [
        {
          kind: 'table',
          caption: 'Templates',
          columns: ['Email', 'Subject'],
          rows: templates.kinds.map((kind) => [
            { text: templateNames[kind], href: `${HERE}/templates/${kind}` },
            templates.example(kind).subject,
          ]),
          empty: '',
        },
      ],
    }),
  );

  router.get('/templates/:kind', ...frame.page(READ), (ctx) => {
    const kind = kindOf(ctx);
    const { subject, text } = templates.example(kind);
    frame.show(ctx, {
      title: templateNames[kind],
      lead: subject,
      back: { href: `${HERE}/templates`, label: 'Templates' },
      blocks: [
        { kind: 'preview', title: 'HTML', src: `${HERE}/templates/${kind}/html` },
        { kind: 'code', title: 'Text', label: 'Text', text },
      ],
    });
  });

  router.get('/templates/:kind/html', ...frame.page(READ), (ctx) => {
    ctx.set('Content-Security-Policy', TEMPLATE_POLICY);
    ctx.type = 'text/html; charset=utf-8';
    ctx.body = templates.example(kindOf(ctx)).html;
  });
}
