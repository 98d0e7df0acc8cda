// Callers of the admin API in tests: an application without a user, or a user through one. Every response is checked against the
// OpenAPI document.
import * as oidc from 'openid-client';
import { expect } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { adminApi, OWNERS_SCOPE, ownersApi } from '../../src/people/rbac/built-in.ts';
import { type Application, anApplication, type ClientInput, completeSignIn, postAs } from '../oidc/support.ts';
import { signRows } from '../support/database/row-macs.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { type Description, descriptionOf } from './described.ts';

export interface ApiCaller {
  token: string;
  app: Application;
  /** The user behind the token. */
  user?: TestUser;
  get(path: string, headers?: Record<string, string>): Promise<Page>;
  /** Sends JSON, or text of another type when `headers` name one. */
  send(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Page>;
}

const descriptions = new Map<string, Description>();

/** The OpenAPI document of this server, with the responses so far. */
export async function described(idp: TestIdp): Promise<Description> {
  const description = descriptions.get(idp.issuer) ?? (await descriptionOf(idp.issuer));
  descriptions.set(idp.issuer, description);
  return description;
}

/** Calls below /api/admin with this token, or at a path of /api/groups. */
export function caller(idp: TestIdp, token: string, app: Application, user?: TestUser): ApiCaller {
  const client = httpClient(idp.issuer);
  const send: ApiCaller['send'] = async (method, path, body, headers = {}) => {
    const target = path.startsWith('/api/groups') ? path : `/api/admin${path}`;
    const isText = headers['content-type'] !== undefined;
    const page = await client.request(method, target, {
      headers: { accept: '*/*', authorization: `Bearer ${token}`, ...headers },
      ...(body === undefined ? {} : isText ? { body: String(body) } : { json: body }),
    });
    (await described(idp)).check(method, target, body, page);
    return page;
  };
  return { token, app, ...(user && { user }), send, get: (path, headers) => send('GET', path, undefined, headers) };
}

/** An application that acts without a user, with these scopes. */
export async function aService(idp: TestIdp, scope = 'admin:*', input: ClientInput = {}): Promise<ApiCaller> {
  const app = await anApplication(idp, {
    redirect_uris: [],
    grant_types: ['client_credentials'],
    resources: [adminApi(idp.issuer)],
    scope,
    ...input,
  });
  const answer = await postAs(idp, app, '/token', {
    grant_type: 'client_credentials',
    resource: adminApi(idp.issuer),
    scope,
  });
  expect(answer.status, answer.text).toBe(200);
  return caller(idp, String(answer.json().access_token), app);
}

/** The application through which users call. */
export function aTool(idp: TestIdp, input: ClientInput = {}): Promise<Application> {
  return anApplication(idp, { resources: [adminApi(idp.issuer)], scope: 'openid admin:*', ...input });
}

/** A user with these roles, signed in to the tool. */
export async function aPerson(
  idp: TestIdp,
  roles: string[],
  { tool, scope = 'openid admin:*' }: { tool?: Application; scope?: string } = {},
): Promise<ApiCaller> {
  const user = await aUser(idp.services);
  await idp.services.roles.setRoles(user.account.id, roles);
  const app = tool ?? (await aTool(idp));
  return caller(idp, await tokenOf(idp, app, user, scope), app, user);
}

/** A user who lets the tool manage the groups that the user owns. */
export async function anOwner(idp: TestIdp, user: TestUser, scope = `openid ${OWNERS_SCOPE}`): Promise<ApiCaller> {
  const resource = ownersApi(idp.issuer);
  const app = await aTool(idp, { resources: [resource], scope: `openid groups ${OWNERS_SCOPE}` });
  return caller(idp, await tokenOf(idp, app, user, scope, { resource }), app, user);
}

interface TokenOptions {
  resource?: string;
  parameters?: Record<string, string>;
  totp?: () => string;
  mailedCode?: () => Promise<string>;
}

/** Signs the user in, with a code of the authenticator where it is asked for, and gets a token of the admin API. */
export async function tokenOf(
  idp: TestIdp,
  app: Application,
  user: TestUser,
  scope: string,
  { resource = adminApi(idp.issuer), parameters = {}, totp, mailedCode }: TokenOptions = {},
): Promise<string> {
  const started = await app.rp.start({ scope, resource, ...parameters });
  const browser = httpClient(idp.issuer);
  let page = await completeSignIn(browser, started.url, { user });
  if (totp && page.location === undefined)
    page = await completeSignIn(browser, await browser.submit(page, { code: totp() }), { user });
  if (mailedCode && page.location === undefined) {
    const form = await browser.follow(await browser.submit(page, {}, { form: 'send-code' }));
    page = await completeSignIn(browser, await browser.submit(form, { code: await mailedCode() }), { user });
  }
  const { config } = app.rp;
  const callback = new URL(page.location ?? page.url);
  const tokens = await oidc.authorizationCodeGrant(config, callback, started.checks, { resource });
  return tokens.access_token;
}

/** Makes the sign-in behind every access token of this user older than a fresh one. */
export async function tokenOfLongAgo({ services }: TestIdp, { user }: ApiCaller): Promise<void> {
  const { db } = services;
  const rows = await db.oidcArtifact.findMany({ where: { model: 'AccessToken', accountId: user?.account.id ?? '' } });
  for (const { id, payload } of rows) {
    const stored = JSON.parse(payload) as { extra: { auth_time: number } };
    stored.extra.auth_time -= limits.recentAuthentication.seconds + 60;
    await db.oidcArtifact.update({ where: { id }, data: { payload: JSON.stringify(stored), mac: '' } });
  }
  await signRows(services);
}
