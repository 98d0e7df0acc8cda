// The pages of "Confirm it's you": a request that needs a recent proof waits (base/http/stored-pages.ts) until its user has given one, and is
// then carried out.

import Router from '@koa/router';
import { type Context, type Extras, type Middleware, type State, seeOther } from '../base/http/context.ts';
import { notFound } from '../base/http/errors.ts';
import type { Http } from '../base/http/http.ts';
import { readForm, resumeForm } from '../base/http/input.ts';
import { t } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import { StepError } from '../sign-in/flow.ts';
import type { Confirmation } from './rp/confirmation.ts';
import { ACCOUNT_CONFIRM, type SignedIn, stepUpUrl, type WaitingRequest } from './rp/signed-in.ts';

type ConfirmContext = Context & { params?: Record<string, string> };

interface ConfirmedRoute {
  signedIn: SignedIn;
  confirmation: Confirmation;
  /** The request that waits under the value in the address; throws not_found (404). */
  find(ctx: Context): Promise<WaitingRequest>;
  show(ctx: Context, error?: StepError): Promise<void>;
}

/**
 * POST of a confirmation page: after the proof, the request that waited is carried out by the routes behind this one, in this request. Behind
 * `requireSignIn` and the CSRF check, whose token it takes over.
 */
export function completeWaiting({ signedIn, confirmation, find, show }: ConfirmedRoute): Middleware {
  return async (ctx, next) => {
    const { account, session } = signedIn.userOf(ctx);
    const { url, fields } = await find(ctx);
    const { _csrf = [] } = await readForm(ctx, { lists: 'every field' });
    if (!(await signedIn.proofAt(ctx)).isFresh) {
      try {
        const result = await confirmation.prove(ctx, account, session);
        if ('sent' in result) return seeOther(ctx, `${ctx.path}?method=${result.sent}&sent=yes`);
        await signedIn.renew(ctx, result.proven);
      } catch (error) {
        if (error instanceof StepError) return show(ctx, error);
        throw error;
      }
    }
    if (!fields) return seeOther(ctx, url);
    resumeForm(ctx, { ...fields, _csrf });
    ctx.url = url;
    return next();
  };
}

/** /account/confirm/:request, before the other account pages. */
export function confirmationRoutes(
  services: Core & Http & { confirmation: Confirmation; signedIn: SignedIn },
): Router<State, Extras> {
  const { confirmation, csrf, signedIn, storedPages } = services;
  const router = new Router<State, Extras>({ prefix: ACCOUNT_CONFIRM });
  const path = '/:request';

  async function find(ctx: ConfirmContext): Promise<WaitingRequest> {
    const { account, session } = signedIn.userOf(ctx);
    const owner = { userId: account.id, session: session.ssoUid };
    const waiting = await storedPages.find<WaitingRequest>('request', owner, ctx.params?.request ?? '');
    if (!waiting)
      throw notFound({ message: t('confirm.expired'), next: { href: '/account', label: t('page.account') } });
    return waiting;
  }

  async function show(ctx: Context, error?: StepError): Promise<void> {
    const { account, session } = signedIn.userOf(ctx);
    const proof = await signedIn.proofAt(ctx);
    const state = {
      action: ctx.path,
      method: error?.method,
      error: error?.text,
      signInUrl: stepUpUrl(account, proof, ctx.path),
      cancelUrl: '/account',
    };
    const confirm = proof.isFresh ? state : await confirmation.viewOf(ctx, account, session, state);
    if (!confirm) return ctx.redirect(state.signInUrl);
    for (const [name, value] of Object.entries(error?.headers ?? {})) ctx.set(name, value);
    ctx.render('account/confirm', { confirm }, error?.status ?? 200);
  }

  router.get(path, signedIn.requireSignIn, async (ctx) => {
    const { url, fields } = await find(ctx);
    if (fields || !(await signedIn.proofAt(ctx)).isFresh) return show(ctx);
    seeOther(ctx, url);
  });
  router.post(path, signedIn.requireSignIn, csrf.check, completeWaiting({ signedIn, confirmation, find, show }));
  return router;
}
