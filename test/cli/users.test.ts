// `gatehouse user …`: adding users, and helping those who cannot sign in.

import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nameKey } from '../../src/people/accounts/names.ts';
import { createRateLimits } from '../../src/people/rate-limits/rate-limits.ts';
import { servicesOf } from '../support/services-of.ts';
import { commandLine } from './support.ts';

let cli: Awaited<ReturnType<typeof commandLine>>;
beforeAll(async () => {
  cli = await commandLine();
  await cli.gatehouse(['user', 'add', 'alice', '--email', 'alice@example.com', '--role', 'admin']);
  const stdin = 'horses that write batteries';
  await cli.gatehouse(['user', 'add', 'bob', '--password-stdin'], { stdin });
});
afterAll(() => cli.close());

const show = async (login: string) => JSON.parse((await cli.gatehouse(['user', 'show', login, '--json'])).out);

describe('gatehouse user', () => {
  it('adds a user with a temporary password that is displayed once', async () => {
    const { code, out } = await cli.gatehouse([
      'user',
      'add',
      'anna',
      '--email',
      'anna@example.com',
      '--role',
      'auditor',
    ]);
    expect(code).toBe(0);
    expect(out).toMatch(/^Added anna\.\nTemporary password: [\w-]{24}\nCopy it now\. You won't see it again\./);
    expect(await show('ANNA@example.com')).toMatchObject({
      username: 'anna',
      roles: ['auditor'],
      source: 'local',
      isActive: true,
      sessions: 0,
      lockedSeconds: 0,
      password: { mustChange: true },
      factors: { totp: false, passkeys: 0, recoveryCodes: 0 },
    });
  });

  it('lists people by the name that pages have, with the state of the invitation', async () => {
    const file = path.join(mkdtempSync(path.join(tmpdir(), 'people-')), 'people.csv');
    writeFileSync(file, 'username,email,given_name,family_name,invite\nida,ida@example.com,Ida,Rey,yes\n');
    expect((await cli.gatehouse(['user', 'import', file])).code).toBe(0);
    const { out } = await cli.gatehouse(['user', 'list', '--search', 'ida']);
    expect(out).toMatch(
      /^USERNAME +EMAIL +NAME +ROLES +STATE +INVITATION +LAST USED +SOURCE\nida +\S+ +Ida Rey +- +active +invited /,
    );
    expect(JSON.parse((await cli.gatehouse(['user', 'list', '--invitation', 'invited', '--json'])).out)).toMatchObject([
      { username: 'ida', invitation: 'invited' },
    ]);
    expect((await cli.gatehouse(['user', 'show', 'ida'])).out).toMatch(/^name +Ida Rey$.*^invitation +invited$/ms);
    expect((await cli.gatehouse(['user', 'delete', 'ida', '--yes'])).code).toBe(0);
  });

  it('takes a password from standard input only, and checks its length', async () => {
    const add = (password: string) =>
      cli.gatehouse(['user', 'add', 'ben', '--password-stdin', '--json'], { stdin: password });
    const short = await add('too short\n');
    expect(short).toMatchObject({ code: 1, out: '', err: expect.stringContaining('Use at least 15 characters') });
    const good = await add('horses that write batteries\n');
    expect(JSON.parse(good.out)).toEqual({ id: expect.any(String), username: 'ben' });
    expect((await show('ben')).password).toMatchObject({ mustChange: false, long: true });
  });

  it('shows which directory manages an account, and when it deleted the user', async () => {
    const text = async () => (await cli.gatehouse(['user', 'show', 'dora'])).out;
    await cli.gatehouse(['user', 'add', 'dora']);
    const { id: userId } = await show('dora');
    expect(await show('dora')).toMatchObject({ source: 'local', directory: null });
    expect(await text()).not.toMatch(/^directory/m);
    const at = new Date();
    const times = { createdAt: at, updatedAt: at };
    const mappings = JSON.stringify({ attributes: { badge: 'title' }, groups: {} });
    const declared = { name: 'Entra ID', clientId: null, ownedDomains: '[]', adopt: 'never', mayCreate: true };
    const connection = { id: 'entra', source: 'local', ...declared, deletePolicy: 'disable', mappings, ...times };
    await cli.db.asStored.scimConnection.create({ data: connection });
    const row = { userId, connectionId: 'entra', externalId: null, content: '{}' };
    await cli.db.asStored.scimUser.create({ data: { ...row, deletedAt: null, ...times } });
    const directory = { id: 'entra', name: 'Entra ID', attributes: ['badge'] };
    expect(await show('dora')).toMatchObject({ directory: { ...directory, deletedAt: null } });
    expect(await text()).toMatch(/^directory +Entra ID \(SCIM connection entra\)$/m);
    await cli.db.asStored.scimUser.update({ where: { userId }, data: { deletedAt: at } });
    expect(await show('dora')).toMatchObject({ directory: { ...directory, deletedAt: at.toISOString() } });
    expect(await text()).toMatch(/^directory +Entra ID \(SCIM connection entra\), which deleted the user 20/m);
  });

  it.each([
    [['user', 'add', 'Alice'], 'This username is already taken. Choose another one.'],
    [['user', 'add', 'carol', '--email', 'ALICE@example.com'], 'already in use'],
    [['user', 'add', 'two words'], 'can’t contain spaces'],
    [['user', 'add', 'carol', '--role', 'editor'], 'The role editor doesn’t exist.'],
    [['user', 'show', 'nobody'], 'There is no user "nobody"'],
    [['user', 'disable', 'alice'], 'last administrator'],
  ])('fails for %j and changes nothing', async (argv, message) => {
    const before = await cli.db.asStored.user.findMany({ orderBy: { id: 'asc' } });
    expect(await cli.gatehouse(argv)).toMatchObject({ code: 1, out: '', err: expect.stringContaining(message) });
    expect(await cli.db.asStored.user.findMany({ orderBy: { id: 'asc' } })).toEqual(before);
  });

  it('deletes a user, also one whose row another program changed, and records it', async () => {
    for (const name of ['leaver', 'changed']) await cli.gatehouse(['user', 'add', name]);
    const [leaver, changed] = [await show('leaver'), await show('changed')];
    await cli.db.asStored.user.update({
      where: { id: changed.id },
      data: { email: 'other@example.com', emailKey: 'leaver' },
    });
    expect(await cli.gatehouse(['user', 'show', 'changed'])).toMatchObject({ code: 1 });
    const both = await cli.gatehouse(['user', 'delete', 'leaver', '--yes']);
    expect(both).toMatchObject({
      code: 1,
      out: '',
      err: expect.stringContaining(`${changed.id}  changed, changed outside`),
    });
    const asked = await cli.gatehouse(['user', 'delete', 'Changed']);
    expect(asked).toMatchObject({ code: 1, out: '', err: expect.stringContaining('deletes') });
    const deleted = await cli.gatehouse(['user', 'delete', changed.id, '--yes']);
    expect(deleted).toMatchObject({
      code: 0,
      out: `Deleted changed (${changed.id}) and every session of the account. The user ID (sub) is never used again.\n`,
      err: expect.stringContaining('was written by another program'),
    });
    expect(await cli.gatehouse(['user', 'delete', 'leaver', '--yes'])).toMatchObject({ code: 0, err: '' });
    expect(await cli.gatehouse(['user', 'delete', 'alice', '--yes'])).toMatchObject({ code: 1 });
    const ids = [changed.id, leaver.id];
    const events = await cli.db.auditEvent.findMany({
      where: { type: 'account.deleted', subjectId: { in: ids } },
      orderBy: { id: 'asc' },
    });
    expect(events.map(({ data }) => JSON.parse(data))).toMatchObject([
      { changedOutside: true },
      { changedOutside: false },
    ]);
    expect(await cli.db.user.count({ where: { id: { in: ids } } })).toBe(0);
    expect(await cli.db.asStored.retiredSubject.count({ where: { userId: { in: ids } } })).toBe(2);
  });

  it('finds a user whose ID starts with "-" after "--"', async () => {
    const id = '-QhJmEN7KI6PPEgSHb66NQOO';
    await cli.gatehouse(['user', 'add', 'dash']);
    await cli.db.asStored.user.update({ where: { usernameKey: nameKey('dash') }, data: { id } });
    expect(await cli.gatehouse(['user', 'delete', id, '--yes'])).toMatchObject({
      code: 2,
      err: expect.stringContaining('A value that starts with "-" goes to the end, after "--"'),
    });
    const deleted = await cli.gatehouse(['user', 'delete', '--yes', '--', id]);
    expect(deleted).toMatchObject({ code: 0, out: expect.stringContaining(id) });
  });

  it('lists users as a table and as JSON', async () => {
    const table = await cli.gatehouse(['user', 'list']);
    expect(table.out).toMatch(/^alice +alice@example\.com +- +admin +active +- +never +local$/m);
    const json = await cli.gatehouse(['user', 'list', '--search', 'bo', '--json']);
    expect(JSON.parse(json.out).map(({ username }: { username: string }) => username)).toEqual(['bob']);
  });

  it('disables a user and ends the sessions, and enables the user again', async () => {
    const { id } = await show('bob');
    await cli.db.oidcArtifact.create({ data: { id: 'x', model: 'RefreshToken', payload: '{}', accountId: id } });
    expect(await cli.gatehouse(['user', 'disable', 'bob'])).toMatchObject({ code: 0 });
    expect((await show('bob')).isActive).toBe(false);
    expect(await cli.db.oidcArtifact.count()).toBe(0);
    expect((await cli.gatehouse(['user', 'disable', 'bob'])).out).toContain('was already disabled');
    expect(await cli.gatehouse(['user', 'enable', 'bob'])).toMatchObject({ code: 0 });
    expect((await show('bob')).isActive).toBe(true);
  });

  it('sets a password and ends the sessions', async () => {
    const { id } = await show('bob');
    await cli.db.oidcArtifact.create({ data: { id: 'y', model: 'RefreshToken', payload: '{}', accountId: id } });
    const before = await cli.db.asStored.passwordCredential.findMany({ orderBy: { userId: 'asc' } });
    const { code, out } = await cli.gatehouse(['user', 'set-password', 'bob', '--json']);
    expect(code).toBe(0);
    expect(await cli.db.oidcArtifact.count()).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ username: 'bob', oneTimePassword: expect.stringMatching(/^[\w-]{24}$/) });
    expect(await cli.db.asStored.passwordCredential.findMany({ orderBy: { userId: 'asc' } })).not.toEqual(before);
    expect((await show('bob')).password.mustChange).toBe(true);
  });

  it('forces a password change without a new password or a mail', async () => {
    await cli.gatehouse(['user', 'set-password', 'bob', '--password-stdin'], {
      stdin: 'seven green umbrellas in march',
    });
    expect((await show('bob')).password.mustChange).toBe(false);
    const mails = await cli.db.mailMessage.count();
    const before = await cli.db.asStored.passwordCredential.findMany({ select: { hash: true } });
    expect(await cli.gatehouse(['user', 'set-password', 'bob', '--keep'])).toMatchObject({ code: 0 });
    expect((await show('bob')).password.mustChange).toBe(true);
    expect(await cli.db.asStored.passwordCredential.findMany({ select: { hash: true } })).toEqual(before);
    expect(await cli.db.mailMessage.count()).toBe(mails);
    expect((await cli.gatehouse(['user', 'set-password', 'bob', '--keep', '--password-stdin'])).code).toBe(2);
    const { id } = await show('bob');
    expect(await cli.db.auditEvent.count({ where: { subjectId: id, type: 'password.change-forced' } })).toBe(1);
  });

  it('lists the second factors, and removes one of them', async () => {
    const { id } = await show('bob');
    const createdAt = new Date('2026-03-04T10:00:00Z');
    const code = (name: string) => ({ id: name, userId: id, codeHash: name, createdAt });
    await cli.db.recoveryCode.createMany({ data: [code('one'), { ...code('two'), usedAt: new Date('2026-04-05') }] });
    const factors = () => cli.gatehouse(['user', 'factors', 'bob', '--json']).then(({ out }) => JSON.parse(out));
    const [addedAt, lastUsedAt] = [createdAt.toISOString(), '2026-04-05T00:00:00.000Z'];
    const codes = { id: 'recovery-codes', kind: 'recovery-codes', name: null, left: 1 };
    expect(await factors()).toEqual([{ ...codes, addedAt, lastUsedAt }]);
    expect((await cli.gatehouse(['user', 'factors', 'bob'])).out).toContain('1 left');
    expect(await cli.gatehouse(['user', 'remove-factor', 'bob', 'totp'])).toMatchObject({ code: 1 });
    expect(await cli.gatehouse(['user', 'remove-factor', 'bob', 'recovery-codes'])).toMatchObject({ code: 0 });
    expect(await factors()).toEqual([]);
    expect(await cli.db.auditEvent.count({ where: { subjectId: id, type: 'recovery-codes.removed' } })).toBe(1);
  });

  it('resets the second factors, ends a lockout, and records both in the audit log', async () => {
    const { id } = await show('bob');
    await cli.db.totpCredential.create({ data: { userId: id, secretSealed: 'x', confirmedAt: new Date() } });
    expect((await show('bob')).factors.totp).toBe(true);
    expect(await cli.gatehouse(['user', 'reset-mfa', 'bob'])).toMatchObject({ code: 0 });
    expect((await show('bob')).factors.totp).toBe(false);
    const rateLimits = createRateLimits(servicesOf({ db: cli.db, sql: cli.sql, now: () => new Date() }));
    for (let attempt = 0; attempt < 10; attempt += 1) await rateLimits.consume('sign-in:account', nameKey('bob'));
    expect((await show('bob')).lockedSeconds).toBeGreaterThan(0);
    expect(await cli.gatehouse(['user', 'unlock', 'bob'])).toMatchObject({ code: 0 });
    expect((await show('bob')).lockedSeconds).toBe(0);
    const types = (await cli.db.auditEvent.findMany({ where: { subjectId: id } })).map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['account.created', 'factors.reset', 'sign-in.unlocked']));
  });
});

