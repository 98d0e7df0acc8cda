// How long each kind of data about people is kept, and how much there is: on the page of the console and by the API.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { aPerson, aService } from '../admin/support.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp({ hasTamperedRows: true });
});
afterAll(() => idp?.stop());

it('has each kind with its time, its number of rows and the oldest', async () => {
  const { db, settings } = idp.services;
  await settings.set('audit_retention_days', 400);
  await settings.set('erase_after_days', 0);
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const at = new Date('2026-03-04T05:06:07Z');
  const expiresAt = new Date(Date.now() + 3_600_000);
  const row = (id: string, time: Date) => ({
    id,
    at: time,
    endpoint: 'token',
    reason: 'other',
    message: '',
    requestId: id,
    data: '{}',
    expiresAt,
  });
  await db.asStored.rejection.createMany({ data: [row('one', new Date()), row('two', at)] });
  const service = await aService(idp);
  const { items } = (await service.get('/retention')).json<{ items: { kind: string }[] }>();
  const of = (kind: string) => items.find((one) => one.kind === kind);
  const rejected = { setting: null, days: limits.rejections.keepDays, hours: null, more: false };
  expect(of('rejected_requests')).toMatchObject({ ...rejected, oldest: at.toISOString() });
  expect(of('audit_log')).toMatchObject({ setting: 'audit_retention_days', days: 400, more: false });
  expect(of('sessions')).toMatchObject({ setting: 'session_hours', hours: 12, days: null, count: 1 });
  expect(of('directory_deletions')).toMatchObject({ count: 0, oldest: null });

  const text = textOf((await admin.get('/admin/settings/privacy')).text);
  expect(text).toContain('Activity log Days that the activity log is kept 400 days');
  expect(text).toMatch(/Rejected requests 14 days \d+ Mar 4, 2026/);
  expect(text).toContain('Erased at once');
});

it('counts up to a limit, and is for those who may read settings', async () => {
  const { db } = idp.services;
  const [at, expiresAt] = [new Date(), new Date(Date.now() + 3_600_000)];
  const rows = Array.from({ length: limits.lists.counted }, (_, index) => ({
    id: `many-${index}`,
    at,
    endpoint: 'token',
    reason: 'other',
    message: '',
    requestId: 'many',
    data: '{}',
    expiresAt,
  }));
  for (let from = 0; from < rows.length; from += 1000)
    await db.asStored.rejection.createMany({ data: rows.slice(from, from + 1000) });
  const service = await aService(idp);
  const { items } = (await service.get('/retention')).json<{ items: { kind: string }[] }>();
  expect(items.find(({ kind }) => kind === 'rejected_requests')).toMatchObject({
    count: limits.lists.counted,
    more: true,
  });
  expect((await (await aPerson(idp, [])).get('/retention')).status).toBe(403);
});
