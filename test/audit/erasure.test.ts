// A person is deleted: the audit log forgets them and still verifies, and a program that can write to the database cannot pass off its own
// changes as an erasure.
import { createPublicKey } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Alarm } from '../../src/core/audit/alarm.ts';
import { checkChain } from '../../src/core/audit/chain/check.ts';
import { parseCheckpoints } from '../../src/core/audit/chain/checkpoint.ts';
import { createAuditErasure } from '../../src/core/audit/erasure.ts';
import { servicesOf } from '../support/services-of.ts';
import { type AuditLog, openAuditLog } from './support.ts';

const opened: AuditLog[] = [];
let log: AuditLog;
let erasure: ReturnType<typeof createAuditErasure>;
const request = { address: '203.0.113.7', userAgent: 'Firefox of Ann', requestId: 'r-ann' };
beforeEach(async () => {
  log = await openAuditLog();
  opened.push(log);
  const alarm: Alarm = { raise: async (_kind, message) => void log.raised.push(message) };
  erasure = createAuditErasure(servicesOf({ ...log, auditChain: log.chain, alarm }));
  const { audit } = log;
  await log.events(2);
  const ann = { subjectId: 'ann', data: { before: { name: 'Ann Example', email: 'ann@example.com' } } };
  await audit.record({ type: 'sign-in.completed', outcome: 'success', actorId: 'ann', subjectId: 'ann', request });
  await audit.record({
    type: 'account.updated',
    outcome: 'success',
    actorId: 'boss',
    request: { address: '198.51.100.1', userAgent: 'Safari of the boss', requestId: 'r-boss' },
    ...ann,
  });
  await audit.record({
    type: 'account.deleted',
    outcome: 'success',
    actorId: 'ann',
    subjectId: 'bob',
    request,
    data: { before: { name: 'Bob' }, apiKey: { id: 'k', name: 'Key of Ann' } },
  });
  await log.chain.seal();
});
afterAll(() => Promise.all(opened.map((one) => one.close())));

const sql = (text: string) => log.db.$executeRawUnsafe(text);
/** What an auditor finds with a copy of the database, the public key and the checkpoints. */
async function offline() {
  const publicKey = createPublicKey(log.checkpointKey.privateKey);
  const outside = await parseCheckpoints(await readFile(log.file, 'utf8'), publicKey);
  return checkChain({ db: log.db, publicKey, outside });
}
const erased = () => log.db.auditEvent.findMany({ where: { erasedBy: { not: null } }, orderBy: { id: 'asc' } });

describe('the erasure of a person', () => {
  it('leaves what happened and what others did, and the log verifies at once, later, and without the secret', async () => {
    expect(await erasure.erase('ann')).toBe(3);
    expect(await log.faults()).toEqual([]);
    await log.chain.seal();
    expect(await log.faults()).toEqual([]);
    expect(await offline()).toMatchObject({ ok: true });
    const none = { salt: null, address: null, userAgent: null, requestId: null };
    expect(await erased()).toMatchObject([
      { type: 'sign-in.completed', actorId: null, subjectId: null, data: '{}', ...none },
      { type: 'account.updated', actorId: 'boss', subjectId: null, data: '{}', userAgent: 'Safari of the boss' },
      { type: 'account.deleted', actorId: null, subjectId: 'bob', data: '{"before":{"name":"Bob"}}', ...none },
    ]);
    const all = JSON.stringify(await log.db.auditEvent.findMany());
    for (const personal of ['ann', 'Ann', 'Firefox', 'r-ann']) expect(all).not.toContain(personal);
  });

  it('erases an entry a second time for the other person in it', async () => {
    await erasure.erase('ann');
    await log.chain.seal();
    await erasure.erase('boss');
    await erasure.erase('bob');
    await log.chain.seal();
    expect([await log.faults(), await offline()]).toEqual([[], expect.objectContaining({ ok: true })]);
    expect(JSON.stringify(await log.db.auditEvent.findMany())).not.toMatch(/boss|bob|Bob/);
  });

  it('goes on after the process ended between two pieces, for any number of entries', async () => {
    await log.db.$transaction(async (tx) =>
      log.audit.recordAll(
        Array.from({ length: 170 }, () => ({
          type: 'browser.forgotten' as const,
          outcome: 'success' as const,
          subjectId: 'ann',
        })),
        tx as never,
      ),
    );
    const end = new AbortController();
    const stopped = erasure.erase('ann', end.signal);
    while ((await erased()).length === 0) await new Promise((resolve) => setTimeout(resolve, 1));
    end.abort();
    await stopped;
    await log.chain.seal();
    expect((await erased()).length).toBeLessThan(173);
    expect(await log.faults()).toEqual([]);
    await erasure.erase('ann');
    await log.chain.seal();
    expect([(await erased()).length, await log.faults()]).toEqual([173, []]);
    expect(await offline()).toMatchObject({ ok: true });
  });

  it('outlives a purge, which deletes erased entries and the statement about them', async () => {
    await erasure.erase('ann');
    await log.chain.seal();
    log.clock.advance({ days: 1 });
    await log.chain.purge(log.clock.now(), 4);
    expect(await log.faults()).toEqual([]);
    await log.chain.purge(log.clock.now(), 100);
    expect([await log.faults(), await log.db.auditEvent.count()]).toEqual([[], 0]);
  });
});

