import { afterAll, describe, expect, it } from 'vitest';
import { DISCOVERY } from '../../../../src/oidc/engine/routes.ts';
import { hideResponseTypeNone } from '../../../../src/oidc/patches/responses/discovery-response-types.ts';
import { httpClient } from '../../../support/http.ts';
import { type Engine, startBareEngine } from '../../bare-engine.ts';

// The documented option for discovery adds to the document, and cannot change what the engine puts into it.
const configuration = { discovery: { response_types_supported: ['code'], prompt_values_supported: ['login'] } };
const bare = await startBareEngine({ configuration });
const patched = await startBareEngine({
  configuration,
  async around(ctx, next) {
    await next();
    hideResponseTypeNone(ctx);
  },
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

const document = async ({ origin }: Engine) => (await httpClient().get(`${origin}${DISCOVERY[0]}`)).json();

describe('discovery-response-types', () => {
  it('is needed: the engine lists the response type of service providers, whatever the option says', async () => {
    expect(await document(bare)).toMatchObject({
      response_types_supported: ['code', 'none'],
      prompt_values_supported: ['login'],
    });
  });

  it('lists the one response type that clients can use', async () => {
    expect(await document(patched)).toEqual({
      ...JSON.parse(JSON.stringify(await document(bare)).replaceAll(bare.origin, patched.origin)),
      response_types_supported: ['code'],
    });
  });
});
