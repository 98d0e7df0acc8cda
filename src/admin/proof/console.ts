// /admin/confirm/:form: a form that needs a fresh sign-in. The page asks for one proof, over the filled-in form; then the form is carried out.
// After a whole sign-in instead, which leads back, it shows the form as it was filled in.
// /admin/result/:result: the page with a new secret, for an hour in the session that made it.

import Router from '@koa/router';
import { completeWaiting } from '../../account/confirmation-routes.ts';
import { stepUpUrl } from '../../account/rp/signed-in.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import { sentences, t } from '../../base/texts/text.ts';
import type { StepError } from '../../sign-in/flow.ts';
import type { ConsolePage } from '../console/blocks.ts';
import type { ConsoleServices } from '../console-services.ts';
import {
  CONFIRM,
  confirmationPage,
  filledInPage,
  pageBehind,
  RESULT,
  reasonOf,
  type StoredForm,
} from './confirmation-pages.ts';

type FormContext = Context & { params?: Record<string, string> };

export function confirmationRoutes(services: ConsoleServices): Router<State, Extras> {
  const { confirmation, frame, storedPages, signedIn } = services;
  const router = new Router<State, Extras>();
  const ownerOf = (ctx: Context) => {
    const { account, session } = signedIn.userOf(ctx);
    return { userId: account.id, session: session.ssoUid };
  };

  async function find(ctx: FormContext): Promise<StoredForm> {
    const stored = await storedPages.find<StoredForm>('form', ownerOf(ctx), ctx.params?.form ?? '');
    if (!stored) {
      throw notFound({
        message: t('console.proof.form-expired'),
        next: { href: '/admin', label: t('console.navigation.overview') },
      });
    }
    return stored;
  }

  async function show(ctx: FormContext, error?: StepError): Promise<void> {
    const { account, session } = signedIn.userOf(ctx);
    const proof = await signedIn.proofAt(ctx);
    const stored = await find(ctx);
    if (proof.isFresh) return frame.show(ctx, filledInPage(stored), 200, stored.path);
    const { change, page } = stored;
    const signInUrl = stepUpUrl(account, proof, ctx.path);
    const confirm = await confirmation.viewOf(ctx, account, session, {
      action: ctx.path,
      method: error?.method,
      error: error?.text,
      signInUrl,
      cancelUrl: page.back?.href ?? '/admin',
      lead: sentences([t('console.proof.about', { change }), reasonOf(proof)]),
    });
    const shown = confirm ? { ...pageBehind(page), confirm } : confirmationPage(stored, { account, proof, signInUrl });
    for (const [name, value] of Object.entries(error?.headers ?? {})) ctx.set(name, value);
    frame.show(ctx, shown, error?.status ?? 200, stored.path);
  }

  router.get(`${CONFIRM}/:form`, ...frame.page(), (ctx) => show(ctx));
  router.post(`${CONFIRM}/:form`, ...frame.change(), completeWaiting({ signedIn, confirmation, find, show }));

  router.get(`${RESULT}/:result`, ...frame.page(), async (ctx) => {
    const page = await storedPages.find<ConsolePage>('result', ownerOf(ctx), ctx.params.result ?? '');
    if (!page) {
      throw notFound({
        message: t('console.proof.result-expired'),
        next: { href: '/admin', label: t('console.navigation.overview') },
      });
    }
    frame.show(ctx, page, 200, page.back?.href ?? ctx.path);
  });

  return router;
}
