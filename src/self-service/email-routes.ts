// /account/email: a new address, which counts once a link that was mailed to it was opened; and the proof of the one
// there is. The answer is the same for an address that belongs to somebody else.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../http/context.ts';
import { tooManyRequests } from '../http/errors.ts';
import { parseForm } from '../http/input.ts';
import type { OwnPage } from './page.ts';
import type { EmailProof, EmailRequest } from './verify-email.ts';

export interface EmailRoutesNeeds {
  page: OwnPage;
  emailProof: Pick<EmailProof, 'requestVerification' | 'requestEmailChange'>;
}

const HERE = '/account/email';
const form = z.object({ email: z.string().max(254) });

const PROBLEMS: Partial<Record<EmailRequest['outcome'], string>> = {
  'not-an-address': 'This is not an e-mail address. One looks like name@example.com.',
  unchanged: 'This is the address you have now. Enter another one.',
};

export function emailRoutes({ page, emailProof }: EmailRoutesNeeds): Router<State, Extras> {
  const { signedIn, protect } = page;
  const router = new Router<State, Extras>({ prefix: HERE });

  router.get('/', signedIn.required, signedIn.recentProof, (ctx) => show(ctx));

  router.post('/', signedIn.required, signedIn.recentProof, protect, async (ctx) => {
    const { email } = await parseForm(ctx, form);
    const result = await emailProof.requestEmailChange(signedIn.of(ctx).account, email, page.by(ctx));
    const problem = PROBLEMS[result.outcome];
    if (problem) return show(ctx, { typed: email, problem });
    answer(ctx, result, `We have sent a link to ${email.trim()}. Your address changes when you open it.`);
  });

  router.post('/verify', signedIn.required, protect, async (ctx) => {
    const { account } = signedIn.of(ctx);
    const result = await emailProof.requestVerification(account, page.by(ctx));
    answer(ctx, result, `We have sent a link to ${account.email}. Open it to confirm the address.`);
  });

  function answer(ctx: Context, result: EmailRequest, sentence: string): void {
    if (result.outcome === 'wait')
      throw tooManyRequests(result.retryAfterSeconds, { next: { href: '/account', label: 'Go to your account' } });
    page.back(ctx, '/account', result.outcome === 'sent' ? sentence : 'There is nothing to confirm.');
  }

  function show(ctx: Context, { typed = '', problem }: { typed?: string; problem?: string } = {}): void {
    const { account } = signedIn.of(ctx);
    const isOwnedByFile = account.source === 'file';
    ctx.render('account/email', { account, isOwnedByFile, typed, problem }, problem ? 400 : 200);
  }

  return router;
}
