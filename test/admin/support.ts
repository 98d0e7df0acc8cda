// Whoever calls the admin API in the tests: an application by itself, or a person through one.
import * as oidc from 'openid-client';
import { expect } from 'vitest';
import { adminApi } from '../../src/rbac/built-in.ts';
import { type Application, anApplication, type ClientInput, postAs, walk } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page, type RequestOptions } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';

export interface ApiCaller {
  token: string;
  app: Application;
  /** The person behind the token. */
  user?: TestUser;
  get(path: string, headers?: Record<string, string>): Promise<Page>;
  /** Sends JSON. */
  send(method: string, path: string, json?: unknown, headers?: Record<string, string>): Promise<Page>;
}

/** Calls below /api/admin with this token. */
export function caller(idp: TestIdp, token: string, app: Application, user?: TestUser): ApiCaller {
  const client: HttpClient = httpClient(`${idp.issuer}`);
  const call = (method: string, path: string, { headers, ...options }: RequestOptions) =>
    client.request(method, `/api/admin${path}`, {
      ...options,
      headers: { accept: '*/*', authorization: `Bearer ${token}`, ...headers },
    });
  return {
    token,
    app,
    ...(user && { user }),
    get: (path, headers = {}) => call('GET', path, { headers }),
    send: (method, path, json, headers = {}) =>
      call(method, path, { headers, ...(json === undefined ? {} : { json }) }),
  };
}

/** An application that acts by itself, with these scopes. */
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

/** The application through which people call. */
export function aTool(idp: TestIdp, input: ClientInput = {}): Promise<Application> {
  return anApplication(idp, { resources: [adminApi(idp.issuer)], scope: 'openid admin:*', ...input });
}

/** A person with these roles, signed in to the tool. */
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

/** Signs the person in and exchanges the code for a token of the admin API. */
export async function tokenOf(idp: TestIdp, app: Application, user: TestUser, scope: string): Promise<string> {
  const resource = adminApi(idp.issuer);
  const started = await app.rp.start({ scope, resource });
  const page = await walk(httpClient(idp.issuer), started.url, { user });
  const { config } = app.rp;
  const callback = new URL(page.location ?? page.url);
  const tokens = await oidc.authorizationCodeGrant(config, callback, started.checks, { resource });
  return tokens.access_token;
}
