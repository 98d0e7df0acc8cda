// What a form of the console costs: its target reads the object once for the page and once locked, and asks once whether the
// administrator may change it.
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
