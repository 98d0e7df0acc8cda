import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { listApplications } from '../../src/applications/read.ts';
import { type TestDatabase, testDatabase } from '../support/database/database.ts';

let test: TestDatabase;
beforeAll(async () => {
  test = await testDatabase();
  const row = (name: string, protocol = 'oidc', enabled = true) => {
    const id = name.toLowerCase().replaceAll(' ', '-');
    return { id, clientId: `client-${id}`, name, protocol, enabled, metadata: '{}' };
  };
  await test.database.db.application.createMany({
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

const names = async (query: Parameters<typeof listApplications>[1]) =>
  (await listApplications(test.database.db, query)).applications.map(({ name }) => name).sort();

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
    const first = await listApplications(db, { limit: 2 });
    const second = await listApplications(db, { limit: 2, after: first.next });
    await db.application.delete({ where: { id: second.applications[1]?.id ?? '' } });
    const third = await listApplications(db, { limit: 2, after: second.next });
    expect(third.next).toBeUndefined();
    const seen = [first, second, third].flatMap(({ applications }) => applications.map(({ id }) => id));
    expect([seen.length, new Set(seen).size]).toEqual([6, 6]);
    expect((await listApplications(db, { limit: 1, after: 'garbage' })).applications).toEqual(
      first.applications.slice(0, 1),
    );
  });
});
