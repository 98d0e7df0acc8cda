import { decodeJwt } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import type { Configuration } from '../../../../src/protocols/oidc/engine/library.ts';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import {
  APPLICATION_CLAIMS,
  addApplicationClaims,
  LOCALIZED_CLAIMS,
} from '../../../../src/protocols/oidc/patches/provider/client-claims.ts';
import { httpClient } from '../../../support/http.ts';
import { type Engine, redeem, signIn, startBareEngine } from '../../bare-engine.ts';

const configuration: Configuration = {
  claims: { openid: ['sub'], profile: ['name'] },
  conformIdTokenClaims: false,
  findAccount: (_ctx, id) => ({
    accountId: id,
    claims: async () => ({
      sub: id,
      unlisted: true,
      name: 'Alice',
      [APPLICATION_CLAIMS]: [
        { claims: { department: 'research' } },
        { scope: 'openid', claims: { level: 3 } },
        { scope: 'hr', claims: { salary: 1 } },
      ],
      [LOCALIZED_CLAIMS]: { sub: { 'sub#ja': 'アリス' }, name: { 'name#ja': 'アリ' } },
    }),
  }),
};
const bare = await startBareEngine({ configuration });
const registered = (metadata: object) => ({ clients: { cachedApplicationOf: () => ({ metadata }) } as never });
const patched = await startBareEngine({ configuration, patch: (one) => addApplicationClaims(one, registered({})) });
const conforming = await startBareEngine({
  configuration,
  patch: (one) => addApplicationClaims(one, registered({ id_token_claims: 'conform' })),
});
afterAll(() => Promise.all([bare.close(), patched.close(), conforming.close()]));

async function claimsOf(engine: Engine) {
  const { access_token, id_token } = await redeem(engine, (await signIn(engine)).code);
  const headers = { authorization: `Bearer ${access_token}` };
  const userinfo = (await httpClient().get(`${engine.origin}${routes.userinfo}`, { headers })).json();
  return { idToken: decodeJwt(id_token), userinfo };
}

describe('client-claims', () => {
  it('is needed: the engine drops each claim that is not in its list', async () => {
    const { idToken, userinfo } = await claimsOf(bare);
    for (const claims of [idToken, userinfo]) {
      expect(claims.sub).toBe('alice');
      expect(Object.keys(claims)).not.toContain('unlisted');
      expect(Object.keys(claims)).not.toContain('department');
    }
  });

  it('adds the application claims to ID token and userinfo', async () => {
    const { idToken, userinfo } = await claimsOf(patched);
    for (const claims of [idToken, userinfo]) expect(claims).toMatchObject({ sub: 'alice', department: 'research' });
    expect(Object.keys(userinfo)).not.toContain('unlisted');
  });

  it('adds values in other languages to a claim that is released, and to no other', async () => {
    const { idToken, userinfo } = await claimsOf(patched);
    for (const claims of [idToken, userinfo]) {
      expect(claims).toMatchObject({ sub: 'alice', 'sub#ja': 'アリス' });
      expect(Object.keys(claims)).not.toContain('name#ja');
    }
  });

  it('adds the claims of a scope only when that scope is granted', async () => {
    const { idToken, userinfo } = await claimsOf(patched);
    for (const claims of [idToken, userinfo]) {
      expect(claims).toMatchObject({ level: 3 });
      expect(claims).not.toHaveProperty('salary');
    }
  });

  it('leaves the claims of scopes out of the ID token where the registration says so', async () => {
    const idToken = async ({ provider }: Engine) => {
      const client = await provider.Client.find('app');
      const claims = { sub: 'alice', name: 'Alice', [APPLICATION_CLAIMS]: [{ claims: { department: 'research' } }] };
      const token = new provider.IdToken(claims, { client: client as never, ctx: undefined as never });
      return decodeJwt(await Object.assign(token, { scope: 'openid profile' }).issue({ use: 'idtoken' }));
    };
    expect(await idToken(patched)).toMatchObject({ name: 'Alice', department: 'research' });
    expect(await idToken(conforming)).toMatchObject({ sub: 'alice', department: 'research' });
    expect(await idToken(conforming)).not.toHaveProperty('name');
  });
});
