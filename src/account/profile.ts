// /account/profile: the standard claims that users set themselves. Email address and phone
// number are on pages of their own below, because they are set by proving them.

import Router from '@koa/router';
import { z } from 'zod';
import { imageLimits } from '../applications/brand/limits.ts';
import type { Context, Extras, State } from '../base/http/context.ts';
import { AppError, badRequest, forbidden, tooManyRequests } from '../base/http/errors.ts';
import type { Http } from '../base/http/http.ts';
import { acceptPictures, parseForm } from '../base/http/input.ts';
import { type Fault, faultText } from '../base/texts/faults.ts';
import { type PageText, sentences, t } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import type { SettingValues } from '../core/settings/settings.ts';
import { bytesOf, isImageData } from '../core/settings/value-schemas.ts';
import { type Account, ownedUser } from '../people/accounts/account.ts';
import { type Accounts, type Directory, MANAGED } from '../people/accounts/accounts.ts';
import type { AttributeSchema } from '../people/accounts/attributes.ts';
import { attributesTyped, fieldFault, personFields, personForm } from '../people/accounts/person-fields.ts';
import {
  addressColumn,
  addressPartNames,
  addressParts,
  languageChoices,
  languageTag,
  type ProfileText,
  profileOfTexts,
  textFieldNames,
  textFields,
  textsOf,
} from '../people/accounts/profile-fields.ts';
import { phoneNumber } from '../people/mfa/factors/phone-number.ts';
import type { People } from '../people/people.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';
import { phoneNumberRoutes } from './factors.ts';
import { addConfirmRoutes } from './mailed-links.ts';
import type { EmailRequest, EmailVerification } from './registration/email-verification.ts';
import type { SignedIn } from './rp/signed-in.ts';

const text = z.string().trim().max(2000).optional();
const acceptPicture = acceptPictures(imageLimits.requestBytes);
export const pictureForm = z.object({
  picture: z
    .string()
    .max(imageLimits.requestBytes * 2)
    .default(''),
});
type ProfileClaims = SettingValues['profile_claims'];

/** The texts of the form, in the order of the setting; picture and phone number have pages of their own. */
const namesOf = (claims: ProfileClaims): ProfileText[] =>
  claims.flatMap((claim): ProfileText[] => {
    if (claim === 'phone_number') return [];
    return claim === 'address' ? addressPartNames.map(addressColumn) : [claim];
  });

const formOf = (claims: ProfileClaims) =>
  z.object(Object.fromEntries(namesOf(claims).map((name) => [name, text])) as { [Name in ProfileText]?: typeof text });

