// Many people join or leave a group, or are signed out, by a job: sign-ins go on meanwhile, the right of who asked is asked for again, and a
// killed server goes on.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { type Database, openDatabase } from '../../src/base/storage/database.ts';
import { adminApi } from '../../src/people/rbac/built-in.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { type ApiCaller, aPerson, aService, aTool, tokenOf } from '../admin/support.ts';
import { longestTurn } from '../credentials/event-loop.ts';
import { serverProcess } from '../robustness/support.ts';
import { itOnBothInLongRun, itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aUser, manyUsers } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { itInLongRun } from '../support/it-in-long-run.ts';
import { isLongRun } from '../support/long-run.ts';
import { textOf } from '../support/pages/html.ts';
import { patientDatabase } from '../support/waits.ts';

/** More in `npm run test:long`. */
const [MANY, MISTAKES] = isLongRun ? [10_000, limits.groups.members] : [700, limits.groups.inRequest + 1000];
/** More than one transaction of a job changes. */
const SEVERAL = limits.groups.atOnce + 300;

let idp: TestIdp;
let admin: ApiCaller;
let count = 0;
beforeAll(async () => {
  // The job begins because it is woken.
  Object.assign(limits.groups, { changesPollSeconds: 3600 });
  idp = await startIdp();
  admin = await aService(idp);
}, 120_000);
afterAll(() => idp?.stop());

interface Change {
  id: string;
  kind: string;
  state: string;
  total: number;
  done: number;
  changed: number;
  error: string | null;
}

const aGroup = ({ services } = idp) => services.groups.create({ name: `Many ${++count}` });

const people = (many: number, { services } = idp) => manyUsers(services, many);

async function added(group: string, ids: readonly string[], by = admin, headers = {}) {
  const answer = await by.send('POST', `/groups/${group}/members`, { members: ids.map((user) => ({ user })) }, headers);
  expect(answer.status, answer.text).toBe(202);
  const change = answer.json<Change>();
  expect(answer.headers.location).toBe(`/api/admin/groups/${group}/changes/${change.id}`);
  return change;
}

async function changeOf(group: string, { id }: { id: string }): Promise<Change> {
  const answer = await admin.get(`/groups/${group}/changes/${id}`);
  expect(answer.status, answer.text).toBe(200);
  return answer.json<Change>();
}

/** The change once this holds. */
async function when(group: string, change: { id: string }, holds: (now: Change) => boolean): Promise<Change> {
  const end = Date.now() + 240_000;
  for (;;) {
    const now = await changeOf(group, change);
    if (holds(now)) return now;
    if (Date.now() > end) throw new Error(`it stays ${JSON.stringify(now)}`);
    await sleep(50);
  }
}
const isOver = ({ state }: Change) => state === 'done' || state === 'failed';
const members = (groupId: string, { db }: Pick<Database, 'db'> = idp.services) =>
  db.asStored.groupMember.count({ where: { groupId } });

itInLongRun(
  'thousands of people join while others sign in',
  async ({ annotate }) => {
    const [{ id }, ids, user, tool] = [await aGroup(), await people(MANY), await aUser(idp.services), await aTool(idp)];
    const headers = { 'idempotency-key': 'thousands', authorization: `Bearer ${admin.token}` };
    const json = { members: ids.map((one) => ({ user: one })) };
    // Without the check of the request against the document, which is the work of the test.
    const send = () => httpClient(idp.issuer).request('POST', `/api/admin/groups/${id}/members`, { headers, json });
    // The document is read, and modules are loaded, at the first time.
    const first = await aGroup();
    await when(first.id, await added(first.id, ids.slice(0, 600)), isOver);
    const began = performance.now();
    const accepted = await longestTurn(send);
    expect(accepted.result.status, accepted.result.text).toBe(202);
    const change = accepted.result.json<Change>();
    const seconds = () => ((performance.now() - began) / 1000).toFixed(1);
    const acceptedAfter = seconds();
    expect((await send()).json<Change>().id).toBe(change.id);
    // Nobody signs in yet: where the system tells no time of a thread, a turn has that of the hashes of passwords in it.
    const joined = await longestTurn(() => when(id, change, ({ done }) => done > MANY / 3));
    expect(joined.result.state).toBe('running');
    let isDone = false;
    const done = when(id, change, isOver).finally(() => {
      isDone = true;
    });
    const signIns: number[] = [];
    while (!isDone) {
      const start = performance.now();
      expect(await tokenOf(idp, tool, user, 'openid admin:*')).toBeTruthy();
      signIns.push(performance.now() - start);
    }
    expect(await done).toMatchObject({ state: 'done', total: MANY, done: MANY, changed: MANY, error: null });
    expect(await members(id)).toBe(MANY);
    expect(await idp.services.db.bulkChangePiece.count({ where: { changeId: change.id } })).toBe(0);
    const turns = [accepted, joined].map(({ longest }) => `${longest.toFixed(0)} ms`);
    await annotate(
      `accepted in ${acceptedAfter} s, done in ${seconds()} s; ${signIns.length} sign-ins, the longest ${Math.max(...signIns).toFixed(0)} ms; the longest turns of accepting and joining: ${turns.join(', ')}`,
    );
    // The last one may have ended after the job.
    expect(signIns.length).toBeGreaterThan(1);
    // The target is 50; garbage is collected in between.
    for (const { longest } of [accepted, joined]) expect(longest).toBeLessThan(100);
    expect((await admin.get(`/groups/${id}/changes`)).json()).toMatchObject({ items: [{ id: change.id }] });
  },
  300_000,
);

