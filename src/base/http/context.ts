// The types of `ctx.state` and `ctx.render`, which the middlewares of this server add to a Koa context.
import Koa from 'koa';
import type { Logger } from '../platform/logger.ts';
import type { RequestInfo, Sender } from '../platform/request-info.ts';
import type { DatabaseUnavailable } from '../storage/unavailable.ts';
import type { OfferedLanguages } from '../texts/languages.ts';
import type { AppError, ErrorCode } from './errors.ts';

export interface State {
  request: RequestInfo;
  // A value that is created at its first use is a function: V8 stores an accessor of a single object (`Object.defineProperty` with `get`) in
  // the object's map, which is old from the beginning, and so promotes the whole request in each collection of young objects.
  /** The log with the request id on each line. */
  log(): Logger;
  /** Token for `<input name="_csrf">`; the first call sets the cookie that belongs to it. */
  csrfToken(): string;
  /** The languages that the settings offer. */
  offeredLanguages(): OfferedLanguages;
  /** Whether the page is one of the console, for an administrator: it has languages of its own. */
  isConsole?: boolean;
  /** The language of the page, from the data that is available when it is rendered. */
  language(): string;
  /** Runs `work`, which must be synchronous, with texts in the language of the page. */
  inWords<Result>(work: () => Result): Result;
  /** The languages that the application requests, in order of preference. */
  requestedLanguages?: string[];
  /** Whether the pages of the account lead to the console. */
  mayOpenConsole?: boolean;
  /** The claim `locale` of the user. */
  profileLanguage?: string | undefined;
  /** The route pattern for metrics; routers set it, others may. */
  route?: string;
  errorCode?: ErrorCode | undefined;
  /** The page in which an error of this request is displayed to its user, where it is not the view `error`. */
  errorPage?(error: AppError): Promise<ErrorPage | undefined>;
  /** Who the request stores for, as soon as it is known outside of the engine. */
  sender?: Sender;
  /** Whether the database could not be used, so that the response has to be replaced (503). */
  databaseError?: DatabaseUnavailable;
  /** The path where a logout continues, instead of the address that the OIDC engine redirects to. */
  logoutRunPath?: string;
}

export interface ErrorPage {
  template: string;
  data: object;
}

export interface Extras {
  /** Responds with a page of `views/`; the top of each template describes its data. */
  render(template: string, data?: object, status?: number): void;
}

export type Context = Koa.ParameterizedContext<State, Extras>;
export type Middleware = Koa.Middleware<State, Extras>;
export type Application = Koa<State, Extras>;

/** Sends the browser to another page, which it gets with GET whatever the method of the request was. */
export function seeOther(ctx: { status: number; redirect(url: string): void }, url: string): void {
  ctx.status = 303;
  ctx.redirect(url);
}

export interface CookieKeys {
  sign(data: string): string;
  verify(data: string, digest: string): boolean;
  index(data: string, digest: string): number;
}

/** Creates a Koa application that signs cookies with `keys` and logs errors it can no longer respond to. */
export function createKoa(keys: CookieKeys, logger: Logger): Application {
  // `proxy` lets ctx.protocol and ctx.ip read X-Forwarded-*, which the host guard has set.
  const app = new Koa<State, Extras>({ proxy: true });
  app.keys = keys;
  // Only reached when the response had already started or the connection broke; the error handler does the rest.
  app.on('error', (err: unknown) => logger.warn({ err }, 'response aborted'));
  return app;
}
