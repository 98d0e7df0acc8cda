// Renders the page of each sign-in step.

import type { Client } from 'oidc-provider';
import { accessDecisionRule, accessRuleIds, accessRules } from '../applications/access-decision.ts';
import { isOnThisComputer } from '../applications/uris.ts';
import type { Context } from '../base/http/context.ts';
import { readForm } from '../base/http/input.ts';
import { type PageLink, type PageText, t } from '../base/texts/text.ts';
import { type RuleId, ruleResults } from '../core/rejections/rules.ts';
import { missingFields, schemaToAsk } from '../people/accounts/person-fields.ts';
import { termsDue } from '../people/accounts/terms.ts';
import type { CaptchaWait } from '../people/rate-limits/captcha.ts';
import { hostOfDocument } from '../protocols/oidc/client-documents.ts';
import { claimedNameOf, isUnregistered } from '../protocols/oidc/registration.ts';
import { describeRequest } from './consent-description.ts';
import { accountOf, type CurrentStep, type SignInState } from './current-step.ts';
import { captchaFor } from './first-factor/password.ts';
import type { StepError } from './flow.ts';
import { noteSignIn } from './interactions.ts';
import {
  type Foot,
  passkeyOffer,
  showEnrolment,
  showReplacement,
  showSecondFactor,
  showUpstream,
} from './second-factor/pages.ts';

/** What a page shows besides its step, after a rejected form. */
export interface PageState {
  error?: PageText | undefined;
  /** A link that helps with the error. */
  next?: PageLink | undefined;
  loginHint?: string | undefined;
  status?: number;
  /** The wait in place of the CAPTCHA that goes on. */
  waiting?: CaptchaWait | undefined;
  /** The method to show in the second-factor step. */
  method?: string | undefined;
  /** The enrolment that goes on. */
  sealed?: string | undefined;
}

export type StepPages = ReturnType<typeof createStepPages>;

/** What every page of a sign-in is made of. */
interface Page {
  ctx: Context;
  current: CurrentStep;
  client: Client | undefined;
  appName: PageText;
  logo: string | undefined;
  state: PageState;
}

export function createStepPages(services: SignInState) {
  async function show(ctx: Context, current: CurrentStep, state: PageState = {}): Promise<void> {
    const { attempt, clientId } = current;
    noteSignIn(services.cookies, ctx, attempt.uid, clientId);
    const client = await services.engine().Client.find(clientId);
    const appName = (await titleOf(services, current)) ?? client?.clientName ?? clientId;
    const logo = await services.pictures.addressOf(clientId);
    await showStep(services, { ctx, current, client, appName, logo, state });
  }

  return {
    show,

    /** The page again, with what is wrong and what was typed but the password. */
    async showError(ctx: Context, current: CurrentStep, error: StepError): Promise<void> {
      const { username, method, sealed } = await readForm(ctx, { lists: 'every field' });
      ctx.set(error.headers);
      await show(ctx, current, {
        error: error.text,
        next: error.next,
        status: error.status,
        waiting: error.waiting,
        loginHint: username?.[0],
        method: error.method ?? method?.[0],
        sealed: sealed?.[0],
      });
    },
  };
}

/** The name of the brand for the pages of this server, and that of a SAML application in the language of the page. */
async function titleOf(
  { brand, ownClientId, serviceProviderTitle }: SignInState,
  { application, clientId }: CurrentStep,
): Promise<PageText | undefined> {
  const ownName = clientId === ownClientId ? brand.current()?.name : undefined;
  return ownName ?? (application.protocol === 'saml' ? serviceProviderTitle(clientId) : undefined);
}

async function showStep(services: SignInState, page: Page): Promise<void> {
  const { ctx, current, state } = page;
  const pageOfFactor = { ...state, foot: footOf(page) };
  if (isUpstreamChosen(page)) return showUpstream(ctx, current, footOf(page));
  switch (current.step) {
    case 'identify':
      return showIdentify(services, page);
    case 'second-factor': {
      const method = state.method ?? String(ctx.query.method ?? '');
      return showSecondFactor(services, ctx, current, { ...pageOfFactor, method });
    }
    case 'enrol':
      return showEnrolment(services, ctx, current, pageOfFactor);
    case 'replace-factor':
      return showReplacement(services, ctx, current, pageOfFactor);
    case 'approval':
      // An administrator sees the request and allows it; the page continues the sign-in then.
      return services.mfa.firstEnrolment.demandApproval(accountOf(current), {
        actorId: accountOf(current).id,
        request: ctx.state.request,
      });
    case 'change-password':
      return showPasswordChange(services, page);
    case 'own-fields':
      return showOwnFields(services, page);
    case 'deletion':
      return showDeletion(page);
    case 'select-account':
      return showSelectAccount(page);
    case 'access-denied':
      return showAccessDenied(services, page);
    case 'terms':
      return showTerms(services, page);
    case 'choose-group':
      return showChooseGroup(page);
    case 'consent':
      return showConsent(services, page);
    case 'upstream':
    case 'done':
      throw new Error(`the step ${current.step} has no page`);
  }
}

