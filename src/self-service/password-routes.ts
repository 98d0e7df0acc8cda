// /account/password: a new password, after a recent proof of the strongest factor.
import Router from '@koa/router';
import { z } from 'zod';
import type { Credentials } from '../credentials/credentials.ts';
import { minimumLength, type PasswordFault, passwordAdvice, passwordLength } from '../credentials/password-policy.ts';
import type { Context, Extras, State } from '../http/context.ts';
import { parseForm, parseQuery } from '../http/input.ts';
import type { EndSession } from '../logout/end-session.ts';
import type { Factors } from '../mfa/factors.ts';
import type { KnownBrowsers } from '../mfa/known-browsers.ts';
import type { Sessions } from '../oidc/sessions.ts';
import { LONG } from './long-password.ts';
import { FACTORS_PAGE } from './new-factor.ts';
import type { OwnPage } from './page.ts';

export interface PasswordRoutesNeeds {
  page: OwnPage;
  credentials: Pick<Credentials, 'setPassword'>;
  factors: Pick<Factors, 'hasSecondFactor'>;
  knownBrowsers: Pick<KnownBrowsers, 'endTrust'>;
  sessions: Pick<Sessions, 'list'>;
  endSession: Pick<EndSession, 'several'>;
}

/** `long`: as for an account without a second factor, because the last one is to be removed. */
const need = z.literal(LONG).optional();
const query = z.object({ need });
const form = z.object({ password: z.string().max(4096), elsewhere: z.literal('end').optional(), need });

interface Shown {
  isLong: boolean;
  problem?: string;
}

export function passwordRoutes(needs: PasswordRoutesNeeds): Router<State, Extras> {
  const { page, credentials, factors, knownBrowsers, sessions, endSession } = needs;
  const { signedIn, protect } = page;
  const router = new Router<State, Extras>({ prefix: '/account/password' });

  router.get('/', signedIn.required, signedIn.recentProof, (ctx) =>
    show(ctx, { isLong: parseQuery(ctx, query).need === LONG }),
  );

  router.post('/', signedIn.required, signedIn.recentProof, protect, async (ctx) => {
    const { account, session } = signedIn.of(ctx);
    const { password, elsewhere, need: asked } = await parseForm(ctx, form);
    const isLong = asked === LONG;
    const faults = isLong && isTooShort(password) ? (['too_short'] as const) : await change(ctx, password);
    if (faults.length > 0) {
      const hasFactor = !isLong && (await factors.hasSecondFactor(account.id));
      return show(ctx, { isLong, problem: faults.map((fault) => passwordAdvice(fault, hasFactor)).join(' ') });
    }
    await knownBrowsers.endTrust(account.id);
    if (elsewhere) {
      const uids = (await sessions.list(account.id)).map(({ uid }) => uid).filter((uid) => uid !== session.ssoUid);
      await endSession.several(uids, 'ended-by-person', page.by(ctx));
    }
    await page.tell(account, 'password-changed', ctx);
    if (isLong) page.back(ctx, FACTORS_PAGE, 'Your password was changed. Now the last second factor can be removed.');
    else page.back(ctx, '/account', 'Your password was changed.');
  });

  async function change(ctx: Context, password: string): Promise<readonly PasswordFault[]> {
    const { account } = signedIn.of(ctx);
    const result = await credentials.setPassword(account, password, { ...page.by(ctx), event: 'password.changed' });
    return result === 'ok' ? [] : result;
  }

  async function show(ctx: Context, { isLong, problem }: Shown): Promise<void> {
    const { account } = signedIn.of(ctx);
    const minLength = minimumLength(!isLong && (await factors.hasSecondFactor(account.id)));
    const shown = { username: account.username, minLength, problem, need: isLong ? LONG : undefined };
    ctx.render('account/password', shown, problem ? 400 : 200);
  }

  return router;
}

function isTooShort(password: string): boolean {
  return passwordLength(password) < minimumLength(false);
}
