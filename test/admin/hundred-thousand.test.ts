// Lists of a hundred thousand users: which index each query uses, and its results. The duration is annotated, and judged by
// the benchmarks.
import { afterAll, beforeAll, describe, expect, it, type TestContext } from 'vitest';
import { type Fragment, trustedText } from '../../src/base/storage/fragments.ts';
import {
  createAccountList,
  type FilterSizes,
  type ListAccounts,
  matchQuery,
  pageQuery,
} from '../../src/people/accounts/account-list.ts';
import { nameKey } from '../../src/people/accounts/names.ts';
import { databaseKind, type TestDatabase, testDatabase } from '../support/database/database.ts';

const USERS = 100_000;
const START = Date.UTC(2026, 0, 1);
const names = ['Ann Smith', 'Bob Jones', 'Çağla Öz', 'Дмитрий Орлов', 'Eve Miller'];
const few = { roleIds: ['r-few'], count: 20 };
const many = { roleIds: ['r-many'], count: USERS };
const lastName = (name: string) => nameKey(name).split(' ')[1] ?? '';
let test: TestDatabase;

beforeAll(async () => {
  test = await testDatabase();
  const { db } = test.database;
  const sqlite = databaseKind() === 'sqlite';
  await db.role.createMany({ data: ['r-few', 'r-many'].map((id) => ({ id, name: id.slice(2) })) });
  // One statement: the database generates the rows.
  const numbers = sqlite
    ? `WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ${USERS - 1})`
    : `WITH n AS (SELECT generate_series(0, ${USERS - 1}) AS n)`;
  const at = sqlite
    ? `strftime('%Y-%m-%dT%H:%M:%S.000+00:00', ${START / 1000} + n, 'unixepoch')`
    : `(to_timestamp(${START / 1000} + n) AT TIME ZONE 'UTC')`;
  const oneOf = (texts: string[]) => `CASE n % 5 ${texts.map((text, i) => `WHEN ${i} THEN '${text}'`).join(' ')} END`;
  const key = `'user-' || n || '${'\n'}user-' || n || '@example.com${'\n'}' || ${oneOf(names.map(nameKey))}`;
  await db.$executeRawUnsafe(`INSERT INTO users
    (id, username, username_key, email, email_key, name, search_key, name_key, last_name_key, is_enabled, created_at, updated_at)
    ${numbers} SELECT 'sub-' || n, 'user-' || n, 'user-' || n, 'user-' || n || '@example.com', 'user-' || n || '@example.com',
    ${oneOf(names)}, ${key}, ${oneOf(names.map(nameKey))}, ${oneOf(names.map(lastName))}, n % 1000 <> 0, ${at}, ${at} FROM n`);
  await db.$executeRawUnsafe(`INSERT INTO user_roles (user_id, role_id) SELECT id, 'r-many' FROM users`);
  await db.asStored.userRole.createMany({
    data: Array.from({ length: 20 }, (_, index) => ({ userId: `sub-${index * 4999}`, roleId: 'r-few' })),
  });
  await db.$executeRawUnsafe(`INSERT INTO user_values (user_id, name, value_key)
    ${numbers} SELECT 'sub-' || n, 'badge', 'badge-' || n FROM n UNION ALL SELECT 'sub-' || n, 'team', 'night' FROM n`);
  if (!sqlite) await db.$executeRawUnsafe('VACUUM ANALYZE users, user_roles, user_values');
}, 300_000);
afterAll(() => test?.close());

const list = (query: ListAccounts) => createAccountList({ ...test.database, now: () => new Date() }).list(query);

async function timed<T>({ annotate, task }: TestContext, work: () => Promise<T>): Promise<T> {
  await work();
  const start = performance.now();
  const result = await work();
  await annotate(`${databaseKind()}: ${task.name}: ${(performance.now() - start).toFixed(1)} ms`);
  return result;
}

const plan = (query: Parameters<typeof pageQuery>[1], sizes?: FilterSizes) =>
  explained(pageQuery(test.database.sql.dialect, query, sizes));

async function explained(found: Fragment) {
  const { db } = test.database;
  const explain = databaseKind() === 'sqlite' ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN';
  // SQLite's `detail` says where the rows are found, PostgreSQL's plan is a list of lines.
  const lines = await db.$queryRaw<object[]>`${trustedText(explain)} ${found}`;
  return lines.map((line) => Object.values(line).map(String).join(' ')).join('\n');
}
const INDEX = 'users_created_at_id_is_enabled_source_search_key_idx';

