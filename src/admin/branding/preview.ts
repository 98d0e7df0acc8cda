// The preview of the brand: the real pages and emails with example data, in the mode that is chosen, and with the values of the form
// that are not saved yet. In a frame of the console only, without script.

import Router from '@koa/router';
import { z } from 'zod';
import { type BrandSetting, type BrandValues, brandSettings } from '../../applications/brand/brand.ts';
import type { Extras, State } from '../../base/http/context.ts';
import { parseQuery } from '../../base/http/input.ts';
import { languageForPeople } from '../../base/http/pages/language.ts';
import { languageNames, languages } from '../../base/texts/languages.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { MailKind } from '../../core/mail/messages.ts';
import { brandColor, brandLink, brandName, isImageName } from '../../core/settings/value-schemas.ts';
import { type Field, selectField } from '../console/blocks.ts';
import { type NamedField, type Names, typedApplicationValue } from '../console/names.ts';
import type { ConsoleServices } from '../console-services.ts';
import { templateName } from '../mail/mail.ts';

// The choices above a preview of pages and emails: a language, light or dark, and the application whose brand it has.

const modes = { light: t('console.branding.mode.light'), dark: t('console.branding.mode.dark') };

/** The choices in an address. */
export const previewChoices = {
  mode: z.enum(['light', 'dark']).catch('light'),
  /** That of the console by default, if it is offered. */
  language: z.enum(languages).optional().catch(undefined),
  /** A client ID, an entity ID or a name; empty for all pages. */
  application: z.string().max(2048).catch(''),
};

export function languageField(language: string, offered: readonly string[]): Field {
  return {
    name: 'language',
    label: t('console.branding.language'),
    type: 'select',
    value: language,
    options: languageNames(offered).map(({ tag, name }) => ({ value: tag, label: name, language: tag })),
  };
}

export function modeField(mode: string): Field {
  return selectField('mode', t('console.branding.mode'), mode, modes);
}

/** The application by its client ID or entity ID, which may be given by its name: a field without script sends that. */
export async function namedApplication(names: Names, text: string): Promise<NamedApplication> {
  const typed = text.trim();
  const found = typed ? await names.applicationOf(typed) : undefined;
  return { application: found?.clientId ?? typed, field: await typedApplicationValue(names, typed, found) };
}

export interface NamedApplication {
  application: string;
  /** What the field of the choice displays and sends. */
  field: NamedField;
}

/** The choice of the application. */
export function applicationField({ field }: { field: NamedField }): Field {
  return {
    name: 'application',
    label: t('console.branding.application'),
    suggest: 'applications',
    ...field,
    placeholder: t('console.branding.all-pages'),
  };
}

const PATH = '/admin/branding/preview';
/** No script, no form that is sent, and framed by this server only. */
const POLICY =
  "default-src 'self'; script-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

const person = { name: 'Ann Example', username: 'ann', email: 'ann@example.com' };

/** The application of the preview: the chosen one, else an example. */
interface PreviewedApplication {
  appName: string;
  logo?: string | undefined;
}
const EXAMPLE: PreviewedApplication = { appName: 'Wiki' };

interface PreviewedPage {
  label: PageText;
  template: string;
  data(application: PreviewedApplication): object;
}

/** Page -> its label, its template and example data. */
const pages = {
  'sign-in': {
    label: t('console.branding.page.sign-in'),
    template: 'sign-in/identify',
    data: (application) => ({
      action: '#',
      cancelAction: '#',
      loginHint: 'ann',
      forgotPasswordUrl: '/forgot-password',
      ...application,
    }),
  },
  'two-step': {
    label: t('console.branding.page.two-step'),
    template: 'sign-in/second-factor',
    data: ({ appName }) => ({
      action: '#',
      method: 'totp',
      isNumeric: true,
      rememberDays: 30,
      foot: { who: 'ann', cancelAction: '#', appName },
      hint: t('second-factor.totp-hint'),
      others: [{ href: '#', label: t('second-factor.use-recovery-code') }],
    }),
  },
  consent: {
    label: t('console.branding.page.consent'),
    template: 'sign-in/consent',
    data: (application) => ({
      action: '#',
      account: person,
      isOffline: true,
      days: 90,
      ...application,
      scopes: [
        { name: 'openid', label: t('consent.scope-openid'), values: ['ann'] },
        { name: 'email', label: t('consent.scope-email'), values: ['ann@example.com'] },
      ],
    }),
  },
  apps: {
    label: t('console.branding.page.apps'),
    template: 'account/portal',
    data: ({ appName, logo }) => ({
      account: person,
      search: '',
      notices: [],
      mayOpenConsole: false,
      mayAddApplications: false,
      tiles: [
        { name: appName, url: '#', isRecent: true, logo },
        { name: 'Payroll', url: '#', isRecent: false },
      ],
    }),
  },
  error: {
    label: t('console.branding.page.error'),
    template: 'error',
    data: () => ({
      status: 404,
      title: 'Not Found',
      code: 'not_found',
      fields: [],
      technical: [],
      requestId: 'example',
      message: t('error.not_found'),
      advice: t('error.not_found.advice'),
    }),
  },
} satisfies Record<string, PreviewedPage>;

