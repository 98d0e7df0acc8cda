// Renders the pages of the second factor and its enrolment: the method that is offered first, the other methods, the
// WebAuthn options (whose challenge is stored with the attempt), and the QR code of a new authenticator app.

import type { Context } from '../../base/http/context.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import { maskEmail as maskedAddress } from '../../core/mail/wording.ts';
import type { Account } from '../../people/accounts/account.ts';
import { acrLevel, PHISHING_RESISTANT_ACR } from '../../people/mfa/acr.ts';
import type { AccountKeys } from '../../people/mfa/factors/passkeys.ts';
import { maskNumber as maskedNumber } from '../../people/mfa/factors/phone-number.ts';
import type { Totp } from '../../people/mfa/factors/totp.ts';
import type { SecondFactor } from '../../people/mfa/policy.ts';
import type { Attempt, Attempts } from '../attempts.ts';
import { accountOf, type CurrentStep, type SignInState } from '../current-step.ts';

export type CodeMethod = Exclude<SecondFactor, 'passkey'>;

export interface FactorPageState {
  error?: PageText | undefined;
  status?: number | undefined;
  method?: string | undefined;
  /** The enrolment that goes on after a wrong code. */
  sealed?: string | undefined;
  foot: Foot;
}

interface EnrolmentTexts {
  title: PageText;
  lead: PageText;
  /** How many recovery codes are left. */
  left?: PageText;
  /** The form that leaves the enrolment out. */
  keep?: { action: string; label: PageText };
}

/** The last line of a later step: the username, and the button that cancels the sign-in. */
export interface Foot {
  who: string | undefined;
  cancelAction: string;
  appName: PageText;
}

/** The value of `method` for the page about lost methods. */
const NO_METHOD = 'none';
const HINTS = {
  totp: t('second-factor.totp-hint'),
  'recovery-code': t('second-factor.recovery-code-hint'),
};

/** For the sign-in page: the passkeys of this device, offered in the username field (conditional UI). */
export async function passkeyOffer(
  { attempts, mfa: { passkeys } }: SignInState,
  current: CurrentStep,
): Promise<object> {
  const options = await storeChallenge(attempts, current.attempt, await passkeys.authenticationOptions());
  return { action: pathOf(current, 'passkey'), mode: 'autofill', options, label: t('sign-in.with-passkey') };
}

export async function showSecondFactor(
  { attempts, settings, mfa: { passkeys }, mailServer }: SignInState,
  ctx: Context,
  current: CurrentStep,
  { error, status = 200, method: requested, foot }: FactorPageState,
): Promise<void> {
  if (requested === NO_METHOD && error === undefined) return showNoFactor(ctx, current, foot);
  const methods = current.methods as SecondFactor[];
  const method = methods.find((one) => one === requested) ?? methods[0];
  if (!method || !current.account) throw new Error('a two-step page without a method');
  const none = { href: `${pathOf(current)}?method=${NO_METHOD}`, label: t('second-factor.none') };
  const others = [...methodLinks(current, method), ...upstreamLink(current), none];
  const days = settings.latest().remember_browser_days;
  const page = { others, error, notice: noticeOf(current), rememberDays: days, ...foot };
  if (method === 'passkey') {
    const options = await passkeys.authenticationOptions(keysOfAccount(current));
    const passkey = {
      action: pathOf(current, 'passkey'),
      mode: 'get',
      options: await storeChallenge(attempts, current.attempt, options),
      label: t('second-factor.passkey'),
      isPrimary: true,
      rememberDays: days,
    };
    return ctx.render('sign-in/passkey', { ...page, passkey }, status);
  }
  const send = sendForm(current, method);
  const form = { action: pathOf(current, 'code'), method, isNumeric: method !== 'recovery-code' };
  const hint = method === 'email' && !mailServer.isSet() ? t('second-factor.no-server') : hintOf(current, method, send);
  ctx.render('sign-in/second-factor', { ...page, ...form, send, hint }, status);
}

/** For users who have lost all of them: who can help, and what to say. */
function showNoFactor(ctx: Context, current: CurrentStep, foot: Foot): void {
  const user = current.account?.username ?? '';
  ctx.render('sign-in/no-factor', { lead: t('no-factor.lead', { user }), backHref: pathOf(current), ...foot });
}

/** What the user sets up, and who requires it. */
export function showEnrolment(services: SignInState, ctx: Context, current: CurrentStep, state: FactorPageState) {
  return showSetUp(services, ctx, current, { ...reasonOf(current, state.foot), ...state });
}

/** After a recovery code: the enrolment, which the user can leave out. */
export async function showReplacement(
  services: SignInState,
  ctx: Context,
  current: CurrentStep,
  state: FactorPageState,
): Promise<void> {
  await showSetUp(services, ctx, current, {
    title: t('replace-factor.title'),
    lead: t('replace-factor.lead'),
    left: t('recovery-codes.left', { count: await services.mfa.recoveryCodes.remaining(accountOf(current).id) }),
    keep: { action: pathOf(current, 'keep-factors'), label: t('replace-factor.keep') },
    ...state,
  });
}

