// A start with an unchanged configuration file: it is planned only when the file or a row that it declares has changed, by whatever
// program, and wins then.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { readValidFile } from '../../src/config-file/read-file.ts';
import { testFolder } from '../support/database/database.ts';
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

  it('is planned when another program wrote that it was applied', async () => {
    const row = await bench.db.setting.findUniqueOrThrow({ where: { key: 'configuration:applied' } });
    await bench.db.setting.update({
      where: { key: row.key },
      data: { value: row.value.replace('"until"', '"until" ') },
    });
    expect(await isApplied()).toBe(false);
    await apply();
    expect(await isApplied()).toBe(true);
  });

  it('is planned at each start when it declares users, whose passwords are compared', async () => {
    writeFileSync(name, `${FILE}users: [{ username: ann }]\n`);
    expect(await apply()).toEqual(['create users ann']);
    expect(await apply()).toEqual([]);
    expect(await isApplied()).toBe(false);
  });

  it('is planned at each start when there is something to say about it', async () => {
    writeFileSync(name, FILE.replace(`, client_secret: ${'s'.repeat(43)}`, ''));
    await bench.db.clientSecret.deleteMany({});
    expect(await apply()).toEqual([]);
    expect(await isApplied()).toBe(false);
  });
});

it('a start says that the file is unchanged, and reads it again after a change', async () => {
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
