// Signs in as a browser does, and sends the requests of a relying party.
import { createHash } from 'node:crypto';
import { httpClient } from '../../test/support/http.ts';
import { type Answer, agent, send } from './load.ts';
import { client, person, type Target } from './target.ts';
import { connection } from './upstream.ts';

/** PKCE (RFC 7636). */
export const verifier = 'benchmark-verifier-benchmark-verifier-benchmark';
export const challenge = createHash('sha256').update(verifier).digest('base64url');

export const clientHeaders = {
  authorization: `Basic ${Buffer.from(`${client.id}:${client.secret}`).toString('base64')}`,
};

/** The authorization request; `prompt: consent` where the engine wants it for offline access. */
export function authorizeUrl(
  { origin, scope = 'openid profile email' }: Target,
  parameters: Record<string, string> = {},
): string {
  const query = {
    client_id: client.id,
    redirect_uri: client.redirectUri,
    response_type: 'code',
    scope,
    state: 'state',
    nonce: 'nonce',
    code_challenge: challenge,
    code_challenge_method: 'S256',
    ...parameters,
  };
  return `${origin}/authorize?${new URLSearchParams(query)}`;
}

export interface SignedIn {
  /** The cookies of the browser. */
  cookie: string;
  code: string;
  /** The cookie of a known browser; none at the bare engine. */
  knownBrowser: string[];
}

/** Signs the user in with a browser without a session; with its cookie it is a known browser. */
export async function signIn(
  target: Target,
  parameters?: Record<string, string>,
  knownBrowser: string[] = [],
  { overConnection = false }: { overConnection?: boolean } = {},
): Promise<SignedIn> {
  const origin = new URL(target.origin);
  const browser = httpClient(target.origin, { agent });
  browser.cookies.store(origin, knownBrowser);
  const isBack = (url: string) => url.startsWith(client.redirectUri);
  const page = await browser.follow(await browser.get(authorizeUrl(target, parameters)), isBack);
  const submit = () =>
    overConnection ? browser.submit(page, {}, { form: `/connections/${connection.id}` }) : browser.submit(page, person);
  const answered = page.location ? page : await browser.follow(await submit(), isBack);
  if (!answered.location) throw new Error(`${target.name}: sign-in ended at ${answered.url} (${answered.status})`);
  const cookie = browser.cookies.headerFor(origin);
  const isKnown = (one: string) => one.startsWith('gatehouse_browser');
  return { cookie, code: codeIn(answered.location), knownBrowser: cookie.split('; ').filter(isKnown) };
}

/** Gets a code for a browser that is signed in. */
export async function codeFor(target: Target, cookie: string, parameters?: Record<string, string>): Promise<string> {
  return codeIn((await send(authorizeUrl(target, parameters), { headers: { cookie }, expect: 303 })).location);
}

export interface Tokens {
  access_token: string;
  refresh_token?: string;
  id_token?: string;
}

export async function redeem(target: Target, code: string): Promise<Tokens> {
  const form = { grant_type: 'authorization_code', code, redirect_uri: client.redirectUri, code_verifier: verifier };
  return tokensIn(await send(`${target.origin}/token`, { headers: clientHeaders, form }));
}

export async function token(target: Target, form: Record<string, string>): Promise<Tokens> {
  return tokensIn(await send(`${target.origin}/token`, { headers: clientHeaders, form }));
}

function tokensIn({ text }: Answer): Tokens {
  return JSON.parse(text);
}

function codeIn(location: string): string {
  const code = URL.canParse(location) && new URL(location).searchParams.get('code');
  if (code) return code;
  throw new Error(`no code in ${location}`);
}

/** The cookies of a browser in which an administrator has opened the console. */
export async function signInToConsole(target: Target): Promise<string> {
  const browser = httpClient(target.origin, { agent });
  const page = await browser.follow(await browser.get('/admin'));
  const opened = await browser.follow(await browser.submit(page, person));
  if (opened.status !== 200) throw new Error(`the console answered ${opened.status} at ${opened.url}`);
  return browser.cookies.headerFor(new URL(target.origin));
}
