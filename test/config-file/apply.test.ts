// Applying the configuration file: what it makes, that a second apply changes nothing, what it deletes and leaves alone.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseFile } from '../../src/config-file/file.ts';
import { testFolder } from '../support/database/database.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { configFileBench, lines } from './support.ts';

let bench: Awaited<ReturnType<typeof configFileBench>>;
beforeEach(async () => {
  bench = await configFileBench();
});
afterEach(() => bench.close());

const secret = 'at-least-32-bytes-of-secret-material-here';
const declaration = `
settings: { session_hours: 8, mfa: required }
resources:
  - { identifier: https://api.example.com, scopes: [articles:read, articles:write] }
clients:
  - client_id: web
    client_secret: ${secret}
    client_name: Web app
    redirect_uris: [http://127.0.0.1:4000/cb]
    grant_types: [authorization_code, refresh_token]
    consent: implicit
  - client_id: editors
    redirect_uris: [https://editors.example/cb]
    token_endpoint_auth_method: none
    access: { roles: [editor] }
service_providers:
  - { name: Wiki, metadata_file: ./wiki-sp.xml, attributes: { mail: email }, idp_initiated: true }
roles:
  - { name: editor, description: Edits articles, permissions: [articles:write, articles:read] }
users:
  - username: alice
    email: alice@example.com
    email_verified: true
    name: Alice Example
    password: a long pass phrase that is fine
    totp_secret: JBSWY3DPEHPK3PXP
    roles: [editor]
`;

describe('brands of applications', () => {
  itOnSqlite(
    'warns of an application that does not exist, and of none that the file declares or that is registered',
    async () => {
      const { application } = await bench.applications.createOidc({
        client_name: 'Stored',
        redirect_uris: ['https://a.example/cb'],
      });
      const text = `
settings:
  user_attributes: { type: object, properties: { nickname: { type: string } } }
  brand_applications:
    wiki-typo: { name: A }
    web: { name: B }
    gatehouse: { name: C }
    https://wiki.example/sp: { name: D }
    ${application.clientId}: { name: E }
clients:
  - { client_id: web, redirect_uris: [https://web.example/cb], token_endpoint_auth_method: none }
service_providers:
  - { name: Wiki, metadata: '<EntityDescriptor entityID="https://wiki.example/sp"/>' }
`;
      const own = 'user_attributes has the field nickname, but a column nickname of an import fills the standard claim';
      const typo = 'brand_applications names wiki-typo, which is the client ID or entity ID of no application';
      const warnings = [typo, own];
      expect(await bench.plan(text)).toMatchObject({ ok: true, plan: { warnings } });
      expect(await bench.apply(text)).toMatchObject({ ok: true, plan: { warnings } });
      const without = text.replace(/clients:[\s\S]*/, '');
      expect(await bench.plan(without)).toMatchObject({
        plan: {
          warnings: [
            ...['wiki-typo', 'web', 'https://wiki.example/sp'].map((id) => expect.stringContaining(` ${id},`)),
            own,
          ],
        },
      });
    },
  );
});

