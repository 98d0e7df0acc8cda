// Rejected SCIM requests have a reference, under which administrators find the broken rule; the page of the connection lists them.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { itOnBothInLongRun } from '../support/database/it-on-sqlite.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { linksOf, textOf } from '../support/pages/html.ts';
import { aConnection, type Connection, USER } from './support.ts';

let idp: TestIdp;
let hr: Connection;
beforeAll(async () => {
  idp = await startIdp();
  hr = await aConnection(idp, { name: 'Entra ID' });
});
afterAll(() => idp?.stop());

async function rejected(method: string, path: string, json?: unknown) {
  const { status, detail } = await hr.fails(method, path, json);
  const [, code = ''] = /Reference: (\S+)$/.exec(detail) ?? [];
  return { status, code, found: await idp.services.rejections.find(code) };
}

itOnBothInLongRun('each rejected request is explained by a rule, without the values that it sent', async () => {
  const ann = { schemas: [USER], userName: 'ann@corp.example', displayName: 'Ann Secret' };
  const { id } = await hr.ok('POST', '/Users', ann);
  const addresses = [
    [404, await rejected('GET', '')],
    [404, await rejected('GET', '/Me')],
    [404, await rejected('POST', '/scim/v2/Users', ann)],
    [405, await rejected('DELETE', '/Users')],
  ] as const;
  for (const [status, one] of addresses)
    expect([one.status, one.found?.rules[0]?.rule]).toEqual([status, 'scim_address']);
  const cases = [
    [409, 'scim_unique', await rejected('POST', '/Users', ann)],
    [404, 'scim_resource', await rejected('PUT', '/Users/nobody', ann)],
    [400, 'scim_filter', await rejected('GET', '/Users?filter=salary%20eq%20%221%22')],
    [
      400,
      'scim_request',
      await rejected('PATCH', `/Users/${id}`, { Operations: [{ op: 'add', path: 'salary', value: 'Ann Secret' }] }),
    ],
  ] as const;
  for (const [status, rule, one] of cases) {
    expect([one.status, one.found?.endpoint, one.found?.clientId]).toEqual([status, 'scim', hr.connection.id]);
    expect(one.found?.rules).toMatchObject([{ rule, state: 'failed', expected: expect.any(String) }]);
    expect(JSON.stringify(one.found)).not.toContain('Secret');
  }
  await idp.services.roles.assign(String(id), 'support', {});
  const staffed = await rejected('PUT', `/Users/${id}`, { ...ann, displayName: 'Ann Two' });
  expect([staffed.status, staffed.found?.rules[0]?.rule]).toEqual([403, 'scim_owner']);

  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const home = `/admin/scim/${hr.connection.id}`;
  const list = await admin.get('/admin/rejections');
  expect(linksOf(list.text, list.url)).toContainEqual(
    expect.objectContaining({ label: 'Entra ID', href: expect.stringContaining(home) }),
  );
  const one = await admin.get(`/admin/rejections/${cases[0][2].code}`);
  expect(textOf(one.text)).toContain('Another account already has this name.');
  expect(linksOf(one.text, one.url).map(({ href }) => new URL(href, one.url).pathname)).toContain(home);

  const page = await admin.get(home);
  expect(textOf(page.text)).toContain(cases[0][2].code);
  const links = linksOf(page.text, page.url);
  const hrefOf = (label: string) => links.find((link) => link.label === label)?.href ?? '';
  expect(textOf((await admin.get(hrefOf('All rejected requests'))).text)).toContain(cases[0][2].code);
  const log = await admin.get(hrefOf('All changes'));
  expect(textOf(log.text)).toContain('Entra ID added Ann Secret');
  expect(textOf(log.text)).not.toContain('signed in');
});

itOnBothInLongRun('a client that looks whether someone exists is explained nothing', async () => {
  for (const path of ['/Users/nobody', '/Groups/nobody'])
    expect(await hr.fails('GET', path)).toMatchObject({
      status: 404,
      detail: expect.not.stringContaining('Reference'),
    });
});

it('a connection has a budget of its own, and a reference leads to what is stored', async () => {
  const { perHour } = limits.rejections;
  const [one, other] = [await aConnection(idp), await aConnection(idp)];
  const fail = async (client: Connection) => {
    const { detail } = await client.fails('PUT', '/Users/nobody', { userName: 'nobody' });
    return /Reference: (\S+)$/.exec(detail)?.[1];
  };
  // Lookups do not use it up.
  for (let number = 0; number < 5; number += 1) await one.send('GET', `/Users/nobody${number}`);
  const codes: (string | undefined)[] = [];
  for (let number = 0; number < perHour + 2; number += 1) codes.push(await fail(one));
  expect(codes.slice(perHour)).toEqual([undefined, undefined]);
  for (const code of [codes[0], codes[perHour - 1]])
    expect(await idp.services.rejections.find(code ?? '')).toMatchObject({ clientId: one.connection.id });
  expect(await idp.services.rejections.find((await fail(other)) ?? '')).toMatchObject({
    clientId: other.connection.id,
  });
  // The page and the API say how many more there were.
  const more = '2 more requests were rejected, and not stored.';
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const { id } = one.connection;
  const pages = [`/admin/scim/${id}`, `/admin/rejections?client=${id}`];
  for (const path of pages) expect(textOf((await admin.get(path)).text)).toContain(more);
  await fail(one);
  for (const path of pages) expect(textOf((await admin.get(path)).text)).toContain(more.replace('2', '3'));
  const { rejections } = await idp.services.rejections.list({ clientId: id, limit: 5 });
  expect(rejections.filter(({ reason }) => reason === 'not_stored')).toMatchObject([{ received: { count: '3' } }]);
  const about = await admin.get(`/admin/rejections/${rejections[0]?.code}`);
  expect([about.status, textOf(about.text)]).toEqual([200, expect.stringContaining(more.replace('2', '3'))]);
  // Nor does it use up the budget of its network.
  const request = { requestId: 'r', address: '127.0.0.1', userAgent: '' };
  const rejection = { endpoint: 'token', reason: 'invalid_client', message: 'x', received: {}, rules: [] } as const;
  const code = idp.services.rejections.record(request as never, rejection);
  expect(await idp.services.rejections.find(code)).toMatchObject({ reason: 'invalid_client' });
});

itOnBothInLongRun('a request without a valid token is none of a connection, and is not recorded', async () => {
  const page = await hr.send('GET', '/Users', undefined, { authorization: 'Bearer wrong' });
  expect(page.status).toBe(401);
  expect(page.text).not.toContain('Reference');
});

it('a body that is no object is rejected, and explained', async () => {
  for (const body of [0, false, '', 1, 'ann', ['ann']])
    for (const [method, path] of [
      ['POST', '/Users'],
      ['PATCH', '/Users/nobody'],
    ] as const) {
      const one = await rejected(method, path, body);
      expect([one.status, one.found?.rules[0]?.rule], JSON.stringify(body)).toEqual([400, 'scim_request']);
    }
});
