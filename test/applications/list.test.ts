import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApplicationReads, type ListApplications, listKey } from '../../src/applications/read.ts';
import { type TestDatabase, testDatabase } from '../support/database/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await testDatabase();
  const row = (name: string, protocol = 'oidc', enabled = true) => {
    const id = name.toLowerCase().replaceAll(' ', '-');
    return { id, clientId: `client-${id}`, name, nameKey: listKey(name), protocol, enabled, metadata: '{}' };
  };
  await test.database.db.asStored.application.createMany({
    data: [
      row('Wiki'),
      row('100% Mail'),
      row('Old Wiki', 'saml', false),
      row('Payroll', 'saml'),
      row('app'),
      row('App 2'),
    ],
  });
});
afterAll(() => test?.close());

const names = async (query: ListApplications) =>
  (await createApplicationReads(test.database.db).list(query)).applications.map(({ name }) => name).sort();

describe('the list of applications', () => {
  it('searches name and identifier in any case, and filters', async () => {
    expect(await names({ search: 'WIKI' })).toEqual(['Old Wiki', 'Wiki']);
    expect(await names({ search: 'client-payroll' })).toEqual(['Payroll']);
    expect(await names({ search: '%' })).toEqual(['100% Mail']);
    expect(await names({ search: '\0' })).toHaveLength(6);
    expect(await names({ protocol: 'saml' })).toEqual(['Old Wiki', 'Payroll']);
    expect(await names({ enabled: false })).toEqual(['Old Wiki']);
    expect(await names({ enabled: true, search: 'wiki' })).toEqual(['Wiki']);
  });

  it('lists every application, also when the last one of a page is deleted meanwhile', async () => {
    const { db } = test.database;
    const first = await createApplicationReads(db).list({ limit: 2 });
    const second = await createApplicationReads(db).list({ limit: 2, after: first.next });
    await db.application.delete({ where: { id: second.applications[1]?.id ?? '' } });
    const third = await createApplicationReads(db).list({ limit: 2, after: second.next });
    expect(third.next).toBeUndefined();
    const seen = [first, second, third].flatMap(({ applications }) => applications.map(({ id }) => id));
    expect([seen.length, new Set(seen).size]).toEqual([6, 6]);
    expect((await createApplicationReads(db).list({ limit: 1, after: 'garbage' })).applications).toEqual(
      first.applications.slice(0, 1),
    );
  });
});

describe('the order of the list of applications', () => {
  it('is that of the names in any case, in both directions, with the cursor, and by rank', async () => {
    const { db } = test.database;
    await db.application.deleteMany();
    const wanted = ['Calendar', 'CRM', 'crm 2', 'Vault', 'VPN', 'Ähre', 'ärger', 'Übung', '\ufdfa'.repeat(255)];
    const row = (name: string, at: number) => ({
      id: `${9 - at}`,
      clientId: name,
      name,
      nameKey: listKey(name),
      protocol: 'oidc',
      metadata: '{}',
    });
    await db.asStored.application.createMany({ data: wanted.map(row) });
    const all = async (isDescending: boolean, rank?: ReadonlyMap<string, number>) => {
      const seen: string[] = [];
      let after: string | undefined;
      do {
        const page = await createApplicationReads(db).list({ limit: 2, after, isDescending, rank });
        seen.push(...page.applications.map(({ name }) => name));
        after = page.next;
      } while (after !== undefined);
      return seen;
    };
    expect(await all(false)).toEqual(wanted);
    expect(await all(true)).toEqual([...wanted].reverse());
    // Those with a number, equal ones by name, and the others by name.
    const rank = new Map([
      ['VPN', 7],
      ['gone', 5],
      ['Vault', 7],
      ['crm 2', 1],
    ]);
    const others = wanted.filter((name) => !rank.has(name));
    expect(await all(true, rank)).toEqual(['Vault', 'VPN', 'crm 2', ...others]);
    expect(await all(false, rank)).toEqual([...others, 'crm 2', 'Vault', 'VPN']);
    expect(await all(true, new Map())).toEqual(wanted);
  });
});