describe('applying a file', () => {
  let file: string;
  beforeEach(() => {
    const folder = testFolder();
    file = path.join(folder, 'gatehouse.yaml');
    writeFileSync(path.join(folder, 'wiki-sp.xml'), '<EntityDescriptor entityID="https://wiki.example/sp"/>');
  });

  it('plans without changing anything', async () => {
    const before = await bench.db.user.count();
    const result = await bench.configFile.plan({ ...parseFile(declaration), path: file });
    expect(lines(result)).toEqual([
      'create settings session_hours',
      'create settings mfa',
      'create roles editor',
      'create resources https://api.example.com',
      'create clients web',
      'create clients editors',
      'create service_providers Wiki',
      'create users alice',
    ]);
    expect(JSON.stringify(result)).not.toMatch(/secret-material|pass phrase|JBSWY3DP/);
    expect(await bench.db.user.count()).toBe(before);
  });

  it('creates all declared objects', async () => {
    expect(lines(await bench.apply(declaration, file))).toHaveLength(8);
    expect(await bench.settings.get('session_hours')).toBe(8);
    const web = await bench.applications.find('web');
    expect(web).toMatchObject({ name: 'Web app', consent: 'implicit', access: 'everyone', source: 'file' });
    expect(web?.metadata).not.toHaveProperty('client_secret');
    expect(await bench.applications.hasSecret(web?.id ?? '', secret)).toBe(true);
    expect(await bench.applications.find('editors')).toMatchObject({ access: { roles: ['editor'] } });
    expect(await bench.applications.find('https://wiki.example/sp')).toMatchObject({ protocol: 'saml', name: 'Wiki' });
    const alice = await bench.accounts.findByLogin('alice');
    expect(alice).toMatchObject({
      emailVerified: true,
      source: 'file',
      permissions: ['articles:read', 'articles:write'],
    });
    expect(await bench.credentials.checkPassword(alice, 'a long pass phrase that is fine')).toMatchObject({
      outcome: 'ok',
    });
    expect(await bench.totp.isEnrolled(alice?.id ?? '')).toBe(true);
  });

  it('changes nothing and hashes nothing when applied again', async () => {
    await bench.apply(declaration, file);
    const rows = () =>
      Promise.all([
        bench.db.asStored.passwordCredential.findMany(),
        bench.db.asStored.clientSecret.findMany(),
        bench.db.totpCredential.findMany(),
      ]);
    const [before, events] = [await rows(), await bench.db.auditEvent.count()];
    const result = await bench.apply(declaration, file);
    expect(result).toMatchObject({ ok: true, plan: { steps: [], unchanged: 8, warnings: [] } });
    expect(await rows()).toEqual(before);
    expect(await bench.db.auditEvent.count()).toBe(events);
  });

  it('lists the changed fields without secrets', async () => {
    const changed = declaration
      .replace('name: Alice Example', 'name: Alice Other')
      .replace('a long pass phrase that is fine', 'another long pass phrase')
      .replace(secret, 'another-secret-of-at-least-32-bytes-length')
      .replace('roles: [editor]\n', 'roles: []\n')
      .replace('session_hours: 8, ', '');
    await bench.apply(declaration, file);
    const result = await bench.apply(changed, file);
    expect(lines(result)).toEqual([
      'change clients web (client_secret)',
      'change users alice (name, roles, password)',
      'delete settings session_hours',
    ]);
    expect(JSON.stringify(result)).not.toMatch(/another/);
    const alice = await bench.accounts.findByLogin('alice');
    expect(alice).toMatchObject({ name: 'Alice Other', roles: [] });
    expect(bench.ended).toEqual([`password-reset ${alice?.id}`]);
    const web = await bench.applications.find('web');
    expect(await bench.applications.hasSecret(web?.id ?? '', secret)).toBe(false);
    expect(await bench.settings.get('session_hours')).toBe(12);
    expect(lines(await bench.apply(changed, file))).toEqual([]);
  });

  it('deletes undeclared file-managed objects and keeps local ones', async () => {
    await bench.apply(declaration, file);
    const local = await bench.accounts.create({ username: 'local-person' });
    await bench.applications.createOidc({ client_id: 'local-app', redirect_uris: ['https://l.example/'] });
    const alice = await bench.accounts.findByLogin('alice');
    expect(lines(await bench.apply('settings: {}'))).toEqual([
      'delete clients editors',
      'delete clients web',
      'delete service_providers Wiki',
      'delete users alice',
      // Before the roles that its access rule may name.
      'delete resources https://api.example.com',
      'delete settings session_hours',
      'delete settings mfa',
      'delete roles editor',
    ]);
    expect(await bench.accounts.findByLogin('alice')).toBeUndefined();
    expect(await bench.db.retiredSubject.count({ where: { userId: alice?.id ?? '' } })).toBe(1);
    expect(bench.ended.at(-1)).toBe(`account-deleted ${alice?.id}`);
    expect(await bench.db.setting.count({ where: { key: { startsWith: 'declared-credentials:' } } })).toBe(0);
    const events = (await bench.db.auditEvent.findMany()).map(({ type }) => type);
    expect(events).toEqual(
      expect.arrayContaining(['setting.changed', 'resource.created', 'resource.deleted', 'configuration.applied']),
    );
    expect(await bench.accounts.find(local.id)).toBeDefined();
    expect(await bench.applications.find('local-app')).toBeDefined();
    expect((await bench.roles.list()).map(({ name }) => name)).toEqual([
      'admin',
      'application-manager',
      'auditor',
      'support',
      'user-manager',
    ]);
  });

  it('takes over existing objects that it declares', async () => {
    const text = `
clients: [{ client_id: local-app, redirect_uris: ["https://l.example/"] }]
users: [{ username: Local-Person, name: Known }]`;
    await bench.accounts.create({ username: 'local-person' });
    await bench.applications.createOidc({ client_id: 'local-app', redirect_uris: ['https://l.example/'] });
    expect(lines(await bench.apply(text))).toEqual([
      'change clients local-app (source)',
      'change users Local-Person (username, name, source)',
    ]);
    expect(await bench.applications.find('local-app')).toMatchObject({ source: 'file' });
    // Also of one that it changes as well.
    const taken = await bench.db.auditEvent.findMany({ where: { type: 'configuration.taken-over' } });
    expect(taken.map(({ data }) => JSON.parse(data).name)).toEqual(['local-app', 'Local-Person']);
    expect(await bench.db.auditEvent.count({ where: { type: 'account.updated' } })).toBe(1);
    expect(lines(await bench.apply(text))).toEqual([]);
  });

  it('records of what it only takes over, and hands back, that and no change', async () => {
    const { accounts, applications, configFile, db, groups, roles, settings } = bench;
    const { id: userId } = await accounts.create({ username: 'hugo' });
    await applications.createOidc({ client_id: 'local-app', redirect_uris: ['https://l.example/'] });
    await roles.create({ name: 'seller' });
    const { id } = await groups.create({ name: 'Sales' });
    await groups.addMembers(id, [{ userId }]);
    await settings.set('session_hours', 9);
    const typesAfter = async (work: () => Promise<unknown>) => {
      const last = await db.auditEvent.findFirst({ orderBy: { id: 'desc' } });
      await work();
      const events = await db.auditEvent.findMany({ where: { id: { gt: last?.id ?? 0 } }, orderBy: { id: 'asc' } });
      return events.map(({ type, data }) => [type, JSON.parse(data).section].filter(Boolean).join(' '));
    };
    const text = `
settings: { session_hours: 9 }
roles: [{ name: seller }]
clients: [{ client_id: local-app, redirect_uris: ["https://l.example/"] }]
users: [{ username: hugo }]
groups: [{ name: Sales, members: [hugo] }]`;
    const sections = ['settings', 'roles', 'groups', 'clients', 'users'];
    expect(lines(await bench.plan(text))).toEqual([
      'change settings session_hours (source)',
      'change roles seller (source)',
      'change groups Sales (source)',
      'change clients local-app (source)',
      'change users hugo (source)',
    ]);
    expect(await typesAfter(() => bench.apply(text))).toEqual([
      ...sections.map((section) => `configuration.taken-over ${section}`),
      'configuration.applied',
    ]);
    expect(await groups.members(id)).toMatchObject([{ userId, source: 'file' }]);
    expect(lines(await bench.plan(text))).toEqual([]);
    const entries = await configFile.entries();
    expect(await typesAfter(() => configFile.release(entries, {}))).toEqual(
      entries.map(({ section }) => `configuration.released ${section}`),
    );
    expect(await groups.members(id)).toMatchObject([{ userId, source: 'direct' }]);
  });
});

it('the audit entry of a file names the settings that it changed', async () => {
  await bench.apply('settings: { mfa: required }');
  const event = await bench.db.auditEvent.findFirstOrThrow({ where: { type: 'configuration.applied' } });
  expect(JSON.parse(event.data).settings).toEqual([
    { name: 'mfa', kind: 'create', fields: [{ field: 'value', to: 'required' }] },
  ]);
});
