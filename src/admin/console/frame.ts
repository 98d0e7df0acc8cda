// What every page of the console has in common: who is here and what they may do (least privilege: what one may not do is
// not shown, and refused when it is sent all the same), the second factor where the account has one, and the way back.
import { z } from 'zod';
import type { Account } from '../../accounts/account.ts';
import type { By } from '../../audit/audit.ts';
import type { Context, Middleware } from '../../http/context.ts';
import { AppError, forbidden } from '../../http/errors.ts';
import type { Authority } from '../../rbac/authority.ts';
import { OWN_PREFIX, type OwnPermission } from '../../rbac/built-in.ts';
import type { OwnPage } from '../../self-service/page.ts';
import type { ConsolePage } from './blocks.ts';

export interface Frame {
  /** In front of a page: signed in, with the second factor of the account, and permitted. */
  page(...needed: OwnPermission[]): Middleware[];
  /** In front of a form's action. */
  change(...needed: OwnPermission[]): Middleware[];
  /** In front of the page and the action of something dangerous, at one address: proven again within minutes. */
  danger(...needed: OwnPermission[]): Middleware[];
  may(ctx: Context, permission: OwnPermission): boolean;
  /** Throws 403: for an action that is permitted by what it changes. */
  assertMay(ctx: Context, permission: OwnPermission): void;
  account(ctx: Context): Account;
  by(ctx: Context): By;
  show(ctx: Context, page: ConsolePage, status?: number): void;
  /** To a page, which then says this sentence once. */
  back(ctx: Context, path: string, sentence?: string): void;
  /** Does it; what the person can mend is shown with the form as it was sent. */
  attempt(ctx: Context, work: () => Promise<void>, again: (problem: Problem) => Promise<void> | void): Promise<void>;
}

export interface Problem {
  status: number;
  problem: string;
  faults: { field: string; message: string }[];
}

export interface FrameNeeds {
  page: OwnPage;
  authority: Pick<Authority, 'rightsOf'>;
}

/** The navigation: each entry for whom it is of use, and the pages elsewhere that belong to it. */
const NAVIGATION: readonly { href: string; label: string; needs: OwnPermission; also?: string }[] = [
  { href: '/admin', label: 'Overview', needs: 'gatehouse.audit:read' },
  { href: '/admin/applications', label: 'Applications', needs: 'gatehouse.applications:read', also: '/admin/test' },
  { href: '/admin/users', label: 'Users', needs: 'gatehouse.users:read', also: '/admin/import' },
  { href: '/admin/roles', label: 'Roles', needs: 'gatehouse.roles:read' },
  { href: '/admin/why', label: 'Why?', needs: 'gatehouse.audit:read' },
  { href: '/admin/refusals', label: 'Refusals', needs: 'gatehouse.audit:read' },
  { href: '/admin/sessions', label: 'Sessions', needs: 'gatehouse.sessions:read' },
  { href: '/admin/audit', label: 'Audit', needs: 'gatehouse.audit:read' },
  { href: '/admin/keys', label: 'Keys', needs: 'gatehouse.keys:read' },
  { href: '/admin/mail', label: 'Mail', needs: 'gatehouse.mail:read' },
  { href: '/admin/settings', label: 'Settings', needs: 'gatehouse.settings:read' },
];

const CHANGED_MEANWHILE =
  'Somebody else changed this after you opened it. Open it again, and make your change to what is there now.';

export function createFrame({ page: own, authority }: FrameNeeds): Frame {
  const { signedIn, protect } = own;
  const rights = new WeakMap<object, 'everything' | readonly string[]>();

  function may(ctx: Context, permission: OwnPermission): boolean {
    const held = rights.get(ctx.req);
    return held === 'everything' || (held?.includes(permission) ?? false);
  }

  const permitted =
    (needed: readonly OwnPermission[]): Middleware =>
    async (ctx, next) => {
      const held = await authority.rightsOf(signedIn.of(ctx).account.id);
      rights.set(ctx.req, held);
      const isStaff = held === 'everything' || held.some((right) => right.startsWith(OWN_PREFIX));
      const missing = needed.filter((permission) => !may(ctx, permission));
      if (isStaff && missing.length === 0) {
        return next().catch((error: unknown) => {
          throw ledBack(error, ctx.path);
        });
      }
      throw forbidden('forbidden', {
        detail: { missing },
        next: isStaff
          ? { href: '/admin', label: 'To the overview' }
          : { href: '/dashboard', label: 'Your applications' },
      });
    };

  return {
    may,
    assertMay(ctx, permission) {
      if (!may(ctx, permission)) throw forbidden('forbidden', { detail: { missing: permission } });
    },
    page: (...needed) => [signedIn.required, signedIn.secondFactor, permitted(needed)],
    change: (...needed) => [signedIn.required, signedIn.secondFactor, protect, permitted(needed)],
    danger: (...needed) => [signedIn.required, protect, permitted(needed), signedIn.recentProofHere],
    account: (ctx) => signedIn.of(ctx).account,
    by: own.by,
    back: own.back,

    show(ctx, page, status = 200) {
      const { account } = signedIn.of(ctx);
      const isUnder = (path: string) => ctx.path === path || (path !== '/admin' && ctx.path.startsWith(`${path}/`));
      const navigation = NAVIGATION.filter(({ needs }) => may(ctx, needs)).map(({ href, label, also }) => ({
        href,
        label,
        isHere: isUnder(href) || (also !== undefined && isUnder(also)),
      }));
      const console = { navigation, name: account.name ?? account.username, notice: own.notice(ctx) };
      ctx.render('admin/page', { ...page, console }, status);
    },

    async attempt(ctx, work, again) {
      try {
        await work();
      } catch (error) {
        if (!(error instanceof AppError) || ![400, 404, 409, 412, 422].includes(error.status)) throw error;
        const { status, fields: faults } = error;
        const message = status === 412 ? CHANGED_MEANWHILE : error.message;
        ctx.state.log.info({ problem: error.code, faults }, 'form refused');
        await again({ status, problem: message, faults });
      }
    },
  };
}

/** A page that is not there, or a change that is not possible any more, leads to the list that it belongs to. */
function ledBack(error: unknown, path: string): unknown {
  if (!(error instanceof AppError) || ![404, 409].includes(error.status)) return error;
  if (error.next && error.next.href !== '/') return error;
  const { code, message, advice, detail, fields, refusal } = error;
  const list = NAVIGATION.find(({ href, also }) =>
    [href, also].some((one) => one && one !== '/admin' && path.startsWith(`${one}/`)),
  );
  const next = list ? { href: list.href, label: list.label } : { href: '/admin', label: 'Overview' };
  const about = { message, detail, fields, cause: error, ...(advice && { advice }), ...(refusal && { refusal }) };
  return new AppError(code, { ...about, next });
}

/** What lists take: a search and the place to go on from. */
export const listQuery = z.object({ q: z.string().max(200).default(''), after: z.string().max(1000).optional() });

/** The address of a list with these filters; empty ones are left out. */
export function listPath(path: string, filters: Record<string, string | undefined>): string {
  const given = Object.entries(filters).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}
