// People and groups written to SCIM services of others: SCIMMY's, and scim2-server (README.md). Not part of `npm test`, because it needs them.
//   npx tsx test/peers/provisioning.ts
import assert from 'node:assert/strict';
import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Services } from '../../src/server/services.ts';
import { aClient, aUser } from '../support/factories.ts';
import { startGatehouse } from './gatehouse.ts';
import { freePort, needFile, skip, startProgram } from './programs.ts';

const INSTALLED = process.env.SCIM ?? '/opt/peers/scim';
const TOKEN = 'token-of-the-trial';

type Json = Record<string, unknown>;
interface Peer {
  url: string;
  stop(): unknown;
}

/** scimmy-routers with its resources in memory, which knows the two filters that are sent. */
async function startScimmy(): Promise<Peer> {
  const require = createRequire(
    needFile(path.join(INSTALLED, 'node_modules/scimmy-routers/package.json'), 'README.md'),
  );
  const express = require('express');
  const { default: SCIMMY } = require('scimmy');
  const { default: Routers } = require('scimmy-routers');
  for (const Type of [SCIMMY.Resources.User, SCIMMY.Resources.Group]) {
    const kept = new Map<string, Json>();
    SCIMMY.Resources.declare(Type)
      .ingress(({ id = randomUUID() }: { id?: string }, given: object) => {
        const values = JSON.parse(JSON.stringify(given)) as Json;
        const isTaken = [...kept].some(
          ([other, { userName }]) => other !== id && userName && userName === values.userName,
        );
        if (isTaken) throw new SCIMMY.Types.Error(409, 'uniqueness', 'userName is taken');
        kept.set(id, { ...values, id });
        return kept.get(id);
      })
      .egress(({ id, filter }: { id?: string; filter?: { match(all: unknown[]): unknown[] } }) => {
        if (id === undefined) return filter ? filter.match([...kept.values()]) : [...kept.values()];
        if (!kept.has(id)) throw new SCIMMY.Types.Error(404, null, 'not found');
        return kept.get(id);
      })
      .degress(({ id }: { id: string }) => void kept.delete(id));
  }
  SCIMMY.Schemas.User.definition.extend(SCIMMY.Schemas.EnterpriseUser.definition);
  const handler = (request: { header(name: string): string | undefined }) => {
    if (request.header('authorization') !== `Bearer ${TOKEN}`) throw new Error('wrong token');
    return 'trial';
  };
  const server = express()
    .use('/scim/v2', new Routers({ type: 'bearer', handler }))
    .listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/scim/v2`, stop: () => server.close() };
}

async function startScim2Server(): Promise<Peer> {
  const program = needFile(path.join(INSTALLED, 'bin/scim2-server'), 'README.md');
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const { stop } = await startProgram(program, ['--port', String(port), '--bearer-token', TOKEN], { ready: url });
  return { url, stop };
}

/** A person and a group, from the first day to the last. */
async function trial(services: Services, { url }: Peer): Promise<void> {
  const { accounts, roles, groups, provisioning, applications, auditChain, db, wake } = services;
  const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/scim+json' };
  const list = async (type: 'Users' | 'Groups', filter: string) => {
    const answer = await fetch(`${url}/${type}?filter=${encodeURIComponent(filter)}`, { headers });
    return ((await answer.json()) as { Resources?: Json[] }).Resources ?? [];
  };
  const role = `role-${randomUUID()}`;
  const department = 'urn:ietf:params:scim:schemas:extension:enterprise:2.0:User:department';
  await roles.create({ name: role });
  const { applicationId } = await aClient(services, {
    redirect_uris: ['https://wiki.example.com/cb'],
    access: { roles: [role] },
    provision: {
      url,
      token: TOKEN,
      groups: true,
      adopt: 'user_name',
      delete_policy: 'delete',
      attributes: { [department]: 'nickname' },
    },
  });
  const application = () => applications.get(applicationId);
  const settled = async () => {
    await auditChain.seal();
    const { seq } = await db.auditChain.findUniqueOrThrow({ where: { id: 'head' } });
    for (let tries = 0; tries < 300; tries += 1) {
      wake('provisioning', db);
      const target = await db.provisioningTarget.findUnique({ where: { applicationId } });
      const waiting = await db.provisionedObject.count({ where: { applicationId, pending: { not: '' } } });
      const isCompared =
        target?.compareAt && target.compareAt.getTime() > Date.now() + 60_000 && target.position === null;
      if (isCompared && target.auditSeq >= seq && waiting === 0) return;
      const rejected = await provisioning.rejected(await application());
      if (rejected.length > 0 || target?.lastError) assert.fail(JSON.stringify([rejected, target?.lastError]));
      await sleep(200);
    }
    assert.fail('not settled in a minute');
  };
  const username = `ann-${new URL(url).port}`;
  const { account } = await aUser(services, {
    username,
    name: null,
    givenName: 'Ann',
    familyName: 'Smith',
    nickname: 'Sales',
  });
  const user = async (name = username) => (await list('Users', `userName eq "${name}"`))[0] as Json;
  const group = await groups.create({ name: `Lab ${username}` });
  const members = async (name = group.name) =>
    ((await list('Groups', `displayName eq "${name}"`))[0]?.members ?? []) as { value: string }[];

  for (const { check, isOk, error } of await provisioning.test(await application()))
    assert.ok(isOk, `${check}: ${error}`);
  await roles.assign(account.id, role);
  assert.equal((await provisioning.preview(await application())).changes.create.count, 1);
  assert.equal(await user(), undefined, 'a dry run writes nothing');
  await settled();
  const made = await user();
  assert.equal(made.active, true);
  assert.equal(made.externalId, account.id);
  assert.deepEqual(made.emails, [{ value: account.email, type: 'work', primary: true }]);
  assert.equal((made[department.slice(0, -11)] as Json).department, 'Sales');

  await accounts.update(account.id, {
    givenName: null,
    familyName: 'Other',
    nickname: null,
    email: `new-${account.email}`,
    emailVerified: true,
  });
  await settled();
  const changed = await user();
  assert.equal((changed.name as Json).familyName, 'Other');
  assert.equal((changed.name as Json).givenName ?? undefined, undefined);
  assert.equal((changed.emails as Json[])[0]?.value, `new-${account.email}`);
  assert.equal((changed[department.slice(0, -11)] as Json | undefined)?.department ?? undefined, undefined);

  await groups.addMembers(group.id, [{ userId: account.id }]);
  await settled();
  assert.deepEqual(
    (await members()).map(({ value }) => value),
    [made.id],
  );
  await groups.update(group.id, { name: `${group.name} North` });
  await groups.removeMembers(group.id, [account.id]);
  await settled();
  assert.deepEqual(await members(`${group.name} North`), []);

  await accounts.update(account.id, { username: `${username}-2` });
  await settled();
  assert.equal((await user(`${username}-2`)).id, made.id);
  await accounts.setActive(account.id, false);
  await settled();
  assert.equal((await user(`${username}-2`)).active, false);
  await accounts.setActive(account.id, true);
  await provisioning.decide(await application(), 'compare', {});
  await settled();
  assert.equal((await user(`${username}-2`)).active, true);
  const { changes, unchanged } = await provisioning.preview(await application());
  assert.deepEqual([unchanged, ...Object.values(changes).map(({ count }) => count)], [1, 0, 0, 0, 0]);

  const { account: bob } = await aUser(services, { username: `${username}-bob` });
  const body = JSON.stringify({ schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'], userName: bob.username });
  const before = (await (await fetch(`${url}/Users`, { method: 'POST', headers, body })).json()) as Json;
  await roles.assign(bob.id, role);
  await settled();
  const { id, externalId } = await user(bob.username);
  assert.deepEqual({ id, externalId }, { id: before.id, externalId: bob.id }, 'taken over');

  await accounts.remove(account.id);
  await groups.remove(group.id);
  await settled();
  assert.equal(await user(`${username}-2`), undefined);
  assert.deepEqual(await list('Groups', `displayName eq "${group.name} North"`), []);
}

async function main(): Promise<void> {
  const peers = { 'scimmy-routers': startScimmy, 'scim2-server': startScim2Server };
  const idp = await startGatehouse();
  await idp.services.settings.set('outgoing_networks', ['127.0.0.1/32']);
  await idp.services.settings.reload();
  try {
    for (const [name, start] of Object.entries(peers)) {
      const peer = await start();
      const said = await trial(idp.services, peer).then(
        () => 'passed',
        (error: Error) => error.message,
      );
      process.stdout.write(`${name}: ${said}\n`);
      if (said !== 'passed') process.exitCode = 1;
      await peer.stop();
    }
  } finally {
    await idp.stop();
  }
}

await main().catch(skip);
