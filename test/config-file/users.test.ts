// Users of the file: when their passwords are set and when not, what they may change themselves, and who they are.
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { itOnBothInLongRun, itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { configFileBench, lines } from './support.ts';

let bench: Awaited<ReturnType<typeof configFileBench>>;
beforeEach(async () => {
  bench = await configFileBench();
});
afterEach(() => bench.close());

const user = (name: string, more = '') => `users: [{ username: ${name}${more && `, ${more}`} }]`;
const account = async (login: string) => {
  const found = await bench.accounts.findByLogin(login);
  if (!found) throw new Error(`no account ${login}`);
  return found;
};
const check = async (login: string, password: string) =>
  (await bench.credentials.checkPassword(await account(login), password)).outcome;

describe('a declared password', () => {
  const text = user('bob', 'password: the first pass phrase');

  itOnSqlite('is not restored after the user changed it', async () => {
    await bench.apply(text);
    await bench.credentials.setPassword(await account('bob'), 'a phrase of their own choice');
    expect(lines(await bench.apply(text))).toEqual([]);
    expect(await check('bob', 'a phrase of their own choice')).toBe('ok');
    expect(await check('bob', 'the first pass phrase')).toBe('wrong');
  });

  itOnSqlite('is set when the declaration changes, and ends the sessions', async () => {
    await bench.apply(text);
    expect(lines(await bench.apply(user('bob', 'password: the second pass phrase')))).toEqual([
      'change users bob (password)',
    ]);
    expect(await check('bob', 'the second pass phrase')).toBe('ok');
    expect(bench.ended).toEqual([`password-reset ${(await account('bob')).id}`]);
  });

  itOnSqlite('may be a hash, and a rehash at sign-in is not undone', async () => {
    // PBKDF2-SHA256 of "imported pass phrase", salt "somesalt", 29000 rounds, in the spelling of passlib.
    const { pbkdf2Sync } = await import('node:crypto');
    const b64 = (bytes: Buffer) => bytes.toString('base64').replaceAll('+', '.').replaceAll('=', '');
    const salt = Buffer.from('somesalt');
    const hash = `$pbkdf2-sha256$29000$${b64(salt)}$${b64(pbkdf2Sync('imported pass phrase', salt, 29_000, 32, 'sha256'))}`;
    const text = user('carol', `password_hash: "${hash}"`);
    expect(lines(await bench.apply(text))).toEqual(['create users carol']);
    expect(await check('carol', 'imported pass phrase')).toBe('ok');
    expect((await bench.db.asStored.passwordCredential.findFirst())?.hash).toMatch(/^\$argon2id\$/);
    expect(lines(await bench.apply(text))).toEqual([]);
  });
});

describe('a declared user', () => {
  itOnSqlite('is signed out where the file changes the end of an account that has ended, or ends it', async () => {
    await bench.apply(user('ada', 'active_until: 2026-03-02T00:00:00Z'));
    const ended = `account-ended ${(await account('ada')).id}`;
    bench.clock.at = new Date('2026-03-03T00:00:00Z');
    await bench.apply(user('ada', 'active_until: 2026-03-09T00:00:00Z'));
    expect(bench.ended).toEqual([ended]);
    await bench.apply(user('ada', 'active_until: 2026-03-10T00:00:00Z'));
    expect(bench.ended).toEqual([ended]);
    await bench.apply(user('ada', 'active_from: 2026-03-05T00:00:00Z'));
    expect(bench.ended).toEqual([ended, ended]);
  });

  itOnBothInLongRun('keeps fields that the file omits, and loses those that it sets to null', async () => {
    await bench.apply(user('dave', 'name: Dave, email: dave@example.com'));
    const { id } = await account('dave');
    await bench.accounts.update(id, { picture: 'https://img.example/d.png', emailVerified: true });
    expect(lines(await bench.apply(user('dave', 'name: null, email: dave@example.com')))).toEqual([
      'change users dave (name)',
    ]);
    expect(await account('dave')).toMatchObject({
      name: null,
      picture: 'https://img.example/d.png',
      emailVerified: true,
    });
  });

  itOnBothInLongRun('has an unverified address after a change of address', async () => {
    await bench.apply(user('dave', 'email: dave@example.com, email_verified: true'));
    expect(lines(await bench.apply(user('dave', 'email: other@example.com')))).toEqual(['change users dave (email)']);
    expect(await account('dave')).toMatchObject({ email: 'other@example.com', emailVerified: false });
  });

  itOnBothInLongRun('is disabled and enabled by the file', async () => {
    await bench.apply(user('dave'));
    const { id } = await account('dave');
    expect(lines(await bench.apply(user('dave', 'active: false')))).toEqual(['change users dave (active)']);
    expect(bench.ended.at(-1)).toBe(`account-disabled ${id}`);
    expect((await account('dave')).isActive).toBe(false);
    await bench.apply(user('dave'));
    expect((await account('dave')).isActive).toBe(true);
  });

  it('is found by its subject, so that its username can change', async () => {
    await bench.apply(user('dave'));
    const { id } = await account('dave');
    expect(lines(await bench.apply(user('david', `sub: "${id}"`)))).toEqual(['change users david (username)']);
    expect((await account('david')).id).toBe(id);
  });

  itOnBothInLongRun('may have the subject that it had in another system', async () => {
    const plan = await bench.plan(user('gina', 'sub: "auth0|5f7c8ec7c33c6c004bbafe82"'));
    expect(lines(plan)).toContain('create users gina');
  });

  it('never gets the subject of another or of a deleted account', async () => {
    await bench.apply(user('david'));
    const { id } = await account('david');
    const local = await bench.accounts.create({ username: 'erin' });
    const both = `users: [{ username: david }, { username: erin, sub: "${id}" }]`;
    expect(lines(await bench.plan(both))).toEqual([
      expect.stringContaining('users[1].username is the account of users[0]'),
      expect.stringContaining('users[1].username is the username of another account'),
    ]);
    expect(lines(await bench.plan(user('erin', 'sub: some-other-subject')))).toEqual([
      expect.stringContaining('users[0].sub can’t change: the account erin has another subject'),
    ]);
    await bench.accounts.remove(local.id);
    expect(lines(await bench.plan(user('frank', `sub: "${local.id}"`)))).toEqual([
      expect.stringContaining('users[0].sub belonged to a deleted account'),
    ]);
  });

  itOnSqlite('must not have a role that does not exist', async () => {
    expect(lines(await bench.plan(user('grace', 'roles: [editor]')))).toEqual([
      'f:1:28: users[0].roles: this role doesn’t exist: editor.',
    ]);
    expect(lines(await bench.plan(user('grace', 'roles: [auditor]')))).toContain('create users grace');
  });

  it('is not deleted while it is the last administrator', async () => {
    await bench.apply(user('root', 'roles: [admin]'));
    await expect(bench.apply('users: []')).rejects.toMatchObject({ code: 'last_admin' });
    expect((await account('root')).roles).toEqual(['admin']);
  });
});

describe('a declared right', () => {
  itOnSqlite('is limited to a role that exists, and only where a limit has a meaning', async () => {
    const plan = async (permission: string) =>
      lines(await bench.plan(`roles: [{ name: desk, permissions: ["${permission}"] }, { name: pupils }]`));
    expect(await plan('gatehouse.users[role:students]:read')).toEqual([
      expect.stringContaining('roles[0].permissions[0]: this role doesn’t exist: students'),
    ]);
    expect(await plan('gatehouse.keys[role:pupils]:read')).toEqual([
      expect.stringContaining('roles[0].permissions[0] can’t be limited like this'),
    ]);
    expect(await plan('gatehouse.users[role:pupils]:read')).toContain('create roles desk');
  });
});

describe('a declared username that is an address', () => {
  const declared = (more: string, settings = '') => `${settings}users:\n  - username: upn@corp.example\n${more}`;
  const allowed = 'settings: { username_domains: [corp.example] }\n';

  itOnBothInLongRun('is allowed by the domains that the same file declares', async () => {
    const other = '    email: upn@mail.example\n';
    expect(lines(await bench.apply(declared(other)))).toEqual([
      expect.stringMatching(/^f:2:5: users\[0\]\.username: A username can contain an @ only/),
    ]);
    const result = lines(await bench.apply(declared(other, allowed)));
    expect(result).toContain('create users upn@corp.example');
    expect(lines(await bench.apply(declared(other, allowed)))).toEqual([]);
    expect(await bench.accounts.findByLogin('upn@corp.example')).toMatchObject({ email: 'upn@mail.example' });
  });

  it('is no email address of another user, in the file or stored', async () => {
    const twice = `${declared('', allowed)}  - { username: second, email: UPN@corp.example }\n`;
    expect(lines(await bench.plan(twice))).toEqual([expect.stringContaining('is the email address of users[1]')]);
    await bench.accounts.create({ username: 'stored', email: 'stored@corp.example' });
    expect(lines(await bench.plan(`${allowed}users: [{ username: stored@corp.example }]`))).toEqual([
      expect.stringContaining('users[0].username is the email address of another account'),
    ]);
  });
});
