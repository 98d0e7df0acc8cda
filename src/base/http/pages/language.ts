// The language of a response: what the user picked, else what the application requests (`ui_locales`), the user's profile, what the user
// picked in this browser long ago, what the browser accepts, and the setting `default_language`. Only offered languages count; the console
// has languages of its own.
import Router from '@koa/router';
import type { RequestInfo } from '../../platform/request-info.ts';
import {
  acceptedLanguages,
  allLanguages,
  bestLanguage,
  consoleLanguages,
  type OfferedLanguages,
  SOURCE_LANGUAGE,
} from '../../texts/languages.ts';
import type { MessageSource } from '../../texts/messages.ts';
import { inLanguage } from '../../texts/text.ts';
import { type Context, type Extras, type Middleware, type State, seeOther } from '../context.ts';
import type { Cookies } from '../cookies.ts';
import { notFound } from '../errors.ts';
import { localPath } from '../local-path.ts';

/** Defines `ctx.state.language`, which decides when it is called: routes find out meanwhile who the user is. */
export function languageChoice({
  cookies,
  offered = () => allLanguages,
  texts = () => undefined,
}: {
  cookies: Cookies;
  /** The offered languages now; all by default. */
  offered?: () => OfferedLanguages;
  /** The texts that an administrator wrote. */
  texts?: () => MessageSource | undefined;
}): Middleware {
  return (ctx, next) => {
    // Read each time: a form can change the setting.
    ctx.state.offeredLanguages = offered;
    ctx.state.language = () => languageOf(ctx, cookies);
    ctx.state.inWords = (work) => inLanguage(ctx.state.language(), work, texts());
    return next();
  };
}

function languageOf(ctx: Context, cookies: Cookies): string {
  const { requestedLanguages = [], profileLanguage } = ctx.state;
  const { tags, standard } = languagesFor(ctx.state.isConsole, ctx.state.offeredLanguages());
  const picked = cookies.get(ctx, 'pickedLanguage');
  const remembered = cookies.get(ctx, 'language');
  // A script of a page asks in the language of that page, which knows more than a request beside it: who the user is, and ui_locales.
  const ofPage = ctx.get('Page-Language') || undefined;
  const wishes = [ofPage, picked, ...requestedLanguages, profileLanguage, remembered].filter(
    (wish) => wish !== undefined,
  );
  return bestLanguage(wishes, tags) ?? bestLanguage(acceptedLanguages(ctx.get('Accept-Language')), tags) ?? standard;
}

/** The console is for those who choose the languages of people: it has its languages whatever is offered. */
function languagesFor(isConsole: boolean | undefined, offered: OfferedLanguages): OfferedLanguages {
  if (!isConsole) return offered;
  return { tags: consoleLanguages, standard: bestLanguage([offered.standard], consoleLanguages) ?? SOURCE_LANGUAGE };
}

/** A language that people can use, for an administrator who has chosen none: that of the page, if it is offered. */
export function languageForPeople({ state }: Context): string {
  const { tags, standard } = state.offeredLanguages();
  const own = state.language();
  return tags.includes(own) ? own : standard;
}

/** The request with the language of its page, for the mails that it causes. */
export function withLanguage({ state }: Context): RequestInfo {
  return { ...state.request, language: state.language() };
}

/** The tags of `ui_locales`, separated by spaces (OpenID Connect Core, section 3.1.2.1). */
export function languagesOf(uiLocales: unknown): string[] {
  return typeof uiLocales === 'string' ? uiLocales.split(' ', 20).filter((tag) => /^[\w-]{2,35}$/.test(tag)) : [];
}

/** An address that carries the requested languages to the next page. */
export function withUiLocales(address: string, languages: readonly string[]): string {
  if (languages.length === 0) return address;
  return `${address}${address.includes('?') ? '&' : '?'}${new URLSearchParams({ ui_locales: languages.join(' ') })}`;
}

/** `/language/de?next=/account`: a link of the footer, so that it works without script. Changes nothing but the texts. */
export function languageRoutes({ cookies }: { cookies: Cookies }): Router<State, Extras> {
  const router = new Router<State, Extras>();
  router.get('/language/:language', (ctx) => {
    const { next } = ctx.query;
    const back = (typeof next === 'string' && localPath(next)) || '/';
    const more = /^\/admin(?=[/?]|$)/.test(back) ? consoleLanguages : [];
    const language = [...ctx.state.offeredLanguages().tags, ...more].find((one) => one === ctx.params.language);
    if (language === undefined) throw notFound();
    cookies.set(ctx, 'pickedLanguage', language);
    cookies.set(ctx, 'language', language);
    seeOther(ctx, back);
  });
  return router;
}

/**
 * Where the picker leads back to: this page, or the page with the form that was sent. Undefined for an error page with a query, which
 * may be all that is wrong with the request: the page does not repeat it.
 */
export function addressToReturnTo({ method, path, url, search }: Context, status: number): string | undefined {
  if (status >= 400 && method === 'GET' && search) return undefined;
  if (method === 'GET') return url;
  return path.replace(/^(\/signin\/[\w-]+)\/.*$/, '$1');
}
