// The claims parameter (OpenID Connect Core 5.5) is JSON from a client; no value of it may cause a server error.

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type Application, anApplication, authorizeUrl, signIn } from '../oidc/support.ts';
import { aUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import fc, { numRuns } from '../support/property.ts';

let idp: TestIdp;
let app: Application;
let browser: HttpClient;

beforeAll(async () => {
  idp = await startIdp();
  app = await anApplication(idp);
  browser = httpClient(idp.issuer);
  await signIn(browser, app, await aUser(idp.services));
});
afterAll(() => idp?.stop());
afterEach(() => {
  expect(idp.log.filter((line) => line.includes('"level":"error"'))).toEqual([]);
});

function expectRejection(page: Page): void {
  expect(page.status).toBeLessThan(500);
  expect(page.location ?? '').not.toContain('server_error');
}

describe('a claims parameter', () => {
  it.each([
    'abc',
    '[]',
    '"x"',
    '5',
    'null',
    '{}',
    '{"userinfo":[]}',
    '{"id_token":"x"}',
    '{"id_token":{"acr":{"essential":true,"values":"x"}}}',
    '{"id_token":{"acr":{"essential":true,"values":[5,null,{}]}}}',
    '{"id_token":{"acr":{"essential":true,"value":{"a":1}}}}',
    '{"id_token":{"acr":"x"}}',
    '{"id_token":{"sub":"x"}}',
    '{"id_token":{"sub":{"value":5}}}',
    '{"id_token":{"sub":null}}',
    '{"id_token":{"sub":[]}}',
    '{"userinfo":{"email":5}}',
    '{"userinfo":{"__proto__":null,"constructor":null}}',
    `{"userinfo":${'{"a":'.repeat(2000)}1${'}'.repeat(2000)}}`,
  ])('never causes a server error (%#)', async (claims) => {
    expectRejection(await browser.get(authorizeUrl(idp, app.clientId, { claims })));
  });

  it('never causes a server error, whatever JSON it is', async () => {
    const member = fc.dictionary(
      fc.constantFrom('sub', 'acr', 'email', 'auth_time', '__proto__', 'x'),
      fc.jsonValue({ maxDepth: 2 }),
    );
    await fc.assert(
      fc.asyncProperty(fc.record({ id_token: member, userinfo: member }, { requiredKeys: [] }), async (claims) => {
        expectRejection(await browser.get(authorizeUrl(idp, app.clientId, { claims: JSON.stringify(claims) })));
      }),
      { numRuns: numRuns(60) },
    );
  });
});
