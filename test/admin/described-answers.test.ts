// The admin API does what its OpenAPI document says, where a generator of requests (schemathesis) found a difference.
import { Ajv2020 } from 'ajv/dist/2020.js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type ApiCaller, aService, described } from './support.ts';

let idp: TestIdp;
let admin: ApiCaller;
afterAll(() => idp?.stop());
beforeAll(async () => {
  idp = await startIdp();
  admin = await aService(idp);
});

/** Every schema in the document, with the place where it stands. */
function* schemasIn(value: unknown, at = ''): Generator<[string, Record<string, unknown>]> {
  if (typeof value !== 'object' || value === null) return;
  if (!Array.isArray(value)) yield [at, value as Record<string, unknown>];
  for (const [name, part] of Object.entries(value)) yield* schemasIn(part, `${at}/${name}`);
}

describe('the admin API', () => {
  it('answers a method that a path does not offer with 405 and Allow, also one that HTTP gained later', async () => {
    const { document } = await described(idp);
    for (const [template, operations] of Object.entries(document.paths)) {
      const path = template.replaceAll(/\{\w+\}/g, 'x');
      const page = await httpClient(idp.issuer).request('QUERY', path, { headers: { accept: '*/*' } });
      expect(page.status, path).toBe(405);
      const allowed = String(page.headers.allow).split(', ');
      for (const offered of Object.keys(operations)) expect(allowed).toContain(offered.toUpperCase());
    }
    for (const method of ['TRACE', 'PROPFIND'])
      expect((await httpClient(idp.issuer).request(method, '/api/admin/users', {})).status).toBe(405);
    expect((await httpClient(idp.issuer).request('QUERY', '/no-such-path', {})).status).toBe(501);
  });

  it('describes every pattern so that programs in other languages can read it', async () => {
    const { document } = await described(idp);
    const patterns = [...schemasIn(document)].filter(([, { pattern }]) => typeof pattern === 'string');
    expect(patterns.length).toBeGreaterThan(5);
    const unreadable = patterns.filter(([, { pattern }]) => /\\[pP]\{/.test(String(pattern)));
    // The domain of a mail address may have letters of every script.
    expect(unreadable.map(([at]) => at).filter((at) => !at.includes('domains'))).toEqual([]);
  });

  it('says the form of If-Match and of sources', async () => {
    const { document } = await described(idp);
    const parameters = Object.values(document.paths).flatMap((path) =>
      Object.values(path).flatMap((operation) => operation.parameters as { name: string; schema?: object }[]),
    );
    const forms = parameters.filter(({ name }) => name === 'If-Match').map(({ schema }) => schema);
    expect(forms.length).toBeGreaterThan(5);
    for (const form of forms) {
      const pattern = new RegExp((form as { pattern: string }).pattern);
      for (const good of ['*', '"abc_-9"', '"a", "b"']) expect(good).toMatch(pattern);
      for (const bad of ['', 'abc', 'W/"a"']) expect(bad).not.toMatch(pattern);
    }
    for (const bad of ['', 'abc', '{}', '"a" "b"', '"a",', '*, "a"'])
      expect((await admin.send('PATCH', '/users/x', { name: 'x' }, { 'if-match': bad })).status, bad).toBe(400);
    const sources = [...schemasIn(document)].filter(([at]) => at.endsWith('/properties/source'));
    for (const [at, schema] of sources) expect(schema.enum, at).toBeInstanceOf(Array);
  });

  it('answers a new user with a role that does not exist with 422, and makes none', async () => {
    const page = await admin.send('POST', '/users', { username: 'with.unknown.role', roles: ['no such role'] });
    expect([page.status, page.json()]).toEqual([422, expect.objectContaining({ code: 'unknown_role' })]);
    expect(await idp.services.accounts.findByLogin('with.unknown.role')).toBeUndefined();
  });

  it('describes the configuration file as a mapping, and changes nothing for an empty one', async () => {
    const { document } = await described(idp);
    const { post } = document.paths['/api/admin/configuration/plan'] ?? {};
    const { get } = document.paths['/api/admin/configuration'] ?? {};
    const type = 'application/yaml';
    expect(post?.requestBody?.content?.[type]?.schema).toMatchObject({ type: 'object' });
    expect(get?.responses['200']?.content?.[type]?.schema).toMatchObject({ type: 'object' });
    const plan = (text: string) => admin.send('POST', '/configuration/plan', text, { 'content-type': type });
    expect((await plan('{}')).json()).toMatchObject({ create: [], change: [], delete: [] });
    expect((await plan('text')).status).toBe(400);
  });

  it('exports JSON for a caller that prefers it, and YAML for all others', async () => {
    const [inYaml, asJson] = ['application/yaml', 'application/json'];
    const page = await admin.get('/configuration', { accept: asJson });
    expect(page.headers).toMatchObject({
      'content-type': `${asJson}; charset=utf-8`,
      vary: expect.stringContaining('Accept'),
    });
    const exported = page.json<{ clients: { client_id: string }[] }>();
    expect(exported.clients.map((one) => one.client_id)).toContain(admin.app.clientId);
    for (const accept of ['*/*', inYaml, 'text/html', `${asJson};q=0.5, ${inYaml}`])
      expect((await admin.get('/configuration', { accept })).headers['content-type'], accept).toMatch(inYaml);
    expect(parse((await admin.get('/configuration')).text).clients).toEqual(exported.clients);
  });

  it('says in its schemas what a request needs', async () => {
    const { document } = await described(idp);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'api', components: document.components });
    const judge = (schema: object) =>
      ajv.compile(JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')));
    const bodyOf = (path: string) =>
      judge(document.paths[`/api/admin${path}`]?.post?.requestBody?.content?.['application/json']?.schema ?? {});
    const oidc = { protocol: 'oidc', client_name: 'x' };
    const saml = { protocol: 'saml', name: 'x' };
    const acs = { acs_url: 'https://sp.example/acs' };
    const cases: [string, object, boolean][] = [
      ['/applications', { ...oidc, redirect_uris: ['https://a.example/cb'] }, true],
      ['/applications', oidc, false],
      ['/applications', { ...oidc, redirect_uris: [] }, false],
      ['/applications', { ...oidc, grant_types: ['client_credentials'] }, true],
      ['/applications', { ...oidc, grant_types: ['client_credentials'], client_uri: 'http://a.example/' }, false],
      ['/applications', { ...oidc, grant_types: ['client_credentials'], client_uri: 'http://localhost:1/x?y' }, true],
      ['/applications', { ...saml, ...acs, entity_id: 'https://sp.example' }, true],
      ['/applications', { ...saml, ...acs }, false],
      ['/applications', saml, false],
      ['/applications', { ...saml, metadata: '<x/>', metadata_url: 'https://sp.example/' }, false],
      ['/saml-metadata', { metadata: '<x/>' }, true],
      ['/saml-metadata', {}, false],
      ['/saml-metadata', { metadata: '<x/>', metadata_url: 'https://sp.example/' }, false],
      ['/roles', { name: 'Leitung Süd: A/B', permissions: ['urn:x:articles:read'] }, true],
      ['/roles', { name: ' lead' }, false],
      ['/roles', { name: 'lead', permissions: ['articles'] }, false],
      ['/resources', { identifier: 'https://api.example.com' }, true],
      ['/resources', { identifier: 'api' }, false],
      ['/resources', { identifier: 'https://api.example.com/{id}' }, false],
      ['/resources', { identifier: 'https://[::1]:3000/api?x=%20' }, true],
      ['/resources', { identifier: 'https://api.example.com/#x' }, false],
    ];
    for (const [path, body, isValid] of cases)
      expect(bodyOf(path)(body), `${path} ${JSON.stringify(body)}`).toBe(isValid);
  });

  it('rejects an Idempotency-Key that is sent empty as malformed, and makes nothing', async () => {
    const page = await admin.send('POST', '/roles', { name: 'by empty key' }, { 'idempotency-key': '' });
    expect(page.status).toBe(400);
    expect(JSON.stringify((await admin.get('/roles?limit=200')).json())).not.toContain('by empty key');
  });

  it('allows no NUL in any text of a request, and answers one with 400', async () => {
    const { document } = await described(idp);
    const free = [...schemasIn(document)].filter(
      ([at, one]) =>
        one.type === 'string' &&
        !at.includes('/responses/') &&
        !['pattern', 'enum', 'const', 'format'].some((key) => key in one),
    );
    expect(free.map(([at]) => at)).toEqual([]);
    expect((await admin.get('/users?search=a%00b')).status).toBe(400);
    expect((await admin.send('POST', '/roles', { name: 'r', description: 'a\0b' })).status).toBe(400);
  });

  it('names the fields that there are in a change of an application or a connection', async () => {
    const { document } = await described(idp);
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'api', components: document.components });
    const bodyOf = (path: string, method: 'patch' | 'post') =>
      ajv.compile(
        JSON.parse(
          JSON.stringify(
            document.paths[`/api/admin${path}`]?.[method]?.requestBody?.content?.['application/json']?.schema ?? {},
          ).replaceAll('"#/components/', '"api#/components/'),
        ),
      );
    const jwks = { keys: [{ kty: 'EC', crv: 'P-256', x: 'a', y: 'b' }] };
    const ldap = { id: 'corp', kind: 'ldap', name: 'Corp', url: 'ldaps://ldap.example', base_dn: 'dc=example' };
    const cases: ['/applications/{id}' | '/connections' | '/connections/{id}', object, boolean][] = [
      ['/applications/{id}', {}, true],
      ['/applications/{id}', { client_name: 'x', require_pkce: null, profile: 'fapi2', jwks }, true],
      ['/applications/{id}', { access: { roles: ['a'] }, claims: { dept: null, desk: 'attributes.desk' } }, true],
      ['/applications/{id}', { attributes: { mail: 'email', old: null }, acs_url: 'https://sp.example/acs' }, true],
      ['/applications/{id}', { redirect_uri: 'https://a.example/cb' }, false],
      ['/applications/{id}', { client_secret: 'x'.repeat(40) }, false],
      ['/applications/{id}', { require_pkce: 'no' }, false],
      ['/applications/{id}', { profile: 'fapi1' }, false],
      ['/connections', { id: 'google', preset: 'google', name: 'Google', client_id: 'a', client_secret: 'b' }, true],
      ['/connections', ldap, true],
      ['/connections', { ...ldap, client_id: 'x' }, false],
      ['/connections', { ...ldap, base_dn: 1 }, false],
      ['/connections', { id: 'x', name: 'X' }, false],
      ['/connections/{id}', { name: 'y', bind_dn: null }, true],
      ['/connections/{id}', { nmae: 'y' }, false],
    ];
    for (const [path, body, isValid] of cases) {
      const judge = bodyOf(path, path === '/connections' ? 'post' : 'patch');
      expect(judge(body), `${path} ${JSON.stringify(body)}`).toBe(isValid);
    }
  });

  // What schemathesis.toml expects although the document allows the request: no schema can say these rules.
  it.each<[string, string, object, number, string]>([
    [
      'a weaker field beside a profile',
      '/applications',
      {
        protocol: 'oidc',
        profile: 'fapi2',
        redirect_uris: ['https://a.example/cb'],
        require_pkce: false,
        jwks_uri: 'https://a.example/jwks',
      },
      400,
      'require_pkce',
    ],
    [
      'a certificate that cannot be read',
      '/applications',
      {
        protocol: 'saml',
        name: 'x',
        metadata_url: 'https://sp.example/',
        metadata_certificate: '-----BEGIN CERTIFICATE-----',
      },
      400,
      'metadata_certificate',
    ],
    ['metadata that is no XML', '/saml-metadata', { metadata: '0' }, 400, 'metadata'],
    [
      'an issuer with a query',
      '/connections',
      { kind: 'oidc', id: 'x', name: 'X', client_id: 'a', issuer: 'https://op.example/?a' },
      400,
      'issuer',
    ],
    [
      'a permission for a scope that the API lacks',
      '/resources',
      { identifier: 'https://api.example.com/x', scope_permissions: { read: 'a:b' } },
      400,
      'scope_permissions.read',
    ],
    [
      'a permission with a character that is not assigned',
      '/roles',
      { name: 'x', permissions: ['a\u{e1000}:b'] },
      400,
      'permissions[0]',
    ],
    ['a day that the month lacks', '/users', { username: 'no.such.day', birthdate: '1990-02-30' }, 400, 'birthdate'],
    ['a hash of no known kind', '/users', { username: 'no.such.hash', password_hash: '0' }, 400, 'password_hash'],
  ])('rejects %s, and names the field', async (_what, path, body, status, field) => {
    const page = await admin.send('POST', path, body);
    expect([page.status, page.json<{ errors?: { path: string }[] }>().errors?.map((one) => one.path)]).toEqual([
      status,
      expect.arrayContaining([field]),
    ]);
  });

  it('answers a change without If-Match with 428, which tells the caller to read first', async () => {
    // RFC 6585 3: on purpose not 400, although the header is required.
    expect((await admin.send('PATCH', '/users/x', { name: 'x' })).status).toBe(428);
  });
});
