// A start with an unchanged configuration file: it is planned only when the file or a row that it declares has changed, by whatever
// program, and wins then.
import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readValidFile } from '../../src/config-file/read-file.ts';
import { testFolder } from '../support/database/database.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { signRows } from '../support/database/row-macs.ts';
import { startIdp } from '../support/idp.ts';
import { configFileBench, lines } from './support.ts';

const FILE = `
settings: { session_hours: 5 }
resources: [{ identifier: https://api.example.com, scopes: [read] }]
clients:
  - { client_id: shop, redirect_uris: [https://shop.example.com/cb], access: { roles: [seller] }, client_secret: ${'s'.repeat(43)} }
roles: [{ name: seller, description: Sells, permissions: ['orders:read'] }]
`;
const name = path.join(testFolder(), 'gatehouse.yaml');

describe('the configuration file', () => {
  let bench: Awaited<ReturnType<typeof configFileBench>>;
  const apply = async () => lines(await bench.configFile.apply(await readValidFile(name)));
  const isApplied = () => bench.configFile.isApplied(name);

  beforeAll(async () => {
    bench = await configFileBench();
    writeFileSync(name, FILE);
    expect(await isApplied()).toBe(false);
  });
  beforeEach(async () => {
    writeFileSync(name, FILE);
    await apply();
    expect(await isApplied()).toBe(true);
  });
  afterAll(() => bench.close());

  it('has nothing left to change after it was applied', async () => {
    expect(await apply()).toEqual([]);
    expect(await isApplied()).toBe(true);
  });

  const changes: Record<string, { change(): Promise<unknown>; steps: string[] }> = {
    'a role changed in the console': {
      change: () => bench.roles.update('seller', { description: 'Buys' }),
      steps: ['change roles seller (description)'],
    },
    'a role deleted by SQL': {
      change: () => bench.db.role.deleteMany({ where: { name: 'seller' } }),
      steps: ['create roles seller', 'change clients shop (access)'],
    },
    'a permission deleted by SQL': {
      change: () => bench.db.rolePermission.deleteMany({}),
      steps: ['change roles seller (permissions)'],
    },
    'a client deleted by SQL': {
      change: () => bench.db.application.deleteMany({ where: { clientId: 'shop' } }),
      steps: ['create clients shop'],
    },
    'a client secret deleted by SQL': {
      change: () => bench.db.clientSecret.deleteMany({}),
      steps: ['change clients shop (client_secret)'],
    },
    'a setting changed in the console': {
      change: () => bench.settings.set('session_hours', 9),
      steps: ['change settings session_hours (value, source)'],
    },
    'a setting deleted by SQL': {
      change: () => bench.db.setting.deleteMany({ where: { key: 'session_hours' } }),
      steps: ['create settings session_hours'],
    },
    'an API deleted by SQL': {
      change: () => bench.db.resource.deleteMany({}),
      steps: ['create resources https://api.example.com'],
    },
    'a row that the file no longer declares': {
      change: () => bench.db.role.create({ data: { id: 'old', name: 'old', source: 'file' } }),
      steps: ['delete roles old'],
    },
    'an edited file': {
      change: async () => writeFileSync(name, FILE.replace('Sells', 'Sells more')),
      steps: ['change roles seller (description)'],
    },
  };

  it.each(Object.keys(changes))('is planned, and wins, after %s', async (what) => {
    const { change, steps } = changes[what] as (typeof changes)[string];
    await change();
    expect(await isApplied()).toBe(false);
    expect(await apply()).toEqual(steps);
    expect(await isApplied()).toBe(true);
  });

  it('is planned when a client secret has expired meanwhile', async () => {
    const { id } = await bench.db.asStored.clientSecret.findFirstOrThrow();
    const expiresAt = new Date(bench.clock.at.getTime() + 60_000);
    await bench.db.asStored.clientSecret.update({ where: { id }, data: { expiresAt, mac: '' } });
    await signRows(bench);
    expect(await apply()).toEqual([]);
    expect(await isApplied()).toBe(true);
    bench.clock.at = new Date(expiresAt.getTime() + 1);
    expect(await isApplied()).toBe(false);
    expect(await apply()).toEqual(['change clients shop (client_secret)']);
  });

  itOnSqlite('is planned when another program wrote that it was applied', async () => {
    const row = await bench.db.setting.findUniqueOrThrow({ where: { key: 'configuration:applied' } });
    await bench.db.setting.update({
      where: { key: row.key },
      data: { value: row.value.replace('"until"', '"until" ') },
    });
    expect(await isApplied()).toBe(false);
    await apply();
    expect(await isApplied()).toBe(true);
  });

  itOnSqlite('is planned when the address of the server is another one, or its own', async () => {
    expect(await bench.configFileFor('https://other.example').isApplied(name)).toBe(false);
    const moved = path.join(testFolder(), 'moved.yaml');
    writeFileSync(moved, FILE);
    expect(await bench.configFile.isApplied(moved)).toBe(false);
    expect(await isApplied()).toBe(true);
  });

  itOnSqlite('is planned at each start when there is something to say about it', async () => {
    writeFileSync(name, FILE.replace(`, client_secret: ${'s'.repeat(43)}`, ''));
    await bench.db.clientSecret.deleteMany({});
    expect(await apply()).toEqual([]);
    expect(await isApplied()).toBe(false);
  });
});

