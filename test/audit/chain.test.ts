import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createVault } from '../../src/base/platform/vault.ts';
import { together } from '../accounts/fixture.ts';
import { type AuditLog, openAuditLog } from './support.ts';

const opened: AuditLog[] = [];
let log: AuditLog;
let chain: AuditLog['chain'];
beforeEach(async () => {
  log = await openAuditLog();
  chain = log.chain;
  opened.push(log);
});
afterAll(() => Promise.all(opened.map((one) => one.close())));

describe('the audit chain', () => {
  test('seals recorded events in any number of batches, and is valid', async () => {
    expect(await chain.verify()).toEqual({ ok: true, entries: 0, newest: 0, unsealed: 0, checkpoints: 0 });
    await log.events(45);
    expect(await chain.verify()).toMatchObject({ ok: true, entries: 0, newest: 0, unsealed: 45 });
    expect(await chain.seal()).toBe(45);
    expect(await chain.seal()).toBe(0);
    await log.events(3);
    expect(await chain.seal()).toBe(3);
    expect(await chain.verify()).toMatchObject({ ok: true, entries: 48, newest: 48, unsealed: 0 });
    expect(log.raised).toEqual([]);
  });

  test('stays one chain when instances seal while others write', async () => {
    const other = log.startChain();
    await together(8, async (index) => {
      await log.audit.record({ type: 'browser.forgotten', outcome: 'success', data: { count: index } });
      await (index % 2 ? chain : other).seal();
    });
    await chain.seal();
    expect(await chain.verify()).toMatchObject({ ok: true, entries: 8, newest: 8, unsealed: 0 });
  });

  test('is valid when another instance seals between any two reads of the verification', async () => {
    const other = log.startChain();
    await log.events(3);
    await other.seal();
    /** Seals two more entries after each read of `db` that the verification makes. */
    const sealAfterReads = (table: 'auditChain' | 'auditEvent') =>
      new Proxy(log.db[table], {
        get(target, name) {
          const read = Reflect.get(target, name);
          return async (...parameters: unknown[]) => {
            const result = await read.apply(target, parameters);
            reads += 1;
            if (reads > 20) return result;
            await log.events(2);
            await other.seal();
            return result;
          };
        },
      });
    let reads = 0;
    const db = Object.assign(Object.create(log.db), {
      auditChain: sealAfterReads('auditChain'),
      auditEvent: sealAfterReads('auditEvent'),
    });
    expect(await log.startChain({ db }).verify()).toMatchObject({ ok: true, entries: 3 });
    expect(reads).toBeGreaterThan(4);
    await log.db.auditEvent.update({ where: { chainSeq: 4 }, data: { chainSeq: 1000 } });
    expect(await log.faults()).toContainEqual(expect.objectContaining({ kind: 'added', seq: 1000 }));
  });

  test('is purged by age from its beginning, and the rest is valid', async () => {
    await log.events(7);
    const from = new Date(log.now().getTime() - 2 * 60_000);
    while ((await chain.purge(from, 2)) > 0);
    expect((await log.audit.list()).map(({ data }) => data.count)).toEqual([6, 5, 4]);
    expect(await chain.verify()).toMatchObject({ ok: true, entries: 3, newest: 7, unsealed: 0 });
    await log.db.auditEvent.delete({ where: { chainSeq: 5 } });
    expect(await log.faults()).toMatchObject([{ kind: 'removed', seq: 5 }]);
  });

  test('does not purge a changed entry, so that the change can be found', async () => {
    await log.events(4);
    await chain.seal();
    const { id } = await log.entry(2);
    await log.db.auditEvent.update({ where: { id }, data: { reason: 'another' } });
    await expect(chain.purge(log.now(), 10)).rejects.toThrow(`audit entry ${id}`);
    expect(await log.db.auditEvent.count()).toBe(4);
  });

  test('does not depend on GATEHOUSE_SECRET, only on the data keys', async () => {
    const key = { id: 'k1', key: Buffer.alloc(32, 9) };
    const under = (secret: number) => log.startChain({ vault: createVault([Buffer.alloc(32, secret)], [key]) });
    await log.db.auditChain.deleteMany();
    await under(2).begin();
    await under(2).seal();
    expect(await under(3).verify()).toMatchObject({ ok: true });
    const other = createVault([Buffer.alloc(32, 3)], [{ ...key, key: Buffer.alloc(32, 8) }]);
    expect(await log.startChain({ vault: other }).verify()).toMatchObject({ ok: false, fault: { kind: 'anchor' } });
  });
});
