// An error of a request under /admin, in the frame of the console: what happened, and where it goes on. src/base/http/error-handler.ts decides
// which error it is, and answers with its own page where there is no administrator.

import { STATUS_CODES } from 'node:http';
import type { Context } from '../../base/http/context.ts';
import type { AppError } from '../../base/http/errors.ts';
import { faultText, formatPath } from '../../base/texts/faults.ts';
import { type PageLink, type PageText, Text, t } from '../../base/texts/text.ts';
import { type Need, permissionsOf } from '../../people/rbac/rights.ts';
import type { Action, Block, ConsolePage } from './blocks.ts';
import { otherAccount } from './console-rights.ts';
import { entryOf } from './navigation.ts';
import { missingSentence } from './permission-words.ts';

interface Wording {
  title: PageText;
  lead?: PageText | undefined;
}

/** @param missing the permissions that the administrator lacks */
export function errorPageOf(ctx: Context, error: AppError, missing: readonly Need[]): ConsolePage {
  const { title, lead } = wordingOf(ctx, error, missing);
  const [first, ...others] = linksOf(ctx, error);
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
  const list = named(entryOf(ctx.path) ?? { href: '/admin', label: t('console.navigation.overview') });
  if (next && next.href !== '/') return other ? [named(next), other] : [named(next)];
  if (isWrongFilter(ctx, status)) return [{ href: ctx.path, label: t('console.list.remove-filters') }];
  if (code === 'forbidden') return [list, otherAccount(ctx)];
  if (status === 409 || status === 412 || status === 428) return [pageBefore(ctx, t('console.error.reload')) ?? list];
  if (status >= 500 || status === 429) {
    return [ctx.method === 'GET' ? { href: ctx.url, label: t('console.error.again') } : (formBefore(ctx) ?? list)];
  }
  return [(status === 400 || status === 413 || status === 415 ? formBefore(ctx) : undefined) ?? list];
}

/** A link to a page of the navigation says that it is one. */
function named(link: PageLink): PageLink {
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
  const referer = ctx.get('Referer');
  if (ctx.method === 'GET' || !URL.canParse(referer)) return undefined;
  const { pathname, search } = new URL(referer);
  return pathname.startsWith('/admin/') ? { href: `${pathname}${search}`, label } : undefined;
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
