// /account/factors/passkey: add, rename and remove passkeys and security keys. The challenge is carried in an encrypted
// form field.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { parseForm } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { Vault } from '../../base/platform/vault.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Passkeys } from '../../people/mfa/factors/passkeys.ts';
import { parseAttestation } from '../../people/mfa/factors/webauthn-input.ts';
import type { AccountPageHelpers } from '../account-page-helpers.ts';
import type { SingleFactorPasswordRule } from '../password/single-factor-rule.ts';
import { FACTORS_PAGE, type FactorRecoveryCodes } from './recovery-codes.ts';

export interface PasskeyRoutesDependencies {
  page: AccountPageHelpers;
  now: Clock;
  vault: Vault;
  passkeys: Passkeys;
  factorRecoveryCodes: FactorRecoveryCodes;
  singleFactorPasswordRule: SingleFactorPasswordRule;
}

const PATH = `${FACTORS_PAGE}/passkey`;
const newForm = z.object({
  response: z.string().max(20_000),
  name: z.string().max(200).default(''),
  sealed: z.string().max(1024),
});
const idForm = z.object({ id: z.string().min(1).max(1400) });
const renameForm = idForm.extend({ name: z.string().max(200) });
const sealedEnrolment = z.object({ challenge: z.string(), until: z.number() });

export function passkeyRoutes(dependencies: PasskeyRoutesDependencies): Router<State, Extras> {
  const { page, passkeys } = dependencies;
  const { signedIn, checkChange } = page;
  const router = new Router<State, Extras>({ prefix: PATH });
  const changeGuards = [signedIn.requireSignIn, signedIn.recentAuthentication, checkChange] as const;

  router.get('/', signedIn.requireSignIn, signedIn.recentAuthentication, page.mayEnrol, (ctx) =>
    showForm(dependencies, ctx),
  );
  router.post('/', ...changeGuards, page.mayEnrol, (ctx) => addPasskey(dependencies, ctx));
  router.post('/rename', ...changeGuards, async (ctx) => {
    const { id, name } = await parseForm(ctx, renameForm);
    await passkeys.rename(signedIn.userOf(ctx).account.id, id, name, page.actorOf(ctx));
    page.redirectWithNotice(ctx, FACTORS_PAGE, t('factors.renamed'));
  });
  router.post('/remove', ...changeGuards, (ctx) => removePasskey(dependencies, ctx));
  return router;
}

async function showForm(dependencies: PasskeyRoutesDependencies, ctx: Context, problem?: PageText): Promise<void> {
  const { page, passkeys } = dependencies;
  const { account } = page.signedIn.userOf(ctx);
  const options = await passkeys.registrationOptions(account);
  const passkey = {
    action: PATH,
    mode: 'create',
    options: JSON.stringify(options),
    sealed: sealChallenge(dependencies, account.id, options.challenge),
    name: t('passkey.default-name'),
    label: t('factors.create-passkey'),
    isPrimary: true,
  };
  ctx.render('account/passkey', { passkey, problem }, problem ? 400 : 200);
}

async function addPasskey(dependencies: PasskeyRoutesDependencies, ctx: Context): Promise<void> {
  const { page, passkeys, factorRecoveryCodes } = dependencies;
  const { account } = page.signedIn.userOf(ctx);
  const { response, name, sealed } = await parseForm(ctx, newForm);
  const credential = parseAttestation(response);
  const challenge = openChallenge(dependencies, account.id, sealed);
  const result =
    credential && challenge
      ? await passkeys.register(account, credential, { challenge, name, ...page.actorOf(ctx) })
      : undefined;
  if (result?.outcome === 'already-registered') return showForm(dependencies, ctx, t('enrol.passkey-exists'));
  if (result?.outcome !== 'ok') return showForm(dependencies, ctx, t('enrol.passkey-failed'));
  await page.notifyOwner(account, 'passkey-added', ctx);
  await factorRecoveryCodes.afterAdding(ctx, t('factors.passkey-done'), sealed);
}

async function removePasskey(
  { page, passkeys, singleFactorPasswordRule }: PasskeyRoutesDependencies,
  ctx: Context,
): Promise<void> {
  const { account } = page.signedIn.userOf(ctx);
  const { id } = await parseForm(ctx, idForm);
  if (await singleFactorPasswordRule.needsLongerPassword(account.id, { passkeyId: id }))
    return singleFactorPasswordRule.requireLonger(ctx);
  const isRemoved = await passkeys.remove(account.id, id, page.actorOf(ctx));
  if (isRemoved) await page.notifyOwner(account, 'passkey-removed', ctx);
  if (isRemoved) page.redirectWithNotice(ctx, FACTORS_PAGE, t('factors.passkey-removed'));
  else page.redirectWithNotice(ctx, FACTORS_PAGE, t('factors.passkey-gone'), 'warn');
}

function sealChallenge({ now, vault }: PasskeyRoutesDependencies, userId: string, challenge: string): string {
  const until = now().getTime() + limits.passkey.timeoutSeconds * 1000;
  return vault.seal(JSON.stringify({ challenge, until }), challengeAad(userId));
}

function openChallenge({ now, vault }: PasskeyRoutesDependencies, userId: string, sealed: string): string | undefined {
  try {
    const { challenge, until } = sealedEnrolment.parse(JSON.parse(vault.open(sealed, challengeAad(userId)).toString()));
    return until > now().getTime() ? challenge : undefined;
  } catch {
    return undefined; // encrypted for another account, or modified
  }
}

function challengeAad(userId: string): string {
  return `passkey enrolment:${userId}`;
}