describe('gatehouse api-key', () => {
  it('makes a key of a user with at most the permissions of that user, lists it and revokes it', async () => {
    await cli.gatehouse(['user', 'add', 'kay', '--role', 'auditor']);
    const create = (...options: string[]) =>
      cli.gatehouse(['api-key', 'create', 'kay', '--name', 'Export', ...options]);
    const { code, out } = await create('--permission', 'gatehouse.audit:read', '--days', '7', '--json');
    const { id, api_key: key } = JSON.parse(out);
    expect([code, key]).toEqual([0, expect.stringMatching(/^gh_[0-9A-Za-z]{60}$/)]);
    expect(JSON.stringify(await cli.db.asStored.apiKey.findMany())).not.toContain(key);
    const listed = (await cli.gatehouse(['api-key', 'list', '--json'])).out;
    expect(JSON.parse(listed)).toMatchObject([{ id, name: 'Export', owner: 'kay', createdBy: null }]);
    expect(listed).not.toContain(key);
    expect((await cli.gatehouse(['api-key', 'list'])).out).toMatch(/kay\s+gatehouse\.audit:read/);
    for (const [options, status, message] of [
      [['--permission', 'gatehouse.users:write'], 1, "doesn't have the permission gatehouse.users:write"],
      [['--permission', 'articles:read'], 1, "doesn't have the permission articles:read"],
      [['--permission', 'gatehouse.audit:read', '--days', '366'], 1, 'at most 365 days'],
      [['--permission', 'gatehouse.audit:read', '--days', 'many'], 2, '--days must be'],
      [[], 2, '--permission is missing'],
    ] as const) {
      expect(await create(...options)).toMatchObject({ code: status, out: '', err: expect.stringContaining(message) });
    }
    expect((await cli.gatehouse(['api-key', 'revoke', id])).out).toContain('Export is revoked.');
    expect(JSON.parse((await cli.gatehouse(['api-key', 'list', '--json'])).out)).toEqual([]);
    expect((await cli.gatehouse(['api-key', 'revoke', 'nothing'])).code).toBe(1);
  });
});

