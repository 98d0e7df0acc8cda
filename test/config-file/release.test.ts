// Entries that the configuration file hands back: they stay as they are, can be changed elsewhere, and outlive the file.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { configFileBench, lines } from './support.ts';

const FILE = `
settings: { session_hours: 8 }
resources: [{ identifier: https://api.example, scopes: [read] }]
clients: [{ client_id: 'urn:web', redirect_uris: [https://web.example/cb], token_endpoint_auth_method: none }]
service_providers: [{ name: Wiki, entity_id: https://wiki.example/sp, acs_url: https://wiki.example/acs }]
roles: [{ name: editor, permissions: [articles:write] }]
connections: [{ id: corp, kind: oidc, name: Corp, issuer: https://corp.example, client_id: x, client_secret: yyyyyyyyyyyyyyyy }]
groups: [{ name: Lab, roles: [editor], members: [alice, { username: zoe, until: 2026-12-31T00:00:00Z }] }]
users: [{ username: alice, sub: subject-a, email: alice@example.com }, { username: zoe, sub: subject-z }]
sign_up_codes: [{ name: Partners, code: ABCD-EFGH-JKLM-NPQR }]
`;

type Bench = Awaited<ReturnType<typeof configFileBench>>;
let bench: Bench;
beforeAll(async () => {
  bench = await configFileBench();
  expect(lines(await bench.apply(FILE))).toEqual(expect.not.arrayContaining([expect.stringMatching(/^f:/)]));
});
afterAll(() => bench.close());

it('releases one of each section as it is, and the file without it deletes nothing', async () => {
  const entries = await bench.configFile.entries();
  expect(entries.map(({ section, name }) => `${section}:${name}`)).toEqual([
    'settings:session_hours',
    'resources:https://api.example',
    'clients:urn:web',
    'service_providers:https://wiki.example/sp',
    'roles:editor',
    'groups:Lab',
    'connections:corp',
    'users:alice',
    'users:zoe',
    'sign_up_codes:Partners',
  ]);
  const before = await bench.export();
  await bench.configFile.release(entries, {});
  expect(await bench.export()).toBe(before);
  expect(await bench.configFile.entries()).toEqual([]);
  expect(lines(await bench.apply('{}'))).toEqual([]);
  // The members can be taken out now, and stay until their end.
  const lab = (await bench.groups.find('Lab')) ?? expect.fail('no group');
  const until = new Date('2026-12-31T00:00:00Z');
  expect(await bench.groups.members(lab.id)).toMatchObject([
    { source: 'direct', until: null },
    { source: 'direct', until },
  ]);
  const alice = (await bench.accounts.findByLogin('alice')) ?? expect.fail('no user');
  expect(alice.roles).toEqual(['editor']);
  expect(await bench.groups.removeMembers(lab.id, [alice.id])).toBe(1);
  expect(await bench.db.auditEvent.count({ where: { type: 'configuration.released' } })).toBe(entries.length);
});

it('takes again what the file still declares, and says so in the plan', async () => {
  expect(lines(await bench.plan(FILE))).toEqual(
    expect.arrayContaining(['change clients urn:web (source)', 'change users alice (source)']),
  );
});

it('releases nothing where one of the entries is none of the file', async () => {
  await bench.apply(FILE);
  const entries = [
    { section: 'users', name: 'alice' },
    { section: 'users', name: 'nobody' },
  ] as const;
  await expect(bench.configFile.release(entries, {})).rejects.toMatchObject({ code: 'not_found' });
  expect((await bench.accounts.findByLogin('alice'))?.source).toBe('file');
});

it('releases a group with a membership that has ended and that no job deleted yet', async () => {
  const past = '{ name: Past, members: [{ username: alice, until: 2026-03-02T00:00:00Z }] }';
  expect(await bench.apply(FILE.replace('groups: [', `groups: [${past}, `))).toMatchObject({ ok: true });
  bench.clock.at = new Date('2026-03-03T00:00:00Z');
  await bench.configFile.release([{ section: 'groups', name: 'Past' }], {});
  const group = (await bench.groups.find('Past')) ?? expect.fail('no group');
  expect(group.source).toBe('local');
  expect(await bench.groups.members(group.id)).toMatchObject([{ source: 'file' }]);
});
