// /api/groups: an owner manages groups through a program, with the rights and limits of the account page and no more.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import type { Group } from '../../src/people/groups/read.ts';
import { adminApi, OWNERS_SCOPE, ownersApi } from '../../src/people/rbac/built-in.ts';
import { type ApiCaller, anOwner, aPerson, aService, aTool, caller, tokenOf } from '../admin/support.ts';
import { anApplication, postAs } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';

let idp: TestIdp;
let count = 0;

beforeAll(async () => {
  idp = await startIdp();
});
afterAll(() => idp?.stop());

async function aGroup(user: TestUser, name = ''): Promise<Group> {
  count += 1;
  const group = await idp.services.groups.create({ name: name || `Group ${count}` });
  await idp.services.groups.appointOwner(group.id, { userId: user.account.id });
  return group;
}
async function aLab(): Promise<{ user: TestUser; group: Group; owner: ApiCaller }> {
  const user = await aUser(idp.services);
  return { user, group: await aGroup(user), owner: await anOwner(idp, user) };
}
const memberIds = async ({ id }: Group) => (await idp.services.groups.members(id)).map(({ userId }) => userId);

describe('an owner', () => {
  it('gets one answer for a person who exists and for one who does not, repeated by its key, 30 times a day', async () => {
    const { group, owner } = await aLab();
    const { username, account } = await aUser(idp.services);
    const path = `/api/groups/${group.id}/members`;
    const add = (login: string, key?: string) =>
      owner.send('POST', path, { login, until: '2099-01-01T00:00:00Z' }, key ? { 'idempotency-key': key } : {});
    const answers = [await add(username, 'a'), await add('nobody-at-all', 'b')];
    expect(answers.map(({ status, text }) => [status, text])).toEqual([
      [204, ''],
      [204, ''],
    ]);
    for (const key of ['a', 'b']) {
      const again = await add(key === 'a' ? username : 'nobody-at-all', key);
      expect([again.status, again.headers['idempotency-replayed']]).toEqual([204, 'true']);
    }
    expect((await add('another', 'a')).status).toBe(422);
    expect(await memberIds(group)).toEqual([account.id]);
    const past = { until: '2001-01-01T00:00:00Z' };
    for (const login of [username, 'nobody-at-all'])
      expect((await owner.send('POST', path, { login, ...past })).status, login).toBe(400);
    for (let tries = 2; tries < limits.rateLimits.groupAdditionsPerAccount.points; tries += 1)
      expect((await add(`guess-${tries}`)).status).toBe(204);
    expect((await add('one-more')).status).toBe(429);
    expect((await owner.send('POST', `/api/groups/${group.id}/invitations`, { email: 'x@example.com' })).status).toBe(
      429,
    );
  });

  it('reads the groups and members in pages', async () => {
    const user = await aUser(idp.services);
    const groups = [await aGroup(user, 'Zeta'), await aGroup(user, 'alpha'), await aGroup(user, 'Beta')];
    const people = await Promise.all(Array.from({ length: 5 }, () => aUser(idp.services)));
    const [group] = groups;
    await idp.services.groups.addMembers(
      group?.id ?? '',
      people.map(({ account }) => ({ userId: account.id })),
    );
    const owner = await anOwner(idp, user);
    async function all(path: string): Promise<Record<string, string>[]> {
      const { items, next } = (await owner.get(path)).json<{ items: Record<string, string>[]; next: string | null }>();
      const [address = ''] = path.split('&cursor=');
      return [...items, ...(next === null ? [] : await all(`${address}&cursor=${next}`))];
    }
    expect((await all('/api/groups?limit=2')).map(({ name }) => name)).toEqual(['alpha', 'Beta', 'Zeta']);
    const members = await all(`/api/groups/${group?.id}/members?limit=2`);
    expect(members.map(({ user: id }) => id).sort()).toEqual(people.map(({ account }) => account.id).sort());
  });

  it('has nothing of the group of another one, as if it did not exist, nor after the end of the ownership', async () => {
    const { owner, user, group } = await aLab();
    const other = await aLab();
    const person = await aUser(idp.services);
    await idp.services.groups.addMembers(other.group.id, [{ userId: person.account.id }]);
    const by = { actorId: other.user.account.id };
    const invited = await idp.services.groupInvitations.invite(
      { groupId: other.group.id, email: 'invited@example.com', until: null },
      { by },
    );
    const calls: [string, string, unknown?][] = [
      ['GET', ''],
      ['GET', '/members'],
      ['POST', '/members', { login: person.username }],
      ['GET', `/members/${person.account.id}`],
      ['PATCH', `/members/${person.account.id}`, { until: null }],
      ['DELETE', `/members/${person.account.id}`],
      ['GET', '/requests'],
      ['POST', '/requests/x/decision', { decision: 'approve' }],
      ['GET', '/invitations'],
      ['POST', '/invitations', { email: 'x@example.com' }],
      ['DELETE', `/invitations/${invited.id}`],
    ];
    const bodies = new Set<string>();
    const refused = async (id: string) => {
      for (const [method, below, body] of calls) {
        const page = await owner.send(method, `/api/groups/${id}${below}`, body, { 'if-match': '*' });
        expect(page.status, `${method} ${below}`).toBe(404);
        bodies.add(String(page.json().detail));
      }
    };
    for (const id of [other.group.id, 'unknown']) await refused(id);
    // By its own group, nothing of the other one is reached either.
    const path = `/api/groups/${group.id}`;
    expect((await owner.send('DELETE', `${path}/invitations/${invited.id}`)).status).toBe(404);
    await idp.services.groups.dismissOwner(group.id, user.account.id);
    await refused(group.id);
    expect(bodies.size).toBe(1);
    expect(await memberIds(other.group)).toEqual([person.account.id]);
    expect((await owner.get('/api/groups')).json()).toMatchObject({ items: [] });
  });

  it('cannot decide a request for another group by the path of an own one', async () => {
    const { owner, group, user } = await aLab();
    const second = await idp.services.groups.create({ name: `Second ${count}`, acceptsRequests: true });
    await idp.services.groups.appointOwner(second.id, { userId: user.account.id });
    const asking = await aUser(idp.services);
    const { applicationId } = await anApplication(idp, { access: { roles: [], groups: [second.name] } });
    const wish = { userId: asking.account.id, groupId: second.id, applicationId, reason: 'x', until: null };
    await idp.services.groupRequests.ask(wish);
    const [request] = await idp.services.groupRequests.of(asking.account.id);
    const decide = (id: string) =>
      owner.send('POST', `/api/groups/${id}/requests/${request?.id}/decision`, { decision: 'approve' });
    expect((await decide(group.id)).status).toBe(404);
    expect((await decide(second.id)).status).toBe(204);
    expect((await decide(second.id)).status).toBe(409);
  });

  it('adds nobody while the appointment does not cover a later role', async () => {
    const { owner, group } = await aLab();
    await idp.services.roles.create({ name: `late-${count}`, permissions: ['late:use'] });
    await idp.services.groups.addRole(group.id, `late-${count}`);
    const { username } = await aUser(idp.services);
    const page = await owner.send('POST', `/api/groups/${group.id}/members`, { login: username });
    expect([page.status, page.json().code]).toEqual([403, 'group_unconfirmed']);
    expect(await memberIds(group)).toEqual([]);
  });
});

