// Look-up, creation and deletion of accounts.

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createAccounts } from '../../src/people/accounts/accounts.ts';
import { createRoles } from '../../src/people/rbac/roles.ts';
import { fixedSettings, servicesOf } from '../support/services-of.ts';
import { openPeople, type People, together } from './fixture.ts';

let people: People;
beforeAll(async () => {
  people = await openPeople();
});
afterAll(() => people.close());

const code = (expected: string) => expect.objectContaining({ code: expected });

describe('an account look-up', () => {
  test('finds an account by username or email address, in any case and spelling', async () => {
    const { id } = await people.person({ username: 'Finder', email: 'Finder@Example.org' });
    for (const login of ['finder', 'FINDER ', 'ｆinder', 'finder@example.ORG']) {
      expect((await people.accounts.findByLogin(login))?.id, login).toBe(id);
    }
    expect(await people.accounts.findByLogin('finde')).toBeUndefined();
  });

  test.each(['', ' ', 'nobody', "x' OR '1'='1", 'a\0b', '%', '\ud800'])('finds nothing for %j', async (login) => {
    expect(await people.accounts.findByLogin(login)).toBeUndefined();
  });

  test('includes roles and permissions, each once', async () => {
    const { id } = await people.person();
    const roles = createRoles({ ...servicesOf(people), ...people });
    for (const [name, actions] of Object.entries({ writer: ['read', 'write'], reader: ['read'] })) {
      await roles.create({ name, permissions: actions.map((action) => `articles:${action}`) });
      await roles.assign(id, name);
    }
    const account = await people.accounts.find(id);
    expect(account?.roles).toEqual(['reader', 'writer']);
    expect(account?.permissions).toEqual(['articles:read', 'articles:write']);
  });
});

describe('the creation of an account', () => {
  test('stores the given fields and audits them', async () => {
    const account = await people.person({
      name: 'Ann Example',
      givenName: 'Ann',
      emailVerified: true,
      attributes: { department: 'R&D' },
      source: 'file',
    });
    expect(account).toMatchObject({ name: 'Ann Example', givenName: 'Ann', emailVerified: true, source: 'file' });
    expect(account).toMatchObject({ isActive: true, attributes: { department: 'R&D' }, roles: [], familyName: null });
    expect(account.id).toMatch(/^[\w-]{21,}$/);
    const [event] = await people.audit.list({ subjectId: account.id });
    expect(event).toMatchObject({
      type: 'account.created',
      outcome: 'success',
      data: { after: { username: account.username } },
    });
  });

  test.each([
    ['the same username', { username: 'taken', email: null }, 'user_name_taken'],
    ['it in capitals', { username: 'TAKEN', email: null }, 'user_name_taken'],
    ['it with one letter of another alphabet', { username: 'tаken', email: null }, 'invalid_input'],
    ['it in Cyrillic look-alikes', { username: 'сорау', email: null }, 'user_name_taken'],
    ['a homoglyph of it', { username: 'ｔaken', email: null }, 'user_name_taken'],
    ['the same email address in other case', { username: 'other', email: 'Taken@EXAMPLE.com' }, 'email_taken'],
  ])('rejects %s', async (_, fields, expected) => {
    await people.accounts.create({ username: 'taken', email: 'taken@example.com' }).catch(() => undefined);
    await people.accounts.create({ username: 'copay' }).catch(() => undefined);
    await expect(people.accounts.create(fields)).rejects.toEqual(code(expected));
  });

  test('succeeds once of many times in parallel, and stores nothing of the others', async () => {
    const before = await people.accounts.count();
    const results = await together(12, (index) =>
      people.accounts
        .create({ username: index % 2 ? 'Racer' : 'racer' })
        .then(() => 'created')
        .catch((error: { code: string }) => error.code),
    );
    expect(results.filter((result) => result === 'created')).toHaveLength(1);
    expect(results.filter((result) => result === 'user_name_taken')).toHaveLength(11);
    expect(await people.accounts.count()).toBe(before + 1);
  });

  test('names every invalid field', async () => {
    const wrong = people.accounts.create({ username: 'a b', email: 'no', name: 'x\u202ey', picture: 'javascript:1' });
    await expect(wrong).rejects.toMatchObject({
      code: 'invalid_input',
      faults: [{ path: ['username'] }, { path: ['email'] }, { path: ['name'] }, { path: ['picture'] }],
    });
  });
});

describe('accepted terms', () => {
  test('stay through changes of the account, and change nothing that applications see', async () => {
    const { clock } = people;
    const asked = { terms_version: '2026-11', brand_terms_url: 'https://example.com/terms' };
    const accounts = createAccounts(servicesOf({ ...people, now: clock.now, settings: fixedSettings(() => asked) }));
    const { id, updatedAt } = await people.person();
    const acceptedAt = clock.now();
    expect(await accounts.acceptTerms(id, '2026-10', {})).toBe(false);
    expect(await accounts.acceptTerms(id, '2026-11', {})).toBe(true);
    const accepted = { termsVersion: '2026-11', termsAcceptedAt: acceptedAt };
    expect(await accounts.find(id)).toMatchObject({ ...accepted, updatedAt });
    clock.advance({ days: 1 });
    await accounts.update(id, { nickname: 'Ann' });
    expect(await accounts.find(id)).toMatchObject({ ...accepted, nickname: 'Ann' });
    expect(await accounts.acceptTerms(id, '2026-11', {})).toBe(true);
    await accounts.setActive(id, false);
    expect(await accounts.find(id)).toMatchObject({ ...accepted, isActive: false });
    const other = await people.person();
    await accounts.acceptTerms(other.id, '2026-11', {});
    expect((await accounts.countTerms('2026-11')).accepted).toBe(1);
    expect(await people.audit.list({ types: ['terms.accepted'], subjectId: id })).toHaveLength(1);
  });
});

describe('the subject of a deleted account', () => {
  test('is never reused, but its names are free again', async () => {
    const account = await people.person({ username: 'leaver' });
    await people.accounts.remove(account.id);
    expect(await people.accounts.find(account.id)).toBeUndefined();
    const again = await people.accounts.create({ username: 'leaver' });
    expect(again.id).not.toBe(account.id);
    await expect(people.accounts.create({ id: account.id, username: 'impostor' })).rejects.toEqual(code('conflict'));
  });
});
