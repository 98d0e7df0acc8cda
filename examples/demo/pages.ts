// Pages and parts of pages that the demo applications share.
import type { DemoApp } from './app.ts';
import { type Html, html, page } from './html.ts';

type Named = Pick<DemoApp, 'name' | 'protocol'>;

/** The page without a session. */
export function signedOutPage({ name, protocol }: Named, notice?: string, logoutUrl?: string): string {
  return page(
    name,
    html`
<p class="eyebrow">${protocol}</p>
<h1>${name}</h1>
${noticeOf(notice)}
${logoutUrl !== undefined && html`<p><a href="${logoutUrl}">What this sign-out ended</a></p>`}
<p class="lead">You are not signed in here. This application stores no passwords: Gatehouse tells it who you are.</p>
<p class="actions"><a class="button primary" href="/sign-in">Sign in with Gatehouse</a></p>`,
  );
}

/** The error page. */
export function problemPage({ name }: Named, text: string): string {
  return page(
    `Problem · ${name}`,
    html`
<p class="eyebrow">${name}</p>
<h1>Something went wrong</h1>
<p class="notice bad" role="alert">${text}</p>
<p class="actions"><a class="button primary" href="/">Back to the start</a></p>`,
  );
}

export function noticeOf(text: string | undefined): Html | false {
  return text !== undefined && html`<p class="notice" role="status">${text}</p>`;
}

/** Names and values, one pair per line. */
export function facts(values: Record<string, string>): Html {
  const rows = Object.entries(values).map(
    ([name, value]) => html`<div><dt>${name}</dt><dd><code>${value}</code></dd></div>\n`,
  );
  return html`<dl class="facts">\n${rows}</dl>`;
}
