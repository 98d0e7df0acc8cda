// A connection is tried when it is saved, in the console, over the API and by a file: a wrong client secret or key, or a directory that
// cannot be used, is named then, on the page of the connection, in its state and in "Try it".
import { exportJWK, exportPKCS8 } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type ApiCaller, aPerson } from '../admin/support.ts';
import { anRsaKey } from '../support/applications/rsa-keys.ts';
import type { HttpClient } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { listen } from '../support/listen.ts';
import { textOf } from '../support/pages/html.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import { startDirectory, type TestDirectory } from '../support/upstream/directory.ts';
import { aConnection, anUpstream, type Connected } from './support.ts';

let idp: TestIdp;
let one: Connected;
let admin: HttpClient;
let api: ApiCaller;

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  one = await anUpstream(idp, {});
  admin = await consoleOf(idp, await staff(idp, 'admin'));
  api = await aPerson(idp, ['admin']);
});
afterAll(() => one.remove());

interface Answer {
  trial?: { outcome: string; error: string | null };
  rejected_at?: string | null;
}

/** Stores the secret over the API. */
async function add(id: string, purpose: 'client-secret' | 'private-key' | 'bind-password', value: string) {
  const answer = await api.send('POST', `/connections/${id}/secrets`, { purpose, value });
  expect([answer.status, answer.text]).toEqual([201, expect.anything()]);
  return answer.json<Answer>();
}

const pageOf = async (id: string) => textOf((await admin.get(`/admin/connections/${id}`)).text);

it('is told apart from a wrong code, when it is saved and at a sign-in, until the right one is added', async () => {
  const at = `/admin/connections/${one.connection}`;
  const [right] = await idp.services.connections.decryptedSecrets(one.connection, 'client-secret');
  const enter = async (value: string) => {
    const form = await admin.get(`${at}/secret`);
    return textOf((await admin.follow(await admin.submit(form, { purpose: 'client-secret', value }))).text);
  };
  const wrong = await enter('not-the-secret-of-this-client');
  expect(wrong).toContain('rejected the client ID or secret.');
  expect(wrong).toContain('Secret rejected');
  const tried = await admin.follow(await admin.submit(await admin.get(at), {}, { form: '/test' }));
  expect(textOf(tried.text)).toContain('The provider rejected the client ID or secret.');
  expect(textOf(tried.text)).not.toContain('WWW-Authenticate');

  const fixed = await enter(right?.value ?? '');
  expect(fixed).toContain('Secret added');
  expect(fixed).not.toContain('Secret rejected');
});

describe('the answer of the API', () => {
  it('has the result for a secret, a change and a new connection', async () => {
    const [right] = await idp.services.connections.decryptedSecrets(one.connection, 'client-secret');
    const rejected = await add(one.connection, 'client-secret', 'not-the-secret-of-this-client');
    expect(rejected).toMatchObject({ trial: { outcome: 'rejected' }, rejected_at: expect.any(String) });
    expect(rejected.trial?.error).toBeTruthy();
    const change = { client_secret: right?.value };
    const changed = await api.send('PATCH', `/connections/${one.connection}`, change, { 'if-match': '*' });
    expect(changed.json()).toMatchObject({ trial: { outcome: 'accepted', error: null } });
    expect(await pageOf(one.connection)).not.toContain('Secret rejected');

    const { issuer } = one.upstream;
    const fields = {
      id: 'tried-new',
      kind: 'oidc',
      name: 'New',
      issuer,
      client_id: 'gatehouse',
      client_secret: 'wrong one',
    };
    const created = await api.send('POST', '/connections', fields);
    expect([created.status, created.json()]).toEqual([201, expect.objectContaining({ trial: expect.anything() })]);
    expect(created.json<Answer>().trial?.outcome).toBe('rejected');
    expect(await pageOf('tried-new')).toContain('Secret rejected');
    await idp.services.connections.remove('tried-new', {});
  });

  it('has none where nothing can be tried', async () => {
    const change = { token_endpoint_auth_method: 'none', client_secret: null };
    const open = await anUpstream(idp, {});
    const answer = await api.send('PATCH', `/connections/${open.connection}`, change, { 'if-match': '*' });
    expect([answer.status, answer.json()]).toEqual([200, expect.not.objectContaining({ trial: expect.anything() })]);
    await open.remove();
  });

  it('says `unknown` for a provider that does not answer', async () => {
    const away = await anUpstream(idp, {});
    await away.upstream.stop();
    const { trial } = await add(away.connection, 'client-secret', 'a-secret-that-nobody-tries');
    expect(trial).toMatchObject({ outcome: 'unknown', error: expect.any(String) });
    expect(await pageOf(away.connection)).not.toContain('Secret rejected');
    await idp.services.connections.remove(away.connection, {});
  });
});

