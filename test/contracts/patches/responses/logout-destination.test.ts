import { afterAll, describe, expect, it } from 'vitest';
import type { Configuration } from '../../../../src/protocols/oidc/engine/library.ts';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { redirectToLogoutRun } from '../../../../src/protocols/oidc/patches/http.ts';
import { type Engine, showForm, signIn, startBareEngine } from '../../bare-engine.ts';

const configuration: Configuration = {
  features: { rpInitiatedLogout: { enabled: true, logoutSource: showForm } },
};
const bare = await startBareEngine({ configuration });
const patched = await startBareEngine({
  configuration,
  async around(ctx, next) {
    if (ctx.path === `${routes.end_session}/confirm`) ctx.state.logoutRunPath = '/signout/run';
    await next();
    redirectToLogoutRun(ctx);
  },
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

async function destination(engine: Engine) {
  const { browser } = await signIn(engine);
  const page = await browser.get(`${engine.origin}${routes.end_session}`);
  return (await browser.submit(page, { logout: 'yes' })).location;
}

describe('logout-destination', () => {
  it('is needed: the engine redirects a confirmed logout to its own end at once', async () => {
    expect(await destination(bare)).toBe(`${bare.origin}${routes.end_session}/success`);
  });

  it('redirects to the logout run where there is one', async () => {
    expect(await destination(patched)).toBe(`${patched.origin}/signout/run`);
  });
});
