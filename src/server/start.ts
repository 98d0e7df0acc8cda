// One running server: services, engine, pages, jobs and the listening socket, and how all of it stops again.
import path from 'node:path';
import type { Config } from '../config.ts';
import { createAskOurselves } from '../http/ask-ourselves.ts';
import { cookieKeys as createCookieKeys, createCookies } from '../http/cookies.ts';
import { createCsrf } from '../http/csrf.ts';
import { operatorRoutes } from '../http/operators.ts';
import { createHttpServer, tryListening } from '../http/server.ts';
import { limits } from '../limits.ts';
import { engineFront } from '../oidc/front.ts';
import { createOwnTokens } from '../oidc/own-tokens.ts';
import type { Clock } from '../platform/clock.ts';
import { createJobs } from '../platform/jobs.ts';
import type { Logger } from '../platform/logger.ts';
import { createMetrics } from '../platform/metrics.ts';
import { randomId } from '../platform/random.ts';
import { ensureFirstAdmin, type FirstAdmin } from '../provisioning/first-admin.ts';
import { createServices, packageRoot, type Services } from '../services.ts';
import { assembleAdminApi, assembleEvaluation, createAdministration, createExplanations } from './admin.ts';
import { createApp, mounted } from './app.ts';
import { assembleConsole } from './console.ts';
import { assembleEngine } from './engine.ts';
import { homeRoutes } from './home.ts';
import { assembleMail } from './mail.ts';
import { assembleMailedLinkPages, createMailedLinks, draftWriters } from './mailed-links.ts';
import { assembleOwnPages } from './own-pages.ts';
import { prepareData } from './prepare-data.ts';
import { assembleSaml } from './saml.ts';
import { LOGOUT_JOB, scheduleJobs } from './schedule.ts';
import { assembleSignIn } from './sign-in.ts';
import { assembleSignOut } from './sign-out.ts';

export interface RunningServer {
  url: string;
  port: number;
  services: Services;
  /** The administrator that this very start has made, with the password that nobody will see again. */
  firstAdmin: FirstAdmin | undefined;
  /** Lets requests under way finish, then closes everything. */
  stop(): Promise<void>;
}

export interface ServerOptions {
  config: Config;
  logger: Logger;
  now?: Clock;
}

/** Starts everything and listens; rejects when anything needed is missing. */
export async function startServer({ config, logger, now }: ServerOptions): Promise<RunningServer> {
  // Before anything is written to a database that another server may be at work on.
  await tryListening({ host: config.host, port: config.port });
  let deliverSoon = () => {};
  let mailSoon = () => {};
  const services = await createServices({
    config,
    logger,
    ...(now && { now }),
    logoutQueued: () => deliverSoon(),
    mailQueued: () => mailSoon(),
  });
  const { db, audit, keyring, vault } = services;
  await prepareData(services);
  const metrics = createMetrics();
  const cookies = createCookies({ secure: config.secure });
  const cookieKeys = createCookieKeys(vault.deriveKeys('cookies'));
  const csrf = createCsrf({ cookies, keys: vault.deriveKeys('csrf'), issuerUrl: config.issuerUrl });
  const jobs = createJobs({
    db,
    logger,
    now: services.now,
    instanceId: randomId(),
    onRun: (job, outcome, seconds) => metrics.jobs.observe({ job, outcome }, seconds),
  });
  deliverSoon = () => jobs.wake(LOGOUT_JOB);

  await keyring.load();
  const saml = assembleSaml({ services, metrics, cookies });
  const { engine, clients, accountOf, ...front } = await assembleEngine({
    services,
    metrics,
    cookies,
    cookieKeys,
    saml: saml.engine,
  });
  const signOut = assembleSignOut({ services, metrics, cookies, ...saml, sendLogoutToken: engine.sendLogoutToken });
  scheduleJobs(jobs, services, { signOut: signOut.jobs, saml: saml.jobs });
  const links = createMailedLinks(services);
  mailSoon = assembleMail({ services, metrics, jobs, drafts: draftWriters(links) });

  const ownPages = assembleOwnPages({ services, engine, cookies, csrf, emailProof: links.emailProof });
  const administration = createAdministration({ services, links, mailQueued: mailSoon });
  const explanations = createExplanations({ services, administration, engine, clients });
  const tokens = createOwnTokens({ provider: engine.current });

  let isDraining = () => false;
  const operators = operatorRoutes({
    checks: {
      database: async () => (await db.$queryRaw`SELECT 1`) !== undefined,
      keys: async () => keyring.jwks().keys.length > 0,
    },
    isDraining: () => isDraining(),
    metrics,
  });
  const app = createApp({
    services,
    metrics,
    cookieKeys,
    csrf,
    viewsDir: path.join(packageRoot, 'views'),
    routes: [
      // First, because most requests are for it.
      engineFront({ engine, clients, refusals: services.refusals, ...front }),
      mounted(operators),
      ...assembleSignIn({ services, engine, clients, metrics, csrf, cookies, samlWishes: saml.wishes }).map(mounted),
      ...assembleMailedLinkPages({ services, links, cookies, csrf }).map(mounted),
      mounted(saml.routes),
      mounted(saml.logoutRoutes),
      mounted(signOut.routes),
      ...ownPages.routers.map(mounted),
      ...assembleConsole({
        ...{ services, administration, explanations, page: ownPages.page, cookies },
        ask: createAskOurselves({ handler: () => handler, host: config.issuerUrl.host }),
        samlTestParts: saml.tests,
      }).routers.map(mounted),
      ...assembleAdminApi({ services, administration, explanations, tokens }).routers.map(mounted),
      mounted(assembleEvaluation({ services, tokens, accountOf })),
      mounted(homeRoutes({ issuer: config.issuer })),
    ],
  });

  const handler = app.callback();
  const server = createHttpServer({ handler, logger });
  isDraining = server.isDraining;
  const { port } = await server.listen({ host: config.host, port: config.port });
  jobs.start();
  // Not a job: every instance has to follow a change of keys.
  const following = setInterval(() => {
    keyring.refresh().catch((err: unknown) => logger.error({ err }, 'the signing keys could not be read'));
  }, limits.keys.reloadSeconds * 1000);
  await services.mfa.passkeys.prepare();
  await audit.record({ type: 'server.started', outcome: 'success', data: { node: process.version } });
  // Last, so that whoever is told of the password is told the moment it is stored.
  const firstAdmin = await ensureFirstAdmin(services);

  return {
    url: config.issuer,
    port,
    services,
    firstAdmin,
    async stop() {
      clearInterval(following);
      await Promise.all([server.drain({ seconds: limits.http.drainSeconds }), jobs.stop()]);
      await services.close();
    },
  };
}
