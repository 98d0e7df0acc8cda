// The whole chain of HTTP middlewares on a free port, in the order of the real application, around a few routes.
import { randomBytes } from 'node:crypto';
import { createKoa, type Middleware } from '../../src/base/http/context.ts';
import { cookieKeys, createCookies } from '../../src/base/http/cookies.ts';
import { createCsrf } from '../../src/base/http/csrf.ts';
import { errorHandler } from '../../src/base/http/error-handler.ts';
import { hostGuard } from '../../src/base/http/host-guard.ts';
import { createAssets } from '../../src/base/http/pages/assets.ts';
import { languageChoice } from '../../src/base/http/pages/language.ts';
import { createRenderer, type Render, rendering } from '../../src/base/http/pages/render.ts';
import { type RequestObservation, requestContext } from '../../src/base/http/request-context.ts';
import { securityHeaders } from '../../src/base/http/security-headers.ts';
import { createHttpServer, type HttpServer, type Timeouts } from '../../src/base/http/server.ts';
import { createLogger } from '../../src/base/platform/logger.ts';
import { type HttpClient, httpClient } from '../support/http.ts';

export interface TestApp extends Pick<HttpServer, 'drain' | 'isDraining'> {
  /** Where it listens. */
  origin: string;
  port: number;
  client: HttpClient;
  /** What was logged, parsed. */
  lines: Record<string, unknown>[];
  observations: RequestObservation[];
  /** Another browser. */
  newClient(): HttpClient;
  stop(): Promise<void>;
}

export interface TestAppOptions {
  /** `GET /path` -> what answers; `protected` POSTs go through the CSRF check automatically. */
  routes?: Record<string, Middleware>;
  /** Routes in front of which the CSRF check stands. */
  csrf?: readonly string[];
  issuer?: string;
  trustProxy?: number;
  timeouts?: Partial<Timeouts>;
  render?: (render: Render) => Render;
}

const assets = createAssets({ dirs: ['views/assets', 'dist/assets'] });
export const render = createRenderer({ viewsDir: 'views', production: true, assets });

export async function startApp(options: TestAppOptions = {}): Promise<TestApp> {
  const { routes = {}, trustProxy = 0, csrf: guarded = [] } = options;
  const lines: Record<string, unknown>[] = [];
  const observations: RequestObservation[] = [];
  const destination = { write: (line: string) => void lines.push(JSON.parse(line)) };
  const logger = createLogger({ level: 'debug', format: 'json', destination });

  let handler = createKoa(cookieKeys([randomBytes(32)]), logger).callback();
  const http = createHttpServer({ handler: (req, res) => handler(req, res), logger, timeouts: options.timeouts });
  const { port } = await http.listen({ host: '127.0.0.1', port: 0 });
  const origin = `http://127.0.0.1:${port}`;
  const issuerUrl = new URL(options.issuer ?? origin);

  const cookies = createCookies({ secure: issuerUrl.protocol === 'https:' });
  const csrf = createCsrf({ cookies, keys: [randomBytes(32)], issuerUrl });
  const app = createKoa(cookieKeys([randomBytes(32)]), logger);
  app.use(requestContext({ logger, trustProxy, observe: (seen) => observations.push(seen), debugPaths: ['/healthz'] }));
  app.use(languageChoice({ cookies }));
  app.use(securityHeaders());
  app.use(errorHandler({ render: options.render?.(render) ?? render }));
  app.use(hostGuard({ issuerUrl, trustProxy }));
  app.use(assets.serve);
  app.use(csrf.tokens);
  app.use(rendering({ render }));
  app.use((ctx, next) => (guarded.includes(ctx.path) ? csrf.check(ctx, next) : next()));
  app.use((ctx, next) => routes[`${ctx.method} ${ctx.path}`]?.(ctx, next));
  handler = app.callback();

  return {
    origin,
    port,
    lines,
    observations,
    client: httpClient(origin),
    newClient: () => httpClient(origin),
    isDraining: http.isDraining,
    drain: http.drain,
    stop: async () => void (await http.drain({ seconds: 0 })),
  };
}

/** The log line of the access log; written when the connection is done, a moment after the answer. */
export async function accessLine(app: TestApp, path: string): Promise<Record<string, unknown>> {
  for (let tries = 0; tries < 100; tries += 1) {
    const line = app.lines.find((candidate) => candidate.msg === 'request' && candidate.path === path);
    if (line) return line;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  throw new Error(`no access-log line for ${path}`);
}
