// What a browser and a relying party do at any identity provider.
import { type HttpClient, httpClient, type Page } from '../../../test/support/http.ts';
import { agent, send } from '../load.ts';
import { challenge, clientHeaders, type Tokens, verifier } from '../sign-in.ts';
import { client } from '../target.ts';
import { type LoginForm, loginApplicationUrl, type Provider } from './provider.ts';

const PAGES = 4;

export const newBrowser = (): HttpClient => httpClient(undefined, { agent });

/** Sends the browser to the authorization endpoint; where the provider asks, the user signs in. */
export async function authorize(
  { endpoints, login }: Provider,
  browser: HttpClient,
  scope = 'openid profile email',
): Promise<{ code: string; hasSignedIn: boolean }> {
  const query = new URLSearchParams({
    client_id: client.id,
    redirect_uri: client.redirectUri,
    response_type: 'code',
    scope,
    state: 'state-of-the-benchmark',
    nonce: 'nonce-of-the-benchmark',
    code_challenge: challenge,
    code_challenge_method: 'S256',
  });
  const isOutside = (url: string) => url.startsWith(client.redirectUri) || url.startsWith(loginApplicationUrl);
  let page = await browser.follow(await browser.get(`${endpoints.authorization}?${query}`), isOutside);
  let hasSignedIn = false;
  for (let pages = 0; !page.location?.startsWith(client.redirectUri); pages += 1) {
    if (pages === PAGES)
      throw new Error(`no end of the sign-in: ${page.status} ${page.url} ${page.text.slice(0, 500)}`);
    const next =
      'fields' in login
        ? await submitLogin(browser, page, login)
        : await browser.get(await login.application(page.location ?? ''));
    hasSignedIn ||= 'fields' in login;
    page = await browser.follow(next, isOutside);
  }
  const code = new URL(page.location).searchParams.get('code');
  if (!code) throw new Error(`no code in ${page.location}`);
  return { code, hasSignedIn };
}

/** The end of the last sign-in at a form that takes one at a time. */
const lastSignIns = new WeakMap<LoginForm, Promise<unknown>>();

async function submitLogin(browser: HttpClient, page: Page, login: LoginForm): Promise<Page> {
  if (!login.isSerial) return browser.submit(page, login.fields);
  const submitted = (lastSignIns.get(login) ?? Promise.resolve()).then(() => browser.submit(page, login.fields));
  lastSignIns.set(login, submitted);
  return submitted;
}

export const redeem = (provider: Provider, code: string): Promise<Tokens> =>
  token(provider, {
    grant_type: 'authorization_code',
    code,
    redirect_uri: client.redirectUri,
    code_verifier: verifier,
  });

export async function token({ endpoints }: Provider, form: Record<string, string>): Promise<Tokens> {
  return JSON.parse((await send(endpoints.token, { headers: clientHeaders, form })).text);
}

/** The tokens of a user who signs in with a new browser. */
export async function newTokens(provider: Provider, scope?: string): Promise<Tokens> {
  return redeem(provider, (await authorize(provider, newBrowser(), scope)).code);
}
