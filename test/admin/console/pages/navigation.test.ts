// The number beside an entry of the navigation.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aClient } from '../../../support/factories.ts';
import { startIdp, type TestIdp } from '../../../support/idp.ts';
import { textOf } from '../../../support/pages/html.ts';
import { consoleOf, staff } from '../support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

it('has the number of rejected requests of the last day, for administrators who may read them', async () => {
  for (let count = 0; count < 2; count += 1) await fetch(`${idp.issuer}/authorize?client_id=unknown`);
  const entry = /href="\/admin\/rejections"[^>]*>.*?Rejected requests(.*?)<\/a>/s;
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  for (const page of ['/admin', '/admin/apis', '/admin/rejections']) {
    const [, badge = ''] = entry.exec((await admin.get(page)).text) ?? [];
    expect(badge.replace(/<[^>]*>/g, ''), page).toBe('2 in the last 24 hours');
  }
  const manager = await consoleOf(idp, await staff(idp, 'application-manager'));
  expect((await manager.get('/admin/applications')).text).not.toContain('in the last 24 hours');
});

it('has no tab that says only which permission is missing', async () => {
  const { applicationId: app } = await aClient(idp.services, { redirect_uris: ['https://app.example.com/cb'] });
  const { id: role } = await idp.services.roles.create({ name: 'payroll', permissions: [] });
  const tabsOf = async (name: string, path: string) =>
    [
      ...(await (await consoleOf(idp, await staff(idp, name))).get(path)).text.matchAll(
        /<nav class="tabs"[\s\S]*?<\/nav>/g,
      ),
    ]
      .map(([tabs]) => textOf(tabs))
      .join();
  expect(await tabsOf('admin', `/admin/applications/${app}`)).toContain('Activity');
  expect(await tabsOf('application-manager', `/admin/applications/${app}`)).toMatch(/Credentials(?!.*Activity)/);
  expect(await tabsOf('auditor', `/admin/roles/${role}`)).toBe('Permissions Members Applications');
  expect(await tabsOf('application-manager', `/admin/roles/${role}`)).toBe('Permissions Applications');
  expect(await tabsOf('user-manager', `/admin/roles/${role}`)).toBe('Permissions Members');
});
