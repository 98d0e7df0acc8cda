// A copy of the database gives no access: bearer values are stored as hashes, other secrets are sealed.
import { readFileSync } from 'node:fs';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRegistrationTokens } from '../../../src/protocols/oidc/store/registration-tokens.ts';
import { databaseKind } from '../../support/database/database.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { type HttpClient, httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { anApplication, authorizeUrl, outcome, postAs, redirectUri, signIn } from '../support.ts';

let idp: TestIdp;
let user: TestUser;

beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services);
});
afterAll(() => idp?.stop());

/** The database as a thief would read it. */
async function stolen(): Promise<string> {
  const url = idp.environment.DATABASE_URL ?? '';
  if (databaseKind() === 'sqlite') {
    const file = url.replace('file:', '');
    return [file, `${file}-wal`].map((name) => readFileSync(name).toString('latin1')).join('');
  }
  const { db } = idp.services;
  const tables = await db.$queryRaw<{ name: string }[]>`SELECT tablename::text AS name FROM pg_tables
    WHERE schemaname = 'public'`;
  const rows = await Promise.all(
    tables.map(({ name }) => db.$queryRawUnsafe<{ row: string }[]>(`SELECT t::text AS row FROM "${name}" t`)),
  );
  return rows.flatMap((list) => list.map(({ row }) => row)).join('\n');
}

const cookieOf = (browser: HttpClient, name: string) => browser.cookies.get(name)?.value ?? '';

describe('the database', () => {
  it('holds no secret, token, code, device code, request URI, password or session cookie in plain text', async () => {
    const compared = await anApplication(idp, {
      grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    });
    const sealed = await anApplication(idp, {
      token_endpoint_auth_method: 'client_secret_jwt',
      id_token_signed_response_alg: 'HS256',
    });
    const tv = await anApplication(idp, {
      redirect_uris: [],
      grant_types: ['urn:ietf:params:oauth:grant-type:device_code'],
      token_endpoint_auth_method: 'none',
    });
    const browser = httpClient(idp.issuer);
    const { tokens } = await signIn(browser, compared, user, { scope: 'openid offline_access' });
    const code = (await outcome(browser, authorizeUrl(idp, compared.clientId))).get('code') ?? '';
    const machine = await oidc.clientCredentialsGrant(compared.rp.config);
    const pushed = await postAs(
      idp,
      compared,
      '/par',
      Object.fromEntries(new URL(authorizeUrl(idp, compared.clientId)).searchParams),
    );
    const device = await oidc.initiateDeviceAuthorization(tv.rp.config, { scope: 'openid' });
    const initial = await createRegistrationTokens(idp.services).issue();
    const registered = await httpClient(idp.issuer).post('/register', {
      json: { redirect_uris: [redirectUri] },
      headers: { authorization: `Bearer ${initial.token}` },
    });
    const { client_secret: secret, registration_access_token: registration } =
      registered.json<Record<string, string>>();

    const page = await browser.get(authorizeUrl(idp, compared.clientId, { prompt: 'login' }));
    const open = await browser.follow(page);
    const secrets: Record<string, string | undefined> = {
      compared: compared.clientSecret,
      sealed: sealed.clientSecret,
      registered: secret,
      registration,
      initial: initial.token,
      password: user.password,
      access: tokens.access_token,
      refresh: tokens.refresh_token,
      id: tokens.id_token,
      code,
      machine: machine.access_token,
      pushed: String(pushed.json().request_uri).split(':').at(-1),
      device: device.device_code,
      session: cookieOf(browser, 'gatehouse_session'),
      csrf: cookieOf(browser, 'gatehouse_csrf'),
      csrfField: open.forms[0]?.fields._csrf,
    };
    const database = await stolen();
    // The search itself works: what is no secret is found.
    expect(database).toContain(compared.clientId);
    expect(database).toContain(user.username);
    for (const [name, value = ''] of Object.entries(secrets)) expect(value.length, name).toBeGreaterThan(15);
    // The names alone, because a failure would print the database.
    const foundIn = (text: string, form = (value: string) => value) =>
      Object.keys(secrets).filter((name) => text.includes(form(secrets[name] ?? '')));
    expect(foundIn(database)).toEqual([]);
    expect(foundIn(database, (value) => Buffer.from(value).toString('base64url'))).toEqual([]);
    // Nor does the log.
    expect(foundIn(idp.log.join('\n'))).toEqual([]);
  });
});
