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
import type { SenderRecord } from '../../core/mail/sender-records.ts';
import { type MailStep, mailSteps } from '../../core/mail/transport.ts';
import {
  applicationField,
  languageField,
  modeField,
  type NamedApplication,
  namedApplication,
  previewChoices,
} from '../branding/preview.ts';
import {
  type Action,
  type Block,
  type ConsolePage,
  type Field,
  type FormBlock,
  hiddenField,
  type Mark,
  selectField,
  tabLinks,
} from '../console/blocks.ts';
import { listPath } from '../console/frame.ts';
import { listAt, tableOf } from '../console/lists.ts';
import { addPage, type Visit } from '../console/pages.ts';
import type { ConsoleServices } from '../console-services.ts';
import { type MailAdmin, type MailTest, type MailView, selectorField, templateName } from './mail.ts';
import { STATES, stateMark, WRITTEN } from './states.ts';

const HERE = '/admin/mail';
const READ = 'gatehouse.mail:read' as const;
const WRITE = 'gatehouse.mail:write' as const;
const listIn = listAt(HERE, { state: z.enum(['', 'waiting', 'sent', 'failed']).default('') }, ['-created', 'created']);
const TEST = `${HERE}/test`;
const SETTINGS = '/admin/settings/mail';
const SEND_TEST = { label: t('console.mail.send-test'), icon: 'send', post: TEST };
const testInput = z.object({
  to: z.string().trim().max(1000).optional(),
  selector: selectorField.optional(),
  /** Where the form was, and the result leads back to. */
  from: z.enum(['settings', 'mail']).default('mail'),
});
type TestInput = z.output<typeof testInput>;

