// What is stored about a person: the page, the download, and what an administrator exports. The tables of the schema are compared with
// what is exported, so that a new column about a person is decided about.
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownTables } from '../../src/account/own-data.ts';
import { consoleOf, signedInLongAgo, staff } from '../admin/console/support.ts';
import { type ApiCaller, aPerson } from '../admin/support.ts';
import { anApplication, signIn } from '../oidc/support.ts';
import { aConnection } from '../scim/support.ts';
import { itOnBothInLongRun } from '../support/database/it-on-sqlite.ts';
import { signRows } from '../support/database/row-macs.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { signedIn } from '../support/pages/account.ts';
import { textOf } from '../support/pages/html.ts';

const schema = {
  type: 'object',
  properties: {
    shirt: { type: 'string', title: 'Shirt', visible_to: ['person', 'desk'] },
    salary: { type: 'number', visible_to: [], editable_by: [] },
  },
};
let idp: TestIdp;
let admin: ApiCaller;
beforeAll(async () => {
  idp = await startIdp();
  await idp.services.settings.set('user_attributes', schema);
  admin = await aPerson(idp, ['admin']);
});
afterAll(() => idp?.stop());

type Export = Record<string, Record<string, unknown>[]> & { profile: Record<string, unknown>; sub: string };

async function download(user: TestUser, signed?: HttpClient): Promise<Export> {
  const browser = signed ?? (await signedIn(idp, user));
  const sent = await browser.submit(await browser.get('/account/data'), {}, { form: '/account/data/download' });
  expect([sent.status, sent.headers['content-disposition']]).toEqual([
    200,
    'attachment; filename="personal-data.json"',
  ]);
  return JSON.parse(sent.text) as Export;
}

/** A person with something in many tables. */
async function somebody(): Promise<TestUser> {
  const attributes = { shirt: 'M', salary: 73519264 };
  const user = await aUser(idp.services, { attributes, phoneNumber: '+491701234567', givenName: 'Ada' });
  const { id } = user.account;
  const { notes, groups, db } = idp.services;
  const group = await groups.create({ name: `Lab of ${user.username}` }, {});
  await groups.addMembers(group.id, [{ userId: id }], {});
  await notes.add(id, 'A secret of the desk', {});
  await db.mailMessage.create({
    data: {
      id,
      recipient: 'ada@example.com',
      subject: 'Hello Ada',
      bodySealed: 'sealed-body',
      nextTryAt: new Date(),
      sentAt: new Date(),
      userId: id,
    },
  });
  await signIn(httpClient(idp.issuer), await anApplication(idp), user);
  return user;
}

