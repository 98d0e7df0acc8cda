// The import of users: a trial and a run, what it creates and changes, and what it must not do.
// A request of it: it ends after some seconds, lets other requests through meanwhile, and reports what it did before a fault.
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createUserImport } from '../../../src/admin/users/import.ts';
import { limits } from '../../../src/base/limits.ts';
import { DatabaseUnavailable } from '../../../src/base/storage/unavailable.ts';
import type { HttpClient, Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from '../console/support.ts';
import { aService } from '../support.ts';

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
  const services = { users, accounts: { findByLogin: async () => undefined } };
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
  // On a busy machine, its time may end before the other requests are answered.
  const { importSeconds } = limits.bulk;
  Object.assign(limits.bulk, { importSeconds: 60 });
  onTestFinished(() => void Object.assign(limits.bulk, { importSeconds }));
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

/** Sends the form of the import, and follows it to its end. */
async function importing(client: HttpClient, csv: string, fields: Record<string, string> = {}) {
  const begin = (await client.get('/admin/import')).forms[0]?.fields ?? {};
  let page = await client.post('/admin/import', { form: { _csrf: begin._csrf ?? '', csv, ...fields } });
  while (page.forms.some(({ action, fields: sent }) => action.endsWith('/admin/import') && sent.codes))
    page = await client.submit(page, {}, { form: '/admin/import' });
  return page;
}
const reportOf = async (client: HttpClient, page: Page) =>
  (await client.submit(page, {}, { form: '/report' })).text
    .replace(/^.*\r\n/, '')
    .trim()
    .split('\r\n');

describe('an import', () => {
  it('creates, changes and disables; its trial has the same report and changes nothing', async () => {
    const { services } = idp;
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    await services.roles.create({ name: 'imp-role' });
    const there = await services.accounts.create({
      username: 'imp-there',
      email: 'imp-there@example.com',
      name: 'Old',
    });
    await services.accounts.create({ username: 'imp-same', name: 'Same' });
    await services.accounts.create({ username: 'imp-gone' });
    const csv = [
      'username,email,name,roles,active',
      'imp-new,imp-new@example.com,New,imp-role,',
      'IMP-THERE,,Newer,imp-role,',
      'imp-same,,Same,,yes',
      'imp-gone,,,,no',
      'imp-off,,,,no',
      'imp-twin,IMP-NEW@example.com,,,',
      'imp-new2,imp-there@example.com,,,',
      'imp-bad,,,nobody,',
      'imp-state,,,,perhaps',
      'ımp-new,,,,',
      '"=cmd|\'/C calc\'!A0",,,,',
    ].join('\n');
    const fields = { existing: 'update' };
    const tried = await importing(admin, csv, { ...fields, trial: 'on' });
    expect(textOf(tried.text)).toContain('11 of 11 rows: 2 can be created, 2 changed, 1 unchanged, 6 not.');
    const expected = [
      '2,imp-new,created,',
      '3,IMP-THERE,changed,',
      '4,imp-same,unchanged,',
      '5,imp-gone,disabled,',
      '6,imp-off,created,',
      '7,imp-twin,failed,Line 2 has the same email address.',
      '8,imp-new2,failed,This email address is already in use.',
      '9,imp-bad,failed,The role doesn’t exist: nobody.',
      '10,imp-state,failed,Column active: use yes or no.',
      expect.stringMatching(/^11,ımp-new,failed,/),
      expect.stringMatching(/^12,'=cmd\|'\/C calc'!A0,failed,/),
    ];
    expect(await reportOf(admin, tried)).toEqual(expected);
    expect(await services.accounts.findByLogin('imp-new')).toBeUndefined();
    expect(await services.accounts.find(there.id)).toMatchObject({ name: 'Old', roles: [] });
    expect(await services.db.asStored.mailMessage.count({ where: { recipient: { startsWith: 'imp-' } } })).toBe(0);
    const made = await importing(admin, csv, fields);
    expect(await reportOf(admin, made)).toEqual(expected);
    expect(await services.accounts.findByLogin('imp-new')).toMatchObject({ name: 'New', roles: ['imp-role'] });
    expect(await services.accounts.find(there.id)).toMatchObject({
      username: 'imp-there',
      email: 'imp-there@example.com',
      name: 'Newer',
      roles: ['imp-role'],
    });
    for (const username of ['imp-gone', 'imp-off'])
      expect(await services.accounts.findByLogin(username)).toMatchObject({ isActive: false });
  });

  it('asks about unknown columns, and leaves them out or stops', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const csv = 'username,Shoe size,name#de\nimp-shoe,44,Schuh\n';
    const asked = await importing(admin, csv);
    expect(textOf(asked.text)).toContain('shoe size');
    expect(await idp.services.accounts.findByLogin('imp-shoe')).toBeUndefined();
    const made = await admin.submit(asked, {}, { button: 'Import without these columns' });
    expect(textOf(made.text)).toContain('1 of 1 row: 1 created, 0 not.');
    expect(await idp.services.accounts.findByLogin('imp-shoe')).toBeDefined();
  });

  it('has a sample that imports, and takes its own export without a question', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const sample = await admin.get('/admin/import/sample.csv');
    expect(sample.headers['content-disposition']).toContain('attachment');
    expect(textOf((await importing(admin, sample.text, { trial: 'on' })).text)).toContain('2 can be created, 0 not.');
    const exported = (await admin.get('/admin/import/export')).text;
    const again = textOf((await importing(admin, exported, { trial: 'on', existing: 'update' })).text);
    expect(again).toMatch(/ 0 can be created, \d+ unchanged, \d+ not\./);
  });

  it('invites new users with a message, where they have an address and no password', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const csv = 'username,email,active\nimp-mail,imp-mail@example.com,\nimp-none,,\nimp-late,imp-late@example.com,no\n';
    const made = await importing(admin, csv, { invite: 'on', message: 'Hello' });
    expect(await reportOf(admin, made)).toEqual(['2,imp-mail,invited,', '3,imp-none,created,', '4,imp-late,created,']);
    const account = await idp.services.accounts.findByLogin('imp-mail');
    const rows = await idp.services.db.asStored.mailMessage.findMany({
      where: { kind: 'invitation', userId: account?.id ?? '' },
    });
    expect(rows.map(({ recipient }) => recipient)).toEqual(['imp-mail@example.com']);
  });

  it('rejects too many rows and a text that is no CSV, and cuts a cell of megabytes', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const many = `username\n${'x\n'.repeat(limits.bulk.importRows + 1)}`;
    const rejected = await importing(admin, many);
    expect(rejected.status).toBe(400);
    expect(textOf(rejected.text)).toContain('more than 50,000 rows');
    const long = await importing(admin, `username,name\nimp-long,${'x'.repeat(3_000_000)}\n`, { trial: 'on' });
    expect(textOf(long.text)).toContain('1 of 1 row: 0 can be created, 1 not.');
  });

  it('gives nobody more than the importer holds, and reveals no other users to a limited one', async () => {
    const { services } = idp;
    const manager = await consoleOf(idp, await staff(idp, 'user-manager'));
    const boss = await staff(idp, 'admin');
    const { username } = boss;
    const csv = `username,name,roles,active\n${username},Taken over,,\n${username}-2,,admin,\n`;
    const page = await importing(manager, csv, { existing: 'update' });
    expect(textOf(page.text)).toContain('0 created, 2 not.');
    const disabling = await importing(manager, `username,active\n${username},no\n`, { existing: 'update' });
    expect(textOf(disabling.text)).toContain('0 created, 1 not.');
    expect(await services.accounts.findByLogin(username)).toMatchObject({ isActive: true, name: boss.account.name });
    expect(await services.accounts.findByLogin(`${username}-2`)).toBeUndefined();
    await services.roles.create({ name: 'imp-students' });
    await services.roles.create({
      name: 'imp-desk',
      permissions: ['read', 'write'].map((one) => `gatehouse.users[role:imp-students]:${one}`),
    });
    const desk = await consoleOf(idp, await staff(idp, 'imp-desk'));
    const hidden = await services.accounts.create({ username: 'imp-hidden' });
    const row = (name: string) => `username,name,roles\n${name},Mine,imp-students\n`;
    for (const fields of [{}, { existing: 'update' }] as Record<string, string>[])
      expect(textOf((await importing(desk, row('imp-hidden'), fields)).text)).toContain(
        'This username is already taken.',
      );
    expect(await services.accounts.find(hidden.id)).toMatchObject({ name: null });
    expect(textOf((await importing(desk, row('imp-own'))).text)).toContain('1 created, 0 not.');
  });
});

it('is the same by API, some rows at a time', async () => {
  const api = await aService(idp);
  const send = (body: object) => api.send('POST', '/users/import', body);
  const csv = 'username,email\napi-one,api-one@example.com\napi-two,nothing\n';
  const tried = await send({ csv, trial: true });
  expect(tried.status, tried.text).toBe(200);
  const rows = [
    { line: 2, username: 'api-one', result: 'created', reason: null },
    { line: 3, username: 'api-two', result: 'failed', reason: expect.stringContaining('email') },
  ];
  expect(tried.json()).toEqual({ total: 2, next: null, rows });
  expect(await idp.services.accounts.findByLogin('api-one')).toBeUndefined();
  expect((await send({ csv })).json()).toEqual({ total: 2, next: null, rows });
  expect((await send({ csv, done: 1 })).json()).toMatchObject({ rows: [{ line: 3 }] });
  const unknown = await send({ csv: 'username,size\nx,1' });
  expect([unknown.status, unknown.text]).toEqual([400, expect.stringContaining('size')]);
  expect((await send({ csv: 'username,size\napi-three,1', unknown_columns: 'ignore' })).status).toBe(200);
});
