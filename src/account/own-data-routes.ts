// /account/data: what is stored about the person, to read and to download.

import { Readable } from 'node:stream';
import Router from '@koa/router';
import type { Extras, State } from '../base/http/context.ts';
import { notFound, tooManyRequests } from '../base/http/errors.ts';
import { type PageText, t } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import type { Account } from '../people/accounts/account.ts';
import { personFields } from '../people/accounts/person-fields.ts';
import {
  addressColumn,
  addressPartNames,
  addressParts,
  textFieldNames,
  textFields,
  textsOf,
} from '../people/accounts/profile-fields.ts';
import type { People } from '../people/people.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';
import type { Deletion } from './deletion.ts';
import { OWN_DATA_FILE, type OwnData } from './own-data.ts';

const HERE = '/account/data';

export function ownDataRoutes(
  services: Core & People & { page: AccountPageHelpers; deletion: Deletion; ownData: OwnData },
): Router<State, Extras> {
  const { page, accounts, deletion, ownData, rateLimits, settings } = services;
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: HERE });
  const isRecent = [signedIn.requireSignIn, signedIn.requireRecentAuthentication] as const;

  router.get('/', ...isRecent, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const own = personFields(settings.latest().user_attributes, account.attributes);
    const sections = await ownData.sections(account);
    const { self_deletion: mayDelete, self_deletion_days: days } = settings.latest();
    const obstacle = mayDelete ? await deletion.obstacleOf(account) : undefined;
    ctx.render('account/own-data', {
      deletion: account.deleteAt || mayDelete ? { at: account.deleteAt, days, obstacle } : undefined,
      notice: page.takeNotice(ctx),
      facts: factsOf(account, own),
      sections: sections.filter(({ rows }) => rows.length > 0),
    });
  });

  router.post('/download', ...isRecent, checkChange, async (ctx) => {
    const { account } = signedIn.userOf(ctx);
    const result = await rateLimits.consume('own-data:account', account.id);
    const next = { href: HERE, label: t('own-data.title') };
    if (!result.allowed) throw tooManyRequests(result.retryAfterSeconds, { message: t('own-data.too-many'), next });
    const { type, fileName } = OWN_DATA_FILE;
    ctx.set('Cache-Control', 'no-store');
    ctx.set('Content-Disposition', `attachment; filename="${fileName}"`);
    ctx.type = type;
    ctx.body = Readable.from(await ownData.export(account, 'person', page.actorOf(ctx)));
  });

  router.post('/delete', ...isRecent, checkChange, async (ctx) => {
    if (!settings.latest().self_deletion) throw notFound();
    const obstacle = await deletion.request(signedIn.userOf(ctx).account, page.actorOf(ctx));
    page.redirectWithNotice(ctx, HERE, obstacle, 'bad');
  });

  // It takes nothing away from the person, so that an old session may do it.
  router.post('/keep', signedIn.requireSignIn, checkChange, async (ctx) => {
    await accounts.setDeletion(signedIn.userOf(ctx).account.id, null, page.actorOf(ctx));
    page.redirectWithNotice(ctx, HERE, t('deletion.kept'));
  });

  return router;
}

const CLAIMS: Readonly<Record<string, PageText>> = Object.fromEntries([
  ...textFieldNames.map((field) => [textFields[field].claim, textFields[field].label]),
  ...addressPartNames.map((part) => [addressColumn(part), addressParts[part].label]),
]);

/** The account itself: what has a value. */
function factsOf(account: Account, own: ReturnType<typeof personFields>): { label: PageText; value: PageText }[] {
  const { username, email, phoneNumber, id, termsVersion } = account;
  const facts = [
    { label: t('own-data.username'), value: username },
    { label: t('email.title'), value: email ?? '' },
    ...Object.entries(textsOf(account)).map(([name, value]) => ({ label: CLAIMS[name] ?? name, value })),
    { label: t('phone.number'), value: phoneNumber ?? '' },
    ...own.map(({ label, value, choices = [] }) => ({
      label,
      value: choices.find(({ tag }) => tag === value)?.name ?? value,
    })),
    { label: t('own-data.terms'), value: termsVersion ?? '' },
    { label: 'ID', value: id },
  ];
  return facts.filter(({ value }) => value !== '');
}
