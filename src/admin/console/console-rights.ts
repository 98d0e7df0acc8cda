// What the administrator of each request may do.
import type { Context, Middleware } from '../../http/context.ts';
import { forbidden } from '../../http/errors.ts';
import type { Authority } from '../../rbac/authority.ts';
import { OWN_PREFIX } from '../../rbac/built-in.ts';
import { meets, type Need, type Rights } from '../../rbac/rights.ts';
import type { SignedIn } from '../../rp/signed-in.ts';
import { t } from '../../texts/text.ts';
import { firstPage } from './navigation.ts';

export interface ConsoleRights {
  /** Rejects the request unless the administrator meets all needs. */
  requireRights(needed: readonly Need[]): Middleware;
  /** The rights that `requireRights` read; none before it ran. */
  rightsAt(ctx: Context): Rights;
}

export interface ConsoleRightsDependencies {
  signedIn: Pick<SignedIn, 'userOf'>;
  authority: Pick<Authority, 'rightsOfUser'>;
}

export function createConsoleRights({ signedIn, authority }: ConsoleRightsDependencies): ConsoleRights {
  const rightsOfRequest = new WeakMap<object, Rights>();
  return {
    rightsAt: (ctx) => rightsOfRequest.get(ctx.req) ?? [],

    requireRights: (needed) => async (ctx, next) => {
      const rights = await authority.rightsOfUser(signedIn.userOf(ctx).account.id);
      rightsOfRequest.set(ctx.req, rights);
      const isStaff = rights === 'everything' || rights.some((right) => right.startsWith(OWN_PREFIX));
      const missing = needed.filter((need) => !meets(rights, need));
      if (isStaff && missing.length === 0) return next();
      throw forbidden('forbidden', {
        detail: { missing },
        next: isStaff ? firstPage(rights) : { href: '/dashboard', label: t('page.your-apps') },
      });
    },
  };
}
