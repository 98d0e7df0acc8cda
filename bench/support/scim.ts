// A directory with users and groups, and its requests (docs/scim.md).
import { randomUUID } from 'node:crypto';
import type { Database } from '../../src/base/storage/database.ts';
import { type Answer, send } from './load.ts';
import type { Scenario } from './measure.ts';
import { directory, type Target } from './target.ts';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const ENTERPRISE = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User';
/** Members of a group; groups have as many as the directory of a company has. One has everybody, up to so many. */
const MEMBERS = 100;
const ALL = 100_000;

const headers = { authorization: `Bearer ${directory.token}` };

/** One request of the directory. */
export const ask = ({ origin }: Target, path: string, rest: Omit<Parameters<typeof send>[1], 'headers'> = {}) =>
  send(`${origin}/scim/v2${path}`, { headers, ...rest });

const where = (filter: string) => `filter=${encodeURIComponent(filter)}`;
const idOf = ({ text }: Answer): string => (JSON.parse(text) as { id: string }).id;
const patch = (...Operations: object[]) => ({
  method: 'PATCH',
  json: { schemas: ['urn:ietf:params:scim:api:messages:2.0:PatchOp'], Operations },
});

/** A new user as Entra ID sends one: it looks for the name first. */
export async function provision(target: Target): Promise<string> {
  const externalId = randomUUID();
  const userName = `${externalId}@${directory.domain}`;
  await ask(target, `/Users?${where(`userName eq "${userName}"`)}`);
  const json = {
    schemas: [USER, ENTERPRISE],
    externalId,
    userName,
    active: true,
    displayName: 'Ann Smith',
    emails: [{ primary: true, type: 'work', value: userName }],
    meta: { resourceType: 'User' },
    name: { formatted: 'Ann Smith', familyName: 'Smith', givenName: 'Ann' },
    phoneNumbers: [{ type: 'mobile', value: '+1 425 555' }],
    preferredLanguage: 'en-US',
    title: 'Engineer',
    [ENTERPRISE]: { employeeNumber: '7', department: 'Sales' },
  };
  return idOf(await ask(target, '/Users', { json, expect: 201 }));
}

/** What a directory asks every day. */
export const scimScenarios: Scenario[] = [
  {
    name: 'SCIM, find and create a user',
    operations: 12,
    workers: 4,
    worker: async (target) => () => provision(target),
  },
  {
    name: 'SCIM, find a user',
    operations: 80,
    workers: 4,
    worker: async (target) => () => ask(target, `/Users?${where('externalId eq "x-500"')}`),
  },
  {
    name: 'SCIM, find a user by the name',
    operations: 80,
    workers: 4,
    worker: async (target) => () => ask(target, `/Users?${where('userName eq "user-500"')}`),
  },
  {
    name: 'SCIM, find a user by an address',
    operations: 80,
    workers: 4,
    worker: async (target) => () => ask(target, `/Users?${where(`emails.value eq "user-500@${directory.domain}"`)}`),
  },
  {
    name: 'SCIM, change a user',
    operations: 20,
    workers: 4,
    async worker(target) {
      const id = await provision(target);
      let turn = 0;
      return () => {
        turn += 1;
        const change = { op: 'Replace', path: 'displayName', value: `Ann Smith ${turn}` };
        return ask(target, `/Users/${id}`, patch(change));
      };
    },
  },
  {
    name: 'SCIM, disable a user, and enable',
    operations: 12,
    workers: 4,
    async worker(target) {
      const id = await provision(target);
      let isActive = true;
      return () => {
        isActive = !isActive;
        return ask(target, `/Users/${id}`, patch({ op: 'Replace', path: 'active', value: String(isActive) }));
      };
    },
  },
  {
    name: 'SCIM, find a group',
    operations: 60,
    workers: 4,
    worker: async (target) => () =>
      ask(target, `/Groups?excludedAttributes=members&${where('displayName eq "Group 5"')}`),
  },
  ...['sg-5', 'sg-all'].map((group) => ({
    name: `SCIM, a member joins ${group === 'sg-all' ? 'everybody ' : ''}and leaves`,
    operations: 12,
    workers: 4,
    async worker(target: Target) {
      const value = [{ value: await provision(target) }];
      return async () => {
        for (const op of ['Add', 'Remove'])
          await ask(target, `/Groups/${group}`, { ...patch({ op, path: 'members', value }), expect: 204 });
      };
    },
  })),
  {
    name: 'SCIM, a page of 1,000 users',
    operations: 2,
    workers: 1,
    worker: async (target) => () => ask(target, '/Users?count=1000'),
  },
  {
    name: 'SCIM, a later page of 1,000 users',
    operations: 2,
    workers: 1,
    async worker(target) {
      const { nextCursor = '' } = JSON.parse((await ask(target, '/Users?count=500&cursor=')).text);
      return () => ask(target, `/Users?count=1000&cursor=${nextCursor}`);
    },
  },
  {
    name: 'SCIM, the last page of 100 users by its index',
    operations: 8,
    workers: 1,
    async worker(target) {
      const { totalResults = 0 } = JSON.parse((await ask(target, '/Users?count=0')).text);
      return () => ask(target, `/Users?count=100&startIndex=${totalResults - 99}`);
    },
  },
];

