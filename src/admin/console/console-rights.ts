// What the administrator of each request may do.

import type { Context, Middleware } from '../../base/http/context.ts';
import { type AppError, type ErrorOptions, forbidden } from '../../base/http/errors.ts';
import { type PageLink, t } from '../../base/texts/text.ts';
import { OWN_PREFIX } from '../../people/rbac/built-in.ts';
import { meets, type Need, type Rights } from '../../people/rbac/rights.ts';
import type { AdminServices } from '../admin-services.ts';
import { firstPage } from './navigation.ts';

export type ConsoleRights = ReturnType<typeof createConsoleRights>;

export function createConsoleRights({ account: { page }, authority }: AdminServices) {
  const rightsOfRequest = new WeakMap<object, Rights>();
  const missingOfRequest = new WeakMap<object, readonly Need[]>();

  const readRights: (ctx: Context, userId: string) => Promise<Rights | undefined> = async (ctx, userId) => {
    const rights = rightsOfRequest.get(ctx.req) ?? (await authority.rightsOfUser(userId));
    rightsOfRequest.set(ctx.req, rights);
    const isAdministrator = rights === 'everything' || rights.some((right) => right.startsWith(OWN_PREFIX));
    ctx.state.isConsole = isAdministrator;
    return isAdministrator ? rights : undefined;
  };

  const lacking: (ctx: Context, missing: readonly Need[], options?: ErrorOptions) => AppError = (
    ctx,
    missing,
    options,
  ) => {
    missingOfRequest.set(ctx.req, missing);
    return forbidden('forbidden', { detail: { missing }, ...options });
  };

  return {
    /** Reads the rights of a user who may have none in Gatehouse: undefined then. */
    readRights,
    /** Remembers what the request lacks, and returns the error. */
    lacking,
    /** The rights that were read for this request; none before. */
    rightsAt: (ctx: Context): Rights => rightsOfRequest.get(ctx.req) ?? [],
    /** What `lacking` was told of this request. */
    missingAt: (ctx: Context): readonly Need[] => missingOfRequest.get(ctx.req) ?? [],

    /** Rejects the request unless the administrator meets all needs. */
    requireRights:
      (needed: readonly Need[]): Middleware =>
      async (ctx, next) => {
        const rights = await readRights(ctx, page.signedIn.userOf(ctx).account.id);
        const missing = needed.filter((need) => !meets(rights ?? [], need));
        if (rights && missing.length === 0) {
          ctx.state.sender = 'trusted';
          return next();
        }
        const link = rights ? firstPage(rights) : { href: '/dashboard', label: t('page.your-apps') };
        throw lacking(ctx, missing, { next: link, other: otherAccount(ctx) });
      },
  };
}

/** The sign-in with another account, which leads back here. */
export function otherAccount(ctx: Context): PageLink {
  const back = ctx.method === 'GET' ? ctx.url : '/admin';
  const query = new URLSearchParams({ prompt: 'select_account', return_to: back });
  return { href: `/login?${query}`, label: t('sign-in.other-account') };
}
