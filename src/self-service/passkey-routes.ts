// /account/factors/passkey: passkeys and security keys are added, named and removed.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../http/context.ts';
import { parseForm } from '../http/input.ts';
import { limits } from '../limits.ts';
import type { Passkeys } from '../mfa/passkeys.ts';
import { parseAttestation } from '../mfa/webauthn-input.ts';
import type { Clock } from '../platform/clock.ts';
import type { Vault } from '../platform/vault.ts';
import type { LongPassword } from './long-password.ts';
import { FACTORS_PAGE, type NewFactor } from './new-factor.ts';
import type { OwnPage } from './page.ts';

export interface PasskeyRoutesNeeds {
  page: OwnPage;
  now: Clock;
  vault: Vault;
  passkeys: Pick<Passkeys, 'registrationOptions' | 'register' | 'rename' | 'remove'>;
  newFactor: NewFactor;
  longPassword: LongPassword;
}

const HERE = `${FACTORS_PAGE}/passkey`;
const newForm = z.object({
  response: z.string().max(20_000),
  name: z.string().max(200).default(''),
  sealed: z.string().max(1024),
});
const idForm = z.object({ id: z.string().min(1).max(1400) });
const renameForm = idForm.extend({ name: z.string().max(200) });
const kept = z.object({ challenge: z.string(), until: z.number() });

export function passkeyRoutes(needs: PasskeyRoutesNeeds): Router<State, Extras> {
  const { page, now, vault, passkeys, newFactor, longPassword } = needs;
  const { signedIn, protect } = page;
  const router = new Router<State, Extras>({ prefix: HERE });
  const changing = [signedIn.required, signedIn.recentProof, protect] as const;
  const sealContext = (userId: string) => `passkey enrolment:${userId}`;

  router.get('/', signedIn.required, signedIn.recentProof, (ctx) => show(ctx));

  router.post('/', ...changing, async (ctx) => {
    const { account } = signedIn.of(ctx);
    const { response, name, sealed } = await parseForm(ctx, newForm);
    const answer = parseAttestation(response);
    const challenge = openChallenge(account.id, sealed);
    const result =
      answer && challenge ? await passkeys.register(account, answer, { challenge, name, ...page.by(ctx) }) : undefined;
    if (result?.outcome === 'already-registered') return show(ctx, 'This passkey is already registered.');
    if (result?.outcome !== 'ok') return show(ctx, 'The passkey was not accepted. Try again.');
    await page.tell(account, 'passkey-added', ctx);
    await newFactor.added(ctx, 'The passkey was added.', sealed);
  });

  router.post('/rename', ...changing, async (ctx) => {
    const { id, name } = await parseForm(ctx, renameForm);
    await passkeys.rename(signedIn.of(ctx).account.id, id, name, page.by(ctx));
    page.back(ctx, FACTORS_PAGE, 'The passkey was renamed.');
  });

  router.post('/remove', ...changing, async (ctx) => {
    const { account } = signedIn.of(ctx);
    const { id } = await parseForm(ctx, idForm);
    if (await longPassword.isMissingWithout(account.id, { passkeyId: id })) return longPassword.ask(ctx);
    if (await passkeys.remove(account.id, id, page.by(ctx))) await page.tell(account, 'passkey-removed', ctx);
    page.back(ctx, FACTORS_PAGE, 'The passkey was removed.');
  });

  async function show(ctx: Context, problem?: string): Promise<void> {
    const { account } = signedIn.of(ctx);
    const options = await passkeys.registrationOptions(account);
    const until = now().getTime() + limits.passkey.timeoutSeconds * 1000;
    const sealed = vault.seal(JSON.stringify({ challenge: options.challenge, until }), sealContext(account.id));
    const passkey = {
      action: HERE,
      mode: 'create',
      options: JSON.stringify(options),
      sealed,
      name: 'My passkey',
      label: 'Create the passkey',
      isPrimary: true,
    };
    ctx.render('account/passkey', { passkey, problem }, problem ? 400 : 200);
  }

  function openChallenge(userId: string, sealed: string): string | undefined {
    try {
      const { challenge, until } = kept.parse(JSON.parse(vault.open(sealed, sealContext(userId)).toString()));
      return until > now().getTime() ? challenge : undefined;
    } catch {
      return undefined; // another account's, or changed on the way
    }
  }

  return router;
}
