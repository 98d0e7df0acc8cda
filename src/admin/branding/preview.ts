// The preview of the brand: the real pages and a mail with example data, in the mode that is chosen, and with the values of the form
// that are not saved yet. In a frame of the console only, without script.
import Router from '@koa/router';
import { z } from 'zod';
import { type Brand, type BrandSetting, type BrandValues, brandSettings } from '../../brand/brand.ts';
import type { Extras, State } from '../../http/context.ts';
import { parseQuery } from '../../http/input.ts';
import { brandColor, brandLink, brandName, isImageName } from '../../settings/value-schemas.ts';
import { languageNames, languages } from '../../texts/languages.ts';
import { type PageText, t } from '../../texts/text.ts';
import type { Field } from '../console/blocks.ts';
import type { Frame } from '../console/frame.ts';

const PATH = '/admin/branding/preview';
/** No script, no form that is sent, and framed by this server only. */
const POLICY =
  "default-src 'self'; script-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

const person = { name: 'Ann Example', username: 'ann', email: 'ann@example.com' };
const appName = 'Wiki';
const foot = { who: 'ann', cancelAction: '#', appName };

/** Page -> its label, its template and example data. */
const pages = {
  'sign-in': {
    label: t('console.branding.page.sign-in'),
    template: 'sign-in/identify',
    data: { action: '#', cancelAction: '#', appName, loginHint: 'ann', forgotPasswordUrl: '/forgot-password' },
  },
  'two-step': {
    label: t('console.branding.page.two-step'),
    template: 'sign-in/second-factor',
    data: {
      ...{ action: '#', method: 'totp', isNumeric: true, rememberDays: 30, foot },
      ...{ hint: t('second-factor.totp-hint'), others: [{ href: '#', label: t('second-factor.use-recovery-code') }] },
    },
  },
  consent: {
    label: t('console.branding.page.consent'),
    template: 'sign-in/consent',
    data: {
      ...{ action: '#', appName, account: person, isOffline: true },
      scopes: [
        { name: 'openid', label: t('consent.scope-openid'), values: ['ann'] },
        { name: 'email', label: t('consent.scope-email'), values: ['ann@example.com'] },
      ],
    },
  },
  apps: {
    label: t('console.branding.page.apps'),
    template: 'account/portal',
    data: {
      ...{ account: person, search: '', notices: [], mayOpenConsole: false, mayAddApplications: false },
      tiles: [
        { name: 'Wiki', url: '#', isRecent: true },
        { name: 'Payroll', url: '#', isRecent: false },
      ],
    },
  },
  error: {
    label: t('console.branding.page.error'),
    template: 'error',
    data: {
      ...{ status: 404, title: 'Not Found', code: 'not_found', fields: [], technical: [], requestId: 'example' },
      ...{ message: t('error.not_found'), advice: t('error.not_found.advice') },
    },
  },
} as const;
type PageName = keyof typeof pages;

const modes = { light: t('console.branding.mode.light'), dark: t('console.branding.mode.dark') };

/** Which page in which mode. */
export const previewQuery = z.object({
  page: z.enum(Object.keys(pages) as PageName[]).catch('sign-in'),
  mode: z.enum(['light', 'dark']).catch('light'),
  /** That of the console by default. */
  language: z.enum(languages).optional().catch(undefined),
  /** A client ID or entity ID; empty for all pages. */
  application: z.string().max(2048).catch(''),
});
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

/** The choice of the application whose brand is edited. */
export function applicationField({ application }: Choice): Field {
  return {
    name: 'application',
    label: t('console.branding.application'),
    suggest: 'applications',
    value: application,
    placeholder: t('console.branding.all-pages'),
  };
}

/** The choices above the preview. `offered`: the languages. */
export function previewFields({ page, mode, language }: Choice, offered: readonly string[], own: string): Field[] {
  const option = ([value, label]: [string, PageText]) => ({ value, label });
  const labels = Object.entries(pages).map(([name, { label }]): [string, PageText] => [name, label]);
  return [
    { name: 'page', label: t('console.branding.page'), type: 'select', value: page, options: labels.map(option) },
    {
      name: 'language',
      label: t('console.branding.language'),
      type: 'select',
      value: language ?? own,
      options: languageNames(offered).map(({ tag, name }) => ({ value: tag, label: name, language: tag })),
    },
    {
      name: 'mode',
      label: t('console.branding.mode'),
      type: 'select',
      value: mode,
      options: Object.entries(modes).map(option),
    },
  ];
}

/** The address of the preview with the values of the form. */
export function previewAddress(choice: Choice, typed: (name: BrandSetting) => string): string {
  const { page, mode, application, language = '' } = choice;
  const values = brandSettings.map((name): [string, string] => [name, typed(name)]);
  return `${PATH}?${new URLSearchParams([['page', page], ['mode', mode], ['language', language], ['application', application], ...values])}`;
}

export interface PreviewDependencies {
  frame: Frame;
  brand: Pick<Brand, 'with'>;
}

export function brandPreviewRoutes({ frame, brand }: PreviewDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>();
  router.get(PATH, ...frame.page('gatehouse.settings:read'), (ctx) => {
    const { page, mode, application, language, ...typed } = parseQuery(ctx, addressQuery);
    if (language) ctx.state.language = () => language;
    const { template, data } = pages[page];
    ctx.set('Content-Security-Policy', POLICY);
    // Undefined where nothing is set: the look of Gatehouse, whatever is stored.
    const isOfApplication = application !== '';
    const look = { brand: brand.with(valuesOf(typed), { isOfApplication }), theme: mode };
    ctx.render(template, { ...data, ...look, isPreview: true }, 200);
  });
  return router;
}

function valuesOf(typed: Record<string, unknown>): BrandValues {
  const values = brandSettings.flatMap((name) => {
    const parsed = typedValues[name].safeParse(typed[name]);
    return parsed.success ? [[name, parsed.data || undefined] as const] : [];
  });
  return Object.fromEntries(values);
}
