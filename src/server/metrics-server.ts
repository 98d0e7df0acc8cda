// The listener of METRICS_PORT: it serves /metrics and nothing else, and is closed with the server.
import type { Config } from '../base/config.ts';
import { createKoa } from '../base/http/context.ts';
import { errorHandler } from '../base/http/error-handler.ts';
import type { Http } from '../base/http/http.ts';
import { metricsRoutes } from '../base/http/metrics-routes.ts';
import { requestContext } from '../base/http/request-context.ts';
import { createHttpServer, type HttpServer } from '../base/http/server.ts';
import type { Logger } from '../base/platform/logger.ts';
import { mounted } from './app.ts';

export interface MetricsServerDependencies {
  config: Pick<Config, 'metrics'>;
  http: Http;
  logger: Logger;
}

/** Creates it; it does not listen. A proxy is never in front, so X-Forwarded headers are ignored. */
export function createMetricsServer({ config, http, logger }: MetricsServerDependencies): HttpServer {
  const app = createKoa(http.cookieKeys, logger);
  app.use(requestContext({ logger, trustProxy: 0, debugPaths: ['/metrics'] }));
  app.use(errorHandler());
  app.use(mounted(metricsRoutes({ metrics: http.metrics, token: config.metrics.token })));
  return createHttpServer({ handler: app.callback(), logger });
}
