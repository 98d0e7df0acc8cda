// Puts together how accounts get their owners: invitations, self-registration, and the verification of email
// addresses.

import Router from '@koa/router';
import { z } from 'zod';
import type { Base } from '../../base/base.ts';
import type { Context, Extras, Middleware, State } from '../../base/http/context.ts';
import { AppError, notFound } from '../../base/http/errors.ts';
import type { Http } from '../../base/http/http.ts';
import { parseForm } from '../../base/http/input.ts';
import { withLanguage } from '../../base/http/pages/language.ts';
import { limits } from '../../base/limits.ts';
import { randomId, sha256 } from '../../base/platform/random.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import { openInTime, sealForATime } from '../../base/platform/sealed-for-a-time.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import { type PageText, sentences, type Text, t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import type { DeferredWriter } from '../../core/mail/delivery.ts';
import { recipientOf } from '../../core/mail/messages.ts';
import type { FederationServices } from '../../federation/federation-services.ts';
import type { Account } from '../../people/accounts/account.ts';
import { NEW_ACTIVITY } from '../../people/accounts/active.ts';
import { emailFault, isInDomains } from '../../people/accounts/names.ts';
import { emptyProfile } from '../../people/accounts/profile-fields.ts';
import { termsDue, termsIn } from '../../people/accounts/terms.ts';
import { openChallenge, parseAttestation, sealChallenge } from '../../people/mfa/factors/webauthn-ceremony.ts';
import type { People } from '../../people/people.ts';
import type { RecoveryCodesPages } from '../../sign-in/second-factor/recovery-codes-page.ts';
import {
  answerUniformly,
  createLinkPage,
  type LinkOutcome,
  type LinkPage,
  type MailedLinks,
  passwordForm,
  type ReturnToSignIn,
  sentPage,
} from '../mailed-links.ts';
import { createEmailVerification } from './email-verification.ts';
import { createInvitations, type Invitations } from './invitation.ts';

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
/** The version of the terms that the page displayed; another one is accepted at the sign-in that follows. */
const terms = z.string().max(100).optional();
const acceptForm = passwordForm.extend({ terms });
const passkeyForm = z.object({
  username: z.string().max(254),
  response: z.string().max(20_000),
  name: z.string().max(200).default(''),
  sealed: z.string().max(1024),
  terms,
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

  async function show(ctx: Context, account: Account, error?: PageText): Promise<void> {
    const { id, username } = account;
    // An account with credentials got them after it was invited: a passkey would be one more.
    const options = (await invitations.hasCredentials(id))
      ? undefined
      : await mfa.passkeys.registrationOptions(account, true, true);
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
    page.redirectToSignIn(ctx, result.signIn, SIGN_IN);
  });

  router.post(`${INVITATION}/passkey`, checkCsrf, async (ctx) => {
    const { token, found: account } = await page.resolve(ctx, invitations.find);
    const { username, response, name, sealed, terms } = await parseForm(ctx, passkeyForm);
    page.assertUnchanged(username, account.username);
    const answer = parseAttestation(response);
    const challenge = openChallenge(services, account.id, sealed);
    const { request } = ctx.state;
    const result =
      answer && challenge
        ? await invitations.acceptWithPasskey(token, { answer, challenge, name, terms }, request)
        : { outcome: 'wrong' as const };
    if (result.outcome === 'invalid') return page.reject(ctx);
    if (result.outcome !== 'done') {
      const isKnown = result.outcome === 'already-registered';
      return show(ctx, account, isKnown ? t('enrol.passkey-exists') : t('enrol.passkey-failed'));
    }
    const { signIn } = result;
    page.redirectToSignIn(ctx, signIn, SIGN_IN);
    const codes = await mfa.recoveryCodes.createFor(account.id, sealed, { actorId: account.id, request });
    if (codes) await recoveryCodesPages.redirect(ctx, `${INVITATION}/recovery-codes`, ownerOf(account, signIn), codes);
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

// Self-registration, while the setting `self_registration` is on. The response is the same whether the address has an
// account or not; the mail tells its owner. The account is created when the link in that mail is used, with a verified
// address: so no user can take the address of another, and no unfinished account is left in the database.
//
// The link contains the address itself, sealed, and the id of the invitation code where the setting `sign_up_code_required` demands one;
// nothing else is stored. It works once, because afterwards the address has an account. A use of the code is counted when the account is
// created. The address is also the username, because choosing a name would reveal which names are taken.

const requestForm = z.object({
  email: z.string().trim().max(254),
  code: z.string().trim().max(limits.signUpCode.maxLength).default(''),
});
/** A new account, once its address is proven. */
export const finishForm = z.object({
  username: z.string().max(254),
  name: z.string().max(200),
  password: z.string().max(4096),
  terms,
});

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
  const reject = (field: 'email' | 'code', error: Text) => {
    const signInUrl = returnToSignIn.continueLink(ctx).href;
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
  await answerUniformly(ctx, { rateLimits, sql, policy: 'registration:address' }, { work, page: '/sign-up/sent' });
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

type SelfRegistration = ReturnType<typeof createSelfRegistration>;

/** What the form asks for; `terms`: the version that the person accepts with it. */
interface SignUp {
  name: string;
  password: string;
  terms?: string | undefined;
}

/** What the link in the mail contains. */
const signUpLink = z.object({ email: z.string(), codeId: z.string().optional() });

type SignUpLink = z.output<typeof signUpLink>;

const CONTEXT = 'registration link';
const { hours } = limits.emailVerification;

function createSelfRegistration(services: Core & People) {
  const { db, accounts, outbox, mailLimits, signUpCodes: codes, repeatedEntries, settings } = services;
  const isOpen = () => settings.latest().self_registration;
  const accepts = (email: string) => isInDomains(email, settings.latest().sign_up_domains);
  return {
    isOpen,
    /** Whether accounts with this address may be created: it is in one of the domains of the settings. */
    accepts,

    /** Whether an account takes an invitation code. */
    needsCode: () => settings.latest().sign_up_code_required,

    /** The id of a usable invitation code; undefined, and an entry in the audit log, for any other. */
    async checkCode(typed: string, request: RequestInfo): Promise<string | undefined> {
      const found = await codes.find(typed);
      if ('code' in found) return found.code.id;
      const reason = found.fault === 'unknown' ? 'unknown_code' : found.fault;
      await repeatedEntries.record({ type: 'sign-up-code.rejected', outcome: 'failure', reason, request });
      return undefined;
    },

    /** Stores the request for an account with this address. */
    request: (typed: string, codeId: string | undefined, request: RequestInfo): Promise<void> =>
      outbox.defer('registration', { typed, request, codeId }, hours * 3600),

    writeMail: (async ({ typed, request, codeId }, claim) => {
      const email = typed.normalize('NFC').trim();
      const account = await accounts.findByLogin(email);
      const { allowed } = await mailLimits.to(email, 'registration');
      await transaction(db, async (tx) => {
        if (!(await claim(tx)) || !allowed || !isOpen() || !accepts(email)) return;
        const owner = account?.isActive ? recipientOf(account, request) : undefined;
        if (owner) await outbox.send({ kind: 'already-registered', to: owner }, tx);
        if (account) return;
        const token = sealForATime(services, CONTEXT, { email, codeId }, hours * 3600);
        await outbox.send(
          {
            kind: 'registration',
            to: { email, pageLanguage: request?.language, application: request?.application },
            token,
            hours,
          },
          tx,
        );
      });
    }) satisfies DeferredWriter,

    /** The address of a usable link. */
    find: async (token: string): Promise<string | undefined> => (await findSignUpLink(services, token))?.email,
    /** Creates the account with its password. */
    finish: (token: string, input: SignUp, request: RequestInfo): Promise<LinkOutcome> =>
      finish(services, token, input, request),
  };
}

async function finish(
  services: Core & People,
  token: string,
  { name, password, terms }: SignUp,
  request: RequestInfo,
): Promise<LinkOutcome> {
  const { db, settings, signUpCodes: codes } = services;
  const needsCode = settings.latest().sign_up_code_required;
  const link = await findSignUpLink(services, token);
  if (!link) return { outcome: 'invalid' };
  const { email, codeId } = link;
  const prepared = await prepareRegistration(services, { email, name, password, terms }, request);
  if (prepared.outcome === 'rejected') return prepared;
  try {
    return await transaction(db, async (tx) => {
      const code = needsCode && codeId !== undefined ? await codes.use(codeId, tx) : undefined;
      if (needsCode && !code) return { outcome: 'invalid' };
      await prepared.store(tx, code && { codeId: code.id, codeName: code.name });
      return { outcome: 'done' };
    });
  } catch (error) {
    // The form was sent twice: the unique address lets one request through.
    if (error instanceof AppError && error.status === 409) return { outcome: 'invalid' };
    throw error;
  }
}

/** An account with an address that a mailed link has proven, which is its username too; `store` creates it with its password. */
export async function prepareRegistration(
  { accounts, audit, credentials, now }: Core & People,
  { email, name, password, terms }: SignUp & { email: string },
  request: RequestInfo,
) {
  const id = randomId();
  const proof = { emailVerified: true, emailProven: true };
  const profile = { username: email, email, ...proof, name: name.trim() || null };
  const by = { actorId: id, request };
  const prepared = await credentials.preparePassword(draftAccount(id, profile, now()), password, by);
  if (prepared.outcome === 'rejected') return { outcome: 'rejected' as const, faults: prepared.faults };
  return {
    outcome: 'ready' as const,
    id,
    async store(tx: Tx, data?: Record<string, unknown>): Promise<void> {
      await accounts.create({ id, ...profile }, by, tx);
      await prepared.store(tx);
      if (terms) await accounts.acceptTerms(id, terms, by, tx);
      await audit.record({ ...by, type: 'account.registered', outcome: 'success', subjectId: id, data }, tx);
    },
  };
}

/** The content of a usable link: registration is open for its address, which has no account, and its code can be used. */
async function findSignUpLink(services: Core & People, token: string): Promise<SignUpLink | undefined> {
  const { accounts, settings, signUpCodes: codes } = services;
  const { self_registration: isOpen, sign_up_code_required: needsCode, sign_up_domains: domains } = settings.latest();
  const link = isOpen ? openInTime(services, CONTEXT, signUpLink, token) : undefined;
  if (!link || !isInDomains(link.email, domains)) return undefined;
  const { email, codeId } = link;
  if (needsCode && (codeId === undefined || !(await codes.isUsable(codeId)))) return undefined;
  return (await accounts.findByLogin(email)) ? undefined : link;
}

/** The account before it is stored, for the password rules. */
function draftAccount(
  id: string,
  profile: Pick<Account, 'username' | 'email' | 'emailVerified' | 'emailProven' | 'name'>,
  at: Date,
): Account {
  return {
    ...emptyProfile,
    ...profile,
    id,
    attributes: {},
    ssoId: null,
    ...NEW_ACTIVITY,
    source: 'local',
    termsVersion: null,
    termsAcceptedAt: null,
    deleteAt: null,
    createdAt: at,
    updatedAt: at,
    lastSeenAt: at,
    roles: [],
    permissions: [],
    groups: [],
  };
}
