// What the activity log says about the first start.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { aUser } from '../../support/factories.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { linksOf, textOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from '../console/support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

it('has people invited once not everybody else still needs an invitation', async () => {
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const { accounts } = idp.services;
  // The administrator of the first start.
  await accounts.remove((await accounts.findByLogin('admin'))?.id ?? '');
  const empty = await admin.get('/admin');
  const link = linksOf(empty.text, empty.url).find(({ label }) => label === 'Import users');
  expect(textOf((await admin.get(link?.href ?? '')).text)).toContain('Create, update and disable many users');
  const { id } = await accounts.create({ username: 'imported' });
  const page = textOf((await admin.get('/admin')).text);
  for (const words of ['Users without an invitation can’t sign in yet.', 'Invite them']) expect(page).toContain(words);
  expect(page).not.toContain('Add a user with a role');
  await aUser(idp.services);
  expect(textOf((await admin.get('/admin')).text)).not.toContain('Invite them');
  await accounts.remove(id);
});

it('has one item for all signing keys, with the event of each in its details', async () => {
  const kids = Array.from({ length: 11 }, (_, index) => `first-key-${index}`);
  for (const kid of kids)
    await idp.services.audit.record({
      type: 'key.created',
      outcome: 'success',
      data: { kid, use: 'oidc', alg: 'RS256', state: 'active', scheduled: true },
    });
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const { text } = await admin.get('/admin/audit?type=key.created');
  expect(textOf(text).match(/created a signing key|A signing key was created/gi)).toHaveLength(1);
  expect(textOf(text)).toContain('11 times');
  for (const kid of kids) expect(text).toContain(kid);
});