describe('the own data', () => {
  it('is displayed, and downloaded whole as JSON without secrets and without what only administrators see', async () => {
    const user = await somebody();
    const { account } = user;
    const browser = await signedIn(idp, user);
    const page = await browser.get('/account/data');
    const text = textOf(page.text);
    for (const shown of [
      account.username,
      account.id,
      'Ada',
      'Shirt',
      '+491701234567',
      `Lab of ${account.username}`,
      'Hello Ada',
    ])
      expect(text).toContain(shown);
    for (const hidden of ['73519264', 'A secret of the desk']) expect(page.text).not.toContain(hidden);

    const data = await download(user, browser);
    expect(data).toMatchObject({
      issuer: idp.issuer,
      sub: account.id,
      profile: { username: account.username, given_name: 'Ada', attributes: { shirt: 'M' } },
      groups: [{ source: 'direct', group: { name: `Lab of ${account.username}` } }],
      emails: expect.arrayContaining([expect.objectContaining({ recipient: 'ada@example.com', subject: 'Hello Ada' })]),
      apps_used: [{ first_used_at: expect.any(String) }],
    });
    expect(data.known_browsers?.length).toBeGreaterThan(0);
    expect(data.sessions?.length).toBeGreaterThan(0);
    expect(data.activity).toContainEqual(
      expect.objectContaining({ type: 'sign-in.completed', by: 'self', about: 'self' }),
    );
    const whole = JSON.stringify(data);
    for (const secret of ['73519264', 'A secret of the desk', 'sealed-body', '$argon2', 'note-added'])
      expect(whole).not.toContain(secret);
    for (const key of ['notes', 'directory_content']) expect(data).not.toHaveProperty(key);
    expect(whole).not.toMatch(/"(mac|[a-z_]*(hash|sealed|secret|token|salt|digest))":/);

    const [event] = await idp.services.audit.list({ types: ['user.exported'], subjectId: account.id });
    expect(event).toMatchObject({ actorId: account.id, outcome: 'success' });
    expect(textOf((await browser.get('/account/activity')).text)).toContain(
      `${account.name} downloaded their own data`,
    );
  });

  itOnBothInLongRun('needs a fresh proof, and can be downloaded a few times a day', async () => {
    const user = await aUser(idp.services);
    const browser = await signedIn(idp, user);
    await idp.services.settings.set('rate_limits', true);
    for (let count = 0; count < 3; count += 1) await download(user, browser);
    const page = await browser.get('/account/data');
    const rejected = await browser.submit(page, {}, { form: '/account/data/download' });
    expect([rejected.status, textOf(rejected.text)]).toEqual([429, expect.stringContaining('several times today')]);
    expect(Number(rejected.headers['retry-after'])).toBeGreaterThan(3600);
    await signedInLongAgo(idp, user);
    for (const sent of [
      await browser.get('/account/data'),
      await browser.submit(page, {}, { form: '/account/data/download' }),
    ])
      expect([sent.status, sent.location]).toEqual([303, expect.stringContaining('/account/confirm/')]);
  });

  itOnBothInLongRun('is exported by an administrator with what the desk writes, which the person learns', async () => {
    const user = await somebody();
    const { account } = user;
    const path = `/users/${account.id}/export`;
    const sent = await admin.send('POST', path, {});
    expect([sent.status, sent.headers['content-type']]).toEqual([200, 'application/json; charset=utf-8']);
    const data = sent.json<Export>();
    expect(data).toMatchObject({
      profile: { attributes: { salary: 73519264 } },
      notes: [{ text: 'A secret of the desk' }],
    });
    const event = { type: 'user.exported', by: 'another person', about: 'self' };
    expect((await download(user)).activity).toContainEqual(expect.objectContaining(event));
    const browser = await signedIn(idp, user);
    expect(textOf((await browser.get('/account/activity')).text)).toContain(
      `An administrator exported ${account.name}’s data`,
    );

    const support = await aPerson(idp, ['support']);
    expect((await support.send('POST', path, {})).status).toBe(403);
    const member = await aPerson(idp, []);
    expect((await member.send('POST', path, {})).status).toBe(403);
  });

  itOnBothInLongRun('is exported in the console', async () => {
    const { account } = await somebody();
    const pages = await consoleOf(idp, await staff(idp, 'admin'));
    const page = await pages.get(`/admin/users/${account.id}`);
    const path = `/admin/users/${account.id}/export`;
    // A link of another website has no effect.
    expect((await pages.get(path)).status).toBe(405);
    expect((await pages.post(path, {})).status).toBe(403);
    expect(await idp.services.audit.list({ types: ['user.exported'], subjectId: account.id })).toEqual([]);
    const sent = await pages.submit(page, {}, { form: path });
    expect(JSON.parse(sent.text)).toMatchObject({ sub: account.id, notes: [{ text: 'A secret of the desk' }] });
  });

  it('has every row, whatever is deleted while it is sent', async () => {
    const { account } = await aUser(idp.services);
    const { db, ownData } = idp.services;
    const groups = Array.from({ length: 260 }, (_, index) => `paging-${String(index).padStart(3, '0')}`);
    await db.asStored.group.createMany({ data: groups.map((id) => ({ id, name: id, path: id, nameKey: id })) });
    // The end of a page is between the two rows of one group.
    const rows = groups.flatMap((groupId, index) =>
      (index === 0 ? ['direct'] : ['direct', 'file']).map((source) => ({ groupId, userId: account.id, source })),
    );
    await db.asStored.groupMember.createMany({ data: rows });
    await signRows(idp.services);
    let text = '';
    for await (const piece of await ownData.export(account, 'person', {})) {
      if (piece.includes('paging-000'))
        await db.asStored.groupMember.deleteMany({ where: { userId: account.id, groupId: { lt: 'paging-100' } } });
      text += piece;
    }
    const exported = (JSON.parse(text) as Export).groups?.map(({ group, source }) => [
      (group as { name: string }).name,
      source,
    ]);
    expect(exported).toEqual(rows.map(({ groupId, source }) => [groupId, source]));
  });

  itOnBothInLongRun(
    'has what a directory sent for administrators only: it may fill fields that nobody else sees',
    async () => {
      const hr = await aConnection(idp);
      const user = await hr.ok('POST', '/Users', { userName: 'directory-person', title: '7771777' });
      const account = await idp.services.accounts.find(String(user.id));
      if (!account) throw new Error('no account');
      for (const audience of ['person', 'desk', 'administrator'] as const) {
        let text = '';
        for await (const piece of await idp.services.ownData.export(account, audience, {})) text += piece;
        expect([audience, text.includes('7771777')]).toEqual([audience, audience === 'administrator']);
      }
    },
  );

  itOnBothInLongRun('says that own fields were too long for the log', async () => {
    const { account } = await aUser(idp.services, { attributes: { shirt: 'M', salary: 73519264 } });
    await idp.services.accounts.update(account.id, { attributes: { shirt: 'L'.repeat(3000), salary: 6000 } }, {});
    for (const audience of ['person', 'administrator'] as const) {
      let text = '';
      for await (const piece of await idp.services.ownData.export(account, audience, {})) text += piece;
      const entry = (JSON.parse(text) as Export).activity?.find(({ type }) => type === 'account.updated');
      expect(entry).toMatchObject({ data: { after: { attributes: '[cut]' } } });
    }
    for (const role of ['admin', 'auditor']) {
      const caller = await aPerson(idp, [role]);
      const list = await caller.get(`/audit?user=${account.id}&type=account.updated`);
      expect([list.status, list.json()]).toMatchObject([
        200,
        { items: [{ data: { after: { attributes: '[cut]' } } }] },
      ]);
      expect((await caller.get('/audit/export')).text).toContain('[cut]');
    }
  });

  it('names nobody else, and not what the person did to others', async () => {
    const [boss, other] = [await aUser(idp.services), await aUser(idp.services)];
    const by = { actorId: boss.account.id };
    await idp.services.accounts.update(other.account.id, { name: 'New Name' }, by);
    const data = (await admin.send('POST', `/users/${boss.account.id}/export`, {})).json<Export>();
    const entry = data.activity?.find(({ type }) => type === 'account.updated');
    expect(entry).toMatchObject({ by: 'self', about: 'another person' });
    expect(JSON.stringify(data)).not.toMatch(new RegExp(`${other.account.id}|New Name`));
    const about = (await download(other)).activity?.find(({ type }) => type === 'account.updated');
    expect(about).toMatchObject({ by: 'another person', about: 'self', data: { after: { name: 'New Name' } } });
    expect(about).not.toHaveProperty('address');
  });
});

