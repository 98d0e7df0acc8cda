// Two servers on one database, each killed in turn while they write people to an application: nobody is lost, and nobody is there twice.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ServerProcess, serverProcess } from '../robustness/support.ts';
import { aUser } from '../support/factories.ts';
import { freePort, startIdp, type TestIdp } from '../support/idp.ts';
import { aTarget, type Setup, usersOf } from './support.ts';

const PEOPLE = 30;

let idp: TestIdp;
let other: TestIdp;
let target: Setup;
const servers: (ServerProcess | undefined)[] = [];
beforeAll(async () => {
  [idp, other] = await Promise.all([startIdp(), startIdp()]);
  // So that several are under way when a server is killed.
  target = await aTarget(idp, other, { role: 'crm', groups: true });
  target.gate.answered = () => sleep(100);
  const group = await idp.services.groups.create({ name: 'Crew' });
  const ids: string[] = [];
  for (let index = 0; index < PEOPLE; index += 1) {
    const { account } = await aUser(idp.services, { username: `crew${index}` });
    await idp.services.roles.assign(account.id, 'crm');
    ids.push(account.id);
  }
  await idp.services.groups.addMembers(
    group.id,
    ids.map((userId) => ({ userId })),
  );
  await idp.stop();
}, 180_000);
afterAll(async () => {
  for (const server of servers) await server?.kill('SIGKILL');
  await target?.gate.close();
  await other?.stop();
});

const posts = () => target.gate.sent.filter(({ method, path }) => method === 'POST' && path.endsWith('/Users'));

it('creates each person once', async () => {
  const start = async (index: number) => {
    servers[index] = await serverProcess({ ...idp.environment, PORT: String(await freePort()) });
  };
  await Promise.all([start(0), start(1)]);
  for (const [index, share] of [0.2, 0.5].entries()) {
    await expect.poll(() => posts().length, { interval: 50 }).toBeGreaterThan(PEOPLE * share);
    await servers[index]?.kill('SIGKILL');
    servers[index] = undefined;
    await start(index);
  }
  const there = async () => (await usersOf(target)).Resources.filter(({ active }) => active);
  // A person whose claim died with a server waits for its end.
  await expect.poll(async () => (await there()).length, { timeout: 300_000, interval: 1000 }).toBe(PEOPLE);
  const names = (await there()).map(({ userName }) => userName);
  expect(new Set(names).size).toBe(PEOPLE);
  const crew = async () => (await target.connection.find('displayName eq "Crew"', 'Groups')).Resources;
  await expect
    .poll(async () => ((await crew())[0]?.members as object[] | undefined)?.length, {
      timeout: 240_000,
      interval: 1000,
    })
    .toBe(PEOPLE);
  expect((await crew()).length).toBe(1);
  // Two servers divide the work: nobody is sent twice but for what was under way when one was killed.
  expect(posts().length).toBeLessThanOrEqual(PEOPLE + 2 * 4);
}, 600_000);