describe('a token', () => {
  const list = async (token: string) => {
    const headers = { authorization: `Bearer ${token}`, accept: '*/*' };
    return httpClient(idp.issuer).request('GET', '/api/groups', { headers });
  };

  it('of an application that asked for the claim `groups` changes nothing', async () => {
    const { user } = await aLab();
    const claimOnly = await anOwner(idp, user, 'openid groups');
    const page = await claimOnly.get('/api/groups');
    expect(page.status).toBe(403);
    expect(page.headers['www-authenticate']).toContain(`scope="${OWNERS_SCOPE}"`);
  });

  it('of the admin API, of an application without a user, and an API key are not accepted', async () => {
    const admin = await aPerson(idp, ['admin']);
    expect((await list(admin.token)).status).toBe(401);
    const service = await aService(idp);
    expect((await list(service.token)).status).toBe(401);
    const resource = ownersApi(idp.issuer);
    const input = { redirect_uris: [], grant_types: ['client_credentials' as const], resources: [resource] };
    const app = await anApplication(idp, { ...input, scope: OWNERS_SCOPE });
    const own = await postAs(idp, app, '/token', { grant_type: 'client_credentials', resource, scope: OWNERS_SCOPE });
    expect((await list(String(own.json().access_token))).status).toBe(401);
    expect((await list(`gh_${'x'.repeat(60)}`)).status).toBe(401);
    expect((await list('')).status).toBe(401);
  });

  it('for an owner opens nothing of the admin API, whatever the user may do there', async () => {
    const { user } = await aLab();
    await idp.services.roles.assign(user.account.id, 'admin');
    const owner = await anOwner(idp, user);
    expect((await owner.get('/users')).status).toBe(401);
    // An administrator who owns nothing manages nothing here.
    const stranger = await aUser(idp.services);
    await idp.services.roles.assign(stranger.account.id, 'admin');
    const { group } = await aLab();
    const tool = await anOwner(idp, stranger);
    expect((await tool.send('POST', `/api/groups/${group.id}/members`, { login: user.username })).status).toBe(404);
  });

  it('ends with the account, the scope of the application, and the consent is asked for', async () => {
    const { user, owner } = await aLab();
    expect((await owner.get('/api/groups')).status).toBe(200);
    await idp.services.accounts.setActive(user.account.id, false);
    expect((await owner.get('/api/groups')).status).toBe(401);
    await idp.services.accounts.setActive(user.account.id, true);
    const resource = ownersApi(idp.issuer);
    const other = await aTool(idp, { resources: [adminApi(idp.issuer)], scope: `openid ${OWNERS_SCOPE}` });
    await expect(tokenOf(idp, other, user, `openid ${OWNERS_SCOPE}`, { resource })).rejects.toThrow();
  });

  it('changes as much in an hour as the account page does', async () => {
    const { owner, group } = await aLab();
    const statuses: number[] = [];
    for (let tries = 0; tries <= limits.rateLimits.ownChangesPerAccount.points; tries += 1)
      statuses.push((await owner.send('DELETE', `/api/groups/${group.id}/members/nobody`)).status);
    expect(new Set(statuses.slice(0, -1))).toEqual(new Set([204]));
    expect(statuses.at(-1)).toBe(429);
    expect((await caller(idp, owner.token, owner.app).get('/api/groups')).status).toBe(200);
  });
});
