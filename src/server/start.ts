// Starts one server: services, protocols, pages, jobs and the listening socket; and stops all of it.

import type { RequestListener } from 'node:http';
import Router from '@koa/router';
import { unknownBrandApplications } from '../applications/brand/unknown-applications.ts';
import type { Base } from '../base/base.ts';
import { ConfigError } from '../base/config/config-error.ts';
import type { Config } from '../base/config.ts';
import { type Context, createKoa, type Extras, type State } from '../base/http/context.ts';
import { cookieKeys, createCookies } from '../base/http/cookies.ts';
import { createCsrf } from '../base/http/csrf.ts';
import { errorHandler } from '../base/http/error-handler.ts';
import { healthRoutes, metricsRoutes, type Phase } from '../base/http/health.ts';
import type { Http } from '../base/http/http.ts';
import { languageRoutes } from '../base/http/pages/language.ts';
import { requestContext } from '../base/http/request-context.ts';
import { createHttpServer, type HttpServer, tryPorts } from '../base/http/server.ts';
import { limits } from '../base/limits.ts';
import type { ResolveTxt } from '../base/network/txt-records.ts';
import { type Clock, systemStopwatch, watchClock } from '../base/platform/clock.ts';
import type { Logger } from '../base/platform/logger.ts';
import { createMetrics, type Metrics } from '../base/platform/metrics.ts';
import { packageVersion, viewsDir } from '../base/platform/package.ts';
import { randomId } from '../base/platform/random.ts';
import type { Tracing } from '../base/platform/tracing.ts';
import type { DatabaseLimits } from '../base/storage/open-options.ts';
import { ignoredTexts } from '../base/texts/overrides.ts';
import { formatFault } from '../config-file/file.ts';
import { ensureFirstAdmin, type FirstAdmin, warnOfAdministrators } from '../config-file/first-admin.ts';
import { type ConfigurationFile, readValidFile } from '../config-file/read-file.ts';
import { createScheduler, type Scheduler } from '../core/jobs/scheduler.ts';
import { createMailDelivery } from '../core/mail/create-mail.ts';
import { namedAsClaims } from '../people/accounts/attributes.ts';
import { createAdministration } from './administration.ts';
import { createApp, mounted } from './app.ts';
import { createProtocols } from './protocols.ts';
import { readinessChecks } from './readiness.ts';
import { serverJobs } from './schedule.ts';
import { createServices, type Services } from './services.ts';
import { createUserPages } from './user-pages.ts';
import { requireWritableDatabase, requireWritableOutbox, startError } from './writable.ts';

export interface RunningServer {
  url: string;
  port: number;
  services: Services;
  /** The administrator that this start created, with the temporary password; undefined if there was one. */
  firstAdmin: FirstAdmin | undefined;
  /** Resolves when each job has run once, and so has logged what it does at a start. */
  firstJobs: Promise<void>;
  /** /readyz answers 503 from now on, while everything is still served. */
  announceStop(): void;
  /** Leaves new connections and the jobs to other processes; resolves when the open connections have ended. */
  retire(): Promise<void>;
  /** Waits for requests in progress, then closes everything. */
  stop(): Promise<void>;
}

export interface WorkerOptions {
  number: number;
  /** No other worker serves yet. */
  isFirst: boolean;
  /** Gives the metrics of this process to the other processes. */
  shareMetrics(render: () => Promise<string>): void;
  /** The text of /metrics of all processes. */
  allMetrics(): Promise<string>;
}

export interface ServerOptions {
  config: Config;
  logger: Logger;
  now?: Clock;
  resolveTxt?: ResolveTxt | undefined;
  /** Set in a process that shares its ports with others. */
  worker?: WorkerOptions | undefined;
  /** The time limits of the database, for tests. */
  databaseLimits?: DatabaseLimits | undefined;
}

/** Starts the server and listens. Throws ConfigError, DatabaseError, or EADDRINUSE and EACCES of the socket. */
export async function startServer(options: ServerOptions): Promise<RunningServer> {
  requireWritableDatabase(options.config);
  return start(options).catch((error: unknown) => {
    throw startError(options.config, error);
  });
}