export function profileRoutes(services: Core & People & { page: AccountPageHelpers }): Router<State, Extras> {
  const { page, accounts, personPictures, codeDelivery, settings } = services;
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: '/account/profile' });

  const show = async (ctx: Context, { given = {}, error }: { given?: Texts; error?: PageText } = {}) => {
    const { account } = signedIn.userOf(ctx);
    const isManagedByFile = account.source === 'file';
    const directory = await managerOf(account, accounts);
    const { profile_claims: claims, user_attributes: schema } = settings.latest();
    const own = personFields(schema, account.attributes, given);
    const phone = { number: account.phoneNumber, isVerified: account.phoneNumberVerified };
    ctx.render(
      'account/profile',
      {
        account,
        fields: fieldsOf(claims, { ...textsOf(account), ...given }, ctx.state.offeredLanguages().tags).map((field) => ({
          ...field,
          isLocked: isManagedByFile || isLockedBy(directory, field.name),
        })),
        ownFields: own.map((field) => ({ ...field, isLocked: field.isLocked || isManagedOwn(directory, field.name) })),
        isManagedByFile,
        directory: directory?.name,
        phone,
        hasSms: codeDelivery.hasSms() && claims.includes('phone_number'),
        // Without a way to add one, an empty section says nothing.
        hasPhone: phone.number !== null || (codeDelivery.hasSms() && claims.includes('phone_number')),
        error,
      },
      error ? 400 : 200,
    );
  };

  const showPicture = (ctx: Context, error?: PageText) => {
    const { account } = signedIn.userOf(ctx);
    const size = imageLimits.bytes / 1000;
    ctx.render(
      'account/picture',
      { account, size, isManagedByFile: account.source === 'file', error },
      error ? 400 : 200,
    );
  };

  router.get('/picture', signedIn.requireSignIn, (ctx) => showPicture(ctx));

  router.post('/picture', acceptPicture, signedIn.requireSignIn, checkChange, async (ctx) => {
    const { picture } = await parseForm(ctx, pictureForm);
    try {
      const bytes = isImageData(picture) ? bytesOf(picture) : Buffer.alloc(0);
      await personPictures.set(signedIn.userOf(ctx).account.id, bytes, page.actorOf(ctx));
    } catch (error) {
      if (!(error instanceof AppError) || error.faults.length === 0) throw error;
      return showPicture(ctx, sentences(error.faults.map((found) => faultText(found, ''))));
    }
    page.redirectWithNotice(ctx, '/account', t('picture.saved'));
  });

  router.post('/picture/remove', signedIn.requireSignIn, checkChange, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    if (account.source === 'file') throw ownedUser(account);
    await accounts.update(account.id, { picture: null }, page.actorOf(ctx));
    page.redirectWithNotice(ctx, '/account', t('picture.removed'));
  });

  router.get('/', signedIn.requireSignIn, (ctx) => show(ctx));

  router.post('/', signedIn.requireSignIn, checkChange, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    // The configuration file would restore its own value at the next start.
    if (account.source === 'file') throw ownedUser(account);
    const { profile_claims: claims, user_attributes: schema } = settings.latest();
    const typed = await parseForm(ctx, formOf(claims).extend(personForm(schema)));
    const directory = await managerOf(account, accounts);
    const given = withoutLocked(typed, account, directory);
    try {
      const attributes = (before: object) => attributesTyped(schema, { ...before }, given);
      await accounts.update(account.id, { ...profileOfTexts(given), attributes }, page.actorOf(ctx));
    } catch (error) {
      if (!(error instanceof AppError) || error.faults.length === 0) throw error;
      return await show(ctx, { given, error: sentences(error.faults.map((one) => describeFault(schema, one))) });
    }
    page.redirectWithNotice(ctx, '/account', t('profile.saved'));
  });

  return router;
}

/** The directory that manages the account by SCIM. */
async function managerOf({ id }: Account, accounts: Accounts): Promise<Directory | undefined> {
  const directory = (await accounts.directoriesOf([id])).get(id);
  return directory?.deletedAt === null ? directory : undefined;
}

/** Whether a directory manages the text with this name in the form. The parts of the address are one field. */
function isLockedBy(directory: Directory | undefined, name: string): boolean {
  const isAddress = addressPartNames.some((part) => addressColumn(part) === name);
  const field = isAddress ? 'address' : textFieldNames.find((one) => textFields[one].claim === name);
  return directory !== undefined && field !== undefined && MANAGED.includes(field);
}

const isManagedOwn = (directory: Directory | undefined, name: string): boolean =>
  directory?.attributes.some((one) => name === `attributes.${one}`) ?? false;

/**
 * What was typed, without what a directory manages. A text of it that was changed stays in: `update` rejects it (owned_by_scim, 403). An own
 * attribute is always left out: its text does not always give the stored value again (a list in lines), and an unchanged one would be rejected.
 */
function withoutLocked<Typed extends Readonly<Record<string, unknown>>>(
  typed: Typed,
  account: Account,
  directory: Directory | undefined,
): Partial<Typed> {
  const texts: Readonly<Record<string, string>> = textsOf(account);
  const isSame = (name: string, value: unknown) => String(value).replaceAll('\r\n', '\n') === texts[name]?.trim();
  const isLeftOut = ([name, value]: [string, unknown]) => {
    const isLocked = Object.hasOwn(texts, name) && isLockedBy(directory, name);
    return isManagedOwn(directory, name) || (isLocked && isSame(name, value));
  };
  const kept = Object.entries(typed).filter((one) => !isLeftOut(one));
  return Object.fromEntries(kept) as Partial<Typed>;
}

