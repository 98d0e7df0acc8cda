// Puts together how accounts get their owners: invitations, self-registration, and the verification of email
// addresses.

import Router from '@koa/router';
import { z } from 'zod';
import type { Base } from '../../base/base.ts';
import type { Context, Extras, Middleware, State } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import type { Http } from '../../base/http/http.ts';
import { parseForm } from '../../base/http/input.ts';
import { withLanguage } from '../../base/http/pages/language.ts';
import { limits } from '../../base/limits.ts';
import { sentences, type Text, t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import type { FederationServices } from '../../federation/federation-services.ts';
import { emailFault } from '../../people/accounts/names.ts';
import { passwordAdvice } from '../../people/credentials/password-advice.ts';
import { minimumLength } from '../../people/credentials/password-policy.ts';
import type { People } from '../../people/people.ts';
import type { MailedLinks } from '../mailed-links/create-mailed-links.ts';
import { createLinkPage, type LinkPage } from '../mailed-links/link-page.ts';
import { addNewPasswordRoutes } from '../mailed-links/new-password-routes.ts';
import { answerUniformly, sentPage } from '../mailed-links/request-routes.ts';
import type { ReturnToSignIn } from '../mailed-links/return-to-sign-in.ts';
import { createEmailVerification } from './email-verification.ts';
import { createInvitations, type Invitations } from './invitation.ts';
import { createSelfRegistration, type SelfRegistration } from './self-registration.ts';

export type Registration = ReturnType<typeof createRegistration>;

export function createRegistration(
  dependencies: Core & Http & People & FederationServices & { mailedLinks: MailedLinks },
) {
  const { mailedLinks, settings } = dependencies;
  const { accountLinks, returnToSignIn, setPasswordByLink } = mailedLinks;
  const { passwordResetByMail } = dependencies.mfa.firstEnrolment;
  const invitations = createInvitations({ ...dependencies, accountLinks, passwordResetByMail, setPasswordByLink });
  const emailVerification = createEmailVerification({ ...dependencies, accountLinks });
  const selfRegistration = createSelfRegistration({
    ...dependencies,
    isOpen: () => settings.latest().self_registration,
    domains: () => settings.latest().sign_up_domains,
    needsCode: () => settings.latest().sign_up_code_required,
  });
  return {
    invitations,
    emailVerification,
    selfRegistration,
    routers: [
      invitationRoutes({ ...dependencies, invitations }),
      selfRegistrationRoutes({ ...dependencies, selfRegistration, returnToSignIn }),
    ],
  };
}

function invitationRoutes(
  dependencies: Http & People & FederationServices & { invitations: Invitations },
): Router<State, Extras> {
  const { invitations, otherSignIns } = dependencies;
  const router = new Router<State, Extras>();

  addNewPasswordRoutes(router, dependencies, {
    path: '/invitation',
    texts: {
      title: t('invitation.title'),
      lead: t('invitation.lead'),
    },
    find: invitations.find,
    otherSignIn: async (account) => (await otherSignIns(account))[0],
    setPassword: invitations.accept,
    // No account has a second factor before its first password.
    hasSecondFactor: async () => false,
    doneMessage: () => ({
      title: t('invitation.done'),
      lead: t('invitation.done-lead'),
      next: { href: '/account', label: t('sign-in.title') },
    }),
  });

  return router;
}

const requestForm = z.object({
  email: z.string().trim().max(254),
  code: z.string().trim().max(limits.signUpCode.maxLength).default(''),
});
const finishForm = z.object({
  username: z.string().max(254),
  name: z.string().max(200),
  password: z.string().max(4096),
});
const minLength = minimumLength(false);

function selfRegistrationRoutes(
  dependencies: Base & Http & People & { selfRegistration: SelfRegistration; returnToSignIn: ReturnToSignIn },
): Router<State, Extras> {
  const {
    selfRegistration,
    returnToSignIn,
    csrf: { check: checkCsrf },
  } = dependencies;
  const router = new Router<State, Extras>({ prefix: '/sign-up' });
  const page = createLinkPage(dependencies, {
    cookie: 'reset',
    next: { href: '/sign-up', label: t('mailed-link.new') },
  });

  const whenOpen: Middleware = (_ctx, next) => {
    if (!selfRegistration.isOpen()) throw notFound();
    return next();
  };

  router.get('/', whenOpen, returnToSignIn.note, (ctx) => {
    const needsCode = selfRegistration.needsCode();
    ctx.render('registration/request', { action: '/sign-up', signInUrl: returnToSignIn.back(ctx).href, needsCode });
  });
  router.post('/', whenOpen, returnToSignIn.about, checkCsrf, (ctx) => requestLink(dependencies, ctx));
  router.get('/sent', whenOpen, returnToSignIn.about, (ctx) => showSent(ctx, dependencies));

  router.get('/finish', whenOpen, page.receiveToken, async (ctx) => {
    const { found: email } = await page.resolve(ctx, selfRegistration.find);
    ctx.render('registration/finish', { action: '/sign-up/finish', email, minLength });
  });
  router.post('/finish', whenOpen, checkCsrf, (ctx) => finishRegistration(selfRegistration, page, ctx));
  router.get('/done', whenOpen, (ctx) => {
    page.renderDone(ctx, {
      title: t('registration.ready'),
      lead: t('registration.ready-lead'),
      next: returnToSignIn.next(ctx),
    });
  });
  return router;
}

async function requestLink(
  dependencies: People & { selfRegistration: SelfRegistration; returnToSignIn: ReturnToSignIn },
  ctx: Context,
): Promise<void> {
  const { selfRegistration, rateLimits, returnToSignIn } = dependencies;
  const { email, code } = await parseForm(ctx, requestForm);
  const needsCode = selfRegistration.needsCode();
  const reject = (field: 'email' | 'code', error: Text) => {
    const signInUrl = returnToSignIn.next(ctx).href;
    ctx.render('registration/request', { action: '/sign-up', signInUrl, needsCode, email, code, field, error }, 400);
  };
  if (emailFault(email)) return reject('email', t('registration.invalid-email'));
  if (!selfRegistration.accepts(email)) return reject('email', t('registration.other-domain'));
  const request = withLanguage(ctx);
  const work = async () => {
    const codeId = needsCode ? await selfRegistration.checkCode(code, request) : undefined;
    if (!needsCode || codeId !== undefined) return selfRegistration.request(email, codeId, request);
    reject('code', t('registration.invalid-code'));
  };
  await answerUniformly(ctx, { rateLimits, policy: 'registration:address' }, { work, page: '/sign-up/sent' });
}

function showSent(
  ctx: Context,
  { returnToSignIn, config: { hasMailServer } }: Base & { returnToSignIn: ReturnToSignIn },
): void {
  const texts = {
    lead: t('registration.sent', { hours: limits.emailVerification.hours }),
    hint: t('registration.sent-hint'),
    other: { href: '/sign-up', label: t('registration.other') },
  };
  ctx.render('mailed-links/message', sentPage(texts, hasMailServer, returnToSignIn.next(ctx)));
}

async function finishRegistration(selfRegistration: SelfRegistration, page: LinkPage, ctx: Context): Promise<void> {
  const { token, found: email } = await page.resolve(ctx, selfRegistration.find);
  const { username, name, password } = await parseForm(ctx, finishForm);
  page.assertUnchanged(username, email);
  const result = await selfRegistration.finish(token, { name, password }, ctx.state.request);
  if (result.outcome === 'invalid') return page.reject(ctx);
  if (result.outcome === 'rejected') {
    const error = sentences(result.faults.map((fault) => passwordAdvice(fault, false)));
    return ctx.render('registration/finish', { action: '/sign-up/finish', email, minLength, name, error }, 400);
  }
  page.redirectToDone(ctx, '/sign-up/done');
}
