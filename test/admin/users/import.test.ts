// A request of the import of users: it ends after some seconds, lets other requests through meanwhile, and reports what it did before a fault.
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { createUserImport } from '../../../src/admin/users/import.ts';
import { limits } from '../../../src/base/limits.ts';
import { DatabaseUnavailable } from '../../../src/base/storage/unavailable.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { consoleOf, staff } from '../console/support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

const csv = ['username', 'ann', 'ben', 'cem', 'dan', 'eva', 'fay'].join('\n');
const by = { actorId: 'admin' };

/** An import whose users take so many seconds each; `create` may fail instead. */
function importOf(secondsPerUser: number, create: (created: string[]) => void = () => {}) {
  let seconds = 0;
  const created: string[] = [];
  const users = {
    assertMayCreate: async () => {},
    create: async ({ username }: { username: string }) => {
      create(created);
      seconds += secondsPerUser;
      created.push(username);
    },
  };
  const services = {
    admin: { users },
    accounts: { findByLogin: async () => undefined },
    attributeSchema: async () => ({}),
  };
  const imports = createUserImport(services as never, () => seconds * 1000);
  const run = async (done: number, limit = 500) => {
    const { rows, total } = await imports.run(csv, { isTrial: false, done, limit }, by);
    expect(total).toBe(6);
    return rows.map(({ username }) => username);
  };
  return { run, created };
}

it('ends after some seconds or so many rows, and the next request does the others', async () => {
  const { run, created } = importOf(limits.bulk.importSeconds / 2);
  expect(await run(0)).toEqual(['ann', 'ben']);
  expect(await run(2)).toEqual(['cem', 'dan']);
  expect(await run(4, 1)).toEqual(['eva']);
  expect(await run(5)).toEqual(['fay']);
  expect(created).toHaveLength(6);
});

it('does one row at least, however slow the disk is', async () => {
  const { run } = importOf(60);
  expect(await run(0)).toEqual(['ann']);
  expect(await run(1)).toEqual(['ben']);
});

it('reports the rows that were done before the database failed, and fails when none was', async () => {
  const { run } = importOf(0.1, (created) => {
    if (created.length === 2) throw new DatabaseUnavailable('disk full');
  });
  expect(await run(0)).toEqual(['ann', 'ben']);
  await expect(run(2)).rejects.toThrow(DatabaseUnavailable);
});

it('lets other requests through while users are created', async () => {
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const names = Array.from({ length: 500 }, (_, index) => `many${index}`);
  const { fields: { _csrf = '' } = {} } = (await admin.get('/admin/import')).forms[0] ?? {};
  const answered: string[] = [];
  const importing = admin
    .post('/admin/import', { form: { _csrf, csv: ['username', ...names].join('\n') } })
    .then(({ status }) => answered.push(`import ${status}`));
  const created = () => idp.services.db.asStored.user.count({ where: { usernameKey: 'many0' } });
  await vi.waitFor(async () => expect(await created()).toBe(1), { timeout: 30_000, interval: 5 });
  for (let count = 0; count < 3; count += 1) {
    const { status } = await admin.get('/discovery-of-nothing');
    answered.push(`other ${status}`);
  }
  await importing;
  expect(answered).toEqual(['other 404', 'other 404', 'other 404', 'import 200']);
});
