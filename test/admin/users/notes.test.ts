// Notes of administrators about a user: written, read and deleted by those who may see and change the user, and by nobody else.
import { beforeAll, describe, expect, it } from 'vitest';
import { anApplication, signIn } from '../../oidc/support.ts';
import { aUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { signedIn } from '../../support/pages/account.ts';
import { textOf } from '../../support/pages/html.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { consoleOf, staff } from '../console/support.ts';
import { aPerson } from '../support.ts';

const NOTE = 'Lost the badge twice';
let idp: TestIdp;
beforeAll(async () => {
  idp = await sharedIdp();
});

describe('a note about a user', () => {
  it('is written in the console, read by those who may see the user, and deleted', async () => {
    const user = await aUser(idp.services);
    const at = `/admin/users/${user.account.id}`;
    const browser = await consoleOf(idp, await staff(idp, 'admin'));
    const empty = await browser.submit(await browser.get(at), { text: ' ' });
    expect([empty.status, empty.url]).toEqual([400, expect.stringContaining('/notes')]);
    const added = await browser.submit(await browser.get(at), { text: `${NOTE} <b>` });
    expect(added.status, textOf(added.text)).toBe(303);
    const page = await browser.get(at);
    expect(textOf(page.text)).toContain(NOTE);
    expect(page.text).toContain('&lt;b&gt;');
    const reader = await consoleOf(idp, await staff(idp, 'auditor'));
    const read = await reader.get(at);
    expect(textOf(read.text)).toContain(NOTE);
    expect(read.forms.some(({ action }) => action.includes('/notes'))).toBe(false);
    const remove = page.forms.find(({ action }) => action.endsWith('/delete') && action.includes('/notes/'));
    await browser.post(String(remove?.action), { form: remove?.fields ?? {} });
    expect(textOf((await browser.get(at)).text)).not.toContain(NOTE);
    const log = await idp.services.audit.list({ subjectId: user.account.id, limit: 5 });
    expect(log.slice(0, 2).map(({ type }) => type)).toEqual(['account.note-removed', 'account.note-added']);
    expect(JSON.stringify(log)).not.toContain(NOTE);
  });

  it('reaches neither the user nor an application, and ends with the account', async () => {
    const user = await aUser(idp.services);
    const admin = await aPerson(idp, ['admin']);
    const path = `/users/${user.account.id}/notes`;
    const added = await admin.send('POST', path, { text: NOTE });
    expect(added.status, added.text).toBe(201);
    const { id } = added.json<{ id: string }>();
    expect((await admin.get(path)).json()).toMatchObject({
      items: [{ id, text: NOTE, created_at: expect.any(String) }],
    });
    const browser = await signedIn(idp, user);
    for (const at of ['/account', '/account/profile', '/account/activity']) {
      const { text } = await browser.get(at);
      expect(text).not.toContain(NOTE);
      expect(textOf(text)).not.toMatch(/\bnote\b/);
    }
    const { tokens } = await signIn(httpClient(idp.issuer), await anApplication(idp), user, {
      scope: 'openid profile',
    });
    expect(JSON.stringify(tokens.claims())).not.toContain(NOTE);
    expect((await admin.get(`/users/${user.account.id}`)).text).not.toContain(NOTE);
    expect((await admin.send('DELETE', `/users/${(await aUser(idp.services)).account.id}/notes/${id}`)).status).toBe(
      404,
    );
    await idp.services.accounts.remove(user.account.id);
    expect(await idp.services.db.userNote.count({ where: { id } })).toBe(0);
  });

  it('is hidden from an administrator of others, and not written by one who only reads', async () => {
    const user = await aUser(idp.services);
    const path = `/users/${user.account.id}/notes`;
    const nobody = await aPerson(idp, []);
    expect((await nobody.get(path)).status).toBe(403);
    const many = Array.from({ length: 100 }, (_, at) => ({
      id: `${user.account.id}-${at}`,
      userId: user.account.id,
      text: 'one',
      createdAt: new Date(),
    }));
    await idp.services.db.userNote.createMany({ data: many });
    const admin = await aPerson(idp, ['admin']);
    expect((await admin.send('POST', path, { text: 'one more' })).status).toBe(400);
    expect((await admin.send('POST', path, { text: 'x'.repeat(2001) })).status).toBe(400);
  });
});
