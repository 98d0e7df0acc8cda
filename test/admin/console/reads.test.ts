// What pages cost: the target of a form reads the object once for the page and once locked, and asks once whether the administrator may change
// it; no page looks at every row of a table. SQLite plans without statistics, so an empty table has the plan of one with 100,000 rows.
import { createRequire } from 'node:module';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { HttpClient, Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { consoleOf, staff } from './support.ts';

const asked: { what: string }[] = [];

/** The statements that SQLite ran, each with its values. */
const statements: { sql: string; values: unknown[] }[] = [];

/** Counts the statements of all connections until the returned function is called. */
function watchStatements(): () => void {
  type Run = (this: { source: string }, ...values: unknown[]) => unknown;
  const Database = createRequire(import.meta.url)('better-sqlite3');
  const prototype = Object.getPrototypeOf(new Database(':memory:').prepare('SELECT 1')) as Record<string, Run>;
  const own = { ...prototype };
  const names = ['all', 'get', 'iterate'] as const;
  for (const name of names) {
    const run = prototype[name] as Run;
    own[name] = run;
    prototype[name] = function (...values) {
      statements.push({ sql: this.source, values: values.flat() });
      return run.apply(this, values);
    };
  }
  return () => {
    for (const name of names) prototype[name] = own[name] as Run;
  };
}

/** How often the row of this table with this ID was read. */
function readsOf(table: string, id: string): string[] {
  const from = new RegExp(`^\\s*SELECT\\b.*\\bFROM\\s+(\`main\`\\.)?[\`"]?${table}[\`"]?\\b`, 's');
  return statements.filter(({ sql, values }) => from.test(sql) && values.includes(id)).map(({ sql }) => sql);
}

let idp: TestIdp;
let console: HttpClient;

let unwatch: () => void;

beforeAll(async () => {
  unwatch = watchStatements();
  idp = await startIdp();
  const { authority } = idp.services;
  const { assertMay } = authority;
  authority.assertMay = (by, change, tx) => {
    asked.push(change);
    return assertMay(by, change, tx);
  };
  const manager = await staff(idp, 'admin');
  console = await consoleOf(idp, manager);
});
afterAll(async () => {
  unwatch?.();
  await idp?.stop();
});

/** Sends the form of the page, and forgets what the page itself cost. */
async function send(path: string, values: Record<string, string>): Promise<Page> {
  const page = await console.get(path);
  statements.length = 0;
  asked.length = 0;
  return console.submit(page, values);
}

const checksOf = (what: string) => asked.filter((one) => one.what === what).length;

it('the form of a role reads it twice at most, and asks once', async () => {
  const { id } = await idp.services.roles.create({ name: 'readers', description: 'Read', permissions: ['books:read'] });
  const sent = await send(`/admin/roles/${id}`, { name: 'readers', description: 'Read books' });
  expect(sent.status).toBe(303);
  expect(checksOf('role')).toBe(1);
  expect(readsOf('roles', id)).toHaveLength(2);
  expect((await idp.services.roles.get(id)).description).toBe('Read books');
});

it('the form of a user reads the account twice at most, and asks once', async () => {
  const { account } = await staff(idp);
  const sent = await send(`/admin/users/${account.id}/change/name`, { given_name: 'Ann' });
  expect(sent.status).toBe(303);
  expect(checksOf('user')).toBe(1);
  expect(readsOf('users', account.id).length).toBeLessThanOrEqual(2);
});

it('the form of an application reads it twice at most, and asks once', async () => {
  const { application } = await idp.services.applications.createOidc({
    client_name: 'Shelf',
    redirect_uris: ['https://shelf.example/callback'],
  });
  const sent = await send(`/admin/applications/${application.id}/settings`, { client_name: 'Shelves' });
  expect(sent.status).toBe(303);
  expect(checksOf('application')).toBe(1);
  expect(readsOf('applications', application.id)).toHaveLength(2);
  expect((await idp.services.applications.get(application.id)).name).toBe('Shelves');
});

it('a list that has all on its first page is not counted', async () => {
  statements.length = 0;
  for (const path of ['/admin/users?state=needed', '/admin/applications?q=shel'])
    expect((await console.get(path)).status, path).toBe(200);
  const counts = statements.filter(({ sql }) => /COUNT\(\*\)[^;]*FROM (users f|applications)\b/s.test(sql));
  expect(counts.map(({ sql }) => sql)).toEqual([]);
});

/** Tables that stay small. */
const SMALL =
  /^(audit_chain|roles|permissions|connections|resources|event_streams|scim_connections|signing_keys|provisioning_targets)$/;

/** The statements of a page that look at every row of a table. */
async function scansOf(path: string, tables: ReadonlySet<string>): Promise<string[]> {
  statements.length = 0;
  expect((await console.get(path)).status, path).toBe(200);
  const scans = new Set<string>();
  for (const { sql, values } of statements.splice(0)) {
    // Prisma writes 1=0 for an empty list.
    if (!/^\s*(SELECT|WITH)\b/.test(sql) || sql.includes('1=0')) continue;
    // By its number, until the page is full.
    if (/ORDER BY `main`\.`audit_events`\.`id` DESC LIMIT/.test(sql)) continue;
    const plan = await idp.services.db.$queryRawUnsafe<{ detail: string }[]>(`EXPLAIN QUERY PLAN ${sql}`, ...values);
    for (const { detail } of plan) {
      const alias = /^SCAN (?:main\.)?(\w+)$/.exec(detail)?.[1];
      const name = new RegExp(`\\b(\\w+)[\`"]?\\s+(AS\\s+)?[\`"]?${alias}\\b`).exec(sql)?.[1] ?? '';
      const table = [alias, name].find((one) => one !== undefined && tables.has(one));
      if (table !== undefined && !SMALL.test(table)) scans.add(`${table}: ${sql.replace(/\s+/g, ' ')}`);
    }
  }
  return [...scans];
}

it('no page reads every row of a table', async () => {
  const { db, groups, applications } = idp.services;
  const named = await db.$queryRaw<{ name: string }[]>`SELECT name FROM sqlite_master WHERE type = 'table'`;
  const tables = new Set(named.map(({ name }) => name));
  const { account } = await staff(idp);
  const { id: group } = await groups.create({ name: 'Science' });
  const { application } = await applications.createOidc({
    client_name: 'Library',
    redirect_uris: ['https://library.example/callback'],
  });
  const aClient = encodeURIComponent(application.clientId);
  const of = (path: string, parts: readonly string[]) => parts.map((part) => `${path}${part}`);
  const pages = [
    '/dashboard',
    ...of('/account', ['', '/applications', '/activity', '/groups', '/factors']),
    '/admin',
    ...of('/admin/users', ['', '?sort=name', '?sort=-seen', '?state=invited', '?state=unseen', '?state=ending']),
    ...of(`/admin/users/${account.id}`, ['', '/sessions', '/roles', '/access', '/activity', '/delete']),
    ...of('/admin/applications', ['', '?sort=-name', '?sort=-sign-ins', '?protocol=saml', '/new']),
    ...of(`/admin/applications/${application.id}`, ['', '/people', '/activity', '/delete']),
    '/admin/groups',
    ...of(`/admin/groups/${group}`, ['', '/parts', '/owners', '/requests', '/applications', '/activity', '/delete']),
    ...of('/admin/mail', ['', '?state=failed', '?state=waiting']),
    ...of('/admin/rejections', ['', '?sort=at', `?client=${aClient}`]),
    ...of('/admin/sessions', ['', '?sort=since']),
    ...of('/admin/audit', ['', '?kind=sign-in&range=week']),
    ...of('/admin/', ['api-keys', 'deliveries', 'scim', 'event-streams', 'keys', 'roles', 'import']),
  ];
  const scans: Record<string, string[]> = {};
  for (const path of pages) {
    const found = await scansOf(path, tables);
    if (found.length === 0) continue;
    // A job may have run beside it: the statements of the page come again.
    const again = await scansOf(path, tables);
    const own = found.filter((one) => again.includes(one));
    if (own.length > 0) scans[path] = own;
  }
  expect(scans).toEqual({});
}, 60_000);
