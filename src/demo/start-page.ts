// The start page of the demo: the user to sign in as, and links to the applications.
import { type DemoApp, demoUser } from './app.ts';
import { html, page } from './html.ts';
import type { Routes } from './web.ts';

/** Routes of the start page. */
export function startPage(apps: readonly DemoApp[], issuer: string): Routes {
  const body = html`
<p class="eyebrow">Gatehouse demo</p>
<h1>Sign in once, open both</h1>
<p class="lead">Two applications, of two protocols. Neither knows anybody; both ask Gatehouse, at <a href="${issuer}">${issuer}</a>, who you are. Sign in there as:</p>
<dl class="facts">
<div><dt>User name</dt><dd><code>${demoUser.username}</code></dd></div>
<div><dt>Password</dt><dd><code>${demoUser.password}</code></dd></div>
</dl>
<ul class="apps">
${apps.map(
  ({ name, protocol, description, origin }) => html`<li>
<a href="${origin}/"><strong>${name}</strong><span class="tag">${protocol}</span></a>
<p>${description}</p>
</li>
`,
)}
</ul>
<p>Both are also on your <a href="${issuer}/dashboard">dashboard at Gatehouse</a>. Sign out of one, and you are signed out of the other.</p>
<p class="small">Everything lives in a folder that is deleted when you press Ctrl-C in the terminal.</p>`;
  const document = page('Gatehouse demo', body);
  return { 'GET /': () => ({ body: document }) };
}
