// A sign-in that has expired still leads back to its application: a cookie notes which one it was, because the expired
// interaction is gone by then.

import type { Context } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { type AppError, badRequest } from '../http/errors.ts';
import { t } from '../texts/text.ts';

export interface ExpiredSignIns {
  /** Notes in this browser which application the sign-in is for. */
  noteApplication(ctx: Context, uid: string, clientId: string): void;
  /** Of a route with a `uid`: pages have the brand of the application of that sign-in. */
  recallApplication(uid: string, ctx: Context, next: () => Promise<unknown>): Promise<unknown>;
  /** The error for a sign-in that has expired or was finished elsewhere, with a link to its application if known. */
  errorFor(ctx: Context, uid: string, cause: unknown): Promise<AppError>;
}

/** The application of this sign-in, as this browser noted it. */
export function notedApplication(cookies: Pick<Cookies, 'get'>, ctx: Context, uid: string): string | undefined {
  const [noted, clientId = ''] = cookies.get(ctx, 'signInFor')?.split('.') ?? [];
  return noted === uid ? Buffer.from(clientId, 'base64url').toString() : undefined;
}

export interface ExpiredSignInsDependencies {
  cookies: Cookies;
  /** The page where a user enters an application. */
  startOf(clientId: string): Promise<{ name: string; url: string } | undefined>;
}

export function createExpiredSignIns({ cookies, startOf }: ExpiredSignInsDependencies): ExpiredSignIns {
  return {
    noteApplication: (ctx, uid, clientId) =>
      cookies.set(ctx, 'signInFor', `${uid}.${Buffer.from(clientId).toString('base64url')}`),

    recallApplication(uid, ctx, next) {
      const application = notedApplication(cookies, ctx, uid);
      if (application !== undefined) ctx.state.request.application = application;
      return next();
    },

    async errorFor(ctx, uid, cause) {
      const clientId = notedApplication(cookies, ctx, uid);
      const start = clientId === undefined ? undefined : await startOf(clientId);
      if (!start) return badRequest('sign_in_expired', { cause });
      return badRequest('sign_in_expired', {
        cause,
        next: { href: start.url, label: t('error.go-to-app', { app: start.name }) },
        other: { href: '/dashboard', label: t('page.your-apps') },
      });
    },
  };
}
