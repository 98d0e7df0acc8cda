// /admin/mail: how mail leaves this server, a test email with the answer of the mail server, and the queue.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import { parseQuery } from '../../base/http/input.ts';
import { languageForPeople } from '../../base/http/pages/language.ts';
import { directionOf, SOURCE_LANGUAGE } from '../../base/texts/languages.ts';
import { t } from '../../base/texts/text.ts';
import { administratorMails, type MailKind } from '../../core/mail/messages.ts';
import type { SendOutcome } from '../../core/mail/transport.ts';
import {
  applicationField,
  languageField,
  modeField,
  type NamedApplication,
  namedApplication,
  previewChoices,
} from '../branding/preview.ts';
import { type Action, type Block, type ConsolePage, type Field, hiddenField, type Mark } from '../console/blocks.ts';
import { listPath } from '../console/frame.ts';
import { choiceField, listAt, tableOf } from '../console/lists.ts';
import { addPage, type Visit } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import type { MailAdmin, MailView } from './mail.ts';
import { STATES, stateMark, WRITTEN } from './states.ts';
import { templateNames } from './template-names.ts';

const HERE = '/admin/mail';
const READ = 'gatehouse.mail:read' as const;
const WRITE = 'gatehouse.mail:write' as const;
const listIn = listAt(HERE, { state: z.enum(['', 'waiting', 'sent', 'failed']).default('') }, ['-created', 'created']);
const SEND_TEST = { label: t('console.mail.send-test'), icon: 'send', post: `${HERE}/test` };

/** All pages below /admin/mail, except the templates. */
export function mailRoutes(services: ConsoleServices): Router<State, Extras> {
  const { frame } = services;
  const { mail } = services.admin;
  const router = new Router<State, Extras>({ prefix: HERE });

  addPage(router, frame, '/', { needs: [READ], page: (visit) => queuePage(services, visit) });

  // Displayed at once and not stored: the answer of the mail server is for this administrator.
  addPage(router, frame, '/test', {
    needs: [WRITE],
    elsewhere: () => ({ to: HERE }),
    page: (visit) => queuePage(services, visit),
    async submit(visit) {
      const account = frame.account(visit.ctx);
      const result = await mail.sendTest(account, visit.by);
      return { page: await queuePage(services, visit, testBlocks(result, account.email ?? '', mail.server)) };
    },
  });

  addPage(router, frame, '/:id/retry', {
    needs: [WRITE],
    async submit({ ctx: { params }, by }) {
      await mail.retry(params.id ?? '', by);
      return { to: HERE, notice: t('console.mail.queued'), tone: 'plain' };
    },
  });

  return router;
}

async function queuePage(
  { admin: { mail } }: ConsoleServices,
  { ctx, may }: Visit<undefined>,
  result: Block[] = [],
): Promise<ConsolePage> {
  const list = listIn(ctx);
  const { state, after, sort } = list.given;
  const [page, counts] = await Promise.all([
    mail.list({ limit: 50, after, isOldestFirst: sort === 'created', ...(state && { state }) }),
    mail.state(),
  ]);
  const mayWrite = may(WRITE);
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
        filter: list.search([stateField(state, mail.server)], { button: t('console.mail.filter') }),
        caption: t('console.navigation.mail'),
        ...tableOf(page.items, [
          [
            t('console.mail.to'),
            (one) => ({ text: one.recipient, small: one.state === 'sent' ? undefined : (one.lastError ?? undefined) }),
          ],
          [t('console.mail.subject'), ({ subject }) => subject],
          [t('console.shared.state'), (one) => stateMark(one, mail.server.host !== undefined)],
          [list.column(t('console.mail.created'), '-created'), ({ createdAt }) => createdAt],
          [t('console.mail.attempts'), ({ tries }) => tries],
          mayWrite && [t('console.shared.action'), (one) => (one.state === 'sent' ? null : { action: retryOf(one) })],
        ]),
        empty: state
          ? t('console.mail.no-match')
          : { icon: 'mail', title: t('console.mail.empty.title'), text: t('console.mail.empty.text') },
        pages: list.pages(page.next),
      },
    ],
  };
}

const retryOf = ({ id, subject, recipient }: MailView): Action => ({
  label: t('console.mail.retry'),
  of: t('console.mail.retry-of', { subject, recipient }),
  post: `${HERE}/${id}/retry`,
});

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
      kind: 'result',
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

function stateField(value: string, { host }: MailAdmin['server']): Field {
  const texts = Object.entries(host ? STATES : { ...STATES, sent: WRITTEN }).map(([state, { text }]) => [state, text]);
  const choices = { '': t('console.mail.any-state'), ...Object.fromEntries(texts) };
  return { ...choiceField('state', t('console.shared.state'), value, choices), isLabelHidden: false };
}

// /admin/mail/templates: every mail with example data, in HTML and as text, in the language, the mode and the brand that are chosen.

