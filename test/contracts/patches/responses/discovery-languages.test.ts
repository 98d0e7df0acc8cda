import { afterAll, describe, expect, it } from 'vitest';
import { DISCOVERY } from '../../../../src/oidc/engine/routes.ts';
import { listOfferedLanguages } from '../../../../src/oidc/patches/responses/discovery-languages.ts';
import { httpClient } from '../../../support/http.ts';
import { type Engine, startBareEngine } from '../../bare-engine.ts';

let offered = ['en'];
const discovery = Object.defineProperty({}, 'ui_locales_supported', { get: () => offered, enumerable: true });
const bare = await startBareEngine({ configuration: { discovery } });
const patched = await startBareEngine({
  async around(ctx, next) {
    ctx.state.offeredLanguages = () => ({ tags: offered, standard: 'en' });
    await next();
    listOfferedLanguages(ctx);
  },
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

const listed = async ({ origin }: Engine) =>
  (await httpClient().get(`${origin}${DISCOVERY[0]}`)).json().ui_locales_supported;

describe('discovery-languages', () => {
  it('is needed: the engine reads its option for discovery once', async () => {
    offered = ['de', 'en'];
    expect(await listed(bare)).toEqual(['en']);
  });

  it('lists the languages that are offered at the time of the request', async () => {
    offered = ['en'];
    expect(await listed(patched)).toEqual(['en']);
    offered = ['de', 'en'];
    expect(await listed(patched)).toEqual(['de', 'en']);
  });
});