itOnSqlite(
  'nobody joins where a row is wrong',
  async () => {
    const [{ id }, ids] = [await aGroup(), await people(600)];
    const rows = ids.map((user) => ({ user }));
    const wrong = [...rows, { user: 'nobody' }, { user: ids[0] ?? '', until: '2001-01-01T00:00:00Z' }];
    const answer = await admin.send('POST', `/groups/${id}/members`, { members: wrong });
    expect(answer.status).toBe(400);
    const problem = answer.json<{ detail: string; errors: { path: string }[] }>();
    expect(problem.errors.map(({ path }) => path)).toEqual(['members[600].user', 'members[601].until']);
    expect(problem.detail).toContain('2 rows are wrong');
    const malformed = await admin.send('POST', `/groups/${id}/members`, {
      members: [...rows, { user: 7 }, { user: ids[0], until: 'tomorrow' }],
      reason: 'of the body itself, not of its rows',
    });
    expect(malformed.status).toBe(400);
    const paths = malformed.json<typeof problem>().errors.map(({ path }) => path);
    expect(paths.sort()).toEqual(['members[600].user', 'members[601].until', 'reason']);
    expect(await idp.services.db.bulkChange.count({ where: { groupId: id } })).toBe(0);
    expect(await members(id)).toBe(0);
  },
  60_000,
);

itOnSqlite(
  'mistakes in tens of thousands of rows are named, and the event loop goes on',
  async ({ annotate }) => {
    const { id } = await aGroup();
    const times = { since: '2026-12-01T00:00:00Z', until: '2040-12-01T00:00:00Z' };
    const names = Array.from({ length: MISTAKES }, (_, at) => `nobody-${count}-${at}`);
    const post = (list: readonly string[]) => {
      const json = { members: list.map((user) => ({ user, ...times })) };
      const headers = { authorization: `Bearer ${admin.token}`, 'idempotency-key': `mistakes-${list.length}` };
      const body = JSON.stringify(json);
      const sent = { headers: { ...headers, 'content-type': 'application/json' }, body };
      return () => httpClient(idp.issuer).request('POST', `/api/admin/groups/${id}/members`, sent);
    };
    const pages = await consoleOf(idp, await staff(idp, 'admin'));
    const path = `/admin/groups/${id}/bulk`;
    const fields = (await pages.get(path)).forms.find((form) => 'people' in form.fields)?.fields;
    const upload = (list: readonly string[]) => {
      const rows = list.map((name) => `${name},${times.since},${times.until}`).join('\n');
      const file = `username,since,until\n${rows}\n`;
      const parts = Object.entries({ ...fields, file }).map(([name, value]) => {
        const fileName = name === 'file' ? '; filename="people.csv"' : '';
        return `--part\r\nContent-Disposition: form-data; name="${name}"${fileName}\r\n\r\n${value}\r\n`;
      });
      const headers = { 'content-type': 'multipart/form-data; boundary=part', origin: idp.issuer };
      const body = Buffer.from(`${parts.join('')}--part--\r\n`);
      return () => pages.request('POST', path, { headers, body });
    };
    // Code is compiled at the first time.
    expect((await post(names.slice(0, 600))()).status).toBe(400);
    expect((await upload(names.slice(0, 600))()).status).toBe(400);
    const [called, uploaded] = [
      await longestTurn(post(names.slice(0, limits.groups.inRequest))),
      await longestTurn(upload(names)),
    ];
    expect(called.result.json()).toMatchObject({
      status: 400,
      detail: expect.stringContaining('25,000 rows are wrong'),
    });
    expect(called.result.json<{ errors: unknown[] }>().errors).toHaveLength(50);
    const page = textOf(uploaded.result.text);
    expect(page).toContain(`${MISTAKES.toLocaleString('en')} rows are wrong, so nothing was changed`);
    expect(page).toContain(`101 No user has the username or email address ${names[99]}`);
    const tooMany = await post(names.slice(0, limits.groups.inRequest + 1))();
    expect(tooMany.json()).toMatchObject({
      status: 413,
      detail: expect.stringContaining('at most 25,000 people in one request'),
      errors: [{ path: 'members' }],
    });
    expect(await idp.services.db.bulkChange.count({ where: { groupId: id } })).toBe(0);
    expect(await members(id)).toBe(0);
    const turns = [called, uploaded].map(({ longest }) => longest);
    await annotate(
      `the longest turns of 25,000 by the API and ${MISTAKES} by the console: ${turns.map((turn) => `${turn.toFixed(0)} ms`).join(', ')}`,
    );
    // The target is 50; garbage is collected in between.
    for (const turn of turns) expect(turn).toBeLessThan(100);
  },
  240_000,
);

