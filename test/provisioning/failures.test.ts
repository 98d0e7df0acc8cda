// What an application does wrong: it is away, busy, rejects people, or has them already. Nothing is lost, and nobody else is delayed.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { transaction } from '../../src/base/storage/database.ts';
import { itOnBothInLongRun } from '../support/database/it-on-sqlite.ts';
import { aUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { shortPauses } from '../support/waits.ts';
import { aTarget, type Setup, settle, untilTestEnds } from './support.ts';

let idp: TestIdp;
let other: TestIdp;
beforeAll(async () => {
  shortPauses();
  [idp, other] = await Promise.all([startIdp(), startIdp()]);
});
afterAll(async () => {
  await Promise.all([idp?.stop(), other?.stop()]);
});
const keep = untilTestEnds(() => idp);
const target = async (...given: Parameters<typeof aTarget>) => keep(await aTarget(...given));
const named = async ({ connection }: Setup, userName: string) =>
  (await connection.find(`userName eq "${userName}"`)).Resources[0];
const people = async (prefix: string, role: string, count: number) => {
  const ids: string[] = [];
  for (let index = 0; index < count; index += 1) {
    const { account } = await aUser(idp.services, { username: `${prefix}${index}` });
    await idp.services.roles.assign(account.id, role);
    ids.push(account.id);
  }
  return ids;
};
const stateOf = async ({ applicationId }: Setup) => {
  const { applications, provisioning } = idp.services;
  return provisioning.state(await applications.get(applicationId));
};
const decide = async ({ applicationId }: Setup, decision: 'compare' | 'pause' | 'resume' | 'approve') => {
  const { applications, provisioning } = idp.services;
  return provisioning.decide(await applications.get(applicationId), decision, {});
};

itOnBothInLongRun('an application that is away delays no other one, and gets everything when it is back', async () => {
  const dead = await target(idp, other, { role: 'dead' });
  const live = await target(idp, other, { role: 'live' });
  dead.gate.instead = () => ({ status: 503, headers: { 'retry-after': '3600' } });
  await people('away', 'dead', 3);
  await people('near', 'live', 1);
  await expect.poll(() => named(live, 'near0')).toMatchObject({ active: true });
  await expect.poll(async () => (await stateOf(dead)).failingSince).not.toBeNull();
  const { retryAt } = await stateOf(dead);
  expect((retryAt?.getTime() ?? 0) - Date.now()).toBeGreaterThan(3_500_000);
  const calls = dead.gate.sent.length;
  dead.gate.instead = () => undefined;
  await decide(dead, 'compare');
  await settle(idp);
  expect(dead.gate.sent.length).toBeGreaterThan(calls);
  expect(calls).toBeLessThanOrEqual(4); // one for each slot of the lane
  expect(await stateOf(dead)).toMatchObject({ failingSince: null, active: 3 });
});

itOnBothInLongRun('a person who is rejected is listed with the answer, and does not stop the others', async () => {
  const made = await target(idp, other, { role: 'picky' });
  const body = JSON.stringify({
    schemas: ['urn:ietf:params:scim:api:messages:2.0:Error'],
    scimType: 'invalidValue',
    detail: 'no licence\nleft',
    status: '400',
  });
  made.gate.instead = ({ method, body: sent }) =>
    method === 'POST' && sent.includes('"picky1"') ? { status: 400, body } : undefined;
  await people('picky', 'picky', 3);
  await settle(idp);
  expect(await named(made, 'picky2')).toBeDefined();
  const { applications, provisioning } = idp.services;
  const rejected = await provisioning.rejected(await applications.get(made.applicationId));
  expect(rejected).toMatchObject([{ kind: 'user', name: 'picky1', error: '400 invalidValue: no licence left' }]);
  made.gate.instead = () => undefined;
  await decide(made, 'compare');
  await expect.poll(() => named(made, 'picky1')).toMatchObject({ active: true });
});

itOnBothInLongRun('an account that is there already is taken over only as the setting says', async () => {
  const shy = await target(idp, other, { role: 'shy' });
  await shy.connection.ok('POST', '/Users', { userName: 'early0', displayName: 'Local' });
  await people('early', 'shy', 1);
  await settle(idp);
  const { applications, provisioning } = idp.services;
  const list = async () => provisioning.rejected(await applications.get(shy.applicationId));
  expect(await list()).toMatchObject([{ error: 'early0 exists there already, and is not taken over (adopt)' }]);
  expect(await named(shy, 'early0')).toMatchObject({ displayName: 'Local' });
  const application = await applications.get(shy.applicationId);
  await applications.update('oidc', shy.applicationId, {
    ...(application.metadata as object),
    access: application.access,
    provision: { ...application.metadata.provision, adopt: 'user_name' } as never,
  });
  await decide(shy, 'compare');
  await expect.poll(() => named(shy, 'early0')).toMatchObject({ displayName: 'Ann Example', active: true });
  await settle(idp);
  expect(await list()).toEqual([]);
});

it('an answer that never came makes nobody twice', async () => {
  const made = await target(idp, other, { role: 'lossy' });
  let posts = 0;
  // The person is created, and the answer does not arrive.
  made.gate.answered = async ({ method }) => {
    if (method === 'POST') posts += 1;
    if (method === 'POST' && posts === 1) await new Promise(() => {});
  };
  await people('lossy', 'lossy', 2);
  await expect.poll(async () => (await stateOf(made)).active).toBe(2);
  expect((await made.connection.ok('GET', '/Users')).totalResults).toBe(2);
  expect(posts).toBe(2);
}, 90_000);

it('too many leavers are held until an administrator says so, and come back if it was a mistake', async () => {
  const made = await target(idp, other, { role: 'stop' });
  const ids = await people('stop', 'stop', 14);
  await settle(idp);
  // At one moment, as a mistake is made.
  const leave = (some: readonly string[]) =>
    transaction(idp.services.db, async (tx) => {
      for (const id of some) await idp.services.roles.unassign(id, 'stop', {}, tx);
    });
  await expect.poll(() => stateOf(made)).toMatchObject({ active: 14, stoppedAt: null });
  await leave(ids.slice(0, 12));
  await settle(idp);
  await expect.poll(async () => (await stateOf(made)).stoppedAt).not.toBeNull();
  await expect.poll(() => stateOf(made)).toMatchObject({ active: 14, held: 12 });
  for (const id of ids.slice(0, 6)) await idp.services.roles.assign(id, 'stop');
  await settle(idp);
  await expect.poll(async () => (await stateOf(made)).active).toBe(8);
  await expect.poll(() => stateOf(made)).toMatchObject({ held: 0, stoppedAt: null });
  expect(await named(made, 'stop7')).toMatchObject({ active: false });
  await leave([...ids.slice(0, 6), ...ids.slice(12)]);
  await settle(idp);
  await expect.poll(() => stateOf(made)).toMatchObject({ active: 8, held: 8 });
  await decide(made, 'approve');
  await expect.poll(async () => (await stateOf(made)).active).toBe(0);
});

itOnBothInLongRun('a leaver who saves the profile again and again loses the access all the same', async () => {
  const made = await target(idp, other, { role: 'busy' });
  const [id = ''] = await people('busy', 'busy', 1);
  await settle(idp);
  await idp.services.roles.unassign(id, 'busy');
  const { accounts, auditChain, db, wake } = idp.services;
  let nickname = 0;
  const saves = async () => {
    nickname += 1;
    await accounts.update(id, { nickname: `n${nickname}` });
    await auditChain.seal();
    wake('provisioning', db);
    return named(made, 'busy0');
  };
  await expect.poll(saves, { interval: 700 }).toMatchObject({ active: false });
});

it('a comparison that a stop of the server interrupts leaves nobody out', async () => {
  const made = await target(idp, other, { role: 'halt' });
  await people('halted', 'halt', 1);
  await settle(idp);
  const { db, provisioning } = idp.services;
  // Taken, so that the server's own jobs do not come in between.
  const names = { name: { in: ['provisioning', 'provisioning-deliveries'] } };
  const lock = { holder: 'this test', lockedUntil: new Date('2100-01-01') };
  await db.jobLock.updateMany({ where: names, data: lock });
  const [changes] = provisioning.jobs;
  const where = { applicationId: made.applicationId, kind: 'user' };
  const compared: string[] = [];
  for (let looks = 0; looks < 8; looks += 1) {
    await db.provisionedObject.updateMany({ where, data: { isActive: false, pending: '' } });
    await decide(made, 'compare');
    await changes?.run(abortedAfter(looks));
    await changes?.run(new AbortController().signal);
    compared.push((await db.provisionedObject.findFirstOrThrow({ where })).pending);
  }
  expect(compared).toEqual(Array(8).fill('update'));
  await db.jobLock.updateMany({ where: names, data: { lockedUntil: new Date(0) } });
});

/** A signal that aborts when it is looked at once more than so many times. */
function abortedAfter(looks: number): AbortSignal {
  const controller = new AbortController();
  let left = looks;
  return new Proxy(controller.signal, {
    get(signal, key) {
      if (key === 'aborted' && left-- === 0) controller.abort();
      return Reflect.get(signal, key, signal);
    },
  });
}
