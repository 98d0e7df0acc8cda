import { afterAll, describe, expect, it } from 'vitest';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { acceptEmptySecrets, completeRequestedScope } from '../../../../src/protocols/oidc/patches.ts';
import { httpClient } from '../../../support/http.ts';
import { type Engine, startBareEngine } from '../../bare-engine.ts';

const registered = (method: string) => ({
  clients: { cachedApplicationOf: () => ({ metadata: { token_endpoint_auth_method: method } }) } as never,
});
const bare = await startBareEngine();
/** It completes the accessor of the other patch. */
const patchedFor = (method: string) =>
  startBareEngine({
    patch(provider) {
      completeRequestedScope(provider, registered(method));
      acceptEmptySecrets(provider, registered(method));
    },
  });
const ofPublic = await patchedFor('none');
const ofConfidential = await patchedFor('client_secret_basic');
afterAll(() => Promise.all([bare.close(), ofPublic.close(), ofConfidential.close()]));

/** What the token endpoint says to the client `app` with an empty password. */
async function errorOf({ origin }: Engine): Promise<{ error: string; error_description: string }> {
  const answer = await httpClient().post(`${origin}${routes.token}`, {
    form: { grant_type: 'refresh_token', refresh_token: 'x' },
    headers: { authorization: `Basic ${Buffer.from('app:').toString('base64')}` },
  });
  return answer.json();
}

describe('empty-secrets', () => {
  it('is needed: the engine alone rejects an empty password', async () => {
    expect((await errorOf(bare)).error_description).toContain('client_secret');
  });

  it('takes the client_id of a public client, and leaves a confidential one to the engine', async () => {
    expect((await errorOf(ofPublic)).error_description).not.toContain('client_secret must be provided');
    expect(await errorOf(ofConfidential)).toEqual(await errorOf(bare));
  });
});
