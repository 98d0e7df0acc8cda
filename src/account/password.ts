// /account/password: change the password, after a recent proof with the strongest factor. Password managers find it at
// /.well-known/change-password (W3C, A Well-Known URL for Changing Passwords).

import Router from '@koa/router';
import { z } from 'zod';
import type { ApplicationServices } from '../applications/application-services.ts';
import { type Context, type Extras, type State, seeOther } from '../base/http/context.ts';
import { tooManyRequests } from '../base/http/errors.ts';
import type { Http } from '../base/http/http.ts';
import { parseForm, parseJson, parseQuery } from '../base/http/input.ts';
import { type PageText, sentences, t } from '../base/texts/text.ts';
import type { Links } from '../federation/links.ts';
import { type PasswordFault, passwordLength } from '../people/credentials/password-policy.ts';
import type { Strength } from '../people/credentials/strength.ts';
import type { People } from '../people/people.ts';
import type { SessionServices } from '../protocols/logout/session-services.ts';
import type { AccountPageHelpers } from './account-page-helpers.ts';
import { FACTORS_PAGE, SINGLE_FACTOR_LENGTH } from './factors.ts';

const PATH = '/account/password';

/** The user wants to remove the last second factor, and needs a password that is long enough without it. */
const need = z.literal(SINGLE_FACTOR_LENGTH).optional();
const query = z.object({ need });
const form = z.object({ password: z.string().max(4096), elsewhere: z.literal('end').optional(), need });

interface FormState {
  /** The password has to be long enough to be the only factor. */
  isOnlyFactor: boolean;
  error?: PageText;
}

export function passwordRoutes(
  dependencies: People & ApplicationServices & SessionServices & { page: AccountPageHelpers; links: Links },
): Router<State, Extras> {
  const { page, appPasswords, credentials, endSession, links } = dependencies;
  const { factors, knownBrowsers } = dependencies.mfa;
  const { signedIn } = page;
  const router = new Router<State, Extras>();

  router.get('/.well-known/change-password', (ctx) => {
    seeOther(ctx, PATH);
  });

  router.get(PATH, ...page.recent, (ctx) =>
    show(ctx, { isOnlyFactor: parseQuery(ctx, query).need === SINGLE_FACTOR_LENGTH }),
  );

  router.post(PATH, ...page.changes, async (ctx) => {
    const { account, session } = signedIn.userOf(ctx);
    if ((await links.directoryWithPassword(account.id)) !== undefined) return show(ctx, { isOnlyFactor: false });
    const { password, elsewhere, need: requested } = await parseForm(ctx, form);
    const isOnlyFactor = requested === SINGLE_FACTOR_LENGTH;
    const faults = await change(ctx, password, isOnlyFactor);
    if (faults.length > 0) {
      const hasFactor = !isOnlyFactor && (await factors.hasSecondFactor(account.id));
      return show(ctx, {
        isOnlyFactor,
        error: sentences(faults.map((fault) => credentials.advice(fault, hasFactor))),
      });
    }
    await knownBrowsers.endTrust(account.id);
    if (elsewhere) await endSession.everywhere(account.id, { ...page.actorOf(ctx), except: session.ssoUid });
    await page.notifyOwner(account, 'password-changed', ctx);
    if (isOnlyFactor) page.redirectWithNotice(ctx, FACTORS_PAGE, t('change-password.done-longer'));
    else page.redirectWithNotice(ctx, '/account', t('change-password.done'));
  });

  /** Stores the password; returns why it is not accepted. */
  async function change(ctx: Context, password: string, isOnlyFactor: boolean): Promise<readonly PasswordFault[]> {
    if (isOnlyFactor && passwordLength(password) < credentials.minimumLength(false)) return ['too_short'];
    const { account } = signedIn.userOf(ctx);
    const result = await credentials.setPassword(account, password, {
      ...page.actorOf(ctx),
      event: 'password.changed',
    });
    return result === 'ok' ? [] : result;
  }

  async function show(ctx: Context, { isOnlyFactor, error }: FormState): Promise<void> {
    const { account } = signedIn.userOf(ctx);
    const directory = await links.directoryWithPassword(account.id);
    if (directory !== undefined) return ctx.render('account/password-in-directory', { directory });
    const minLength = credentials.minimumLength(!isOnlyFactor && (await factors.hasSecondFactor(account.id)));
    const form = {
      username: account.username,
      minLength,
      error,
      endsAppPasswords: (await appPasswords.list(account.id)).length > 0,
      need: isOnlyFactor ? SINGLE_FACTOR_LENGTH : undefined,
    };
    ctx.render('account/password', form, error ? 400 : 200);
  }

  return router;
}

const body = z.object({
  password: z.string().min(1).max(4096),
  known: z.array(z.string().max(254)).max(5).default([]),
  missing: z.number().int().min(0).max(256).default(0),
});

export function strengthRoutes({ strengthMeter, serviceNames, rateLimits, csrf: { check: checkCsrf } }: Http & People) {
  const router = new Router<State, Extras>();

  router.post('/password-strength', checkCsrf, async (ctx) => {
    const decision = await rateLimits.consume('strength:address', { address: ctx.state.request.address });
    if (!decision.allowed) throw tooManyRequests(decision.retryAfterSeconds);
    const { password, known, missing } = await parseJson(ctx, body);
    ctx.set('Cache-Control', 'no-store');
    const strength = await strengthMeter.estimate(password, [...known, ...serviceNames()]);
    // What is too short is not accepted, however hard to guess it is.
    const score = missing > 0 ? t('strength.missing', { count: missing }) : t(`strength.${keyOf(strength.label)}`);
    const answer = { ...strength, text: sentences([score, ...strength.advice.slice(0, 1)]) };
    ctx.body = ctx.state.inWords(() => JSON.stringify(answer));
    ctx.type = 'json';
  });

  return router;
}

const keyOf = (label: Strength['label']) => (label === 'very weak' ? 'very-weak' : label);
