// How the response reaches the application (OAuth 2.0 Multiple Response Types, Form Post Response Mode); the response mode of
// service providers is not available to clients.
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { beforeAll, describe, expect, it } from 'vitest';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import { type Application, anApplication, authorizeUrl, completeSignIn, redirectUri } from '../support.ts';

let idp: TestIdp;
let user: TestUser;
let app: Application;

beforeAll(async () => {
  idp = await sharedIdp();
  user = await aUser(idp.services);
  app = await anApplication(idp);
});

describe('the response mode', () => {
  it('query is the default of the code flow', async () => {
    for (const mode of [null, 'query']) {
      const page = await completeSignIn(
        httpClient(idp.issuer),
        authorizeUrl(idp, app.clientId, { response_mode: mode }),
        {
          user,
        },
      );
      expect(new URL(page.location ?? '').searchParams.get('state')).toBe('the-state');
    }
  });

  it('fragment puts the response behind #', async () => {
    const page = await completeSignIn(
      httpClient(idp.issuer),
      authorizeUrl(idp, app.clientId, { response_mode: 'fragment' }),
      {
        user,
      },
    );
    const { search, hash } = new URL(page.location ?? '');
    expect(search).toBe('');
    expect(new URLSearchParams(hash.slice(1)).get('iss')).toBe(idp.issuer);
  });

  it('form_post is a page of this server that submits itself to the application', async () => {
    const page = await completeSignIn(
      httpClient(idp.issuer),
      authorizeUrl(idp, app.clientId, { response_mode: 'form_post' }),
      {
        user,
      },
    );
    expect(page.status).toBe(200);
    expect(page.text).toContain('One moment');
    expect(page.forms[0]).toMatchObject({
      action: redirectUri,
      method: 'post',
      fields: { code: expect.any(String), state: 'the-state', iss: idp.issuer },
    });
    expect(page.headers['cache-control']).toContain('no-store');
    expect(page.headers['content-security-policy']).not.toContain('sha256');
    expect(page.text).not.toMatch(/<script>/);
  });

  it('form_post carries errors too', async () => {
    const page = await httpClient(idp.issuer).get(
      authorizeUrl(idp, app.clientId, { response_mode: 'form_post', prompt: 'none', state: '"><script>alert(1)//' }),
    );
    expect(page.forms[0]?.fields).toMatchObject({ error: 'login_required', state: '"><script>alert(1)//' });
    expect(page.text).not.toContain('<script>alert');
  });

  it('is rejected when it is unknown', async () => {
    for (const mode of ['web_message', 'web_message.jwt', 'jwe', 'dance']) {
      const page = await httpClient(idp.issuer).get(authorizeUrl(idp, app.clientId, { response_mode: mode }));
      expect(new URL(page.location ?? '').searchParams.get('error')).toBe('unsupported_response_mode');
    }
  });

  it.each(['jwt', 'query.jwt', 'fragment.jwt', 'form_post.jwt'])('%s signs the response (JARM)', async (mode) => {
    const url = authorizeUrl(idp, app.clientId, { response_mode: mode, prompt: 'none' });
    const page = await httpClient(idp.issuer).get(url);
    const [form] = page.forms;
    const { search, hash } = new URL(page.location ?? idp.issuer);
    const parts = { jwt: search, 'query.jwt': search, 'fragment.jwt': hash.slice(1) }[mode];
    const response = new URLSearchParams(parts).get('response') ?? form?.fields.response ?? '';
    const keys = createRemoteJWKSet(new URL(`${idp.issuer}/jwks`));
    const { payload } = await jwtVerify(response, keys, { issuer: idp.issuer, audience: app.clientId });
    expect(payload).toMatchObject({ error: 'login_required', state: 'the-state' });
  });

  it.each([
    ['a sound request', {}],
    ['a request without PKCE', { code_challenge: null }],
    ['a request of an unknown type', { response_type: 'token' }],
    ['the type of SAML applications', { response_type: 'none' }],
    ['a request that would be answered at once', { prompt: 'none' }],
    ['a request object', { request: 'abc' }],
  ])('saml is rejected on a page for %s', async (_what, parameters) => {
    const page = await httpClient(idp.issuer).get(
      authorizeUrl(idp, app.clientId, { ...parameters, response_mode: 'saml' }),
    );
    expect([page.status, page.location]).toEqual([400, undefined]);
    expect(page.text).toContain(String(page.headers['x-request-id']));
  });

  it('saml is rejected at the pushed authorization request endpoint', async () => {
    const answer = await httpClient(idp.issuer).post('/par', {
      form: { ...Object.fromEntries(new URL(authorizeUrl(idp, app.clientId)).searchParams), response_mode: 'saml' },
      headers: { authorization: `Basic ${btoa(`${app.clientId}:${app.clientSecret}`)}` },
    });
    expect(answer.status).toBe(400);
    expect(answer.json()).toMatchObject({ error: 'invalid_request' });
  });
});

describe('a SAML application', () => {
  const acs = 'https://sp.example/acs';

  it('cannot be opened by OpenID Connect, and nothing is sent to its ACS', async () => {
    const clientId = 'https://sp.example/metadata';
    await idp.services.applications.createSaml({
      entityId: clientId,
      name: 'Wiki',
      enabled: true,
      consent: 'implicit',
      access: 'everyone',
      settings: {
        name_id_format: 'persistent',
        force_name_id_format: false,
        ignore_requested_authn_context: false,
        require_allow_create: false,
        attributes: {},
        sign: 'assertion',
        encrypt_assertion: 'auto',
        idp_initiated: false,
        allow_sha1: false,
        allow_cbc: false,
        acs: [{ url: acs, index: 0, default: true }],
      },
    });
    const requests: Record<string, string | null>[] = [
      { response_type: 'none', response_mode: null },
      { response_type: 'none', response_mode: 'saml' },
      { response_type: 'none', response_mode: 'query' },
      { response_type: 'code', response_mode: null },
      { response_type: 'code', response_mode: 'saml' },
      { response_type: 'none', response_mode: 'form_post', prompt: 'none' },
    ];
    for (const parameters of requests) {
      const page = await httpClient(idp.issuer).get(authorizeUrl(idp, clientId, { ...parameters, redirect_uri: acs }));
      expect({ status: page.status, location: page.location }, JSON.stringify(parameters)).toEqual({
        status: 400,
        location: undefined,
      });
    }
    const token = await httpClient(idp.issuer).post('/token', {
      form: { grant_type: 'authorization_code', code: 'x', redirect_uri: acs, client_id: clientId },
    });
    expect(token.status).toBe(400);
  });
});
