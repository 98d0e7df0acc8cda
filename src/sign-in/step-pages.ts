// Renders the page of each sign-in step.

import type { Client } from 'oidc-provider';
import type { Context } from '../base/http/context.ts';
import { limits } from '../base/limits.ts';
import { waitText } from '../base/texts/dates.ts';
import { type PageText, t } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import { ruleResults } from '../core/rejections/rules.ts';
import type { People } from '../people/people.ts';
import type { CaptchaChallenge, CaptchaWait } from '../people/rate-limits/captcha.ts';
import { describeRequest } from './consent-description.ts';
import type { CurrentStep } from './current-step.ts';
import type { ExpiredSignIns } from './expired-sign-in.ts';
import type { UpstreamSignIns } from './first-factor/upstream.ts';
import type { FactorPages, Foot } from './second-factor/pages.ts';

/** What a page shows besides its step, after a rejected form. */
export interface PageState {
  problem?: PageText;
  /** A link that helps with the problem. */
  next?: { href: string; label: PageText };
  loginHint?: string;
  status?: number;
  /** The wait in place of the CAPTCHA that goes on. */
  waiting?: CaptchaWait | undefined;
  /** The method to show in the second-factor step. */
  method?: string;
  /** The enrolment that goes on. */
  sealed?: string;
}

export type StepPages = ReturnType<typeof createStepPages>;

export interface StepPagesDependencies {
  findClient(clientId: string): Promise<Client | undefined>;
  /** The name of the brand for the pages of this server; undefined where the application has a name of its own. */
  ownNameOf(clientId: string): string | undefined;
  /** The name of a SAML application in the language of the page. */
  titleOf(clientId: string): Promise<PageText | undefined>;
  /** The address of its picture on this server. */
  pictureOf(clientId: string): Promise<string | undefined>;
  /** Whether the client chose its own name and links (RFC 7591). */
  registeredItself(clientId: string): Promise<boolean>;
  factorPages: FactorPages;
  /** The shortest password that this account may choose. */
  minPasswordLength(accountId: string): Promise<number>;
  /** The CAPTCHA that the sign-in form for this login must contain. */
  captchaFor(ctx: Context, login: string, waiting?: CaptchaWait): Promise<CaptchaChallenge | undefined>;
  upstream: UpstreamSignIns;
  expiredSignIns: ExpiredSignIns;
  forgotPasswordPath: string;
  /** Undefined while self-registration is off. */
  registrationPath(): string | undefined;
}

/** What every page of a sign-in is made of. */
interface Page {
  ctx: Context;
  current: CurrentStep;
  client: Client | undefined;
  appName: PageText;
  logo: string | undefined;
  state: PageState;
}

export function createStepPages(dependencies: Core & People & StepPagesDependencies) {
  const { findClient, expiredSignIns, ownNameOf, pictureOf, titleOf } = dependencies;

  async function show(ctx: Context, current: CurrentStep, state: PageState = {}): Promise<void> {
    expiredSignIns.noteApplication(ctx, current.attempt.uid, current.clientId);
    const client = await findClient(current.clientId);
    const appName =
      ownNameOf(current.clientId) ?? (await titleOf(current.clientId)) ?? client?.clientName ?? current.clientId;
    const logo = await pictureOf(current.clientId);
    await showStep(dependencies, { ctx, current, client, appName, logo, state });
  }

  return {
    show,

    /** The same page again with status 429 and how long to wait. */
    showWait(ctx: Context, current: CurrentStep, retryAfterSeconds: number, state?: PageState): Promise<void> {
      ctx.set('Retry-After', String(retryAfterSeconds));
      const problem = t('problem.too-many-attempts', { time: waitText(retryAfterSeconds) });
      return show(ctx, current, { problem, ...state, status: 429 });
    },

    /** The same page again with status 503: the directory that checks the password cannot be used. */
    showUnavailable(
      ctx: Context,
      current: CurrentStep,
      { name, retryAfterSeconds }: { name: string; retryAfterSeconds: number },
      state?: PageState,
    ): Promise<void> {
      ctx.set('Retry-After', String(retryAfterSeconds));
      const problem = t('problem.directory-unavailable', { directory: name });
      return show(ctx, current, { problem, ...state, status: 503 });
    },

    /** The same page again with status 503: more users sign in at this moment than the server can serve. */
    showBusy(ctx: Context, current: CurrentStep, retryAfterSeconds: number, state?: PageState): Promise<void> {
      ctx.set('Retry-After', String(retryAfterSeconds));
      const problem = t('problem.busy');
      return show(ctx, current, { problem, ...state, status: 503 });
    },
  };
}

