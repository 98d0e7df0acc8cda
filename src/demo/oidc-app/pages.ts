// The pages of the demo application.
import { type Html, html, page } from '../html.ts';
import type { Session } from './sessions.ts';

export const APP_NAME = 'Demo OIDC app';

/** Nobody is signed in. */
export function signedOutPage(notice?: string): string {
  return page(
    APP_NAME,
    html`
<p class="eyebrow">OpenID Connect</p>
<h1>${APP_NAME}</h1>
${notice !== undefined && html`<p class="notice" role="status">${notice}</p>`}
<p class="lead">You are not signed in here. This application keeps no passwords: Gatehouse says who you are.</p>
<p class="actions"><a class="button primary" href="/sign-in">Sign in with Gatehouse</a></p>`,
  );
}

/** What the application knows of the person. */
export function signedInPage({ claims, userinfo, ...session }: Session, notice?: string): string {
  const name = String(userinfo.name ?? claims.name ?? session.subject);
  return page(
    `${name} · ${APP_NAME}`,
    html`
<p class="eyebrow">${APP_NAME}</p>
<h1>Hello, ${name}</h1>
${notice !== undefined && html`<p class="notice" role="status">${notice}</p>`}
<p class="lead">Gatehouse told this application who you are. Nothing else was shared.</p>
<div class="actions">
<form method="post" action="/refresh"><button class="button secondary">Refresh the tokens</button></form>
<form method="post" action="/sign-out"><button class="button primary">Sign out</button></form>
</div>
<section aria-labelledby="claims">
<h2 id="claims">Claims of the ID token</h2>
${table(claims)}
</section>
<section aria-labelledby="userinfo">
<h2 id="userinfo">Answer of the userinfo endpoint</h2>
${table(userinfo)}
</section>
<section aria-labelledby="tokens">
<h2 id="tokens">Tokens</h2>
${table({
  'issued at': session.tokensAt.toISOString(),
  'access token': session.accessTokenSeconds === undefined ? 'yes' : `good for ${session.accessTokenSeconds} s`,
  'refresh token': session.refreshToken === undefined ? 'none' : 'yes, a new one with each refresh',
  'refreshed so far': session.refreshes,
})}
</section>`,
  );
}

/** Something the person can do nothing about but try again. */
export function problemPage(text: string): string {
  return page(
    `Problem · ${APP_NAME}`,
    html`
<p class="eyebrow">${APP_NAME}</p>
<h1>That did not work</h1>
<p class="notice bad" role="alert">${text}</p>
<p class="actions"><a class="button primary" href="/">Back to the start</a></p>`,
  );
}

const times = new Set(['iat', 'exp', 'nbf', 'auth_time', 'updated_at']);

function table(values: Record<string, unknown>): Html {
  const rows = Object.entries(values).map(
    ([name, value]) => html`<div><dt>${name}</dt><dd><code>${shown(name, value)}</code></dd></div>\n`,
  );
  return html`<dl class="facts">\n${rows}</dl>`;
}

function shown(name: string, value: unknown): string {
  if (typeof value === 'number' && times.has(name)) return `${value} (${new Date(value * 1000).toISOString()})`;
  return typeof value === 'string' ? value : JSON.stringify(value);
}