type Texts = { [Name in ProfileText]?: string | undefined } & Readonly<Record<string, unknown>>;

/** The fields as the page displays them; the language is one of `offered`, or the one that the user has. */
function fieldsOf(claims: ProfileClaims, values: Texts, offered: readonly string[]) {
  return namesOf(claims).map((name) => {
    const part = addressPartNames.find((one) => addressColumn(one) === name);
    if (part) return { ...addressParts[part], name, value: values[name] ?? '', hint: '' };
    const field = Object.values(textFields).find(({ claim }) => claim === name);
    if (!field) throw new Error(`there is no field ${name}`);
    const { label, autocomplete, hint = '' } = field;
    if (name === 'locale') {
      const value = languageTag(values[name] ?? '') ?? '';
      return { name, label, autocomplete, value, options: languageChoices(value, offered) };
    }
    return { name, label, autocomplete, lines: 1, value: values[name] ?? '', hint };
  });
}

/** `Website: This is not a web address.` */
function describeFault(schema: AttributeSchema, found: Fault): PageText {
  const [name, part] = found.path;
  if (name === 'attributes') return fieldFault(schema, found);
  const addressPart = addressPartNames.find((one) => name === 'address' && one === part);
  const textField = textFieldNames.find((one) => one === name);
  const field = (addressPart && addressParts[addressPart]) ?? (textField && textFields[textField]);
  const label = field?.label ?? String(part ?? name);
  return t('profile.fault', { label, message: faultText(found, label) });
}

const EMAIL_PATH = '/account/email';
const form = z.object({ email: z.string().max(254) });

const ERRORS: Partial<Record<EmailRequest['outcome'], PageText>> = {
  'not-an-address': t('registration.invalid-email'),
  unchanged: t('email.unchanged'),
};

export function emailRoutes(
  services: Core & People & { page: AccountPageHelpers; emailVerification: EmailVerification },
): Router<State, Extras> {
  const { page, accounts, emailVerification, mailServer } = services;
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: EMAIL_PATH });

  router.get('/', ...page.recent, (ctx) => show(ctx));

  router.post('/', ...page.changes, async (ctx) => {
    const { email } = await parseForm(ctx, form);
    if (await managerOf(signedIn.userOf(ctx).account, accounts)) throw forbidden('owned_by_scim');
    const result = await emailVerification.requestEmailChange(signedIn.userOf(ctx).account, email, page.actorOf(ctx));
    const error = ERRORS[result.outcome];
    if (error) return await show(ctx, { typed: email, error });
    answer(ctx, result, t('email.sent', { email: email.trim() }));
  });

  router.post('/verify', signedIn.requireSignIn, checkChange, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const result = await emailVerification.requestVerification(account, page.actorOf(ctx));
    answer(ctx, result, t('email.verification-sent', { email: account.email ?? '' }));
  });

  function answer(ctx: Context, result: EmailRequest, sentence: PageText): void {
    if (result.outcome === 'wait')
      throw tooManyRequests(result.retryAfterSeconds, {
        next: { href: '/account', label: t('verify-email.go-to-account') },
      });
    // The page of the address says that there is none, and whether the user can add one.
    if (result.outcome === 'no-address') page.redirectWithNotice(ctx, EMAIL_PATH);
    else if (result.outcome === 'already-verified')
      page.redirectWithNotice(ctx, '/account', t('email.already-confirmed'), 'plain');
    else if (mailServer.isSet()) page.redirectWithNotice(ctx, '/account', sentence, 'plain');
    else page.redirectWithNotice(ctx, '/account', t('email.no-server'), 'warn');
  }

  async function show(ctx: Context, { typed = '', error }: { typed?: string; error?: PageText } = {}): Promise<void> {
    const { account } = signedIn.userOf(ctx);
    const isManagedByFile = account.source === 'file';
    const directory = (await managerOf(account, accounts))?.name;
    ctx.render('account/email', { account, isManagedByFile, directory, typed, error }, error ? 400 : 200);
  }

  return router;
}

