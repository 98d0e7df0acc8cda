// The link back to a sign-in that was left for a mail: only to a path of this server.
import { expect, it } from 'vitest';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp } from '../support/idp.ts';

it('the page for a forgotten password links back to the sign-in that was left, and to no other address whatever the parameter says', async () => {
  const idp = await startIdp();
  await aUser(idp.services);
  const after = async (...queries: string[]) => {
    const browser = httpClient(idp.issuer);
    for (const query of queries) expect((await browser.get(`/forgot-password${query}`)).status).toBe(200);
    return /href="([^"]*)">[^<]*ign/.exec((await browser.get('/reset-password/done')).text)?.[1];
  };
  expect(await after('?signin=V1StGXR8_Z5jdHi6B-myT')).toBe('/signin/V1StGXR8_Z5jdHi6B-myT');
  expect(await after('')).toBe('/account');
  expect(await after('?signin=V1StGXR8_Z5jdHi6B-myT', '')).toBe('/account');
  for (const evil of [
    '//evil.example',
    '../../logout',
    'https://evil.example/',
    'x"><script>',
    'short',
    '%0d%0aSet-Cookie:x',
  ]) {
    expect(await after(`?signin=${encodeURIComponent(evil)}`)).toBe('/account');
  }
  await idp.stop();
});