async function showStep(dependencies: Core & People & StepPagesDependencies, page: Page): Promise<void> {
  const { factorPages } = dependencies;
  const { ctx, current, state } = page;
  if (isUpstreamChosen(page)) return factorPages.showUpstream(ctx, current, footOf(page));
  switch (current.step) {
    case 'identify':
      return showIdentify(dependencies, page);
    case 'second-factor': {
      const method = state.method ?? String(ctx.query.method ?? '');
      return factorPages.showSecondFactor(ctx, current, { ...state, method, foot: footOf(page) });
    }
    case 'enrol':
      return factorPages.showEnrolment(ctx, current, { ...state, foot: footOf(page) });
    case 'replace-factor':
      return factorPages.showReplacement(ctx, current, { ...state, foot: footOf(page) });
    case 'approval':
      return rejectFirstFactor(dependencies, page);
    case 'change-password':
      return showPasswordChange(dependencies, page);
    case 'select-account':
      return showSelectAccount(page);
    case 'access-denied':
      return showAccessDenied(dependencies, page);
    case 'consent':
      return showConsent(dependencies, page);
    case 'upstream':
    case 'done':
      throw new Error(`the step ${current.step} has no page`);
  }
}

/** The upstream comes first, where the user has the choice between it and a factor of this server. */
function isUpstreamChosen({ ctx, current: { step, stepUp }, state }: Page): boolean {
  if (!stepUp || state.problem !== undefined) return false;
  const { method } = ctx.query;
  if (step === 'enrol') return method === 'upstream';
  return step === 'second-factor' && (method === 'upstream' || (method === undefined && !stepUp.wasRequested));
}

/** A form of a later step came after its sign-in was reset. */
const wasReset = (ctx: Context) => ('reset' in ctx.query ? t('sign-in.reset') : undefined);

async function showIdentify(dependencies: StepPagesDependencies, page: Page): Promise<void> {
  const { factorPages, captchaFor, forgotPasswordPath, registrationPath, upstream } = dependencies;
  const { ctx, current, client, appName, logo, state } = page;
  const { account, attempt, interaction, needsPassword } = current;
  const { problem, next, loginHint, status = 200, waiting } = state;
  const { username = '' } = interaction.prompt.details as { username?: string };
  const requested = String(interaction.params.login_hint ?? username);
  const hint = attempt.choosesOtherAccount ? (isHinted(current) ? requested : '') : (account?.username ?? requested);
  const login = loginHint ?? attempt.login ?? hint;
  const register = registrationPath();
  const linking = attempt.upstream?.linkTo === undefined ? undefined : attempt.upstream.connectionName;
  const offer = await upstream.offer(current.rule);
  // To prove the account that an identity is linked to, only this server counts.
  const isLocalAllowed = offer.isLocalAllowed || linking !== undefined;
  const takesPassword = offer.takesPassword || linking !== undefined;
  const asksAddress =
    offer.asksAddressFirst && !needsPassword && linking === undefined && attempt.login === undefined && !problem;
  ctx.render(
    'sign-in/identify',
    {
      action: pathOf(current, asksAddress ? 'identifier' : 'password'),
      cancelAction: pathOf(current, 'cancel'),
      appName,
      logo,
      ...linksOfApplication(client),
      problem,
      next,
      // The account is known and has proven something else; only its password is missing.
      notice: problem ? undefined : needsPassword ? t('second-factor.needs-password') : wasReset(ctx),
      linking,
      loginHint: login,
      takesPassword: takesPassword || asksAddress,
      asksAddress,
      connections: linking === undefined && !needsPassword ? offer.connections : [],
      connectionsAction: pathOf(current, 'connections'),
      captcha: takesPassword && !asksAddress ? await captchaFor(ctx, login, waiting) : undefined,
      forgotPasswordUrl: `${forgotPasswordPath}?signin=${attempt.uid}`,
      registerUrl:
        isLocalAllowed && linking === undefined && register ? `${register}?signin=${attempt.uid}` : undefined,
      passkey: needsPassword || !isLocalAllowed ? undefined : await factorPages.passkeyOffer(current),
    },
    status,
  );
}

/** An administrator sees the request and allows it; the page continues the sign-in then. */
async function rejectFirstFactor({ mfa: { firstEnrolment } }: People, { ctx, current }: Page): Promise<never> {
  const { account } = current;
  if (!account) throw new Error('an approval without an account');
  return firstEnrolment.demandApproval(account, { actorId: account.id, request: ctx.state.request });
}

