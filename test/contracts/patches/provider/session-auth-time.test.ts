import { afterAll, describe, expect, it } from 'vitest';
import type { Provider } from '../../../../src/protocols/oidc/engine/library.ts';
import { separateAuthTime } from '../../../../src/protocols/oidc/patches/provider/session-auth-time.ts';
import { signIn, startBareEngine } from '../../bare-engine.ts';

const bare = await startBareEngine();
const patched = await startBareEngine({ patch: separateAuthTime });
afterAll(() => Promise.all([bare.close(), patched.close()]));

const sessionsOf = (provider: Provider) =>
  provider.Session as unknown as { new (): { [field: string]: never }; IN_PAYLOAD: string[] };

describe('session-auth-time', () => {
  it('is needed: the engine takes the time of the sign-in for that of the authentication', () => {
    expect(sessionsOf(bare.provider).IN_PAYLOAD).not.toContain('authTs');
    const session = new (sessionsOf(bare.provider))();
    Object.assign(session, { loginTs: 1_000, authTs: 0 });
    expect((session as unknown as { authTime(): number }).authTime()).toBe(1_000);
  });

  it('states the time of the authentication, or none, and treats an unknown one as past', () => {
    const session = new (sessionsOf(patched.provider))() as unknown as {
      authTime(): number | undefined;
      past(age: number): boolean;
    };
    const now = Math.floor(Date.now() / 1000);
    Object.assign(session, { loginTs: now, authTs: now - 3600 });
    expect(session.authTime()).toBe(now - 3600);
    expect(session.past(60), 'past a minute').toBe(true);
    expect(session.past(7200), 'past two hours').toBe(false);
    Object.assign(session, { authTs: 0 });
    expect(session.authTime()).toBeUndefined();
    expect(session.past(1e9), 'past any age').toBe(true);
  });

  it('leaves the time of a sign-in without an upstream as it is', async () => {
    const { browser } = await signIn(patched);
    const cookie = browser.cookies.all().find(({ name }) => name === '_session')?.value ?? '';
    const session = await patched.provider.Session.find(cookie);
    expect(session?.loginTs).toBeGreaterThan(0);
    expect(session?.authTime()).toBe(session?.loginTs);
    expect(session?.past(600)).toBe(false);
  });
});