const TEMPLATES = '/admin/mail/templates';
/** What a template may load: nothing, and no script. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'self'; sandbox";

const choiceQuery = z.object(previewChoices);
type Choice = z.output<typeof choiceQuery> & NamedApplication;

export function mailTemplateRoutes(services: ConsoleServices): Router<State, Extras> {
  const { frame } = services;
  const { templates } = services.admin.mail;
  const router = new Router<State, Extras>({ prefix: TEMPLATES });
  const kindOf = (ctx: Context & { params: { kind?: string } }): MailKind => {
    const kind = templates.kinds.find((one) => one === ctx.params.kind);
    if (!kind) throw notFound();
    return kind;
  };

  const load = (ctx: Context) => choiceOf(services, ctx);
  addPage<Choice>(router, frame, '/', {
    needs: [READ],
    load,
    page: ({ ctx, subject }) => listPage(services, ctx, subject),
  });
  addPage<Choice>(router, frame, '/:kind', {
    needs: [READ],
    load,
    page: ({ ctx, subject }) => mailPage(services, ctx, kindOf(ctx), subject),
  });

  router.get('/:kind/html', ...frame.page(READ), async (ctx) => {
    const kind = kindOf(ctx);
    const choice = await choiceOf(services, ctx);
    ctx.set('Content-Security-Policy', POLICY);
    ctx.type = 'text/html; charset=utf-8';
    ctx.body = exampleOf(services, ctx, kind, choice).html;
  });
  return router;
}

function listPage(services: ConsoleServices, ctx: Context, choice: Choice): ConsolePage {
  const language = choice.language ?? languageForPeople(ctx);
  return {
    title: t('console.navigation.mail'),
    lead: t('console.mail.templates-lead'),
    tabs: mailTabs('templates'),
    blocks: [
      {
        kind: 'table',
        caption: t('console.mail.templates'),
        filter: {
          action: TEMPLATES,
          fields: [
            languageField(language, ctx.state.offeredLanguages().tags),
            hiddenField('mode', modeIn(choice)),
            hiddenField('application', choice.application),
          ],
          button: t('console.branding.show'),
        },
        columns: [t('console.navigation.mail'), t('console.mail.subject')],
        rows: services.admin.mail.templates.kinds.map((kind) => {
          const { subject, language } = exampleOf(services, ctx, kind, choice);
          return [
            { text: templateNames[kind], href: addressOf(`${TEMPLATES}/${kind}`, choice) },
            { text: subject, language },
          ];
        }),
        empty: '',
      },
    ],
  };
}

function mailPage(services: ConsoleServices, ctx: Context, kind: MailKind, choice: Choice): ConsolePage {
  const { subject, text, language } = exampleOf(services, ctx, kind, choice);
  return {
    title: templateNames[kind],
    back: { href: addressOf(TEMPLATES, choice), label: t('console.mail.templates') },
    blocks: [
      {
        kind: 'search',
        action: `${TEMPLATES}/${kind}`,
        fields: [
          ...(isInEnglish(kind) ? [] : [languageField(language, ctx.state.offeredLanguages().tags)]),
          modeField(choice.mode),
          applicationField(choice),
        ],
        button: t('console.branding.show'),
      },
      { kind: 'facts', rows: [{ label: t('console.mail.subject'), value: { text: subject, language } }] },
      { kind: 'preview', title: 'HTML', src: addressOf(`${TEMPLATES}/${kind}/html`, choice) },
      {
        kind: 'code',
        title: t('console.mail.text'),
        label: t('console.mail.text'),
        text,
        written: { language, direction: directionOf(language) },
      },
    ],
  };
}

/** The mail as it is chosen, and its language. */
function exampleOf(
  {
    admin: {
      mail: { templates },
    },
    brand,
  }: ConsoleServices,
  ctx: Context,
  kind: MailKind,
  choice: Choice,
) {
  const { language: chosen, mode, application } = choice;
  const language = isInEnglish(kind) ? SOURCE_LANGUAGE : (chosen ?? languageForPeople(ctx));
  const look = { mode, brand: () => brand.ofApplication(application) ?? brand.current() };
  return { ...templates.example(kind, language, look), language };
}

async function choiceOf({ names }: ConsoleServices, ctx: Context): Promise<Choice> {
  const choice = parseQuery(ctx, choiceQuery);
  return { ...choice, ...(await namedApplication(names, choice.application)) };
}

const isInEnglish = (kind: MailKind) => administratorMails.includes(kind);

const modeIn = ({ mode }: Choice) => (mode === 'light' ? undefined : mode);

const addressOf = (path: string, choice: Choice) =>
  listPath(path, { language: choice.language, mode: modeIn(choice), application: choice.application });

// The tabs of Email.

function mailTabs(current: 'queue' | 'templates'): NonNullable<ConsolePage['tabs']> {
  return [
    { href: '/admin/mail', label: t('console.mail.delivery'), isCurrent: current === 'queue' },
    { href: '/admin/mail/templates', label: t('console.mail.templates'), isCurrent: current === 'templates' },
  ];
}
