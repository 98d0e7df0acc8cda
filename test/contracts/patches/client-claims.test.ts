import { decodeJwt } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import { routes } from '../../../src/oidc/engine/configuration.ts';
import type { Configuration } from '../../../src/oidc/engine/library.ts';
import { APPLICATION_CLAIMS, addApplicationClaims } from '../../../src/oidc/patches/client-claims.ts';
import { httpClient } from '../../support/http.ts';
import { type Engine, redeem, signIn, startBareEngine } from '../bare-engine.ts';

const configuration: Configuration = {
  conformIdTokenClaims: false,
  findAccount: (_ctx, id) => ({
    accountId: id,
    claims: async () => ({ sub: id, unlisted: true, [APPLICATION_CLAIMS]: { department: 'research' } }),
  }),
};
const bare = await startBareEngine({ configuration });
const patched = await startBareEngine({ configuration, patch: addApplicationClaims });
afterAll(() => Promise.all([bare.close(), patched.close()]));

async function claimsOf(engine: Engine) {
  const { access_token, id_token } = await redeem(engine, (await signIn(engine)).code);
  const headers = { authorization: `Bearer ${access_token}` };
  const userinfo = (await httpClient().get(`${engine.origin}${routes.userinfo}`, { headers })).json();
  return { idToken: decodeJwt(id_token), userinfo };
}

describe('client-claims', () => {
  it('client-claims is needed: the engine drops each claim that is not in its list', async () => {
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
});