/** All pages below /admin/mail, except the templates. */
export function mailRoutes(services: ConsoleServices): Router<State, Extras> {
  const { frame } = services;
  const { mail } = services.admin;
  const router = new Router<State, Extras>({ prefix: HERE });

  addPage(router, frame, '/', { needs: [READ], page: (visit) => queuePage(services, visit) });

  // Displayed at once and not stored: the answer of the mail server is for this administrator.
  addPage<undefined, TestInput>(router, frame, '/test', {
    needs: [WRITE],
    page: ({ ctx }, given = { from: 'mail' }) => ({
      title: t('console.mail.test'),
      back: backOf(given),
      blocks: [testForm({ ...given, to: given.to ?? frame.account(ctx).email })],
    }),
    form: testInput,
    // The button of the list sends no address.
    async submit({ ctx, by }, { to = frame.account(ctx).email ?? '', ...given }) {
      const test = await mail.sendTest({ to, selector: given.selector }, by);
      return { page: testPage(test, { ...given, to }, mail.server()) };
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

async function queuePage({ admin: { mail } }: ConsoleServices, { ctx, may }: Visit<undefined>): Promise<ConsolePage> {
  const list = listIn(ctx);
  const { state, after, sort } = list.given;
  const [page, counts] = await Promise.all([
    mail.list({ limit: 50, after, isOldestFirst: sort === 'created', ...(state && { state }) }),
    mail.state(),
  ]);
  const mayWrite = may(WRITE);
  const server = mail.server();
  return {
    title: t('console.navigation.mail'),
    lead: t('console.mail.lead'),
    tabs: mailTabs(''),
    actions: mayWrite ? [{ ...SEND_TEST, look: 'primary' }] : [],
    blocks: [
      stateBlock(server, counts, may),
      {
        kind: 'table',
        title: t('console.mail.queue'),
        filter: list.search([stateField(state, server)], { button: t('console.mail.filter') }),
        caption: t('console.navigation.mail'),
        ...tableOf(page.items, [
          [
            t('console.mail.to'),
            (one) => ({ text: one.recipient, small: one.state === 'sent' ? undefined : (one.lastError ?? undefined) }),
          ],
          [t('console.mail.subject'), ({ subject }) => subject],
          [t('console.shared.state'), stateMark],
          [list.column(t('console.mail.created'), '-created'), ({ createdAt }) => createdAt],
          [t('console.mail.attempts'), ({ tries }) => tries],
          mayWrite && [t('console.shared.action'), (one) => (one.state === 'sent' ? null : retryOf(one))],
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
  { host, sender, folder }: ReturnType<MailAdmin['server']>,
  { waiting, failed, lastError }: Awaited<ReturnType<MailAdmin['state']>>,
  may: Visit<undefined>['may'],
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
    ...(may('gatehouse.settings:read') && { actions: [{ label: t('console.settings.tab.mail'), href: SETTINGS }] }),
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

const backOf = ({ from }: TestInput) =>
  from === 'settings'
    ? { href: SETTINGS, label: t('console.settings.tab.mail') }
    : { href: HERE, label: t('console.navigation.mail') };

/** What the test is sent with, on this page and beside the settings of the mail server. */
export function testForm({
  to,
  selector = '',
  from,
}: Omit<TestInput, 'to'> & { to: string | null | undefined }): FormBlock {
  const hint = t('console.mail.selector-hint');
  return {
    kind: 'form',
    title: t('console.mail.test'),
    lead: t('console.mail.test-lead'),
    action: TEST,
    fields: [
      { name: 'to', label: t('console.mail.to'), type: 'email', value: to ?? '', required: true },
      { name: 'selector', label: t('console.mail.selector'), value: selector, isCode: true, hint },
      hiddenField('from', from),
    ],
    button: t('console.mail.send-test'),
    look: 'secondary',
  };
}

/** The result of a test in words, each step of it, and what the DNS says about the sender. */
function testPage(
  test: MailTest,
  given: TestInput & { to: string },
  { host }: ReturnType<MailAdmin['server']>,
): ConsolePage {
  const { result, title, text, sender, domain, records } = test;
  return {
    title: t('console.mail.test'),
    back: backOf(given),
    blocks: [
      {
        kind: 'result',
        isGood: result.outcome === 'sent',
        isWarning: result.outcome === 'sent' && host === undefined,
        title,
        text,
        causes: [],
      },
      ...(host ? [stepsBlock(test)] : []),
      ...(host && domain ? [recordsBlock(domain, records)] : []),
      ...(host && !domain ? [{ kind: 'text' as const, text: t('console.mail.records.not-public', { sender }) }] : []),
      testForm(given),
    ],
  };
}

/** Each step with what the server said; after the one that failed, nothing was tried. */
function stepsBlock({ result, answers, tls, username }: MailTest): Block {
  const isPart = (step: MailStep) =>
    step === 'encryption'
      ? tls === 'starttls' || tls === 'implicit' || answers.has(step)
      : step !== 'credentials' || username !== undefined;
  const steps = mailSteps.filter((step) => isPart(step) || (result.outcome !== 'sent' && result.step === step));
  const failed = result.outcome === 'sent' ? steps.length : steps.indexOf(result.step);
  return {
    kind: 'rules',
    title: t('console.mail.test.steps'),
    rules: steps.map((step, at) => ({
      label: t(`console.mail.step.${step}`),
      state: at < failed ? 'passed' : at === failed ? 'failed' : 'unknown',
      explanation: at === failed && result.outcome !== 'sent' ? result.reason : answers.get(step),
    })),
  };
}

const RECORD_STATES: Record<SenderRecord['state'], Mark> = {
  good: { text: t('console.mail.records.state.good'), tone: 'good' },
  weak: { text: t('console.mail.records.state.weak'), tone: 'warn' },
  absent: { text: t('console.mail.records.state.absent'), tone: 'warn' },
  unknown: { text: t('console.mail.records.state.unknown'), tone: 'plain' },
};

function recordsBlock(domain: string, records: readonly SenderRecord[]): Block {
  return {
    kind: 'table',
    title: t('console.mail.records', { domain }),
    lead: t('console.mail.records-lead'),
    columns: [
      t('console.mail.records.record'),
      { label: t('console.shared.state'), isShort: true },
      t('console.mail.records.meaning'),
    ],
    rows: records.map(({ kind, name, state, text, value }) => [
      { text: kind, small: name },
      RECORD_STATES[state],
      [
        { text },
        ...(value
          ? [{ text: value, code: true, ...(state === 'absent' && { copy: t('console.mail.records.copy', { kind }) }) }]
          : []),
      ],
    ]),
  };
}

function stateField(value: string, { host }: ReturnType<MailAdmin['server']>): Field {
  const texts = Object.entries(host ? STATES : { ...STATES, sent: WRITTEN }).map(([state, { text }]) => [state, text]);
  const choices = { '': t('console.mail.any-state'), ...Object.fromEntries(texts) };
  return selectField('state', t('console.shared.state'), value, choices);
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
            { text: templateName(kind), href: addressOf(`${TEMPLATES}/${kind}`, choice) },
            { text: subject, language },
          ];
        }),
      },
    ],
  };
}

function mailPage(services: ConsoleServices, ctx: Context, kind: MailKind, choice: Choice): ConsolePage {
  const { subject, text, language } = exampleOf(services, ctx, kind, choice);
  return {
    title: templateName(kind),
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

const mailTabs = (current: '' | 'templates') =>
  tabLinks(HERE, current, { '': t('console.mail.delivery'), templates: t('console.mail.templates') });