async function start(options: ServerOptions): Promise<RunningServer> {
  const { config, logger, now: clock, resolveTxt, worker, databaseLimits = limits.database } = options;
  // Before the database is opened, because another server may be using it. A worker would take connections of the others.
  if (!worker) await tryPorts(config);
  // Until the scheduler exists, jobs are not woken: each runs soon after the start.
  let wakeJob: Scheduler['wake'] = () => {};
  const startPhase = beginStart(!worker || worker.isFirst);
  const metrics = metricsOf(worker);
  const instanceId = randomId();
  const tracing = await startTracing({ config, logger, instanceId });

  const services = await createServices({
    config,
    logger,
    ...(clock && { now: clock }),
    resolveTxt,
    databaseLimits,
    isServing: startPhase.isServing,
    wakeJob: (name) => wakeJob(name),
    countAlarm: (kind) => metrics.alarms.inc({ kind }),
  });
  const { audit, keyring, mfa } = services;
  await prepareData(services);
  requireWritableOutbox(services);
  await keyring.load();

  const http = createHttp(services, metrics);
  const protocols = await createProtocols(services, http);
  const userPages = createUserPages({ services, http, protocols });
  const scheduler = createScheduler({
    ...services,
    instanceId,
    tracing,
    onRun: (job, outcome, seconds) => metrics.jobs.observe({ job, outcome }, seconds),
  });
  wakeJob = scheduler.wake;
  const mail = createMailDelivery({
    ...services,
    // The domains that write a deferred mail once its recipient is known.
    writers: {
      'password-reset': userPages.recovery.passwordReset.writeMail,
      unlock: userPages.recovery.unlock.writeMail,
      registration: userPages.registration.selfRegistration.writeMail,
    },
    readPicture: services.brandImages.read,
    countMail: (outcome) => metrics.mails.inc({ outcome }),
    notReceived: services.inactivity.notReceived,
  });
  const administration = createAdministration({
    services,
    http,
    protocols,
    userPages,
    handler: () => handler,
  });
  const jobs = [
    ...serverJobs(services, metrics),
    ...services.federationJobs,
    ...mail,
    ...protocols.logout.jobs,
    ...protocols.saml.jobs,
    ...services.provisioning.jobs,
    ...administration.jobs,
  ];
  for (const job of jobs) scheduler.add(job);
  const phase = () => startPhase.now(server.isDraining());
  const { account, federation, recovery, registration, rp, signIn } = userPages;
  const { forwardAuth } = protocols;
  const { listen, token } = config.metrics;
  const routes = [
    // First, because most requests are for it.
    protocols.oidc.middleware,
    administration.consoleErrors,
    mounted(healthRoutes({ checks: readinessChecks(services), phase })),
    ...(!listen && token !== undefined ? [mounted(metricsRoutes({ metrics, token }))] : []),
    ...[signIn, federation, recovery, registration].flatMap(({ routers }) => routers.map(mounted)),
    mounted(protocols.saml.routes),
    forwardAuth.continueChain,
    ...[protocols.logout, rp, account, administration].flatMap(({ routers }) => routers.map(mounted)),
    mounted(homeRoutes(config.issuer, rp.signedIn.isSignedIn)),
    mounted(languageRoutes({ cookies: http.cookies })),
  ];
  const answer = createApp({ services, http, viewsDir, tracing, forwardAuth, routes }).callback();
  // Before the framework, so that a rejection costs little more than its connection.
  const handler: RequestListener = (req, res) => {
    if (!forwardAuth.limitWithoutSession(req, res)) answer(req, res);
  };

  const requestsPerConnection = worker && limits.workers.maxRequests;
  const server = createHttpServer({ handler, logger, requestsPerConnection });
  const { port } = await server.listen({ host: config.host, port: config.port });
  const metricsServer = listen && createMetricsServer(services, http);
  if (listen) await metricsServer?.listen(listen);

  // Not a job: jobs run on one instance at a time, but every instance has to follow a key change.
  const keyRefresh = setInterval(() => {
    keyring.refresh().catch((err: unknown) => logger.error({ err }, 'the signing keys could not be read'));
  }, limits.keys.reloadSeconds * 1000);
  const onSetBack = scheduler.clockSetBack;
  const clockWatch = watchClock({ now: services.now, logger, stopwatch: systemStopwatch, onSetBack });
  // Before the jobs, so that a start on a full disk fails here with one line.
  await audit.record({ type: 'server.started', outcome: 'success', data: { node: process.version } });
  const firstJobs = scheduler.start().then(mfa.passkeys.prepare); // the start does not wait for it
  // Last, so that no failure of the start comes between the password and its box.
  const firstAdmin = await ensureFirstAdmin(services);
  startPhase.complete();
  return {
    url: config.issuer,
    port,
    services,
    firstJobs,
    firstAdmin,
    announceStop: server.announceDrain,
    retire: () => Promise.all([scheduler.stop(), server.retire()]).then(() => {}),
    async stop() {
      clearInterval(keyRefresh);
      clockWatch.stop();
      await Promise.all([server.drain({ seconds: limits.http.drainSeconds }), scheduler.stop()]);
      // After the drain, so that its last minute can be scraped too.
      await metricsServer?.drain({ seconds: 0 });
      await Promise.all([services.close(), tracing?.stop()]);
    },
  };
}

function metricsOf(worker: WorkerOptions | undefined): Metrics {
  if (!worker) return createMetrics();
  const metrics = createMetrics({ worker: String(worker.number) });
  worker.shareMetrics(metrics.render);
  return { ...metrics, render: worker.allMetrics };
}

