// The pages that request a mailed link for a username or email address: the form, and the same answer for every name.
// For password resets and for unlocking an account.

import { setTimeout as sleep } from 'node:timers/promises';
import type Router from '@koa/router';
import { z } from 'zod';
import type { Base } from '../../base/base.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { tooManyRequests } from '../../base/http/errors.ts';
import type { Http } from '../../base/http/http.ts';
import { parseForm } from '../../base/http/input.ts';
import { withLanguage } from '../../base/http/pages/language.ts';
import { limits } from '../../base/limits.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import { assertMayStore } from '../../base/storage/request-scope.ts';
import { type PageLink, type PageText, t } from '../../base/texts/text.ts';
import type { People } from '../../people/people.ts';
import type { PolicyName } from '../../people/rate-limits/policies.ts';
import type { RateLimits } from '../../people/rate-limits/rate-limits.ts';
import type { ReturnToSignIn } from './return-to-sign-in.ts';

export interface RequestRoutesOptions {
  path: string;
  /** The path of the page after the form. */
  sentPath: string;
  texts: { title: PageText; lead: PageText };
  /** `browser`: the cookie of a known browser, which has a rate limit of its own. */
  request(login: string, request: RequestInfo, browser: string | undefined): Promise<void>;
  /** The page after the form, the same for every name. */
  sent(ctx: Context): { lead: PageText; hint: PageText; other: PageLink };
}

/** After the form: an email is queued. Without a mail server, the page says so; that is the same for every name. */
export function sentPage(
  texts: { lead: PageText; hint: PageText; other: PageLink },
  hasMailServer: boolean,
  { href }: PageLink,
) {
  if (hasMailServer) return { title: t('mailed-link.sent'), ...texts };
  return {
    title: t('mailed-link.not-sent'),
    lead: t('email.no-server'),
    other: { href, label: t('mailed-link.back') },
  };
}

const requestForm = z.object({ username: z.string().trim().min(1).max(254) });

export function addRequestRoutes(
  router: Router<State, Extras>,
  {
    cookies,
    rateLimits,
    returnToSignIn,
    csrf: { check: checkCsrf },
    config: { hasMailServer },
  }: Base & Http & People & { returnToSignIn: ReturnToSignIn },
  { path, sentPath, texts, request, sent }: RequestRoutesOptions,
): void {
  router.get(path, returnToSignIn.note, (ctx) => {
    const back = returnToSignIn.back(ctx);
    ctx.render('mailed-links/request', { ...texts, action: path, button: t('mailed-link.send'), back });
  });

  router.post(path, returnToSignIn.about, checkCsrf, async (ctx) => {
    const { username } = await parseForm(ctx, requestForm);
    const work = () => request(username, withLanguage(ctx), cookies.get(ctx, 'knownBrowser'));
    await answerUniformly(ctx, { rateLimits, policy: 'reset:address' }, { work, page: sentPath });
  });

  router.get(sentPath, returnToSignIn.about, (ctx) => {
    ctx.render('mailed-links/message', sentPage(sent(ctx), hasMailServer, returnToSignIn.next(ctx)));
  });
}

// The answer to a form that must not reveal whether an account exists: the same page for every name, after a fixed
// time. The work of the request is the same for every name; the fixed time hides remaining differences.

/**
 * Counts the request under `policy` by its address (429 when there are too many), does `work`, and redirects to `page`
 * when the fixed time is over, unless `work` wrote another answer.
 */
export async function answerUniformly(
  ctx: Context,
  { rateLimits, policy }: { rateLimits: RateLimits; policy: PolicyName },
  { work, page }: { work: () => Promise<void>; page: string },
): Promise<void> {
  assertMayStore();
  const fixedTime = sleep(limits.uniformAnswer.milliseconds);
  const result = await rateLimits.consume(policy, { address: ctx.state.request.address });
  if (!result.allowed) throw tooManyRequests(result.retryAfterSeconds);
  await work();
  await fixedTime;
  if (ctx.body) return;
  ctx.set('Cache-Control', 'no-store');
  ctx.status = 303;
  ctx.redirect(page);
}
