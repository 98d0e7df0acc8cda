// Redirect URIs: compared character by character with the registered ones (RFC 9700 2.1).
import { beforeAll, describe, expect, it } from 'vitest';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { type Application, anApplication, authorizeUrl, redirectUri } from '../support.ts';

let idp: TestIdp;
let web: Application;
let native: Application;

beforeAll(async () => {
  idp = await sharedIdp();
  web = await anApplication(idp);
  native = await anApplication(idp, {
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    redirect_uris: ['http://127.0.0.1/cb', 'com.example.app:/cb'],
  });
});

const open = (url: string) => httpClient(idp.issuer).get(url);

describe('the redirect URI', () => {
  it.each([
    ['another path', `${redirectUri}/more`],
    ['another query', `${redirectUri}?next=1`],
    ['another port', 'http://127.0.0.1:4001/cb'],
    ['another host', 'https://attacker.example/cb'],
    ['another scheme', 'https://127.0.0.1:4000/cb'],
    ['a name for the same address', 'http://localhost:4000/cb'],
    ['upper case', 'HTTP://127.0.0.1:4000/cb'],
    ['a path that would normalize to it', 'http://127.0.0.1:4000/x/../cb'],
    ['a percent-encoded letter', 'http://127.0.0.1:4000/%63b'],
    ['user info in front of another host', 'http://127.0.0.1:4000@attacker.example/cb'],
    ['a fragment', `${redirectUri}#x`],
    ['a slash at the end', `${redirectUri}/`],
    ['a script', 'javascript:alert(1)'],
    ['no address', 'cb'],
    ['nothing', ''],
  ])('is rejected on a page with %s', async (_what, uri) => {
    const page = await open(authorizeUrl(idp, web.clientId, { redirect_uri: uri }));
    expect(page.status).toBe(400);
    expect(page.location).toBeUndefined();
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.text).toContain(String(page.headers['x-request-id']));
    expect(page.text).not.toMatch(/(href|action|url)="?(javascript|https?:\/\/attacker)/i);
  });

  it('must be sent, even when only one is registered', async () => {
    const page = await open(authorizeUrl(idp, web.clientId, { redirect_uri: null }));
    expect(page.status).toBe(400);
    expect(page.location).toBeUndefined();
  });

  it('must not be sent twice', async () => {
    const url = `${authorizeUrl(idp, web.clientId)}&redirect_uri=${encodeURIComponent('https://attacker.example/')}`;
    const page = await open(url);
    expect(page.status).toBe(400);
    expect(page.location).toBeUndefined();
  });

  it('is checked before any error is sent to it', async () => {
    const invalidParameters: Record<string, string | null>[] = [
      { response_type: 'token' },
      { code_challenge: null },
      { scope: 'a"b' },
      { prompt: 'dance' },
    ];
    for (const invalid of invalidParameters) {
      const redirect_uri = 'https://attacker.example/';
      const { status, location } = await open(authorizeUrl(idp, web.clientId, { redirect_uri, ...invalid }));
      expect({ status, location }, JSON.stringify(invalid)).toEqual({ status: 400, location: undefined });
    }
  });

  it('may have any port on a loopback address for a native application, and no other difference', async () => {
    const right = await open(authorizeUrl(idp, native.clientId, { redirect_uri: 'http://127.0.0.1:51004/cb' }));
    expect(right.location).toContain('/signin/');
    for (const uri of ['http://127.0.0.1:51004/other', 'http://localhost:51004/cb', 'http://127.0.0.1:51004x/cb']) {
      const page = await open(authorizeUrl(idp, native.clientId, { redirect_uri: uri }));
      expect({ status: page.status, location: page.location }, uri).toEqual({ status: 400, location: undefined });
    }
  });

  it('may be below localhost, for a native application with any port', async () => {
    const names = { token_endpoint_auth_method: 'none' as const, redirect_uris: ['http://app.localhost/cb'] };
    const wide = await anApplication(idp, { ...names, application_type: 'native' });
    const exact = await anApplication(idp, { ...names, application_type: 'web' });
    const withPort = 'http://app.localhost:51004/cb';
    expect((await open(authorizeUrl(idp, wide.clientId, { redirect_uri: withPort }))).location).toContain('/signin/');
    const sameUri = authorizeUrl(idp, exact.clientId, { redirect_uri: 'http://app.localhost/cb' });
    expect((await open(sameUri)).location).toContain('/signin/');
    expect((await open(authorizeUrl(idp, exact.clientId, { redirect_uri: withPort }))).status).toBe(400);
    const lookalike = authorizeUrl(idp, wide.clientId, { redirect_uri: 'http://app.localhost.evil.example/cb' });
    expect((await open(lookalike)).status).toBe(400);
  });

  it('may have a private-use scheme for a native application', async () => {
    const page = await open(authorizeUrl(idp, native.clientId, { redirect_uri: 'com.example.app:/cb' }));
    expect(page.location).toContain('/signin/');
  });

  it('is never used for an unknown or disabled application', async () => {
    const off = await anApplication(idp, { redirect_uris: [redirectUri] });
    await idp.services.applications.setEnabled(off.applicationId, false);
    for (const clientId of ['nobody', off.clientId, '\0', 'a'.repeat(5000), 'https://sp.example/\ud800']) {
      const page = await open(authorizeUrl(idp, clientId));
      expect({ status: page.status, location: page.location }, clientId).toEqual({ status: 400, location: undefined });
    }
  });
});