describe('a list of a hundred thousand users', () => {
  it('returns its first page from the index', async (context) => {
    const page = await timed(context, () => list({}));
    expect(page.accounts).toHaveLength(50);
    expect(page.accounts[0]).toMatchObject({ username: `user-${USERS - 1}`, roles: ['many'] });
    expect(await plan({})).toContain(INDEX);
  });

  it('returns a late page from the index', async (context) => {
    const after = `${START + 500 * 1000}.sub-500`;
    const page = await timed(context, () => list({ after, limit: 200 }));
    expect(page.accounts[0]?.username).toBe('user-499');
    expect(page.accounts).toHaveLength(200);
    expect(await plan({ after })).toContain(INDEX);
  });

  it('finds a single account in the index alone', async (context) => {
    const page = await timed(context, () => list({ search: 'USER-77777@' }));
    expect(page.accounts.map(({ username }) => username)).toEqual(['user-77777']);
    expect(await plan({ search: 'user-77777@' })).toMatch(
      databaseKind() === 'sqlite' ? /COVERING INDEX/ : /Index Only Scan|Seq Scan/,
    );
  });

  it('finds no account where none matches', async (context) => {
    expect((await timed(context, () => list({ search: 'nobody at all' }))).accounts).toEqual([]);
  });

  it.for([
    ['smith', 'Ann Smith'],
    ['ÇAĞLA', 'Çağla Öz'],
    ['ОРЛОВ', 'Дмитрий Орлов'],
    ['opлob', 'Дмитрий Орлов'],
  ])('finds %s in any case and spelling', async ([search, name], context) => {
    const page = await timed(context, () => list({ search }));
    expect(page.accounts).toHaveLength(50);
    expect(new Set(page.accounts.map((account) => account.name))).toEqual(new Set([name]));
    expect(page.next).toBeDefined();
  });

  it('is sorted by name and by username in either order, page by page, by an index', async (context) => {
    const first = await timed(context, () => list({ sort: 'name', limit: 2 }));
    expect(first.accounts.map(({ username }) => username)).toEqual(['user-0', 'user-10']);
    const second = await list({ sort: 'name', limit: 2, after: first.next });
    expect(second.accounts.map(({ username }) => username)).toEqual(['user-100', 'user-1000']);
    const last = await timed(context, () => list({ sort: '-username', limit: 2 }));
    expect(last.accounts.map(({ username }) => username)).toEqual(['user-99999', 'user-99998']);
    expect((await list({ sort: '-username', limit: 1, after: last.next })).accounts[0]?.username).toBe('user-99997');
    expect(await plan({ sort: 'name', after: first.next })).toContain('users_name_key_id_idx');
    expect(await plan({ sort: '-username' })).toContain('users_username_key_key');
    const disabled = await timed(context, () => list({ sort: 'name', state: 'disabled', limit: 1 }));
    expect(disabled.accounts[0]).toMatchObject({ name: 'Ann Smith', isEnabled: false });
    expect(await plan({ sort: 'name', state: 'disabled' }, { disabled: 100 })).toContain(
      'users_is_enabled_created_at_id_idx',
    );
    expect(await plan({ state: 'disabled' })).toContain('users_is_enabled_created_at_id_idx');
  });

  it('finds beginnings by indexes from a number of users on that a search cannot look into one by one', async (context) => {
    await test.database.db.asStored.user.create({
      data: {
        id: 'sub-one-more',
        username: 'zoë',
        usernameKey: 'zoë',
        name: 'Zoë van der Berg',
        updatedAt: new Date(),
        nameKey: 'zoë van der berg',
        lastNameKey: 'berg',
        searchKey: 'zoë\n\nzoë van der berg',
        createdAt: new Date(START),
      },
    });
    const found = async (search: string) => (await list({ search })).accounts.map(({ username }) => username);
    for (const search of ['zo', 'ZOË', 'Zoë van', 'berg']) expect(await found(search), search).toEqual(['zoë']);
    expect(await timed(context, () => found('user-77777@'))).toEqual(['user-77777']);
    expect(await found('van der')).toEqual([]);
    const { accounts } = await timed(context, () =>
      list({ search: 'smith', role: 'many', state: 'disabled', sort: 'username' }),
    );
    expect(accounts.filter((one) => one.name !== 'Ann Smith' || one.isEnabled)).toEqual([]);
    const text = await plan({ search: 'smith' }, { isLarge: true });
    for (const index of ['username_key_key', 'email_key_key', 'name_key_id_idx', 'last_name_key_id_idx'])
      expect(text).toContain(`users_${index}`);
    const counted = createAccountList({ ...test.database, now: () => new Date() });
    const count = async (query: ListAccounts) => (await counted.listIds(query)).count();
    expect(await count({})).toEqual({ count: 10_000, isMore: true });
    expect(await count({ search: 'user-7777' })).toEqual({ count: 11, isMore: false });
    expect(await count({ search: 'smith' })).toEqual({ count: 1000, isMore: true });
    expect(await count({ role: 'few' })).toEqual({ count: 20, isMore: false });
    expect(await count({ role: 'many' })).toEqual({ count: 10_000, isMore: true });
    expect(await count({ role: 'many', state: 'disabled' })).toEqual({ count: undefined, isMore: false });
    await test.database.db.user.delete({ where: { id: 'sub-one-more' } });
  });

  it('finds beginnings at each key by indexes alone', async (context) => {
    const found = async (search: string) =>
      (await list({ search, isQuick: true, limit: 5 })).accounts.map(({ username }) => username);
    expect(await timed(context, () => found('user-77777'))).toEqual(['user-77777']);
    expect(await found('USER-777')).toEqual(['user-777', 'user-77799', 'user-77798', 'user-77797', 'user-77796']);
    expect(await timed(context, () => found('u'))).toHaveLength(5);
    expect(await found('nobody')).toEqual([]);
    const query = matchQuery(test.database.sql.dialect, { search: 'user-777' }, { isLarge: true }, { rank: 0 });
    const text = await explained(query);
    for (const index of ['username_key_key', 'email_key_key', 'name_key_id_idx', 'last_name_key_id_idx'])
      expect(text).toContain(`users_${index}`);
    expect(text).not.toMatch(/SCAN f\b|Seq Scan on users f/);
  });

  it('finds values of own fields by their index, one or those of everybody, without the hidden ones', async (context) => {
    const found = async (query: ListAccounts) =>
      (await list({ hiddenFields: [], limit: 5, ...query })).accounts.map(({ username }) => username);
    expect(await timed(context, () => found({ search: 'badge-77777' }))).toEqual(['user-77777']);
    expect(await found({ search: 'badge-77777', isQuick: true })).toEqual(['user-77777']);
    expect(await found({ search: 'badge-77777', hiddenFields: ['badge'] })).toEqual([]);
    for (const isQuick of [false, true])
      expect(await timed(context, () => found({ search: 'night', isQuick, hiddenFields: ['badge'] }))).toHaveLength(5);
    const { dialect } = test.database.sql;
    const query = { search: 'badge-777', hiddenFields: [] };
    for (const isLarge of [false, true])
      expect(await explained(matchQuery(dialect, query, { isLarge }, { rank: 0 }))).toContain(
        'user_values_value_key_user_id_name_idx',
      );
  });

  it('filters by activity, and by a role with few or with all members', async (context) => {
    const disabled = await timed(context, () => list({ state: 'disabled', limit: 100 }));
    expect(disabled.accounts).toHaveLength(100);
    const rare = await timed(context, () => list({ role: 'few', limit: 100 }));
    expect(rare.accounts).toHaveLength(20);
    const common = await timed(context, () => list({ role: 'many', search: 'smith' }));
    expect(common.accounts).toHaveLength(50);
    expect(await plan({}, { members: [few] })).toMatch(
      /user_roles_role_id_idx|user_roles_pkey|sqlite_autoindex_user_roles/,
    );
    expect(await plan({}, { members: [many] })).toContain(INDEX);
    expect((await list({ role: 'none' })).accounts).toEqual([]);
    const covered = await timed(context, () =>
      list({ memberOf: [{ role: ['few', 'none'], group: [] }], search: 'smith' }),
    );
    expect(covered.accounts.filter(({ roles }) => !roles.includes('few'))).toEqual([]);
    expect(
      (await list({ memberOf: [{ role: ['many', 'few'], group: [] }], role: 'few', limit: 100 })).accounts,
    ).toHaveLength(20);
    expect((await list({ memberOf: [{ role: ['none'], group: [] }] })).accounts).toEqual([]);
  });

  it('finds those of a role who are all at the end of the list, page by page', async (context) => {
    const { db } = test.database;
    await db.role.create({ data: { id: 'r-old', name: 'old' } });
    await db.$executeRawUnsafe(
      `INSERT INTO user_roles (user_id, role_id) SELECT id, 'r-old' FROM users WHERE created_at < (SELECT created_at FROM users WHERE id = 'sub-3000')`,
    );
    const first = await timed(context, () => list({ role: 'old', limit: 2 }));
    expect(first.accounts.map(({ username }) => username)).toEqual(['user-2999', 'user-2998']);
    const second = await list({ role: 'old', limit: 2, after: first.next });
    expect(second.accounts.map(({ username }) => username)).toEqual(['user-2997', 'user-2996']);
    const last = await list({ role: 'old', limit: 5, after: `${START + 3 * 1000}.sub-3` });
    expect(last.accounts.map(({ username }) => username)).toEqual(['user-2', 'user-1', 'user-0']);
    expect(last.next).toBeUndefined();
    await db.role.delete({ where: { id: 'r-old' } });
  });

  it('searches for percent signs and underscores literally', async () => {
    expect((await list({ search: '%' })).accounts).toEqual([]);
    expect((await list({ search: 'user_1' })).accounts).toEqual([]);
    expect((await list({ search: '\\' })).accounts).toEqual([]);
  });
});
