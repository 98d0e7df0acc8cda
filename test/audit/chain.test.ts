import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { type AuditChain, createAuditChain } from '../../src/audit/chain.ts';
import { createVault } from '../../src/platform/vault.ts';
import { openPeople, type People, together } from '../accounts/fixture.ts';

const opened: People[] = [];
let people: People;
let chain: AuditChain;
beforeEach(async () => {
  people = await openPeople();
  opened.push(people);
  chain = createAuditChain(people);
});
afterAll(() => Promise.all(opened.map((one) => one.close())));

const events = async (count: number) => {
  for (let index = 0; index < count; index += 1) {
    people.clock.advance({ minutes: 1 });
    await people.audit.record({ type: 'token.issued', outcome: 'success', subjectId: `s${index}`, data: { index } });
  }
};
const entry = (chainSeq: number) => people.db.auditEvent.findUniqueOrThrow({ where: { chainSeq } });
const fault = async () => {
  const verdict = await chain.verify();
  return verdict.ok ? undefined : verdict.fault;
};

describe('the audit chain', () => {
  test('seals recorded events in any number of batches, and is valid', async () => {
    expect(await chain.verify()).toEqual({ ok: true, entries: 0, newest: 0, unsealed: 0 });
    await people.db.auditEvent.createMany({
      data: Array.from({ length: 450 }, (_, index) => ({
        type: 'token.issued',
        outcome: 'success',
        data: `[${index}]`,
      })),
    });
    expect(await chain.verify()).toEqual({ ok: true, entries: 0, newest: 0, unsealed: 450 });
    expect(await chain.seal()).toBe(450);
    expect(await chain.seal()).toBe(0);
    await events(3);
    expect(await chain.seal()).toBe(3);
    expect(await chain.verify()).toEqual({ ok: true, entries: 453, newest: 453, unsealed: 0 });
  });

  test('stays one chain when instances seal while others write', async () => {
    const other = createAuditChain(people);
    await together(8, async (index) => {
      await people.audit.record({ type: 'token.issued', outcome: 'success', data: { index } });
      await (index % 2 ? chain : other).seal();
    });
    await chain.seal();
    expect(await chain.verify()).toEqual({ ok: true, entries: 8, newest: 8, unsealed: 0 });
  });

  test.each(['data', 'reason', 'subjectId', 'actorApp', 'address'])(
    'names an entry whose %s was changed',
    async (field) => {
      await events(5);
      await chain.seal();
      const { id } = await entry(3);
      await people.db.auditEvent.update({ where: { id }, data: { [field]: '{"index":9}' } });
      expect(await fault()).toMatchObject({ kind: 'changed', seq: 3, id });
    },
  );

  test('names an entry whose time, type, outcome or hash was changed', async () => {
    await events(5);
    await chain.seal();
    const original = await entry(2);
    const { id } = original;
    for (const data of [
      { at: new Date(0) },
      { type: 'mail.sent' },
      { outcome: 'failure' },
      { chainHash: 'f'.repeat(64) },
    ]) {
      await people.db.auditEvent.update({ where: { id }, data });
      expect(await fault()).toMatchObject({ kind: 'changed', seq: 2, id });
      await people.db.auditEvent.update({ where: { id }, data: original });
    }
    expect(await fault()).toBeUndefined();
  });

  test('names the first removed entry in the middle, at the beginning and at the end', async () => {
    await events(6);
    await chain.seal();
    const before = await entry(3);
    await people.db.auditEvent.delete({ where: { chainSeq: 6 } });
    expect(await fault()).toMatchObject({ kind: 'removed', seq: 6 });
    await people.db.auditEvent.deleteMany({ where: { chainSeq: { in: [4, 5] } } });
    expect(await fault()).toMatchObject({ kind: 'removed', seq: 4, at: before.at });
    expect((await fault())?.message).toContain(`after entry ${before.id}`);
    await people.db.auditEvent.delete({ where: { chainSeq: 1 } });
    expect(await fault()).toMatchObject({ kind: 'removed', seq: 1 });
  });

  test('names an entry that was added', async () => {
    await events(2);
    await chain.seal();
    const row = { type: 'token.issued', outcome: 'success', chainSeq: 3, chainHash: 'a'.repeat(64) };
    const { id } = await people.db.auditEvent.create({ data: row });
    expect(await fault()).toMatchObject({ kind: 'added', seq: 3, id });
  });

  test('cannot be sealed again without the secret, nor be extended afterwards', async () => {
    await events(3);
    await chain.seal();
    const attacker = createAuditChain({ ...people, vault: createVault([Buffer.alloc(32, 1)]) });
    await people.db.auditEvent.updateMany({ data: { chainSeq: null, chainHash: null } });
    await people.db.auditEvent.delete({ where: { id: (await people.db.auditEvent.findFirstOrThrow()).id } });
    await people.db.auditChain.deleteMany();
    await attacker.seal();
    expect(await fault()).toMatchObject({ kind: 'anchor', seq: 2 });
    await expect(chain.seal()).rejects.toThrow('was changed');
    await people.db.auditChain.deleteMany();
    await expect(chain.seal()).rejects.toThrow('was removed');
  });

  test('continues under a new secret, and afterwards without the old one', async () => {
    const [older, newer] = [Buffer.alloc(32, 2), Buffer.alloc(32, 3)];
    const under = (...secrets: Buffer[]) => createAuditChain({ ...people, vault: createVault(secrets) });
    await events(4);
    await under(older).purge(people.now(), 2);
    await events(1);
    await under(newer, older).seal();
    expect(await under(newer).verify()).toMatchObject({ ok: true, entries: 3 });
    expect(await under(older).verify()).toMatchObject({ ok: false, fault: { kind: 'anchor' } });
  });

  test('is purged by age from its beginning, and the rest is valid', async () => {
    await events(7);
    const from = new Date(people.now().getTime() - 2 * 60_000);
    while ((await chain.purge(from, 2)) > 0);
    expect((await people.audit.list()).map(({ data }) => data.index)).toEqual([6, 5, 4]);
    expect(await chain.verify()).toEqual({ ok: true, entries: 3, newest: 7, unsealed: 0 });
    await people.db.auditEvent.delete({ where: { chainSeq: 5 } });
    expect(await fault()).toMatchObject({ kind: 'removed', seq: 5 });
  });

  test('does not purge a changed entry, so that the change can be found', async () => {
    await events(4);
    await chain.seal();
    const { id } = await entry(2);
    await people.db.auditEvent.update({ where: { id }, data: { reason: 'another' } });
    await expect(chain.purge(people.now(), 10)).rejects.toThrow(`audit entry ${id}`);
    expect(await people.db.auditEvent.count()).toBe(4);
  });
});
