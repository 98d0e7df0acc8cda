// A running server whose database another program changes.
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { auditJobs } from '../../src/core/audit/jobs.ts';
import { signRows } from '../support/database/row-macs.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

const metricsToken = 'the-token-of-the-monitoring-server';
let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp({ environment: { METRICS_TOKEN: metricsToken } });
});
afterAll(() => idp.stop());

const run = async (name: string) => {
  const job = auditJobs({ ...idp.services, retentionDays: () => 365 }).find((each) => each.name === name);
  await job?.run(new AbortController().signal);
};
const alarms = () => idp.services.audit.list({ types: ['integrity.alarm'] });

describe('an alarm', () => {
  test('is not raised by a log that nobody changed', async () => {
    await run('audit-chain');
    await run('audit-verify');
    expect(await alarms()).toEqual([]);
    const [verified] = await idp.services.audit.list({ types: ['audit.verified'], limit: 1 });
    expect(verified).toMatchObject({ outcome: 'success' });
  });

  test('is raised by the daily verification: log, metric, audit event and one mail to each administrator', async () => {
    const { accounts, db } = idp.services;
    const [admin] = await db.asStored.user.findMany({ where: { roles: { some: { role: { name: 'admin' } } } } });
    await db.asStored.user.update({
      where: { id: admin?.id ?? '' },
      data: { email: 'root@example.com', emailKey: 'root@example.com', mac: '' },
    });
    await signRows(idp.services);
    await accounts.create({ username: 'bystander', email: 'bystander@example.com' });

    await db.$executeRawUnsafe("UPDATE audit_events SET reason = 'edited' WHERE chain_seq = 1");
    await run('audit-verify');
    await run('audit-verify');

    const [alarm, ...others] = await alarms();
    expect(others).toEqual([]);
    expect(alarm).toMatchObject({
      outcome: 'failure',
      reason: 'audit-log',
      data: { faults: [{ kind: 'changed', seq: 1 }] },
    });
    expect(idp.log.filter((line) => line.includes('ALARM: The audit log was changed: Entry'))).toHaveLength(1);
    const headers = { Authorization: `Bearer ${metricsToken}` };
    const metrics = await (await fetch(`${idp.url}/metrics`, { headers })).text();
    // One more when the scheduled verification has run meanwhile.
    expect(metrics).toMatch(/gatehouse_integrity_alarms_total\{kind="audit-log"\} [23]/);
    const mails = await db.mailMessage.findMany({ where: { subject: { startsWith: 'Alarm' } } });
    expect(mails.map(({ recipient }) => recipient)).toEqual(['root@example.com']);
  });

  test('is raised at once by an entry that another program wrote', async () => {
    await idp.services.db.auditEvent.create({ data: { type: 'role.assigned', outcome: 'success' } });
    await run('audit-chain');
    expect((await alarms())[0]?.data.message).toContain('audit entries were added by another program');
  });

  test('is mailed to no address that another program wrote', async () => {
    const { db, notifyAdministrators } = idp.services;
    const { id: roleId } = await db.role.findUniqueOrThrow({ where: { name: 'admin' } });
    const { id: userId } = await db.asStored.user.findUniqueOrThrow({ where: { usernameKey: 'bystander' } });
    await db.asStored.userRole.create({ data: { userId, roleId } });
    await db.$executeRawUnsafe("UPDATE users SET email = 'mallory@example.net' WHERE email = 'root@example.com'");
    await notifyAdministrators({ kind: 'integrity-alarm', message: 'look here', at: new Date() });
    const mails = await db.mailMessage.findMany({
      where: { recipient: { in: ['mallory@example.net', 'bystander@example.com'] } },
    });
    expect(mails).toEqual([]);
  });
});
