import { afterAll, describe, expect, it } from 'vitest';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { addRejectionCode } from '../../../../src/protocols/oidc/patches/http.ts';
import { httpClient } from '../../../support/http.ts';
import { appUri, type Engine, startBareEngine } from '../../bare-engine.ts';

const bare = await startBareEngine();
const patched = await startBareEngine({
  async around(ctx, next) {
    await next();
    addRejectionCode(ctx, ctx.query.state === 'recorded' ? 'ABCD-EFGH' : undefined);
  },
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

async function rejected({ origin }: Engine, state: string) {
  const query = {
    client_id: 'app',
    response_type: 'code',
    scope: 'openid',
    redirect_uri: appUri,
    max_age: '-1',
    state,
  };
  const { location } = await httpClient().get(`${origin}${routes.authorization}?${new URLSearchParams(query)}`);
  return Object.fromEntries(new URL(location ?? '').searchParams);
}

describe('rejection-code', () => {
  it('is needed: the engine sends an error back with a description of its own', async () => {
    expect(await rejected(bare, 'recorded')).toMatchObject({
      error: 'invalid_request',
      error_description: 'invalid max_age parameter value',
      state: 'recorded',
    });
  });

  it('adds the code to an error in the fragment, where the engine sends those of an unsupported response type', async () => {
    const query = {
      client_id: 'app',
      response_type: 'id_token',
      scope: 'openid',
      redirect_uri: appUri,
      state: 'recorded',
    };
    const answer = await httpClient().get(`${patched.origin}${routes.authorization}?${new URLSearchParams(query)}`);
    const { hash, search } = new URL(answer.location ?? '');
    expect(search).toBe('');
    const sent = Object.fromEntries(new URLSearchParams(hash.slice(1)));
    expect(sent).toMatchObject({ error: 'unsupported_response_type', state: 'recorded' });
    expect(sent.error_description).toContain('ABCD-EFGH');
  });

  it('adds the code of a recorded rejection to the description, and nothing otherwise', async () => {
    const description = (await rejected(bare, 'other')).error_description;
    const withCode = await rejected(patched, 'recorded');
    expect(withCode.error_description).toContain('ABCD-EFGH');
    expect(withCode).toMatchObject({ error: 'invalid_request', state: 'recorded' });
    expect((await rejected(patched, 'other')).error_description).toBe(description);
  });
});
