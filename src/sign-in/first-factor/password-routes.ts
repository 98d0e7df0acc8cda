// The forms with a password: the first factor, and the change that is demanded before the sign-in continues.

import Router from '@koa/router';
import { z } from 'zod';
import type { Base } from '../../base/base.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import type { Http } from '../../base/http/http.ts';
import { parseForm } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { sentences, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import { passwordAdvice } from '../../people/credentials/password-advice.ts';
import type { People } from '../../people/people.ts';
import type { Attempts } from '../attempts.ts';
import type { CurrentStep } from '../current-step.ts';
import type { Flow, StepContext } from '../flow.ts';
import type { StepPages } from '../step-pages.ts';
import type { DirectorySignIns } from './directories.ts';
import type { FirstFactor } from './first-factor.ts';
import { continueWith } from './upstream-routes.ts';

export interface PasswordRoutesDependencies {
  flow: Flow;
  pages: StepPages;
  firstFactor: FirstFactor;
  /** After a new password: ends the other sessions and the trust in browsers, and sends a notice to the owner. */
  passwordChanged(account: Account, keptSession: string | undefined, by: Actor): Promise<void>;
  directories: Pick<DirectorySignIns, 'finish'>;
  attempts: Attempts;
  /** The account of an invitation that is open in this browser. */
  invitedId(ctx: Context): Promise<string | undefined>;
}

const signInForm = z.object({
  username: z.string().max(254),
  password: z.string().max(4096),
  altcha: z.string().max(8192).optional(),
  ticket: z.string().max(1024).optional(),
});
const changeForm = z.object({ password: z.string().max(4096) });

const WRONG = t('sign-in.wrong-password');
const DISABLED = t('sign-in.disabled');
const CAPTCHA = t('sign-in.captcha');

export function passwordRoutes(dependencies: Base & Http & People & PasswordRoutesDependencies): Router<State, Extras> {
  const {
    flow,
    pages,
    firstFactor,
    credentials,
    passwordChanged,
    directories,
    invitedId,
    config: { hasMailServer },
    csrf: { check: checkCsrf },
  } = dependencies;
  const router = new Router<State, Extras>({ prefix: '/signin/:uid' });

  router.post('/password', checkCsrf, async (ctx: StepContext) => {
    const current = await flow.expect(ctx, 'identify');
    if (!current) return;
    const input = await parseForm(ctx, signInForm);
    const loginHint = input.username;
    // The proof of an account to link takes a password of this server.
    const isLinking = current.attempt.upstream?.linkTo !== undefined;
    const result = await firstFactor.verify(ctx, input, isLinking ? 'none' : { rule: current.rule });
    const unlock = hasMailServer && { href: `/unlock/ask?signin=${current.attempt.uid}`, label: t('unlock.by-email') };
    if (result.outcome === 'directory') {
      const sign = { uid: current.attempt.uid, rule: current.rule, request: ctx.state.request };
      const confirmed = await directories.finish(result.user, { ...sign, invitedId: await invitedId(ctx) });
      return continueWith(dependencies, ctx, current, { ...confirmed, amr: provenBefore(current, confirmed.userId) });
    }
    if (result.outcome === 'unavailable') return pages.showUnavailable(ctx, current, result, { loginHint });
    if (result.outcome === 'busy') return pages.showBusy(ctx, current, result.retryAfterSeconds, { loginHint });
    if (result.outcome === 'wait') {
      return pages.showWait(ctx, current, result.retryAfterSeconds, { ...(unlock && { next: unlock }), loginHint });
    }
    if (result.outcome === 'captcha') {
      const { waiting } = result;
      const seconds = waiting?.waitSeconds ?? limits.captcha.waitSeconds;
      return pages.showWait(ctx, current, seconds, { problem: CAPTCHA, loginHint, waiting });
    }
    if (result.outcome === 'disabled') return pages.show(ctx, current, { problem: DISABLED, loginHint, status: 403 });
    if (result.outcome === 'rejected') {
      const { rejection, name: directory, passwordUrl } = result;
      const problem = sentences([
        t('problem.directory-rejected', { why: rejection, directory }),
        t('problem.directory-rejected.advice', { why: rejection, directory, has: passwordUrl ? 'link' : 'none' }),
      ]);
      const next = passwordUrl &&
        /^password_/.test(rejection) && { href: passwordUrl, label: t('sign-in.change-at-directory') };
      return pages.show(ctx, current, { problem, loginHint, status: 403, ...(next && { next }) });
    }
    if (result.outcome === 'wrong') {
      // Failures under another name of the account may have locked it, which no response tells: the link is offered before it helps.
      const next = unlock && result.isRepeated && { next: { ...unlock, label: t('unlock.locked-out') } };
      return pages.show(ctx, current, { problem: WRONG, loginHint, status: 401, ...next });
    }
    const amr = [...new Set(['pwd', ...provenBefore(current, result.account.id)])];
    await flow.proceed(ctx, current, { userId: result.account.id, amr, passwordSetAt: result.setAt.getTime() });
  });

  router.post('/new-password', checkCsrf, async (ctx: StepContext) => {
    const current = await flow.expect(ctx, 'change-password');
    if (!current?.account) return;
    const { account } = current;
    const { password } = await parseForm(ctx, changeForm);
    const by = { actorId: account.id, request: ctx.state.request };
    const result = await credentials.setPassword(account, password, { ...by, event: 'password.changed' });
    if (result !== 'ok') {
      const problem = sentences(result.map((fault) => passwordAdvice(fault, current.amr.includes('mfa'))));
      return pages.show(ctx, current, { problem, status: 400 });
    }
    await passwordChanged(account, current.interaction.session?.uid, by);
    // Setting the password deleted this attempt, as it deletes all that began with the old one; proceed saves it again.
    const passwordSetAt = (await credentials.status(account.id))?.changedAt.getTime();
    await flow.proceed(ctx, current, { passwordSetAt });
  });

  return router;
}

/** The password may complete what the same user has proven already. */
function provenBefore({ account, amr }: CurrentStep, userId: string | undefined): string[] {
  return account?.id === userId ? amr : [];
}
