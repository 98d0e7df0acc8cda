// A wrong client secret of a connection: tried when it is saved, and named in "Try it", on the page of the connection and in its state.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { consoleOf, staff } from '../admin/console/support.ts';
import type { HttpClient } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import { anUpstream, type Connected } from './support.ts';

let idp: TestIdp;
let one: Connected;
let admin: HttpClient;

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  one = await anUpstream(idp, {});
  admin = await consoleOf(idp, await staff(idp, 'admin'));
});
afterAll(() => one.remove());

it('is told apart from a wrong code, when it is saved and at a sign-in, until the right one is added', async () => {
  const at = `/admin/connections/${one.connection}`;
  const [right] = await idp.services.connections.decryptedSecrets(one.connection, 'client-secret');
  const add = async (value: string) => {
    const form = await admin.get(`${at}/secret`);
    return textOf((await admin.follow(await admin.submit(form, { purpose: 'client-secret', value }))).text);
  };
  const wrong = await add('not-the-secret-of-this-client');
  expect(wrong).toContain('rejected the client ID or secret.');
  expect(wrong).toContain('Secret rejected');
  const tried = await admin.follow(await admin.submit(await admin.get(at), {}, { form: '/test' }));
  expect(textOf(tried.text)).toContain('The provider rejected the client ID or secret.');
  expect(textOf(tried.text)).not.toContain('WWW-Authenticate');

  const fixed = await add(right?.value ?? '');
  expect(fixed).toContain('Secret added');
  expect(fixed).not.toContain('Secret rejected');
});
