// /account/factors: the list of second factors, the authenticator app and the recovery codes. Every change demands a
// recent proof and sends a notice by mail.

import Router from '@koa/router';
import { z } from 'zod';
import type { Base } from '../base/base.ts';
import type { Context, Extras, Middleware, State } from '../base/http/context.ts';
import { notFound, tooManyRequests } from '../base/http/errors.ts';
import { parseForm } from '../base/http/input.ts';
import { limits } from '../base/limits.ts';
import type { Tx } from '../base/storage/database.ts';
import { type PageLink, type PageText, t } from '../base/texts/text.ts';
import type { CodeOutcome } from '../people/mfa/factors/one-time-codes.ts';
import { maskNumber, phoneNumber } from '../people/mfa/factors/phone-number.ts';
import type { RecoveryCodes } from '../people/mfa/factors/recovery-codes.ts';
import { openChallenge, parseAttestation, sealChallenge } from '../people/mfa/factors/webauthn-ceremony.ts';
import { hasSecondFactor } from '../people/mfa/policy.ts';
import type { People } from '../people/people.ts';
import type { RpSessions } from '../protocols/oidc/store/sessions/rp-sessions.ts';
import type { RecoveryCodesPages } from '../sign-in/second-factor/recovery-codes-page.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';

// Recovery codes on the account pages: they come with the first second factor, and can be made again.

export const FACTORS_PAGE = '/account/factors';
/** The path of the page with new codes; the value of the stored page follows. */
const CODES_PAGE = `${FACTORS_PAGE}/recovery-codes`;

type FactorRecoveryCodes = ReturnType<typeof createFactorRecoveryCodes>;

export function createFactorRecoveryCodes(dependencies: {
  page: AccountPageHelpers;
  recoveryCodes: RecoveryCodes;
  recoveryCodesPages: RecoveryCodesPages;
}) {
  const { page, recoveryCodes, recoveryCodesPages } = dependencies;
  const { signedIn } = page;
  const ownerOf = (ctx: Context) => {
    const { account, session } = signedIn.userOf(ctx);
    return { userId: account.id, session: session.ssoUid };
  };

  return {
    /** Makes new codes and redirects to their page. */
    async makeNew(ctx: Context): Promise<void> {
      const codes = await recoveryCodes.create(signedIn.userOf(ctx).account.id, page.actorOf(ctx));
      await recoveryCodesPages.redirect(ctx, CODES_PAGE, ownerOf(ctx), codes);
    },

    /**
     * After a second factor was added: redirects to the codes that come with the first one, otherwise to the list of factors with
     * `sentence`. The codes are derived from `enrolment`, the sealed value of the form.
     */
    async afterAdding(ctx: Context, sentence: PageText, enrolment: string): Promise<void> {
      const codes = await recoveryCodes.createFor(signedIn.userOf(ctx).account.id, enrolment, page.actorOf(ctx));
      if (codes) return recoveryCodesPages.redirect(ctx, CODES_PAGE, ownerOf(ctx), codes);
      page.redirectWithNotice(ctx, FACTORS_PAGE, sentence);
    },

    /** The page of stored codes. */
    async show(ctx: Context, value: string): Promise<void> {
      const { account } = signedIn.userOf(ctx);
      await recoveryCodesPages.show(ctx, { account, owner: ownerOf(ctx), value, continueUrl: FACTORS_PAGE });
    },
  };
}

type FactorPages = Base &
  People & { page: AccountPageHelpers; rpSessions: RpSessions; factorRecoveryCodes: FactorRecoveryCodes };

const codeForm = z.object({ code: z.string().max(64), sealed: z.string().max(1024) });

