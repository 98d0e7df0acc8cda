// /admin/confirm/:form: a form that needs a fresh sign-in. The page asks for the sign-in, which leads back to it; then it shows
// the form as it was filled in. It changes nothing itself: the form goes to its own address, with the CSRF token of its user.
import Router from '@koa/router';
import type { Extras, State } from '../../http/context.ts';
import { notFound } from '../../http/errors.ts';
import type { SignedIn } from '../../rp/signed-in.ts';
import type { Frame } from '../console/frame.ts';
import { confirmationPage, filledInPage } from './confirmation-pages.ts';
import { CONFIRM, type StoredForms } from './stored-forms.ts';

export interface ConfirmationDependencies {
  frame: Frame;
  storedForms: StoredForms;
  signedIn: Pick<SignedIn, 'userOf' | 'stepUpUrl'>;
}

export function confirmationRoutes({ frame, storedForms, signedIn }: ConfirmationDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: CONFIRM });

  router.get('/:form', ...frame.page(), async (ctx) => {
    const { account, session, proof } = signedIn.userOf(ctx);
    const owner = { userId: account.id, ssoUid: session.ssoUid };
    const stored = await storedForms.find(owner, ctx.params.form ?? '');
    if (!stored) {
      throw notFound({
        message: 'This form has expired, or belongs to another user. Nothing changed.',
        next: { href: '/admin', label: 'Overview' },
      });
    }
    const signInUrl = signedIn.stepUpUrl(ctx, ctx.path);
    const page = proof?.isFresh ? filledInPage(stored) : confirmationPage(stored, { account, proof, signInUrl });
    frame.show(ctx, page, 200, stored.path);
  });

  return router;
}