describe('each way in which a client authenticates', () => {
  const pem = async ({ privateKey }: ReturnType<typeof anRsaKey>) => exportPKCS8(privateKey);

  it('with a key of its own (private_key_jwt)', async () => {
    const [right, wrong] = [anRsaKey(), anRsaKey()];
    const method = 'private_key_jwt';
    const jwks = { keys: [await exportJWK(right.publicKey)] };
    const keyed = await anUpstream(
      idp,
      { token_endpoint_auth_method: method, client_secret: undefined, private_key: await pem(right) },
      { client: { token_endpoint_auth_method: method, client_secret: undefined, jwks } },
    );
    expect(await add(keyed.connection, 'private-key', await pem(wrong))).toMatchObject({
      trial: { outcome: 'rejected' },
    });
    expect(await pageOf(keyed.connection)).toContain('Secret rejected');
    expect(await add(keyed.connection, 'private-key', await pem(right))).toMatchObject({
      trial: { outcome: 'accepted' },
    });
    expect(await pageOf(keyed.connection)).not.toContain('Secret rejected');
    await keyed.remove();
  });

  it('with a JWT as secret (Apple)', async () => {
    const { generateKeyPair } = await import('jose');
    const { privateKey } = await generateKeyPair('ES256', { extractable: true });
    const key = { team_id: 'TEAM', key_id: 'KEY', private_key: await exportPKCS8(privateKey) };
    const apple = await anUpstream(idp, (issuer) => ({ ...key, preset: 'apple', client_secret: undefined, issuer }));
    expect(await add(apple.connection, 'private-key', key.private_key)).toMatchObject({
      trial: { outcome: 'rejected' },
    });
    expect(await pageOf(apple.connection)).toContain('Secret rejected');
    apple.upstream.quirks = { acceptsAnySecret: true };
    const other = await exportPKCS8((await generateKeyPair('ES256', { extractable: true })).privateKey);
    expect(await add(apple.connection, 'private-key', other)).toMatchObject({ trial: { outcome: 'accepted' } });
    await apple.remove();
  });

  it.each([
    ['as RFC 6749 says it', 401, 'invalid_client', 'invalid_grant'],
    ['as GitHub says it', 200, 'incorrect_client_credentials', 'bad_verification_code'],
  ])('to an OAuth 2.0 server, which answers %s', async (_name, status, rejection, wrongCode) => {
    const secrets: string[] = [];
    const server = await listen(async (request, response) => {
      let body = '';
      for await (const part of request) body += part;
      const basic = Buffer.from((request.headers.authorization ?? '').replace('Basic ', ''), 'base64').toString();
      const secret = new URLSearchParams(body).get('client_secret') ?? decodeURIComponent(basic.split(':')[1] ?? '');
      secrets.push(secret);
      const isRight = secret === 'the right secret';
      response.writeHead(isRight && status !== 200 ? 400 : status, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ error: isRight ? wrongCode : rejection }));
    });
    const id = `oauth2-${status}`;
    const urls = {
      authorization_url: `${server.origin}/a`,
      token_url: `${server.origin}/t`,
      userinfo_url: `${server.origin}/u`,
    };
    await aConnection(idp, {
      id,
      kind: 'oauth2',
      ...urls,
      subject_claim: 'id',
      client_id: 'gatehouse',
      client_secret: 'x',
    });
    expect(await add(id, 'client-secret', 'a wrong secret')).toMatchObject({ trial: { outcome: 'rejected' } });
    expect(await pageOf(id)).toContain('Secret rejected');
    expect(await add(id, 'client-secret', 'the right secret')).toMatchObject({ trial: { outcome: 'accepted' } });
    expect(await pageOf(id)).not.toContain('Secret rejected');
    expect(secrets).toEqual(['a wrong secret', 'the right secret']);
    await idp.services.connections.remove(id, {});
    await server.close();
  });
});

