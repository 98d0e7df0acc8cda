// Who gets into the console, and what they see there: least privilege, the second factor, nobody from outside.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aUser } from '../support/factories.ts';
import { linksOf } from '../support/html.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { consoleOf, staff } from './support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

const navigationOf = (html: string) =>
  linksOf(/<nav class="navigation"[\s\S]*?<\/nav>/.exec(html)?.[0] ?? '', idp.issuer).map(({ label }) => label);

describe('the way in', () => {
  it('leads strangers to the sign-in, and people without a role in Gatehouse away', async () => {
    const stranger = httpClient(idp.issuer);
    expect((await stranger.get('/admin')).location).toContain('/login?return_to=%2Fadmin');
    const person = await consoleOf(idp, await staff(idp));
    const refused = await person.get('/admin');
    expect(refused.status).toBe(403);
    expect(refused.text).not.toContain('class="navigation"');
  });

  it('asks for the second factor where the account has one, and not where it has none', async () => {
    const admin = await staff(idp, 'admin');
    const before = await consoleOf(idp, admin);
    expect((await before.get('/admin')).status).toBe(200);
    const { totp } = idp.services.mfa;
    const { secret, sealed } = totp.begin(admin.account);
    await totp.confirm(admin.account, sealed, generateSync({ secret }));
    // The session that was there is not strong enough any more.
    expect((await before.get('/admin')).location).toContain('acr_values=');
  });
});

describe('what roles see', () => {
  it('shows an admin everything', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const page = await admin.get('/admin');
    expect(navigationOf(page.text)).toEqual(expect.arrayContaining(['Applications', 'Users', 'Keys', 'Settings']));
    expect(page.text).toContain('Sign-ins by application');
  });

  it('shows support only what helps people who cannot get in', async () => {
    const support = await consoleOf(idp, await staff(idp, 'support'));
    const labels = navigationOf((await support.get('/admin')).text);
    expect(labels).toEqual(expect.arrayContaining(['Overview', 'Users', 'Sessions', 'Audit']));
    for (const hidden of ['Applications', 'Keys', 'Settings', 'Mail']) expect(labels).not.toContain(hidden);
  });

  it('leads from what is not there to the list that it would be in', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    for (const list of ['users', 'applications', 'roles', 'refusals']) {
      const page = await admin.get(`/admin/${list}/nothing`);
      expect(page.status).toBe(404);
      expect(linksOf(page.text, page.url).map(({ href }) => href)).toContain(`${idp.issuer}/admin/${list}`);
    }
  });

  it('counts sign-ins and failures of the last days, and says them in words', async () => {
    const { audit } = idp.services;
    const person = await aUser(idp.services);
    for (let count = 0; count < 3; count += 1)
      await audit.record({ type: 'sign-in.password', outcome: 'failure', subjectId: person.account.id });
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const page = await admin.get('/admin');
    expect(page.text).toMatch(/role="img" aria-label="Sign-ins: \d+ signed in and [3-9] attempts failed/);
  });
});