describe('gatehouse user import and invite', () => {
  it('tries, creates, changes and reports, and asks about unknown columns by an error', async () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-import-'));
    const [file, report] = [path.join(folder, 'users.csv'), path.join(folder, 'report.csv')];
    writeFileSync(file, 'username,email,size,active,groups\nimp-cli,imp-cli@example.com,44,,Imp\nalice,,,no,\n');
    const asked = await cli.gatehouse(['user', 'import', file]);
    expect(asked).toMatchObject({ code: 1, out: '', err: expect.stringContaining('size') });
    const options = ['--ignore-unknown', '--create-groups', '--update', '--invite', '--message', 'Hello'];
    await cli.gatehouse(['user', 'add', 'imp-boss', '--role', 'admin']);
    const tried = await cli.gatehouse(['user', 'import', file, ...options, '--trial', '--json']);
    const rows = [
      { line: 2, username: 'imp-cli', result: 'invited', reason: null },
      { line: 3, username: 'alice', result: 'disabled', reason: null },
    ];
    expect([tried.code, JSON.parse(tried.out)]).toEqual([0, rows]);
    expect((await show('alice')).isActive).toBe(true);
    const made = await cli.gatehouse(['user', 'import', file, ...options, '--report', report]);
    expect(made).toMatchObject({ code: 0, out: '2 rows: 1 invited, 1 disabled\n' });
    expect(readFileSync(report, 'utf8')).toBe(
      'line,result,reason,username,email,active,groups\r\n2,invited,,imp-cli,,,\r\n3,disabled,,alice,,,\r\n',
    );
    expect((await show('alice')).isActive).toBe(false);
    await cli.gatehouse(['user', 'enable', 'alice']);
    const again = await cli.gatehouse(['user', 'import', file, '--ignore-unknown']);
    expect(again).toMatchObject({
      code: 1,
      err: expect.stringContaining('line 2, imp-cli: This username is already taken.'),
    });
    const listed = await cli.gatehouse(['user', 'list', '--invitation', 'invited', '--json']);
    expect(JSON.parse(listed.out)).toMatchObject([{ username: 'imp-cli' }]);
  });

  it('invites one user, or all whose invitation has a state', async () => {
    const one = await cli.gatehouse(['user', 'invite', 'imp-cli', '--json']);
    expect(JSON.parse(one.out)).toMatchObject([{ username: 'imp-cli', invited: true }]);
    const all = await cli.gatehouse(['user', 'invite', '--invitation', 'invited']);
    expect(all).toMatchObject({ code: 0, out: 'Queued an invitation for imp-cli.\n' });
    const known = await cli.gatehouse(['user', 'invite', 'bob']);
    expect(known).toMatchObject({ code: 1 });
    for (const wrong of [[], ['bob', '--invitation', 'expired'], ['--invitation', 'nothing']])
      expect((await cli.gatehouse(['user', 'invite', ...wrong])).code).toBe(2);
  });
});

