// The page of the OpenID Connect application with the user's claims.

import { plural } from '../../platform/plural.ts';
import { type Html, html, page } from '../html.ts';
import { facts, noticeOf } from '../pages.ts';
import type { Session } from './session.ts';

/** The data of the page. */
export function signedInPage(appName: string, { claims, userinfo, ...session }: Session, notice?: string): string {
  const name = String(userinfo.name ?? claims.name ?? session.subject);
  return page(
    `${name} · ${appName}`,
    html`
<p class="eyebrow">${appName}</p>
<h1>Hello, ${name}</h1>
${noticeOf(notice)}
<p class="lead">Gatehouse sent this application the following about you, and nothing else.</p>
<div class="actions">
<form method="post" action="/refresh"><button class="button secondary">Refresh the tokens</button></form>
<form method="post" action="/sign-out"><button class="button primary">Sign out everywhere</button></form>
</div>
<section aria-labelledby="claims">
<h2 id="claims">Claims of the ID token</h2>
${table(claims)}
</section>
<section aria-labelledby="userinfo">
<h2 id="userinfo">UserInfo response</h2>
${table(userinfo)}
</section>
<section aria-labelledby="tokens">
<h2 id="tokens">Tokens</h2>
${table({
  'issued at': session.tokensAt.toISOString(),
  'access token':
    session.accessTokenSeconds === undefined ? 'yes' : `valid for ${plural(session.accessTokenSeconds, 'second')}`,
  'refresh token': session.refreshToken === undefined ? 'none' : 'yes, a new one with each refresh',
  refreshes: session.refreshes,
})}
</section>`,
  );
}

const times = new Set(['iat', 'exp', 'nbf', 'auth_time', 'updated_at']);

function table(values: Record<string, unknown>): Html {
  return facts(Object.fromEntries(Object.entries(values).map(([name, value]) => [name, formatValue(name, value)])));
}

function formatValue(name: string, value: unknown): string {
  if (typeof value === 'number' && times.has(name)) return `${value} (${new Date(value * 1000).toISOString()})`;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
