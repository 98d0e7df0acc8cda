// What broke elsewhere, behind the small proxy (test/support/website-attacks.ts has the list, and test/peers/forward-auth.ts the real proxies).
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ProxyKind, proxyKinds } from '../../src/applications/fields/proxied-application.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { some } from '../support/long-run.ts';
import { type Website, website } from '../support/website.ts';
import { type Attacked, attacks } from '../support/website-attacks.ts';

let idp: TestIdp;
let [user, attacker]: TestUser[] = [];
const closing: Website[] = [];

beforeAll(async () => {
  idp = await startIdp();
  await idp.services.settings.set('rate_limits', false);
  await idp.services.settings.reload();
  for (const name of ['reader', 'nobody']) await idp.services.roles.create({ name });
  [user, attacker] = [await aUser(idp.services), await aUser(idp.services)];
  for (const { account } of [user, attacker]) await idp.services.roles.assign(account.id, 'reader');
});
afterAll(async () => {
  for (const site of closing) await site.close();
  await idp?.stop();
});

async function attacked(proxy: ProxyKind): Promise<Attacked> {
  const [one, two] = [await aProxy(proxy), await aProxy(proxy)];
  const [site, other] = [one.origin, two.origin.replace('127.0.0.1', 'wiki.localhost')];
  const { applications } = idp.services;
  const access = { roles: ['reader'] };
  await applications.createProxied({
    name: site,
    url: site,
    proxy,
    access,
    paths: [
      { path: '/public/', rule: 'public' },
      { path: '/admin/', rule: { roles: ['nobody'] } },
    ],
  });
  await applications.createProxied({ name: other, url: other, proxy, access });
  if (!user || !attacker) throw new Error('there are no users');
  return { issuer: idp.issuer, services: idp.services, site, other, user, attacker };
}

async function aProxy(proxy: ProxyKind): Promise<Website> {
  const site = await website(proxy, () => idp.issuer, ['Remote-User', 'Remote-Groups', 'X-Gatehouse-Jwt']);
  closing.push(site);
  return site;
}

describe.each(some(3, proxyKinds))('behind %s', (proxy) => {
  let target: Attacked;
  beforeAll(async () => {
    target = await attacked(proxy);
  });
  it.each(attacks.map(({ title, run }) => [title, run] as const))('%s', async (_title, run) => {
    expect(await run(target)).toEqual([]);
  });
});
