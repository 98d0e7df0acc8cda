// Puts the sign-in pages together: which steps there are, the pages that show them, and the forms that answer them.

import Router from '@koa/router';
import type { Client } from 'oidc-provider';
import { z } from 'zod';
import type { ApplicationServices } from '../applications/application-services.ts';
import { createStartPages } from '../applications/start-url.ts';
import type { Context, Extras, State } from '../base/http/context.ts';
import { badRequest } from '../base/http/errors.ts';
import type { Http } from '../base/http/http.ts';
import { parseForm } from '../base/http/input.ts';
import { limits } from '../base/limits.ts';
import type { PageText } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Core } from '../core/core.ts';
import { recipientOf } from '../core/mail/messages.ts';
import { placeOf } from '../core/mail/wording.ts';
import type { Account } from '../people/accounts/account.ts';
import { minimumLength } from '../people/credentials/password-policy.ts';
import type { People } from '../people/people.ts';
import type { SamlRequirements } from '../protocols/oidc/engine/saml-requirements.ts';
import type { ClientSource } from '../protocols/oidc/store/clients.ts';
import type { SessionServices } from '../protocols/session-services.ts';
import { type Attempts, createAttempts } from './attempts.ts';
import { requestedGrant } from './consent-description.ts';
import { type CurrentStep, createSteps } from './current-step.ts';
import { createExpiredSignIns, type ExpiredSignIns } from './expired-sign-in.ts';
import type { DirectorySignIns } from './first-factor/directories.ts';
import { createFirstFactor, type FirstFactor } from './first-factor/first-factor.ts';
import { passwordRoutes } from './first-factor/password-routes.ts';
import type { UpstreamSignIns } from './first-factor/upstream.ts';
import { namedConnection, sendStepUp, sendUpstream, upstreamRoutes } from './first-factor/upstream-routes.ts';
import { createFlow, type Flow, type StepContext } from './flow.ts';
import { createInteractions, type InteractionEngine, type Interactions } from './interactions.ts';
import { createKnownBrowserCookie, type KnownBrowserCookie } from './known-browser-cookie.ts';
import { createSecondFactorCodes } from './second-factor/codes.ts';
import { createFactorPages, type FactorPages } from './second-factor/pages.ts';
import type { RecoveryCodesPages } from './second-factor/recovery-codes-page.ts';
import { enrolmentRoutes, secondFactorRoutes } from './second-factor/routes.ts';
import type { SignInPolicy } from './sign-in-policy.ts';
import { createStepPages, type StepPages } from './step-pages.ts';

export interface SignInDependencies {
  /** The name of a SAML application in the language of the page. */
  serviceProviderTitle(entityId: string): Promise<PageText | undefined>;
  clients: ClientSource;
  engine(): InteractionEngine & { Client: { find(clientId: string): Promise<Client | undefined> } };
  /** The client that Gatehouse's own pages sign in with. */
  ownClientId: string;
  /** What the SAML request behind an authorization request asks for; nothing for OpenID Connect. */
  samlRequirements(ctx: Context, params: Record<string, unknown>): Promise<SamlRequirements>;
  /** Ends every session of the account but this one. */
  endOtherSessions(accountId: string, keptSession: string | undefined, by: Actor): Promise<void>;
  signInPolicy: SignInPolicy;
  /** Sign-in at upstream identity providers (src/federation). */
  upstream: UpstreamSignIns;
  /** Passwords that directories check (src/federation). */
  directories: DirectorySignIns;
  recoveryCodesPages: RecoveryCodesPages;
  /** The account of an invitation that is open in this browser. */
  invitedId(ctx: Context): Promise<string | undefined>;
}

/** The routers below /signin/:uid. */
export function createSignIn(
  dependencies: Core & Http & People & ApplicationServices & SessionServices & SignInDependencies,
) {
  const { invitedId, mfa, notifyOwner } = dependencies;
  const { directories, ownClientId, rateLimits, settings, upstream } = dependencies;
  const { passkeys, totp, recoveryCodes } = mfa;
  const rememberDays = () => settings.latest().remember_browser_days;

  const { attempts, browserCookie, expiredSignIns, flow, interactions } = createSignInFlow(dependencies, rememberDays);
  const { firstFactor, codes } = createFactorChecks(dependencies, browserCookie);
  const factorPages = createFactorPages({ ...dependencies, attempts, rememberDays });
  const pages = createPages(dependencies, { factorPages, firstFactor, expiredSignIns });

  const passwordChanged = afterPasswordChange(dependencies);
  const { recoveryCodesPages } = dependencies;
  const enrolment = { totp, passkeys, recoveryCodes, notifyOwner, rateLimits, recoveryCodesPages };
  const routers = [
    dispatchRoutes({ ...dependencies, flow, pages, interactions, attempts, upstream }),
    upstreamRoutes({ ...dependencies, flow, attempts, interactions, upstream, ownClientId, invitedId }),
    passwordRoutes({ ...dependencies, flow, pages, firstFactor, passwordChanged, directories, attempts, invitedId }),
    decisionRoutes({ ...dependencies, flow, interactions }),
    secondFactorRoutes({ ...dependencies, flow, pages, codes, attempts }),
    enrolmentRoutes({ ...dependencies, flow, pages, attempts, ...enrolment }),
  ];
  // Before any check: error pages have the brand of the application too.
  for (const router of routers) router.param('uid', expiredSignIns.recallApplication);
  return { routers };
}

