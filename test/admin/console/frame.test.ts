// Access to the console: the sign-in, the second factor, and what each role sees.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aClient, aUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { linksOf } from '../../support/pages/html.ts';
import { consoleOf, staff } from './support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

const navigationOf = (html: string) =>
  linksOf(/<nav class="nav"[\s\S]*?<\/nav>/.exec(html)?.[0] ?? '', idp.issuer).map(({ label }) => label);

describe('the console', () => {
  it('redirects to the sign-in without a session, and denies access without a role in Gatehouse', async () => {
    const withoutSession = httpClient(idp.issuer);
    expect((await withoutSession.get('/admin')).location).toContain('/login?return_to=%2Fadmin');
    const person = await consoleOf(idp, await staff(idp));
    const rejected = await person.get('/admin');
    expect(rejected.status).toBe(403);
    expect(rejected.text).not.toContain('class="nav"');
  });

  it('requires the second factor of accounts that have one', async () => {
    const admin = await staff(idp, 'admin');
    const before = await consoleOf(idp, admin);
    expect((await before.get('/admin')).status).toBe(200);
    const { totp } = idp.services.mfa;
    const { secret, sealed } = totp.begin(admin.account);
    await totp.confirm(admin.account, sealed, generateSync({ secret }));
    // The existing session is no longer strong enough.
    expect((await before.get('/admin')).location).toContain('acr_values=');
  });
});

describe('the navigation and the overview', () => {
  it('show an admin everything', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const page = await admin.get('/admin');
    expect(navigationOf(page.text)).toEqual(
      expect.arrayContaining(['Applications', 'Users', 'Signing keys', 'Settings']),
    );
    expect(page.text).toContain('Sign-ins by application');
  });

  it('list the first steps of a new installation, and a step that is done without its button', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const steps = (html: string) =>
      [...html.matchAll(/<li class="(done|open)">[\s\S]*?<strong>(.*?)<span/g)].map(
        ([, state, title]) => `${title}: ${state}`,
      );
    const page = await admin.get('/admin');
    expect(steps(page.text)).toEqual([
      'Protect your account: open',
      'Choose the server’s address: open',
      'Set up mail: open',
      'Add your first application: open',
      'Invite people: done',
      'Add a second administrator: done',
    ]);
    expect(page.text).toContain('2 of 6 done.');
    const links = linksOf(page.text, page.url).map(({ href }) => href.replace(idp.issuer, ''));
    expect(links).toEqual(expect.arrayContaining(['/account/factors', '/admin/applications/new']));
    const { clientId } = await aClient(idp.services, { redirect_uris: ['https://app.example.com/cb'] });
    expect(steps((await admin.get('/admin')).text)).toContain('Add your first application: done');
    const { id } = await idp.services.db.asStored.application.findUniqueOrThrow({ where: { clientId } });
    await idp.services.applications.remove(id);
    const support = await consoleOf(idp, await staff(idp, 'support'));
    expect(linksOf((await support.get('/admin')).text, page.url).map(({ href }) => href)).not.toContain(
      `${idp.issuer}/admin/applications/new`,
    );
  });

  it('are reached from the portal and the account by those who have a right in Gatehouse', async () => {
    for (const [roles, expected] of [
      [['admin'], true],
      [['support'], true],
      [[], false],
    ] as const) {
      const person = await consoleOf(idp, await staff(idp, ...roles));
      for (const path of ['/dashboard', '/account'])
        expect((await person.follow(await person.get(path))).text.includes('<a href="/admin">')).toBe(expected);
      // The first administrator has no apps, and adds one.
      const empty = (await person.get('/dashboard')).text;
      expect(empty.includes('href="/admin/applications/new"')).toBe(roles.some((role) => role === 'admin'));
    }
  });

  it('show support only what helps users who cannot sign in', async () => {
    const support = await consoleOf(idp, await staff(idp, 'support'));
    const labels = navigationOf((await support.get('/admin')).text);
    expect(labels).toEqual(expect.arrayContaining(['Overview', 'Users', 'Sessions', 'Activity log']));
    for (const hidden of ['Applications', 'Signing keys', 'Settings', 'Email']) expect(labels).not.toContain(hidden);
  });

  it('are linked from a missing entry to its list', async () => {
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    for (const list of ['users', 'applications', 'roles', 'rejections']) {
      const page = await admin.get(`/admin/${list}/nothing`);
      expect(page.status).toBe(404);
      expect(linksOf(page.text, page.url).map(({ href }) => href)).toContain(`${idp.issuer}/admin/${list}`);
    }
  });

  it('count sign-ins and failures of the last days, in words too', async () => {
    const { audit } = idp.services;
    const person = await aUser(idp.services);
    for (let count = 0; count < 3; count += 1)
      await audit.record({ type: 'sign-in.password', outcome: 'failure', subjectId: person.account.id });
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const page = await admin.get('/admin');
    expect(page.text).toMatch(/role="img" aria-label="Sign-ins: \d+ sign-ins? and [3-9] failed attempts/);
  });
});