itOnSqlite(
  'it stops where the right of who asked ends, and says after how many',
  async () => {
    const role = `groups-${++count}`;
    await idp.services.roles.create({ name: role, permissions: ['gatehouse.groups:write', 'gatehouse.groups:read'] });
    const manager = await aPerson(idp, [role]);
    const [{ id }, ids] = [await aGroup(), await people(SEVERAL)];
    const change = await added(id, ids, manager);
    await when(id, change, ({ done }) => done > 0);
    await idp.services.roles.setRoles(manager.user?.account.id ?? '', []);
    const ended = await when(id, change, isOver);
    expect(ended).toMatchObject({ state: 'failed', error: 'forbidden', total: SEVERAL });
    expect(ended.done).toBeLessThan(SEVERAL);
    expect(await members(id)).toBe(ended.done);
  },
  120_000,
);

itOnSqlite(
  'it stops where the application that asked loses the scope',
  async () => {
    const service = await aService(idp);
    const [{ id }, ids] = [await aGroup(), await people(SEVERAL)];
    const change = await added(id, ids, service);
    await when(id, change, ({ done }) => done > 0);
    await idp.services.applications.update('oidc', service.app.applicationId, {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      resources: [adminApi(idp.issuer)],
      scope: 'gatehouse.groups:read',
    });
    const ended = await when(id, change, isOver);
    expect(ended).toMatchObject({ state: 'failed', error: 'forbidden', total: SEVERAL });
    expect(await members(id)).toBe(ended.done);
  },
  120_000,
);

it('a large group is deleted while others sign in, and its members are signed out', async ({ annotate }) => {
  const { settings, groups, db, sessions } = idp.services;
  const [{ id }, ids] = [await aGroup(), await people(MANY / 3)];
  const [user, member, tool] = [await aUser(idp.services), await aUser(idp.services), await aTool(idp)];
  await groups.addMembers(
    id,
    [...ids, member.account.id].map((userId) => ({ userId })),
  );
  await tokenOf(idp, tool, member, 'openid admin:*');
  await settings.set('sign_out_on_role_change', true);
  await settings.reload();
  // Nobody signs in yet: where the system tells no time of a thread, a turn has that of the hashes of passwords in it.
  const deleted = await longestTurn(() => groups.remove(id));
  expect(await members(id)).toBe(0);
  const began = performance.now();
  expect(await tokenOf(idp, tool, user, 'openid admin:*')).toBeTruthy();
  const signIn = performance.now() - began;
  const signedOut = await longestTurn(() =>
    expect.poll(() => sessions.list(member.account.id, db), { timeout: 120_000 }).toEqual([]),
  );
  const open = { state: { in: ['waiting', 'running'] } };
  await expect.poll(() => db.bulkChange.count({ where: open }), { timeout: 120_000 }).toBe(0);
  const turns = [deleted, signedOut].map(({ longest }) => `${longest.toFixed(0)} ms`);
  await annotate(
    `the longest turns of the deletion and of the sign-outs: ${turns.join(', ')}; a sign-in meanwhile ${signIn.toFixed(0)} ms`,
  );
  await settings.unset('sign_out_on_role_change');
  await settings.reload();
  // The target is 50; garbage is collected in between.
  for (const { longest } of [deleted, signedOut]) expect(longest).toBeLessThan(100);
}, 300_000);