export function factorRoutes(services: FactorPages): Router<State, Extras> {
  const { page, codeDelivery, rateLimits, rpSessions, factorRecoveryCodes } = services;
  const { factors, passkeys, totp } = services.mfa;
  const { signedIn, recent, changes } = page;
  const router = new Router<State, Extras>({ prefix: FACTORS_PAGE });

  router.get('/', signedIn.requireSignIn, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const own = await factors.of(account.id);
    ctx.render('account/factors', {
      hasTotp: own.totp,
      passkeys: await passkeys.list(account.id),
      canAddPasskey: own.passkeys < limits.passkey.maxPerUser,
      offersSms: codeDelivery.hasSms(),
      phone: own.phone && maskNumber(own.phone),
      recoveryCodes: own.recoveryCodes,
      hasFewCodes: own.recoveryCodes < limits.recoveryCodes.warnBelow,
      hasFactor: hasSecondFactor(own) || own.phone !== undefined,
      notice: page.takeNotice(ctx),
    });
  });

  router.get('/app', ...recent, page.mayEnrol, (ctx) => showApp(ctx));
  router.post('/app', ...changes, page.mayEnrol, async (ctx) => {
    const { account, session } = signedIn.userOf(ctx);
    const { code, sealed } = await parseForm(ctx, codeForm);
    const decision = await rateLimits.consume('code:account', account.id);
    if (!decision.allowed) throw tooManyRequests(decision.retryAfterSeconds);
    const outcome = await totp.confirm(account, sealed, code, page.actorOf(ctx));
    if (outcome === 'wrong') return showApp(ctx, t('enrol.wrong-code'), sealed);
    if (outcome === 'expired') return showApp(ctx, t('enrol.expired'));
    await rateLimits.reset('code:account', account.id);
    if (outcome === 'ok') {
      // This code cannot be used again. Without this, adding another factor next would demand a new code.
      await rpSessions.addProof(session, ['otp']);
      await page.notifyOwner(account, 'totp-added', ctx);
    }
    await factorRecoveryCodes.afterAdding(ctx, t('factors.app-done'), sealed);
  });
  router.post('/app/remove', ...changes, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    if (await requiresLongerPassword(services, ctx, { totp: true })) return;
    const isRemoved = await totp.remove(account.id, page.actorOf(ctx));
    if (isRemoved) await page.notifyOwner(account, 'totp-removed', ctx);
    if (isRemoved) page.redirectWithNotice(ctx, FACTORS_PAGE, t('factors.app-removed'));
    else page.redirectWithNotice(ctx, FACTORS_PAGE, t('factors.app-gone'), 'warn');
  });

  router.post('/recovery-codes', ...changes, async (ctx) => {
    await page.notifyOwner(signedIn.userOf(ctx).account, 'recovery-codes-created', ctx);
    await factorRecoveryCodes.makeNew(ctx);
  });
  router.get('/recovery-codes/:value', signedIn.requireSignIn, (ctx) =>
    factorRecoveryCodes.show(ctx, ctx.params.value ?? ''),
  );
  return router;

  /** The QR code of a new authenticator app, or after a rejected form that of the same one (`sealed`). */
  async function showApp(ctx: Context, error?: PageText, sealed?: string): Promise<void> {
    const { account } = signedIn.userOf(ctx);
    const enrolment = (sealed ? totp.resume(account, sealed) : undefined) ?? totp.begin(account);
    const { qrCode } = await import('../base/http/pages/qr-code.ts');
    const view = { action: `${FACTORS_PAGE}/app`, ...enrolment, qr: await qrCode(enrolment.uri), error };
    ctx.render('account/authenticator-app', view, error ? 400 : 200);
  }
}

const PASSKEY_PATH = `${FACTORS_PAGE}/passkey`;
const newForm = z.object({
  response: z.string().max(20_000),
  name: z.string().max(200).default(''),
  sealed: z.string().max(1024),
});
const idForm = z.object({ id: z.string().min(1).max(1400) });
const renameForm = idForm.extend({ name: z.string().max(200) });

