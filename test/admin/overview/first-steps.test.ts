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