async function showPasswordChange(
  {
    minPasswordLength,
  }: {
    /** The shortest password that this account may choose. */
    minPasswordLength(accountId: string): Promise<number>;
  },
  page: Page,
): Promise<void> {
  const { ctx, current, state } = page;
  const { account } = current;
  ctx.render(
    'sign-in/change-password',
    {
      action: pathOf(current, 'new-password'),
      username: account?.username,
      minLength: account ? await minPasswordLength(account.id) : limits.password.minWithoutMfa,
      reason: t('change-password.reason'),
      problem: state.problem,
      ...footOf(page),
    },
    state.status ?? 200,
  );
}

function showSelectAccount({ ctx, current, appName }: Page): void {
  const hint = isHinted(current) ? String(current.interaction.params.login_hint) : undefined;
  ctx.render('sign-in/select-account', { action: pathOf(current, 'account'), appName, account: current.account, hint });
}

/** Whether `login_hint` names another user than that of the session. */
function isHinted({ interaction: { prompt } }: CurrentStep): boolean {
  return prompt.reasons.includes('login_hint');
}

async function showAccessDenied(
  { rejections, repeatedEntries }: Core & People,
  { ctx, current, appName }: Page,
): Promise<void> {
  const { account, clientId, interaction } = current;
  const { request } = ctx.state;
  // Recorded by the access check of the interaction policy.
  const { rule, received, expected } = interaction.prompt.details as Record<string, string | undefined>;
  const isOtherNetwork = rule === 'network';
  const rejectionCode = rejections.record(request, {
    endpoint: 'access',
    reason: 'access_denied',
    message: isOtherNetwork
      ? 'The application may not be used from this network.'
      : 'The account has none of the roles that the application is open to.',
    clientId,
    subjectId: account?.id,
    received: { user: account?.username ?? '' },
    rules: ruleResults(['client', 'access', 'network'], {
      rule: isOtherNetwork ? 'network' : 'access',
      received,
      expected,
    }),
  });
  const about = { clientId, actorId: account?.id, subjectId: account?.id, request };
  await repeatedEntries.record({
    type: 'authorization.rejected',
    outcome: 'failure',
    reason: isOtherNetwork ? 'other_network' : 'access_denied',
    ...about,
  });
  const page = {
    action: pathOf(current, 'account'),
    appName,
    account,
    isOtherNetwork,
    requestId: request.requestId,
    rejectionCode,
  };
  ctx.render('sign-in/access-denied', page, 403);
}

async function showConsent(
  {
    registeredItself,
  }: {
    /** Whether the client chose its own name and links (RFC 7591). */
    registeredItself(clientId: string): Promise<boolean>;
  },
  page: Page,
): Promise<void> {
  const { ctx, current, client, appName, logo } = page;
  const { account, clientId, interaction } = current;
  if (!account) throw new Error('a consent prompt without an account');
  ctx.render('sign-in/consent', {
    action: pathOf(current, 'consent'),
    appName,
    logo,
    ...placeOfApplication(client, interaction.params, await registeredItself(clientId)),
    ...linksOfApplication(client),
    account,
    ...describeRequest(interaction, account),
  });
}

function pathOf({ attempt }: CurrentStep, action: string): string {
  return `/signin/${attempt.uid}/${action}`;
}

function footOf({ current, appName }: Page): Foot {
  return { who: current.account?.username, cancelAction: pathOf(current, 'cancel'), appName };
}

// How the pages of a sign-in present the application that the user comes from: the links to its terms and its policy (OpenID
// Connect Dynamic Client Registration 1.0, section 2), and where it is.

/** For `partials/application-links`. */
function linksOfApplication(client: Client | undefined) {
  return { policyUrl: client?.policyUri, termsUrl: client?.tosUri };
}

/**
 * Where the application is, for the consent page: the page that an administrator registered or, for a client that registered
 * itself, where the answer goes. Such a client may claim the page of another, but it cannot receive codes there.
 */
function placeOfApplication(
  client: Client | undefined,
  { redirect_uri: requested }: Record<string, unknown>,
  registeredItself: boolean,
): { appUrl?: string; appHost?: string; returnsTo?: string } {
  if (registeredItself) return typeof requested === 'string' ? { returnsTo: placeOf(requested) } : {};
  const appUrl = client?.clientUri;
  return appUrl ? { appUrl, appHost: new URL(appUrl).host } : {};
}

/** The host, or the scheme of an app on the device (RFC 8252 7.1), which has none. */
function placeOf(uri: string): string {
  const { host, protocol } = new URL(uri);
  return host || protocol;
}
