// What all pages of the console share: the sign-in with the account's second factor, permissions (an action without
// permission is neither displayed nor accepted), navigation, and what a form shows after a fault.

import { STATUS_CODES } from 'node:http';
import { z } from 'zod';
import type { Context, ErrorPage, Middleware } from '../../base/http/context.ts';
import { AppError, type DeclaredEntry, type ErrorOptions, forbidden } from '../../base/http/errors.ts';
import { readForm } from '../../base/http/input.ts';
import { isPage } from '../../base/http/pages/page-request.ts';
import { displayName, pictureOf } from '../../base/http/pages/tokens.ts';
import { type Fault, faultText, formatPath } from '../../base/texts/faults.ts';
import { consoleLanguage } from '../../base/texts/messages.ts';
import { inLanguage, type PageLink, type PageText, Text, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import { OWN_PREFIX, type OwnPermission } from '../../people/rbac/built-in.ts';
import {
  meets,
  type Need,
  permissionsOf,
  permits,
  RELEASE,
  type Rights,
  type Target,
} from '../../people/rbac/rights.ts';
import type { AdminServices } from '../admin-services.ts';
import { paged } from '../api/parts.ts';
import { CONFIRM, pressedButtonPage, RESULT, type StoredForm } from '../proof/confirmation-pages.ts';
import { StepUpNeeded } from '../proof/sensitive-changes.ts';
import type { Action, Block, ConsolePage } from './blocks.ts';
import { fieldFaultsOf, pageFaults } from './faults.ts';
import { entryOf, firstPage, helpAt, type NavigationCounts, navigationAt } from './navigation.ts';
import { missingSentence } from './permission-words.ts';

export type Frame = ReturnType<typeof createFrame>;

const languageOf = (ctx: Context): string => consoleLanguage(ctx.state.language());

/** Runs `work` with texts in the language of the console. */
const inConsoleLanguage = <Result>(ctx: Context, work: () => Result): Result => inLanguage(languageOf(ctx), work);

/** The frame, on the sign-in and CSRF protection of the account pages. */
export function createFrame(services: AdminServices) {
  const { page: own } = services.account;
  const { signedIn, checkCsrf } = own;
  const signInGuards = [signedIn.requireSignIn, signedIn.requireAdministration];
  const rights = createConsoleRights(services);
  const { rightsAt, requireRights, lacking } = rights;
  const { confirm, showResult } = waitingPages(services);
  const { count, countsAt } = createNavigationCounts(services);
  const may = (ctx: Context, permission: OwnPermission, target?: Target): boolean =>
    permits(rightsAt(ctx), permission, target);

  /** Of a page and of a form's target: leads to the confirmation page when the change needs a fresh sign-in. */
  const handleErrors: Middleware = (ctx, next) =>
    next().catch(async (error: unknown) => {
      if (error instanceof StepUpNeeded) return confirm(ctx, error, await pressedButton(ctx, error));
      throw error;
    });

  function show(ctx: Context, page: ConsolePage, status = 200, at = ctx.path): void {
    const frame = frameOf(signedIn.userOf(ctx).account, rightsAt(ctx), countsAt(ctx), at);
    ctx.render('admin/page', { ...page, console: { ...frame, notice: own.takeNotice(ctx) } }, status);
  }

  return {
    /** Whether the administrator has the permission, for everything or for this user or application. */
    may,
    /** Whether the administrator meets the need. */
    meets: (ctx: Context, need: Need): boolean => meets(rightsAt(ctx), need),
    /** The first page that the administrator may open. */
    firstPage: (ctx: Context): string => firstPage(rightsAt(ctx)).href,
    /** The language of the page. */
    language: languageOf,
    /** Throws 403. For a form whose permission depends on what it changes. */
    assertMay(ctx: Context, permission: OwnPermission): void {
      if (!may(ctx, permission)) throw lacking(ctx, [permission]);
    },
    /** Middleware of a page: signed in, with the account's second factor, and permitted. */
    page: (...needed: Need[]): Middleware[] => [...signInGuards, requireRights(needed), count, handleErrors],
    /** Before every route: errors below /admin are displayed in the frame to administrators who are signed in. */
    errors: framedErrors(services, rights),
    /** Middleware of a form's target: the same, and the CSRF token. */
    change: (...needed: Need[]): Middleware[] => [
      ...signInGuards,
      checkCsrf,
      requireRights(needed),
      count,
      handleErrors,
    ],
    account: (ctx: Context): Account => signedIn.userOf(ctx).account,
    /** The single sign-on session of the administrator. */
    session: (ctx: Context): { ssoUid: string } => signedIn.userOf(ctx).session,
    /** The administrator as the actor, with the proof of the sign-in. */
    actor(ctx: Context): Actor {
      const { proof } = signedIn.userOf(ctx);
      return { ...own.actorOf(ctx), ...(proof && { proof }) };
    },
    /** Redirects to a page, which then shows this sentence once; its tone is `good` unless nothing, or not everything, was done. */
    redirect: own.redirectWithNotice,

    /** @param at the path that the navigation marks; that of the request by default */
    show,

    /** Redirects to a page with a new secret: a reload repeats nothing, and displays it again. */
    showResult,

    /**
     * Runs `work`. After a fault that the administrator can fix, or for want of a fresh sign-in, it renders the page of `again`:
     * the form as it was sent.
     */
    async attempt(
      ctx: Context,
      work: () => Promise<void>,
      again: () => Promise<ConsolePage> | ConsolePage,
    ): Promise<void> {
      try {
        await work();
      } catch (thrown) {
        if (thrown instanceof StepUpNeeded) return confirm(ctx, thrown, await again());
        const page = await again();
        const { status, fields, ...error } = errorOf(ctx, thrown, page, (permission) => may(ctx, permission));
        const faults = inConsoleLanguage(ctx, () => pageFaults(page, fields));
        show(ctx, { ...page, ...error, faults }, status);
      }
    },
  };
}

/** What is around a page. */
function frameOf(account: Account, rights: Rights, counts: NavigationCounts, address: string) {
  const at = address.replace(/\?.*/, '');
  return {
    navigation: navigationAt(at, (need) => meets(rights, need), counts),
    help: helpAt(at),
    person: { name: displayName(account), username: account.username, picture: pictureOf(account) },
  };
}

/** Lets the error handler display the errors below /admin and /docs in the frame, which reads what the middleware of the route has not read. */
function framedErrors(
  { account: { page }, rejections }: AdminServices,
  { readRights, missingAt }: ConsoleRights,
): Middleware {
  const errorPage = async (ctx: Context, error: AppError): Promise<ErrorPage | undefined> => {
    const { account } = (await page.signedIn.findAdministrator(ctx)) ?? {};
    const rights = account && (await readRights(ctx, account.id));
    if (!account || !rights) return undefined;
    const console = frameOf(account, rights, { rejections: await rejections.countRecent() }, ctx.path);
    // What happened matters more than what the page is for.
    return {
      template: 'admin/page',
      data: {
        ...errorPageOf(ctx, error, missingAt(ctx), (permission) => permits(rights, permission)),
        console: { ...console, help: undefined },
      },
    };
  };
  return (ctx, next) => {
    const isBelow = ['/admin', '/docs'].some((one) => ctx.path === one || ctx.path.startsWith(`${one}/`));
    // A frame within a page has no room for the sidebar.
    if (isBelow && isPage(ctx)) ctx.state.errorPage = (error) => errorPage(ctx, error);
    return next();
  };
}

/** Pages that wait in the database while the browser goes to another one. */
function waitingPages({ account: { page: own }, storedPages }: AdminServices) {
  const ownerOf = (ctx: Context) => {
    const { account, session } = own.signedIn.userOf(ctx);
    return { userId: account.id, session: session.ssoUid };
  };
  return {
    /** Leads to the confirmation page, which later shows `page` again. */
    async confirm(ctx: Context, { change }: StepUpNeeded, page: ConsolePage): Promise<void> {
      const { _csrf, ...fields } = await readForm(ctx, { lists: 'every field' });
      const form: StoredForm = { change, path: ctx.path, page, url: ctx.url, fields };
      const value = await storedPages.add('form', ownerOf(ctx), form);
      own.redirectWithNotice(ctx, `${CONFIRM}/${value}`);
    },

    async showResult(ctx: Context, page: ConsolePage): Promise<void> {
      own.redirectWithNotice(ctx, `${RESULT}/${await storedPages.add('result', ownerOf(ctx), page)}`);
    },
  };
}

/** The button that was pressed, on a page of its own; Cancel leads back to where it was. */
async function pressedButton(ctx: Context, { title }: StepUpNeeded): Promise<ConsolePage> {
  const { _csrf, ...fields } = await readForm(ctx, { lists: 'every field' });
  return pressedButtonPage(title, ctx.path, fields, consolePageBefore(ctx) ?? '/admin');
}

/** What the page says about a fault that the administrator can fix. Throws any other. */
function errorOf(ctx: Context, error: unknown, page: ConsolePage, may: May) {
  if (!(error instanceof AppError) || !(error.declared || [400, 404, 409, 412, 422].includes(error.status)))
    throw error;
  const { status, declared } = error;
  const fields = fieldFaultsOf(page, error);
  ctx.state.log().info({ code: error.code, faults: fields }, 'form rejected');
  const own = error.next && error.next.href !== '/' ? [error.next] : [];
  const next = declared ? entryLinks(declared, may) : own;
  return { status, error: headOf(error, fields), fields, ...(next.length > 0 && { next }) };
}

/** What the summary of the faults says first. */
function headOf({ status, code, text, faults: own }: AppError, faults: readonly Fault[]): PageText {
  if (status === 412) return t('console.page.changed-meanwhile');
  if ((code !== 'invalid_input' && own.length > 0) || faults.length === 0) return text;
  return t('console.page.correct', { count: faults.length });
}

/** The cursors of the pages before the present one, with one space between (pageLinks of lists.ts). */
export const trailField = z.string().max(2500).default('');

/** The query of a list: a search, the cursor of the page, and those of the pages before. */
export const listQuery = z.object({
  q: z.string().max(200).default(''),
  after: paged.cursor,
  trail: trailField,
});

/** The address of a list with these filters; empty ones are left out. */
export function listPath(path: string, filters: Record<string, string | undefined>): string {
  const given = Object.entries(filters).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return given.length === 0 ? path : `${path}?${new URLSearchParams(given)}`;
}

function createNavigationCounts({ rejections }: AdminServices) {
  const countsOfRequest = new WeakMap<object, NavigationCounts>();
  const count: Middleware = async (ctx, next) => {
    countsOfRequest.set(ctx.req, { rejections: await rejections.countRecent() });
    return next();
  };
  return {
    count,
    /** What `count` read; nothing before it ran. */
    countsAt: (ctx: Context): NavigationCounts => countsOfRequest.get(ctx.req) ?? { rejections: 0 },
  };
}

// An error of a request under /admin, in the frame of the console: what happened, and where it goes on. src/base/http/error-handler.ts decides
// which error it is, and answers with its own page where there is no administrator.

interface Wording {
  title: PageText;
  lead?: PageText | undefined;
}

/** @param missing the permissions that the administrator lacks */
function errorPageOf(ctx: Context, error: AppError, missing: readonly Need[], may: May): ConsolePage {
  const { title, lead } = wordingOf(ctx, error, missing);
  const [first, ...others] = error.declared ? entryLinks(error.declared, may) : linksOf(ctx, error);
  const items: Action[] = [
    { ...first, look: 'primary' },
    ...others.map((link) => ({ ...link, look: 'secondary' as const })),
  ];
  return {
    title,
    ...(lead && { lead }),
    blocks: [{ kind: 'actions', items }, detailsOf(ctx, error, missing)],
  };
}

/** The messages of errors are for programs too; here some say what an administrator can do. */
function wordingOf(ctx: Context, { code, status, text, advice }: AppError, missing: readonly Need[]): Wording {
  const isNamed = advice !== undefined && !(text instanceof Text && text.key === 'error.not_found');
  if (missing.length > 0) return { title: text, lead: missingSentence(missing) };
  if (isWrongFilter(ctx, status)) return { title: t('console.error.filters'), lead: t('console.error.filters.advice') };
  if (status === 412 || status === 428) {
    return { title: t('error.changed_meanwhile'), lead: t('error.changed_meanwhile.advice') };
  }
  if (code === 'internal') return { title: text, lead: t('console.error.internal.advice') };
  if (status === 404) return { title: text, lead: isNamed ? advice : t('console.error.not-found.advice') };
  return { title: text, lead: advice };
}

/** Where it goes on; the first is the obvious one. */
function linksOf(ctx: Context, error: AppError): [PageLink, ...PageLink[]] {
  const { status, code, next, other } = error;
  const list = withPageName(entryOf(ctx.path) ?? { href: '/admin', label: t('console.navigation.overview') });
  if (next && next.href !== '/') return other ? [withPageName(next), other] : [withPageName(next)];
  if (isWrongFilter(ctx, status)) return [{ href: ctx.path, label: t('console.list.remove-filters') }];
  if (code === 'forbidden') return [list, otherAccount(ctx)];
  if (status === 409 || status === 412 || status === 428) return [pageBefore(ctx, t('console.error.reload')) ?? list];
  if (status >= 500 || status === 429) {
    return [ctx.method === 'GET' ? { href: ctx.url, label: t('console.error.again') } : (formBefore(ctx) ?? list)];
  }
  return [(status === 400 || status === 413 || status === 415 ? formBefore(ctx) : undefined) ?? list];
}

type May = (permission: OwnPermission) => boolean;

/** Of each kind: the address above its pages, whether each has one of its own, and what takes the right to change it. */
const PAGES: Readonly<Record<DeclaredEntry['kind'], { home: string; write: OwnPermission; isListed?: true }>> = {
  api: { home: '/admin/apis', write: 'gatehouse.applications:write' },
  application: { home: '/admin/applications', write: 'gatehouse.applications:write' },
  connection: { home: '/admin/connections', write: 'gatehouse.connections:write' },
  'event-stream': { home: '/admin/event-streams', write: 'gatehouse.settings:write' },
  group: { home: '/admin/groups', write: 'gatehouse.groups:write' },
  role: { home: '/admin/roles', write: 'gatehouse.roles:write' },
  scim: { home: '/admin/scim', write: 'gatehouse.connections:write' },
  'sign-up-code': { home: '/admin/security/sign-up-codes', write: RELEASE, isListed: true },
  user: { home: '/admin/users', write: 'gatehouse.users:write' },
};

/** From an error about an entry of the file: its page, and what takes it out of the file for those who may. */
export function entryLinks({ kind, id, name }: DeclaredEntry, may: May): [PageLink, ...PageLink[]] {
  const { home, write, isListed } = PAGES[kind];
  const at = `${home}/${encodeURIComponent(id)}`;
  const release = { href: `${at}/release`, label: t('console.shared.manage-here') };
  return [
    { href: isListed ? home : at, label: t('console.error.open-entry', { name }) },
    ...(may(RELEASE) && may(write) ? [release] : []),
  ];
}

/** A link to a page of the navigation says that it is one. */
function withPageName(link: PageLink): PageLink {
  const entry = entryOf(link.href);
  return entry?.href === link.href ? { ...link, label: t('console.error.go-to', { page: entry.label }) } : link;
}

/** A list that was asked for with a query that it does not understand. */
function isWrongFilter({ method, path, search }: Context, status: number): boolean {
  const isList = entryOf(path)?.href === path ? path !== '/admin/access-check' : LIST_OF_ONE.test(path);
  return status === 400 && method === 'GET' && search !== '' && isList;
}

const LIST_OF_ONE = /\/(activity|members|permissions|texts)$/;

const formBefore = (ctx: Context) => pageBefore(ctx, t('error.back-to-form'));

/** The page of the console that a form was sent from. */
function pageBefore(ctx: Context, label: PageText): PageLink | undefined {
  const href = ctx.method === 'GET' ? undefined : consolePageBefore(ctx);
  return href === undefined ? undefined : { href, label };
}

/** Whether the text is the address of a page below /admin, without the origin. */
export const isConsolePath = (text: unknown): text is string => typeof text === 'string' && text.startsWith('/admin/');

/** The page of the console that the browser comes from, other than this one; undefined for one that waits for a proof or displays a secret. */
export function consolePageBefore(ctx: Context): string | undefined {
  const referer = ctx.get('Referer');
  const { pathname, search } = URL.canParse(referer) ? new URL(referer) : { pathname: '', search: '' };
  const isWaiting = [CONFIRM, RESULT].some((one) => pathname.startsWith(`${one}/`));
  return isConsolePath(pathname) && !isWaiting && (ctx.method !== 'GET' || pathname !== ctx.path)
    ? `${pathname}${search}`
    : undefined;
}

function missingRow(missing: readonly Need[]) {
  const value = missing.flatMap(permissionsOf).map((text) => ({ text, code: true }));
  return value.length > 0 ? [{ label: t('console.error.missing', { count: missing.length }), value }] : [];
}

function detailsOf(
  ctx: Context,
  { status, faults, technical, rejectionCode }: AppError,
  missing: readonly Need[],
): Block {
  return {
    kind: 'facts',
    title: t('error-page.details'),
    // The text of an unexpected error points to the request ID.
    isClosed: status < 500,
    rows: [
      ...faults.map((one) => ({
        label: formatPath(one.path) || t('error-page.input'),
        value: faultText(one, formatPath(one.path)),
      })),
      ...missingRow(missing),
      ...technical.map(({ label, value }) => ({ label, value: { text: value, code: true } })),
      { label: t('error-page.status'), value: `${status} ${STATUS_CODES[status] ?? ''}` },
      ...(rejectionCode
        ? [
            {
              label: t('console.rejections.reference'),
              value: { text: rejectionCode, copy: t('console.rejections.reference') },
            },
          ]
        : []),
      {
        label: t('error-page.request-id'),
        value: { text: ctx.state.request.requestId, copy: t('error-page.request-id') },
      },
    ],
  };
}

// What the administrator of each request may do.

type ConsoleRights = ReturnType<typeof createConsoleRights>;

function createConsoleRights({ account: { page }, authority }: AdminServices) {
  const rightsOfRequest = new WeakMap<object, Rights>();
  const missingOfRequest = new WeakMap<object, readonly Need[]>();

  async function readRights(ctx: Context, userId: string): Promise<Rights | undefined> {
    const rights = rightsOfRequest.get(ctx.req) ?? (await authority.rightsOfUser(userId));
    rightsOfRequest.set(ctx.req, rights);
    const isAdministrator = rights === 'everything' || rights.some((right) => right.startsWith(OWN_PREFIX));
    ctx.state.isConsole = isAdministrator;
    return isAdministrator ? rights : undefined;
  }

  function lacking(ctx: Context, missing: readonly Need[], options?: ErrorOptions): AppError {
    missingOfRequest.set(ctx.req, missing);
    return forbidden('forbidden', { detail: { missing }, ...options });
  }

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
function otherAccount(ctx: Context): PageLink {
  const back = ctx.method === 'GET' ? ctx.url : '/admin';
  const query = new URLSearchParams({ prompt: 'select_account', return_to: back });
  return { href: `/login?${query}`, label: t('sign-in.other-account') };
}
