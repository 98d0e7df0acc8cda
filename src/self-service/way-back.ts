// Back to the sign-in that somebody left for a mail: which one it was is kept in a cookie, and the last page leads there,
// so that a person who only wanted to open an application ends up in it.
import { z } from 'zod';
import type { Context, Middleware } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { parseQuery } from '../http/input.ts';

export interface WayBack {
  /** In front of the first page: notes the sign-in named by `?signin=`, or that there is none. */
  note: Middleware;
  /** For the first page: back to the sign-in that led to it. */
  back(ctx: Context): { href: string; label: string };
  /** For the last page. */
  next(ctx: Context): { href: string; label: string };
}

const query = z.object({ signin: z.string().max(100).optional() });
const UID = /^[\w-]{10,100}$/;

export function createWayBack({ cookies }: { cookies: Cookies }): WayBack {
  function namedBy(ctx: Context): string | undefined {
    const { signin } = parseQuery(ctx, query);
    return signin && UID.test(signin) ? signin : undefined;
  }

  return {
    note(ctx, proceed) {
      const uid = namedBy(ctx);
      if (uid) cookies.set(ctx, 'wayBack', uid);
      else if (cookies.get(ctx, 'wayBack')) cookies.clear(ctx, 'wayBack');
      return proceed();
    },
    back(ctx) {
      const uid = namedBy(ctx);
      return { href: uid ? `/signin/${uid}` : '/account', label: 'Back to the sign-in' };
    },

    next(ctx) {
      const uid = cookies.get(ctx, 'wayBack');
      if (!uid) return { href: '/account', label: 'Sign in' };
      return { href: `/signin/${uid}`, label: 'Go on signing in' };
    },
  };
}
