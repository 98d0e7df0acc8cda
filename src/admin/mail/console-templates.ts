// /admin/mail/templates: every mail with example data, in HTML and as text, in the language, the mode and the brand that are chosen.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import { parseQuery } from '../../base/http/input.ts';
import { languageForPeople } from '../../base/http/pages/language.ts';
import { directionOf, SOURCE_LANGUAGE } from '../../base/texts/languages.ts';
import { t } from '../../base/texts/text.ts';
import { administratorMails, type MailKind } from '../../core/mail/messages.ts';
import {
  applicationField,
  languageField,
  modeField,
  type NamedApplication,
  namedApplication,
  previewChoices,
} from '../branding/preview-choices.ts';
import type { ConsolePage } from '../console/blocks.ts';
import { listPath } from '../console/frame.ts';
import type { ConsoleServices } from '../console-services.ts';
import { mailTabs } from './tabs.ts';
import { templateNames } from './template-names.ts';

const HERE = '/admin/mail/templates';
const READ = 'gatehouse.mail:read' as const;
/** What a template may load: nothing, and no script. */
const POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self'; frame-ancestors 'self'; sandbox";

const query = z.object(previewChoices);
type Choice = z.output<typeof query> & NamedApplication;

export function mailTemplateRoutes(services: ConsoleServices): Router<State, Extras> {
  const {
    frame,
    admin: {
      mail: { templates },
    },
  } = services;
  const router = new Router<State, Extras>({ prefix: HERE });
  const kindOf = (ctx: Context & { params: { kind?: string } }): MailKind => {
    const kind = templates.kinds.find((one) => one === ctx.params.kind);
    if (!kind) throw notFound();
    return kind;
  };

  router.get('/', ...frame.page(READ), async (ctx) => {
    frame.show(ctx, listPage(services, ctx, await choiceOf(services, ctx)));
  });

  router.get('/:kind', ...frame.page(READ), async (ctx) => {
    const kind = kindOf(ctx);
    frame.show(ctx, mailPage(services, ctx, kind, await choiceOf(services, ctx)));
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
          action: HERE,
          fields: [
            languageField(language, ctx.state.offeredLanguages().tags),
            { name: 'mode', label: '', type: 'hidden', value: modeIn(choice) },
            { name: 'application', label: '', type: 'hidden', value: choice.application },
          ],
          button: t('console.branding.show'),
        },
        columns: [t('console.navigation.mail'), t('console.mail.subject')],
        rows: services.admin.mail.templates.kinds.map((kind) => {
          const { subject, language } = exampleOf(services, ctx, kind, choice);
          return [
            { text: templateNames[kind], href: addressOf(`${HERE}/${kind}`, choice) },
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
    back: { href: addressOf(HERE, choice), label: t('console.mail.templates') },
    blocks: [
      {
        kind: 'search',
        action: `${HERE}/${kind}`,
        fields: [
          ...(isInEnglish(kind) ? [] : [languageField(language, ctx.state.offeredLanguages().tags)]),
          modeField(choice.mode),
          applicationField(choice),
        ],
        button: t('console.branding.show'),
      },
      { kind: 'facts', rows: [{ label: t('console.mail.subject'), value: { text: subject, language } }] },
      { kind: 'preview', title: 'HTML', src: addressOf(`${HERE}/${kind}/html`, choice) },
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
  const choice = parseQuery(ctx, query);
  return { ...choice, ...(await namedApplication(names, choice.application)) };
}

const isInEnglish = (kind: MailKind) => administratorMails.includes(kind);

const modeIn = ({ mode }: Choice) => (mode === 'light' ? undefined : mode);

const addressOf = (path: string, choice: Choice) =>
  listPath(path, { language: choice.language, mode: modeIn(choice), application: choice.application });
