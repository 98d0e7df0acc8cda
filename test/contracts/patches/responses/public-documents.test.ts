import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import type { Configuration } from '../../../../src/protocols/oidc/engine/library.ts';
import { DISCOVERY, routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { followSettings } from '../../../../src/protocols/oidc/patches/http.ts';
import { httpClient } from '../../../support/http.ts';
import { aKey, type Engine, startBareEngine } from '../../bare-engine.ts';

let offered = ['en'];
let published = { algs: ['RS256', 'ES256'], registration: true, documents: false };
const discovery = Object.defineProperties(
  {},
  {
    ui_locales_supported: { get: () => offered, enumerable: true },
    response_types_supported: { value: ['code'], enumerable: true },
  },
);
const keys = await Promise.all((['RS256', 'ES256'] as const).map(aKey));
const options: Configuration = {
  discovery,
  jwks: { keys } as never,
  enabledJWA: { idTokenSigningAlgValues: ['RS256', 'ES256'] as never },
  features: {
    registration: { enabled: true },
    introspection: { enabled: true },
    jwtIntrospection: { enabled: true },
    jwtUserinfo: { enabled: true },
    jwtResponseModes: { enabled: true },
  },
};
const bare = await startBareEngine({ configuration: options });
const patched = await startBareEngine({
  configuration: options,
  async around(ctx, next) {
    ctx.state.offeredLanguages = () => ({ tags: offered, standard: 'en' });
    await next();
    await followSettings(ctx, async () => published);
  },
});
afterAll(() => Promise.all([bare.close(), patched.close()]));
beforeEach(() => {
  offered = ['en'];
  published = { algs: ['RS256', 'ES256'], registration: true, documents: false };
});

const document = async ({ origin }: Engine) => (await httpClient().get(`${origin}${DISCOVERY[0]}`)).json();
const algsOf = async ({ origin }: Engine) =>
  (await httpClient().get(`${origin}${routes.jwks}`)).json<{ keys: { alg: string }[] }>().keys.map(({ alg }) => alg);

describe('public-documents', () => {
  it('is needed: the engine reads its option for discovery once, and adds to it only', async () => {
    expect(await document(bare)).toMatchObject({
      ui_locales_supported: ['en'],
      response_types_supported: ['code', 'none'],
    });
    offered = ['de', 'en'];
    expect((await document(bare)).ui_locales_supported).toEqual(['en']);
  });

  it('lists the languages that are offered at the time of the request, and the response type that clients can use', async () => {
    offered = ['de', 'en'];
    expect(await document(patched)).toMatchObject({
      ui_locales_supported: ['de', 'en'],
      claims_locales_supported: ['de', 'en'],
      response_types_supported: ['code'],
    });
  });

  it('lists the published algorithms and keys, and the registration endpoint while registration is possible', async () => {
    expect(await algsOf(patched)).toEqual(['RS256', 'ES256']);
    expect(await document(patched)).toMatchObject({ registration_endpoint: expect.any(String) });
    published = { algs: ['RS256'], registration: false, documents: false };
    expect(await algsOf(patched)).toEqual(['RS256']);
    const changed = await document(patched);
    expect(changed.id_token_signing_alg_values_supported).toEqual(['RS256']);
    expect(changed).not.toHaveProperty('registration_endpoint');
  });
});
