// /admin/confirm/:form: a form that needs a fresh sign-in. The page asks for the sign-in, which leads back to it; then it shows
// the form as it was filled in. It changes nothing itself: the form goes to its own address, with the CSRF token of its user.
// /admin/result/:result: the page with a new secret, for an hour in the session that made it.

import Router from '@koa/router';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import { t } from '../../base/texts/text.ts';
import type { ConsolePage } from '../console/blocks.ts';
import type { ConsoleServices } from '../console-services.ts';
import { CONFIRM, confirmationPage, filledInPage, RESULT, type StoredForm } from './confirmation-pages.ts';

export function confirmationRoutes({ frame, storedPages, signedIn }: ConsoleServices): Router<State, Extras> {
  const router = new Router<State, Extras>();
  const ownerOf = (ctx: Context) => {
    const { account, session } = signedIn.userOf(ctx);
    return { userId: account.id, session: session.ssoUid };
  };

  router.get(`${CONFIRM}/:form`, ...frame.page(), async (ctx) => {
    const { account, proof } = signedIn.userOf(ctx);
    const stored = await storedPages.find<StoredForm>('form', ownerOf(ctx), ctx.params.form ?? '');
    if (!stored) {
      throw notFound({
        message: t('console.proof.form-expired'),
        next: { href: '/admin', label: t('console.navigation.overview') },
      });
    }
    const signInUrl = signedIn.stepUpUrl(ctx, ctx.path);
    const page = proof?.isFresh ? filledInPage(stored) : confirmationPage(stored, { account, proof, signInUrl });
    frame.show(ctx, page, 200, stored.path);
  });

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