/** The emails beside the pages. */
const mails = {
  'mail-password-reset': 'password-reset',
  'mail-new-sign-in': 'new-sign-in',
  'mail-invitation': 'invitation',
  'mail-one-time-code': 'one-time-code',
} as const;

const choices = [...Object.keys(pages), ...Object.keys(mails)] as (keyof typeof pages | keyof typeof mails)[];

/** Which page in which mode. */
export const previewQuery = z.object({ page: z.enum(choices).catch('sign-in'), ...previewChoices });
export type Choice = z.output<typeof previewQuery>;

/** What is typed, where it is allowed; anything else is as if it was not there. */
const image = z.string().refine((text) => text === '' || isImageName(text));
const typedValues = {
  brand_name: z.union([brandName, z.literal('')]),
  brand_color: z.union([brandColor, z.literal('')]),
  brand_logo: image,
  brand_logo_dark: image,
  brand_icon: image,
  brand_background: image,
  brand_help_url: z.union([brandLink, z.literal('')]),
  brand_privacy_url: z.union([brandLink, z.literal('')]),
  brand_terms_url: z.union([brandLink, z.literal('')]),
} satisfies Record<BrandSetting, z.ZodType>;
const addressQuery = z.looseObject(previewQuery.shape);

/** The choices above the preview. `offered`: the languages. */
export function previewFields({ page, mode, language }: Choice, offered: readonly string[], own: string): Field[] {
  const mailLabel = (kind: MailKind) => t('console.branding.page.mail', { mail: templateName(kind) });
  const options = [
    ...Object.entries(pages).map(([value, { label }]) => ({ value, label })),
    ...Object.entries(mails).map(([value, kind]) => ({ value, label: mailLabel(kind) })),
  ];
  return [
    { name: 'page', label: t('console.branding.page'), type: 'select', value: page, options },
    languageField(language ?? own, offered),
    modeField(mode),
  ];
}

/** The address of the preview with the values of the form. */
export function previewAddress(choice: Choice, typed: (name: BrandSetting) => string): string {
  const { page, mode, application, language = '' } = choice;
  const values = brandSettings.map((name): [string, string] => [name, typed(name)]);
  return `${PATH}?${new URLSearchParams([['page', page], ['mode', mode], ['language', language], ['application', application], ...values])}`;
}

export function brandPreviewRoutes(services: ConsoleServices): Router<State, Extras> {
  const {
    frame,
    brand,
    admin: {
      mail: { templates: mailTemplates },
    },
  } = services;
  const router = new Router<State, Extras>();
  router.get(PATH, ...frame.page('gatehouse.settings:read'), async (ctx) => {
    const { page, mode, application, language, ...typed } = parseQuery(ctx, addressQuery);
    const wanted = language ?? languageForPeople(ctx);
    ctx.state.language = () => wanted;
    ctx.set('Content-Security-Policy', POLICY);
    // Undefined where nothing is set: the look of Gatehouse, whatever is stored.
    const look = brand.with(valuesOf(typed), { isOfApplication: application !== '' });
    if (isMail(page)) {
      ctx.type = 'text/html; charset=utf-8';
      ctx.body = mailTemplates.example(mails[page], ctx.state.language(), { mode, brand: () => look }).html;
      return;
    }
    const { template, data } = pages[page];
    const example = data(await previewedApplication(services, application));
    ctx.render(template, { ...example, brand: look, theme: mode, isPreview: true }, 200);
  });
  return router;
}

const isMail = (page: Choice['page']): page is keyof typeof mails => Object.hasOwn(mails, page);

async function previewedApplication(
  { names, pictures }: ConsoleServices,
  application: string,
): Promise<PreviewedApplication> {
  const found = application ? (await names.applications([application])).get(application) : undefined;
  if (!found) return EXAMPLE;
  return { appName: found.name, logo: (await pictures.addressesOf([found.id])).get(found.id) };
}

function valuesOf(typed: Record<string, unknown>): BrandValues {
  const values = brandSettings.flatMap((name) => {
    const parsed = typedValues[name].safeParse(typed[name]);
    return parsed.success ? [[name, parsed.data || undefined] as const] : [];
  });
  return Object.fromEntries(values);
}
