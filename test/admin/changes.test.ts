// Changes through the admin API: no update is lost, nothing is created twice, a secret is replaced without downtime, two
// names that look the same are one, and the audit holds the values before and after.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anApplication, postAs } from '../oidc/support.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { signRows } from '../support/database/row-macs.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type ApiCaller, aService } from './support.ts';

let idp: TestIdp;
let admin: ApiCaller;
let later = 0;
beforeAll(async () => {
  idp = await startIdp({ now: () => new Date(Date.now() + later), hasTamperedRows: true });
  admin = await aService(idp);
});
afterAll(() => idp?.stop());

const LEVELS = { type: 'object', properties: { level: { type: 'integer' } } };
const anyVersion = { 'if-match': '*' };
const codeOf = ({ status, json }: { status: number; json(): Record<string, unknown> }) => [status, json().code];

describe('a change', () => {
  it('is rejected without If-Match, and when the version is outdated', async () => {
    const { account } = await aUser(idp.services);
    const role = await idp.services.roles.create({ name: 'lost' });
    const client = await anApplication(idp);
    await idp.services.db.asStored.resource.create({ data: { identifier: 'urn:lost', scopes: '["a"]' } });
    await signRows(idp.services);
    await admin.send('POST', '/connections', { id: 'lost', preset: 'github', name: 'Lost', client_id: 'x' });
    for (const [path, method, body] of [
      [`/users/${account.id}`, 'PATCH', { name: 'Mine' }],
      [`/users/${account.id}`, 'DELETE', undefined],
      [`/roles/${role.id}`, 'PATCH', { description: 'Mine' }],
      [`/applications/${client.applicationId}`, 'PATCH', { client_name: 'Mine' }],
      ['/resources/urn:lost', 'PATCH', { scopes: ['b'] }],
      ['/connections/lost', 'PATCH', { name: 'Mine' }],
      ['/connections/lost', 'DELETE', undefined],
      ['/settings', 'PATCH', { session_hours: 5 }],
    ] as const) {
      const { etag = '' } = (await admin.get(path)).headers;
      expect(codeOf(await admin.send(method, path, body)), path).toEqual([428, 'precondition_required']);
      for (const stale of ['"another"', `W/${etag}`])
        expect(codeOf(await admin.send(method, path, body, { 'if-match': stale })), path).toEqual([
          412,
          'precondition_failed',
        ]);
      expect((await admin.get(path)).headers.etag).toBe(etag);
    }
    const path = `/users/${account.id}`;
    const { etag = '' } = (await admin.get(path)).headers;
    const both = ['One', 'Two'].map((name) => admin.send('PATCH', path, { name }, { 'if-match': etag }));
    expect((await Promise.all(both)).map(({ status }) => status).sort()).toEqual([200, 412]);
    expect((await admin.send('PATCH', path, { name: 'Three' }, anyVersion)).status).toBe(200);
  });

  itOnSqlite('drops the token of the SMS gateway when its URL has another origin', async () => {
    const { settings } = idp.services;
    const change = async (gateway: Record<string, string>) => {
      const page = await admin.send('PATCH', '/settings', { sms_gateway: gateway }, anyVersion);
      expect([page.status, page.text]).toEqual([200, expect.not.stringContaining('for-sms')]);
      return settings.get('sms_gateway');
    };
    const url = 'https://sms.example.com/send';
    expect(await change({ url, token: 'for-sms' })).toEqual({ url, token: 'for-sms' });
    const moved = 'https://sms.example.com/v2/send';
    expect(await change({ url: moved, sender: 'Us' })).toEqual({ url: moved, sender: 'Us', token: 'for-sms' });
    for (const other of [
      'https://sms.evil.example/send',
      'http://sms.example.com/send',
      'https://sms.example.com:444/',
    ]) {
      expect(await change({ url: other })).toEqual({ url: other });
      await change({ url, token: 'for-sms' });
    }
    await settings.unset('sms_gateway');
  });

  itOnSqlite('is rejected with the name of each invalid field, and changes nothing', async () => {
    const wrong = {
      protocol: 'oidc',
      redirect_uris: ['https://ok.example/', 'http://shop.example/cb'],
      grant_typs: [],
    };
    const page = await admin.send('POST', '/applications', wrong);
    expect([page.headers['content-type'], page.json()]).toEqual([
      'application/problem+json',
      expect.objectContaining({
        type: 'urn:gatehouse:error:invalid_input',
        title: 'Bad Request',
        status: 400,
        requestId: expect.any(String),
        errors: [
          { path: 'grant_typs', code: 'unknown-key', message: expect.stringContaining('Did you mean grant_types?') },
        ],
      }),
    ]);
    const uris = await admin.send('POST', '/applications', { ...wrong, grant_typs: undefined });
    expect(uris.json().errors).toMatchObject([{ path: 'redirect_uris[1]', message: expect.stringContaining('https') }]);
    const user = await admin.send('POST', '/users', { username: 'x', email: 'no address', roles: 'admin' });
    expect(user.json<{ errors: { path: string }[] }>().errors.map(({ path }) => path)).toEqual(['roles']);
    const email = await admin.send('POST', '/users', { username: 'x', given_name: 'X', email: 'no address' });
    expect(email.json<{ errors: { path: string }[] }>().errors.map(({ path }) => path)).toEqual(['email']);
    await admin.send('PATCH', '/settings', { user_attributes: LEVELS }, anyVersion);
    const level = await admin.send('POST', '/users', { username: 'x', attributes: { level: 'high' } });
    expect(level.json<{ errors: { path: string }[] }>().errors.map(({ path }) => path)).toEqual(['attributes.level']);
    await admin.send('PATCH', '/settings', { user_attributes: null }, anyVersion);
    const short = await admin.send('POST', '/users', { username: 'x', password: 'password1' });
    expect(codeOf(short)).toEqual([400, 'password_rejected']);
    // Without the name of the brand, the rest is too short.
    await admin.send('PATCH', '/settings', { brand_name: 'Northwind' }, anyVersion);
    const branded = await admin.send('POST', '/users', { username: 'x', password: 'northwind login!' });
    expect(codeOf(branded)).toEqual([400, 'password_rejected']);
    await admin.send('PATCH', '/settings', { brand_name: null }, anyVersion);
    expect(await idp.services.accounts.findByLogin('x')).toBeUndefined();
  });

  it.each([
    ['GET', '/users?limit=201'],
    ['GET', '/users?limit=0'],
    ['GET', '/users?state=perhaps'],
    ['GET', '/users?search=a&search=b'],
    ['GET', '/audit?cursor=99999999999'],
    ['GET', '/audit?type=made.up'],
    ['GET', '/statistics?days=91'],
    ['GET', '/users?search=%00'],
  ])('is rejected with an invalid query: %s %s', async (method, path) => {
    expect((await admin.send(method, path)).status).toBe(400);
  });

  itOnSqlite('is rejected when a body, media type or value is beyond its limits', async () => {
    const long = await admin.send('POST', '/users', { username: 'long', name: 'x'.repeat(300_000) });
    expect(codeOf(long)).toEqual([413, 'body_too_large']);
    const text = await admin.send('POST', '/users', 'username=x', { 'content-type': 'text/plain' });
    expect(codeOf(text)).toEqual([415, 'unsupported_media_type']);
    for (const path of ['/users/%00', '/applications/%00', '/roles/%00', '/sessions/%00', '/resources/%00'])
      expect((await admin.get(path)).status, path).toBe(400);
    for (const time of ['0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z'])
      expect([200, 400]).toContain((await admin.get(`/audit?until=${time}`)).status);
    const lists = ['users', 'mail', 'sessions', 'applications', 'roles', 'groups', 'permissions', 'api-keys'];
    const beyond = Buffer.from('[0,9007199254740991,"x"]').toString('base64url');
    for (const cursor of ['1.99999999999999.x', '2.0.x', '2', '7', beyond])
      expect((await admin.get(`/users?search=a&cursor=${cursor}`)).status, cursor).toBe(200);
    for (const list of lists) {
      for (const cursor of ['999999999999999.x', '99999999999999.x'])
        expect((await admin.get(`/${list}?cursor=${cursor}`)).status, list).toBe(200);
      for (const cursor of ['nonsense', '%7b', '', 'WzFd', 'W10'])
        expect((await admin.get(`/${list}?cursor=${cursor}`)).status, `${list} ${cursor}`).toBe(400);
    }
  });
});

