// Repeated creates when the server dies between the change and its response.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createIdempotency, type Idempotency, type RecordResponse } from '../../src/admin/api/idempotency.ts';
import { createRoleAdmin, type RoleAdmin } from '../../src/admin/roles/roles.ts';
import { createRoles } from '../../src/people/rbac/roles.ts';
import { openPeople, type People } from '../accounts/fixture.ts';
import { servicesOf } from '../support/services-of.ts';

let people: People;
let roles: RoleAdmin;
let idempotency: Idempotency;
beforeAll(async () => {
  people = await openPeople();
  roles = createRoleAdmin({ ...people, roles: createRoles({ ...servicesOf(people), ...people }) } as never);
  idempotency = createIdempotency(people);
});
afterAll(() => people.close());

const request = (key: string) => ({ caller: 'service', key, requestHash: key });
const created = (name: string) => ({ status: 201, headers: {}, body: { name } });
const create = (name: string, record: RecordResponse) =>
  roles.create({ name }, {}, (_role, tx) => record(created(name), tx));

describe('a create with an Idempotency-Key', () => {
  it('repeats its response when the server died right after the commit', async () => {
    let committed = () => {};
    const isCommitted = new Promise<void>((resolve) => {
      committed = resolve;
    });
    // The first call never returns, as on a server that is killed after its transaction.
    void idempotency.once(request('killed'), async (record) => {
      await create('killed', record);
      committed();
      return new Promise(() => {});
    });
    await isCommitted;
    const again = await idempotency.once(request('killed'), () => Promise.reject(new Error('called again')));
    expect(again).toEqual({ response: created('killed'), isRepeated: true });
  });

  it('is rejected with Retry-After after the server died before the commit, and a minute later does the work', async () => {
    void idempotency.once(request('dead'), () => new Promise(() => {}));
    const again = (clock = people.now) =>
      createIdempotency({ ...people, now: clock }).once(request('dead'), async (record) => {
        await create('dead', record);
        return created('dead');
      });
    await expect.poll(() => people.db.idempotencyKey.count({ where: { responseSealed: null } })).toBe(1);
    await expect(again()).rejects.toMatchObject({ status: 409, code: 'in_progress', headers: { 'Retry-After': '5' } });
    const later = () => new Date(people.now().getTime() + 61_000);
    expect(await again(later)).toEqual({ response: created('dead'), isRepeated: false });
    expect(await again(later)).toEqual({ response: created('dead'), isRepeated: true });
  });

  it('neither takes nor ends the lock of a later call when it took longer than its own', async () => {
    const later = () => new Date(people.now().getTime() + 61_000);
    const endings = ['commits', 'fails'] as const;
    for (const ending of endings) {
      const key = `slow-${ending}`;
      let finishSlow = () => {};
      const isTime = new Promise<void>((resolve) => {
        finishSlow = resolve;
      });
      const slow = idempotency.once(request(key), async (record) => {
        await isTime;
        if (ending === 'fails') throw new Error('too late');
        await create(`${key}-first`, record);
        return created(`${key}-first`);
      });
      slow.catch(() => {});
      await expect
        .poll(() => people.db.idempotencyKey.count({ where: { responseSealed: null, requestHash: key } }))
        .toBe(1);
      // The same key for another request, as the first one is given up.
      const other = { ...request(key), requestHash: `${key}-other` };
      const second = await createIdempotency({ ...people, now: later }).once(other, async (record) => {
        finishSlow();
        await expect(slow).rejects.toMatchObject(
          ending === 'fails' ? { message: 'too late' } : { code: 'in_progress' },
        );
        await create(`${key}-second`, record);
        return created(`${key}-second`);
      });
      expect(second).toEqual({ response: created(`${key}-second`), isRepeated: false });
    }
  });

  it('stores no response when the change fails after it was recorded', async () => {
    const failing = idempotency.once(request('failed'), async (record) => {
      await roles.create({ name: 'failed' }, {}, async (_role, tx) => {
        await record(created('failed'), tx);
        throw new Error('not committed');
      });
      return created('failed');
    });
    await expect(failing).rejects.toThrow('not committed');
    const again = await idempotency.once(request('failed'), async (record) => {
      await create('failed', record);
      return created('failed');
    });
    expect(again.isRepeated).toBe(false);
  });

  it('is rejected with 409 when another program exchanged its stored response', async () => {
    await people.db.idempotencyKey.deleteMany();
    for (const name of ['own', 'other']) {
      await idempotency.once(request(name), async (record) => {
        await create(name, record);
        return created(name);
      });
    }
    const [one, two] = await people.db.idempotencyKey.findMany();
    if (!one || !two) throw new Error('two keys are stored');
    await people.db.idempotencyKey.update({ where: { id: one.id }, data: { responseSealed: two.responseSealed } });
    await people.db.idempotencyKey.update({ where: { id: two.id }, data: { responseSealed: 'no vault' } });
    for (const name of ['own', 'other']) {
      const again = idempotency.once(request(name), () => Promise.reject(new Error('called again')));
      await expect(again).rejects.toMatchObject({ status: 409, code: 'changed_outside' });
    }
  });
});
