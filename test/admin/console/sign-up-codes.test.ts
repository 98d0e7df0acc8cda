// The pages of sign-up codes: create with a fresh sign-in, copy the code, find it in the list, revoke it.
import { beforeAll, expect, it } from 'vitest';
import type { TestUser } from '../../support/factories.ts';
import type { HttpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { textOf } from '../../support/pages/html.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { confirmation, consoleOf, signedInLongAgo, signInAgain, staff } from './support.ts';

const HOME = '/admin/security/sign-up-codes';

let idp: TestIdp;
let ann: TestUser;
let console: HttpClient;
beforeAll(async () => {
  idp = await sharedIdp();
  ann = await staff(idp, 'admin');
  console = await consoleOf(idp, ann);
});

it('the page of sign-up codes creates a code after a fresh sign-in, displays it in this session, and revokes it', async () => {
  expect((await console.get('/admin/security/sign-up')).text).toContain(HOME);
  await signedInLongAgo(idp, ann);
  const form = await console.get(`${HOME}/new`);
  const input = { name: 'Partners of Ann', max_uses: '20', expires_in_days: '7' };
  const confirm = await confirmation(console, await console.submit(form, input));
  expect(textOf(confirm.text)).toContain('create the sign-up code Partners of Ann');
  const again = await signInAgain(console, confirm, ann);
  const created = await console.follow(await console.submit(again, input));
  expect([created.status, created.headers['cache-control']]).toEqual([200, expect.stringContaining('no-store')]);
  const [text = ''] = /[0-9a-hjkmnp-tv-z]{4}(-[0-9a-hjkmnp-tv-z]{4}){2}/.exec(textOf(created.text)) ?? [];
  const found = await idp.services.signUpCodes.find(text);
  expect(found).toMatchObject({ code: { name: 'Partners of Ann', maxUses: 20, createdBy: ann.account.id } });

  expect((await console.get(created.url)).text).toContain(text);
  const list = await console.get(HOME);
  expect(list.text).not.toContain(text);
  expect(textOf(list.text)).toMatch(/These codes have no effect now.*Partners of Ann.*0 of 20.*Valid/s);
  const id = 'code' in found ? found.code.id : '';
  const revoked = await console.follow(await console.submit(await console.get(`${HOME}/${id}/revoke`), {}));
  expect(textOf(revoked.text)).toContain('Sign-up code Partners of Ann revoked.');
  expect(await idp.services.signUpCodes.find(text)).toEqual({ fault: 'unknown' });
  const events = await idp.services.audit.list({
    actorId: ann.account.id,
    types: ['sign-up-code.created', 'sign-up-code.revoked'],
  });
  expect(events.map(({ data }) => data.name)).toEqual(['Partners of Ann', 'Partners of Ann']);
});

it('the page of sign-up codes says what is wrong at the field', async () => {
  const form = await console.get(`${HOME}/new`);
  expect(form.text).toMatch(/<option value="30" selected/);
  const wrong = await console.submit(form, { name: ' ', max_uses: '0', expires_in_days: '7' });
  expect(wrong.status).toBe(400);
  expect(textOf(wrong.text)).toMatch(/Enter a name\..*must be a whole number between 1 and 100,000\./s);
  await idp.services.signUpCodes.create({ name: 'Taken', maxUses: 1, days: 1 }, {});
  const taken = await console.submit(form, { name: 'Taken', max_uses: '1', expires_in_days: '7' });
  expect([taken.status, textOf(taken.text)]).toEqual([409, expect.stringContaining('There is already a sign-up code')]);
});

it('the page of sign-up codes is for those who may see settings, and changes for those who may change them', async () => {
  const { code } = await idp.services.signUpCodes.create({ name: 'Read only', maxUses: 1, days: 1 }, {});
  const auditor = await consoleOf(idp, await staff(idp, 'auditor'));
  const list = await auditor.get(HOME);
  expect(textOf(list.text)).toContain('Read only');
  expect(list.text).not.toContain(`${HOME}/new`);
  for (const path of [`${HOME}/new`, `${HOME}/${code.id}/revoke`]) expect((await auditor.get(path)).status).toBe(403);
  expect((await (await consoleOf(idp, await staff(idp, 'user-manager'))).get(HOME)).status).toBe(403);
});
