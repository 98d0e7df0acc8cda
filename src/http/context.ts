// What our middlewares put on a Koa context, in types: `ctx.state` and `ctx.render`.
import Koa from 'koa';
import type { Logger } from '../platform/logger.ts';
import type { RequestInfo } from '../platform/request-info.ts';
import type { ErrorCode } from './errors.ts';

export interface State {
  request: RequestInfo;
  /** The log with the request id on each line. */
  readonly log: Logger;
  /** Token for `<input name="_csrf">`; reading it sets the cookie that belongs to it. */
  readonly csrfToken: string;
  /** The route pattern for metrics; routers set it, others may. */
  route?: string;
  errorCode?: ErrorCode;
  /** A path of ours where a sign-out goes on, instead of the address that the OIDC engine redirects to. */
  goOnAt?: string;
}

export interface Extras {
  /** Answers with a page of `views/`; data shapes are at the top of each template. */
  render(template: string, data?: object, status?: number): void;
}

export type Context = Koa.ParameterizedContext<State, Extras>;
export type Middleware = Koa.Middleware<State, Extras>;
export type Application = Koa<State, Extras>;

export interface CookieKeys {
  sign(data: string): string;
  verify(data: string, digest: string): boolean;
  index(data: string, digest: string): number;
}

/** A Koa application that signs cookies with `keys` and sends what it cannot answer any more to the log. */
export function createKoa(keys: CookieKeys, logger: Logger): Application {
  // `proxy` lets ctx.protocol and ctx.ip read X-Forwarded-*, which the host guard has replaced by facts of our own.
  const app = new Koa<State, Extras>({ proxy: true });
  app.keys = keys;
  // Only reached when the answer had begun already or the connection broke; the error handler does all the rest.
  app.on('error', (err: unknown) => logger.warn({ err }, 'response broke off'));
  return app;
}
