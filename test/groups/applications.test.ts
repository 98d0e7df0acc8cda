// What applications see of groups: who may use them, and the claim and attribute.
import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { claimsFor } from '../../src/people/accounts/claims.ts';
import { withVisibleRoles } from '../../src/people/accounts/visible-roles.ts';
import { attributesOf } from '../../src/protocols/saml/sso/responses.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { anApplication, type ClientInput, forApi, signIn } from '../oidc/support.ts';
import { aLiveSp, answerIn, redirect } from '../saml/live.ts';
import { testClock } from '../support/clock.ts';
import { signRows } from '../support/database/row-macs.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { unescapeHtml } from '../support/pages/html.ts';

let idp: TestIdp;
let user: TestUser;
const clock = testClock();
let ids: { science: string; physics: string };
const api = 'https://api.example.com';
const scope = 'openid groups';

beforeAll(async () => {
  idp = await startIdp({ now: clock.now });
  const { groups, db } = idp.services;
  const [science, physics] = [await groups.create({ name: 'Science' }), await groups.create({ name: 'Physics' })];
  await groups.addChild(science.id, physics.id);
  user = await aUser(idp.services);
  await groups.addMembers(physics.id, [{ userId: user.account.id }]);
  ids = { science: science.id, physics: physics.id };
  await db.asStored.resource.create({ data: { identifier: api, scopes: '["read"]' } });
  await signRows(idp.services);
});
afterAll(() => idp?.stop());

/** So many groups with this member, as the service writes them. */
async function crowd(userId: string, count: number): Promise<void> {
  const { db } = idp.services;
  const names = Array.from({ length: count }, (_, at) => `crowd-${String(at).padStart(3, '0')}`);
  const columns = { acceptsRequests: false, source: 'local', fileMembers: false, updatedAt: new Date() };
  const groups = names.map((name) => ({ id: name, name, nameKey: name, path: `/${name}`, ...columns }));
  await db.group.createMany({ data: groups });
  await db.groupAncestor.createMany({ data: names.map((id) => ({ groupId: id, ancestorId: id })) });
  const times = { since: null, until: null };
  await db.groupMember.createMany({ data: names.map((groupId) => ({ groupId, userId, source: 'direct', ...times })) });
}

async function claimsOf(input: ClientInput, parameters: Record<string, string> = { scope }) {
  const application = await anApplication(idp, input);
  const { tokens } = await signIn(httpClient(idp.issuer), application, user, parameters);
  return { tokens, id: tokens.claims() ?? {}, application };
}