// Every column that names a person, by the schema.

/** Model.column -> why it is not in the download. */
const LEFT_OUT: Record<string, string> = {
  'User.email': 'the profile',
  'UserPicture.userId': 'the profile has its address',
  'UserValue.userId': 'the profile has the fields whose values a search finds',
  'ScimAddress.userId': 'the content of the directory has them',
  'UserNote.authorId': 'who wrote a note about another person',
  'ApiKey.createdBy': 'a key of another person',
  'SignUpCode.createdBy': 'of the server',
  'GroupMember.addedBy': 'the membership of another person',
  'GroupOwner.appointedBy': 'the appointment of another person',
  'GroupRequest.decidedBy': 'the request of another person',
  'BulkChange.actor': 'work in progress, deleted after days; the activity has it',
  'SignInAttempt.userId': 'a sign-in in progress, deleted after minutes',
  'StoredForm.userId': 'a form in progress, encrypted, deleted after an hour',
  'RetiredSubject.userId': 'of a deleted account',
  'AuditEvent.actorId': 'the activity',
  'AuditEvent.subjectId': 'the activity',
  'ExternalIdentity.subject': 'with the row',
  'UpstreamSession.subject': 'with the row',
  'MailMessage.recipient': 'with the row',
  'MailMessage.subject': 'with the row',
  'GroupInvitation.email': 'of an invitation that nobody accepted; it is in no account',
  'ProvisionedObject.accepted': 'digests of what an application has',
  'LogoutRun.initiator': 'an application',
};
const NAMES_A_PERSON =
  /^(user|account|actor|subject|author|owner|invited|accepted|added|appointed|decided|created)(Id|By)?$|^recipient$|^email$/;
