import { afterAll, describe, expect, it } from 'vitest';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { answerRevocationInJson } from '../../../../src/protocols/oidc/patches/http.ts';
import { httpClient } from '../../../support/http.ts';
import { basic, type Engine, startBareEngine } from '../../bare-engine.ts';

const configuration = { features: { revocation: { enabled: true } } };
const bare = await startBareEngine({ configuration });
const patched = await startBareEngine({
  configuration,
  async around(ctx, next) {
    await next();
    answerRevocationInJson(ctx);
  },
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

const revoke = ({ origin }: Engine, secret?: string) =>
  httpClient().post(`${origin}${routes.revocation}`, { form: { token: 'unknown' }, headers: basic('app', secret) });

describe('revocation-body', () => {
  it('is needed: the engine answers with an empty body', async () => {
    expect(await revoke(bare)).toMatchObject({ status: 200, text: '' });
  });

  it('answers with an empty object, and leaves errors as they are', async () => {
    expect(await revoke(patched)).toMatchObject({ status: 200, text: '{}' });
    expect((await revoke(patched, 'wrong')).json()).toMatchObject({ error: 'invalid_client' });
  });
});
