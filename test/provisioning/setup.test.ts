// How provisioning is declared: in the file, by forms and commands; and how requests look that go to software made for Entra ID.
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { withDefaults } from '../../src/applications/fields/provisioning.ts';
import { exportConfiguration } from '../../src/config-file/export.ts';
import { parseFile } from '../../src/config-file/file.ts';
import { applicationEntry } from '../../src/config-file/sections/applications.ts';
import { attributesOfUser, changeOf, membersChange, newUser } from '../../src/protocols/provisioning/attributes.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { aService } from '../admin/support.ts';
import { aConnection } from '../scim/support.ts';
import { testFolder } from '../support/database/database.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf } from '../support/pages/html.ts';
import { aGate, aTarget, settle } from './support.ts';

let idp: TestIdp;
let other: TestIdp;
beforeAll(async () => {
  [idp, other] = await Promise.all([startIdp(), startIdp()]);
});
afterAll(() => Promise.all([idp?.stop(), other?.stop()]));

const DEPARTMENT = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department';

it('a person and changes of it, as SCIM 2.0 and as Entra ID sends them', async () => {
  const { account } = await aUser(idp.services, { username: 'ann', givenName: 'Ann' });
  const person = { ...account, groupNames: [], attributes: { department: 'Sales', floor: 3, on: true } };
  const provision = withDefaults({
    url: 'https://crm.example.com/scim',
    attributes: {
      [DEPARTMENT]: 'attributes.department',
      'phoneNumbers[type eq "work"].value': 'phone_number',
      nickName: 'attributes.on',
    },
  });
  const attributes = attributesOfUser(person, provision, 'sub-1');
  expect(newUser(attributes)).toEqual({
    schemas: [
      'urn:ietf:params:scim:schemas:core:2.0:User',
      'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User',
    ],
    userName: 'ann',
    externalId: 'sub-1',
    displayName: 'Ann Example',
    name: { formatted: 'Ann Example', givenName: 'Ann' },
    emails: [{ type: 'work', primary: true, value: 'ann@example.com' }],
    'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User': { department: 'Sales' },
    nickName: true,
    active: true,
  });
  const changed = ['emails[type eq "work"].value', 'name.familyName', DEPARTMENT, 'nickName'];
  const operations = (dialect: 'standard' | 'entra') =>
    changeOf(changed, attributes, { dialect, active: false })?.Operations;
  expect(operations('standard')).toEqual([
    { op: 'remove', path: 'name.familyName' },
    { op: 'replace', path: DEPARTMENT, value: 'Sales' },
    { op: 'replace', path: 'nickName', value: true },
    { op: 'replace', path: 'emails', value: [{ type: 'work', primary: true, value: 'ann@example.com' }] },
    { op: 'replace', path: 'active', value: false },
  ]);
  expect(operations('entra')).toEqual([
    { op: 'Replace', path: 'emails[type eq "work"].value', value: 'ann@example.com' },
    { op: 'Remove', path: 'name.familyName' },
    { op: 'Replace', path: DEPARTMENT, value: 'Sales' },
    { op: 'Replace', path: 'nickName', value: 'True' },
    { op: 'Replace', path: 'active', value: 'False' },
  ]);
  expect(membersChange('remove', ['1', '2'], 'entra').Operations).toEqual([
    { op: 'Remove', path: 'members', value: [{ value: '1' }, { value: '2' }] },
  ]);
  expect(membersChange('remove', ['1'], 'standard').Operations).toEqual([
    { op: 'remove', path: 'members[value eq "1"]' },
  ]);
  // An address that nobody proved could be that of another user there.
  const unproven = attributesOfUser({ ...person, emailVerified: false }, { ...provision, user_name: 'email' }, 'sub-1');
  expect([unproven.has('userName'), [...unproven.keys()].some((key) => key.startsWith('emails'))]).toEqual([
    false,
    false,
  ]);
});

it('the form, the preview and the test of the connection', async () => {
  const { gate, applicationId, connection } = await aTarget(idp, other, { role: 'form', dialect: 'entra' });
  await settle(idp);
  const { applications, provisioning } = idp.services;
  await provisioning.decide(await applications.get(applicationId), 'pause', {});
  const { account } = await aUser(idp.services, { username: 'formal' });
  await idp.services.roles.assign(account.id, 'form');
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const at = `/admin/applications/${applicationId}/provisioning`;
  const preview = await admin.get(`${at}/preview`);
  expect(textOf(preview.text)).toContain('formal');
  const page = await admin.get(at);
  expect(page.status).toBe(200);
  expect(page.text).not.toContain(connection.token);
  expect(textOf(page.text)).toContain('Further attributes');
  const sent = await admin.submit(page, { 'provision.max_leavers_percent': '50' });
  expect(sent.status, sent.text).toBe(303);
  const stored = await idp.services.applications.get(applicationId);
  expect(applicationEntry(stored).provision).toMatchObject({ max_leavers_percent: 50, dialect: 'entra' });
  expect(JSON.stringify(applicationEntry(stored))).not.toContain(connection.token);
  await provisioning.decide(stored, 'resume', {});
  await settle(idp);
  expect((await connection.find('userName eq "formal"')).Resources).toMatchObject([{ active: true }]);
  await idp.services.accounts.setActive(account.id, false);
  await settle(idp);
  expect((await connection.find('userName eq "formal"')).Resources).toMatchObject([{ active: false }]);
  expect(idp.log.join('')).not.toContain(connection.token);
  await idp.services.applications.remove(applicationId);
  await gate.close();
});

