// Finds the current step of a sign-in: loads the engine's prompt, the attempt, the account and the application, and
// asks the pure order in next-step.ts.

import type { Interaction } from 'oidc-provider';
import { accessDecision } from '../applications/access-decision.ts';
import type { SignInRule } from '../applications/rules/sign-in-rule.ts';
import type { Context } from '../base/http/context.ts';
import { badRequest, forbidden } from '../base/http/errors.ts';
import { languagesOf } from '../base/http/pages/language.ts';
import { t } from '../base/texts/text.ts';
import type { Account } from '../people/accounts/account.ts';
import type { Accounts } from '../people/accounts/accounts.ts';
import { inactiveText } from '../people/accounts/active.ts';
import { missingFields, schemaToAsk } from '../people/accounts/person-fields.ts';
import {
  type Acr,
  acrLevel,
  acrOfRule,
  demandsMailedCode,
  PASSWORD_ACR,
  requestedAcrs,
  strongestOf,
  weakestOf,
} from '../people/mfa/acr.ts';
import type { SamlRequirements } from '../protocols/oidc/engine/saml-requirements.ts';
import type { ClientApplication } from '../protocols/oidc/store/clients.ts';
import type { Attempt, Attempts } from './attempts.ts';
import { hasOwnFactor, type UpstreamStepUp } from './first-factor/upstream.ts';
import type { Interactions } from './interactions.ts';
import type { KnownBrowserCookie } from './known-browser-cookie.ts';
import { isStepUp, nextStep, type Step } from './next-step.ts';
import type { SignInServices } from './services.ts';
import type { SignInRequirements } from './sign-in-policy.ts';

/** What the steps are found with. */
export type SignInState = SignInServices & {
  attempts: Attempts;
  interactions: Interactions;
  browserCookie: KnownBrowserCookie;
};

/** What is the same in each step of a sign-in. */
interface RequestOfSignIn {
  interaction: Interaction;
  /** The session that another tab has begun or ended meanwhile; its account, if there is one. */
  changedSession: { accountId: string | undefined } | undefined;
  clientId: string;
  application: ClientApplication;
  /** Which ways to sign in the application accepts; undefined: all. */
  rule: SignInRule | undefined;
  /** What a SAML request asks for and these methods do not prove. */
  lacking: SamlRequirements['lacking'];
}

export interface CurrentStep extends RequestOfSignIn {
  attempt: Attempt;
  step: Step;
  /** The account that signs in, or that the prompt is about. */
  account: Account | undefined;
  /** How a missing factor can be given or set up, which acr it has to reach, and where codes can be sent. */
  methods: SignInRequirements['methods'];
  level: SignInRequirements['level'];
  channels: SignInRequirements['channels'];
  /** What the sign-in amounts to when nothing more is added. */
  acr: string;
  amr: string[];
  /** The account is known, and has to prove its password too (SAML: exactly the password class). */
  needsPassword: boolean;
  /** The acr that the request and the application demand. */
  requestedLevel: Acr | undefined;
  /** The upstream of this session or sign-in, where it can prove what is missing. */
  stepUp: StepUp | undefined;
}

export interface StepUp extends UpstreamStepUp {
  level: Acr;
  /** It was requested in this sign-in. */
  wasRequested: boolean;
}

const NOTHING_MISSING: SignInRequirements = {
  missing: 'nothing',
  mustChangePassword: false,
  methods: [],
  level: PASSWORD_ACR,
  channels: {},
};
/** Prompts about the user who is signed in already. */
const SESSION_PROMPTS = ['consent', 'access', 'terms', 'group', 'select_account'];

/** The current step of the interaction `uid`; throws when it did not begin in this browser or has expired. */
export async function openStep(services: SignInState, ctx: Context, uid: string): Promise<CurrentStep> {
  const { attempts, clients, interactions } = services;
  const interaction = await interactions.open(ctx, uid);
  // What is answered already goes on with the session that it was answered in.
  const changedSession = interaction.result ? undefined : await interactions.changedSession(ctx, interaction);
  const attempt = await attempts.find(interaction.uid);
  ctx.state.requestedLanguages = languagesOf(interaction.params.ui_locales);
  const clientId = String(interaction.params.client_id);
  ctx.state.request.application = clientId;
  const application = await clients.ofSignIn(clientId, ctx.state.request.address);
  if (!application) throw badRequest('sign_in_expired');
  const { lacking } = await services.samlRequirements(ctx, interaction.params);
  const request = { interaction, changedSession, clientId, application, rule: application.signInRule, lacking };
  return { ...request, ...(await decide(services, ctx, request, attempt)) };
}

/** The step after the attempt has changed: the request stays the same. */
export async function stepAfter(
  services: SignInState,
  ctx: Context,
  current: CurrentStep,
  attempt: Attempt,
): Promise<CurrentStep> {
  return { ...current, ...(await decide(services, ctx, current, attempt)) };
}

