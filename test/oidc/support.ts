// Shared by the tests of the protocol: completes a sign-in in a browser, and calls the endpoints as a client does.
import * as oidc from 'openid-client';
import { type RelyingParty, relyingParty, type StartedSignIn, type TokenAnswer } from '../support/applications/rp.ts';
import { aClient, type TestClient, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';

/** No server listens here: tests stop before the browser goes there. */
export const redirectUri = 'http://127.0.0.1:4000/cb';

export interface Application extends TestClient {
  rp: RelyingParty;
  redirectUri: string;
}

export type ClientInput = Parameters<typeof aClient>[1];

/** A registered application with its client library. */
export async function anApplication(
  idp: TestIdp,
  input: ClientInput = {},
  clientAuth?: oidc.ClientAuth,
): Promise<Application> {
  const uri = input?.redirect_uris?.[0] ?? redirectUri;
  const client = await aClient(idp.services, {
    redirect_uris: [uri],
    grant_types: ['authorization_code', 'refresh_token'],
    ...input,
  });
  const metadata = {
    ...(input?.id_token_signed_response_alg && { id_token_signed_response_alg: input.id_token_signed_response_alg }),
    ...(input?.userinfo_signed_response_alg && { userinfo_signed_response_alg: input.userinfo_signed_response_alg }),
  };
  const rp = await relyingParty({
    issuer: idp.issuer,
    ...client,
    redirectUri: uri,
    metadata,
    ...(clientAuth && { clientAuth }),
  });
  return { ...client, rp, redirectUri: uri };
}

/** The registration of a client that may request tokens for this API with these scopes, beside all of OpenID Connect. */
export const forApi = (api: string | string[], ...scopes: string[]) => ({
  resources: [api].flat(),
  scope: ['openid profile email phone roles permissions groups offline_access', ...scopes].join(' '),
});

export interface SignInChoices {
  user: TestUser;
  redirectUri?: string;
  /** The button pressed on consent pages. */
  consent?: 'Allow' | 'Don’t allow';
}

/** Goes from an address to the application, through sign-in and consent; stops at any other page. */
export async function completeSignIn(
  browser: HttpClient,
  from: string | Page,
  { user, redirectUri: uri = redirectUri, consent = 'Allow' }: SignInChoices,
): Promise<Page> {
  const isThere = (url: string) => url.startsWith(uri);
  let page = await browser.follow(typeof from === 'string' ? await browser.get(from) : from, isThere);
  for (let pages = 0; pages < 6 && page.location === undefined; pages += 1) {
    const [form] = page.forms;
    if (page.status === 200 && form && 'password' in form.fields && 'username' in form.fields) {
      page = await browser.submit(page, { username: user.username, password: user.password });
    } else if (form?.action.endsWith('/consent')) {
      page = await browser.submit(page, {}, { button: consent });
    } else if (form && page.text.includes('One moment') && !isThere(form.action)) {
      page = await browser.submit(page);
    } else return page;
    page = await browser.follow(page, isThere);
  }
  return page;
}

export interface SignedIn {
  tokens: TokenAnswer;
  /** The address the application was called back at. */
  callback: URL;
  started: StartedSignIn;
}

/** A whole sign-in with the client library. */
export async function signIn(
  browser: HttpClient,
  application: Application,
  user: TestUser,
  parameters?: Record<string, string>,
): Promise<SignedIn> {
  const started = await application.rp.start(parameters);
  const page = await completeSignIn(browser, started.url, { user, redirectUri: application.redirectUri });
  if (!page.location)
    throw new Error(`the sign-in ended at ${page.url} (${page.status}):\n${page.text.slice(0, 2000)}`);
  const callback = new URL(page.location);
  return { tokens: await application.rp.finish(callback, started), callback, started };
}

/** The parameters with which the application is called back after a request, which may be rejected; throws on any page. */
export async function outcome(browser: HttpClient, url: string, uri = redirectUri): Promise<URLSearchParams> {
  const page = await browser.follow(await browser.get(url), (target) => target.startsWith(uri));
  if (!page.location) throw new Error(`no redirect: ${page.status} ${page.url}\n${page.text.slice(0, 2000)}`);
  return new URL(page.location).searchParams;
}

/** An authorization request by hand, with a fixed and sound PKCE challenge; `null` leaves a parameter out. */
export function authorizeUrl(idp: TestIdp, clientId: string, parameters: Record<string, string | null> = {}): string {
  const all: Record<string, string | null> = {
    client_id: clientId,
    redirect_uri: redirectUri,
    response_type: 'code',
    scope: 'openid',
    state: 'the-state',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...parameters,
  };
  const present = Object.entries(all).filter((entry): entry is [string, string] => entry[1] !== null);
  return `${idp.issuer}/authorize?${new URLSearchParams(present)}`;
}

export const verifier = 'v'.repeat(43);
const challenge = await oidc.calculatePKCECodeChallenge(verifier);

/** A POST to an endpoint as this client (client_secret_basic). */
export function postAs(
  idp: TestIdp,
  { clientId, clientSecret }: TestClient,
  path: string,
  form: Record<string, string>,
  headers: Record<string, string> = {},
): Promise<Page> {
  return httpClient(idp.issuer).post(path, {
    form,
    headers: { accept: '*/*', ...(clientSecret ? { authorization: basic(clientId, clientSecret) } : {}), ...headers },
  });
}

export function basic(clientId: string, secret: string): string {
  const encode = (text: string) => encodeURIComponent(text);
  return `Basic ${Buffer.from(`${encode(clientId)}:${encode(secret)}`).toString('base64')}`;
}