describe('a create', () => {
  it('is done once for each Idempotency-Key, and repeats its response', async () => {
    const key = { 'idempotency-key': 'one-two-three' };
    const first = await admin.send('POST', '/users', { username: 'once' }, key);
    const again = await admin.send('POST', '/users', { username: 'once' }, key);
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    expect(again.headers).toMatchObject({
      etag: first.headers.etag,
      location: first.headers.location,
      'idempotency-replayed': 'true',
    });
    expect(first.json()).toHaveProperty('one_time_password');
    expect(codeOf(await admin.send('POST', '/users', { username: 'twice' }, key))).toEqual([422, 'key_reused']);
    const other = await aService(idp);
    expect((await other.send('POST', '/users', { username: 'else' }, key)).status).toBe(201);
    const stored = JSON.stringify(await idp.services.db.idempotencyKey.findMany());
    expect(stored).not.toContain(first.json().one_time_password);
    expect((await admin.send('POST', '/users', { username: 'y' }, { 'idempotency-key': 'a b' })).status).toBe(400);
  });

  itOnSqlite('stores its response with every create that takes the key', async () => {
    const { id } = (
      await admin.send('POST', '/applications', {
        protocol: 'oidc',
        client_name: 'With a secret',
        redirect_uris: ['https://secret.example.com/cb'],
      })
    ).json<{ id: string }>();
    const creates: [string, object][] = [
      ['/roles', { name: 'stored-role' }],
      ['/resources', { identifier: 'https://stored.example.com', scopes: ['read'] }],
      ['/applications', { protocol: 'oidc', client_name: 'Stored', redirect_uris: ['https://stored.example.com/cb'] }],
      [
        '/applications',
        { protocol: 'saml', name: 'Stored', entity_id: 'urn:stored', acs_url: 'https://stored.example.com/acs' },
      ],
      ['/connections', { id: 'stored', preset: 'github', name: 'Stored', client_id: 'x' }],
      ['/connections/stored/secrets', { purpose: 'client-secret', value: 'x' }],
      ['/users', { username: 'stored-invited', email: 'stored@example.com', invite: true }],
      [`/applications/${id}/secrets`, { overlap_seconds: 60 }],
    ];
    for (const [index, [path, body]] of creates.entries()) {
      const key = { 'idempotency-key': `stored-${index}` };
      const first = await admin.send('POST', path, body, key);
      const again = await admin.send('POST', path, body, key);
      expect(first.status, `${path}: ${first.text}`).toBe(201);
      // The trial of a connection's secret is of the moment, and not stored.
      const { trial: _now, ...stored } = first.json();
      expect(again, path).toMatchObject({ status: 201, headers: { 'idempotency-replayed': 'true' } });
      expect(again.json(), path).toEqual(stored);
    }
  });

  it('may be corrected under the same key after a failure, and is done once when sent twice at once', async () => {
    const key = { 'idempotency-key': 'corrected' };
    expect((await admin.send('POST', '/roles', { name: '!' }, key)).status).toBe(400);
    expect((await admin.send('POST', '/roles', { name: 'corrected' }, key)).status).toBe(201);
    const same = { 'idempotency-key': 'at-once' };
    const both = [1, 2].map(() => admin.send('POST', '/roles', { name: 'at-once' }, same));
    for (const answer of await Promise.all(both)) {
      if (answer.status !== 201) expect(codeOf(answer)).toEqual([409, 'in_progress']);
    }
    expect((await idp.services.roles.list()).filter(({ name }) => name === 'at-once')).toHaveLength(1);
  });

  it('is a conflict when the name exists, in any case and with look-alike letters', async () => {
    await admin.send('POST', '/users', { username: 'copay', email: 'Pay@example.com' });
    for (const username of ['copay', 'COPAY', 'сорау', 'ｃｏｐａｙ'])
      expect(codeOf(await admin.send('POST', '/users', { username })), username).toEqual([409, 'user_name_taken']);
    for (const email of ['pay@EXAMPLE.com', 'PAY@example.com'])
      expect(codeOf(await admin.send('POST', '/users', { username: 'other', email })), email).toEqual([
        409,
        'email_taken',
      ]);
    const { account } = await aUser(idp.services);
    const rename = admin.send('PATCH', `/users/${account.id}`, { username: 'CoPay' }, anyVersion);
    expect(codeOf(await rename)).toEqual([409, 'user_name_taken']);
    await admin.send('PATCH', '/settings', { username_domains: ['corp.example'] }, anyVersion);
    const upn = { username: 'upn@corp.example', email: 'upn@mail.example' };
    expect((await admin.send('POST', '/users', upn)).status).toBe(201);
    const address = admin.send('PATCH', `/users/${account.id}`, { email: 'UPN@corp.example' }, anyVersion);
    expect(codeOf(await address)).toEqual([409, 'email_taken']);
    const name = { username: 'pay@corp.example', email: 'x@mail.example' };
    await admin.send('POST', '/users', { username: 'holder', email: 'pay@corp.example' });
    expect(codeOf(await admin.send('POST', '/users', name))).toEqual([409, 'user_name_taken']);
    await admin.send('PATCH', '/settings', { username_domains: null }, anyVersion);
    await admin.send('POST', '/roles', { name: 'taken' });
    expect(codeOf(await admin.send('POST', '/roles', { name: 'taken' }))).toEqual([409, 'role_name_taken']);
    const client = { protocol: 'oidc', client_id: 'taken', redirect_uris: ['https://a.example/'] };
    expect((await admin.send('POST', '/applications', client)).status).toBe(201);
    expect(codeOf(await admin.send('POST', '/applications', client))).toEqual([409, 'application_taken']);
    const api = { identifier: 'urn:taken', scopes: ['a'] };
    expect((await admin.send('POST', '/resources', api)).status).toBe(201);
    expect(codeOf(await admin.send('POST', '/resources', api))).toEqual([409, 'conflict']);
    const own = await admin.send('POST', '/resources', { ...api, identifier: `${idp.issuer}/api/admin` });
    expect(codeOf(own)).toEqual([400, 'invalid_input']);
  });
});

