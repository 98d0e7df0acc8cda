// Puts together how accounts get their owners: invitations, self-registration, and the verification of email
// addresses.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, Middleware, State } from '../../base/http/context.ts';
import type { Cookies } from '../../base/http/cookies.ts';
import type { Csrf } from '../../base/http/csrf.ts';
import { notFound } from '../../base/http/errors.ts';
import { parseForm } from '../../base/http/input.ts';
import { withLanguage } from '../../base/http/pages/language.ts';
import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { Vault } from '../../base/platform/vault.ts';
import type { Db } from '../../base/storage/database.ts';
import { sentences, type Text, t } from '../../base/texts/text.ts';
import type { Audit } from '../../core/audit/audit.ts';
import type { RepeatedEntries } from '../../core/audit/repeated-entries.ts';
import type { Outbox } from '../../core/mail/outbox.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { ExternalIdentities } from '../../federation/identities.ts';
import type { OtherSignIns } from '../../federation/other-sign-ins.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import { emailFault } from '../../people/accounts/names.ts';
import type { Credentials } from '../../people/credentials/credentials.ts';
import { passwordAdvice } from '../../people/credentials/password-advice.ts';
import { minimumLength } from '../../people/credentials/password-policy.ts';
import type { AccountFactors } from '../../people/mfa/account-factors.ts';
import type { FirstEnrolmentRule } from '../../people/mfa/first-enrolment-rule.ts';
import type { MailLimits } from '../../people/rate-limits/mail-limits.ts';
import type { RateLimits } from '../../people/rate-limits/rate-limits.ts';
import type { SignUpCodes } from '../../people/sign-up-codes/sign-up-codes.ts';
import type { MailedLinks } from '../mailed-links/create-mailed-links.ts';
import { createLinkPage, type LinkPage, type LinkPageDependencies } from '../mailed-links/link-page.ts';
import { addNewPasswordRoutes, type NewPasswordRoutesDependencies } from '../mailed-links/new-password-routes.ts';
import { sentPage } from '../mailed-links/request-routes.ts';
import type { ReturnToSignIn } from '../mailed-links/return-to-sign-in.ts';
import { answerUniformly } from '../mailed-links/uniform-answer.ts';
import { createEmailVerification } from './email-verification.ts';
import { createInvitations, type Invitations } from './invitation.ts';
import { createSelfRegistration, type SelfRegistration } from './self-registration.ts';

export interface RegistrationDependencies {
  db: Db;
  vault: Vault;
  now: Clock;
  accounts: Accounts;
  audit: Audit;
  cookies: Cookies;
  credentials: Credentials;
  csrf: Csrf;
  factors: AccountFactors;
  firstEnrolment: FirstEnrolmentRule;
  identities: ExternalIdentities;
  mailedLinks: MailedLinks;
  mailLimits: MailLimits;
  otherSignIns: OtherSignIns;
  outbox: Outbox;
  hasMailServer: boolean;
  rateLimits: RateLimits;
  repeatedEntries: RepeatedEntries;
  settings: Settings;
  signUpCodes: SignUpCodes;
}

export type Registration = ReturnType<typeof createRegistration>;

export function createRegistration(dependencies: RegistrationDependencies) {
  const { db, vault, now, accounts, audit, cookies, credentials, csrf } = dependencies;
  const { factors, identities, mailedLinks, mailLimits, outbox, rateLimits, settings } = dependencies;
  const { accountLinks, returnToSignIn, setPasswordByLink } = mailedLinks;
  const checkCsrf = csrf.check;
  const { passwordResetByMail } = dependencies.firstEnrolment;
  const invitations = createInvitations({
    db,
    audit,
    accountLinks,
    accounts,
    credentials,
    factors,
    identities,
    outbox,
    passwordResetByMail,
    setPasswordByLink,
  });
  const emailVerification = createEmailVerification({
    db,
    now,
    audit,
    accountLinks,
    accounts,
    outbox,
    rateLimits,
    mailLimits,
  });
  const selfRegistration = createSelfRegistration({
    db,
    vault,
    now,
    audit,
    accounts,
    credentials,
    outbox,
    mailLimits,
    isOpen: () => settings.latest().self_registration,
    domains: () => settings.latest().sign_up_domains,
    needsCode: () => settings.latest().sign_up_code_required,
    codes: dependencies.signUpCodes,
    repeatedEntries: dependencies.repeatedEntries,
  });
  return {
    invitations,
    emailVerification,
    selfRegistration,
    routers: [
      invitationRoutes({ invitations, otherSignIns: dependencies.otherSignIns, cookies, rateLimits, checkCsrf }),
      selfRegistrationRoutes({
        selfRegistration,
        cookies,
        rateLimits,
        returnToSignIn,
        checkCsrf,
        hasMailServer: dependencies.hasMailServer,
      }),
    ],
  };
}

// /invitation: the owner of an account that an administrator created chooses its first password.

interface InvitationRoutesDependencies extends NewPasswordRoutesDependencies {
  invitations: Invitations;
  otherSignIns: OtherSignIns;
}

function invitationRoutes(dependencies: InvitationRoutesDependencies): Router<State, Extras> {
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

// /sign-up: users register an account of their own while the setting `self_registration` is on; 404 otherwise.
// (/register is the dynamic registration of applications, RFC 7591.)

interface SelfRegistrationRoutesDependencies extends LinkPageDependencies {
  selfRegistration: SelfRegistration;
  returnToSignIn: ReturnToSignIn;
  checkCsrf: Middleware;
  hasMailServer: boolean;
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

function selfRegistrationRoutes(dependencies: SelfRegistrationRoutesDependencies): Router<State, Extras> {
  const { selfRegistration, checkCsrf, returnToSignIn } = dependencies;
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

async function requestLink(dependencies: SelfRegistrationRoutesDependencies, ctx: Context): Promise<void> {
  const { selfRegistration, rateLimits, returnToSignIn } = dependencies;
  const { email, code } = await parseForm(ctx, requestForm);
  const needsCode = selfRegistration.needsCode();
  const reject = (field: 'email' | 'code', problem: Text) => {
    const signInUrl = returnToSignIn.next(ctx).href;
    ctx.render('registration/request', { action: '/sign-up', signInUrl, needsCode, email, code, field, problem }, 400);
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

function showSent(ctx: Context, { hasMailServer, returnToSignIn }: SelfRegistrationRoutesDependencies): void {
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
    const problem = sentences(result.faults.map((fault) => passwordAdvice(fault, false)));
    return ctx.render('registration/finish', { action: '/sign-up/finish', email, minLength, name, problem }, 400);
  }
  page.redirectToDone(ctx, '/sign-up/done');
}