export function passkeyRoutes(services: FactorPages): Router<State, Extras> {
  const { page, rpSessions, factorRecoveryCodes } = services;
  const { passkeys } = services.mfa;
  const { signedIn, recent, changes } = page;
  const router = new Router<State, Extras>({ prefix: PASSKEY_PATH });

  router.get('/', ...recent, page.mayEnrol, (ctx) => show(ctx));
  router.post('/', ...changes, page.mayEnrol, async (ctx) => {
    const { account, session } = signedIn.userOf(ctx);
    const { response, name, sealed } = await parseForm(ctx, newForm);
    const credential = parseAttestation(response);
    const challenge = openChallenge(services, account.id, sealed);
    let proven: readonly string[] = [];
    const inTransaction = async (_tx: Tx, amr: readonly string[]) => {
      proven = amr;
    };
    const result =
      credential && challenge
        ? await passkeys.register(account, credential, { challenge, name, inTransaction, ...page.actorOf(ctx) })
        : undefined;
    if (result?.outcome === 'already-registered') return show(ctx, t('enrol.passkey-exists'));
    if (result?.outcome !== 'ok') return show(ctx, t('enrol.passkey-failed'));
    // Without this, the next sensitive change would demand the passkey that was used just now.
    await rpSessions.addProof(session, proven);
    await page.notifyOwner(account, 'passkey-added', ctx);
    await factorRecoveryCodes.afterAdding(ctx, t('factors.passkey-done'), sealed);
  });
  router.post('/rename', ...changes, async (ctx) => {
    const { id, name } = await parseForm(ctx, renameForm);
    await passkeys.rename(signedIn.userOf(ctx).account.id, id, name, page.actorOf(ctx));
    page.redirectWithNotice(ctx, FACTORS_PAGE, t('factors.renamed'));
  });
  router.post('/remove', ...changes, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const { id } = await parseForm(ctx, idForm);
    if (await requiresLongerPassword(services, ctx, { passkeyId: id })) return;
    const isRemoved = await passkeys.remove(account.id, id, page.actorOf(ctx));
    if (isRemoved) await page.notifyOwner(account, 'passkey-removed', ctx);
    if (isRemoved) page.redirectWithNotice(ctx, FACTORS_PAGE, t('factors.passkey-removed'));
    else page.redirectWithNotice(ctx, FACTORS_PAGE, t('factors.passkey-gone'), 'warn');
  });
  return router;

  async function show(ctx: Context, error?: PageText): Promise<void> {
    const { account } = signedIn.userOf(ctx);
    const options = await passkeys.registrationOptions(account);
    const passkey = {
      action: PASSKEY_PATH,
      mode: 'create',
      options: JSON.stringify(options),
      sealed: sealChallenge(services, account.id, options.challenge),
      name: t('passkey.default-name'),
      label: t('factors.create-passkey'),
      isPrimary: true,
    };
    ctx.render('account/passkey', { passkey, error }, error ? 400 : 200);
  }
}

/** A number for codes by text message. */
export function phoneRoutes(services: FactorPages): Router<State, Extras> {
  const { page, accounts, codeDelivery, factorRecoveryCodes, rpSessions } = services;
  const { phones } = services.mfa;
  const { signedIn } = page;

  return phoneNumberRoutes(services, {
    path: `${FACTORS_PAGE}/phone`,
    back: { href: FACTORS_PAGE, label: t('factors.back') },
    mayOpen: page.mayEnrol,
    isOffered: codeDelivery.hasSms,
    confirm: (ctx, sealed, code) => phones.confirm(signedIn.userOf(ctx).account.id, sealed, code, page.actorOf(ctx)),
    async done(ctx, number, sealed) {
      const { account, session } = signedIn.userOf(ctx);
      // The number in the profile is the same, so it is proven too.
      if (account.phoneNumber && phoneNumber(account.phoneNumber) === number)
        await accounts.confirmPhoneNumber(account.id, account.phoneNumber, page.actorOf(ctx));
      await rpSessions.addProof(session, ['sms']);
      await page.notifyOwner(account, 'phone-changed', ctx);
      await factorRecoveryCodes.afterAdding(ctx, t('factors.sms-done'), sealed);
    },
    async remove(ctx) {
      const { account } = signedIn.userOf(ctx);
      const isRemoved = await phones.remove(account.id, page.actorOf(ctx));
      if (isRemoved) await page.notifyOwner(account, 'phone-changed', ctx);
      if (isRemoved) page.redirectWithNotice(ctx, FACTORS_PAGE, t('phone.removed'));
      else page.redirectWithNotice(ctx, FACTORS_PAGE, t('phone.none'), 'warn');
    },
  });
}

