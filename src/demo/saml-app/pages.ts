// The page of the SAML application with the user's attributes.
import type { Profile } from '@node-saml/node-saml';
import { html, page } from '../html.ts';
import { facts, noticeOf } from '../pages.ts';

export interface Session {
  profile: Profile;
  /** Attribute name -> its values. */
  attributes: Record<string, string[]>;
}

/** The content of the assertion. */
export function signedInPage(appName: string, { profile, attributes }: Session, notice?: string): string {
  const name = attributes.displayName?.[0] ?? profile.nameID;
  const values = Object.entries(attributes).map(([attribute, all]) => [attribute, all.join(', ')]);
  return page(
    `${name} · ${appName}`,
    html`
<p class="eyebrow">${appName}</p>
<h1>Hello, ${name}</h1>
${noticeOf(notice)}
<p class="lead">Gatehouse sent this application an assertion about you, which only this application can read.</p>
<form class="actions" method="post" action="/sign-out">
<button class="button primary">Sign out everywhere</button>
</form>
<section aria-labelledby="attributes">
<h2 id="attributes">Attributes</h2>
${facts(Object.fromEntries(values))}
</section>
<section aria-labelledby="subject">
<h2 id="subject">Subject and session</h2>
${facts({
  NameID: profile.nameID,
  'NameID format': profile.nameIDFormat,
  SessionIndex: profile.sessionIndex ?? 'none',
  Issuer: profile.issuer,
})}
</section>`,
  );
}
