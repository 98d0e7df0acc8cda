// The first steps on the overview list what this administrator may do.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from '../console/support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

async function overviewOf(...roles: string[]): Promise<string> {
  const client = await consoleOf(idp, await staff(idp, ...roles));
  return textOf((await client.get('/admin')).text);
}

it('lists every step for an administrator', async () => {
  const text = await overviewOf('admin');
  for (const step of ['Protect your account', 'Set up mail', 'Add your first application'])
    expect(text).toContain(step);
});

it.each(['support', 'auditor'])('lists no step that the role %s can’t do', async (role) => {
  const text = await overviewOf(role);
  expect(text).toContain('First steps');
  for (const step of ['Set up mail', 'first application', 'server’s address', 'Invite people'])
    expect(text).not.toContain(step);
});

it.each(['/dashboard', '/account', '/account/profile', '/account/sessions'])(
  '%s leads to the console',
  async (page) => {
    const leads = async (...roles: string[]) =>
      (await (await consoleOf(idp, await staff(idp, ...roles))).get(page)).text.includes('href="/admin"');
    expect([await leads('support'), await leads()]).toEqual([true, false]);
  },
);

it('are dismissed by one administrator, and brought back', async () => {
  const one = await staff(idp, 'admin');
  const client = await consoleOf(idp, one);
  const page = await client.get('/admin');
  const hidden = await client.follow(await client.submit(page, {}, { button: 'Dismiss' }));
  expect(hidden.url).toBe(`${idp.issuer}/admin`);
  expect(textOf(hidden.text)).not.toContain('Set up mail');
  const { updatedAt } = (await idp.services.accounts.find(one.account.id)) ?? expect.fail();
  expect(updatedAt).toEqual(one.account.updatedAt);
  expect(textOf((await (await consoleOf(idp, one)).get('/admin')).text)).not.toContain('Set up mail');
  expect(await overviewOf('admin')).toContain('Set up mail');
  const back = await client.follow(await client.submit(hidden, {}, { button: 'Show first steps' }));
  expect(textOf(back.text)).toContain('Set up mail');
  expect((await client.post('/admin', { form: { first_steps: 'hide' } })).status).toBe(403);
});