itOnSqlite(
  'it stops where the group gets a role that who asked may not give',
  async () => {
    const [role, given] = [`groups-${++count}`, `given-${count}`];
    await idp.services.roles.create({ name: role, permissions: ['gatehouse.groups:write', 'gatehouse.groups:read'] });
    await idp.services.roles.create({ name: given, permissions: ['gatehouse.users:write'] });
    const manager = await aPerson(idp, [role]);
    const [{ id }, ids] = [await aGroup(), await people(SEVERAL)];
    const change = await added(id, ids, manager);
    await when(id, change, ({ done }) => done > 0);
    await idp.services.groups.addRole(id, given);
    const before = await members(id);
    const ended = await when(id, change, isOver);
    expect(ended).toMatchObject({ state: 'failed', error: 'forbidden' });
    // Nobody after the role was given.
    expect(await members(id)).toBe(ended.done);
    expect(ended.done).toBeLessThanOrEqual(before);
  },
  120_000,
);

itOnSqlite(
  'people leave by a job too, and nobody where a row is wrong',
  async () => {
    const [{ id }, ids] = [await aGroup(), await people(600)];
    await idp.services.groups.addMembers(id, [...ids.map((userId) => ({ userId }))].slice(1));
    const remove = (list: readonly string[]) =>
      admin.send('POST', `/groups/${id}/members/removal`, { members: list.map((user) => ({ user })) });
    const wrong = await remove([...ids, 'nobody', ids[0] ?? '']);
    expect(wrong.status).toBe(400);
    expect(wrong.json<{ errors: { path: string }[] }>().errors.map(({ path }) => path)).toEqual([
      'members[600].user',
      'members[601].user',
    ]);
    expect(await members(id)).toBe(599);
    const answer = await remove(ids);
    expect(answer.status, answer.text).toBe(202);
    const ended = await when(id, answer.json<Change>(), isOver);
    expect(ended).toMatchObject({ kind: 'remove', state: 'done', total: 600, changed: 599 });
    expect(await members(id)).toBe(0);
    expect((await remove(ids.slice(0, 2))).json()).toEqual({ changed: 0 });
  },
  60_000,
);

itOnSqlite(
  'who is in a large group is signed out by a job, also when the group or its role is gone',
  async () => {
    const { settings, groups, roles, db, sessions } = idp.services;
    const [{ id }, ids, tool] = [await aGroup(), await people(60), await aTool(idp)];
    const role = `large-${++count}`;
    await roles.create({ name: role, permissions: ['large:use'] });
    const changes = {
      'a role is given': () => groups.addRole(id, role),
      'the role is deleted': () => roles.remove(role),
      'the group is deleted': () => groups.remove(id),
    };
    await settings.set('sign_out_on_role_change', true);
    for (const [name, change] of Object.entries(changes)) {
      const [one, other] = [await aUser(idp.services), await aUser(idp.services)];
      await groups.addMembers(
        id,
        [...ids, one.account.id, other.account.id].map((userId) => ({ userId })),
      );
      const open = { state: { in: ['waiting', 'running'] } };
      await expect.poll(() => db.bulkChange.count({ where: open })).toBe(0);
      await tokenOf(idp, tool, one, 'openid admin:*');
      expect(await sessions.list(one.account.id, db), name).toHaveLength(1);
      await change();
      const [job] = await db.bulkChange.findMany({ orderBy: [{ createdAt: 'desc' }, { id: 'desc' }], take: 1 });
      const total = await db.asStored.groupMember.count({ where: { groupId: id } });
      expect(job, name).toMatchObject({ kind: 'sign_out', groupId: name === 'a role is given' ? id : null });
      if (total > 0) expect(job?.total, name).toBe(total);
      await expect.poll(() => sessions.list(one.account.id, db)).toEqual([]);
      if (name === 'a role is given')
        expect(await changeOf(id, { id: job?.id ?? '' })).toMatchObject({ kind: 'sign_out' });
    }
    await settings.unset('sign_out_on_role_change');
  },
  240_000,
);

it('it leaves out who was deleted meanwhile, and ends with the group', async () => {
  const [{ id }, ids] = [await aGroup(), await people(800)];
  const change = await added(id, ids);
  await idp.services.db.user.delete({ where: { id: ids.at(-1) ?? '' } });
  expect(await when(id, change, isOver)).toMatchObject({ state: 'done', changed: 799 });
  const other = await aGroup();
  const deleted = await added(other.id, ids.slice(0, -1));
  await when(other.id, deleted, ({ done }) => done > 0);
  await idp.services.groups.remove(other.id);
  expect((await admin.get(`/groups/${other.id}/changes/${deleted.id}`)).status).toBe(404);
  await idp.services.groupChanges.jobs[0]?.run(new AbortController().signal);
  expect(await members(other.id)).toBe(0);
}, 120_000);