/** Reads the OpenTelemetry packages only when traces are on. */
async function startTracing({
  config: { tracing: config },
  ...rest
}: {
  config: Config;
  logger: Logger;
  instanceId: string;
}): Promise<Tracing | undefined> {
  if (!config) return undefined;
  const { createTracing } = await import('../base/platform/otlp.ts');
  return createTracing({ ...rest, config, version: packageVersion() });
}

interface StartPhase {
  isServing(): boolean;
  /** The start is complete. */
  complete(): void;
  now(isDraining: boolean): Phase;
}

/** @param isAlone false where other workers serve already: a probe of the shared port must not find the one that starts */
function beginStart(isAlone: boolean): StartPhase {
  let isServing = false;
  return {
    isServing: () => isServing,
    complete() {
      isServing = true;
    },
    now(isDraining) {
      if (isDraining) return 'draining';
      return isServing || !isAlone ? 'serving' : 'starting';
    },
  };
}

// What every route of the server shares: cookies, CSRF protection and metrics.

/** Creates them, with keys derived from the data keys. */
function createHttp({ config, vault }: Base, metrics: Metrics): Http {
  const cookies = createCookies({ secure: config.secure });
  return {
    cookies,
    metrics,
    cookieKeys: cookieKeys(vault.deriveKeys('cookies')),
    csrf: createCsrf({ cookies, keys: vault.deriveKeys('csrf'), issuerUrl: config.issuerUrl }),
  };
}

// Runs before the server listens: creates the built-in roles, and applies the configuration file.

/** Throws ConfigError with one line for each fault of the configuration file. */
export async function prepareData(services: Services): Promise<void> {
  await services.roles.ensureBuiltInRoles();
  const file = await applyConfigurationFile(services);
  // The plan has warned of those in the file.
  if (!file?.declared.settings.brand_applications) await warnOfUnknownBrandApplications(services);
  const { user_attributes: schema = {} } = services.settings.latest();
  if (!file?.declared.settings.user_attributes) for (const text of namedAsClaims(schema)) services.logger.warn(text);
  await warnOfAdministrators(services);
  const { texts, rate_limits: limitsRates } = services.settings.latest();
  const ignored = ignoredTexts(texts);
  if (ignored.length > 0)
    services.logger.warn(
      { texts: ignored },
      'settings.texts: these texts are ignored, because this version cannot use them',
    );
  if (!limitsRates) services.logger.warn('RATE LIMITS ARE OFF (settings.rate_limits: false): only for load tests');
}

/** Returns the file; undefined where there is none, or where it was applied before and nothing has changed since. */
async function applyConfigurationFile(services: Services): Promise<ConfigurationFile | undefined> {
  const { configFile, logger, settings } = services;
  const { configFile: path } = services.config;
  if (path === undefined) return undefined;
  if (await configFile.isApplied(path)) {
    await settings.reload();
    logger.info({ file: path, changes: 0, isUnchanged: true }, 'configuration file applied');
    return undefined;
  }
  const file = await readValidFile(path);
  const result = await configFile.apply(file);
  if (!result.ok) throw new ConfigError(result.faults.map((fault) => formatFault(file.path, fault)));
  for (const warning of result.plan.warnings) logger.warn(warning);
  logger.info({ file: file.path, changes: result.plan.steps.length }, 'configuration file applied');
  return file;
}

async function warnOfUnknownBrandApplications({ applications, logger, settings }: Services): Promise<void> {
  const brands = settings.latest().brand_applications;
  const found = await Promise.all(Object.keys(brands).map((id) => applications.find(id)));
  const known = new Set(found.map((application) => application?.clientId));
  const isKnown = (id: string) => known.has(id) || applications.isReserved(id);
  for (const warning of unknownBrandApplications(brands, isKnown)) logger.warn(warning);
}

/** The listener of METRICS_PORT: it serves /metrics and nothing else. A proxy is never in front, so X-Forwarded headers are ignored. */
export function createMetricsServer({ config, logger }: Base, { cookieKeys, metrics }: Http): HttpServer {
  const app = createKoa(cookieKeys, logger);
  app.use(requestContext({ logger, trustProxy: 0, debugPaths: ['/metrics'] }));
  app.use(errorHandler());
  app.use(mounted(metricsRoutes({ metrics, token: config.metrics.token })));
  return createHttpServer({ handler: app.callback(), logger });
}

// The start page: the way in, and the addresses that an application is set up with.

function homeRoutes(issuer: string, isSignedIn: (ctx: Context) => Promise<boolean>): Router<State, Extras> {
  const router = new Router<State, Extras>();
  router.get('/', async (ctx) => {
    ctx.render('home', {
      isSignedIn: await isSignedIn(ctx),
      issuer,
      discoveryUrl: `${issuer}/.well-known/openid-configuration`,
      samlMetadataUrl: `${issuer}/saml/metadata`,
    });
  });
  return router;
}
