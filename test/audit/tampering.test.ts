// A program that can write to the database, but has neither the secret nor the checkpoint file, changes the audit log by SQL.
import { createPublicKey } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createVault } from '../../src/base/platform/vault.ts';
import { checkChain } from '../../src/core/audit/chain/check.ts';
import { newestHead, parseCheckpoints } from '../../src/core/audit/chain/checkpoint.ts';
import { linkHash } from '../../src/core/audit/chain/link.ts';
import { digestOf } from '../../src/core/audit/row-mac.ts';
import { type AuditLog, openAuditLog } from './support.ts';

const opened: AuditLog[] = [];
let log: AuditLog;
beforeEach(async () => {
  log = await openAuditLog();
  opened.push(log);
  await log.events(6);
  await log.chain.seal();
});
afterAll(() => Promise.all(opened.map((one) => one.close())));

const sql = (text: string) => log.db.$executeRawUnsafe(text);
/** Hashes the chain again from its start, as a program can that knows the format but not the keys. */
async function hashAgain(): Promise<void> {
  let hash = '0'.repeat(64);
  for (const row of await log.db.auditEvent.findMany({ orderBy: { chainSeq: 'asc' } })) {
    hash = linkHash(hash, row);
    await log.db.auditEvent.update({ where: { id: row.id }, data: { chainHash: hash } });
  }
}
const messages = async () => (await log.faults()).map(({ message }) => message).join('\n');

describe('a changed entry', () => {
  test.each(['data', 'reason', 'subject_id', 'actor_app', 'address', 'type', 'outcome'])(
    'is reported when its %s was edited',
    async (column) => {
      const { id, at } = await log.entry(3);
      await sql(`UPDATE audit_events SET ${column} = 'other' WHERE chain_seq = 3`);
      expect(await log.faults()).toEqual([
        { kind: 'changed', seq: 3, id, at, message: `Entry ${id} of ${at.toISOString()} was changed.` },
      ]);
    },
  );

  test('is reported when its time was edited, or its salt removed', async () => {
    await log.db.auditEvent.update({ where: { chainSeq: 2 }, data: { at: new Date(0) } });
    await sql('UPDATE audit_events SET salt = NULL WHERE chain_seq = 4');
    expect(await log.faults()).toMatchObject([
      { kind: 'changed', seq: 2 },
      { kind: 'changed', seq: 4 },
    ]);
  });

  test('is reported when its digest and the whole chain were computed again', async () => {
    const row = await log.entry(3);
    const edited = { ...row, outcome: 'failure' };
    await log.db.auditEvent.update({
      where: { id: row.id },
      data: { outcome: 'failure', digest: digestOf(row.salt ?? '', edited) },
    });
    await hashAgain();
    expect(await log.faults()).toContainEqual(expect.objectContaining({ kind: 'changed', seq: 3, id: row.id }));
    expect(await messages()).toContain(
      `Entry ${row.id} of ${row.at.toISOString()} was changed or added: its MAC is invalid.`,
    );
  });

  test('is reported before it is in the chain, and is never added to it', async () => {
    await log.events(2);
    const [row] = await log.db.auditEvent.findMany({ where: { chainSeq: null }, orderBy: { id: 'asc' } });
    await log.db.auditEvent.update({ where: { id: row?.id ?? 0 }, data: { subjectId: 'other' } });
    expect(await log.faults()).toMatchObject([{ kind: 'added', id: row?.id }]);
    expect(await log.chain.seal()).toBe(1);
    expect(await log.faults()).toMatchObject([{ kind: 'added', id: row?.id }]);
    expect(log.raised).toEqual([`audit entries were added by another program: ${row?.id}`]);
  });
});

describe('a removed entry', () => {
  test('is reported with its position, in the middle, at the beginning and at the end', async () => {
    const [third, sixth] = [await log.entry(3), await log.entry(6)];
    await sql('DELETE FROM audit_events WHERE chain_seq IN (1, 4, 5)');
    await log.db.auditEvent.delete({ where: { id: sixth.id } });
    expect(await log.faults()).toMatchObject([
      { kind: 'removed', seq: 1 },
      { kind: 'removed', seq: 4, at: third.at },
    ]);
    expect(await messages()).toContain(`The entries at positions 4 to 6 (after entry ${third.id}) were removed.`);
  });

  test('is reported when the other entries moved up and were hashed again', async () => {
    await sql('DELETE FROM audit_events WHERE chain_seq = 2');
    for (const seq of [3, 4, 5, 6])
      await sql(`UPDATE audit_events SET chain_seq = ${seq - 1} WHERE chain_seq = ${seq}`);
    await hashAgain();
    expect(await log.faults()).toContainEqual(expect.objectContaining({ kind: 'removed', seq: 6 }));
  });

  test('is reported when all entries were removed', async () => {
    await sql('DELETE FROM audit_events');
    expect(await messages()).toContain('The entries at positions 1 to 6 were removed.');
    await expect(log.chain.seal()).resolves.toBe(0);
  });

  test('is reported when the start of the chain was moved behind it', async () => {
    const { chainHash } = await log.entry(2);
    await sql('DELETE FROM audit_events WHERE chain_seq <= 2');
    await sql(`INSERT INTO audit_chain (id, seq, hash, mac) VALUES ('tail', 2, '${chainHash}', 'x')`);
    expect(await log.faults()).toMatchObject([
      { kind: 'anchor', seq: 2 },
      {
        kind: 'anchor',
        seq: 2,
        message: expect.stringContaining('no checkpoint says that the entries before were purged'),
      },
    ]);
  });
});

