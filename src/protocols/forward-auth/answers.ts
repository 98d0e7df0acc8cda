// The answers to the questions of a proxy: the request goes on to the website, a redirect, an error for a program or a page for a person. A
// rejected request is recorded for administrators, under a reference that its answer has.

import {
  JWT_HEADER,
  letsProgramsIn,
  type ProxiedSettings,
  type ProxyKind,
} from '../../applications/fields/proxied-application.ts';
import type { Context } from '../../base/http/context.ts';
import { limits } from '../../base/limits.ts';
import { BoundedMap } from '../../base/platform/bounded-map.ts';
import { directionOf } from '../../base/texts/languages.ts';
import { escapeHtml } from '../../base/texts/messages.ts';
import { inLanguage, type PageText, t } from '../../base/texts/text.ts';
import type { Core } from '../../core/core.ts';
import { type BrokenRule, type RuleId, ruleResults } from '../../core/rejections/rules.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { People } from '../../people/people.ts';
import type { ClientApplication } from '../oidc/store/clients.ts';
import type { RpSession } from '../oidc/store/sessions/rp-sessions.ts';
import { type AskedBy, type AskedRequest, askedBy } from './asked-request.ts';
import { credentialOf, type Rejection } from './programs.ts';
import { userHeaders, type Visitor } from './user-headers.ts';

/** A request about a website that is registered here. */
export interface Visit {
  ctx: Context;
  /** Undefined: the proxy sent the request itself here. */
  proxy: ProxyKind | undefined;
  asked: AskedRequest;
  by: AskedBy;
  application: ClientApplication;
  website: ProxiedSettings;
  /** Genuine, but perhaps of a session that has ended or not begun. */
  cookie: string | undefined;
  session: RpSession | undefined;
}

/** As far as it could be read. */
type Rejected = Pick<Visit, 'ctx' | 'proxy'> & Partial<Pick<Visit, 'asked' | 'by' | 'application'>>;

/** Of this website, and of those on other ports of its host. */
export const OWN_COOKIES = /(?:^|;)[ \t]*(?:__Host-)?gatehouse_app(?:_\d+)?=[^;]*/g;
/** A page that loads itself again. It is in no language, so it is the same for everybody. */
export const WAIT = `<!doctype html><meta http-equiv="refresh" content="${limits.questionsWithoutSession.retrySeconds}"><title>…</title>…`;
export const WAIT_HEADERS = {
  'Retry-After': String(limits.questionsWithoutSession.retrySeconds),
  'Cache-Control': 'no-store',
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Length': String(Buffer.byteLength(WAIT)),
};

/**
 * Lets the request go on to the website, which gets `Cookie` and `Authorization` as they were sent: without the cookies of this server, which
 * browsers send to each port of a host, and without a scheme that this server accepts, because on a public path nobody looked at it.
 */
export function pass(visit: Visit, visitor?: Visitor, jwt = ''): void {
  const { ctx, proxy, website } = visit;
  if (isSecondQuestion(visit)) return void askAnew(visit);
  ctx.status = 200;
  for (const [name, value] of Object.entries(userHeaders(visitor, website))) ctx.set(name, value);
  ctx.set(JWT_HEADER, jwt);
  ctx.set('Cookie', ctx.get('Cookie').replaceAll(OWN_COOKIES, '').replace(/^; */, ''));
  // Traefik deletes each of authResponseHeaders from the request and sets what the answer has. It removes `Upgrade` from the question, so the
  // key tells a WebSocket; any other protocol is deleted.
  if (proxy === 'traefik' && ctx.get('Sec-WebSocket-Key') !== '') ctx.set('Upgrade', 'websocket');
  if (letsProgramsIn(website)) ctx.set('Authorization', credentialOf(ctx, website) ? '' : ctx.get('Authorization'));
  ctx.body = '';
}

/** nginx hands on only 401 and 403: its configuration turns a 401 with an address into the redirect. */
export function redirect(visit: Visit, url: string): void {
  const { ctx, proxy } = visit;
  if (isSecondQuestion(visit)) return void askAnew(visit);
  ctx.status = proxy === 'nginx' ? 401 : 302;
  ctx.set('Location', url);
  ctx.body = '';
}

