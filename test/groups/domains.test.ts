// Groups by proven domain: who joins at a sign-in, who does not, and who leaves when.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ApiCaller, aPerson, aService } from '../admin/support.ts';
import { anUpstream, signInOver } from '../federation/support.ts';
import { anApplication, completeSignIn } from '../oidc/support.ts';
import { testClock } from '../support/clock.ts';
import { itOnBothInLongRun, itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
let admin: ApiCaller;
const clock = testClock();
/** The TXT records of each name; a name server that does not answer throws. */
const records = new Map<string, string[]>();
let isDown = false;
let count = 0;
const fresh = (what: string) => `${what}-${++count}`;
const proof = { emailVerified: true, emailProven: true };

beforeAll(async () => {
  const resolveTxt = async (name: string) => {
    if (isDown) throw new Error('no name server answers');
    return records.get(name) ?? [];
  };
  idp = await startIdp({ now: clock.now, resolveTxt });
  admin = await aService(idp);
});
afterAll(() => idp?.stop());

/** A group with a domain of its own, proven unless `isProven` is false. */
async function aGroup({ isProven = true, domain = `${fresh('lab')}.example` } = {}) {
  const { id, name } = await idp.services.groups.create({ name: fresh('Domain') });
  const at = `/groups/${id}/domains`;
  expect((await admin.send('PUT', `${at}/${encodeURIComponent(domain)}`)).status).toBe(204);
  const found = (await admin.get(at)).json<{ items: Record<string, string>[] }>().items.at(-1) ?? {};
  const prove = async () => {
    records.set(found.record_name ?? '', [found.record_value ?? '']);
    const answer = await admin.send('POST', `${at}/${found.domain}/check`);
    expect(answer.json()).toEqual({ result: 'proven' });
  };
  if (isProven) await prove();
  return { id, name, domain: found.domain ?? '', record: found.record_name ?? '', at, prove };
}
const person = (email: string, more = {}) => aUser(idp.services, { email, ...proof, ...more });
async function signInAs(user: TestUser, path = '/login') {
  const client = httpClient(idp.issuer);
  return completeSignIn(client, path, { user, redirectUri: `${idp.issuer}/auth/callback` });
}
const groupsOf = async ({ account: { id } }: TestUser) =>
  ((await idp.services.accounts.find(id)) ?? expect.fail('no account')).groups.map(({ name }) => name);
async function joined(user: TestUser): Promise<string[]> {
  await signInAs(user);
  return groupsOf(user);
}

describe('a person with a proven address in a proven domain', () => {
  it('joins at sign-in, so that this sign-in opens the application, and the log says why', async () => {
    const lab = await aGroup();
    const application = await anApplication(idp, { access: { roles: [], groups: [lab.name] } });
    const user = await person(`ann@${lab.domain.toUpperCase()}`);
    expect(await groupsOf(user)).toEqual([]);
    const { url } = await application.rp.start();
    const page = await completeSignIn(httpClient(idp.issuer), url, { user });
    expect(page.location).toContain('code=');
    const [event] = await idp.services.audit.list({ types: ['group.member-added'], partyId: user.account.id });
    expect(event).toMatchObject({ actorId: null, data: { groupId: lab.id, via: `domain:${lab.domain}` } });
    expect((await admin.get(`/groups/${lab.id}/members`)).json()).toMatchObject({
      items: [{ user: user.account.id, source: 'domain', source_id: lab.domain }],
    });
    await signInAs(user);
    expect(await idp.services.audit.list({ types: ['group.member-added'], partyId: user.account.id })).toHaveLength(1);
  });

  itOnBothInLongRun(
    'leaves when the address changes, is no longer verified, or is another mailbox that looks alike',
    async () => {
      const { accounts } = idp.services;
      const [lab, other] = [await aGroup(), await aGroup()];
      for (const change of [
        { email: `moved@${other.domain}` },
        { emailVerified: false },
        { email: null },
        { email: `moved@sub.${lab.domain}`, ...proof },
      ]) {
        const user = await person(`${fresh('p')}@${lab.domain}`);
        expect(await joined(user)).toEqual([lab.name]);
        await accounts.update(user.account.id, change);
        expect(await groupsOf(user), JSON.stringify(change)).toEqual([]);
        expect(await joined(user)).toEqual([]);
      }
      const alike = await person(`${fresh('a')}@${lab.domain}`);
      const { email } = alike.account;
      await joined(alike);
      await accounts.update(alike.account.id, { email: (email ?? '').replace(/a/g, 'а') });
      expect(await groupsOf(alike)).toEqual([]);
      // The account keeps "verified", because the names look alike; the proof it does not keep.
      await accounts.update(alike.account.id, { email });
      expect(await joined(alike)).toEqual([]);
      const mover = await person(`${fresh('m')}@${lab.domain}`);
      await joined(mover);
      await accounts.update(mover.account.id, { email: `${fresh('m')}@${other.domain}`, ...proof });
      expect(await groupsOf(mover)).toEqual([]);
      expect(await joined(mover)).toEqual([other.name]);
    },
  );

  itOnSqlite('keeps what another way gives', async () => {
    const lab = await aGroup();
    const user = await person(`both@${lab.domain}`);
    await idp.services.groups.addMembers(lab.id, [{ userId: user.account.id }]);
    await joined(user);
    await admin.send('DELETE', `${lab.at}/${lab.domain}`);
    expect(await groupsOf(user)).toEqual([lab.name]);
    expect(await idp.services.groups.members(lab.id)).toMatchObject([{ source: 'direct' }]);
  });
});

describe('nobody joins', () => {
  itOnSqlite('with an address that only an administrator calls verified, in any way', async () => {
    const lab = await aGroup();
    const manager = await aPerson(idp, ['user-manager']);
    const self = manager.user ?? expect.fail('no user');
    const change = { email: `self@${lab.domain}`, email_verified: true };
    const at = `/users/${self.account.id}`;
    expect((await manager.send('PATCH', at, change, { 'if-match': '*' })).status).toBe(200);
    expect(await joined(self)).toEqual([]);
    const made = await manager.send('POST', '/users', {
      username: fresh('made'),
      email: `made@${lab.domain}`,
      email_verified: true,
      email_proven: true,
    });
    expect(made.status).toBe(400);
    const stated = await aUser(idp.services, { email: `stated@${lab.domain}` });
    expect(await joined(stated)).toEqual([]);
  });

  itOnSqlite('from a subdomain, a parent domain, a look-alike, or a domain inside the name', async () => {
    const lab = await aGroup({ domain: `${fresh('look')}.lab.example` });
    for (const address of [
      `a@sub.${lab.domain}`,
      'a@lab.example',
      `a@${lab.domain.replace('lab', 'lаb')}`, // Cyrillic а
      `a@${lab.domain}.evil.example`,
      `a@x${lab.domain}`,
      `"b@${lab.domain}"@evil.example`,
      `a@${lab.domain.replace('.', '-')}`,
    ]) {
      const user = await person(address, { username: fresh('other') }).catch(() => undefined);
      if (user) expect(await joined(user), address).toEqual([]);
    }
  });

  itOnSqlite('before the domain is proven, nor by a record of another group or connection', async () => {
    const domain = `${fresh('claimed')}.example`;
    const [first, second] = [await aGroup({ domain }), await aGroup({ domain, isProven: false })];
    const user = await person(`x@${domain}`);
    expect(await joined(user)).toEqual([first.name]);
    expect((await admin.send('POST', `${second.at}/${domain}/check`)).json()).toEqual({ result: 'missing' });
    await second.prove();
    expect((await joined(user)).sort()).toEqual([first.name, second.name].sort());
  });

  itOnSqlite('in a group that gives a permission in Gatehouse, however it came to', async () => {
    const { groups, roles } = idp.services;
    const lab = await aGroup();
    await expect(groups.addRole(lab.id, 'auditor')).rejects.toMatchObject({ code: 'group_sensitive' });
    const sensitive = await groups.create({ name: fresh('Sensitive') });
    await groups.addRole(sensitive.id, 'auditor');
    expect((await admin.send('PUT', `/groups/${sensitive.id}/domains/evil.example`)).status).toBe(409);
    await expect(groups.addChild(sensitive.id, lab.id)).rejects.toMatchObject({ code: 'group_sensitive' });
    // A role of the group gets no permission later, but by the file: the sign-in goes on without the group.
    const role = await roles.create({ name: fresh('later'), permissions: [] });
    await groups.addRole(lab.id, role.name);
    const early = await person(`early@${lab.domain}`);
    expect(await joined(early)).toEqual([lab.name]);
    const later = { permissions: ['gatehouse.audit:read'] };
    await expect(roles.update(role.name, later)).rejects.toMatchObject({ code: 'group_sensitive' });
    expect((await idp.services.accounts.find(early.account.id))?.permissions).toEqual([]);
    await roles.update(role.name, { ...later, source: 'file' });
    const late = await person(`late@${lab.domain}`);
    expect((await signInAs(late)).location).toContain('code=');
    expect(await groupsOf(late)).toEqual([]);
    expect(await joined(early)).toEqual([]);
  });
});

describe('a proof', () => {
  it('of a sign-in that runs meanwhile takes nobody in afterwards', async () => {
    const lab = await aGroup();
    const users = await Promise.all(Array.from({ length: 6 }, () => person(`${fresh('race')}@${lab.domain}`)));
    records.delete(lab.record);
    const { groupDomains } = idp.services;
    const request = { address: '127.0.0.1', userAgent: 'test' } as never;
    await Promise.all([
      ...users.map(({ account: { id } }) => groupDomains.signedIn(id, request)),
      groupDomains.check(lab.id, lab.domain),
      ...users.map(({ account: { id } }) => groupDomains.signedIn(id, request)),
    ]);
    expect(await idp.services.groups.members(lab.id)).toEqual([]);
  });

  itOnSqlite('is punycode for an international domain, whose addresses join in both forms', async () => {
    const lab = await aGroup({ domain: 'BÜCHER.example' });
    expect(lab.domain).toBe('xn--bcher-kva.example');
    const user = await person('u@bücher.example', { username: fresh('books') });
    expect(await joined(user)).toEqual([lab.name]);
  });
});

itOnSqlite('a full group takes no other domain, and the file still proves one that it has', async () => {
  const { db, groups, groupDomains } = idp.services;
  const { id: groupId } = await groups.create({ name: fresh('Full') });
  const row = { groupId, challenge: 'unproven', provenAt: null, checkedAt: null };
  await db.groupDomain.createMany({
    data: Array.from({ length: 50 }, (_, i) => ({ ...row, domain: `d${i}.example` })),
  });
  await expect(groupDomains.add(groupId, 'other.example')).rejects.toMatchObject({ code: 'invalid_input' });
  expect(await groupDomains.add(groupId, 'd7.example', { source: 'file' })).toBe(true);
  const proven = (await groupDomains.list(groupId)).filter(({ provenAt }) => provenAt !== null);
  expect(proven.map(({ domain }) => domain)).toEqual(['d7.example']);
});

describe('who may change the domains of a group', () => {
  itOnSqlite('who may change the group: it takes every role of it', async () => {
    const { groups, roles } = idp.services;
    const role = await roles.create({ name: fresh('given'), permissions: [] });
    const lab = await aGroup();
    await groups.addRole(lab.id, role.name);
    const keeper = await roles.create({
      name: fresh('keeper'),
      permissions: ['gatehouse.groups:read', 'gatehouse.groups:write'],
    });
    const actor = await aPerson(idp, [keeper.name]);
    const status = async (method: string, path: string) => (await actor.send(method, path)).status;
    expect(await status('PUT', `${lab.at}/mine.example`)).toBe(403);
    expect(await status('DELETE', `${lab.at}/${lab.domain}`)).toBe(403);
    expect(await status('POST', `${lab.at}/${lab.domain}/check`)).toBe(403);
    expect(await status('GET', lab.at)).toBe(200);
    const owner = await aPerson(idp, []);
    await groups.appointOwner(lab.id, { userId: owner.user?.account.id ?? '' });
    expect((await owner.send('PUT', `${lab.at}/mine.example`)).status).toBe(403);
    expect((await admin.send('PUT', `${lab.at}/not_a_domain`)).status).toBe(400);
    expect((await admin.send('POST', `${lab.at}/none.example/check`)).status).toBe(404);
  });
});

describe('an upstream', () => {
  itOnSqlite('that is trusted proves the address, and another does not', async () => {
    const lab = await aGroup();
    for (const [trusted, expected] of [
      ['verified', [lab.name]],
      ['never', []],
    ] as const) {
      const corp = await anUpstream(idp, { create_users: true, trusted_email: trusted });
      const email = `${fresh('up')}@${lab.domain}`;
      corp.upstream.user = { sub: email, email, email_verified: true };
      await signInOver(idp, corp.connection);
      const account = await idp.services.db.externalIdentity.findFirst({ where: { subject: email } });
      const found = await idp.services.accounts.find(account?.userId ?? '');
      expect(
        found?.groups.map(({ name }) => name),
        trusted,
      ).toEqual(expected);
      await corp.remove();
    }
  });
});

// Last: tokens and sessions end.
describe('a day later', () => {
  it('a proof that is gone ends the memberships, and one that cannot be looked up changes nothing', async () => {
    const { groupDomains } = idp.services;
    const lab = await aGroup();
    const user = await person(`gone@${lab.domain}`);
    await joined(user);
    clock.advance({ hours: 25 });
    isDown = true;
    await groupDomains.checkDue(AbortSignal.timeout(60_000));
    isDown = false;
    expect(await groupsOf(user)).toEqual([lab.name]);
    records.delete(lab.record);
    await groupDomains.checkDue(AbortSignal.timeout(60_000));
    expect(await groupsOf(user)).toEqual([]);
    expect(await joined(user)).toEqual([]);
    const types = ['group.domain-lost', 'group.member-removed'] as const;
    const events = await idp.services.audit.list({ types: [...types], limit: 10 });
    expect(events.filter(({ data }) => data.groupId === lab.id)).toHaveLength(2);
  });
});
