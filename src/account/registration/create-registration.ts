// Puts together how accounts get their owners: invitations, self-registration, and the verification of email
// addresses.

import Router from '@koa/router';
import { z } from 'zod';
import type { Base } from '../../base/base.ts';
import { type Context, type Extras, type Middleware, type State, seeOther } from '../../base/http/context.ts';
import { notFound } from '../../base/http/errors.ts';
import type { Http } from '../../base/http/http.ts';
import { parseForm } from '../../base/http/input.ts';
import { withLanguage } from '../../base/http/pages/language.ts';
import { limits } from '../../base/limits.ts';
import { sha256 } from '../../base/platform/random.ts';
import { type PageText, sentences, type Text, t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import type { FederationServices } from '../../federation/federation-services.ts';
import type { Account } from '../../people/accounts/account.ts';
import { emailFault } from '../../people/accounts/names.ts';
import { termsDue, termsIn } from '../../people/accounts/terms.ts';
import { openChallenge, parseAttestation, sealChallenge } from '../../people/mfa/factors/webauthn-ceremony.ts';
import type { People } from '../../people/people.ts';
import type { RecoveryCodesPages } from '../../sign-in/second-factor/recovery-codes-page.ts';
import {
  answerUniformly,
  createLinkPage,
  type LinkPage,
  type MailedLinks,
  passwordForm,
  type ReturnToSignIn,
  sentPage,
  termsField,
} from '../mailed-links.ts';
import { createEmailVerification } from './email-verification.ts';
import { createInvitations, type Invitations } from './invitation.ts';
import { createSelfRegistration, finishForm, type SelfRegistration } from './self-registration.ts';

export type Registration = ReturnType<typeof createRegistration>;

export function createRegistration(
  dependencies: Core &
    Http &
    People &
    FederationServices & { mailedLinks: MailedLinks; recoveryCodesPages: RecoveryCodesPages },
) {
  const { accountLinks, returnToSignIn, setPasswordByLink } = dependencies.mailedLinks;
  const invitations = createInvitations({ ...dependencies, accountLinks, setPasswordByLink });
  const emailVerification = createEmailVerification({ ...dependencies, accountLinks });
  const selfRegistration = createSelfRegistration(dependencies);
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

const INVITATION = '/invitation';
/** The sign-in that follows an invitation; another account may be signed in here. */
const SIGN_IN = '/login?prompt=login';
const acceptForm = passwordForm.extend({ terms: termsField });
const passkeyForm = z.object({
  username: z.string().max(254),
  response: z.string().max(20_000),
  name: z.string().max(200).default(''),
  sealed: z.string().max(1024),
  terms: termsField,
});

/** The page of an invitation: a passkey, or a password in its place; after it the owner is signed in. */
function invitationRoutes(
  services: Core &
    Http &
    People &
    FederationServices & { invitations: Invitations; recoveryCodesPages: RecoveryCodesPages },
): Router<State, Extras> {
  const { cookies, invitations, mfa, otherSignIns, recoveryCodesPages, settings } = services;
  const { check: checkCsrf } = services.csrf;
  const router = new Router<State, Extras>();
  const next = { href: '/forgot-password', label: t('mailed-link.new') };
  const page = createLinkPage(services, { cookie: 'reset', next });

  function redirectToSignIn(ctx: Context): void {
    seeOther(ctx, SIGN_IN);
  }

  async function show(ctx: Context, account: Account, error?: PageText): Promise<void> {
    const { id, username } = account;
    // An account with credentials got them after it was invited: a passkey would be one more.
    const options = (await invitations.hasCredentials(id))
      ? undefined
      : await mfa.passkeys.registrationOptions(account, { mustVerify: true, isOnly: true });
    const passkey = options && {
      action: `${INVITATION}/passkey`,
      mode: 'create',
      username,
      options: JSON.stringify(options),
      sealed: sealChallenge(services, id, options.challenge),
      name: t('passkey.default-name'),
      label: t('factors.create-passkey'),
      isPrimary: true,
    };
    const texts = passkey
      ? { title: t('invitation.choice-title'), lead: t('invitation.choice-lead', { username }) }
      : { title: t('invitation.title'), lead: t('invitation.lead') };
    const [other] = await otherSignIns(account);
    const minLength = services.credentials.minimumLength(false);
    const due = termsDue(settings.latest(), account);
    const form = { ...texts, action: INVITATION, username, minLength, other, passkey, terms: due, error };
    ctx.render('mailed-links/new-password', form, error ? 400 : 200);
  }

  router.get(INVITATION, page.receiveToken, async (ctx) => {
    const { found: account } = await page.resolve(ctx, invitations.open);
    await show(ctx, account);
  });

  router.post(INVITATION, checkCsrf, async (ctx) => {
    const { token, found: account } = await page.resolve(ctx, invitations.find);
    const { username, password, terms } = await parseForm(ctx, acceptForm);
    page.assertUnchanged(username, account.username);
    const result = await invitations.accept(token, { password, terms }, withLanguage(ctx));
    if (result.outcome === 'rejected')
      return show(ctx, account, sentences(result.faults.map((fault) => services.credentials.advice(fault, false))));
    if (result.outcome === 'invalid' || !result.signIn) return page.reject(ctx);
    page.keepForSignIn(ctx, result.signIn);
    redirectToSignIn(ctx);
  });

  router.post(`${INVITATION}/passkey`, checkCsrf, async (ctx) => {
    const { token, found: account } = await page.resolve(ctx, invitations.find);
    const { username, response, name, sealed, terms } = await parseForm(ctx, passkeyForm);
    page.assertUnchanged(username, account.username);
    const answer = parseAttestation(response);
    const challenge = openChallenge(services, account.id, sealed);
    if (!answer || !challenge) return show(ctx, account, t('enrol.passkey-failed'));
    const { request } = ctx.state;
    const result = await invitations.acceptWithPasskey(token, { answer, challenge, name, terms }, request);
    if (result.outcome === 'invalid') return page.reject(ctx);
    if (result.outcome === 'already-registered') return show(ctx, account, t('enrol.passkey-exists'));
    if (result.outcome !== 'done') return show(ctx, account, t('enrol.passkey-failed'));
    const { signIn } = result;
    page.keepForSignIn(ctx, signIn);
    // The same codes when this form is sent twice: they are derived from its sealed value.
    const codes = await mfa.recoveryCodes.createFor(account.id, sealed, { actorId: account.id, request });
    if (!codes) return redirectToSignIn(ctx);
    // Their page leads to the sign-in.
    await recoveryCodesPages.redirect(ctx, `${INVITATION}/recovery-codes`, ownerOf(account, signIn), codes);
  });

  router.get(`${INVITATION}/recovery-codes/:value`, async (ctx) => {
    const signIn = cookies.get(ctx, 'accepted') ?? '';
    const account = await invitations.accountOf(signIn);
    if (!account) throw notFound({ next: { href: '/login', label: t('sign-in.title') } });
    const { value = '' } = ctx.params;
    await recoveryCodesPages.show(ctx, { account, owner: ownerOf(account, signIn), value, continueUrl: SIGN_IN });
  });

  return router;
}

/** Whose codes they are: of the browser that accepted the invitation. */
const ownerOf = ({ id }: Account, signIn: string) => ({ userId: id, session: sha256(signIn) });

const requestForm = z.object({
  email: z.string().trim().max(254),
  code: z.string().trim().max(limits.signUpCode.maxLength).default(''),
});

/** The pages of self-registration, while it is on: the form, the page behind the mailed link, and the result. */
function selfRegistrationRoutes(
  dependencies: Core & Http & People & { selfRegistration: SelfRegistration; returnToSignIn: ReturnToSignIn },
): Router<State, Extras> {
  const { credentials, selfRegistration, returnToSignIn, settings } = dependencies;
  const { check: checkCsrf } = dependencies.csrf;
  const router = new Router<State, Extras>({ prefix: '/sign-up' });
  const page = createLinkPage(dependencies, {
    cookie: 'reset',
    next: { href: '/sign-up', label: t('mailed-link.new') },
  });

  const whenOpen: Middleware = (_ctx, next) => {
    if (!selfRegistration.isOpen()) throw notFound();
    return next();
  };

  router.get('/', whenOpen, returnToSignIn.rememberSignIn, (ctx) => {
    const needsCode = selfRegistration.needsCode();
    ctx.render('registration/request', { action: '/sign-up', signInUrl: returnToSignIn.backLink(ctx).href, needsCode });
  });
  router.post('/', whenOpen, returnToSignIn.useItsBrand, checkCsrf, (ctx) => requestLink(dependencies, ctx));
  router.get('/sent', whenOpen, returnToSignIn.useItsBrand, (ctx) => showSent(ctx, dependencies));

  router.get('/finish', whenOpen, page.receiveToken, async (ctx) => {
    const { found: email } = await page.resolve(ctx, selfRegistration.find);
    ctx.render('registration/finish', {
      action: '/sign-up/finish',
      email,
      minLength: credentials.minimumLength(false),
      terms: termsIn(settings.latest()),
    });
  });
  router.post('/finish', whenOpen, checkCsrf, (ctx) => finishRegistration(dependencies, page, ctx));
  router.get('/done', whenOpen, (ctx) => {
    page.renderDone(ctx, {
      title: t('registration.ready'),
      lead: t('registration.ready-lead'),
      next: returnToSignIn.continueLink(ctx),
    });
  });
  return router;
}

async function requestLink(
  dependencies: Base & People & { selfRegistration: SelfRegistration; returnToSignIn: ReturnToSignIn },
  ctx: Context,
): Promise<void> {
  const { selfRegistration, rateLimits, returnToSignIn, sql } = dependencies;
  const { email, code } = await parseForm(ctx, requestForm);
  const needsCode = selfRegistration.needsCode();
  const reject = (field: 'email' | 'code', error: Text): undefined => {
    const signInUrl = returnToSignIn.continueLink(ctx).href;
    ctx.render('registration/request', { action: '/sign-up', signInUrl, needsCode, email, code, field, error }, 400);
  };
  if (emailFault(email)) return reject('email', t('registration.invalid-email'));
  if (!selfRegistration.accepts(email)) return reject('email', t('registration.other-domain'));
  const request = withLanguage(ctx);
  await answerUniformly(ctx, { rateLimits, sql, policy: 'registration:address' }, async () => {
    const codeId = needsCode ? await selfRegistration.checkCode(code, request) : undefined;
    if (needsCode && codeId === undefined) return reject('code', t('registration.invalid-code'));
    await selfRegistration.request(email, codeId, request);
    return '/sign-up/sent';
  });
}

function showSent(ctx: Context, { returnToSignIn, mailServer }: Core & { returnToSignIn: ReturnToSignIn }): void {
  const texts = {
    lead: t('registration.sent', { hours: limits.emailVerification.hours }),
    hint: t('registration.sent-hint'),
    other: { href: '/sign-up', label: t('registration.other') },
  };
  ctx.render('mailed-links/message', sentPage(texts, mailServer.isSet(), returnToSignIn.continueLink(ctx)));
}

async function finishRegistration(
  { credentials, selfRegistration, settings }: Core & People & { selfRegistration: SelfRegistration },
  page: LinkPage,
  ctx: Context,
): Promise<void> {
  const minLength = credentials.minimumLength(false);
  const { token, found: email } = await page.resolve(ctx, selfRegistration.find);
  const { username, name, password, terms } = await parseForm(ctx, finishForm);
  page.assertUnchanged(username, email);
  const result = await selfRegistration.finish(token, { name, password, terms }, ctx.state.request);
  if (result.outcome === 'invalid') return page.reject(ctx);
  if (result.outcome === 'rejected') {
    const error = sentences(result.faults.map((fault) => credentials.advice(fault, false)));
    const form = { action: '/sign-up/finish', email, minLength, name, terms: termsIn(settings.latest()), error };
    return ctx.render('registration/finish', form, 400);
  }
  page.redirectToDone(ctx, '/sign-up/done');
}
