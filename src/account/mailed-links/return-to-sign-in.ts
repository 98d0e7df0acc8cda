// Returns a user to the sign-in that was left for a mailed link: a cookie keeps its uid, and the last page links to it,
// so that a password reset ends in the application that the user wanted to open.

import { z } from 'zod';
import type { Context, Middleware } from '../../base/http/context.ts';
import type { Cookies } from '../../base/http/cookies.ts';
import { parseQuery } from '../../base/http/input.ts';
import { type PageLink, t } from '../../base/texts/text.ts';
import { recallSignIn } from '../../sign-in/interactions.ts';

export type ReturnToSignIn = ReturnType<typeof createReturnToSignIn>;

const query = z.object({ signin: z.string().max(100).optional() });
const UID = /^[\w-]{10,100}$/;

export function createReturnToSignIn({ cookies }: { cookies: Cookies }) {
  function uidOf(ctx: Context): string | undefined {
    const { signin } = parseQuery(ctx, query);
    return signin && UID.test(signin) ? signin : undefined;
  }

  return {
    /** In front of the first page: stores the sign-in named by `?signin=`, or clears the cookie. */
    note: ((ctx, proceed) => {
      const uid = uidOf(ctx);
      if (uid) {
        cookies.set(ctx, 'returnToSignIn', uid);
        recallSignIn(cookies, ctx, uid);
      } else if (cookies.get(ctx, 'returnToSignIn')) cookies.clear(ctx, 'returnToSignIn');
      return proceed();
    }) satisfies Middleware,

    /** In front of the pages behind it: they and their mails have the brand of the application of that sign-in, and its language. */
    about: ((ctx, proceed) => {
      const uid = cookies.get(ctx, 'returnToSignIn');
      if (uid) recallSignIn(cookies, ctx, uid);
      return proceed();
    }) satisfies Middleware,

    /** For the first page: a link back to the sign-in that led to it. */
    back(ctx: Context): PageLink {
      const uid = uidOf(ctx);
      return { href: uid ? `/signin/${uid}` : '/account', label: t('mailed-link.back') };
    },

    /** For the last page: a link that continues the sign-in, or begins a new one. */
    next(ctx: Context): PageLink {
      const uid = cookies.get(ctx, 'returnToSignIn');
      if (!uid) return { href: '/account', label: t('sign-in.title') };
      return { href: `/signin/${uid}`, label: t('mailed-link.continue') };
    },
  };
}