async function showSetUp(
  { attempts, mfa: { passkeys, totp } }: SignInState,
  ctx: Context,
  current: CurrentStep,
  { error, status = 200, sealed, foot, ...texts }: FactorPageState & EnrolmentTexts,
): Promise<void> {
  const account = accountOf(current);
  const options = await passkeys.registrationOptions(account, { mustVerify: mustVerify(current) });
  const passkey = {
    action: pathOf(current, 'enrol-passkey'),
    mode: 'create',
    options: await storeChallenge(attempts, current.attempt, options),
    name: t('passkey.default-name'),
    label: t('enrol.set-up-passkey'),
  };
  const app =
    current.methods.includes('totp') || current.step === 'replace-factor'
      ? await appEnrolment(totp, account, sealed)
      : undefined;
  ctx.render(
    'sign-in/enrol',
    {
      passkey,
      totp: app && { action: pathOf(current, 'enrol-totp'), ...app },
      others: upstreamLink(current),
      notice: texts.left ?? noticeOf(current),
      error,
      ...texts,
      ...foot,
    },
    status,
  );
}

/** The button that leads to the upstream for a stronger sign-in. */
export function showUpstream(ctx: Context, current: CurrentStep, foot: Foot): void {
  const { step, stepUp } = current;
  if (!stepUp) throw new Error('a step-up without an upstream');
  const { connectionId, connectionName: name } = stepUp;
  const setUp = { href: pathOf(current), label: t('second-factor.set-up-here') };
  const others = step === 'second-factor' ? methodLinks(current) : [setUp];
  ctx.render('sign-in/upstream-factor', {
    action: pathOf(current, `connections/${connectionId}`),
    name,
    others,
    ...foot,
  });
}

/** Links to the account's methods other than this one. */
function methodLinks(current: CurrentStep, displayed?: SecondFactor) {
  const others = (current.methods as SecondFactor[]).filter((one) => one !== displayed);
  return others.map((one) => ({ href: `${pathOf(current)}?method=${one}`, label: t(`second-factor.use-${one}`) }));
}

function upstreamLink(current: CurrentStep) {
  const { stepUp } = current;
  return stepUp
    ? [
        {
          href: `${pathOf(current)}?method=upstream`,
          label: t('second-factor.use-connection', { connection: stepUp.connectionName }),
        },
      ]
    : [];
}

/** What is set up, and who requires it: the application, or the settings of this server. */
function reasonOf({ amr, level, methods, requestedLevel }: CurrentStep, { appName }: Foot) {
  const onlyPasskey = !methods.includes('totp');
  const who = acrLevel(requestedLevel) >= acrLevel(level) ? 'app' : 'organization';
  const what = onlyPasskey ? 'passkey' : 'other';
  return {
    title: amr.includes('mfa') && onlyPasskey ? t('enrol.add-passkey') : t('enrol.set-up'),
    lead: t('enrol.reason', { who, app: appName, what }),
  };
}

/** After an upstream that proved less than was requested. */
function noticeOf({ attempt, stepUp }: CurrentStep): PageText | undefined {
  if (!stepUp || !attempt.stepUp?.isUnmet) return undefined;
  return t('enrol.upstream-unmet', { connection: stepUp.connectionName });
}

function pathOf({ attempt }: CurrentStep, action?: string): string {
  return `/signin/${attempt.uid}${action === undefined ? '' : `/${action}`}`;
}

/** Stores the challenge of these WebAuthn options; returns them as JSON. */
async function storeChallenge(attempts: Attempts, attempt: Attempt, options: { challenge: string }): Promise<string> {
  await attempts.save({ ...attempt, challenge: options.challenge });
  return JSON.stringify(options);
}

/** The form that has a code sent; opening the page alone sends none. */
function sendForm(current: CurrentStep, method: CodeMethod) {
  if (method !== 'email' && method !== 'sms') return undefined;
  return { action: pathOf(current, 'send-code'), method, isFirst: current.attempt.sent !== method };
}

async function appEnrolment(totp: Totp, account: Account, sealed: string | undefined) {
  const enrolment = (sealed ? totp.resume(account, sealed) : undefined) ?? totp.begin(account);
  const { qrCode } = await import('../../base/http/pages/qr-code.ts');
  return { ...enrolment, qr: await qrCode(enrolment.uri) };
}
/** Limits a passkey answer to this account, and to keys that verify their user where the level demands it. */
export function keysOfAccount(current: CurrentStep): AccountKeys | undefined {
  return current.account && { userId: current.account.id, mustVerify: mustVerify(current) };
}

/** Whether only a passkey that verifies its user reaches the level of this step. */
export function mustVerify({ level }: CurrentStep): boolean {
  return level === PHISHING_RESISTANT_ACR;
}

function hintOf({ channels }: CurrentStep, method: CodeMethod, send: { isFirst: boolean } | undefined): PageText {
  if (!send || (method !== 'email' && method !== 'sms')) return HINTS[method as keyof typeof HINTS];
  const to = channels[method] ?? '';
  const place = method === 'email' ? maskedAddress(to) : maskedNumber(to);
  return send.isFirst ? t('second-factor.will-send', { place }) : t('second-factor.sent', { place });
}
