import { decodeJwt } from 'jose';
import { afterAll, describe, expect, it } from 'vitest';
import { includeSessionId } from '../../../../src/protocols/oidc/patches.ts';
import { redeem, signIn, startBareEngine } from '../../bare-engine.ts';

const bare = await startBareEngine();
const patched = await startBareEngine({ patch: includeSessionId });
afterAll(() => Promise.all([bare.close(), patched.close()]));

describe('session-id-in-id-tokens', () => {
  it('is needed: the engine leaves sid out for a client without back-channel logout', async () => {
    const { id_token } = await redeem(bare, (await signIn(bare)).code);
    expect(Object.keys(decodeJwt(id_token))).not.toContain('sid');
  });

  it('names the session of the client in each ID token', async () => {
    const { browser, code } = await signIn(patched);
    const { id_token } = await redeem(patched, code);
    const cookie = browser.cookies.all().find(({ name }) => name === '_session')?.value ?? '';
    const session = await patched.provider.Session.find(cookie);
    expect(decodeJwt(id_token).sid).toBe(session?.sidFor('app'));
    expect(decodeJwt(id_token).sid).toMatch(/^.{20,}$/);
  });
});