/** The upstream comes first, where the user has the choice between it and a factor of this server. */
function isUpstreamChosen({ ctx, current: { step, stepUp }, state }: Page): boolean {
  if (!stepUp || state.error !== undefined) return false;
  const { method } = ctx.query;
  if (step === 'enrol') return method === 'upstream';
  return step === 'second-factor' && (method === 'upstream' || (method === undefined && !stepUp.wasRequested));
}

/** A form of a later step came after its sign-in was reset. */
const wasReset = (ctx: Context) => ('reset' in ctx.query ? t('sign-in.reset') : undefined);

const ONLY_THIS_SERVER = { isLocalAllowed: true, takesPassword: true, asksAddressFirst: false, connections: [] };

async function showIdentify(services: SignInState, page: Page): Promise<void> {
  const { settings, upstream } = services;
  const { ctx, current, client, appName, logo, state } = page;
  const { attempt, needsPassword } = current;
  const { error, next, loginHint, status = 200, waiting } = state;
  const login = loginHint ?? attempt.login ?? hintOf(current);
  // The account is known and has proven something else; only its password is missing.
  const notice = needsPassword ? t('second-factor.needs-password') : wasReset(ctx);
  const isLinking = attempt.upstream?.linkTo !== undefined;
  const offered = await upstream.offer(current.rule);
  // To prove the account that an identity is linked to, only this server counts.
  const offer = isLinking ? { ...offered, ...ONLY_THIS_SERVER } : offered;
  const asksAddress = offer.asksAddressFirst && !needsPassword && attempt.login === undefined && !error;
  const mayRegister = offer.isLocalAllowed && !isLinking && settings.latest().self_registration;
  ctx.render(
    'sign-in/identify',
    {
      action: pathOf(current, asksAddress ? 'identifier' : 'password'),
      cancelAction: pathOf(current, 'cancel'),
      appName,
      logo,
      ...linksOfApplication(client),
      error,
      next,
      notice: error ? undefined : notice,
      linking: isLinking ? attempt.upstream?.connectionName : undefined,
      loginHint: login,
      takesPassword: offer.takesPassword || asksAddress,
      asksAddress,
      connections: needsPassword ? [] : offer.connections,
      connectionsAction: pathOf(current, 'connections'),
      captcha: offer.takesPassword && !asksAddress ? await captchaFor(services, ctx, login, waiting) : undefined,
      forgotPasswordUrl: `/forgot-password?signin=${attempt.uid}`,
      registerUrl: mayRegister ? `/sign-up?signin=${attempt.uid}` : undefined,
      passkey: needsPassword || !offer.isLocalAllowed ? undefined : await passkeyOffer(services, current),
    },
    status,
  );
}

/** The name that the form begins with. */
function hintOf(current: CurrentStep): string {
  const { account, attempt, interaction } = current;
  const { username = '' } = interaction.prompt.details as { username?: string };
  const requested = String(interaction.params.login_hint ?? username);
  if (!attempt.choosesOtherAccount) return account?.username ?? requested;
  return isHinted(current) ? requested : '';
}

async function showPasswordChange({ credentials, mfa }: SignInState, page: Page): Promise<void> {
  const { ctx, current, state } = page;
  const { id, username } = accountOf(current);
  ctx.render(
    'sign-in/change-password',
    {
      action: pathOf(current, 'new-password'),
      username,
      minLength: credentials.minimumLength(await mfa.factors.hasSecondFactor(id)),
      reason: t('change-password.reason'),
      error: state.error,
      ...footOf(page),
    },
    state.status ?? 200,
  );
}

async function showOwnFields(services: SignInState, page: Page): Promise<void> {
  const { ctx, current, state } = page;
  const given = state.error === undefined ? {} : await readForm(ctx, { lists: 'every field' });
  const typed = Object.fromEntries(Object.entries(given).map(([name, [value]]) => [name, value]));
  const account = accountOf(current);
  const fields = missingFields(await schemaToAsk(services, account), account.attributes, typed);
  ctx.render(
    'sign-in/own-fields',
    {
      action: pathOf(current, 'own-fields'),
      fields,
      isOptional: fields.every(({ isRequired }) => !isRequired),
      error: state.error,
      ...footOf(page),
    },
    state.status ?? 200,
  );
}

function showDeletion(page: Page): void {
  const { ctx, current } = page;
  const account = accountOf(current);
  const { deleteAt } = account;
  ctx.render('sign-in/deletion', { action: pathOf(current, 'deletion'), account, deleteAt, ...footOf(page) });
}

function showSelectAccount({ ctx, current, appName }: Page): void {
  const hint = isHinted(current) ? String(current.interaction.params.login_hint) : undefined;
  ctx.render('sign-in/select-account', { action: pathOf(current, 'account'), appName, account: current.account, hint });
}

/** Whether `login_hint` names another user than that of the session. */
function isHinted({ interaction: { prompt } }: CurrentStep): boolean {
  return prompt.reasons.includes('login_hint');
}