describe('the claim groups', () => {
  it('is in ID token and UserInfo with its scope, and not without', async () => {
    const { id, tokens, application } = await claimsOf({});
    expect(id).toMatchObject({ groups: ['Physics', 'Science'] });
    expect(await application.rp.userinfo(tokens)).toMatchObject({ groups: ['Physics', 'Science'] });
    expect((await claimsOf({}, { scope: 'openid profile' })).id).not.toHaveProperty('groups');
  });

  it('names groups as the application asks, and only those that it may have', async () => {
    const view = async (input: ClientInput) => ((await claimsOf(input)).id as { groups?: unknown }).groups;
    expect(await view({ groups_as: 'path' })).toEqual(['/Science', '/Science/Physics']);
    expect(await view({ groups_as: 'id' })).toEqual([ids.physics, ids.science].sort());
    expect(await view({ groups_direct: true })).toEqual(['Physics']);
    expect(await view({ groups_filter: ['Sci*'] })).toEqual(['Science']);
    expect(await view({ groups_filter: ['/Science/*'], groups_as: 'path' })).toEqual(['/Science/Physics']);
    expect(await view({ groups_filter: [] })).toEqual([]);
  });

  it('is in the JWT access token of an API', async () => {
    const input = { ...forApi(api, 'read'), scope: `${scope} read offline_access` };
    const { tokens, application } = await claimsOf(input, { scope: `${scope} read offline_access`, resource: api });
    const refreshed = await application.rp.refresh(tokens.refresh_token ?? '', { resource: api });
    expect(decodeJwt(refreshed.access_token)).toMatchObject({ aud: api, groups: ['Physics', 'Science'] });
  });

  it('is in introspection, opaque or JWT, as of the moment of the question, like roles and permissions', async () => {
    const { groups, roles } = idp.services;
    await roles.create({ name: 'introspected', permissions: ['lab:use'] });
    const lab = await groups.create({ name: 'Introspected Lab' });
    await groups.addRole(lab.id, 'introspected');
    const person = await aUser(idp.services);
    await groups.addMembers(lab.id, [{ userId: person.account.id }]);
    const all = `${scope} roles permissions read`;
    const application = await anApplication(idp, { ...forApi(api, 'read'), groups_filter: ['*Lab'] });
    const resourceServer = await anApplication(idp, forApi(api, 'read'));
    const browser = httpClient(idp.issuer);
    const { tokens } = await signIn(browser, application, person, { scope: `${all} offline_access`, resource: api });
    const jwt = await application.rp.refresh(tokens.refresh_token ?? '', { resource: api });
    const bare = await signIn(browser, application, person, { scope: 'openid' });
    const now = { groups: ['Introspected Lab'], roles: ['introspected'], permissions: ['lab:use'] };
    for (const { rp } of [application, resourceServer])
      for (const token of [tokens.access_token, jwt.access_token])
        expect(await rp.introspect(token)).toMatchObject(now);
    expect(await application.rp.introspect(bare.tokens.access_token)).not.toHaveProperty('groups');
    await groups.removeMembers(lab.id, [person.account.id]);
    await crowd(person.account.id, limits.groups.inToken + 1);
    await groups.addMembers(ids.physics, [{ userId: person.account.id }]);
    for (const token of [tokens.access_token, jwt.access_token])
      expect(await application.rp.introspect(token)).toMatchObject({ groups: [], roles: [], permissions: [] });
    await idp.services.applications.update('oidc', application.applicationId, {
      redirect_uris: [application.redirectUri],
      grant_types: ['authorization_code', 'refresh_token'],
      ...forApi(api, 'read'),
    });
    for (const token of [tokens.access_token, jwt.access_token]) {
      const answer = await application.rp.introspect(token);
      expect(answer).toMatchObject({ active: true, groups_overage: true });
      expect(answer).not.toHaveProperty('groups');
    }
    await idp.services.db.groupMember.deleteMany({ where: { userId: person.account.id } });
    await idp.services.db.asStored.group.deleteMany({ where: { id: { startsWith: 'crowd-' } } });
  });

  it('is left out and announced where there are too many, in tokens and assertions, and whole at UserInfo', async () => {
    const many = await aUser(idp.services);
    await crowd(many.account.id, limits.groups.inToken + 1);
    const application = await anApplication(idp, {});
    const { tokens } = await signIn(httpClient(idp.issuer), application, many, { scope });
    expect(tokens.claims()).toMatchObject({ groups_overage: true });
    expect(tokens.claims()).not.toHaveProperty('groups');
    const userinfo = await application.rp.userinfo(tokens);
    expect(userinfo.groups).toHaveLength(limits.groups.inToken + 1);
    expect(userinfo).not.toHaveProperty('groups_overage');
    // A request for the claim alone (OpenID Connect Core 5.5), without the scope.
    const claims = JSON.stringify({ id_token: { groups: null } });
    const asked = await signIn(httpClient(idp.issuer), application, many, { scope: 'openid', claims });
    expect(asked.tokens.claims()).toMatchObject({ groups_overage: true });
    const bare = await signIn(httpClient(idp.issuer), application, many, { scope: 'openid' });
    expect(bare.tokens.claims()).not.toHaveProperty('groups_overage');
    const account = (await idp.services.accounts.find(many.account.id)) ?? expect.fail('no account');
    const settings = { attributes: { memberOf: 'groups', mail: 'email' } };
    expect(attributesOf({ settings } as never, account)).toEqual({ mail: [account.email], groups_overage: ['true'] });
    const few = { ...settings, groups_filter: ['crowd-00*'] };
    expect(attributesOf({ settings: few } as never, account).memberOf).toHaveLength(10);
    expect(claimsFor(withVisibleRoles(account, { groups_filter: ['crowd-00*'] }, 200)).groups).toHaveLength(10);
  });
});

