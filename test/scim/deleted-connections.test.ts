// What becomes of the people of a connection that is deleted: its own are managed here, and those whom it deleted are deleted at their date.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseFile } from '../../src/config-file/file.ts';
import { createScimUsers } from '../../src/protocols/scim/users.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { aService } from '../admin/support.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';
import { aConnection, clientOf, setDeletedDaysAgo } from './support.ts';

let idp: TestIdp;
beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

let count = 0;
async function aPerson(client: Pick<ReturnType<typeof clientOf>, 'ok'>) {
  count += 1;
  const userName = `former${count}@corp.example`;
  const sent = { userName, emails: [{ value: userName, primary: true }], externalId: `former-${count}` };
  const { id } = await client.ok('POST', '/Users', sent);
  return { id: String(id), path: `/Users/${String(id)}`, sent };
}
/** Both jobs. */
async function runJobs(): Promise<void> {
  const { deleteOld, follow } = createScimUsers(idp.services);
  const { signal } = new AbortController();
  await follow.run(signal);
  await deleteOld.run(signal);
  await follow.run(signal);
}
const accountOf = ({ id }: { id: string }) => idp.services.accounts.find(id);

it('whom the directory deleted is deleted at the same date, unless an administrator keeps them', async () => {
  const { accounts, db, scimConnections } = idp.services;
  const hr = await aConnection(idp, { name: 'Former HR' });
  const { id: connectionId } = hr.connection;
  const [here, old, recent, kept] = await Promise.all([aPerson(hr), aPerson(hr), aPerson(hr), aPerson(hr)]);
  for (const { path } of [old, recent, kept]) expect((await hr.send('DELETE', path)).status).toBe(204);
  await setDeletedDaysAgo(idp, recent.id, 29);

  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  expect(textOf((await admin.get(`/admin/scim/${connectionId}`)).text)).toContain('People whom it deleted 3');
  const question = await admin.get(`/admin/scim/${connectionId}/delete`);
  expect(textOf(question.text)).toContain('3 people whom the directory deleted stay disabled, and are deleted 30 days');
  await scimConnections.remove(connectionId, {});
  // Not before: the server has the job too.
  await setDeletedDaysAgo(idp, old.id, 31);
  expect((await hr.send('GET', '/Users')).status).toBe(401);
  expect((await admin.get(`/admin/scim/${connectionId}`)).status).toBe(404);
  const [event] = await idp.services.audit.list({ types: ['scim-connection.deleted'], limit: 1 });
  expect(event?.data).toMatchObject({ connectionId, leavers: 3 });

  const page = await admin.get(`/admin/users/${recent.id}`);
  expect(textOf(page.text)).toContain('Former HR, a SCIM connection that no longer exists, deleted this user');
  expect(page.text).not.toContain(`/admin/scim/${connectionId}`);
  // At once, before a job.
  expect(await accounts.update(here.id, { name: 'Here' }, {})).toMatchObject({ name: 'Here' });
  await accounts.setActive(kept.id, true, {});
  await runJobs();
  expect(await Promise.all([here, old, recent, kept].map(accountOf))).toMatchObject([
    { isActive: true },
    undefined,
    { isActive: false },
    { isActive: true },
  ]);
  expect(await db.scimUser.findMany({ where: { connectionId } })).toMatchObject([{ userId: recent.id }]);
  await setDeletedDaysAgo(idp, recent.id, 31);
  await runJobs();
  expect(await accountOf(recent)).toBeUndefined();
  expect(await db.scimConnection.findUnique({ where: { id: connectionId } })).toBeNull();
  const { send } = await aService(idp);
  expect((await send('GET', `/users/${here.id}`)).json()).toMatchObject({ directory: null });
});

it('another connection with the same name takes over the people of the deleted one, also before the job', async () => {
  const { scimConnections, db } = idp.services;
  const former = await aConnection(idp, { name: 'Same name' });
  const [here, left] = [await aPerson(former), await aPerson(former)];
  expect((await former.send('DELETE', left.path)).status).toBe(204);
  await scimConnections.remove(former.connection.id, {});
  const next = await aConnection(idp, { name: 'Same name', adopt: 'owned_domains' });
  await expect(aConnection(idp, { name: 'Same name' })).rejects.toMatchObject({ status: 409 });
  for (const one of [here, left]) expect(await next.ok('POST', '/Users', one.sent)).toMatchObject({ id: one.id });
  await runJobs();
  const { id: connectionId } = next.connection;
  expect(await db.scimUser.count({ where: { connectionId, deletedAt: null } })).toBe(2);
  // No connection enables whom another one disabled.
  expect([await accountOf(here), await accountOf(left)]).toMatchObject([{ isActive: true }, { isActive: false }]);
  expect(await db.scimConnection.findUnique({ where: { id: former.connection.id } })).toBeNull();
});

it('a connection that comes back to the configuration file has those again whom it deleted', async () => {
  const token = 'c'.repeat(40);
  const yaml = `scim:\n  - id: back\n    name: Back\n    token: ${token}\n    owned_domains: [corp.example]\n`;
  const apply = (text: string) =>
    idp.services.configFile.apply({ ...parseFile(text), path: '/nowhere/gatehouse.yaml' });
  expect(await apply(yaml)).toMatchObject({ ok: true });
  const back = clientOf(idp, token);
  const [here, left] = [await aPerson(back), await aPerson(back)];
  expect((await back.send('DELETE', left.path)).status).toBe(204);
  expect(await apply('scim: []\n')).toMatchObject({ ok: true });
  await runJobs();
  expect((await back.send('GET', '/Users')).status).toBe(401);
  expect(await apply(yaml)).toMatchObject({ ok: true });
  expect(await back.ok('POST', '/Users', left.sent)).toMatchObject({ id: left.id, active: true });
  expect((await back.fails('POST', '/Users', here.sent)).status).toBe(409);
  await runJobs();
  expect(await accountOf(left)).toMatchObject({ isActive: true });
});