describe('an added entry', () => {
  test('is reported, and never added to the chain', async () => {
    await sql(`INSERT INTO audit_events (type, outcome, data) VALUES ('role.assigned', 'success', '{}')`);
    const { id } = await log.db.auditEvent.findFirstOrThrow({ orderBy: { id: 'desc' } });
    expect(await log.chain.seal()).toBe(0);
    expect(await log.faults()).toMatchObject([{ kind: 'added', seq: 0, id }]);
  });

  test('is reported when it is a copy of a genuine one', async () => {
    const { id: _, chainSeq, chainHash, ...row } = await log.entry(3);
    const { id } = await log.db.auditEvent.create({ data: row });
    expect(await log.chain.seal()).toBe(0);
    expect(await log.faults()).toMatchObject([{ kind: 'added', id }]);
  });

  test('is reported when it claims a position behind the end', async () => {
    const { id } = await log.db.auditEvent.create({
      data: { type: 'browser.forgotten', outcome: 'success', chainSeq: 7, chainHash: 'a'.repeat(64) },
    });
    expect(await log.faults()).toMatchObject([{ kind: 'added', seq: 7, id }]);
  });

  test('does not keep genuine entries out of the chain', async () => {
    await log.db.auditEvent.createMany({ data: Array(25).fill({ type: 'mail.sent', outcome: 'success' }) });
    await log.events(2);
    expect(await log.chain.seal()).toBe(2);
  });
});

describe('the order of entries', () => {
  test('is verified, and two entries that changed places are reported', async () => {
    const [second, third] = [await log.entry(2), await log.entry(3)];
    await sql('UPDATE audit_events SET chain_seq = 99 WHERE chain_seq = 2');
    await sql('UPDATE audit_events SET chain_seq = 2 WHERE chain_seq = 3');
    await sql('UPDATE audit_events SET chain_seq = 3 WHERE chain_seq = 99');
    expect(await log.faults()).toMatchObject([
      { kind: 'moved', seq: 2, id: third.id },
      { kind: 'moved', seq: 3, id: second.id },
      { kind: 'moved', seq: 4 },
    ]);
  });
});

describe('the chain', () => {
  test('reports the entries that were removed from it', async () => {
    const { id } = await log.entry(3);
    await sql('UPDATE audit_events SET chain_seq = NULL, chain_hash = NULL WHERE chain_seq = 3');
    expect(await log.faults()).toMatchObject([
      { kind: 'removed', seq: 3, id, message: expect.stringContaining('was taken out of the chain') },
    ]);
  });

  test('never starts again where events exist', async () => {
    await sql('UPDATE audit_events SET chain_seq = NULL, chain_hash = NULL');
    await sql('DELETE FROM audit_chain');
    await sql('DELETE FROM audit_checkpoints');
    for (const chain of [log.chain, log.startChain(), log.startChain({ checkpointFile: `${log.file}.none` })]) {
      await chain.begin();
      await expect(chain.seal()).rejects.toThrow('was removed');
      expect(await chain.verify()).toMatchObject({ ok: false });
    }
    expect(await log.faults()).toMatchObject([
      { kind: 'anchor', message: 'The stored end of the chain was removed.' },
      { kind: 'rolled-back', seq: 1 },
    ]);
  });

  test('is not continued when its end was made under another key, or edited', async () => {
    const attacker = createVault([Buffer.alloc(32, 1)]);
    await sql('DELETE FROM audit_chain');
    await sql('UPDATE audit_events SET chain_seq = NULL, chain_hash = NULL');
    const hash = '0'.repeat(64);
    await log.db.auditChain.create({
      data: { id: 'head', seq: 0, hash, mac: attacker.mac(`head:0:${hash}`, 'audit-chain') },
    });
    await expect(log.chain.seal()).rejects.toThrow('was changed');
    expect(await log.faults()).toContainEqual(expect.objectContaining({ kind: 'anchor' }));
  });
});

