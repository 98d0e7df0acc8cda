// Keys are changed by a second Provider on the same storage: what that relies on.
import { createLocalJWKSet, decodeProtectedHeader, type JSONWebKeySet, jwtVerify } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { PrivateJwk } from '../../src/core/keys/key-pair.ts';
import { Provider } from '../../src/protocols/oidc/engine/library.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { aKey, appUri, configuration, type Engine, sharedStore, startEngine } from './bare-engine.ts';

const adapter = sharedStore();
let engine: Engine;
let active: PrivateJwk;
let next: PrivateJwk;

const build = (issuer: string, keys: PrivateJwk[]) =>
  new Provider(issuer, configuration({ adapter, jwks: { keys: keys as never } }));

beforeAll(async () => {
  [active, next] = await Promise.all([aKey('RS256'), aKey('RS256')]);
  const ec = await aKey('ES256');
  engine = await startEngine((issuer) => build(issuer, [active, ec, next]));
});
afterAll(() => engine.close());

async function idToken(browser: HttpClient, code?: string): Promise<string> {
  const tokens = await browser.post(`${engine.origin}/token`, {
    form: { grant_type: 'authorization_code', code: code ?? (await codeFor(browser)), redirect_uri: appUri },
    headers: { authorization: `Basic ${Buffer.from('app:secret').toString('base64')}` },
  });
  return String(tokens.json().id_token);
}

async function codeFor(browser: HttpClient, parameters: Record<string, string> = {}): Promise<string> {
  const query = { client_id: 'app', response_type: 'code', scope: 'openid', redirect_uri: appUri, ...parameters };
  const page = await browser.get(`${engine.origin}/auth?${new URLSearchParams(query)}`);
  const back = await browser.follow(page, (url) => url.startsWith(appUri));
  return new URL(back.location ?? '').searchParams.get('code') ?? String(back.location);
}

const publicKeys = async () => (await httpClient().get(`${engine.origin}/jwks`)).json<JSONWebKeySet>();

describe('the key set of the engine', () => {
  it('signs with the first key of the algorithm and publishes all of them, without private parts', async () => {
    const browser = httpClient();
    for (let round = 0; round < 3; round += 1)
      expect(decodeProtectedHeader(await idToken(browser)).kid).toBe(active.kid);
    const { keys } = await publicKeys();
    expect(keys.map(({ alg }) => alg)).toEqual(['RS256', 'ES256', 'RS256']);
    for (const key of keys) expect(Object.keys(key)).not.toContain('d');
  });

  it('is read at construction: later changes of the list have no effect', async () => {
    const keys = [active];
    engine.replace(build(engine.origin, keys));
    keys.unshift(next);
    expect((await publicKeys()).keys.map(({ kid }) => kid)).toEqual([active.kid]);
    engine.replace(engine.provider);
  });

  it('is changed by a second Provider on the same storage: sessions, codes and old tokens stay valid', async () => {
    const browser = httpClient();
    const before = await idToken(browser);
    const code = await codeFor(browser);
    engine.replace(build(engine.origin, [next, active]));

    const after = await idToken(browser, code);
    expect(decodeProtectedHeader(after).kid).toBe(next.kid);
    expect(await codeFor(browser, { prompt: 'none' })).not.toContain('error');
    expect(await codeFor(browser, { prompt: 'none', id_token_hint: before })).not.toContain('error');
    const keys = createLocalJWKSet(await publicKeys());
    for (const token of [before, after])
      expect((await jwtVerify(token, keys, { issuer: engine.origin, audience: 'app' })).payload.sub).toBe('alice');
  });

  it('rejects a hint whose key was removed, so retired keys must outlive the sessions', async () => {
    engine.replace(build(engine.origin, [active, next]));
    const browser = httpClient();
    const hint = await idToken(browser);
    engine.replace(build(engine.origin, [next]));
    const answer = await codeFor(browser, { prompt: 'none', id_token_hint: hint });
    expect(answer).toContain('error=invalid_request');
  });
});
