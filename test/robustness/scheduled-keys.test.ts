// Scheduled key rotation under traffic on two instances: a client that caches the key set as jose's createRemoteJWKSet does
// verifies every token, without a restart of anything.
import { createRemoteJWKSet, decodeProtectedHeader, jwtVerify } from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { limits } from '../../src/base/limits.ts';
import { type LoadBalancer, loadBalancer } from '../logout/support/load-balancer.ts';
import { type Application, anApplication } from '../oidc/support.ts';
import { testClock } from '../support/clock.ts';
import { signRows } from '../support/database/row-macs.ts';
import type { TestIdp } from '../support/idp.ts';
import { reconnect } from './support.ts';

const api = 'https://api.example.com';
const clock = testClock();
let board: LoadBalancer;
let one: TestIdp;
let other: TestIdp;
let app: Application;

beforeAll(async () => {
  board = await loadBalancer({ now: clock.now });
  other = await board.another();
  one = board.instances[0] ?? expect.fail();
  await one.services.db.asStored.resource.create({ data: { identifier: api, scopes: '["articles:read"]' } });
  await signRows(one.services);
  app = await anApplication(one, { grant_types: ['client_credentials'], redirect_uris: [], resources: [api] });
  reconnect(app);
});
afterAll(() => board?.close());

it('the server rotates the signing keys so that every token verifies at a client with cached keys', async () => {
  const keys = createRemoteJWKSet(new URL(`${one.issuer}/jwks`), { headers: { connection: 'close' } });
  /** Gets a token, verifies it with the cached keys, and returns the ID of its key. */
  async function useApi(): Promise<string> {
    const { access_token: token } = await oidc.clientCredentialsGrant(app.rp.config, { resource: api });
    await jwtVerify(token, keys, { issuer: one.issuer, audience: api, typ: 'at+jwt' });
    return decodeProtectedHeader(token).kid ?? '';
  }
  const [first] = await Promise.all(Array.from({ length: 4 }, useApi));

  clock.advance({ days: limits.keys.rotateAfterDays, hours: 1 });
  const [meanwhile] = await Promise.all([useApi(), useApi(), one.services.keyring.runSchedule(), useApi(), useApi()]);
  const second = await useApi();
  expect(second).not.toBe(first);
  expect([first, second]).toContain(meanwhile);

  // Until the other instance has read the keys again, it signs with the old one, which is still published.
  board.use(other);
  expect([first, second]).toContain(await useApi());
  await other.services.keyring.refresh();
  expect(await useApi()).toBe(second);

  // The next rotation, by the other instance, for a client that read the keys in between.
  clock.advance({ days: limits.keys.rotateAfterDays, hours: 1 });
  await keys.reload();
  await Promise.all([useApi(), other.services.keyring.runSchedule(), useApi()]);
  const third = await useApi();
  expect([first, second]).not.toContain(third);
  board.use(one);
  expect([second, third]).toContain(await useApi());
  await one.services.keyring.refresh();
  expect(await useApi()).toBe(third);
});