/** Columns of exported tables that no download has: secrets, proofs, keys of the row, and who else is named. */
const NEVER =
  /^(id|uid|sid|mac|hash|kind|lastStep|publicKey|userCode|consumedAt|payload|completion|covers|accepted|version|claimedUntil|addedBy|appointedBy|decidedBy|createdBy|invitedBy|acceptedBy|isFile)$|(Id|Uid|Key|Hash|Sealed)$/;

function models(): Map<string, string[]> {
  const text = readFileSync('prisma/schema.prisma', 'utf8');
  return new Map(
    [...text.matchAll(/^model (\w+) \{\n([\s\S]*?)^\}/gm)].map(([, name = '', body = '']) => [
      name,
      body.split('\n').flatMap((line) => {
        const [, column, type] = /^ {2}(\w+)\s+(\w+)/.exec(line) ?? [];
        return column && /^(String|Int|BigInt|Boolean|DateTime|Bytes)$/.test(type ?? '') ? [column] : [];
      }),
    ]),
  );
}
const modelName = (model: string) => model.slice(0, 1).toUpperCase() + model.slice(1);

describe('the schema', () => {
  it('has no column that names a person and is neither exported nor left out for a reason', () => {
    const exported = new Set(Object.values(ownTables).map(({ model, by = 'userId' }) => `${modelName(model)}.${by}`));
    const found = [...models()].flatMap(([model, columns]) =>
      columns.filter((column) => NAMES_A_PERSON.test(column)).map((column) => `${model}.${column}`),
    );
    expect(found.filter((one) => !exported.has(one) && !(one in LEFT_OUT))).toEqual([]);
    expect(
      Object.keys(LEFT_OUT).filter(
        (one) =>
          !found.includes(one) &&
          !/^User\.id$/.test(one) &&
          !one.endsWith('actor') &&
          !one.endsWith('subject') &&
          !one.endsWith('initiator'),
      ),
    ).toEqual([]);
  });

  it('has no column of an exported table that is neither exported nor a secret', () => {
    const all = models();
    const missing = Object.values(ownTables).flatMap(({ model }) => {
      const tables = Object.values(ownTables).filter((one) => one.model === model);
      const known = new Set(tables.flatMap(({ columns, by = 'userId' }) => [...columns, by]));
      return (all.get(modelName(model)) ?? expect.fail(model))
        .filter((column) => !known.has(column) && !NEVER.test(column))
        .map((column) => `${model}.${column}`);
    });
    expect([...new Set(missing)]).toEqual([]);
  });
});
