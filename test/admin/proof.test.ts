// User tokens of the admin API: sensitive changes need a fresh sign-in, and every call the acr that the console requires
// (RFC 9470). Applications that act without a user need none.

import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newStream } from '../../src/admin/event-streams/event-streams.ts';
import { limits } from '../../src/base/limits.ts';
import { checkConnection } from '../../src/federation/connections/schema.ts';
import { MFA_ACR, PASSWORD_ACR } from '../../src/people/mfa/acr.ts';
import { scimDeclaration } from '../../src/protocols/scim/connections.ts';
import { aPng } from '../brand/pictures.ts';
import { signRows } from '../support/database/row-macs.ts';
import { aClient, aUser } from '../support/factories.ts';
import type { Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { pathsBelow } from './described.ts';
import { operations } from './fresh-proof.ts';
import { type ApiCaller, aPerson, aService, caller, described, tokenOf, tokenOfLongAgo } from './support.ts';

let idp: TestIdp;
let admin: ApiCaller;
beforeAll(async () => {
  idp = await startIdp();
  await idp.services.settings.set('rate_limits', false);
  admin = await aPerson(idp, ['admin']);
});
afterAll(() => idp?.stop());

const isChallenge = ({ status, headers }: Page) =>
  status === 401 && (headers['www-authenticate'] ?? '').includes('error="insufficient_user_authentication"');

const anyVersion = { 'if-match': '*' };

const aConnection = (id: string) => ({
  id: id.toLowerCase(),
  kind: 'oidc',
  name: 'Upstream',
  client_id: 'x',
  client_secret: 'secret',
  issuer: 'https://upstream.example.invalid',
});

/** Each operation that changes something, with a call that would succeed. */
async function calls(): Promise<Record<string, [string, string, unknown?]>> {
  const { services } = idp;
  const { account } = await aUser(services);
  const user = `/users/${account.id}`;
  const role = await services.roles.create({ name: `role-${account.username}`, permissions: ['articles:read'] });
  const held = await services.roles.create({ name: `held-${account.username}` });
  await services.roles.assign(account.id, held.name);
  const groupName = `group-${account.username}`;
  const group = await services.groups.create({ name: groupName, acceptsRequests: true });
  const child = await services.groups.create({ name: `child-${account.username}` });
  await services.groups.addMembers(group.id, [{ userId: account.id }]);
  const inGroup = `/groups/${group.id}`;
  const client = await aClient(services, { redirect_uris: ['https://call.example.com/cb'] });
  const application = `/applications/${client.applicationId}`;
  const [owner, asking] = [await aUser(services), await aUser(services)];
  await services.groups.appointOwner(group.id, { userId: owner.account.id });
  const opened = { redirect_uris: ['https://open.example.com/cb'], access: { roles: [], groups: [groupName] } };
  const { applicationId } = await aClient(services, opened);
  const wish = { userId: asking.account.id, groupId: group.id, applicationId, reason: 'Work', until: null };
  await services.groupRequests.ask(wish);
  const [request] = await services.groupRequests.openFor([group.id]);
  for (const domain of ['call.example', 'check.example']) await services.groupDomains.add(group.id, domain, {});
  const { id: secret } = await services.applications.addSecret(client.applicationId, { replace: 60 });
  const resource = `urn:api:${account.username}`;
  await services.db.asStored.resource.create({ data: { identifier: resource, scopes: '["a"]' } });
  await signRows(services);
  const connectionId = `of-${account.username}`.toLowerCase();
  const connection = `/connections/${connectionId}`;
  const checked = checkConnection({ ...aConnection(connectionId), domains: [`${connectionId}.example`] });
  if (checked.ok) await services.connections.create(checked.value);
  const [connectionSecret] = await services.connections.secretInfos(connectionId);
  const mail = `mail-${account.username}`;
  const queued = { recipient: 'x@example.com', subject: 'Hi', bodySealed: 'x', createdAt: new Date() };
  await services.db.mailMessage.create({ data: { ...queued, id: mail, nextTryAt: new Date(), failedAt: new Date() } });
  const apiKey = { ownerId: account.id, name: 'Script', permissions: ['gatehouse.users:read'], days: 1 };
  const { key } = await services.apiKeys.create(apiKey, {});
  const { id: scimId } = await services.scimConnections.create(
    scimDeclaration.parse({ name: `SCIM ${account.id}` }),
    {},
  );
  const { token: scimToken } = await services.scimConnections.addToken(scimId, 1, {});
  const scim = `/scim-connections/${scimId}`;
  const { stream } = await services.eventStreams.create(
    newStream.parse({ name: account.id, url: 'https://x.example' }),
    undefined,
    {},
  );
  const eventStream = `/event-streams/${stream.id}`;
  const { code } = await services.signUpCodes.create({ name: account.id, maxUses: 1, days: 1 }, {});
  const session = async () => {
    const person = await aPerson(idp, [], { tool: admin.app });
    const [one] = await services.sessions.list(person.user?.account.id ?? '');
    return one?.uid ?? '';
  };
  const declared = { protocol: 'oidc', redirect_uris: ['https://new.example.com/cb'] };
  const metadata_url = 'https://sp.example.invalid/metadata';
  const note = await idp.services.notes.add(account.id, 'Old', {});
  const phone = { userId: account.id, number: '+491701234567', confirmedAt: new Date() };
  await services.db.phoneFactor.create({ data: phone });
  const url = `https://${account.username.toLowerCase()}.site.example`;
  const website = { name: account.username, url, proxy: 'caddy', app_passwords: true } as const;
  const { id: websiteId } = await services.applications.createProxied(website);
  await services.appPasswords.create(account, { applicationId: websiteId, name: 'Calendar' }, {});
  const [appPassword] = await services.appPasswords.list(account.id);
  await services.consents.allow(account.id, client.applicationId, { scopes: ['openid'], claims: [], resources: {} });
  const picture = `data:image/png;base64,${aPng().toString('base64')}`;
  const call = (...sent: [string, string, unknown?]) => sent;
  const administrators = { usernames: [], roles: [], count: 0 };
  const found = { columns: [], shared: [], missing: [], administrators };
  const options = JSON.stringify({ existing: 'update', unknown: [], givesRoles: true, ...found });
  const ofFile = { kind: 'trial', options, rows: [], by: { actorId: admin.user?.account.id ?? '' } } as const;
  const { id: tried } = await services.bulkChanges.imports.store(ofFile, true);
  return {
    importUsers: call('POST', '/imports', { csv: `username,roles\nimported-${account.username},${role.name}` }),
    startImport: call('POST', `/imports/${tried}/start`),
    cancelImport: call('POST', `/imports/${tried}/cancel`),
    createUser: call('POST', '/users', { username: `with-${account.username}`, roles: [role.name] }),
    updateUser: call('PATCH', user, { email: 'moved@example.com' }),
    setUserRoles: call('PUT', `${user}/roles`, { roles: [role.name] }),
    giveUserRole: call('PUT', `${user}/roles/${role.name}`, {}),
    takeUserRole: call('DELETE', `${user}/roles/${held.name}`),
    putUserInGroup: call('PUT', `${user}/groups/${child.id}`, {}),
    takeUserFromGroup: call('DELETE', `${user}/groups/${group.id}`),
    handOver: call('POST', `/users/${owner.account.id}/hand-over`, { to: asking.account.id }),
    enableUser: call('POST', `${user}/enable`),
    disableUser: call('POST', `${user}/disable`),
    inviteUser: call('POST', `${user}/invite`),
    sendPasswordReset: call('POST', `${user}/password-reset`),
    setPassword: call('POST', `${user}/password`, {}),
    forcePasswordChange: call('POST', `${user}/password-change`),
    unlockUser: call('POST', `${user}/unlock`),
    removeUserFactor: call('DELETE', `${user}/factors/phone`),
    removeUserConsent: call('DELETE', `${user}/consents/${client.applicationId}`),
    revokeUserAppPassword: call('DELETE', `${user}/app-passwords/${appPassword?.id}`),
    resetFactors: call('POST', `${user}/reset-factors`),
    allowFirstFactor: call('POST', `${user}/allow-factor`),
    setUserPicture: call('PUT', `${user}/picture`, { picture }),
    addUserNote: call('POST', `${user}/notes`, { text: 'New' }),
    removeUserNote: call('DELETE', `${user}/notes/${note.id}`),
    endSession: call('DELETE', `/sessions/${await session()}`),
    endUserSessions: call('DELETE', `${user}/sessions`),
    endApplicationSessions: call('DELETE', `${application}/sessions`),
    exportUser: call('POST', `${user}/export`),
    deleteUser: call('DELETE', user),
    createRole: call('POST', '/roles', { name: `new-${account.username}`, permissions: ['articles:read'] }),
    updateRole: call('PATCH', `/roles/${role.id}`, { permissions: [] }),
    deleteRole: call('DELETE', `/roles/${role.id}`),
    createGroup: call('POST', '/groups', { name: `new-${account.username}` }),
    updateGroup: call('PATCH', inGroup, { description: 'Changed' }),
    deleteGroup: call('DELETE', inGroup),
    addGroupMembers: call('POST', `${inGroup}/members`, { members: [{ user: account.id }] }),
    removeGroupMembers: call('POST', `${inGroup}/members/removal`, { members: [{ user: account.id }] }),
    removeGroupMember: call('DELETE', `${inGroup}/members/${account.id}`),
    addChildGroup: call('PUT', `${inGroup}/children/${child.id}`),
    removeChildGroup: call('DELETE', `${inGroup}/children/${child.id}`),
    addGroupRole: call('PUT', `${inGroup}/roles/${role.name}`),
    removeGroupRole: call('DELETE', `${inGroup}/roles/${role.name}`),
    appointGroupOwner: call('PUT', `${inGroup}/owners/${account.id}`, {}),
    dismissGroupOwner: call('DELETE', `${inGroup}/owners/${account.id}`),
    answerGroupRequest: call('POST', `${inGroup}/requests/${request?.id}/decision`, { decision: 'approve' }),
    addGroupDomain: call('PUT', `${inGroup}/domains/new.example`),
    removeGroupDomain: call('DELETE', `${inGroup}/domains/call.example`),
    checkGroupDomain: call('POST', `${inGroup}/domains/check.example/check`),
    createApplication: call('POST', '/applications', declared),
    updateApplication: call('PATCH', application, { redirect_uris: ['https://moved.example.com/cb'] }),
    enableApplication: call('POST', `${application}/enable`),
    disableApplication: call('POST', `${application}/disable`),
    addSecret: call('POST', `${application}/secrets`, {}),
    removeSecret: call('DELETE', `${application}/secrets/${secret}`),
    setApplicationPicture: call('PUT', `${application}/picture`, { picture }),
    removeApplicationPicture: call('DELETE', `${application}/picture`),
    fetchApplicationPicture: call('POST', `${application}/picture/fetch`),
    deleteApplication: call('DELETE', application),
    approveMetadataChange: call('POST', `${application}/metadata-change/approve`, { document: 'x' }),
    rejectMetadataChange: call('POST', `${application}/metadata-change/reject`, { document: 'x' }),
    readMetadata: call('POST', '/saml-metadata', { metadata_url }),
    createResource: call('POST', '/resources', { identifier: `${resource}:new` }),
    updateResource: call('PATCH', `/resources/${resource}`, { scopes: [] }),
    deleteResource: call('DELETE', `/resources/${resource}`),
    createConnection: call('POST', '/connections', aConnection(`c-${account.username}`)),
    updateConnection: call('PATCH', connection, { issuer: 'https://moved.example.com' }),
    deleteConnection: call('DELETE', connection),
    addConnectionSecret: call('POST', `${connection}/secrets`, { purpose: 'client-secret', value: 'new' }),
    removeConnectionSecret: call('DELETE', `${connection}/secrets/${connectionSecret?.id}`),
    checkConnectionDomain: call('POST', `${connection}/domains/${connectionId}.example/check`),
    refreshConnectionDocuments: call('POST', `${connection}/documents/refresh`),
    endConnectionSessions: call('POST', `${connection}/sessions/end`),
    createApiKey: call('POST', '/api-keys', { name: 'New', permissions: ['gatehouse.users:read'] }),
    ...Object.fromEntries(
      ['test', 'compare', 'pause', 'resume', 'approve'].map((decision) => [
        `${decision}Provisioning`,
        call('POST', `${application}/provisioning/${decision}`),
      ]),
    ),
    createEventStream: call('POST', '/event-streams', { name: `New ${account.id}`, url: 'https://x.example' }),
    updateEventStream: call('PATCH', eventStream, { enabled: false }),
    changeEventStreamSecret: call('POST', `${eventStream}/secret`, {}),
    replayEventStream: call('POST', `${eventStream}/replay`, {
      from: '2026-01-01T00:00:00Z',
      until: '2026-01-02T00:00:00Z',
    }),
    testEventStream: call('POST', `${eventStream}/test`),
    resumeEventStream: call('POST', `${eventStream}/resume`),
    retryEventDelivery: call('POST', `${eventStream}/deliveries/none/retry`),
    deleteEventStream: call('DELETE', eventStream),
    createScimConnection: call('POST', '/scim-connections', { name: `New ${account.id}` }),
    updateScimConnection: call('PATCH', scim, { may_create: false }),
    createScimToken: call('POST', `${scim}/tokens`, {}),
    revokeScimToken: call('DELETE', `${scim}/tokens/${scimToken.id}`),
    deleteScimConnection: call('DELETE', scim),
    createSignUpCode: call('POST', '/sign-up-codes', { name: `New ${account.id}` }),
    revokeSignUpCode: call('DELETE', `/sign-up-codes/${code.id}`),
    revokeApiKey: call('DELETE', `/api-keys/${key.id}`),
    rotateKeys: call('POST', '/keys/rotate', { use: 'saml' }),
    updateSettings: call('PATCH', '/settings', { session_hours: 11 }),
    planConfiguration: call('POST', '/configuration/plan', 'users: []\n'),
    testMail: call('POST', '/mail/test', { to: 'test@example.com' }),
    retryMail: call('POST', `/mail/${mail}/retry`),
  };
}

const send = (who: ApiCaller, operationId: string, [method, path, body]: [string, string, unknown?]) =>
  who.send(
    method,
    path,
    body,
    operationId === 'planConfiguration' ? { 'content-type': 'application/yaml' } : anyVersion,
  );

describe('a user token whose sign-in is not fresh', () => {
  it('is challenged at every sensitive operation, which changes nothing, and at no other', async () => {
    const { document } = await described(idp);
    const changing = pathsBelow(document, '/api/admin').flatMap(([, path]) =>
      Object.entries(path).flatMap(([method, { operationId }]) => (method === 'get' ? [] : [operationId])),
    );
    const table = await calls();
    // A new operation has to say what it is.
    expect(Object.keys(operations).sort()).toEqual(changing.sort());
    expect(Object.keys(table).sort()).toEqual(changing.sort());
    await tokenOfLongAgo(idp, admin);
    const audited = () => idp.services.audit.list({ actorId: admin.user?.account.id ?? '' });
    for (const [operationId, call] of Object.entries(table)) {
      const sensitive = operations[operationId] === 'fresh';
      const before = (await audited()).length;
      const page = await send(admin, operationId, call);
      const what = `${operationId}: ${page.text}`;
      expect(isChallenge(page), what).toBe(sensitive);
      if (sensitive) expect((await audited()).length, operationId).toBe(before);
      else expect(page.status, what).not.toBe(401);
    }
  });

  it('learns from the challenge what to ask the user for, and is accepted after that sign-in', async () => {
    const person = await aPerson(idp, ['admin'], { tool: admin.app });
    const { account } = await aUser(idp.services);
    await tokenOfLongAgo(idp, person);
    const page = await person.send('POST', `/users/${account.id}/disable`);
    expect(page.json()).toMatchObject({ code: 'proof_needed', detail: expect.stringContaining('To disable') });
    const challenge = page.headers['www-authenticate'] ?? '';
    expect(challenge).toBe(
      `Bearer error="insufficient_user_authentication", error_description="A fresh sign-in is needed", acr_values="${PASSWORD_ACR}", max_age="${limits.recentAuthentication.seconds}"`,
    );
    const parameters = { max_age: String(limits.recentAuthentication.seconds), acr_values: PASSWORD_ACR };
    const user = person.user ?? (await aUser(idp.services));
    const token = await tokenOf(idp, person.app, user, 'openid admin:*', { parameters });
    const fresh = caller(idp, token, person.app, user);
    expect((await fresh.send('POST', `/users/${account.id}/disable`)).json()).toMatchObject({ active: false });
  });

  it('needs a code by email where the account has no stronger proof', async () => {
    await idp.services.settings.set('email_codes', true);
    await idp.services.settings.reload();
    const person = await aPerson(idp, ['admin'], { tool: admin.app });
    const user = person.user ?? (await aUser(idp.services));
    const { account } = await aUser(idp.services);
    const page = await person.send('POST', `/users/${account.id}/disable`);
    expect(isChallenge(page)).toBe(true);
    expect(page.text).toContain('a code by email');
    const claims = /claims=(\{.+\})\./.exec(page.json<{ detail: string }>().detail)?.[1] ?? '';
    // In place of the one in the mail.
    const mailedCode = () => idp.services.mfa.oneTimeCodes.issue(user.account.id, 'email', user.account.email ?? '');
    const token = await tokenOf(idp, person.app, user, 'openid admin:*', { parameters: { claims }, mailedCode });
    const fresh = caller(idp, token, person.app, user);
    expect((await fresh.send('POST', `/users/${account.id}/disable`)).json()).toMatchObject({ active: false });
    await idp.services.settings.unset('email_codes');
    await idp.services.settings.reload();
  });

  it('disables and enables nobody by the times of the account either', async () => {
    const { account } = await aUser(idp.services);
    await tokenOfLongAgo(idp, admin);
    const patch = (body: object) => admin.send('PATCH', `/users/${account.id}`, body, anyVersion);
    for (const times of [{ active_until: '2020-01-01T00:00:00Z' }, { active_from: '2100-01-01T00:00:00Z' }])
      expect(isChallenge(await patch(times))).toBe(true);
    const past = new Date('2020-01-01T00:00:00Z');
    await idp.services.accounts.update(account.id, { activeUntil: past });
    expect(isChallenge(await patch({ active_until: null }))).toBe(true);
    expect((await idp.services.accounts.find(account.id))?.activeUntil).toEqual(past);
  });

  it('may still make changes that are not sensitive', async () => {
    const { account } = await aUser(idp.services);
    await tokenOfLongAgo(idp, admin);
    const plain = await admin.send('PATCH', `/users/${account.id}`, { name: 'Renamed' }, anyVersion);
    expect(plain.json()).toMatchObject({ name: 'Renamed' });
    expect((await admin.send('POST', '/users', { username: 'without-roles' })).status).toBe(201);
  });
});

describe('an application that acts without a user', () => {
  it('needs no fresh sign-in', async () => {
    const service = await aService(idp);
    for (const [operationId, call] of Object.entries(await calls())) {
      // No metadata and no leaver waits for a decision, an API key belongs to a user, an import to who began it, and the new password ended the app password.
      if (
        operations[operationId] !== 'fresh' ||
        /^delete|MetadataChange$|^createApiKey$|^startImport$|^revokeUserAppPassword$|^approveProvisioning$/.test(
          operationId,
        )
      )
        continue;
      const page = await send(service, operationId, call);
      expect(page.status, `${operationId}: ${page.text}`).toBeLessThan(300);
    }
  });
});

describe('a user token below the acr that the console requires', () => {
  it('is challenged at every call, and the token of a sign-in with the second factor is not', async () => {
    const person = await aPerson(idp, ['auditor'], { tool: admin.app });
    expect((await person.get('/me')).status).toBe(200);
    const { user } = person;
    if (!user) throw new Error('no user');
    const { totp } = idp.services.mfa;
    const { secret, sealed } = totp.begin(user.account);
    await totp.confirm(user.account, sealed, generateSync({ secret }));
    for (const path of ['/me', '/users']) {
      const page = await person.get(path);
      expect([page.status, page.headers['www-authenticate']]).toEqual([
        401,
        `Bearer error="insufficient_user_authentication", error_description="A stronger sign-in is needed", acr_values="${MFA_ACR}"`,
      ]);
    }
    // The code of the next step: the one of this step was used to set it up.
    const code = () => generateSync({ secret, epoch: Date.now() / 1000 + limits.totp.stepSeconds });
    const token = await tokenOf(idp, person.app, user, 'openid admin:*', { totp: code });
    expect((await caller(idp, token, person.app, user).get('/me')).status).toBe(200);
  });
});
