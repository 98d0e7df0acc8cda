// "Confirm it's you": a user with a session proves one factor once more, in place of a whole sign-in, and goes on where that was asked. It is
// the strongest factor of the account (RFC 9470), whatever the session proved before. Where there is none that this server can check alone,
// such as the password of a directory, the whole sign-in remains.

import { z } from 'zod';
import type { Context } from '../../base/http/context.ts';
import { badRequest } from '../../base/http/errors.ts';
import type { Http } from '../../base/http/http.ts';
import { parseForm, parseQuery } from '../../base/http/input.ts';
import { withLanguage } from '../../base/http/pages/language.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import { maskEmail } from '../../core/mail/wording.ts';
import type { Account } from '../../people/accounts/account.ts';
import { acrLevel, acrOf, MFA_ACR, PHISHING_RESISTANT_ACR } from '../../people/mfa/acr.ts';
import { maskNumber } from '../../people/mfa/factors/phone-number.ts';
import { openChallenge, parseAssertion, sealChallenge } from '../../people/mfa/factors/webauthn-ceremony.ts';
import type { StrongestProof } from '../../people/mfa/step-up.ts';
import type { People } from '../../people/people.ts';
import type { RpSession } from '../../protocols/oidc/store/sessions/rp-sessions.ts';
import { StepError, tooManyTries } from '../../sign-in/flow.ts';
import { checkCode } from '../../sign-in/second-factor/routes.ts';

const ways = ['passkey', 'totp', 'sms', 'email', 'password'] as const;
type Way = (typeof ways)[number];

const form = z.object({
  method: z.enum(ways),
  /** A code is sent to the user. */
  send: z.literal('yes').optional(),
  password: z.string().max(4096).default(''),
  code: z.string().max(64).default(''),
  response: z.string().max(20_000).default(''),
  sealed: z.string().max(1024).default(''),
});
/** The way that the user chose, and whether a code was sent. */
const query = z.object({ method: z.enum(ways).optional(), sent: z.literal('yes').optional() });

const AMR = { totp: 'otp', sms: 'sms', email: 'email' } as const;

const labelOf = (way: Way): PageText =>
  way === 'password' ? t('confirm.use-password') : t(`second-factor.use-${way}`);

/** What a page with the form says beside it. */
export interface ConfirmationState {
  /** The address of the page, which is that of its form. */
  action: string;
  /** After a fault, the way that was tried. */
  method?: string | undefined;
  error?: PageText | undefined;
  /** Why it is asked; a general reason by default. */
  lead?: PageText;
  /** The whole sign-in, which leads back. */
  signInUrl: string;
  cancelUrl: string;
}

/** Where a code is sent to, as the page names it. */
function placeOf(way: Way, { email = '', sms = '' }: { email?: string; sms?: string }): string | undefined {
  if (way === 'email') return maskEmail(email) || undefined;
  return way === 'sms' ? maskNumber(sms) || undefined : undefined;
}

/** A challenge answers one confirmation, whose address nobody can guess. */
const purposeOf = (account: Account, path: string) => `${account.id} ${path}`;

export type Confirmation = ReturnType<typeof createConfirmation>;