itOnSqlite(
  'a piece that another program wrote adds nobody',
  async () => {
    const [{ id }, ids, stranger] = [await aGroup(), await people(600), await aUser(idp.services)];
    const { groupChanges, db } = idp.services;
    const rows = ids.map((userId) => ({ userId }));
    const change = await groupChanges.prepare({ kind: 'add', groupId: id, members: rows, by: {} });
    const changeId_position = { changeId: change.id, position: 3 };
    const forged = { members: JSON.stringify([[stranger.account.id, null, null]]) };
    await db.asStored.bulkChangePiece.update({ where: { changeId_position }, data: forged });
    await db.$transaction((tx) => groupChanges.start(id, change.id, {}, tx));
    expect(await when(id, change, isOver)).toMatchObject({ state: 'failed', error: 'changed_outside' });
    expect(await db.groupMember.findMany({ where: { groupId: id, userId: stranger.account.id } })).toEqual([]);
  },
  60_000,
);

itOnBothInLongRun(
  'a server that is killed leaves the rest to the next one',
  async () => {
    const first = await startIdp();
    const [{ id }, ids] = [await aGroup(first), await people(600, first)];
    const { groupChanges, db } = first.services;
    const rows = ids.map((userId) => ({ userId }));
    const { id: changeId } = await groupChanges.prepare({ kind: 'add', groupId: id, members: rows, by: {} });
    await db.$transaction((tx) => groupChanges.start(id, changeId, {}, tx));
    await first.stop();
    const { environment } = first;
    const database = await openDatabase(String(environment.DATABASE_URL), { limits: patientDatabase });
    const before = await members(id, database);
    const killed = await serverProcess(environment);
    while ((await members(id, database)) === before) await sleep(20);
    await killed.kill('SIGKILL');
    const atDeath = await members(id, database);
    await database.close();
    expect(atDeath).toBeLessThan(ids.length);
    // The lock of the job lasts a minute after its instance has died.
    const next = await startIdp({
      environment: environment as Record<string, string>,
      now: () => new Date(Date.now() + 61_000),
    });
    for (;;) {
      const { state, done, total } = await next.services.groupChanges.get(id, changeId);
      if (state === 'done') {
        expect([done, total]).toEqual([ids.length, ids.length]);
        break;
      }
      expect(['waiting', 'running']).toContain(state);
      await sleep(100);
    }
    expect(await members(id, next.services)).toBe(ids.length);
    const events = await next.services.db.auditEvent.count({ where: { type: 'group.member-added' } });
    expect(events).toBe(ids.length);
    await next.stop();
  },
  240_000,
);

itOnSqlite(
  'the last administrators of thousands stay, and another one is enough',
  async () => {
    const own = await startIdp();
    const { groups, groupChanges, db } = own.services;
    const [{ id }, { id: other }] = [await aGroup(own), await aGroup(own)];
    await groups.addRole(id, 'admin');
    await groups.addRole(other, 'admin');
    const ids = await people(limits.groups.atOnce + 20, own);
    const last = ids.at(-1) ?? '';
    const all = ids.map((userId) => ({ userId }));
    await groupChanges.runNow({ kind: 'add', groupId: id, members: all, by: {} });
    // Who started the server.
    await db.userRole.deleteMany({ where: { role: { name: 'admin' } } });
    const until = new Date(Date.now() + 3_600_000);
    const ending = (list: readonly { userId: string }[]) => list.map(({ userId }) => ({ userId, until }));
    const attempts = [
      { kind: 'remove', members: all },
      { kind: 'add', members: ending(all) },
    ] as const;
    for (const attempt of attempts) {
      const refused = groupChanges.check({ ...attempt, groupId: id, by: {} });
      await expect(refused).rejects.toMatchObject({ code: 'last_admin' });
      await groupChanges.check({ ...attempt, members: attempt.members.slice(1), groupId: id, by: {} });
    }
    // A person who leaves this group, and is an administrator by another one.
    await groups.addMembers(other, [{ userId: last }]);
    await groupChanges.runNow({ kind: 'remove', groupId: id, members: all, by: {} });
    expect(await db.groupMember.count({ where: { groupId: id } })).toBe(0);
    await own.stop();
  },
  120_000,
);
