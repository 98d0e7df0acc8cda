// The page of the demo about the last logout: which party ended which session, in order.
import { html, page } from './html.ts';
import type { Step } from './logout-steps.ts';
import type { Routes } from './web.ts';

/** The path of the page, on the start page's site. */
export const logoutPath = '/last-sign-out';

/** The route of the page. */
export function logoutPage(last: () => Step[]): Routes {
  return { [`GET ${logoutPath}`]: () => ({ body: documentOf(last()) }) };
}

function documentOf(steps: readonly Step[]): string {
  return page(
    'The last sign-out · Gatehouse demo',
    html`
<p class="eyebrow">Gatehouse demo</p>
<h1>The last sign-out</h1>
${
  steps.length === 0
    ? html`<p class="lead">Nobody has signed out yet.</p>`
    : html`<p class="lead">With one button, each of these ended its own session:</p>
<ol class="apps steps">
${steps.map(
  ({ at, place, text }) => html`<li>
<strong>${place}</strong> <span class="tag">${at.toISOString().slice(11, 23)} UTC</span>
<p>${text}</p>
</li>
`,
)}
</ol>`
}
<p>Without a session at Example Corp, the sign-out ends at Gatehouse. Gatehouse sends the browser to Example Corp last, because another company's server may not send it back.</p>
<p class="actions"><a class="button primary" href="/">Back to the start</a></p>`,
  );
}