/** The phone number of the profile. */
export function profilePhoneRoutes(services: Core & People & { page: AccountPageHelpers }): Router<State, Extras> {
  const { page, accounts, codeDelivery, settings } = services;
  const { signedIn } = page;

  /** The number of an account that the configuration file or a directory manages can be verified, but not replaced. */
  const assertMaySet = async (ctx: Context, number?: string) => {
    const { account } = signedIn.userOf(ctx);
    if (number !== undefined && phoneNumber(account.phoneNumber ?? '') === number) return;
    if (account.source === 'file') throw ownedUser(account);
    if (await managerOf(account, accounts)) throw forbidden('owned_by_scim');
  };

  return phoneNumberRoutes(services, {
    path: '/account/profile/phone',
    title: t('phone.number'),
    back: { href: '/account/profile', label: t('profile.title') },
    isOffered: () => codeDelivery.hasSms() && settings.latest().profile_claims.includes('phone_number'),
    present: (ctx) => signedIn.userOf(ctx).account.phoneNumber ?? '',
    assertMaySet,
    confirm: (ctx, sealed, code) => services.mfa.phones.prove(signedIn.userOf(ctx).account.id, sealed, code),
    async done(ctx, number) {
      await confirmNumber(accounts, signedIn.userOf(ctx).account, number, page.actorOf(ctx));
      page.redirectWithNotice(ctx, '/account', t('phone.verified'));
    },
    async remove(ctx) {
      await assertMaySet(ctx);
      await accounts.update(signedIn.userOf(ctx).account.id, { phoneNumber: null }, page.actorOf(ctx));
      page.redirectWithNotice(ctx, '/account', t('phone.removed'));
    },
  });
}

/** Stores the proven number; one that the account has in another spelling stays as it is written. */
async function confirmNumber(
  accounts: Accounts,
  account: { id: string; phoneNumber: string | null },
  number: string,
  by: Parameters<Accounts['confirmPhoneNumber']>[2],
): Promise<void> {
  const { phoneNumber: stored } = account;
  const isSame = stored !== null && phoneNumber(stored) === number;
  await accounts.confirmPhoneNumber(account.id, isSame ? stored : number, by);
}

const next = { href: '/account', label: t('verify-email.go-to-account') };

export function emailVerificationRoutes(
  dependencies: Http & People & { emailVerification: EmailVerification; signedIn: SignedIn },
): Router<State, Extras> {
  const { emailVerification, signedIn } = dependencies;
  const router = new Router<State, Extras>();

  addConfirmRoutes(router, dependencies, {
    path: '/verify-email',
    next,
    requireSignIn: signedIn.requireSignIn,
    async find(token, ctx) {
      const found = await emailVerification.find(token);
      if (!found || found.userId === signedIn.userOf(ctx).account.id) return found;
      throw badRequest('link_invalid', { message: t('verify-email.other-account'), next });
    },
    describe: ({ email, isChange }) => ({
      title: isChange ? t('verify-email.use') : t('verify-email.confirm'),
      lead: isChange ? t('verify-email.use-lead') : t('verify-email.confirm-lead'),
      value: email,
      button: isChange ? t('verify-email.use-submit') : t('verify-email.confirm-submit'),
    }),
    confirm: async (ctx, token) =>
      (await emailVerification.confirm(token, signedIn.userOf(ctx).account.id, { request: ctx.state.request })) !==
      'invalid',
    doneMessage: () => ({ title: t('verify-email.done'), lead: t('verify-email.done-lead'), next }),
  });

  return router;
}
