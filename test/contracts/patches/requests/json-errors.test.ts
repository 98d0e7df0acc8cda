import { afterAll, describe, expect, it } from 'vitest';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { preferJsonErrors } from '../../../../src/protocols/oidc/patches/http.ts';
import { httpClient } from '../../../support/http.ts';
import { basic, type Engine, startBareEngine } from '../../bare-engine.ts';

const configuration = {
  features: { introspection: { enabled: true, allowedPolicy: async () => true }, jwtIntrospection: { enabled: true } },
  renderError(ctx: { body: unknown }) {
    ctx.body = 'a page';
  },
};
const bare = await startBareEngine({ configuration });
const patched = await startBareEngine({
  configuration,
  around(ctx, next) {
    preferJsonErrors(ctx);
    return next();
  },
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

const headers = { accept: 'text/html', ...basic('app', 'wrong') };
const token = ({ origin }: Engine) => httpClient().post(`${origin}${routes.token}`, { form: { code: 'x' }, headers });

describe('json-errors', () => {
  it('is needed: the engine answers a program that accepts HTML with a page', async () => {
    expect((await token(bare)).text).toBe('a page');
  });

  it('answers programs in JSON, and browsers with a page', async () => {
    expect((await token(patched)).json()).toMatchObject({ error: 'invalid_client' });
    const page = await httpClient().get(`${patched.origin}${routes.authorization}`, {
      headers: { accept: 'text/html' },
    });
    expect(page.text).toBe('a page');
  });

  it('leaves a program the signed response of introspection, with errors in JSON', async () => {
    const accept = 'text/html, application/token-introspection+jwt';
    const introspect = (secret: string) =>
      httpClient().post(`${patched.origin}${routes.introspection}`, {
        form: { token: 'x' },
        headers: { accept, ...basic('app', secret) },
      });
    expect((await introspect('secret')).headers['content-type']).toContain('application/token-introspection+jwt');
    expect((await introspect('wrong')).json()).toMatchObject({ error: 'invalid_client' });
  });
});