describe('a program that can write to the database', () => {
  const empty =
    "salt = NULL, actor_id = NULL, subject_id = NULL, address = NULL, user_agent = NULL, request_id = NULL, data = '{}'";

  it('is found when it empties an entry that nobody erased', async () => {
    await sql(`UPDATE audit_events SET ${empty} WHERE chain_seq = 3`);
    const [fault] = await log.faults();
    expect(fault).toMatchObject({
      kind: 'changed',
      seq: 3,
      message: expect.stringContaining('was emptied, and no later entry says'),
    });
    expect(await offline()).toMatchObject({ ok: false });
  });

  it('is found when it says that the erasure of another entry was meant', async () => {
    await erasure.erase('ann');
    await log.chain.seal();
    const [{ erasedBy } = { erasedBy: 0 }] = await erased();
    await sql(`UPDATE audit_events SET ${empty}, erased_by = ${erasedBy} WHERE chain_seq = 2`);
    expect(await log.faults()).toMatchObject([{ kind: 'changed', seq: 2 }]);
  });

  it('is found when it changes what is left of an erased entry', async () => {
    await erasure.erase('ann');
    await log.chain.seal();
    await sql("UPDATE audit_events SET actor_id = 'other' WHERE chain_seq = 4");
    expect(await log.faults()).toMatchObject([{ kind: 'changed', seq: 4 }]);
    expect(await offline()).toMatchObject({ ok: false });
  });

  it('is found when it writes or changes the statement about the erasure', async () => {
    await sql(`UPDATE audit_events SET ${empty} WHERE chain_seq = 3`);
    const row = await log.entry(3);
    const copy = await log.entry(5);
    const { id: _id, ...event } = { ...copy, chainSeq: null, chainHash: null, type: 'account.erased' };
    const { id } = await log.db.auditEvent.create({
      data: { ...event, data: JSON.stringify({ entries: [`${row.id}:x`] }) },
    });
    await log.db.auditEvent.update({ where: { id: row.id }, data: { erasedBy: id } });
    expect((await log.faults()).map(({ kind }) => kind).sort()).toEqual(['added', 'changed']);
  });

  it('is found when it changes an entry and lets the server erase it, as if it were about a deleted person', async () => {
    await sql("UPDATE audit_events SET subject_id = 'ann', data = '{}' WHERE chain_seq IN (1, 4)");
    await sql("UPDATE audit_events SET actor_id = 'ann', digest = 'x' WHERE chain_seq = 2");
    expect(await erasure.erase('ann')).toBe(2);
    await log.chain.seal();
    expect((await erased()).map(({ chainSeq }) => chainSeq)).toEqual([3, 5]);
    const ids = await Promise.all([1, 4, 2].map(async (seq) => (await log.entry(seq)).id));
    expect(log.raised).toEqual([expect.stringContaining(`changed them: ${ids.join(', ')}`)]);
    expect([...new Set((await log.faults()).map(({ seq }) => seq))].sort()).toEqual([1, 2, 4]);
    expect(await offline()).toMatchObject({ ok: false });
  });

  it('is found when it changes what is left of an entry, which is erased once more for another person', async () => {
    await erasure.erase('ann');
    await log.chain.seal();
    await sql("UPDATE audit_events SET reason = 'other' WHERE chain_seq = 4");
    expect(await erasure.erase('boss')).toBe(0);
    expect(await log.faults()).toMatchObject([{ kind: 'changed', seq: 4 }]);
  });

  it('is found when it removes the statement', async () => {
    await erasure.erase('ann');
    await log.chain.seal();
    await sql("DELETE FROM audit_events WHERE type = 'account.erased'");
    expect((await log.faults()).filter(({ kind }) => kind === 'changed')).toHaveLength(3);
  });
});
