// What the pages behind mailed links share. The token leaves the address at once, for a signed cookie, so that it is
// neither in the history nor in a Referer, nor on a screen that is shared; opening a link changes nothing, because mail
// scanners open links too.
import { z } from 'zod';
import type { Context, Middleware } from '../http/context.ts';
import type { CookieKey, Cookies } from '../http/cookies.ts';
import { badRequest, tooManyRequests } from '../http/errors.ts';
import { parseQuery } from '../http/input.ts';
import { limits } from '../limits.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
import { addressKey } from '../rate-limits/sign-in-guard.ts';

export interface MailedLink {
  /** In front of the page: moves a token from the address into the cookie. */
  open: Middleware;
  /** What the link leads to, or the refusal of the request: `find` is asked with the token of this browser. */
  follow<T>(ctx: Context, find: (token: string) => Promise<T | undefined>): Promise<{ token: string; found: T }>;
  /** Refuses a form that names another account than the link that this browser opened last, in another tab. */
  expectShown(shown: string, account: string): void;
  /** The refusal of a link that is not good (any more). */
  refuse(ctx: Context): never;
  /** The link was used: goes on to the page that says so. */
  done(ctx: Context, page: string): void;
  /** That page, once and in this browser only: to anybody else who opens it nothing was done. */
  showDone(ctx: Context, message: DoneMessage): void;
}

/** For the view self-service/message. */
export interface DoneMessage {
  title: string;
  lead: string;
  hint?: string;
  next: { href: string; label: string };
  other?: { href: string; label: string };
}

export interface MailedLinkNeeds {
  cookies: Cookies;
  rateLimits: Pick<RateLimits, 'consume' | 'refund'>;
}

interface MailedLinkOptions {
  cookie: Extract<CookieKey, 'reset' | 'link'>;
  /** Where a new link can be asked for. */
  next: { href: string; label: string };
}

const NOTHING_DONE = {
  title: 'Nothing was done here',
  lead: 'This page follows a link from a mail, and is shown once. If you have just used one, it is done.',
};

const linkQuery = z.object({ token: z.string().max(1024).optional() });
const TOKEN = /^[\w.-]{20,1024}$/;

export function createMailedLink(
  { cookies, rateLimits }: MailedLinkNeeds,
  { cookie, next }: MailedLinkOptions,
): MailedLink {
  const refuse = (ctx: Context): never => {
    cookies.clear(ctx, cookie);
    throw badRequest('link_invalid', { next });
  };

  return {
    open: async (ctx, proceed) => {
      const { token } = parseQuery(ctx, linkQuery);
      if (token === undefined) return proceed();
      if (!TOKEN.test(token)) refuse(ctx);
      // Longer than a reset lives, so that the page, not the cookie, says what has expired.
      cookies.set(ctx, cookie, token, { maxAgeSeconds: limits.interaction.seconds });
      ctx.set('Cache-Control', 'no-store');
      ctx.status = 303;
      ctx.redirect(ctx.path);
    },

    async follow(ctx, find) {
      const address = addressKey(ctx.state.request.address);
      const verdict = await rateLimits.consume('link:address', address);
      if (!verdict.allowed) throw tooManyRequests(verdict.retryAfterSeconds);
      const token = cookies.get(ctx, cookie);
      const found = token === undefined ? undefined : await find(token);
      if (token === undefined || found === undefined) return refuse(ctx);
      await rateLimits.refund('link:address', address);
      return { token, found };
    },

    expectShown(shown, account) {
      if (shown !== account) throw badRequest('other_link');
    },

    refuse,

    done(ctx, page) {
      cookies.clear(ctx, cookie);
      cookies.set(ctx, 'linkDone', page);
      ctx.status = 303;
      ctx.redirect(page);
    },

    showDone(ctx, message) {
      const isHere = cookies.get(ctx, 'linkDone') === ctx.path;
      if (isHere) cookies.clear(ctx, 'linkDone');
      ctx.render('self-service/message', isHere ? message : { ...NOTHING_DONE, next: message.next });
    },
  };
}