/** Adds users and their groups to the directory by SQL, without MACs (`signRows`). */
export async function addPeople({ db, kind }: Database, rows: number): Promise<void> {
  const numbers = (count: number) =>
    kind === 'sqlite'
      ? `WITH RECURSIVE n(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM n WHERE n < ${count - 1})`
      : `WITH n AS (SELECT generate_series(0, ${count - 1})::bigint AS n)`;
  const moment = (seconds: string) =>
    kind === 'sqlite'
      ? `strftime('%Y-%m-%dT%H:%M:%S.000+00:00', ${seconds}, 'unixepoch')`
      : `(to_timestamp(${seconds}) AT TIME ZONE 'UTC')`;
  const at = moment('1700000000 + n');
  const run = (statement: string) => db.$executeRawUnsafe(statement);
  const content = `'{"userName":"user-' || n || '","externalId":"x-' || n || '","displayName":"Ann Smith",
    "emails":[{"primary":true,"type":"work","value":"user-' || n || '@${directory.domain}"}],"title":"Engineer",
    "name":{"formatted":"Ann Smith","familyName":"Smith","givenName":"Ann"},"${ENTERPRISE}":{"department":"Sales"}}'`;
  await run(`INSERT INTO users (id, username, username_key, email, email_key, name, search_key, name_key, last_name_key, is_enabled, created_at, updated_at)
    ${numbers(rows)} SELECT 'scim-' || n, 'user-' || n, 'user-' || n, 'user-' || n || '@${directory.domain}', 'user-' || n || '@${directory.domain}',
    'Ann Smith', 'user-' || n, 'ann smith', 'smith', true, ${at}, ${at} FROM n`);
  await run(`INSERT INTO scim_users (user_id, connection_id, external_id, content, created_at, updated_at)
    ${numbers(rows)} SELECT 'scim-' || n, '${directory.id}', 'x-' || n, ${content}, ${at}, ${at} FROM n`);
  await run(`INSERT INTO scim_addresses (user_id, value_key)
    ${numbers(rows)} SELECT 'scim-' || n, 'user-' || n || '@${directory.domain}' FROM n`);
  await run(`INSERT INTO groups (id, name, name_key, path, created_at, updated_at)
    ${numbers(1)} SELECT 'sg-all', 'Everybody', 'everybody', '/Everybody', ${at}, ${at} FROM n`);
  await run(`INSERT INTO scim_groups (group_id, connection_id, external_id, content, is_own, display_key, created_at, updated_at)
    ${numbers(1)} SELECT 'sg-all', '${directory.id}', 'g-all', '{"displayName":"Everybody"}', true, 'everybody', ${at}, ${at} FROM n`);
  await run(`INSERT INTO group_ancestors (group_id, ancestor_id) VALUES ('sg-all', 'sg-all')`);
  await run(`INSERT INTO group_members (group_id, user_id, source)
    ${numbers(Math.min(rows, ALL))} SELECT 'sg-all', 'scim-' || n, 'scim:${directory.id}' FROM n`);
  const groups = Math.max(10, Math.floor(rows / MEMBERS));
  await run(`INSERT INTO groups (id, name, name_key, path, created_at, updated_at)
    ${numbers(groups)} SELECT 'sg-' || n, 'Group ' || n, 'group ' || n, '/Group ' || n, ${at}, ${at} FROM n`);
  await run(`INSERT INTO scim_groups (group_id, connection_id, external_id, content, is_own, display_key, created_at, updated_at)
    ${numbers(groups)} SELECT 'sg-' || n, '${directory.id}', 'g-' || n, '{"displayName":"Group ' || n || '"}', true, 'group ' || n, ${at}, ${at} FROM n`);
  await run(
    `INSERT INTO group_ancestors (group_id, ancestor_id) ${numbers(groups)} SELECT 'sg-' || n, 'sg-' || n FROM n`,
  );
  await run(`INSERT INTO group_members (group_id, user_id, source)
    ${numbers(rows)} SELECT 'sg-' || (n % ${groups}), 'scim-' || n, 'scim:${directory.id}' FROM n`);
  if (kind !== 'sqlite') await run('VACUUM ANALYZE');
}
