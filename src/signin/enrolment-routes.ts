// POSTs of the enrolment step: a second factor that the policy wants and the account has not, set up on the way in.
import Router from '@koa/router';
import { z } from 'zod';
import type { Account } from '../accounts/account.ts';
import type { Context, Extras, Middleware, State } from '../http/context.ts';
import { parseForm } from '../http/input.ts';
import type { Tell } from '../mail/notices.ts';
import type { Passkeys } from '../mfa/passkeys.ts';
import type { RecoveryCodes } from '../mfa/recovery-codes.ts';
import type { Totp } from '../mfa/totp.ts';
import { parseAttestation } from '../mfa/webauthn-input.ts';
import type { Clock } from '../platform/clock.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
import type { Attempts } from './attempts.ts';
import { mustVerify } from './factor-pages.ts';
import type { Flow, StepContext } from './flow.ts';
import { recoveryCodesPage } from './recovery-codes-page.ts';
import type { OpenStep } from './steps.ts';
import type { Views } from './views.ts';

export interface EnrolmentRoutesNeeds {
  flow: Flow;
  views: Views;
  attempts: Attempts;
  totp: Pick<Totp, 'confirm' | 'resume'>;
  passkeys: Pick<Passkeys, 'register'>;
  recoveryCodes: Pick<RecoveryCodes, 'createFor' | 'again'>;
  /** Mail about the change, to the account's owner. */
  tell: Tell;
  rateLimits: Pick<RateLimits, 'consume' | 'reset'>;
  host: string;
  now: Clock;
  protect: Middleware;
}

interface Enrolled {
  /** Methods that the enrolment proved as well. */
  proven: string[];
  enrolment: string;
}

const totpForm = z.object({ code: z.string().max(64), sealed: z.string().max(1024) });
const passkeyForm = z.object({ response: z.string().max(20_000), name: z.string().max(200).default('') });

export function enrolmentRoutes(needs: EnrolmentRoutesNeeds): Router<State, Extras> {
  const { flow, views, attempts, totp, passkeys, recoveryCodes, tell, rateLimits, host, now, protect } = needs;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });

  router.post('/enrol-totp', protect, async (ctx: StepContext) => {
    const open = await flow.expect(ctx, 'enrol', 'done');
    if (!open?.account) return;
    const { code, sealed } = await parseForm(ctx, totpForm);
    if (open.step === 'done') return again(ctx, open, sealed);
    const verdict = await rateLimits.consume('code:account', open.account.id);
    if (!verdict.allowed) return views.wait(ctx, open, verdict.retryAfterSeconds, { sealed });
    const by = { actorId: open.account.id, request: ctx.state.request };
    const outcome = await totp.confirm(open.account, sealed, code, by);
    if (outcome === 'wrong' || outcome === 'expired') {
      const problem =
        outcome === 'expired'
          ? 'This took too long. Scan the new picture.'
          : 'This code is not right. Enter the one that the app shows now.';
      return views.show(ctx, open, { problem, status: 400, ...(outcome === 'wrong' && { sealed }) });
    }
    await rateLimits.reset('code:account', open.account.id);
    if (outcome === 'ok') await tell(open.account, 'totp-added', ctx.state.request);
    // The code that confirmed the app proves it for this sign-in, too.
    await done(ctx, open, { proven: ['otp'], enrolment: sealed });
  });

  router.post('/enrol-passkey', protect, async (ctx: StepContext) => {
    const open = await flow.expect(ctx, 'enrol');
    if (!open?.account) return;
    const { response, name } = await parseForm(ctx, passkeyForm);
    const answer = parseAttestation(response);
    const { challenge } = open.attempt;
    const by = { actorId: open.account.id, request: ctx.state.request };
    const result =
      answer && challenge
        ? await passkeys.register(open.account, answer, { challenge, name, mustVerify: mustVerify(open), ...by })
        : undefined;
    if (result?.outcome !== 'ok') {
      const problem =
        result?.outcome === 'already-registered'
          ? 'This passkey is already registered.'
          : 'The passkey was not accepted. Try again.';
      return views.show(ctx, open, { problem, status: 400 });
    }
    await tell(open.account, 'passkey-added', ctx.state.request);
    await done(ctx, open, { proven: [], enrolment: challenge ?? '' });
  });

  /** Whoever has a first second factor gets the codes that stand in when it is lost. */
  async function done(ctx: Context, open: OpenStep, { proven, enrolment }: Enrolled): Promise<void> {
    if (!open.account) return;
    const { userId, amr } = open.attempt;
    const changes = {
      userId: userId ?? open.account.id,
      amr: [...new Set([...(amr.length > 0 ? amr : open.amr), ...proven])],
      challenge: undefined,
    };
    const by = { actorId: open.account.id, request: ctx.state.request };
    const codes = await recoveryCodes.createFor(open.account.id, enrolment, by);
    if (!codes) return flow.proceed(ctx, open, changes);
    await attempts.save({ ...open.attempt, ...changes });
    show(ctx, open.account, codes, open.attempt.uid);
  }

  /** The form was sent twice: the codes are shown again, rather than lost with the first answer. */
  async function again(ctx: Context, open: OpenStep, sealed: string): Promise<void> {
    const { account } = open;
    const codes = account && totp.resume(account, sealed) && (await recoveryCodes.again(account.id, sealed));
    if (account && codes) show(ctx, account, codes, open.attempt.uid);
    else await flow.finish(ctx, open);
  }

  function show(ctx: Context, account: Account, codes: string[], uid: string): void {
    const shown = recoveryCodesPage(codes, account, host, now());
    ctx.render('sign-in/recovery-codes', { ...shown, continueUrl: `/signin/${uid}` });
  }

  return router;
}
