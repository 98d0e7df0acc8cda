// Roles and groups that a website or an application names: a new name, and the end of the name.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { withChangedName } from '../../src/applications/rules/names.ts';
import { userHeaders } from '../../src/protocols/forward-auth/user-headers.ts';
import { completeSignIn } from '../oidc/support.ts';
import { aClient, aUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type Website, website } from '../support/website.ts';

let idp: TestIdp;
let site: Website;
beforeAll(async () => {
  idp = await startIdp();
  site = await website('caddy', () => idp.issuer, ['Remote-User']);
});
afterAll(async () => {
  await site?.close();
  await idp?.stop();
});

async function aWebsite(paths: unknown) {
  const { applications } = idp.services;
  const found = await applications.find(site.origin);
  if (found) await applications.remove(found.id);
  return applications.createProxied({ name: 'Wiki', url: site.origin, proxy: 'caddy', paths });
}

const ask = async (browser: HttpClient, path: string) =>
  (await browser.get(`${site.origin}${path}`, { headers: { 'sec-fetch-mode': 'cors' } })).status;

const pathsOf = async () => {
  const found = await idp.services.applications.find(site.origin);
  return found?.protocol === 'proxy' ? found.metadata.paths.map(({ rule }) => rule) : [];
};

describe('a rule for a path', () => {
  it('follows the new names of its role and its group, and closes when both are deleted', async () => {
    const { groups, roles } = idp.services;
    await roles.create({ name: 'wiki-admin' });
    const { id: groupId } = await groups.create({ name: 'Wiki editors' });
    const made = await aWebsite([
      { path: '/admin/', rule: { roles: ['wiki-admin'] } },
      { path: '/edit/', rule: { roles: ['wiki-admin'], groups: ['Wiki editors'] } },
    ]);
    const user = await aUser(idp.services);
    await roles.assign(user.account.id, 'wiki-admin');
    const browser = httpClient();
    const callback = await completeSignIn(browser, `${site.origin}/`, {
      user,
      redirectUri: `${site.origin}/.gatehouse/`,
    });
    await browser.follow(callback);
    expect([await ask(browser, '/admin/'), await ask(browser, '/edit/')]).toEqual([200, 200]);

    await roles.update('wiki-admin', { name: 'wiki-owner' });
    await groups.update(groupId, { name: 'Wiki writers' });
    expect(await pathsOf()).toEqual([
      { roles: ['wiki-owner'], groups: [] },
      { roles: ['wiki-owner'], groups: ['Wiki writers'] },
    ]);
    expect([await ask(browser, '/admin/'), await ask(browser, '/edit/')]).toEqual([200, 200]);
    const where = { type: 'application.updated', clientId: made.clientId };
    expect(await idp.services.db.auditEvent.count({ where })).toBe(2);

    await roles.remove('wiki-owner');
    await groups.remove(groupId);
    expect(await pathsOf()).toEqual([
      { roles: [], groups: [] },
      { roles: [], groups: [] },
    ]);
    // Another role of the same name opens nothing.
    await roles.create({ name: 'wiki-owner' });
    await roles.assign(user.account.id, 'wiki-owner');
    expect([await ask(browser, '/'), await ask(browser, '/admin/'), await ask(browser, '/edit/')]).toEqual([
      200, 403, 403,
    ]);
  });

  it('names only roles and groups that there are', async () => {
    await expect(
      aWebsite([
        { path: '/a/', rule: 'mfa' },
        { path: '/b/', rule: { roles: ['nobody'] } },
      ]),
    ).rejects.toMatchObject({
      code: 'invalid_input',
      faults: [{ path: ['paths', 1, 'rule', 'roles'] }],
    });
    await expect(aWebsite([{ path: '/b/', rule: { groups: ['nobody'] } }])).rejects.toMatchObject({
      faults: [{ path: ['paths', 0, 'rule', 'groups'] }],
    });
  });
});

describe('what an application receives', () => {
  it('follows the new name of a role', async () => {
    const { applications, roles } = idp.services;
    await roles.create({ name: 'editor' });
    const { clientId } = await aClient(idp.services, {
      redirect_uris: ['https://app.example.com/callback'],
      roles_filter: ['editor', 'editor-*'],
      roles_rename: { editor: 'Editor' },
    });
    await roles.update('editor', { name: 'author' });
    expect((await applications.find(clientId))?.metadata).toMatchObject({
      roles_filter: ['author', 'editor-*'],
      roles_rename: { author: 'Editor' },
    });
    await roles.remove('author');
    expect((await applications.find(clientId))?.metadata).toMatchObject({
      roles_filter: ['editor-*'],
      roles_rename: {},
    });
  });

  it('follows the new name of a group, by name and by path', () => {
    const change = { kind: 'group', before: 'Lab', after: 'Laboratory' } as const;
    expect(withChangedName({ groups_filter: ['Lab', 'Lab-*'] }, change).groups_filter).toEqual(['Laboratory', 'Lab-*']);
    const byPath = { groups_as: 'path' as const, groups_filter: ['/Lab/*', '/Labour'] };
    expect(withChangedName(byPath, change).groups_filter).toEqual(['/Laboratory/*', '/Labour']);
    const byId = { groups_as: 'id' as const, groups_filter: ['Lab'] };
    expect(withChangedName(byId, change).groups_filter).toEqual(['Lab']);
  });
});

describe('a website', () => {
  const url = 'https://odd.example.com';
  const create = async (declared: object) =>
    idp.services.applications.createProxied({ name: 'Odd', url, proxy: 'caddy', ...declared });

  it.each([
    'https://a$b.example',
    'https://a;b.example',
    'https://a{b.example',
    "https://a'b.example",
    'https://*.example.com',
  ])('has no host that a proxy never asks about: %s', async (odd) => {
    await expect(create({ url: odd })).rejects.toMatchObject({ code: 'invalid_input' });
  });

  it.each(['Location', 'Date', 'Refresh', 'Set-Cookie2', 'X-HTTP-Method-Override', 'X-Rewrite-Url', 'True-Client-Ip'])(
    'gets no user in the header %s',
    async (name) => {
      await expect(create({ headers: { [name]: 'email' } })).rejects.toMatchObject({ code: 'invalid_input' });
    },
  );

  it('reads one value of an attribute with a comma as one, apart from every other one', async () => {
    const headers = { 'X-Teams': 'attributes.teams' };
    const lists = { roles: [], groups: [], permissions: [] };
    for (const [team, sent] of [
      ['a,admin', 'a%2Cadmin'],
      ['a%2Cadmin', 'a%252Cadmin'],
      ['a%2cadmin', 'a%252cadmin'],
      ['a%252Cadmin', 'a%25252Cadmin'],
      ['100 %', '100 %'],
    ]) {
      const account = { attributes: { teams: [team] }, ...lists, updatedAt: new Date() };
      expect(userHeaders({ account: account as never }, { headers } as never)).toEqual({ 'X-Teams': sent });
    }
  });
});