export function createConfirmation(
  services: Core & Http & People & { strongestProof(account: Account): Promise<StrongestProof> },
) {
  const { codeDelivery, mfa } = services;

  /** The ways in which the user of this session can confirm, the safest first; none: only a whole sign-in will do. */
  async function waysOf(account: Account, session: RpSession): Promise<Way[]> {
    const { acr, mailedCode } = await services.strongestProof(account);
    if (acr === PHISHING_RESISTANT_ACR) return ['passkey'];
    if (acr === MFA_ACR) return waysWithFactors(account, session);
    if (!session.amr.includes('pwd')) return [];
    // The account has no stronger proof than its password and a code by email.
    if (mailedCode) return ['email'];
    return (await services.credentials.status(account.id)) === undefined ? [] : ['password'];
  }

  async function waysWithFactors(account: Account, { amr }: RpSession): Promise<Way[]> {
    const own = await mfa.factors.of(account.id);
    const ways: Way[] = own.passkeys > 0 ? ['passkey'] : [];
    // A code alone is no second factor: the session has to have proven the first one.
    const isCodeEnough = acrLevel(acrOf([...amr, AMR.totp])) >= acrLevel(MFA_ACR);
    if (!isCodeEnough) return ways;
    if (own.totp) ways.push('totp');
    if (codeDelivery.channels(account, own).sms !== undefined) ways.push('sms');
    return ways;
  }

  /** What views/partials/confirm.eta shows; undefined where only a whole sign-in will do. */
  async function viewOf(ctx: Context, account: Account, session: RpSession, state: ConfirmationState) {
    const { method = state.method, sent } = parseQuery(ctx, query);
    const possible = await waysOf(account, session);
    const way = possible.find((one) => one === method) ?? possible[0];
    if (!way) return undefined;
    const channels = codeDelivery.channels(account, await mfa.factors.of(account.id));
    return {
      ...state,
      way,
      username: account.username,
      passkey: way === 'passkey' ? await passkeyOf(account, state.action) : undefined,
      place: placeOf(way, channels),
      isSent: sent === 'yes',
      others: possible
        .filter((one) => one !== way)
        .map((one) => ({ href: `${state.action}?method=${one}`, label: labelOf(one) })),
    };
  }

  async function passkeyOf(account: Account, action: string) {
    const options = await mfa.passkeys.authenticationOptions(await keysOf(account));
    return {
      action,
      mode: 'get',
      options: JSON.stringify(options),
      sealed: sealChallenge(services, purposeOf(account, action), options.challenge),
      label: t('second-factor.passkey'),
      isPrimary: true,
    };
  }

  const keysOf = async (account: Account) => {
    const { acr } = await services.strongestProof(account);
    return { userId: account.id, mustVerify: acr === PHISHING_RESISTANT_ACR };
  };

  /** The proven methods (RFC 8176), or how a code was sent. Throws a StepError for anything that the user can correct. */
  async function prove(
    ctx: Context,
    account: Account,
    session: RpSession,
  ): Promise<{ proven: readonly string[] } | { sent: Way }> {
    const input = await parseForm(ctx, form);
    const { method: way, code } = input;
    if (!(await waysOf(account, session)).includes(way)) throw badRequest('invalid_input', { detail: { way } });
    if (way === 'passkey') return { proven: await provePasskey(ctx, account, input) };
    if (way === 'password') return { proven: await provePassword(ctx, account, input.password) };
    if (way === 'totp') return { proven: await proveCode(ctx, account, { method: way, sentTo: '', code }) };
    const channels = codeDelivery.channels(account, await mfa.factors.of(account.id));
    const sentTo = channels[way] ?? '';
    if (!input.send) return { proven: await proveCode(ctx, account, { method: way, sentTo, code }) };
    await sendCode(ctx, account, way, sentTo);
    return { sent: way };
  }

  async function proveCode(
    ctx: Context,
    account: Account,
    typed: { method: 'totp' | 'sms' | 'email'; sentTo: string; code: string },
  ): Promise<readonly string[]> {
    const { method } = typed;
    const result = await checkCode(services, ctx, account, typed);
    if (result.outcome === 'ok') return [AMR[method]];
    if (result.outcome === 'wait') throw tooManyTries(result.retryAfterSeconds, { method });
    const isWrong = result.outcome === 'wrong';
    const message = isWrong ? t('second-factor.wrong-code') : t('second-factor.expired-code');
    throw new StepError('sign_in_failed', { message, method });
  }

  async function sendCode(ctx: Context, account: Account, method: 'sms' | 'email', sentTo: string): Promise<void> {
    const result = await codeDelivery.send(account, method, sentTo, withLanguage(ctx));
    if (result.outcome === 'wait') throw tooManyTries(result.retryAfterSeconds, { method });
    if (result.outcome === 'failed')
      throw new StepError('upstream_failed', { message: t('second-factor.not-sent'), method });
  }

  async function provePasskey(
    ctx: Context,
    account: Account,
    { response, sealed }: { response: string; sealed: string },
  ): Promise<readonly string[]> {
    const { audit, repeatedEntries } = services;
    const answer = parseAssertion(response);
    const challenge = openChallenge(services, purposeOf(account, ctx.path), sealed);
    const result =
      answer && challenge
        ? await mfa.passkeys.authenticate(answer, { challenge, ...(await keysOf(account)) })
        : undefined;
    const about = { type: 'sign-in.passkey', request: ctx.state.request, subjectId: account.id } as const;
    if (result?.outcome !== 'ok') {
      await repeatedEntries.record({ ...about, outcome: 'failure', reason: result?.outcome ?? 'malformed' });
      throw new StepError('sign_in_failed', { message: t('second-factor.passkey-failed'), method: 'passkey' });
    }
    await audit.record({ ...about, outcome: 'success', actorId: account.id });
    return result.amr;
  }

  async function provePassword(ctx: Context, account: Account, password: string): Promise<readonly string[]> {
    const { audit, credentials, lockout } = services;
    const { request } = ctx.state;
    const attempt = { login: account.username, accountId: account.id, address: request.address };
    const decided = await lockout.attempt(attempt, async (isLocked) => {
      const checked = await credentials.checkPassword(isLocked ? undefined : account, password);
      return { isRight: checked.outcome !== 'wrong', checked };
    });
    if (decided.outcome === 'captcha') {
      // The pages of the sign-in have one.
      throw new StepError('too_many_requests', { message: t('confirm.too-many-tries') });
    }
    if (decided.outcome !== 'checked') throw tooManyTries(decided.retryAfterSeconds);
    const { checked } = decided.result;
    const about = { type: 'sign-in.password', subjectId: account.id, request } as const;
    if (checked.outcome === 'wrong') {
      await audit.record({ ...about, outcome: 'failure', reason: checked.reason });
      throw new StepError('sign_in_failed', { message: t('confirm.wrong-password') });
    }
    await audit.record({ ...about, outcome: 'success', actorId: account.id });
    return ['pwd'];
  }

  return { waysOf, viewOf, prove };
}
