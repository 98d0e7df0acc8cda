import { afterAll, describe, expect, it } from 'vitest';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { renderSelfSubmittingForm } from '../../../../src/protocols/oidc/patches/http.ts';
import { httpClient } from '../../../support/http.ts';
import { appUri, type Engine, startBareEngine } from '../../bare-engine.ts';

const POLICY = "script-src 'self'";
const rendered: unknown[] = [];
const bare = await startBareEngine();
const patched = await startBareEngine({
  async around(ctx, next) {
    ctx.set('Content-Security-Policy', POLICY);
    ctx.render = (template, data, status) => void rendered.push({ template, data, status });
    await next();
    renderSelfSubmittingForm(ctx, POLICY);
  },
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

const state = `"><script>&amp;'`;

async function answer({ origin }: Engine) {
  const browser = httpClient();
  const query = { client_id: 'app', response_type: 'code', scope: 'openid', redirect_uri: appUri };
  const parameters = new URLSearchParams({ ...query, response_mode: 'form_post', state });
  return browser.follow(await browser.get(`${origin}${routes.authorization}?${parameters}`));
}

describe('self-submitting-form', () => {
  it('is needed: the engine writes a form with an inline script', async () => {
    const { text, headers } = await answer(bare);
    expect(text).toContain('<title>Submitting Callback</title>');
    expect(text).toContain('document.forms[0].submit()');
    expect(headers['content-type']).toContain('text/html');
  });

  it('renders action and fields of the form on a page under the policy of the server', async () => {
    const { headers } = await answer(patched);
    expect(headers['content-security-policy']).toBe(POLICY);
    const fields = { code: expect.any(String), state, iss: patched.origin };
    expect(rendered).toEqual([{ template: 'form-post', data: { action: appUri, fields }, status: 200 }]);
  });

  it('renders the form with which the engine skips a confirmation', async () => {
    rendered.splice(0);
    await httpClient().get(`${patched.origin}${routes.end_session}`);
    const data = { action: `${patched.origin}${routes.end_session}/confirm`, fields: expect.any(Object) };
    expect(rendered).toEqual([{ template: 'form-post', data, status: 200 }]);
  });
});