/** The account that the step is about. */
export function accountOf({ account, step }: CurrentStep): Account {
  if (!account) throw new Error(`the step ${step} without an account`);
  return account;
}

async function decide(
  services: SignInState,
  ctx: Context,
  request: RequestOfSignIn,
  attempt: Attempt,
): Promise<Omit<CurrentStep, keyof RequestOfSignIn>> {
  const { accounts, attempts, signInPolicy: policy } = services;
  const { interaction, application } = request;
  const { account, provenBySession } = await subjectOf(accounts, interaction, attempt);
  ctx.state.profileLanguage = account?.locale ?? undefined;
  if (account) ctx.state.sender = { userId: account.id };
  if (account && !account.isActive) return rejectInactive(attempts, account, attempt);

  const proofs = proofsOf(services, request, attempt, provenBySession);
  const { amr, requestedAcr, isPasswordMissing } = proofs;
  const needsPassword =
    isPasswordMissing && account !== undefined && (await canEnterPassword(services, account, request.rule));
  const isKnown = account !== undefined && amr.length > 0 && !needsPassword;
  // "Use another account" turns every prompt into a sign-in.
  const prompt = attempt.choosesOtherAccount ? 'login' : interaction.prompt.name;

  const requirements =
    isKnown && !SESSION_PROMPTS.includes(prompt)
      ? await requirementsOf(services, ctx, { ...proofs, request, attempt, account })
      : NOTHING_MISSING;
  const { methods, level, channels, lacked, mustChangePassword } = requirements;
  // A password that cannot be entered here may be proven at the upstream.
  const levelAtUpstream = lacked ?? (isKnown && isPasswordMissing ? PASSWORD_ACR : undefined);
  const stepUp = levelAtUpstream && (await stepUpTo(services, levelAtUpstream, request, attempt));
  const missing = isUpstreamNext(requirements, stepUp) ? 'upstream' : requirements.missing;
  const isDenied = isDeniedTo(account, attempt, application, ctx);
  // The denial replaces the enrolment, and not the code by email before it.
  const setsUpFactor = (missing === 'enrolment' && !isDenied) || (missing === 'second-factor' && isMailedCode(methods));
  // Never in an old session, which another person may use: the sign-in begins with the password.
  const beginsAgain = setsUpFactor && attempt.userId === undefined && !(await isRecent(services, interaction));
  const progress = {
    isIdentified: isKnown && !beginsAgain,
    missing,
    mustChangePassword,
    isDenied,
    mayReplaceFactor: attempt.usedRecoveryCode === true,
    isAsked: await isAskedForFields(services, attempt, account),
    isBeingDeleted: Boolean(account?.deleteAt) && attempt.userId !== undefined && !attempt.knowsDeletion,
  };
  return {
    attempt,
    step: nextStep({ prompt }, progress),
    account,
    methods,
    level,
    channels,
    acr: policy.acrOf(amr),
    amr,
    needsPassword,
    requestedLevel: strongestOf(weakestOf(requestedAcr), application.mfa && acrOfRule(application.mfa)),
    stepUp,
  };
}

interface Proofs {
  /** The methods that this server has checked, and those with what an upstream states. */
  ownAmr: string[];
  amr: string[];
  requestedAcr: string[];
  /** The request demands a password, and something else was proven. */
  isPasswordMissing: boolean;
}

/** What is proven so far, by the session and in the attempt, and what the request demands. */
function proofsOf(
  { signInPolicy: { amrOf } }: SignInState,
  { interaction, lacking: lackingOf }: RequestOfSignIn,
  attempt: Attempt,
  provenBySession: readonly string[],
): Proofs {
  const ownAmr = amrOf([...new Set([...provenBySession, ...attempt.amr])]);
  const upstreamAmr = attempt.userId === undefined ? [] : (attempt.upstream?.amr ?? []);
  const amr = amrOf([...new Set([...ownAmr, ...upstreamAmr])]);
  const lacking = lackingOf(amr);
  return {
    ownAmr,
    amr,
    requestedAcr: [...requestedAcrs(interaction.params), ...(lacking?.acrs ?? [])],
    isPasswordMissing: lacking?.password === true && amr.length > 0,
  };
}

/** What the policy demands beyond what is proven so far. */
async function requirementsOf(
  { browserCookie, ownClientId, signInPolicy }: SignInState,
  ctx: Context,
  {
    request,
    attempt,
    account,
    ownAmr,
    amr,
    requestedAcr,
  }: Proofs & { request: RequestOfSignIn; attempt: Attempt; account: Account },
): Promise<SignInRequirements> {
  const { interaction, application, clientId } = request;
  return signInPolicy.requirementsOf(account, {
    amr,
    ownAmr,
    hasOwnPassword: attempt.passwordSetAt !== undefined || (amr.includes('pwd') && !amr.includes('fed')),
    requestedAcr,
    demandsMailedCode: demandsMailedCode(interaction.params),
    application: application.mfa,
    isOwnPages: clientId === ownClientId,
    isTrustedBrowser: await browserCookie.isTrusted(ctx, account.id),
    demand: demandOf(attempt),
  });
}

