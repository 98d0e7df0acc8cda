// Several instances that start at the same moment apply the same file; and a failure in the middle leaves nothing behind.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { databaseKind } from '../support/database/database.ts';
import { configFileBench } from './support.ts';

type Bench = Awaited<ReturnType<typeof configFileBench>>;
let instances: Bench[];
beforeAll(async () => {
  const first = await configFileBench();
  // Two handles of one process would wait for each other on SQLite, whose driver blocks the process while it waits.
  const another = async () => (databaseKind() === 'sqlite' ? first : configFileBench(first.url));
  instances = [first, await another(), await another()];
});
afterAll(() => Promise.all([...new Set(instances)].map((instance) => instance.close())));

const text = `
settings: { session_hours: 8 }
resources: [{ identifier: "https://api.example", scopes: [a] }]
clients:
  - { client_id: web, client_secret: ${'s'.repeat(32)}, redirect_uris: ["https://web.example/"] }
service_providers: [{ name: CRM, entity_id: "urn:crm", acs_url: "https://crm.example/acs" }]
roles: [{ name: editor, permissions: ["a:read", "a:write"] }]
users:
  - { username: alice, password: a long pass phrase that is fine, roles: [editor, admin] }
  - { username: bob, totp_secret: JBSWY3DPEHPK3PXP, roles: [editor] }
`;

describe('instances that start at once', () => {
  it('create everything once', async () => {
    const results = await Promise.all(instances.map((instance) => instance.apply(text)));
    expect(results.filter(({ ok }) => !ok)).toEqual([]);
    const [{ db }] = instances as [Bench];
    const counts = await Promise.all([
      db.user.count(),
      db.application.count(),
      db.clientSecret.count(),
      db.role.count({ where: { source: 'file' } }),
      db.permission.count({ where: { resource: 'a' } }),
      db.resource.count(),
      db.userRole.count(),
    ]);
    expect(counts).toEqual([2, 2, 1, 1, 2, 1, 3]);
    for (const instance of instances)
      expect(await instance.apply(text)).toMatchObject({ plan: { steps: [], unchanged: 7 } });
  });

  it('apply a change and a deletion once', async () => {
    const changed = text.replace('session_hours: 8', 'session_hours: 9').replace(/ {2}- \{ username: bob.*\n/, '');
    const results = await Promise.all(instances.map((instance) => instance.apply(changed)));
    expect(results.filter(({ ok }) => !ok)).toEqual([]);
    const [first] = instances as [Bench];
    expect(await first.db.user.count()).toBe(1);
    expect(await first.settings.get('session_hours')).toBe(9);
  });
});

describe('a failure in the middle of an apply', () => {
  it('changes nothing', async () => {
    const [first] = instances as [Bench];
    const before = await first.export();
    // The last step of the plan would leave nobody who administers.
    const without = `${text.replace('roles: [editor, admin]', 'roles: [editor]')}  - { username: carol }\n`;
    await expect(first.apply(without)).rejects.toMatchObject({ code: 'last_admin' });
    expect(await first.export()).toBe(before);
  });
});
