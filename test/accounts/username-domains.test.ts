// Usernames that are addresses: the setting username_domains allows them in domains of the organization, and no address belongs to
// two accounts, be it as username or as email address.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openDatabase } from '../../src/base/storage/database.ts';
import { createAccounts } from '../../src/people/accounts/accounts.ts';
import { databaseKind } from '../support/database/database.ts';
import { fixedSettings, servicesOf } from '../support/services-of.ts';
import { openPeople, type People, together } from './fixture.ts';

const settings = fixedSettings(() => ({ username_domains: ['corp.example', 'werk.example'] }));
let people: People;
let accounts: People['accounts'];
beforeAll(async () => {
  people = await openPeople();
  accounts = createAccounts(servicesOf({ ...people, settings }));
});
afterAll(() => people.close());

const code = (expected: string) => expect.objectContaining({ code: expected });
const atSign = expect.objectContaining({
  code: 'invalid_input',
  faults: [expect.objectContaining({ path: ['username'] })],
});

describe('a username with an @', () => {
  it('may be an address of a listed domain, beside another email address or none', async () => {
    const ann = await accounts.create({ username: 'Ann@Corp.example', email: 'ann.smith@mail.example' });
    expect(ann).toMatchObject({ username: 'Ann@Corp.example', email: 'ann.smith@mail.example' });
    expect(await accounts.findByLogin('ann@corp.example')).toMatchObject({ id: ann.id });
    expect(await accounts.findByLogin('ann.smith@mail.example')).toMatchObject({ id: ann.id });
    expect(await accounts.create({ username: 'ben@Werk.Example' })).toMatchObject({ email: null });
  });

  it.each([
    'eve@other.example',
    'eve@sub.corp.example',
    'eve@corp.example.other.example',
    'eve@notcorp.example',
    'eve@cоrp.example', // with a Cyrillic letter
    'eve@other.example@corp.example',
    '@corp.example',
    'a..b@corp.example',
  ])('is rejected as %s', async (username) => {
    await expect(accounts.create({ username, email: 'eve@mail.example' })).rejects.toEqual(atSign);
  });

  it('is rejected by default, except as the own email address', async () => {
    await expect(people.accounts.create({ username: 'cat@corp.example' })).rejects.toEqual(atSign);
    const own = { username: 'cat@corp.example', email: 'cat@corp.example' };
    expect(await people.accounts.create(own)).toMatchObject(own);
  });

  it('stays when its domain leaves the setting, until it is changed', async () => {
    const { id } = await accounts.create({ username: 'dora@corp.example' });
    expect(await people.accounts.update(id, { name: 'Dora', email: 'dora@mail.example' })).toMatchObject({
      name: 'Dora',
    });
    await expect(people.accounts.update(id, { username: 'dora2@corp.example' })).rejects.toEqual(atSign);
  });
});

describe('an address', () => {
  it('is rejected when it is the email address of another account', async () => {
    await accounts.create({ username: 'fay', email: 'fay@corp.example' });
    const gus = await accounts.create({ username: 'gus' });
    await expect(accounts.create({ username: 'FAY@corp.example' })).rejects.toEqual(code('user_name_taken'));
    await expect(accounts.update(gus.id, { username: 'fay@corp.example' })).rejects.toEqual(code('user_name_taken'));
  });

  it('is rejected as email address when it is the username of another account, also after the setting was emptied', async () => {
    const owner = await accounts.create({ username: 'hal@corp.example' });
    const ida = await accounts.create({ username: 'ida', email: 'ida@mail.example' });
    for (const email of ['hal@corp.example', 'HAL@CORP.EXAMPLE']) {
      await expect(people.accounts.create({ username: 'hal2', email })).rejects.toEqual(code('email_taken'));
      await expect(people.accounts.update(ida.id, { email, emailVerified: true })).rejects.toEqual(code('email_taken'));
    }
    expect(await people.accounts.update(owner.id, { email: 'hal@corp.example' })).toMatchObject({
      username: 'hal@corp.example',
      email: 'hal@corp.example',
    });
  });

  it('goes to one account when several take it at once, on two instances, as username and as email address', async () => {
    // Two handles of one process would wait for each other on SQLite, whose driver blocks the process while it waits.
    const other = databaseKind() === 'postgresql' ? await openDatabase(people.url) : undefined;
    other?.protect(people.db.macs);
    const { db, sql } = other ?? people;
    const second = createAccounts(servicesOf({ ...people, db, sql, settings }));
    try {
      for (const round of [1, 2, 3]) {
        const address = `race${round}@corp.example`;
        const results = await together(6, (index) => {
          const instance = index < 3 ? accounts : second;
          const account =
            index % 2 === 0 ? { username: address } : { username: `racer-${round}-${index}`, email: address };
          return instance.create(account).then(
            () => 'created',
            (error: { code: string }) => error.code,
          );
        });
        expect(results.filter((result) => result === 'created')).toHaveLength(1);
        expect(['created', 'user_name_taken', 'email_taken']).toEqual(expect.arrayContaining(results));
      }
    } finally {
      await other?.close();
    }
  });
});
