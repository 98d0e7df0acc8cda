// A cookie notes the application of a sign-in and the language that it requested (`ui_locales`): for the pages beside the sign-in,
// and for one that has expired, because its interaction is gone by then.

import type { Context } from '../base/http/context.ts';
import type { Cookies } from '../base/http/cookies.ts';
import { type AppError, badRequest } from '../base/http/errors.ts';
import type { Http } from '../base/http/http.ts';
import { bestLanguage } from '../base/texts/languages.ts';
import { t } from '../base/texts/text.ts';

export type ExpiredSignIns = ReturnType<typeof createExpiredSignIns>;

/** The application of this sign-in and the language that it requests, as this browser noted them. */
function notedIn(cookies: Cookies, ctx: Context, uid: string) {
  const [noted, clientId = '', language] = cookies.get(ctx, 'signInFor')?.split('.') ?? [];
  if (noted !== uid) return undefined;
  return { clientId: Buffer.from(clientId, 'base64url').toString(), languages: language ? [language] : [] };
}

/** Gives the response the brand of the application of this sign-in, and the language that it requests. */
export function recallSignIn(cookies: Cookies, ctx: Context, uid: string): void {
  const noted = notedIn(cookies, ctx, uid);
  if (!noted) return;
  ctx.state.request.application = noted.clientId;
  ctx.state.requestedLanguages = noted.languages;
}

export function createExpiredSignIns({
  cookies,
  startOf,
}: Http & {
  /** The page where a user enters an application. */
  startOf(clientId: string): Promise<{ name: string; url: string } | undefined>;
}) {
  return {
    /** Notes in this browser which application the sign-in is for, and which of the offered languages it requests. */
    noteApplication(ctx: Context, uid: string, clientId: string): void {
      const language = bestLanguage(ctx.state.requestedLanguages ?? [], ctx.state.offeredLanguages().tags);
      const application = Buffer.from(clientId).toString('base64url');
      cookies.set(ctx, 'signInFor', [uid, application, language].filter((part) => part !== undefined).join('.'));
    },

    /** Of a route with a `uid`: pages have the brand of the application of that sign-in, and the language that it requests. */
    recallApplication(uid: string, ctx: Context, next: () => Promise<unknown>): Promise<unknown> {
      recallSignIn(cookies, ctx, uid);
      return next();
    },

    /** The error for a sign-in that has expired or was finished elsewhere, with a link to its application if known. */
    async errorFor(ctx: Context, uid: string): Promise<AppError> {
      const clientId = notedIn(cookies, ctx, uid)?.clientId;
      const start = clientId === undefined ? undefined : await startOf(clientId);
      if (!start) return badRequest('sign_in_expired');
      return badRequest('sign_in_expired', {
        next: { href: start.url, label: t('error.go-to-app', { app: start.name }) },
        other: { href: '/dashboard', label: t('page.your-apps') },
      });
    },
  };
}