describe('gatehouse user add --invite', () => {
  it('adds a user with an invitation instead of a temporary password', async () => {
    const add = (name: string, ...options: string[]) =>
      cli.gatehouse(['user', 'add', name, '--email', `${name}@example.com`, '--invite', ...options]);
    expect(await add('inv-text', '--message', 'Hello', '--role', 'auditor')).toMatchObject({
      code: 0,
      out: 'Added inv-text. The invitation goes to inv-text@example.com.\n',
      err: '',
    });
    const { code, out } = await add('inv-json', '--name', 'Zoe', '--json');
    const { id } = await show('inv-json');
    expect([code, JSON.parse(out)]).toEqual([0, { id, username: 'inv-json', invited: true }]);
    expect(await show('inv-text')).toMatchObject({ roles: ['auditor'], password: null });
    expect(await show('inv-json')).toMatchObject({ name: 'Zoe', password: null });
    const mails = await cli.db.asStored.mailMessage.findMany({
      where: { kind: 'invitation', recipient: { startsWith: 'inv-' } },
      orderBy: { recipient: 'asc' },
    });
    expect(mails.map(({ recipient, userId }) => [recipient, userId])).toEqual([
      ['inv-json@example.com', id],
      ['inv-text@example.com', (await show('inv-text')).id],
    ]);
    const types = (await cli.db.auditEvent.findMany({ where: { subjectId: id } })).map(({ type }) => type);
    expect(types).toEqual(expect.arrayContaining(['account.created', 'account.invited']));
  });

  it.each([
    [['--invite'], 2, '--invite needs --email'],
    [['--message', 'Hello'], 2, '--message needs --invite'],
    [['--email', 'inv-no@example.com', '--invite', '--password-stdin'], 2, 'together'],
    [['--email', 'inv-no@example.com', '--invite', '--message', 'x'.repeat(5000)], 2, '--message has more than'],
    [['--email', 'alice@example.com', '--invite'], 1, 'already in use'],
  ])('adds nobody for %j', async (options, code, message) => {
    for (const json of [[], ['--json']]) {
      const ended = await cli.gatehouse(['user', 'add', 'inv-no', ...options, ...json]);
      expect(ended).toMatchObject({ code, out: '', err: expect.stringContaining(message) });
    }
    expect(await cli.db.asStored.user.count({ where: { usernameKey: 'inv-no' } })).toBe(0);
    expect(await cli.db.asStored.mailMessage.count({ where: { recipient: 'inv-no@example.com' } })).toBe(0);
  });
});
