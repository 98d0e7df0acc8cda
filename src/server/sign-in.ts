// Puts the sign-in pages together from the services.
import { createStartPages } from '../applications/start-page.ts';
import { minimumLength } from '../credentials/password-policy.ts';
import type { Context } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import type { Csrf } from '../http/csrf.ts';
import { recipientOf } from '../mail/messages.ts';
import { placeOf } from '../mail/wording.ts';
import type { ClientSource } from '../oidc/clients.ts';
import type { Engine } from '../oidc/provider.ts';
import type { Metrics } from '../platform/metrics.ts';
import { OWN_CLIENT_ID } from '../rp/own-client.ts';
import type { Services } from '../services.ts';
import { createAttempts } from '../signin/attempts.ts';
import { createBrowsers } from '../signin/browsers.ts';
import { enrolmentRoutes } from '../signin/enrolment-routes.ts';
import { createExpiredSignIns } from '../signin/expired.ts';
import { createFactorPages } from '../signin/factor-pages.ts';
import { createFirstFactor } from '../signin/first-factor.ts';
import { createFlow } from '../signin/flow.ts';
import { createInteractions } from '../signin/interactions.ts';
import { signInRoutes } from '../signin/routes.ts';
import { createSecondFactorCodes } from '../signin/second-factor.ts';
import { secondFactorRoutes } from '../signin/second-factor-routes.ts';
import { createSteps } from '../signin/steps.ts';
import { createViews } from '../signin/views.ts';

export interface SignInParts {
  services: Services;
  engine: Engine;
  clients: ClientSource;
  metrics: Metrics;
  csrf: Csrf;
  cookies: Cookies;
  /** What a kept SAML request wants. */
  samlWishes(ctx: Context, params: Record<string, unknown>): Promise<{ acrs: string[]; needsPassword: boolean }>;
}

export function assembleSignIn({ services, engine, clients, metrics, csrf, cookies, samlWishes }: SignInParts) {
  const { db, sql, kind, now, accounts, audit, captcha, config, consents, credentials, endSession, mfa, outbox } =
    services;
  const { rateLimits, sessions, settings, signInGuard, tell } = services;
  const { protect } = csrf;
  const rememberDays = () => settings.latest().remember_browser_days;
  const expired = createExpiredSignIns({ cookies, startOf: createStartPages({ db, issuer: config.issuer }) });
  const interactions = createInteractions({ engine: engine.current, expired });
  const attempts = createAttempts({ sql, kind, now });
  const browsers = createBrowsers({
    cookies,
    knownBrowsers: mfa.knownBrowsers,
    audit,
    rememberDays,
    async tellNewBrowser(ctx, account) {
      const to = recipientOf(account);
      if (!to || !settings.latest().new_browser_notice) return;
      await outbox.send({ to, kind: 'new-sign-in', place: placeOf(ctx.state.request, now()) });
    },
  });
  const steps = createSteps({
    interactions,
    attempts,
    accounts,
    policy: services.signInPolicy,
    applicationOf: clients.facts,
    ownClientId: OWN_CLIENT_ID,
    async wishes(ctx, { params }) {
      const { acrs, needsPassword } = await samlWishes(ctx, params);
      return { acrs: [...acrOfParameters(params), ...acrs], needsPassword };
    },
    isTrustedBrowser: browsers.isTrusted,
  });
  const firstFactor = createFirstFactor({
    accounts,
    credentials,
    audit,
    guard: signInGuard,
    captcha,
    browsers,
    counted: (outcome) => metrics.signIns.inc({ outcome, method: 'password' }),
  });
  const views = createViews({
    findClient: (clientId) => engine.current().Client.find(clientId),
    factorPages: createFactorPages({ attempts, passkeys: mfa.passkeys, totp: mfa.totp, rememberDays }),
    captchaFor: firstFactor.captchaFor,
    refusals: services.refusals,
    expired,
    minPasswordLength: async (accountId) => minimumLength(await mfa.factors.hasSecondFactor(accountId)),
    links: {
      forgotPassword: '/forgot-password',
      // The setting may change while the server runs.
      get register() {
        return settings.latest().self_registration ? '/sign-up' : undefined;
      },
    },
  });
  const flow = createFlow({ steps, attempts, interactions, browsers, audit, credentials });
  const codes = createSecondFactorCodes({
    ...mfa,
    rateLimits,
    audit,
    counted: (outcome, method) => metrics.signIns.inc({ outcome, method }),
  });
  return [
    signInRoutes({
      flow,
      views,
      interactions,
      attempts,
      firstFactor,
      consents,
      credentials,
      async passwordChanged(account, keptSession, by) {
        await mfa.knownBrowsers.endTrust(account.id);
        const uids = (await sessions.list(account.id)).map(({ uid }) => uid).filter((uid) => uid !== keptSession);
        await endSession.several(uids, 'ended-by-person', by);
        await tell(account, 'password-changed', by.request);
      },
      audit,
      protect,
    }),
    secondFactorRoutes({
      flow,
      views,
      codes,
      attempts,
      sentCodes: services.sentCodes,
      passkeys: mfa.passkeys,
      audit,
      protect,
    }),
    enrolmentRoutes({ flow, views, attempts, ...mfa, tell, rateLimits, host: config.issuerUrl.host, now, protect }),
  ];
}

/** `acr_values`, and `acr` as an essential claim (OIDC Core 5.5.1.1). */
function acrOfParameters(params: Record<string, unknown>): string[] {
  const voluntary = String(params.acr_values ?? '').split(' ');
  const claims = typeof params.claims === 'string' ? (JSON.parse(params.claims) as ClaimsParameter) : undefined;
  const { essential, value, values = [] } = claims?.id_token?.acr ?? {};
  return [...voluntary, ...(essential ? [...values, value] : [])].filter((acr): acr is string => Boolean(acr));
}

interface ClaimsParameter {
  id_token?: { acr?: { essential?: boolean; value?: string; values?: string[] } | null };
}