/** nginx asks again what to display instead of a 401 or 403, and hands on the answer as it is (admin/applications/presets/proxies.ts). */
const isSecondQuestion = ({ ctx, proxy }: Visit) => proxy === 'nginx' && ctx.querystring !== '';

/** Where the second question would get another answer than the first: a session began or ended, or a limit, in between. */
function askAnew({ ctx, proxy, by }: Visit): void {
  if (by !== 'navigation') return void sendError(ctx, proxy, 401, 'login_required');
  ctx.status = 403;
  ctx.set(WAIT_HEADERS);
  ctx.body = WAIT;
}

/** nginx takes another status than 401 and 403 for a fault of this server. */
export function sendError(
  ctx: Context,
  proxy: ProxyKind | undefined,
  status: number,
  error: string,
  reference?: string | undefined,
): void {
  ctx.status = proxy === 'nginx' && status !== 401 ? 403 : status;
  ctx.body = { error, reference };
}

/** Light and dark, and small enough for a frame. */
const STYLE = `
:root { color-scheme: light dark; --page: #f8f7f5; --box: #fff; --text: #1c1b19; --quiet: #5c5a55; --line: #e4e1dc; --main: #1f6650; --on: #fff }
@media (prefers-color-scheme: dark) {
  :root { --page: #121412; --box: #1a1d1b; --text: #f1efeb; --quiet: #b3b0a9; --line: #2f3431; --main: #7fd6b6; --on: #0d1f18 }
}
* { box-sizing: border-box; margin: 0 }
body { min-height: 100dvh; display: grid; place-items: center; padding: 1rem; background: var(--page); color: var(--text); font: 1rem/1.5 system-ui, sans-serif }
main { width: 100%; max-width: 26rem; padding: 1.75rem; background: var(--box); border: 1px solid var(--line); border-radius: 0.75rem; overflow-wrap: anywhere }
h1 { margin-block: 0.25rem 0.5rem; font-size: 1.25rem; line-height: 1.3; text-wrap: balance }
p { color: var(--quiet) }
.site, .note { font-size: 0.875rem }
.note { margin-block-start: 1rem }
a { display: block; margin-block-start: 1.25rem; padding: 0.625rem 1rem; border-radius: 0.5rem; background: var(--main); color: var(--on); font-weight: 700; text-align: center; text-decoration: none }
a:focus-visible { outline: 2px solid var(--main); outline-offset: 2px }
@media (max-height: 20rem) {
  body { padding: 0; place-items: stretch; background: var(--box) }
  main { max-width: none; padding: 1rem; border: 0 }
  a { margin-block-start: 0.75rem }
}
`;

/** A page on the host of the website, where this server has neither styles nor pictures: a text, with one link to the sign-in. */
export function showPage(
  { ctx, asked, by, application }: Pick<Visit, 'ctx' | 'by'> & Partial<Visit>,
  status: number,
  title: PageText,
  text: PageText,
  { reference = '', signInAt }: { reference?: PageText; signInAt?: string } = {},
): void {
  const language = ctx.state.language();
  ctx.status = status;
  ctx.type = 'html';
  ctx.set('Content-Security-Policy', "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'");
  // Another website of the same people may have it in a frame. All that a click can do is to open the website in the whole window.
  if (by === 'frame') ctx.remove('X-Frame-Options');
  ctx.body = inLanguage(language, () => {
    const words = [title, text, t('website.sign-in.link'), reference, application?.name ?? asked?.origin ?? ''];
    const [heading, paragraph, label, note, site] = words.map((one) => escapeHtml(String(one)));
    // A form stays open beside it.
    const target = by === 'form' ? '_blank' : '_top';
    const link =
      signInAt !== undefined ? `<a href="${escapeHtml(signInAt)}" target="${target}" rel="noopener">${label}</a>` : '';
    return `<!doctype html>
<html lang="${language}" dir="${directionOf(language)}">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${heading}${site && ` · ${site}`}</title>
<style>${STYLE}</style>
<main>
<p class="site"><bdi>${site}</bdi></p>
<h1>${heading}</h1>
<p>${paragraph}</p>
${link}${note && `<p class="note">${note}</p>`}
</main>
</html>
`;
  });
}

