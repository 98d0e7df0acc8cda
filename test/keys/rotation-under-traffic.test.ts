// A key rotation under traffic: without a restart, no client fails to verify a token, and every instance follows.
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RelyingParty, relyingParty } from '../support/applications/rp.ts';
import { aClient, aUser, type TestClient, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { freePort, startIdp, type TestIdp } from '../support/idp.ts';

const redirectUri = 'http://127.0.0.1:4000/cb';
let idp: TestIdp;
let client: TestClient;
let user: TestUser;
let rp: RelyingParty;
let browser: HttpClient;

beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services);
  client = await aClient(idp.services, { redirect_uris: [redirectUri] });
  rp = await relyingParty({ issuer: idp.issuer, ...client, redirectUri });
  browser = httpClient(idp.issuer);
  const page = await browser.follow(await browser.get((await rp.start()).url));
  await browser.follow(await browser.submit(page, { username: user.username, password: user.password }), (url) =>
    url.startsWith(redirectUri),
  );
});
afterAll(() => idp?.stop());

/** Gets a new ID token with the session of the browser, validated by the client's library. */
async function idToken(): Promise<string> {
  const started = await rp.start({ prompt: 'none' });
  const back = await browser.get(started.url);
  return String((await rp.finish(back.location ?? '', started)).id_token);
}

const published = async (origin = idp.issuer) => (await httpClient().get(`${origin}/jwks`)).json<JSONWebKeySet>();

function verifies(token: string, keys: JSONWebKeySet) {
  return jwtVerify(token, createLocalJWKSet(keys), { issuer: idp.issuer, audience: client.clientId });
}

describe('a rotation of the keys', () => {
  it('is not noticed by a client, which knew the new key before and can still verify with the old one', async () => {
    const keysBefore = await published();
    const tokenBefore = await idToken();
    expect(await idp.services.keyring.rotate({ use: 'oidc', force: true })).toMatchObject({ outcome: 'rotated' });
    const tokenAfter = await idToken();
    expect(decodeProtectedHeader(tokenAfter).kid).not.toBe(decodeProtectedHeader(tokenBefore).kid);
    await verifies(tokenAfter, keysBefore);
    const keysAfter = await published();
    await verifies(tokenBefore, keysAfter);
    await verifies(tokenAfter, keysAfter);
    expect(JSON.stringify(keysAfter)).not.toMatch(/"(d|p|q|dp|dq|qi)":/);
  });

  it('fails no sign-in in progress, and no verification by a client that reads the keys rarely', async () => {
    const signers = new Set<string | undefined>();
    let isOver = false;
    const traffic = Array.from({ length: 3 }, async () => {
      let keys = await published();
      for (let turn = 0; !isOver; turn += 1) {
        const token = await idToken();
        await verifies(token, keys);
        signers.add(decodeProtectedHeader(token).kid);
        if (turn % 5 === 4) keys = await published();
      }
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    await idp.services.keyring.rotate({ use: 'oidc', force: true });
    await new Promise((resolve) => setTimeout(resolve, 300));
    isOver = true;
    await Promise.all(traffic);
    expect(signers.size).toBe(2);
  });

  it('is followed by the other instances, which accept tokens of each other meanwhile', async () => {
    const other = await startIdp({
      environment: { ...idp.environment, ISSUER: idp.issuer, PORT: String(await freePort()) },
    });
    const origin = `http://127.0.0.1:${other.port}`;
    expect(await other.services.keyring.refresh()).toBe(false);
    await idp.services.keyring.rotate({ use: 'oidc', force: true });
    const token = await idToken();
    await verifies(token, await instanceKeys(origin)); // the other instance has not read the keys again yet
    expect(await other.services.keyring.refresh()).toBe(true);
    expect(await instanceKeys(origin)).toEqual(await published());
    await other.stop();
  });
});

// The second instance serves the same issuer.
async function instanceKeys(origin: string): Promise<JSONWebKeySet> {
  const page = await httpClient().get(`${origin}/jwks`, { headers: { host: new URL(idp.issuer).host } });
  return page.json();
}
