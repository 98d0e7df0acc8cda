import { copyFile, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../src/base/platform/logger.ts';
import { createVault } from '../../src/base/platform/vault.ts';
import { createAuditChain } from '../../src/core/audit/chain/chain.ts';
import { createOutsideCheckpoints } from '../../src/core/audit/chain/outside-checkpoints.ts';
import { digestOf } from '../../src/core/audit/row-mac.ts';
import { openDataKeys } from '../../src/core/keys/data-keys.ts';
import { servicesOf } from '../support/services-of.ts';
import { commandLine } from './support.ts';

const now = () => new Date();
let shell: Awaited<ReturnType<typeof commandLine>>;
let file: string;
/** Entries of the audit log that are in the chain. */
let sealed: number;
beforeEach(async () => {
  shell = await commandLine();
  file = path.join(shell.folder, 'data', 'audit-checkpoints.jsonl');
  await shell.gatehouse(['user', 'add', 'ann', '--role', 'auditor']);
  await shell.gatehouse(['user', 'add', 'bob']);
  sealed = await seal();
});
afterEach(() => shell.close());

/** What the job of a running server does. */
async function seal(): Promise<number> {
  const secrets = [Buffer.alloc(32, 5)];
  const { mac, checkpoint } = await openDataKeys(servicesOf({ db: shell.db, vault: createVault(secrets), now }));
  const logger = createLogger({ level: 'silent', format: 'json' });
  const outside = createOutsideCheckpoints({ file, url: undefined, key: checkpoint, fetch, logger });
  const alarm = { raise: async () => {} };
  const vault = createVault(secrets, mac);
  return createAuditChain({
    ...servicesOf({ ...shell, vault, now }),
    checkpointKey: checkpoint,
    outside,
    alarm,
  }).seal();
}

describe('gatehouse audit', () => {
  it('confirms an unchanged audit log, and reports each changed entry', async () => {
    expect(await shell.gatehouse(['audit', 'verify'])).toMatchObject({
      code: 0,
      out: `The audit log is intact: ${sealed} entries.\n`,
    });
    const original = await shell.db.auditEvent.findUniqueOrThrow({ where: { chainSeq: 2 } });
    await shell.db.auditEvent.update({ where: { id: original.id }, data: { actorId: 'another-user' } });
    const broken = await shell.gatehouse(['audit', 'verify']);
    expect(broken).toMatchObject({ code: 1, out: '' });
    expect(broken.err).toContain(`Entry ${original.id} of`);
    const json = await shell.gatehouse(['audit', 'verify', '--json']);
    const fault = { kind: 'changed', seq: 2, id: original.id };
    expect(JSON.parse(json.out)).toMatchObject({ ok: false, fault, faults: [fault] });
  });

  it('verifies a database offline, with exported checkpoints and a public key, without the secret', async () => {
    const key = path.join(shell.folder, 'audit.pem');
    const exported = path.join(shell.folder, 'exported.jsonl');
    const pem = await shell.gatehouse(['audit', 'public-key']);
    expect(pem.out).toContain('BEGIN PUBLIC KEY');
    await writeFile(key, pem.out);
    const checkpoints = await shell.gatehouse(['audit', 'checkpoints']);
    expect(checkpoints.out).toBe(await readFile(file, 'utf8'));
    await writeFile(exported, checkpoints.out);
    const offline = ['audit', 'verify', '--public-key', key, '--checkpoints', exported];
    const without = { env: { GATEHOUSE_SECRET: '', DATA_DIR: path.join(shell.folder, 'elsewhere') } };
    const verify = () => shell.gatehouse([...offline, '--database', shell.url], without);
    const whole = await verify();
    expect(whole).toMatchObject({ code: 0, err: '' });
    expect(whole.out).toContain('The checkpoints prove the entries up to position');
    const { auditEvent } = shell.db;
    const third = await auditEvent.findUniqueOrThrow({ where: { chainSeq: 3 } });
    const { id: _id, chainSeq: _seq, chainHash: _hash, ...copy } = third;
    for (const rowMac of ['', 'x.y']) {
      await auditEvent.update({ where: { id: third.id }, data: { rowMac } });
      expect((await verify()).err).toContain(`Entry ${third.id} of ${third.at.toISOString()} was changed or added`);
    }
    await auditEvent.update({ where: { id: third.id }, data: third });
    const forged = { type: 'role.assigned', outcome: 'success', data: '{}' };
    const old = {
      ...forged,
      at: new Date(0),
      reason: null,
      actorId: null,
      actorApp: null,
      subjectId: null,
      clientId: null,
    };
    const oldRow = { ...old, address: null, userAgent: null, requestId: null, salt: 'made up', rowMac: third.rowMac };
    for (const [data, what] of [
      [forged, 'its content is not what its digest was made from'],
      [{ ...oldRow, digest: digestOf('made up', oldRow) }, 'it is older than the newest checkpoint'],
      [{ ...copy, rowMac: '' }, 'it has no MAC'],
      [copy, 'it is a copy of another entry'],
    ] as const) {
      const { id } = await auditEvent.create({ data });
      expect((await verify()).err, what).toContain(`is not part of the chain: ${what}`);
      await auditEvent.delete({ where: { id } });
    }
    // A log that ends at the newest checkpoint outside is complete as far as anybody can prove without the secret: it says so.
    await shell.gatehouse(['user', 'add', 'late']);
    const waiting = await verify();
    expect([waiting.code, waiting.out]).toEqual([0, expect.stringContaining('not in the chain yet')]);
    await auditEvent.deleteMany({ where: { chainSeq: null } });
    const cut = await verify();
    expect([cut.code, cut.out]).toEqual([
      0,
      expect.stringContaining('Without the secret, nothing proves that no later entries were removed.'),
    ]);
    const newest = await shell.db.auditEvent.findFirstOrThrow({
      where: { chainSeq: { not: null } },
      orderBy: { chainSeq: 'desc' },
    });
    await shell.db.auditEvent.delete({ where: { id: newest.id } });
    const broken = await shell.gatehouse([...offline, '--database', shell.url], without);
    expect(broken).toMatchObject({ code: 1 });
    expect(broken.err).toContain(`The entry at position ${newest.chainSeq}`);
    expect(await shell.gatehouse(['audit', 'verify', '--public-key', exported])).toMatchObject({ code: 2 });
  });

  it('reports a restored database until the restore is accepted', async () => {
    await copyFile(file, `${file}.old`);
    const end = await shell.db.auditChain.findUniqueOrThrow({ where: { id: 'head' } });
    const backup = await shell.db.auditCheckpoint.findMany();
    await shell.db.auditCheckpoint.deleteMany();
    await shell.gatehouse(['user', 'add', 'cid']);
    await seal();
    await shell.db.auditEvent.deleteMany({ where: { chainSeq: { gt: end.seq } } });
    await shell.db.auditChain.update({ where: { id: 'head' }, data: end });
    await shell.db.auditCheckpoint.deleteMany();
    await shell.db.auditCheckpoint.createMany({ data: backup });
    expect((await shell.gatehouse(['audit', 'verify'])).err).toContain('The log was rolled back');
    await expect(seal()).rejects.toThrow('rolled back');
    expect(await shell.gatehouse(['audit', 'accept-restore'])).toMatchObject({ code: 0 });
    expect(await seal()).toBe(1);
    expect(await shell.gatehouse(['audit', 'verify'])).toMatchObject({ code: 0 });
    expect(await shell.db.auditEvent.count({ where: { type: 'audit.restore-accepted' } })).toBe(1);
  });

  it('does not start without the data keys of a database with content', async () => {
    const keys = await shell.db.dataKey.findMany();
    await shell.db.dataKey.deleteMany();
    const rejected = await shell.gatehouse(['user', 'list']);
    expect(rejected).toMatchObject({ code: 1, out: '' });
    expect(rejected.err).toContain('the data keys of this database are missing');
    await shell.db.dataKey.createMany({ data: keys });
    expect(await shell.gatehouse(['user', 'list'])).toMatchObject({ code: 0 });
  });

  it.each(['', 'a.b'])('reports a user with the MAC "%s", which no command accepts', async (mac) => {
    await shell.db.asStored.user.updateMany({ where: { username: 'ann' }, data: { name: 'Anna', mac } });
    expect(await shell.gatehouse(['user', 'show', 'ann'])).toMatchObject({ code: 1 });
    expect((await shell.gatehouse(['doctor'])).out).toContain('user ann (');
  });
});
