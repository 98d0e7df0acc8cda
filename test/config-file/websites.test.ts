// Every field of `proxied_applications`: declared, planned, applied, exported to another server, and handed back.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { proxiedApplication } from '../../src/applications/fields/proxied-application.ts';
import { configFileBench, lines } from './support.ts';

const SHARED = `
roles: [{ name: wiki-reader }, { name: wiki-admin }]
groups: [{ name: Lab }]
connections: [{ id: corp, kind: oidc, name: Corp, issuer: https://corp.example, client_id: x, client_secret: yyyyyyyyyyyyyyyy }]
`;
const WEBSITE = `
  - name: Wiki
    url: https://wiki.example.com
    enabled: false
    access: { roles: [wiki-reader], groups: [Lab] }
    proxy: caddy
    logo_uri: https://wiki.example.com/logo.png
    preset: grafana
    headers: { X-User: preferred_username, X-Email: email }
    paths:
      - { path: /public/, methods: [GET, HEAD], rule: public }
      - { path: /account/, rule: mfa }
      - { path: /admin/, rule: { roles: [wiki-admin], groups: [Lab] } }
    preflight: allow
    depends_on: [https://api.example.com]
    csrf: reject
    access_tokens: users
    app_passwords: true
    mfa: required
    session_hours: 8
    allowed_networks: [10.0.0.0/8]
    connections: [corp]
    local_sign_in: true
    roles_filter: [wiki-*]
    roles_rename: { wiki-admin: Admin }
    permissions_filter: ["articles:*"]
    groups_filter: [Lab]
    groups_as: name
    groups_direct: true
    provision: { url: https://wiki.example.com/scim/v2, token: the-token-of-the-wiki, dialect: entra, groups: true }
`;
const FILE = `${SHARED}proxied_applications:${WEBSITE}`;

type Bench = Awaited<ReturnType<typeof configFileBench>>;
let from: Bench;
let to: Bench;
beforeAll(async () => {
  [from, to] = [await configFileBench(), await configFileBench()];
});
afterAll(() => Promise.all([from.close(), to.close()]));

it('declares every field', () => {
  const declared = WEBSITE.split('\n').flatMap((line) => /^ {2}[- ] (\w+):/.exec(line)?.[1] ?? []);
  expect(declared.sort()).toEqual(Object.keys(proxiedApplication.shape).sort());
});

it('is planned, applied, and then unchanged', async () => {
  expect(lines(await from.plan(FILE))).toContain('create proxied_applications Wiki');
  await from.apply(FILE);
  expect(lines(await from.plan(FILE))).toEqual([]);
  const changed = FILE.replace('csrf: reject', 'csrf: allow').replace('depends_on: [https://api.example.com]', '');
  expect(lines(await from.plan(changed))).toEqual(['change proxied_applications Wiki (csrf, depends_on)']);
});

it('that depends on an address of no enabled website is a warning', async () => {
  const warnings = ['Wiki depends on https://api.example.com, which is the address of no enabled website'];
  expect(await to.plan(FILE)).toMatchObject({ ok: true, plan: { warnings } });
  const api = '  - { name: API, url: https://api.example.com, proxy: caddy, enabled: false }\n';
  expect(await to.plan(`${FILE}${api}`)).toMatchObject({ ok: true, plan: { warnings } });
  const enabled = api.replace(', enabled: false', '');
  expect(await to.plan(`${FILE}${enabled}`)).toMatchObject({ ok: true, plan: { warnings: [] } });
});

it('with the host of the issuer is a fault, on whichever port', async () => {
  for (const url of ['https://idp.example:9443', 'https://IDP.example', 'https://idp.example/'])
    expect(await to.plan(FILE.replace('https://wiki.example.com\n', `${url}\n`))).toMatchObject({
      ok: false,
      faults: [{ path: ['proxied_applications', 0, 'url'], code: 'host-of-issuer', values: { host: 'idp.example' } }],
    });
});

it('on the host name of another enabled one, at another port, is a warning', async () => {
  const wiki = FILE.replace(/^ +(enabled|depends_on): .*\n/gm, '');
  const other = '  - { name: Notes, url: https://wiki.example.com:8443, proxy: caddy }\n';
  expect(await to.plan(`${wiki}${other}`)).toMatchObject({
    ok: true,
    plan: {
      warnings: [
        'Wiki has the host name of https://wiki.example.com:8443: browsers send the session of each to both',
        'Notes has the host name of https://wiki.example.com: browsers send the session of each to both',
      ],
    },
  });
  const disabled = other.replace('caddy', 'caddy, enabled: false');
  expect(await to.plan(`${wiki}${disabled}`)).toMatchObject({ ok: true, plan: { warnings: [] } });
});

it('with two rules for one path and method is a fault: their order alone would decide', async () => {
  const withRule = (rule: string) => FILE.replace('      - { path: /admin/', `      - ${rule}\n$&`);
  expect(await to.plan(withRule('{ path: /account/, methods: [POST], rule: public }'))).toMatchObject({
    ok: false,
    faults: [
      {
        path: ['proxied_applications', 0, 'paths', 2, 'path'],
        code: 'declared-already',
        values: { where: 'paths[1]' },
      },
    ],
  });
  expect((await to.plan(withRule('{ path: /account/, rule: mfa }'))).ok).toBe(false);
  // The one of all methods is for the others.
  expect((await to.plan(withRule('{ path: /public/, methods: [POST], rule: mfa }'))).ok).toBe(true);
});

it('is exported, and gives another server the same', async () => {
  const text = await from.export();
  expect(text).not.toContain('the-token-of-the-wiki');
  const plan = await to.plan(text);
  expect(plan.ok && plan.plan.warnings).toContainEqual(expect.stringContaining('provision of Wiki is left out'));
  await to.apply(text.replace(/^( +)dialect: entra$/m, '$&\n$1token: the-token-of-the-wiki'));
  const [here, there] = [
    await from.applications.find('https://wiki.example.com'),
    await to.applications.find('https://wiki.example.com'),
  ];
  expect(there?.metadata).toEqual(here?.metadata);
  expect(there?.access).toEqual(here?.access);
  expect(there?.enabled).toBe(false);
});

it('is handed back as it is, and outlives the file', async () => {
  const entries = await from.configFile.entries();
  const before = await from.export();
  await from.configFile.release(entries, {});
  expect(await from.export()).toBe(before);
  expect(lines(await from.apply('{}'))).toEqual([]);
  expect((await from.applications.find('https://wiki.example.com'))?.source).toBe('local');
});