/** The order of the steps, and what is stored between them. */
function createSignInFlow(
  dependencies: Core & Http & People & SessionServices & SignInDependencies,
  rememberDays: () => number,
) {
  const {
    clients,
    db,
    engine,
    now,
    ownClientId,
    config: { issuer },
  } = dependencies;
  const { samlRequirements, sessions, signInPolicy: policy, upstream } = dependencies;
  const sendNewBrowserNotice = newBrowserNotice(dependencies);
  const expiredSignIns = createExpiredSignIns({
    ...dependencies,
    startOf: createStartPages({ db, issuer }),
  });
  const interactions = createInteractions({ engine, expiredSignIns });
  const attempts = createAttempts(dependencies);
  const browserCookie = createKnownBrowserCookie({ ...dependencies, rememberDays, sendNewBrowserNotice });
  const steps = createSteps({
    ...dependencies,
    interactions,
    attempts,
    policy,
    applicationOf: clients.applicationOf,
    ownClientId,
    samlRequirements,
    isTrustedBrowser: browserCookie.isTrusted,
    upstream,
    async isRecentSession(uid) {
      const signedInAt = (await sessions.find(uid))?.signedInAt.getTime() ?? 0;
      return now().getTime() - signedInAt <= limits.recentAuthentication.seconds * 1000;
    },
  });
  const flow = createFlow({ ...dependencies, steps, attempts, interactions, browserCookie, upstream });
  return { attempts, browserCookie, expiredSignIns, flow, interactions };
}

/** The checks of a password and of the code of a second factor. */
function createFactorChecks(
  dependencies: Core &
    Http &
    People & {
      /** Passwords that directories check (src/federation). */
      directories: DirectorySignIns;
    },
  browserCookie: KnownBrowserCookie,
) {
  const { directories, metrics } = dependencies;
  const countAttempt = (outcome: string, method: string) => metrics.signIns.inc({ outcome, method });
  return {
    firstFactor: createFirstFactor({
      ...dependencies,
      directories,
      browserCookie,
      countAttempt: (outcome) => countAttempt(outcome, 'password'),
    }),
    codes: createSecondFactorCodes({ ...dependencies, countAttempt }),
  };
}

/** The page of each step. */
function createPages(
  dependencies: Core & People & ApplicationServices & SignInDependencies,
  parts: { factorPages: FactorPages; firstFactor: FirstFactor; expiredSignIns: ExpiredSignIns },
): StepPages {
  const { brand, engine, clients, ownClientId, mfa, settings, upstream } = dependencies;
  const { factorPages, firstFactor, expiredSignIns } = parts;
  return createStepPages({
    ...dependencies,
    ownNameOf: (clientId) => (clientId === ownClientId ? brand.current()?.name : undefined),
    async titleOf(clientId) {
      const isSaml = (await clients.applicationOf(clientId))?.protocol === 'saml';
      return isSaml ? dependencies.serviceProviderTitle(clientId) : undefined;
    },
    findClient: (clientId) => engine().Client.find(clientId),
    pictureOf: dependencies.pictures.addressOf,
    registeredItself: async (clientId) => (await clients.applicationOf(clientId))?.source === 'dynamic',
    factorPages,
    captchaFor: firstFactor.captchaFor,
    upstream,
    expiredSignIns,
    minPasswordLength: async (accountId) => minimumLength(await mfa.factors.hasSecondFactor(accountId)),
    forgotPasswordPath: '/forgot-password',
    registrationPath: () => (settings.latest().self_registration ? '/sign-up' : undefined),
  });
}

/** Mails the owner of an account about its first sign-in in a browser, while the setting is on. */
function newBrowserNotice({ now, outbox, settings }: Core) {
  return async (ctx: Context, account: Account): Promise<void> => {
    const to = recipientOf(account, ctx.state.request);
    if (!to || !settings.latest().new_browser_notice) return;
    await outbox.send({ to, kind: 'new-sign-in', place: placeOf(ctx.state.request, now()) });
  };
}

