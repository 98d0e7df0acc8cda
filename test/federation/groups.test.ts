// Groups of an upstream, which are groups here while its user is in them: over OpenID Connect, SAML and LDAP.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { checkConnection } from '../../src/federation/connections/schema.ts';
import { consoleOf, staff } from '../admin/console/support.ts';
import { redirectUri } from '../oidc/support.ts';
import { aClient, aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { some } from '../support/long-run.ts';
import { signedIn } from '../support/pages/account.ts';
import { enter, expectSignedIn } from '../support/pages/enter.ts';
import { textOf } from '../support/pages/html.ts';
import { startDirectory, type TestDirectory } from '../support/upstream/directory.ts';
import { answerXml, aSamlUpstream, beginAt, postAnswer } from '../support/upstream/saml-upstream.ts';
import { aConnection, accountOf, anUpstream, type Connected, isAtApplication, signInOver } from './support.ts';

const BASE = 'dc=corp,dc=example';
const SUBJECT = '00000000-0000-4000-8000-000000000001';
const dnOf = (name: string) => `cn=${name},ou=groups,${BASE}`;

let idp: TestIdp;
let clientId: string;
let lab: string;
let club: string;
beforeAll(async () => {
  idp = await startIdp();
  const { groups, roles } = idp.services;
  await roles.create({ name: 'upstream-lab', permissions: [] });
  lab = (await groups.create({ name: 'Upstream Lab' })).id;
  club = (await groups.create({ name: 'Upstream Club' })).id;
  await groups.addRole(lab, 'upstream-lab');
  clientId = (await aClient(idp.services, { redirect_uris: [redirectUri] })).clientId;
});
afterAll(() => idp?.stop());

const groupsOf = (account: { groups: readonly { name: string }[] } | undefined) =>
  account?.groups.map(({ name }) => name).sort();

/** An upstream of one kind with a connection, which signs one user in, with these groups there. */
interface Upstream {
  connection: string;
  signIn(groups: readonly string[]): Promise<void>;
  stop(): Promise<void>;
}

const mappings = (nameOf: (group: string) => string) => ({
  group_mappings: { [nameOf('staff')]: 'Upstream Lab', [nameOf('all')]: ['Upstream Lab', 'Upstream Club'] },
});
const same = (name: string) => name;

async function overOidc(): Promise<Upstream> {
  const corp = await anUpstream(idp, { groups_claim: 'groups', ...mappings(same) });
  return {
    connection: corp.connection,
    async signIn(groups) {
      corp.upstream.user = { sub: SUBJECT, email: 'oidc@corp.example', email_verified: true, groups };
      const { page } = await signInOver(idp, corp.connection);
      expectSignedIn(page);
    },
    stop: corp.remove,
  };
}

async function overSaml(): Promise<Upstream> {
  const school = await aSamlUpstream(idp, { groups_claim: 'eduPersonAffiliation', ...mappings(same) });
  const { connection } = school;
  return {
    connection,
    async signIn(groups) {
      const { browser, requestId } = await beginAt(idp, school, { clientId });
      const attributes = { eduPersonAffiliation: groups };
      const xml = answerXml(idp, school, requestId, { nameId: SUBJECT, attributes });
      const posted = await postAnswer(browser, xml, { relayState: requestId });
      expectSignedIn(await browser.follow(posted, isAtApplication));
    },
    stop: () => idp.services.connections.remove(connection),
  };
}

/** @param groups where the connection finds them: an attribute of the user, or a search for groups with the user as a member */
async function overLdap(kind: 'memberOf' | 'groupOfNames' | 'nested' | 'active-directory'): Promise<Upstream> {
  const directory = await startDirectory([]);
  const connection = `directory-${kind}`.toLowerCase();
  const isActiveDirectory = kind === 'active-directory';
  const isListed = kind === 'memberOf';
  const nameOf = isListed ? dnOf : same;
  const search = { base_dn: `ou=groups,${BASE}`, filter: '(member={dn})' };
  const found = {
    memberOf: {},
    groupOfNames: search,
    nested: { ...search, nested: true },
    'active-directory': { nested: true },
  };
  await aConnection(idp, {
    id: connection,
    kind: 'ldap',
    url: directory.url,
    base_dn: BASE,
    create_users: true,
    ...(isActiveDirectory && { preset: 'active-directory' }),
    groups: found[kind],
    ...mappings(nameOf),
  });
  const dn = `uid=${connection},ou=people,${BASE}`;
  return {
    connection,
    async signIn(groups) {
      directory.entries.splice(0);
      const guid = Buffer.from('00000000000000408000000000000001', 'hex');
      const user = isActiveDirectory
        ? { objectGUID: [guid], sAMAccountName: [connection], objectCategory: ['person'], objectClass: ['user'] }
        : { uid: [connection], entryUUID: [SUBJECT] };
      const memberOf = isListed ? groups.map(dnOf) : [];
      directory.entries.push({ dn, password: 'directory pass', attributes: { ...user, memberOf } as never });
      for (const name of isListed ? [] : groups) addGroup(directory, kind, name, dn);
      expectSignedIn(await enter(idp, { clientId, username: connection, password: 'directory pass' }));
    },
    async stop() {
      await idp.services.connections.remove(connection);
      await directory.stop();
    },
  };
}

/** A group of the directory; a nested one has another as its member, which has the user. */
function addGroup(directory: TestDirectory, kind: string, name: string, user: string): void {
  const inner = dnOf(`${name}-inner`);
  const member = kind === 'nested' ? [inner] : [user];
  const attribute = kind === 'active-directory' ? 'member:1.2.840.113556.1.4.1941' : 'member';
  const attributes = { objectClass: ['group'], cn: [name], [attribute]: member };
  directory.entries.push({ dn: dnOf(name), attributes });
  if (kind === 'nested')
    directory.entries.push({
      dn: inner,
      attributes: { objectClass: ['group'], cn: [`${name}-inner`], member: [user] },
    });
}

describe.each(
  some(3, [
    ['OpenID Connect, by a claim', overOidc],
    ['SAML, by an attribute with several values', overSaml],
    ['LDAP, by memberOf', () => overLdap('memberOf')],
    ['LDAP, by a search for groupOfNames', () => overLdap('groupOfNames')],
    ['LDAP, by groups in groups', () => overLdap('nested')],
    ['Active Directory, by the rule in chain', () => overLdap('active-directory')],
  ]),
)('groups over %s', (_, start) => {
  let upstream: Upstream;
  beforeAll(async () => {
    upstream = await start();
  });
  const account = () => accountOf(idp, upstream.connection, SUBJECT);

  it('join and leave groups here at sign-in, and take away only what they gave', async () => {
    await upstream.signIn(['all', 'other']);
    const joined = (await account()) ?? expect.fail('no account');
    expect(groupsOf(joined)).toEqual(['Upstream Club', 'Upstream Lab']);
    const rows = await idp.services.db.groupMember.findMany({ where: { userId: joined.id } });
    expect(rows.map(({ source }) => source)).toEqual([1, 2].map(() => `connection:${upstream.connection}`));
    expect(joined.roles).toContain('upstream-lab');
    await idp.services.groups.addMembers(club, [{ userId: joined.id }]);
    await upstream.signIn(['staff']);
    expect(groupsOf(await account())).toEqual(['Upstream Club', 'Upstream Lab']);
    await upstream.signIn(['other']);
    expect(groupsOf(await account())).toEqual(['Upstream Club']);
    expect((await account())?.roles).not.toContain('upstream-lab');
  });

  it('end with the connection, which signs the person out if the settings say so', async () => {
    await upstream.signIn(['staff']);
    const { id } = (await account()) ?? expect.fail('no account');
    const { sessions, settings } = idp.services;
    expect(await sessions.list(id)).not.toEqual([]);
    await settings.set('sign_out_on_role_change', true);
    await settings.reload();
    await upstream.stop();
    await settings.unset('sign_out_on_role_change');
    await settings.reload();
    expect(await sessions.list(id)).toEqual([]);
    const left = await idp.services.accounts.find(id);
    expect(groupsOf(left)).toEqual(['Upstream Club']);
    expect(left?.roles).not.toContain('upstream-lab');
  });
});

describe('several connections of one person', () => {
  let first: Connected;
  let second: Connected;
  beforeAll(async () => {
    [first, second] = [
      await anUpstream(idp, { groups_claim: 'groups', group_mappings: { staff: 'Upstream Lab' } }),
      await anUpstream(idp, { groups_claim: 'groups', group_mappings: { crew: ['Upstream Lab', 'Upstream Club'] } }),
    ];
  });
  afterAll(() => Promise.all([first, second].map((one) => one?.remove())));

  it('give a group each, and each takes away its own', async () => {
    const { accounts } = idp.services;
    const user = await aUser(idp.services);
    const now = async () => groupsOf(await accounts.find(user.account.id));
    const browser = await signedIn(idp, user);
    const link = async ({ upstream, connection }: Connected, groups: readonly string[]) => {
      upstream.user = { sub: 'of-two', groups };
      const page = await browser.get('/account/connections');
      return browser.follow(await browser.submit(page, {}, { form: `/${connection}/link` }));
    };
    await link(first, ['staff']);
    expect(await now()).toEqual(['Upstream Lab']);
    const linked = await link(second, ['crew']);
    expect(await now()).toEqual(['Upstream Club', 'Upstream Lab']);
    first.upstream.user = { sub: 'of-two', groups: [] };
    await signInOver(idp, first.connection);
    expect(await now()).toEqual(['Upstream Club', 'Upstream Lab']);
    const identities = await idp.services.identities.ofUser(user.account.id);
    const { id } = identities.find(({ connectionId }) => connectionId === second.connection) ?? expect.fail('none');
    await browser.submit(linked, { id }, { form: '/unlink' });
    expect(await now()).toEqual([]);
  });
});

describe('a mapped group that takes nobody in', () => {
  let corp: Connected;
  beforeAll(async () => {
    corp = await anUpstream(idp, { groups_claim: 'groups', ...mappings(same) });
  });
  afterAll(() => corp?.remove());

  const joins = async (sub: string) => {
    corp.upstream.user = { sub, groups: ['all'] };
    const { page } = await signInOver(idp, corp.connection);
    expectSignedIn(page);
    return groupsOf(await accountOf(idp, corp.connection, sub));
  };

  it('because another program wrote its row, stops no sign-in', async () => {
    const { db } = idp.services;
    const { mac } = await db.asStored.group.findUniqueOrThrow({ where: { id: lab } });
    await db.$executeRaw`UPDATE groups SET mac = 'x' WHERE id = ${lab}`;
    try {
      expect(await joins('after-a-writer')).toEqual(['Upstream Club']);
    } finally {
      await db.$executeRaw`UPDATE groups SET mac = ${mac} WHERE id = ${lab}`;
    }
  });

  it('because it was deleted since the mappings were read, stops no sign-in', async () => {
    const { groups } = idp.services;
    const { account } = await aUser(idp.services);
    const via = `connection:${corp.connection}` as const;
    const moved = await groups.setMemberships(account.id, via, ['deleted-meanwhile', club]);
    expect(moved).toEqual({ added: [club], removed: [] });
  });
});

describe('mappings of groups', () => {
  const entry = (group_mappings: unknown) => {
    const base = {
      id: 'draft',
      kind: 'oidc',
      name: 'S',
      issuer: 'https://sso.example.com',
      client_id: 'x',
      client_secret: 's',
    };
    const checked = checkConnection({ ...base, group_mappings });
    return checked.ok ? checked.value : expect.fail(JSON.stringify(checked.faults));
  };

  it('name existing groups that give no permission in Gatehouse, themselves or by a group above', async () => {
    const { connections, groups } = idp.services;
    const auditors = await groups.create({ name: 'Upstream Auditors' });
    await groups.addRole(auditors.id, 'auditor');
    const below = await groups.create({ name: 'Upstream Night Shift' });
    await groups.addChild(auditors.id, below.id);
    for (const name of ['Upstream Auditors', 'Upstream Night Shift'])
      await expect(connections.create(entry({ a: name })), name).rejects.toMatchObject({ code: 'group_sensitive' });
    await expect(connections.create(entry({ a: 'Nobody' }))).rejects.toMatchObject({
      faults: [expect.objectContaining({ code: 'unknown-group' })],
    });
    expect(await connections.find('draft')).toBeUndefined();
  });

  it('keep their groups from such a permission', async () => {
    const { connections, groups } = idp.services;
    await connections.create(entry({ a: 'Upstream Club' }));
    await expect(groups.addRole(club, 'auditor')).rejects.toMatchObject({ code: 'group_sensitive' });
    const auditors = (await groups.find('Upstream Auditors')) ?? expect.fail('no group');
    await expect(groups.addChild(auditors.id, club)).rejects.toMatchObject({ code: 'group_sensitive' });
    // Whatever became of the role after the mapping.
    const { account } = await aUser(idp.services);
    expect(await groups.setMemberships(account.id, 'connection:draft', [auditors.id], {})).toEqual({
      added: [],
      removed: [],
    });
    await connections.remove('draft');
  });
});

describe('a connection that is tried', () => {
  it('names the groups here that the user would join, and joins none', async () => {
    const corp = await anUpstream(idp, { groups_claim: 'groups', ...mappings(same) });
    corp.upstream.user = { sub: 'tried', groups: ['all', 'other'] };
    const admin = await consoleOf(idp, await staff(idp, 'admin'));
    const page = await admin.get(`/admin/connections/${corp.connection}`);
    expect(textOf(page.text)).toMatch(/Memberships by group .* all Upstream Club, Upstream Lab /);
    const members = await idp.services.db.groupMember.count();
    const text = textOf((await admin.follow(await admin.submit(page, {}, { form: '/test' }))).text);
    expect(text).toMatch(/Joins the groups Upstream Club, Upstream Lab /);
    expect(await idp.services.db.groupMember.count()).toBe(members);
    await corp.remove();
  });
});
