// /account/profile: the standard claims that users set themselves. The phone number is on a page of its own, because it is
// set by proving it (phone-routes.ts).

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { AppError, type FieldFault, forbidden } from '../../base/http/errors.ts';
import { parseForm } from '../../base/http/input.ts';
import { type PageText, sentences, t } from '../../base/texts/text.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import {
  addressColumn,
  addressPartNames,
  addressParts,
  languageChoices,
  languageTag,
  type ProfileText,
  profileOfTexts,
  textClaims,
  textFieldNames,
  textFields,
  textsOf,
} from '../../people/accounts/profile-fields.ts';
import type { CodeDelivery } from '../../people/mfa/factors/code-delivery.ts';
import type { AccountPageHelpers } from '../account-page-helpers.ts';

export interface ProfileRoutesDependencies {
  page: AccountPageHelpers;
  accounts: Accounts;
  codeDelivery: CodeDelivery;
}

const text = z.string().trim().max(2000).optional();
const names: ProfileText[] = [...textClaims, ...addressPartNames.map(addressColumn)];
const profileForm = z.object(Object.fromEntries(names.map((name) => [name, text])) as Record<ProfileText, typeof text>);

export function profileRoutes({ page, accounts, codeDelivery }: ProfileRoutesDependencies): Router<State, Extras> {
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: '/account/profile' });

  const show = (ctx: Context, { given = {}, problem }: { given?: Texts; problem?: PageText } = {}) => {
    const { account } = signedIn.userOf(ctx);
    const isManagedByFile = account.source === 'file';
    const phone = { number: account.phoneNumber, isVerified: account.phoneNumberVerified };
    ctx.render(
      'account/profile',
      {
        fields: fieldsOf({ ...textsOf(account), ...given }, ctx.state.offeredLanguages().tags),
        isManagedByFile,
        phone,
        hasSms: codeDelivery.hasSms(),
        problem,
      },
      problem ? 400 : 200,
    );
  };

  router.get('/', signedIn.requireSignIn, (ctx) => show(ctx));

  router.post('/', signedIn.requireSignIn, checkChange, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    // The configuration file would restore its own value at the next start.
    if (account.source === 'file') throw forbidden('owned_by_file');
    const given = await parseForm(ctx, profileForm);
    try {
      await accounts.update(account.id, profileOfTexts(given), page.actorOf(ctx));
    } catch (error) {
      if (!(error instanceof AppError) || error.fields.length === 0) throw error;
      return show(ctx, { given, problem: sentences(error.fields.map(describeFault)) });
    }
    page.redirectWithNotice(ctx, '/account', t('profile.saved'));
  });

  return router;
}

type Texts = { [Name in ProfileText]?: string | undefined };

/** The fields as the page displays them; the language is one of `offered`, or the one that the user has. */
function fieldsOf(values: Texts, offered: readonly string[]) {
  const texts = textFieldNames.map((field) => {
    const { claim: name, label, autocomplete, ...rest } = textFields[field];
    if (field === 'locale') {
      const value = languageTag(values[name] ?? '') ?? '';
      return { name, label, autocomplete, value, options: languageChoices(value, offered) };
    }
    return { name, label, autocomplete, lines: 1, value: values[name] ?? '', hint: 'hint' in rest ? rest.hint : '' };
  });
  const parts = addressPartNames.map((part) => {
    const name = addressColumn(part);
    return { ...addressParts[part], name, value: values[name] ?? '', hint: '' };
  });
  return [...texts, ...parts];
}

/** `Website: This is not a web address.` */
function describeFault({ field, message }: FieldFault): PageText {
  const part = addressPartNames.find((one) => field === `address.${one}`);
  const text = textFieldNames.find((one) => one === field);
  const label = part ? addressParts[part].label : text ? textFields[text].label : field;
  return t('profile.fault', { label, message });
}
