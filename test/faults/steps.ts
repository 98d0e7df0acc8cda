// Steps of a sign-in and of a logout that a browser can repeat: it reloads the page, or presses "back" and sends the form again.
import { callbackOf, openSignIn } from '../federation/support.ts';
import { redirectUri } from '../oidc/support.ts';
import { aLiveSp, post as postSaml, redirect as redirectSaml } from '../saml/live.ts';
import { aClient } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import type { OidcUpstream } from '../support/upstream/oidc-upstream.ts';
import { answerXml, beginAt, postAnswer, type SamlUpstream } from '../support/upstream/saml-upstream.ts';

export interface Step {
  name: string;
  /** The same request each time it is called. */
  send(): Promise<Page>;
}

interface Upstreams {
  corp: { connection: string; upstream: OidcUpstream };
  school: SamlUpstream;
}

/** Everything up to each step, on a server whose database is there. */
export async function stepsAt(idp: TestIdp, { corp, school }: Upstreams): Promise<Step[]> {
  const sp = await aLiveSp(idp);
  const visitor = () => httpClient(idp.issuer, { headers: { accept: 'text/html' } });
  const [byRedirect, byPost, bySlo, continuing] = [visitor(), visitor(), visitor(), visitor()];
  const [query, form, logout] = [sp.request(), sp.sign(sp.request()), sp.logout('nobody')];
  const posted = await postSaml(continuing, sp.sign(sp.request()));
  const { clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] });
  const toCallback = async (sub: string) => {
    const browser = visitor();
    corp.upstream.user = { sub };
    const page = await openSignIn(idp, { clientId, browser });
    const sent = await browser.submit(page, {}, { form: `/connections/${corp.connection}` });
    const back = await browser.follow(sent, (url) => url.startsWith(callbackOf(idp, corp.connection)));
    return { browser, url: back.location ?? '' };
  };
  const callback = await toCallback('callback');
  const redeeming = await toCallback('redeem');
  const answered = await redeeming.browser.get(redeeming.url);
  const begun = await beginAt(idp, school, { clientId, browser: visitor() });
  const answer = answerXml(idp, school, begun.requestId, { nameId: `step-${begun.requestId}` });
  return [
    { name: 'AuthnRequest by redirect', send: () => redirectSaml(byRedirect, query, { key: sp.credential }) },
    { name: 'AuthnRequest by POST', send: () => postSaml(byPost, form) },
    { name: 'the redirect after it', send: () => continuing.get(posted.location ?? '') },
    { name: 'LogoutRequest', send: () => redirectSaml(bySlo, logout, { key: sp.credential, path: '/saml/slo' }) },
    { name: 'answer of an OpenID Connect upstream', send: () => callback.browser.get(callback.url) },
    { name: 'the redirect that redeems it', send: () => redeeming.browser.get(answered.location ?? '') },
    { name: 'answer of a SAML upstream', send: () => postAnswer(begun.browser, answer) },
  ];
}
