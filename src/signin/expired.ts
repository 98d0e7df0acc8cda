// A sign-in that cannot go on names the way back: which application it was for is noted in this browser while its pages
// are shown, because afterwards nothing else knows.
import type { Context } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { type AppError, badRequest } from '../http/errors.ts';

export interface ExpiredSignIns {
  /** A page of this sign-in is shown here. */
  note(ctx: Context, uid: string, clientId: string): void;
  /** The refusal of a sign-in that has expired or was finished elsewhere, with a link to its application if it has one. */
  refusal(ctx: Context, uid: string, cause: unknown): Promise<AppError>;
}

export interface ExpiredSignInsNeeds {
  cookies: Cookies;
  /** Where an application is entered. */
  startOf(clientId: string): Promise<{ name: string; url: string } | undefined>;
}

export function createExpiredSignIns({ cookies, startOf }: ExpiredSignInsNeeds): ExpiredSignIns {
  return {
    note: (ctx, uid, clientId) =>
      cookies.set(ctx, 'signInFor', `${uid}.${Buffer.from(clientId).toString('base64url')}`),

    async refusal(ctx, uid, cause) {
      const [noted, clientId = ''] = cookies.get(ctx, 'signInFor')?.split('.') ?? [];
      const start = noted === uid ? await startOf(Buffer.from(clientId, 'base64url').toString()) : undefined;
      if (!start) return badRequest('sign_in_expired', { cause });
      return badRequest('sign_in_expired', {
        cause,
        next: { href: start.url, label: `Go to ${start.name}` },
        other: { href: '/dashboard', label: 'Your applications' },
      });
    },
  };
}
