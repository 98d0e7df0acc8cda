// Update, disabling and listing of accounts.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { openPeople, type People } from './fixture.ts';

let people: People;
beforeAll(async () => {
  people = await openPeople();
});
afterAll(() => people.close());

const code = (expected: string) => expect.objectContaining({ code: expected });

describe('an update', () => {
  test('changes the given fields only, and audits before and after', async () => {
    const account = await people.person({ name: 'Old', locale: 'de' });
    people.clock.advance({ seconds: 5 });
    const by = { actorId: 'admin', request: { requestId: 'r1', address: '192.0.2.1', userAgent: 'test' } };
    const updated = await people.accounts.update(account.id, { name: 'New' }, by);
    expect(updated).toMatchObject({ name: 'New', locale: 'de', username: account.username });
    expect(updated.updatedAt.getTime()).toBeGreaterThan(account.updatedAt.getTime());
    const [event] = await people.audit.list({ subjectId: account.id });
    expect(event).toMatchObject({
      type: 'account.updated',
      actorId: 'admin',
      requestId: 'r1',
      data: { before: { name: 'Old' }, after: { name: 'New' } },
    });
  });

  test('changes nothing when no field differs', async () => {
    const account = await people.person({ name: 'Same' });
    people.clock.advance({ seconds: 5 });
    expect(await people.accounts.update(account.id, { name: 'Same' })).toEqual(account);
    expect(await people.audit.list({ subjectId: account.id })).toHaveLength(1);
  });

  test('clears a field with null', async () => {
    const account = await people.person({ name: 'Gone' });
    expect((await people.accounts.update(account.id, { name: null })).name).toBeNull();
  });

  test('marks a changed address as unverified', async () => {
    const account = await people.person({ emailVerified: true });
    expect((await people.accounts.update(account.id, { name: 'x' })).emailVerified).toBe(true);
    const moved = await people.accounts.update(account.id, { email: `new-${account.email}` });
    expect(moved.emailVerified).toBe(false);
  });

  test('changes a username that is the email address along with it', async () => {
    const account = await people.person({ username: 'follow@example.com', email: 'follow@example.com' });
    const moved = await people.accounts.update(account.id, { email: 'elsewhere@example.com' });
    expect(moved.username).toBe('elsewhere@example.com');
    await expect(people.accounts.update(account.id, { email: null })).rejects.toEqual(code('invalid_input'));
  });

  test('rejects the names of other accounts', async () => {
    await people.person({ username: 'first', email: 'first@example.com' });
    const second = await people.person();
    await expect(people.accounts.update(second.id, { username: 'FIRST' })).rejects.toEqual(code('user_name_taken'));
    await expect(people.accounts.update(second.id, { email: 'FIRST@example.com' })).rejects.toEqual(
      code('email_taken'),
    );
    expect(await people.accounts.find(second.id)).toEqual(second);
  });

  test('rejects an unknown account', async () => {
    await expect(people.accounts.update('missing', { name: 'x' })).rejects.toEqual(code('not_found'));
  });
});

describe('disabling an account', () => {
  test('returns whether it changed anything, and audits only changes', async () => {
    const { id } = await people.person();
    expect(await people.accounts.setActive(id, false)).toBe(true);
    expect(await people.accounts.setActive(id, false)).toBe(false);
    expect((await people.accounts.find(id))?.isActive).toBe(false);
    expect(await people.accounts.setActive(id, true)).toBe(true);
    const types = (await people.audit.list({ subjectId: id })).map(({ type }) => type);
    expect(types).toEqual(['account.enabled', 'account.disabled', 'account.created']);
    await expect(people.accounts.setActive('missing', false)).rejects.toEqual(code('not_found'));
  });
});

describe('the list of accounts', () => {
  test('contains every account once, newest first, while accounts are added', async () => {
    const own = await openPeople();
    for (let index = 0; index < 25; index += 1) {
      if (index % 3 === 0) own.clock.advance({ seconds: 1 });
      await own.person({ username: `list-${index}` });
    }
    const seen: string[] = [];
    let after: string | undefined;
    do {
      const page = await own.accounts.list({ limit: 10, ...(after ? { after } : {}) });
      seen.push(...page.accounts.map(({ username }) => username));
      after = page.next;
      own.clock.advance({ seconds: 1 });
      await own.person();
    } while (after);
    expect(seen).toHaveLength(25);
    expect(new Set(seen).size).toBe(25);
    expect(seen[0]).toBe('list-24');
    await own.close();
  });

  test('searches names and addresses, and filters', async () => {
    const { id } = await people.person({ username: 'needle-1', email: 'x@haystack.example', name: 'Zed Needleman' });
    for (const search of ['NEEDLE-', 'haystack', 'Needleman']) {
      const { accounts } = await people.accounts.list({ search });
      expect(
        accounts.map((account) => account.id),
        search,
      ).toEqual([id]);
    }
    expect((await people.accounts.list({ search: 'needle-1', state: 'disabled' })).accounts).toEqual([]);
    expect((await people.accounts.list({ search: 'needle-1', role: 'none' })).accounts).toEqual([]);
    expect((await people.accounts.list({ search: '\0', after: 'garbage', limit: 1 })).accounts).toHaveLength(1);
  });
});
