// The access check of the console: lockout and access rule of an account at an application.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import { aClient, aUser } from '../support/factories.ts';
import { failSignIn } from '../support/failed-sign-in.ts';
import type { HttpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';

let idp: TestIdp;
let admin: HttpClient;
beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});
afterAll(() => idp?.stop());

async function checkOf(username: string, clientId: string): Promise<string> {
  return textOf((await admin.get(`/admin/why?${new URLSearchParams({ user: username, app: clientId })}`)).text);
}

describe('the access check', () => {
  it.each(['username', 'email'] as const)('shows an account that is locked by its %s', async (login) => {
    const { clientId } = await aClient(idp.services, { redirect_uris: ['https://app.example.com/cb'] });
    const { account, username } = await aUser(idp.services);
    expect(await checkOf(username, clientId)).not.toContain('Too many wrong passwords');
    for (let attempt = 0; attempt < 6; attempt += 1) {
      await failSignIn(idp.services.lockout, { login: account[login] ?? '', address: `192.0.2.${attempt}` });
    }
    const page = await checkOf(username, clientId);
    expect(page).toContain('Too many wrong passwords: a new browser waits another');
    // Lockout holds up one new browser; it takes no access away.
    expect(page).toContain(`${username} may open`);
  });

  it('denies access to a disabled account and to a disabled application', async () => {
    const { clientId, applicationId } = await aClient(idp.services, { redirect_uris: ['https://app.example.com/cb'] });
    const { account, username } = await aUser(idp.services);
    await idp.services.applications.setEnabled(applicationId, false);
    expect(await checkOf(username, clientId)).toContain(`${username} may not open`);
    await idp.services.applications.setEnabled(applicationId, true);
    await idp.services.accounts.setActive(account.id, false);
    expect(await checkOf(username, clientId)).toContain(`${username} may not open`);
  });
});