it('nothing is sent before an administrator has entered the address, seen the preview and resumed', async () => {
  const { gate, connection, applicationId } = await aTarget(idp, other, { role: 'first' });
  const { account } = await aUser(idp.services, { username: 'first' });
  await idp.services.roles.assign(account.id, 'first');
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const at = `/admin/applications/${applicationId}/provisioning`;
  await admin.submit(await admin.get(at), { 'provision.url': '' });
  await settle(idp);
  gate.sent.length = 0;
  const address = { 'provision.url': `${gate.url}/scim/v2/`, 'provision.token': connection.token };
  const saved = await admin.follow(await admin.submit(await admin.get(at), address));
  expect(textOf(saved.text)).toContain('Paused by an administrator.');
  const { applications, provisioning, wake, db } = idp.services;
  const waiting = async () => {
    wake('provisioning', db);
    return (await provisioning.state(await applications.get(applicationId))).waiting;
  };
  await expect.poll(waiting).toBe(1);
  expect(gate.sent).toEqual([]);
  expect(textOf((await admin.get(`${at}/preview`)).text)).toContain('first');
  await admin.submit(await admin.get(at), {}, { button: 'Resume' });
  await settle(idp);
  expect((await connection.find('userName eq "first"')).Resources).toMatchObject([{ active: true }]);
  await idp.services.applications.remove(applicationId);
  await gate.close();
});

it('another address begins paused too, and a pause stays with an address by the API', async () => {
  const { gate, applicationId } = await aTarget(idp, other, { role: 'moved' });
  const { account } = await aUser(idp.services, { username: 'moved' });
  await idp.services.roles.assign(account.id, 'moved');
  await settle(idp);
  expect(gate.sent.length).toBeGreaterThan(0);
  const connection = await aConnection(other);
  const second = await aGate(other.issuer);
  const admin = await consoleOf(idp, await staff(idp, 'admin'));
  const at = `/admin/applications/${applicationId}/provisioning`;
  const { applications, provisioning, wake, db } = idp.services;
  const state = async () => provisioning.state(await applications.get(applicationId));
  // It is at the new address with the first person who waits.
  const begun = async () => {
    wake('provisioning', db);
    const row = await db.provisioningTarget.findUnique({ where: { applicationId } });
    return [row?.url, (await state()).waiting];
  };
  // A pause after failures is about the old address.
  await db.provisioningTarget.updateMany({
    where: { applicationId },
    data: { pausedAt: new Date(), pausedBy: 'failures' },
  });
  const address = { 'provision.url': `${second.url}/scim/v2`, 'provision.token': connection.token };
  const saved = await admin.follow(await admin.submit(await admin.get(at), address));
  expect(textOf(saved.text)).toContain('until then nothing is sent');
  expect(textOf(saved.text)).toContain('Paused by an administrator.');
  await expect.poll(() => begun()).toEqual([address['provision.url'], 1]);
  expect([second.sent, (await state()).pausedBy]).toEqual([[], 'administrator']);
  expect(textOf((await admin.get(`${at}/preview`)).text)).toContain('moved');

  const third = `${second.url}/third`;
  const moved = { provision: { url: third, token: connection.token } };
  const service = await aService(idp);
  expect((await service.send('PATCH', `/applications/${applicationId}`, moved, { 'if-match': '*' })).status).toBe(200);
  await expect.poll(() => begun()).toEqual([third, 1]);
  expect(second.sent).toEqual([]);
  // And one that was paused is not paused twice.
  expect((await admin.submit(await admin.get(at), address)).status).toBe(303);
  await expect.poll(() => begun()).toEqual([address['provision.url'], 1]);
  await admin.submit(await admin.get(at), {}, { button: 'Resume' });
  await settle(idp);
  expect(second.sent.map(({ method }) => method)).toContain('POST');
  await applications.remove(applicationId);
  await Promise.all([gate.close(), second.close()]);
});

it('the configuration file declares it with a token in a file, and a second apply changes nothing', async () => {
  const { configFile, provisioning, applications } = idp.services;
  const folder = testFolder();
  await writeFile(path.join(folder, 'crm-token'), 'a-first-token\n');
  const yaml = `clients:
  - client_id: crm-of-file
    client_secret: ${'s'.repeat(40)}
    redirect_uris: [https://crm.example.com/cb]
    provision:
      url: https://crm.example.com/scim/v2/
      token_file: crm-token
proxied_applications:
  - { name: Wiki, url: https://wiki.example.com, proxy: caddy, provision: { url: https://wiki.example.com/scim, token: other-token } }
`;
  const file = (text: string) => ({ ...parseFile(text), path: path.join(folder, 'gatehouse.yaml') });
  expect(await configFile.apply(file(yaml))).toMatchObject({ ok: true });
  expect(await configFile.plan(file(yaml))).toMatchObject({ ok: true, plan: { steps: [] } });
  const crm = await applications.find('crm-of-file');
  expect(crm?.metadata.provision).toEqual({ url: 'https://crm.example.com/scim/v2' });
  expect(await applications.provisioningTokens.find(crm?.id ?? '')).toBe('a-first-token');
  const exported = await exportConfiguration(idp.services, { only: ['clients', 'proxied_applications'] });
  expect(exported).toContain('https://wiki.example.com/scim');
  expect(exported).not.toMatch(/a-first-token|other-token/);
  await writeFile(path.join(folder, 'crm-token'), 'a-second-token');
  const plan = await configFile.plan(file(yaml));
  expect(JSON.stringify(plan)).toContain('provision.token');
  expect(JSON.stringify(plan)).not.toContain('second');
  await configFile.apply(file('clients: []\n'));
  if (crm) await expect(provisioning.state({ ...crm, metadata: {} } as never)).rejects.toThrow();
});
