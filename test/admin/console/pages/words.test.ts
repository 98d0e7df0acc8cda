// What the overview, the access check and the list of sessions say.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { anApplication, authorizeUrl, completeSignIn } from '../../../oidc/support.ts';
import { aUser } from '../../../support/factories.ts';
import { failSignIn } from '../../../support/failed-sign-in.ts';
import { type HttpClient, httpClient } from '../../../support/http.ts';
import { startIdp, type TestIdp } from '../../../support/idp.ts';
import { textOf } from '../../../support/pages/html.ts';
import { consoleOf, staff } from '../support.ts';

let idp: TestIdp;
let admin: HttpClient;
beforeAll(async () => {
  idp = await startIdp();
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});
afterAll(() => idp?.stop());

it('the overview says of how many users some have two-step verification, and has locked users only where there are some', async () => {
  const before = textOf((await admin.get('/admin')).text);
  const users = await idp.services.db.user.count();
  expect(before).toContain(`Users with two-step verification 0 of ${users}`);
  expect(before).toContain('Locked now 0');
  expect(before).not.toContain('Locked users');
  const { username } = await aUser(idp.services);
  const browser = httpClient(idp.issuer);
  await browser.submit(await browser.follow(await browser.get('/account')), { username, password: 'a wrong password' });
  for (let attempt = 0; attempt < 6; attempt += 1)
    await failSignIn(idp.services.lockout, { login: username, address: `192.0.2.${attempt}` });
  const after = textOf((await admin.get('/admin')).text);
  expect(after).toContain('Locked now 1');
  expect(after).toMatch(new RegExp(`Locked users .*${username}`));
});

it('the field of the access check has the person by name and email, and finds the person again by that', async () => {
  const { clientId } = await anApplication(idp, { client_name: 'Words' });
  const { username } = await aUser(idp.services, { name: 'Cy (of Sales)', email: 'cy@example.com' });
  const label = 'Cy (of Sales) (cy@example.com)';
  for (const user of [username, 'cy@example.com', label]) {
    const page = await admin.get(`/admin/access-check?${new URLSearchParams({ user, app: clientId })}`);
    expect(page.forms.find(({ fields }) => 'app' in fields)?.fields.user, user).toBe(label);
    expect(textOf(page.text)).toContain('Cy (of Sales) can sign in to Words');
  }
  const unknown = await admin.get(
    `/admin/access-check?${new URLSearchParams({ user: 'Cy (nobody@example.com)', app: clientId })}`,
  );
  expect(unknown.forms.find(({ fields }) => 'app' in fields)?.fields.user).toBe('Cy (nobody@example.com)');
});

it('the applications of a session are tags, so that their names stand apart', async () => {
  const user = await aUser(idp.services);
  const browser = httpClient(idp.issuer);
  for (const client_name of ['First of two', 'Second of two']) {
    const { clientId } = await anApplication(idp, { client_name });
    await completeSignIn(browser, authorizeUrl(idp, clientId), { user });
  }
  for (const path of [`/admin/sessions?user=${user.username}`, `/admin/users/${user.account.id}/sessions`]) {
    const { text } = await admin.get(path);
    const tags = [...text.matchAll(/<a href="\/admin\/applications\/[^"]+" class="tag[^"]*">([^<]+)</g)];
    expect(tags.map(([, name]) => name).sort(), path).toEqual(['First of two', 'Second of two']);
  }
});