/** Whether the application is closed to the account. Not known yet while an identity is to be linked at the end, which may bring roles. */
function isDeniedTo(
  account: Account | undefined,
  { upstream }: Attempt,
  application: ClientApplication,
  ctx: Context,
): boolean {
  if (!account || upstream?.linkTo !== undefined) return false;
  return !accessDecision(application, account, ctx.state.request.address).allowed;
}

/** The user has proven a factor of the account. The page that it links to begins again. */
async function rejectInactive(attempts: Attempts, account: Account, { uid }: Attempt): Promise<never> {
  await attempts.remove(uid);
  throw forbidden('account_inactive', {
    message: inactiveText(account),
    next: { href: `/signin/${uid}`, label: t('sign-in.another-way') },
  });
}

/** The upstream proves what is missing, unless it was asked already or a factor of this server does. */
function isUpstreamNext({ missing, methods }: SignInRequirements, stepUp: StepUp | undefined): boolean {
  if (!stepUp || stepUp.wasRequested) return false;
  return missing !== 'second-factor' || isMailedCode(methods);
}

/** Whether the account has a password, of this server or of a directory, that the application and the domain of the account accept. */
async function canEnterPassword(
  { credentials, upstream }: SignInState,
  account: Account,
  rule: SignInRule | undefined,
): Promise<boolean> {
  if (await upstream.hasDirectory(account.id, rule)) return true;
  if (rule?.isLocalAllowed === false || (await credentials.status(account.id)) === undefined) return false;
  return (await upstream.requiredConnection(account)) === undefined;
}

/** The upstream that the session, or this sign-in, came from, if it can reach the level. */
async function stepUpTo(
  { upstream }: SignInState,
  level: Acr,
  { interaction: { session }, rule }: RequestOfSignIn,
  attempt: Attempt,
): Promise<StepUp | undefined> {
  // What it has not proven to be recent, or of the right account, is proven here.
  if (demandOf(attempt)) return undefined;
  const { userId, upstream: proven, upstreamLevel } = attempt;
  const at = proven ?? (userId === undefined && session ? { sessionUid: session.uid } : undefined);
  const stepUp = at && (await upstream.stepUpAt(at, level, rule));
  // A sign-in that has just happened there is not repeated.
  if (!stepUp || (proven && stepUp.isForced)) return undefined;
  return { ...stepUp, level, wasRequested: acrLevel(upstreamLevel) >= acrLevel(level) };
}

/** Whether a sign-in, not an old session, has to fill in own fields. What the configuration file declares stays as it is. */
async function isAskedForFields(
  services: SignInState,
  attempt: Attempt,
  account: Account | undefined,
): Promise<boolean> {
  if (!account || attempt.userId === undefined || attempt.upstream?.linkTo || account.source === 'file') return false;
  const { user_attributes: schema } = services.settings.latest();
  if (missingFields(schema, account.attributes).length === 0) return false;
  const missing = missingFields(await schemaToAsk(services, account), account.attributes);
  return missing.some(({ isRequired }) => isRequired || !attempt.knowsFields);
}

function demandOf(attempt: Attempt) {
  const { upstream } = attempt;
  if (upstream?.linkTo) return 'own-account';
  return upstream?.needsOwnFactor && !hasOwnFactor(attempt) ? 'own-factor' : undefined;
}

const isMailedCode = (methods: CurrentStep['methods']) => methods.length === 1 && methods[0] === 'email';

/** Whether the sign-in of the session is recent enough for changes of the account (`recent_authentication_minutes`). */
async function isRecent({ now, sessions, settings }: SignInState, { session }: Interaction): Promise<boolean> {
  const signedInAt = session && (await sessions.find(session.uid))?.signedInAt;
  const recentMs = settings.latest().recent_authentication_minutes * 60_000;
  return signedInAt !== undefined && now().getTime() - signedInAt.getTime() <= recentMs;
}

/** The account of the attempt, or that of the session if the prompt is about it. */
async function subjectOf(
  accounts: Accounts,
  { prompt, session }: Interaction,
  { userId, choosesOtherAccount }: Attempt,
) {
  const stepsUp = isStepUp({ prompt: prompt.name, reasons: prompt.reasons }) && !choosesOtherAccount;
  const isAboutSession = stepsUp || (SESSION_PROMPTS.includes(prompt.name) && !choosesOtherAccount);
  const accountId = userId ?? (isAboutSession ? session?.accountId : undefined);
  const account = accountId ? await accounts.find(accountId) : undefined;
  // What the session has proven counts again only while the same user adds to it.
  const provenBySession = stepsUp && userId === undefined ? (session?.amr ?? []) : [];
  return { account, provenBySession };
}
