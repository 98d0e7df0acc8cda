// The number beside an entry of the navigation.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startIdp, type TestIdp } from '../../../support/idp.ts';
import { consoleOf, staff } from '../support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

it('has the number of rejected requests of the last day, for administrators who may read them', async () => {
  for (let count = 0; count < 2; count += 1) await fetch(`${idp.issuer}/authorize?client_id=unknown`);
  const entry = /href="\/admin\/refusals"[^>]*>.*?Rejected requests(.*?)<\/a>/s;
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  for (const page of ['/admin', '/admin/apis', '/admin/refusals']) {
    const [, badge = ''] = entry.exec((await admin.get(page)).text) ?? [];
    expect(badge.replace(/<[^>]*>/g, ''), page).toBe('2 in the last 24 hours');
  }
  const manager = await consoleOf(idp, await staff(idp, 'application-manager'));
  expect((await manager.get('/admin/applications')).text).not.toContain('in the last 24 hours');
});
