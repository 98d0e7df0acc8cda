// Renders pages: eta templates from views/, with escaped output; only layout and include may print raw output
// (checked by test/http/pages/render.test.ts). Rendered pages are never cached.

import { Eta, type EtaConfig } from 'eta';
import { logos } from '../../../generated/logos.ts';
import { plural } from '../../platform/plural.ts';
import { dateFormats } from '../../texts/dates.ts';
import {
  allLanguages,
  consoleLanguages,
  directionOf,
  languageNames,
  nameOf,
  type OfferedLanguages,
  SOURCE_LANGUAGE,
} from '../../texts/languages.ts';
import { consoleLanguage, escapeHtml, type MessageSource } from '../../texts/messages.ts';
import { inLanguage, isText, listOf, partsOf, Text, t } from '../../texts/text.ts';
import type { Context, Middleware } from '../context.ts';
import { localPath } from '../local-path.ts';
import type { Assets } from './assets.ts';
import type { BrandLook } from './brand-look.ts';
import { addressToReturnTo } from './language.ts';
import { color, fullName, hueOf, initials, pictureOf } from './tokens.ts';

/** `csrfToken` is called when the page has a form; the call sets the cookie that belongs to the token. */
export type Render = (template: string, data: object, csrfToken?: () => string, language?: string) => string;

/**
 * Templates can use these helpers beside their own data: `t('sign-in.title')`, `asset('people.css')`, `webLink(url)`, `day(date)` and so on.
 * Pages of the console are in one of its own languages, those for programs in English.
 */
export function createRenderer({
  viewsDir,
  production,
  assets,
  brand = () => undefined,
  offered = () => allLanguages,
  texts = () => undefined,
}: {
  viewsDir: string;
  /** Reads each template once; otherwise it is read for each page, and compiled when its text is another one. */
  production: boolean;
  assets: Assets;
  /** The brand that pages have now; those of an application pass another one as `brand`. */
  brand?: () => BrandLook | undefined;
  /** The languages that the picker has; all by default. */
  offered?: () => OfferedLanguages;
  /** The texts that an administrator wrote. */
  texts?: () => MessageSource | undefined;
}): Render {
  const helpers = {
    t,
    isText,
    partsOf,
    asset: assets.url,
    webLink,
    day,
    moment,
    lastDay,
    plural,
    listOf,
    color,
    hueOf,
    initials,
    fullName,
    pictureOf,
    logoPath,
  };
  const config: Partial<EtaConfig> = {
    views: viewsDir,
    cache: production,
    autoTrim: [false, 'nl'],
    escapeFunction: (value) => (value instanceof Text ? value.toHtml() : escapeHtml(value)),
    functionHeader: `const { ${Object.keys(helpers).join(', ')} } = it;`,
  };
  const eta = new Eta(config);
  const { compile } = eta;
  eta.compile = (text, options) => {
    const known = compiled.get(text) ?? compile.call(eta, text, options);
    compiled.set(text, known);
    return known;
  };
  return (template, data, csrfToken, language = SOURCE_LANGUAGE) => {
    const frame = frameOf(template, language, offered().tags);
    const page = new Page({ ...helpers, brand: brand(), ...frame }, data, csrfToken);
    return inLanguage(frame.language, () => eta.render(template, page), texts());
  };
}

/** The templates of pages by their text. What they call is that of the renderer which renders. */
const compiled = new Map<string, ReturnType<Eta['compile']>>();

/** What the layout says about the language. */
function frameOf(template: string, wanted: string, offered: readonly string[]) {
  const isConsole = template.startsWith('admin/');
  const languageOfPeople = template.startsWith('api/') ? SOURCE_LANGUAGE : wanted;
  const language = isConsole ? consoleLanguage(wanted) : languageOfPeople;
  const names = languageNames(isConsole ? consoleLanguages : offered);
  return { language, direction: directionOf(language), languageName: nameOf(language), languageNames: names };
}

/** The brand of its own that an application has. */
export type BrandOf = (application: string) => BrandLook | undefined;

/** The brand of a page, where the application whose sign-in it belongs to has one of its own. */
export function applicationBrand({ state }: Context, brandOf?: BrandOf): { brand?: BrandLook } {
  const { application } = state.request;
  const brand = application === undefined ? undefined : brandOf?.(application);
  return brand ? { brand } : {};
}

/** Defines `ctx.render(template, data, status)`, with `it.csrfToken` for the forms. */
export function rendering({ render, brandOf }: { render: Render; brandOf?: BrandOf }): Middleware {
  return (ctx, next) => {
    ctx.render = (template, data = {}, status = 200) => {
      const { mayOpenConsole = false } = ctx.state;
      const here = addressToReturnTo(ctx, status);
      const page = { here, mayOpenConsole, ...applicationBrand(ctx, brandOf), ...data };
      ctx.body = render(template, page, ctx.state.csrfToken, ctx.state.language());
      ctx.status = status;
      ctx.type = 'text/html; charset=utf-8';
      ctx.set('Cache-Control', 'no-store');
    };
    return next();
  };
}

/** What a template reads as `it`. */
class Page {
  readonly #csrfToken: (() => string) | undefined;

  constructor(helpers: object, data: object, csrfToken: (() => string) | undefined) {
    Object.assign(this, helpers, data);
    this.#csrfToken = csrfToken;
  }

  get csrfToken(): string | undefined {
    return this.#csrfToken?.();
  }
}

/** Returns a registered URL if it is a web address or local path, else `#`: never `javascript:` or `data:`. */
export function webLink(url: unknown): string {
  const text = String(url ?? '');
  if (localPath(text) !== undefined) return text;
  return /^https?:\/\//i.test(text) && URL.canParse(text) ? text : '#';
}

// Formats dates for pages, in UTC: the server does not know the user's time zone.

const days = dateFormats({ dateStyle: 'long', timeZone: 'UTC' });
const moments = dateFormats({ dateStyle: 'medium', timeStyle: 'short', timeZone: 'UTC' });

/** "November 21, 2026", in the language of the page. */
function day(at: Date): string {
  return days().format(at);
}

/** "Nov 21, 2026, 10:09 AM UTC", in the language of the page. */
function moment(at: Date): string {
  return `${moments().format(at).replace('\u202f', ' ')} UTC`;
}

/** The day on which something ends, with the time where that is not the end of the day. */
function lastDay(at: Date): string {
  return at.toISOString().slice(11, 19) === '23:59:59' ? day(at) : moment(at);
}

/** The logo of a product on a grid of 24: of the preset of an application, or the `logo` of a connection. */
export function logoPath(product: string | undefined): string | undefined {
  return product !== undefined && Object.hasOwn(logos, product) ? logos[product] : undefined;
}