/** By the rule that denied access: those of the access rule, and those of what was requested. */
const DENIED = {
  ...accessRules,
  api_access: {
    ...accessRules.access,
    message: 'The account has none of the roles and groups that the API is open to.',
    canAsk: false,
  },
  group: {
    ...accessRules.access,
    message: 'The account is in no group that opens the application and was requested.',
    lead: t('access-denied.group'),
  },
} satisfies Partial<Record<RuleId, unknown>>;

interface DenialDetails {
  rule?: keyof typeof DENIED;
  received?: string | undefined;
  expected?: string | undefined;
  api?: string;
}

async function showAccessDenied(
  { rejections, repeatedEntries, groupRequests }: SignInState,
  { ctx, current, appName }: Page,
): Promise<void> {
  const { account, application, clientId, interaction } = current;
  const { request } = ctx.state;
  const { prompt } = interaction;
  // Recorded by the access check of the interaction policy, unless the step comes before it.
  const details: DenialDetails =
    prompt.name === 'access' ? prompt.details : accessDecisionRule(application, accountOf(current), request.address);
  const { rule = 'access', received, expected, api } = details;
  const { reason, message, lead, canAsk } = DENIED[rule];
  const checked = accessRuleIds.filter((one) => accessRules[one].isSet(application.metadata));
  const rejectionCode = rejections.record(request, {
    endpoint: 'access',
    reason: 'access_denied',
    message,
    clientId,
    subjectId: account?.id,
    received: { user: account?.username ?? '' },
    rules: ruleResults([...new Set(['client', ...checked, rule] as const)], { rule, received, expected }),
  });
  const about = { clientId, actorId: account?.id, subjectId: account?.id, request };
  await repeatedEntries.record({ type: 'authorization.rejected', outcome: 'failure', reason, ...about });
  const page = {
    action: pathOf(current, 'account'),
    appName,
    closed: api ?? appName,
    account,
    lead,
    ask: account && canAsk ? await groupRequests.offer(account, application.id) : undefined,
    requestId: request.requestId,
    rejectionCode,
  };
  ctx.render('sign-in/access-denied', page, 403);
}

/** `?declined`: what happens without the acceptance. */
async function showTerms({ interactions, settings }: SignInState, page: Page): Promise<void> {
  const { ctx, current } = page;
  const account = accountOf(current);
  const terms = termsDue(settings.latest(), account);
  // Accepted in another tab, or no longer asked for.
  if (!terms) return interactions.answer(ctx, {});
  ctx.render('sign-in/terms', {
    action: pathOf(current, 'terms'),
    stepUrl: `/signin/${current.attempt.uid}`,
    isDeclined: 'declined' in ctx.query,
    terms,
    account,
    before: account.termsVersion,
    ...footOf(page),
  });
}

function showChooseGroup({ ctx, current, appName, logo }: Page): void {
  const { choices = [] } = current.interaction.prompt.details as { choices?: { id: string; name: string }[] };
  ctx.render('sign-in/choose-group', {
    action: pathOf(current, 'group'),
    otherAction: pathOf(current, 'account'),
    appName,
    logo,
    account: accountOf(current),
    choices,
  });
}

async function showConsent(services: SignInState, page: Page): Promise<void> {
  const { ctx, current, client } = page;
  const { application, interaction } = current;
  const account = accountOf(current);
  const { refresh_token_days: most } = services.settings.latest();
  ctx.render('sign-in/consent', {
    action: pathOf(current, 'consent'),
    ...presentedApplication(page),
    days: Math.min(most, application.metadata.refresh_token_days ?? most),
    ...linksOfApplication(client),
    account,
    ...(await describeRequest(services, interaction, account)),
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
 * What the consent page calls the application, and where it is. A client that nobody registered may claim the name, the logo and the page of
 * another, but it cannot receive codes there: it is called by its host, without a logo, and the name is shown as a claim.
 */
function presentedApplication({ current, client, appName, logo }: Page): Record<string, unknown> {
  const { application, interaction } = current;
  const { source, clientId } = application;
  if (source !== 'dynamic' && source !== 'document') {
    const appUrl = client?.clientUri;
    return { appName, logo, appUrl, appHost: appUrl && new URL(appUrl).host };
  }
  const { redirect_uri: requested } = interaction.params;
  const place = typeof requested === 'string' ? placeOf(requested) : '';
  const isLocal = typeof requested === 'string' && isOnThisComputer(requested);
  const claims = claimedNameOf(application);
  if (source === 'document') {
    const host = hostOfDocument(clientId);
    return { appName: host, claims, isLocal, goesTo: isLocal || place === host ? undefined : place };
  }
  // Without a token, it has no other host than the one that it returns to.
  if (isUnregistered(application)) return { appName: place, claims, isLocal, returnsTo: place };
  return { appName, logo, isLocal, returnsTo: place };
}

/** The host, or the scheme of an app on the device (RFC 8252 7.1), which has none. */
function placeOf(uri: string): string {
  const { host, protocol } = new URL(uri);
  return host || protocol;
}
