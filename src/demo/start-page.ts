// The start page of the demo: the user to sign in as, and links to the applications.
import { type DemoApp, demoAdmin, demoUser } from './app.ts';
import { corpUser } from './example-corp.ts';
import { html, page } from './html.ts';
import { logoutPath } from './logout-page.ts';
import { facts } from './pages.ts';
import type { Routes } from './web.ts';

export interface Servers {
  issuer: string;
  /** Of the second Gatehouse. */
  corpIssuer: string;
}

/** Routes of the start page. */
export function startPage(apps: readonly DemoApp[], { issuer, corpIssuer }: Servers): Routes {
  const body = html`
<p class="eyebrow">Gatehouse demo</p>
<h1>Sign in once, open both</h1>
<p class="lead">Two applications, one for each protocol. Neither stores users. Both ask Gatehouse, at <a href="${issuer}">${issuer}</a>, who you are. Sign in there as:</p>
${facts({ Username: demoUser.username, Password: demoUser.password })}
<ul class="apps">
${apps.map(
  ({ name, protocol, description, origin }) => html`<li>
<a href="${origin}/"><strong>${name}</strong><span class="tag">${protocol}</span></a>
<p>${description}</p>
</li>
`,
)}
</ul>
<p>Both are also in your <a href="${issuer}/dashboard">app list at Gatehouse</a>. Sign out of one, and you are signed out of the other.</p>
<section class="part" aria-labelledby="console">
<h2 id="console">The console</h2>
<p>Administrators manage applications and people in the <a href="${issuer}/admin">console</a>. Sign out first, then sign in as:</p>
${facts({ Username: demoAdmin.username, Password: demoAdmin.password })}
<p>The <a href="${issuer}/admin/access-check">access check</a> says why a person can or can’t open an application.</p>
</section>
<section class="part" aria-labelledby="corp">
<h2 id="corp">Sign in with Example Corp</h2>
<p>Example Corp, at <a href="${corpIssuer}">${corpIssuer}</a>, is a second Gatehouse, and a connection of the first. Choose <strong>Sign in with Example Corp</strong> on the sign-in page, and sign in there as:</p>
${facts({ Username: corpUser.username, Password: corpUser.password })}
<p>Gatehouse creates an account for Kim at the first sign-in. The role <code>editor</code> comes from the group <code>staff</code> at Example Corp. The applications see no difference.</p>
</section>
<section class="part" aria-labelledby="sign-out">
<h2 id="sign-out">One sign-out ends all sessions</h2>
<p>Then choose <strong>Sign out everywhere</strong> in one application. This ends the sessions at both applications, at Gatehouse and at Example Corp. <a href="${logoutPath}">The last sign-out</a> lists who ended what, and when.</p>
</section>
<p class="small">All data is in a folder that is deleted when you press Ctrl-C in the terminal.</p>`;
  const document = page('Gatehouse demo', body);
  return { 'GET /': () => ({ body: document }) };
}