it('is tried within a minute after a configuration file or the command line has stored it, once', async () => {
  const file = await anUpstream(idp, { client_secret: 'a secret of the file that is wrong' }, { proven: true });
  expect(await pageOf(file.connection)).not.toContain('Secret rejected');
  await idp.services.clientSecrets.checkNew();
  expect(await pageOf(file.connection)).toContain('Secret rejected');
  const warnings = (await idp.services.connectionWarnings()).map(({ text }) => String(text));
  expect(warnings).toContainEqual(expect.stringContaining('rejected the client ID or secret'));
  let calls = 0;
  file.upstream.quirks = {
    redirects: {
      get '/token'() {
        calls += 1;
        return '';
      },
    },
  };
  await idp.services.clientSecrets.checkNew();
  expect(calls).toBe(0);
  await file.remove();
});

describe('a directory', () => {
  let directory: TestDirectory;
  const BASE = 'ou=people,dc=example,dc=com';
  const SERVICE = 'cn=search,dc=example,dc=com';
  const fields = () => ({ url: directory.url, base_dn: BASE, bind_dn: SERVICE, bind_password: 'search-secret' });

  it('is tried with its filter when it is saved, which a directory that is down does not prevent', async () => {
    directory = await startDirectory([{ dn: SERVICE, password: 'search-secret', attributes: {} }]);
    const id = 'tried-directory';
    await aConnection(idp, { id, kind: 'ldap', name: 'Example Directory', ...fields() });
    const form = await admin.get(`/admin/connections/${id}/edit`);
    const save = async (filter: string) =>
      textOf((await admin.follow(await admin.submit(await admin.get(form.url), { filter }))).text);

    expect(await save('(uid={username})')).not.toContain('can’t be used yet');
    expect(directory.searches.map(({ filter }) => filter)).toContainEqual(
      expect.stringMatching(/^\(uid=[0-9a-f]{24}\)$/),
    );
    // The directory knows no such rule.
    directory.quirks.searchCode = 18;
    const rejected = await save('(mail={username})');
    expect(rejected).toContain('Saved, but Example Directory can’t be used yet');
    const patched = await api.send('PATCH', `/connections/${id}`, { filter: '(cn={username})' }, { 'if-match': '*' });
    expect(patched.json()).toMatchObject({ trial: { outcome: 'unknown', error: expect.any(String) } });
    directory.quirks.searchCode = 0;
    expect(await add(id, 'bind-password', 'not the password')).toMatchObject({ trial: { outcome: 'rejected' } });
    expect(await pageOf(id)).toContain('Rejected on');
    expect(await add(id, 'bind-password', 'search-secret')).toMatchObject({ trial: { outcome: 'accepted' } });

    await directory.stop();
    expect(await save('(sn={username})')).toContain('Saved, but Example Directory can’t be used yet');
    expect(await idp.services.connections.get(id)).toMatchObject({ settings: { filter: '(sn={username})' } });
    await idp.services.connections.remove(id, {});
  });
});
