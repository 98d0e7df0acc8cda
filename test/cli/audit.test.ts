import { afterAll, beforeAll, expect, it } from 'vitest';
import { createAuditChain } from '../../src/audit/chain.ts';
import { createLogger } from '../../src/platform/logger.ts';
import { createVault } from '../../src/platform/vault.ts';
import { commandLine } from './support.ts';

let shell: Awaited<ReturnType<typeof commandLine>>;
beforeAll(async () => {
  shell = await commandLine();
});
afterAll(() => shell.close());

it('says that the audit log is as it was written, and names the first entry that is not', async () => {
  await shell.gatehouse(['user', 'add', 'ann']);
  await shell.gatehouse(['user', 'add', 'bob']);
  const vault = createVault([Buffer.alloc(32, 5)]);
  const logger = createLogger({ level: 'silent', format: 'json' });
  const sealed = await createAuditChain({ ...shell, vault, now: () => new Date(), logger }).seal();
  expect(await shell.gatehouse(['audit', 'verify'])).toMatchObject({
    code: 0,
    out: `${sealed} entries are as they were written.\n`,
  });
  await shell.db.auditEvent.updateMany({ where: { chainSeq: 2 }, data: { actorId: 'somebody' } });
  const { id } = await shell.db.auditEvent.findUniqueOrThrow({ where: { chainSeq: 2 } });
  const broken = await shell.gatehouse(['audit', 'verify']);
  expect(broken).toMatchObject({ code: 1, out: '' });
  expect(broken.err).toContain(`Entry ${id} of`);
  const json = await shell.gatehouse(['audit', 'verify', '--json']);
  expect(JSON.parse(json.out)).toMatchObject({ ok: false, fault: { kind: 'changed', seq: 2, id } });
});
