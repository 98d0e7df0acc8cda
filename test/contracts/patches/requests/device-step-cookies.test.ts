import { afterAll, describe, expect, it } from 'vitest';
import { engineRoute, routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { requireDeviceCookies } from '../../../../src/protocols/oidc/patches/http.ts';
import { httpClient } from '../../../support/http.ts';
import { type Engine, startBareEngine } from '../../bare-engine.ts';

const configuration = { features: { deviceFlow: { enabled: true } } };
const bare = await startBareEngine({ configuration });
const patched: Engine = await startBareEngine({
  configuration,
  async around(ctx, next) {
    try {
      const cookies = { get: () => undefined };
      requireDeviceCookies(ctx, {
        route: engineRoute(ctx.path) ?? '',
        provider: patched.provider,
        cookies: cookies as never,
      });
    } catch (error) {
      ctx.status = 400;
      ctx.body = (error as { code: string }).code;
      return;
    }
    await next();
  },
});
for (const { provider } of [bare, patched]) provider.silent = true;
afterAll(() => Promise.all([bare.close(), patched.close()]));

const step = `${routes.code_verification}/unknown`;
const form = { user_code: 'AAAA-BBBB' };

describe('device-step-cookies', () => {
  it('is needed: the engine fails on a form without a session, and on a step that this browser did not begin', async () => {
    expect((await httpClient().post(`${bare.origin}${routes.code_verification}`, { form })).status).toBe(500);
    expect((await httpClient().get(`${bare.origin}${step}`)).status).toBe(500);
  });

  it('answers a step or form without its cookie with an error that says what to do', async () => {
    const get = await httpClient().get(`${patched.origin}${step}`);
    expect(get).toMatchObject({ status: 400, text: 'sign_in_expired' });
    const post = await httpClient().post(`${patched.origin}${routes.code_verification}`, { form });
    expect(post).toMatchObject({ status: 400, text: 'other_browser' });
  });

  it('lets the form through in a browser that has opened it', async () => {
    const browser = httpClient();
    const page = await browser.get(`${patched.origin}${routes.code_verification}`);
    const { text } = await browser.submit(page, form);
    expect(text).not.toBe('other_browser');
  });
});