itOnSqlite('a start says that the file is unchanged, and reads it again after a change', async () => {
  writeFileSync(name, FILE);
  let idp = await startIdp({ environment: { GATEHOUSE_CONFIG: name }, adminMfa: 'default' });
  const restart = async () => {
    await idp.stop();
    idp = await startIdp({ environment: idp.environment as Record<string, string>, adminMfa: 'default' });
    return idp.log.map((line) => JSON.parse(line)).find(({ msg }) => msg === 'configuration file applied');
  };
  expect(await restart()).toMatchObject({ changes: 0, isUnchanged: true });
  await idp.services.settings.set('session_hours', 9);
  const changed = await restart();
  expect(changed).toMatchObject({ changes: 1 });
  expect(changed).not.toHaveProperty('isUnchanged');
  expect(await idp.services.settings.get('session_hours')).toBe(5);
  await idp.stop();
});

describe('a configuration file with users, connections, metadata and pictures in files', () => {
  let bench: Awaited<ReturnType<typeof configFileBench>>;
  const folder = testFolder();
  const file = path.join(folder, 'all.yaml');
  const metadata = path.join(folder, 'wiki.xml');
  const logo = path.join(folder, 'logo.svg');
  const svg = (color: string) =>
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><rect width="9" height="9" fill="${color}"/></svg>`;
  const xml = (comment: string) => `<EntityDescriptor entityID="https://wiki.example"/><!-- ${comment} -->`;
  const text = `
settings: { brand_logo: ./logo.svg }
users: [{ username: ann, email: ann@example.com, password: correct horse battery staple, roles: [seller] }]
roles: [{ name: seller }]
service_providers: [{ name: Wiki, metadata_file: wiki.xml }]
connections:
  - { id: corp, kind: oidc, name: Corp, issuer: https://corp.example, client_id: gatehouse, client_secret: ${'c'.repeat(43)}, domains: [corp.example] }
sign_up_codes: [{ name: fair, code: welcome-to-the-fair, max_uses: 9 }]
`;
  const apply = async () => lines(await bench.configFile.apply(await readValidFile(file)));
  const ann = () => bench.db.user.findFirstOrThrow({ where: { username: 'ann' } });

  beforeAll(async () => {
    bench = await configFileBench();
  });
  beforeEach(async () => {
    writeFileSync(metadata, xml('first'));
    writeFileSync(logo, svg('red'));
    writeFileSync(file, text);
    await apply();
    expect(await apply()).toEqual([]);
    expect(await bench.configFile.isApplied(file)).toBe(true);
  });
  afterAll(() => bench.close());

  const changes: Record<string, { change(): Promise<unknown>; steps: string[] }> = {
    'edited metadata': {
      change: async () => writeFileSync(metadata, xml('second')),
      steps: ['change service_providers Wiki (metadata)'],
    },
    'an edited picture': {
      change: async () => writeFileSync(logo, svg('blue')),
      steps: ['change settings brand_logo (value)'],
    },
    'a user changed in the console': {
      change: async () => bench.accounts.update((await ann()).id, { email: 'ann@other.example' }),
      steps: ['change users ann (email)'],
    },
    'a role taken by SQL': {
      change: () => bench.db.asStored.userRole.deleteMany({}),
      steps: ['change users ann (roles)'],
    },
    'a user who chose another password': {
      change: async () =>
        bench.db.asStored.passwordCredential.update({
          where: { userId: (await ann()).id },
          data: { changedAt: new Date(), hash: 'x' },
        }),
      steps: [],
    },
    'a connection deleted by SQL': {
      change: () => bench.db.asStored.connection.deleteMany({}),
      steps: ['create connections corp'],
    },
    'a secret of a connection deleted by SQL': {
      change: () => bench.db.asStored.connectionSecret.deleteMany({}),
      steps: ['change connections corp (client_secret)'],
    },
    'a domain deleted by SQL': {
      change: () => bench.db.asStored.connectionDomain.deleteMany({}),
      steps: ['change connections corp (domains)'],
    },
    'a sign-up code deleted by SQL': {
      change: () => bench.db.asStored.signUpCode.deleteMany({}),
      steps: ['create sign_up_codes fair'],
    },
    'a user deleted by SQL': {
      change: () => bench.db.asStored.user.deleteMany({ where: { username: 'ann' } }),
      steps: ['create users ann'],
    },
  };

  it.each(Object.keys(changes))('is planned after %s', async (what) => {
    const { change, steps } = changes[what] as (typeof changes)[string];
    await change();
    expect(await bench.configFile.isApplied(file)).toBe(false);
    expect(await apply()).toEqual(steps);
    await apply();
    expect(await bench.configFile.isApplied(file)).toBe(true);
  });

  itOnSqlite('is planned when a file that it names is gone', async () => {
    rmSync(metadata);
    expect(await bench.configFile.isApplied(file)).toBe(false);
  });

  itOnSqlite('leaves no digest of its text in the database', async () => {
    const { value } = await bench.db.setting.findUniqueOrThrow({ where: { key: 'configuration:applied' } });
    for (const digest of ['hex', 'base64', 'base64url'] as const)
      expect(value).not.toContain(createHash('sha256').update(text).digest(digest));
  });
});
