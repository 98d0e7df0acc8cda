// What the pages of a signed-in person have in common: who it is, the way back with a sentence, and mail about changes.

import type { Account } from '../accounts/account.ts';
import type { By } from '../audit/audit.ts';
import type { Context, Middleware } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import type { AccountChange, Tell } from '../mail/notices.ts';
import type { SignedIn } from '../rp/signed-in.ts';

export interface OwnPage {
  signedIn: SignedIn;
  protect: Middleware;
  by(ctx: Context): By;
  /** Back to a page, which then says this sentence once. */
  back(ctx: Context, path: string, sentence?: string): void;
  notice(ctx: Context): string | undefined;
  /** Mail about a change of the account, to its owner. */
  tell(account: Account, change: AccountChange, ctx: Context): Promise<void>;
}

export interface OwnPageNeeds {
  signedIn: SignedIn;
  protect: Middleware;
  cookies: Cookies;
  tell: Tell;
}

export function createOwnPage({ signedIn, protect, cookies, tell }: OwnPageNeeds): OwnPage {
  return {
    signedIn,
    protect,
    tell: (account, change, ctx) => tell(account, change, ctx.state.request),
    by: (ctx) => ({ actorId: signedIn.of(ctx).account.id, request: ctx.state.request }),

    back(ctx, path, sentence) {
      if (sentence) cookies.set(ctx, 'notice', Buffer.from(sentence).toString('base64url'));
      ctx.status = 303;
      ctx.redirect(path);
    },

    notice(ctx) {
      const sentence = cookies.get(ctx, 'notice');
      if (!sentence) return undefined;
      cookies.clear(ctx, 'notice');
      return Buffer.from(sentence, 'base64url').toString();
    },
  };
}