const numberForm = z.object({ phone: z.string().max(40) });

/** The pages on which a phone number is proven by a code that is sent to it. */
export function phoneNumberRoutes(
  { page, codeDelivery, rateLimits, mfa: { phones } }: People & { page: AccountPageHelpers },
  description: {
    path: string;
    /** Absent: that of the second factor. */
    title?: PageText;
    back: PageLink;
    mayOpen?: Middleware;
    isOffered(): boolean;
    /** In the form before another one is typed. */
    present?(ctx: Context): string;
    /** Throws where the account may not have this number. */
    assertMaySet?(ctx: Context, number: string): Promise<void>;
    confirm(ctx: Context, sealed: string, code: string): Promise<CodeOutcome>;
    done(ctx: Context, number: string, sealed: string): Promise<void>;
    remove(ctx: Context): Promise<void>;
  },
): Router<State, Extras> {
  const { path, title, back, mayOpen = (_ctx, next) => next(), present = () => '' } = description;
  const { isOffered, assertMaySet, confirm, done, remove } = description;
  const { signedIn, recent, changes } = page;
  const router = new Router<State, Extras>({ prefix: path });

  router.get('/', ...recent, mayOpen, (ctx) => {
    if (!isOffered()) throw notFound();
    show(ctx);
  });

  router.post('/', ...changes, mayOpen, async (ctx) => {
    if (!isOffered()) throw notFound();
    const { phone: typed } = await parseForm(ctx, numberForm);
    const number = phoneNumber(typed);
    if (!number) return show(ctx, { number: typed, error: t('phone.invalid') });
    await assertMaySet?.(ctx, number);
    const result = await codeDelivery.sendToNewNumber(signedIn.userOf(ctx).account, number, ctx.state.request);
    if (result.outcome === 'wait') throw tooManyRequests(result.retryAfterSeconds, { next: back });
    const error = t('phone.not-sent');
    if (result.outcome === 'failed' || !result.sealed) return show(ctx, { number: typed, error }, 502);
    show(ctx, { number, sealed: result.sealed });
  });

  router.post('/confirm', ...changes, mayOpen, async (ctx) => {
    const { id } = signedIn.userOf(ctx).account;
    const { code, sealed } = await parseForm(ctx, codeForm);
    const decision = await rateLimits.consume('code:account', id);
    if (!decision.allowed) throw tooManyRequests(decision.retryAfterSeconds, { next: back });
    const number = phones.resume(id, sealed);
    const outcome = await confirm(ctx, sealed, code);
    if (outcome === 'wrong' && number) return show(ctx, { number, sealed, error: t('phone.wrong-code') });
    if (outcome !== 'ok' || !number) return show(ctx, { error: t('second-factor.expired-code') });
    await assertMaySet?.(ctx, number);
    await rateLimits.reset('code:account', id);
    await done(ctx, number, sealed);
  });

  router.post('/remove', ...changes, remove);
  return router;

  function show(ctx: Context, form: { number?: string; sealed?: string; error?: PageText } = {}, status = 200): void {
    const { number = present(ctx), sealed, error } = form;
    const sentTo = sealed && maskNumber(number);
    const view = { action: path, number, sealed, sentTo, error, ...(title && { title, back }) };
    ctx.render('account/phone', view, error ? Math.max(status, 400) : 200);
  }
}

/**
 * Redirects to the form for a longer password, when it is too short to be the only factor once this factor is removed: at least 15
 * characters (NIST SP 800-63B-4 section 3.1.1.2).
 */
async function requiresLongerPassword(
  { page, credentials, mfa: { factors } }: FactorPages,
  ctx: Context,
  removed: { totp: true } | { passkeyId: string },
): Promise<boolean> {
  const { id } = page.signedIn.userOf(ctx).account;
  const status = await credentials.status(id);
  if (status === undefined || status.long || !(await factors.isLast(id, removed))) return false;
  page.redirectWithNotice(ctx, `/account/password?need=${SINGLE_FACTOR_LENGTH}`);
  return true;
}

/** Value of the parameter `need` of the password page: the length that applies without a second factor. */
export const SINGLE_FACTOR_LENGTH = 'long';