describe('a rollback', () => {
  /** The log as it was at this entry, with the end that the server stored then. */
  async function rollBack(): Promise<void> {
    const end = await log.db.auditChain.findUniqueOrThrow({ where: { id: 'head' } });
    log.clock.advance({ minutes: 10 });
    await log.events(3);
    await log.chain.seal();
    await sql('DELETE FROM audit_events WHERE chain_seq > 6');
    await sql('DELETE FROM audit_checkpoints WHERE seq > 6');
    await log.db.auditChain.update({ where: { id: 'head' }, data: end });
  }

  test('is found by the checkpoint file, also after a restart, and nothing is added to the old end', async () => {
    await rollBack();
    const [fault] = await log.faults();
    expect(fault).toMatchObject({ kind: 'rolled-back', seq: 7 });
    expect(fault?.message).toContain('it ends at entry 6');
    await log.events(1);
    await expect(log.chain.seal()).rejects.toThrow('rolled back');
    await expect(log.startChain().seal()).rejects.toThrow('rolled back');
  });

  test('is accepted after a restore when the checkpoint file was set aside', async () => {
    await rollBack();
    const restarted = log.startChain({ checkpointFile: `${log.file}.new` });
    await log.events(1);
    expect(await restarted.seal()).toBe(1);
    expect(await restarted.verify()).toMatchObject({ ok: true, newest: 7 });
  });
});

describe('checkpoints', () => {
  const publicKey = () => createPublicKey(log.checkpointKey.privateKey);
  const offline = async (text?: string) =>
    checkChain({
      db: log.db,
      publicKey: publicKey(),
      outside: await parseCheckpoints(text ?? (await readFile(log.file, 'utf8')), publicKey()),
    });

  test('are written to the file, the URL, the log and the database, every five minutes or thousand entries', async () => {
    await log.events(1); // a minute later
    await log.chain.seal();
    log.clock.advance({ minutes: 5 });
    await log.events(1);
    await log.chain.seal();
    const lines = (await readFile(log.file, 'utf8')).trim().split('\n');
    expect(lines.map((line) => JSON.parse(line).seq)).toEqual([6, 8]);
    expect(log.posted).toEqual(lines);
    expect(log.log.filter((line) => line.includes('audit checkpoint'))).toHaveLength(2);
    expect((await log.chain.checkpoints()).map(({ seq }) => seq)).toEqual([6, 8]);
    expect(newestHead(lines.join('\n'), publicKey())?.seq).toBe(8);
  });

  test('verify a copy without the secret, and reveal entries that were exchanged', async () => {
    expect(await offline()).toMatchObject({ ok: true, entries: 6, checkpoints: 2 });
    await sql('DELETE FROM audit_events WHERE chain_seq = 6');
    const row = await log.entry(5);
    const edited = { ...row, outcome: 'failure' };
    await log.db.auditEvent.update({
      where: { id: row.id },
      data: { outcome: 'failure', digest: digestOf(row.salt ?? '', edited), chainSeq: 6 },
    });
    await sql('UPDATE audit_events SET chain_seq = 5 WHERE chain_seq = 4');
    await sql('UPDATE audit_events SET chain_seq = 4 WHERE chain_seq = 3');
    await hashAgain();
    const result = await offline();
    expect(result).toMatchObject({ ok: false });
    expect(result.ok ? [] : result.faults).toContainEqual(expect.objectContaining({ kind: 'checkpoint', seq: 6 }));
  });

  test('reveal a rollback of a copy, and a start that no checkpoint allows', async () => {
    const text = await readFile(log.file, 'utf8');
    await sql('DELETE FROM audit_events WHERE chain_seq > 4');
    await sql('DELETE FROM audit_checkpoints');
    const { chainHash } = await log.entry(4);
    await sql(`UPDATE audit_chain SET seq = 4, hash = '${chainHash}'`);
    expect(await offline(text)).toMatchObject({ ok: false, fault: { kind: 'rolled-back', seq: 5 } });
  });

  test('are reported when their signature is invalid, in the file and in the database', async () => {
    await sql(`UPDATE audit_checkpoints SET hash = '${'b'.repeat(64)}'`);
    await writeFile(log.file, `${await readFile(log.file, 'utf8')}{"kind":"head"}\n`);
    expect(await log.faults()).toMatchObject([
      { kind: 'checkpoint', seq: 6, message: 'The checkpoint at entry 6 has an invalid signature.' },
      { kind: 'checkpoint', seq: 0, message: "Line 2 of the checkpoint file wasn't signed by this server." },
    ]);
  });

  test('say which entries a purge removed', async () => {
    await log.chain.purge(new Date(log.now().getTime() - 2 * 60_000), 10);
    expect(await offline()).toMatchObject({ ok: true, entries: 3, newest: 6 });
    expect(await log.chain.verify()).toMatchObject({ ok: true, entries: 3, newest: 6 });
    await sql("DELETE FROM audit_checkpoints WHERE kind = 'tail'");
    await writeFile(log.file, '');
    expect(await offline()).toMatchObject({ ok: false, fault: { kind: 'anchor', seq: 3 } });
  });
});