describe('a client secret', () => {
  itOnSqlite('is replaced: both work until the overlap ends', async () => {
    const app = await anApplication(idp, { redirect_uris: [], grant_types: ['client_credentials'] });
    const path = `/applications/${app.applicationId}/secrets`;
    const works = async (clientSecret: string) =>
      (await postAs(idp, { ...app, clientSecret }, '/token', { grant_type: 'client_credentials' })).status === 200;
    const made = await admin.send('POST', path, { overlap_seconds: 60 });
    const { client_secret: next } = made.json<{ client_secret: string }>();
    expect({ old: await works(app.clientSecret), next: await works(next) }).toEqual({ old: true, next: true });
    later = 60_000;
    expect({ old: await works(app.clientSecret), next: await works(next) }).toEqual({ old: false, next: true });
    later = 0;
    const last = (await admin.send('POST', path, { overlap_seconds: 0 })).json<{ client_secret: string }>();
    expect({ next: await works(next), last: await works(last.client_secret) }).toEqual({ next: false, last: true });
    expect((await admin.send('POST', path, { overlap_seconds: 8_000_000 })).status).toBe(400);
  });
});

describe('the audit', () => {
  itOnSqlite('holds the values before and after each change, the actor and the subject, and no secret', async () => {
    const made = (
      await admin.send('POST', '/users', { username: 'audited', password: 'a long pass phrase of mine' })
    ).json();
    const path = `/users/${made.id}`;
    await admin.send('PATCH', path, { name: 'After' }, anyVersion);
    await admin.send('PUT', `${path}/roles`, { roles: ['auditor'] }, anyVersion);
    await admin.send('POST', `${path}/disable`);
    await admin.send('DELETE', path, undefined, anyVersion);
    const client = { protocol: 'oidc', client_id: 'audited', redirect_uris: ['https://a.example/'] };
    const app = (await admin.send('POST', '/applications', client)).json();
    await admin.send('PATCH', `/applications/${app.id}`, { consent: 'implicit', client_name: 'After' }, anyVersion);
    const { client_secret } = (await admin.send('POST', `/applications/${app.id}/secrets`, {})).json();
    await admin.send('DELETE', `/applications/${app.id}`, undefined, anyVersion);
    await admin.send('PATCH', '/settings', { session_hours: 7 }, anyVersion);

    const events = async (query: string) =>
      (await admin.get(`/audit?actor_app=${admin.app.clientId}&${query}`)).json<{
        items: { type: string; data: object }[];
      }>().items;
    const ofUser = await events(`user=${made.id}`);
    const changes = ofUser.filter(({ type }) => type !== 'sessions.ended-all').reverse();
    expect(changes.map(({ type, data }) => [type, data])).toMatchObject([
      ['account.created', { after: { username: 'audited' } }],
      ['password.set', {}],
      ['account.updated', { before: { name: null }, after: { name: 'After' } }],
      ['administrator.added', expect.any(Object)],
      ['role.assigned', { roleName: 'auditor' }],
      ['account.disabled', { before: { isEnabled: true }, after: { isEnabled: false } }],
      ['account.deleted', { before: { username: 'audited', roles: ['auditor'], isEnabled: false } }],
    ]);
    const ofApp = await events('client=audited');
    expect(ofApp.map(({ type, data }) => [type, data]).reverse()).toMatchObject([
      [
        'application.created',
        { after: { redirect_uris: ['https://a.example/'], consent: 'explicit', access: 'everyone' } },
      ],
      ['application.updated', { before: { consent: 'explicit' }, after: { consent: 'implicit', name: 'After' } }],
      ['application.secret-created', { secretId: expect.any(String) }],
      ['application.deleted', { before: { consent: 'implicit' } }],
    ]);
    expect(await events('type=setting.changed&limit=1')).toMatchObject([
      { data: { setting: 'session_hours', after: 7 } },
    ]);
    const log = (await admin.get('/audit/export')).text;
    for (const secret of [app.client_secret, client_secret, 'a long pass phrase of mine'])
      expect(log).not.toContain(secret);
  });

  it('is exported completely, without cells that a spreadsheet would run', async () => {
    const name = '=HYPERLINK("https://evil.example","x")';
    await admin.send('POST', '/users', { username: 'csv', name }, { 'user-agent': '@SUM(1+1)*cmd|/C calc' });
    const csv = (await admin.get('/audit/export?format=csv&type=account.created')).text;
    expect(csv).toContain("'@SUM(1+1)*cmd|/C calc");
    expect(csv).not.toMatch(/(^|,|\n)"?[=@+-][A-Z]/);
    const { account } = await aUser(idp.services);
    const by = { actorId: account.id };
    await idp.services.db.auditEvent.createMany({
      data: Array.from({ length: 1200 }, () => ({
        at: new Date(),
        type: 'server.started',
        outcome: 'success',
        data: '{}',
        ...by,
      })),
    });
    const lines = (await admin.get(`/audit/export?actor=${account.id}`)).text.trimEnd().split('\n');
    const ids = lines.map((line) => (JSON.parse(line) as { id: number }).id);
    expect(new Set(ids).size).toBe(1200);
  });
});

describe('a list', () => {
  it('shows each user once while others are created and deleted', async () => {
    const { accounts } = idp.services;
    const named = (index: number) => `paged${String(index).padStart(3, '0')}`;
    const ids: string[] = [];
    for (let index = 0; index < 40; index += 1) ids.push((await accounts.create({ username: named(index) })).id);
    const listed: string[] = [];
    let cursor = '';
    for (let page = 0; page < 30; page += 1) {
      const answer = await admin.get(`/users?search=paged&limit=7${cursor && `&cursor=${cursor}`}`);
      const { items, next } = answer.json<{ items: { username: string }[]; next: string | null }>();
      listed.push(...items.map(({ username }) => username));
      if (next === null) break;
      cursor = next;
      await accounts.create({ username: named(100 + page) });
      const removed = ids[39 - page * 8];
      if (removed) await accounts.remove(removed);
    }
    expect(new Set(listed).size).toBe(listed.length);
    const remaining = (await accounts.list({ search: 'paged0', limit: 100 })).accounts.map(({ username }) => username);
    expect(remaining.filter((username) => !listed.includes(username))).toEqual([]);
  });

  itOnSqlite('returns names as they are, as JSON that no browser runs', async () => {
    const name = '<script>alert(1)</script>';
    const made = await admin.send('POST', '/users', { username: 'markup', name });
    expect(made.json()).toMatchObject({ name });
    expect(made.headers['content-type']).toBe('application/json; charset=utf-8');
    expect(made.headers['x-content-type-options']).toBe('nosniff');
  });
});