describe('the SAML attribute groups', () => {
  const valuesIn = (xml: string) => [...xml.matchAll(/<saml:AttributeValue[^>]*>([^<]*)</g)].map(([, value]) => value);

  it('has a value for each group, as in the preview, until the end of a membership', async () => {
    const { accounts, groups, applications } = idp.services;
    const sp = await aLiveSp(idp, { attributes: { memberOf: 'groups' }, groups_as: 'path' });
    const person = await aUser(idp.services);
    const { id: userId } = person.account;
    const { id = '' } = (await applications.find(sp.entityId)) ?? {};
    const both = async () => {
      const browser = httpClient(idp.issuer);
      const page = await browser.follow(await redirect(browser, sp.request()));
      const { username, password } = person;
      const answer = answerIn(await browser.follow(await browser.submit(page, { username, password })));
      const admin = await consoleOf(idp, await staff(idp, 'admin'));
      const preview = await admin.get(`/admin/applications/${id}/claims?user=${username}`);
      const shown = unescapeHtml(preview.text).replaceAll(/\s*\n\s*/g, '');
      return { assertion: valuesIn(answer ?? expect.fail('no answer')), preview: valuesIn(shown) };
    };
    await groups.addMembers(ids.physics, [{ userId }]);
    const values = ['/Science', '/Science/Physics'];
    expect(await both()).toEqual({ assertion: values, preview: values });
    await groups.addMembers(ids.physics, [{ userId, until: new Date(clock.now().getTime() + 500) }]);
    await expect.poll(async () => (await accounts.find(userId))?.groups, { timeout: 10_000 }).toEqual([]);
    expect(await both()).toEqual({ assertion: [], preview: [] });
  });
});

describe('an application of a group', () => {
  it('opens to the people in it and below it, until the end, also for tokens that they have', async () => {
    const { groups, accounts } = idp.services;
    const { id: userId } = (await aUser(idp.services)).account;
    const person = (await accounts.find(userId)) ?? expect.fail('no account');
    const application = await anApplication(idp, { access: { roles: [], groups: ['Science'] } });
    const visitor = { account: person, username: person.username, password: user.password };
    await groups.addMembers(ids.physics, [{ userId, until: new Date(clock.now().getTime() + 3_600_000) }]);
    const parameters = { scope: 'openid offline_access' };
    const { tokens } = await signIn(httpClient(idp.issuer), application, visitor, parameters);
    expect(await application.rp.userinfo(tokens)).toMatchObject({ sub: userId });
    const refreshed = await application.rp.refresh(tokens.refresh_token ?? '');
    clock.advance({ hours: 1 });
    expect((await accounts.find(userId))?.groups).toEqual([]);
    await expect(application.rp.userinfo(refreshed)).rejects.toThrow();
    await expect(application.rp.refresh(refreshed.refresh_token ?? '')).rejects.toThrow();
  });

  it('names existing groups, and stays closed when the last one is deleted, also for another of that name', async () => {
    await expect(anApplication(idp, { access: { roles: [], groups: ['Nobody'] } })).rejects.toMatchObject({
      code: 'invalid_input',
    });
    const { groups, applications } = idp.services;
    const made = await groups.create({ name: 'Short-lived' });
    const { clientId } = await anApplication(idp, { access: { roles: [], groups: ['Short-lived'] } });
    expect(await groups.losses(made.id)).toMatchObject({ applications: [expect.any(String)] });
    await groups.remove(made.id);
    const again = await groups.create({ name: 'Short-lived' });
    await groups.addMembers(again.id, [{ userId: user.account.id }]);
    expect((await applications.find(clientId))?.access).toEqual({ roles: [] });
  });
});
