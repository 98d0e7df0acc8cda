// Handles the token of every page behind a mailed link. The token moves at once from the URL to a signed cookie, so that it is
// neither in the history nor in a Referer header. Opening a link changes nothing, because mail scanners
// open links too.

import { z } from 'zod';
import type { Context, Middleware } from '../../base/http/context.ts';
import type { CookieKey } from '../../base/http/cookies.ts';
import { badRequest, tooManyRequests } from '../../base/http/errors.ts';
import type { Http } from '../../base/http/http.ts';
import { parseQuery } from '../../base/http/input.ts';
import { limits } from '../../base/limits.ts';
import { type PageLink, type PageText, t } from '../../base/texts/text.ts';
import type { People } from '../../people/people.ts';

export type LinkPage = ReturnType<typeof createLinkPage>;

/** For the view mailed-links/message. */
export interface DoneMessage {
  title: PageText;
  lead: PageText;
  hint?: PageText;
  next: PageLink;
  other?: PageLink;
}

export interface LinkPageOptions {
  cookie: Extract<CookieKey, 'reset' | 'link'>;
  /** Where the user can request a new link. */
  next: PageLink;
}

const NOTHING_DONE = {
  title: t('mailed-link.used'),
  lead: t('mailed-link.used-lead'),
};

const linkQuery = z.object({ token: z.string().max(1024).optional() });
const TOKEN = /^[\w.-]{20,1024}$/;

export function createLinkPage({ cookies, rateLimits }: Http & People, { cookie, next }: LinkPageOptions) {
  const reject = (ctx: Context): never => {
    cookies.clear(ctx, cookie);
    throw badRequest('link_invalid', { next });
  };

  return {
    /** Middleware before the page: moves a token from the URL to the cookie. */
    receiveToken: (async (ctx, proceed) => {
      const { token } = parseQuery(ctx, linkQuery);
      if (token === undefined) return proceed();
      if (!TOKEN.test(token)) reject(ctx);
      // Longer than a reset link is valid, so that the page reports an expired link instead of a missing cookie.
      cookies.set(ctx, cookie, token, { maxAgeSeconds: limits.interaction.seconds });
      ctx.set('Cache-Control', 'no-store');
      ctx.status = 303;
      ctx.redirect(ctx.path);
    }) satisfies Middleware,

    /** The token of this browser and what `find` returns for it; throws `link_invalid` (400) when it returns nothing. */
    async resolve<T>(
      ctx: Context,
      find: (token: string) => Promise<T | undefined>,
    ): Promise<{ token: string; found: T }> {
      const { address } = ctx.state.request;
      const decision = await rateLimits.consume('link:address', { address });
      if (!decision.allowed) throw tooManyRequests(decision.retryAfterSeconds);
      const token = cookies.get(ctx, cookie);
      const found = token === undefined ? undefined : await find(token);
      if (token === undefined || found === undefined) return reject(ctx);
      await rateLimits.refund('link:address', { address });
      return { token, found };
    },

    /** Rejects a form for another account than that of the last opened link (for example in another tab). */
    assertUnchanged(displayedValue: string, expected: string): void {
      if (displayedValue.trim() !== expected) throw badRequest('other_link');
    },

    /** Throws `link_invalid` (400). */
    reject,

    /** Redirects to the page that reports the result. */
    redirectToDone(ctx: Context, path: string): void {
      cookies.clear(ctx, cookie);
      cookies.set(ctx, 'linkDone', path);
      ctx.status = 303;
      ctx.redirect(path);
    },

    /** The page of the result: displays `message` once, in this browser only, and nothing later or in another browser. */
    renderDone(ctx: Context, message: DoneMessage): void {
      const isHere = cookies.get(ctx, 'linkDone') === ctx.path;
      if (isHere) cookies.clear(ctx, 'linkDone');
      ctx.render('mailed-links/message', isHere ? message : { ...NOTHING_DONE, next: message.next });
    },
  };
}