// Rejected requests.

/** The rules in the order of their checks: of each request, and then of a page, of a program or of the end of a sign-in. */
const OF_ALL = ['question', 'denied_network', 'client'] as const;
const ORDERS = {
  page: [...OF_ALL, 'path', 'same_origin', 'access', 'network', 'level', 'path_rule'],
  program: [...OF_ALL, 'path', 'same_origin', 'credential', 'access', 'network', 'connection', 'path_rule', 'level'],
  'sign-in': [...OF_ALL, 'state', 'browser', 'sign_in', 'code', 'level'],
} satisfies Record<string, RuleId[]>;

interface RejectedQuestion extends BrokenRule {
  reason: string;
  /** A sentence for administrators. */
  message: string;
  account?: Account | undefined;
  /** Absent: a page. */
  of?: keyof typeof ORDERS;
}

/** A page has many requests, and a proxy asks about each: the same one has the same reference for this long. */
const SAME_MS = 60_000;
const MAX_KEPT = 1000;
/** The header of the reference, also where a proxy displays a page of its own. */
const REFERENCE_HEADER = 'X-Gatehouse-Reference';

export function createRejections({ rejections, now }: Core & People) {
  const kept = new BoundedMap<string, { code: string; until: number }>(MAX_KEPT);
  return { reject, rejectProgram, referenceTo, record };

  /**
   * Records a rejected request, and returns its reference. How many are stored for one address is limited (limits.rejections), and equal
   * ones within a minute are one.
   *
   * @param asked undefined where the headers do not say which page it is about
   */
  function record(
    { state: { request } }: Context,
    asked: AskedRequest | undefined,
    rejected: RejectedQuestion,
  ): string {
    const { reason, message, account, of = 'page', rule, received, expected } = rejected;
    const key = [request.address, account?.id, asked?.origin, asked?.path, rule, received].join(' ').slice(0, 2000);
    const at = now().getTime();
    const known = kept.get(key);
    if (known && known.until > at) return known.code;
    const code = rejections.record(request, {
      endpoint: 'website',
      reason,
      message,
      clientId: asked?.origin,
      subjectId: account?.id,
      received: {
        ...(asked && { address: asked.origin, method: asked.method, path: asked.path }),
        ...(account && { user: account.username }),
        ip: request.address,
      },
      rules: ruleResults(ORDERS[of], { rule, received, expected }),
    });
    kept.set(key, { code, until: at + SAME_MS });
    return code;
  }

  /**
   * A page, or JSON for a program, with the reference under which administrators find the reason. nginx takes another status than 401 and
   * 403 for a fault of this server.
   */
  function reject(
    { ctx, proxy, asked, application, by = askedBy(ctx, ctx.method) }: Rejected,
    status: number,
    rejected: RejectedQuestion,
    words: readonly [title: PageText, text: PageText] = [t('website.rejected.title'), t('website.rejected.text')],
  ): void {
    const reference = referenceTo({ ctx, asked }, rejected);
    const shown = { reference: t('error-page.reference', { number: reference }) };
    if (by === 'program') sendError(ctx, proxy, status, rejected.reason, reference);
    else showPage({ ctx, asked, by, application }, proxy === 'nginx' ? 403 : status, ...words, shown);
  }

  /** Records a rejected request, and sets the header of its reference. */
  function referenceTo({ ctx, asked }: { ctx: Context; asked?: AskedRequest }, rejected: RejectedQuestion): string {
    const reference = record(ctx, asked, rejected);
    ctx.set(REFERENCE_HEADER, reference);
    return reference;
  }

  function rejectProgram(visit: Visit, { status, error, challenge, retryAfterSeconds, broken }: Rejection): void {
    const { ctx, proxy } = visit;
    if (challenge !== undefined) ctx.set('WWW-Authenticate', challenge);
    if (retryAfterSeconds !== undefined) ctx.set('Retry-After', String(retryAfterSeconds));
    const message = 'The website is closed to what the program sent.';
    const reference = broken && referenceTo(visit, { ...broken, reason: error, message, of: 'program' });
    sendError(ctx, proxy, status, error, reference);
  }
}
