import { afterAll, describe, expect, it } from 'vitest';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { redirectPostToGet } from '../../../../src/protocols/oidc/patches/http.ts';
import { httpClient } from '../../../support/http.ts';
import { appUri, startBareEngine } from '../../bare-engine.ts';

const bare = await startBareEngine();
const patched = await startBareEngine({
  async around(ctx, next) {
    if (!(await redirectPostToGet(ctx))) await next();
  },
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

const form = { client_id: 'app', response_type: 'code', scope: 'openid', redirect_uri: appUri, state: 'a b&c' };

describe('post-as-get', () => {
  it('is needed: without SameSite=None cookies the engine has no POST at the authorization endpoint', async () => {
    expect((await httpClient().post(`${bare.origin}${routes.authorization}`, { form })).status).toBe(404);
  });

  it.each([routes.authorization, routes.end_session])(
    'redirects a POST at %s to the same request as a GET',
    async (path) => {
      const { status, location } = await httpClient().post(`${patched.origin}${path}`, { form });
      expect(status).toBe(303);
      expect(location?.split('?')[0]).toBe(`${patched.origin}${path}`);
      expect(Object.fromEntries(new URL(location ?? '').searchParams)).toEqual(form);
    },
  );

  it('leaves every other request to the engine', async () => {
    const { location } = await httpClient().get(
      `${patched.origin}${routes.authorization}?${new URLSearchParams(form)}`,
    );
    expect(location).toContain('/signin/');
    expect((await httpClient().post(`${patched.origin}${routes.token}`, { form })).status).toBe(401);
  });
});