/** After a change of password: no browser is trusted, no other session goes on, and the owner gets a notice. */
function afterPasswordChange({
  mfa,
  endOtherSessions,
  notifyOwner,
}: Core &
  People & {
    /** Ends every session of the account but this one. */
    endOtherSessions(accountId: string, keptSession: string | undefined, by: Actor): Promise<void>;
  }) {
  return async (account: Account, keptSession: string | undefined, by: Actor): Promise<void> => {
    await mfa.knownBrowsers.endTrust(account.id);
    await endOtherSessions(account.id, keptSession, by);
    await notifyOwner(account, 'password-changed', by.request);
  };
}

const decisionForm = z.object({ decision: z.enum(['allow', 'deny', 'other', 'continue']) });

function decisionRoutes(
  dependencies: Core & Http & ApplicationServices & { flow: Flow; interactions: Interactions },
): Router<State, Extras> {
  const {
    flow,
    interactions,
    consents,
    audit,
    csrf: { check: checkCsrf },
  } = dependencies;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });

  router.post('/account', checkCsrf, async (ctx: StepContext) => {
    const current = await flow.expect(ctx, 'select-account', 'access-denied');
    if (!current) return;
    const { decision } = await parseForm(ctx, decisionForm);
    if (decision === 'deny') return interactions.deny(ctx, 'the account may not open this application');
    if (decision === 'other') return useAnotherAccount(ctx, current);
    if (current.step === 'select-account') return interactions.answer(ctx, { select_account: {} });
    throw badRequest('invalid_input');
  });

  router.post('/consent', checkCsrf, async (ctx: StepContext) => {
    const current = await flow.expect(ctx, 'consent');
    if (!current?.account) return;
    const { decision } = await parseForm(ctx, decisionForm);
    if (decision === 'other') return useAnotherAccount(ctx, current);
    const { account, applicationId, clientId } = current;
    const about = { actorId: account.id, subjectId: account.id, clientId, request: ctx.state.request };
    if (decision !== 'allow') {
      await audit.record({ type: 'consent.denied', outcome: 'success', ...about });
      return interactions.deny(ctx, 'the user did not allow access');
    }
    const granted = requestedGrant(current.interaction);
    await consents.allow(account.id, applicationId, granted);
    await audit.record({ type: 'consent.granted', outcome: 'success', ...about, data: { ...granted } });
    await interactions.answer(ctx, { consent: {} });
  });

  const useAnotherAccount = (ctx: Context, current: CurrentStep) =>
    flow.proceed(ctx, current, {
      userId: undefined,
      amr: [],
      choosesOtherAccount: true,
      passwordSetAt: undefined,
      usedRecoveryCode: undefined,
      upstream: undefined,
    });

  return router;
}

// GET /signin/:uid, the dispatcher: shows the page of the current step, sends the browser to an upstream, or returns to the OIDC engine after the last
// one. POST cancel returns to the application.

interface DispatchRoutesDependencies {
  flow: Flow;
  pages: StepPages;
  interactions: Interactions;
  attempts: Attempts;
  upstream: UpstreamSignIns;
}

function dispatchRoutes(dependencies: Http & DispatchRoutesDependencies): Router<State, Extras> {
  const {
    flow,
    pages,
    interactions,
    attempts,
    upstream,
    csrf: { check: checkCsrf },
  } = dependencies;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });

  router.get('/', async (ctx: StepContext) => {
    const current = await flow.open(ctx);
    if (await flow.hasGoneOn(ctx, current)) return;
    if (current.step === 'done') return flow.finish(ctx, current);
    if (current.step === 'upstream') return sendStepUp({ attempts, upstream }, ctx, current);
    const connection = current.step === 'identify' ? await namedConnection(upstream, current) : undefined;
    if (connection) return sendUpstream({ attempts, upstream }, ctx, current, connection);
    await pages.show(ctx, current);
  });

  // Asked by the page when it becomes visible again.
  router.get('/changed', async (ctx: StepContext) => {
    const current = await flow.open(ctx);
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { changed: current.changedSession !== undefined || current.interaction.result !== undefined };
  });

  router.post('/cancel', checkCsrf, async (ctx: StepContext) => {
    const { attempt, changedSession, interaction } = await flow.open(ctx);
    if (changedSession) await interactions.forgetSession(interaction);
    await attempts.remove(attempt.uid);
    await interactions.deny(ctx, 'the user canceled the sign-in');
  });

  return router;
}
