// SAML is served at the authorization endpoint through `registerResponseMode`, which oidc-provider tests but does not document.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Configuration, type KoaContextWithOIDC, Provider } from '../../src/protocols/oidc/engine/library.ts';
import { httpClient } from '../support/http.ts';
import { acsUri, aKey, appUri, configuration, type Engine, sharedStore, startEngine } from './bare-engine.ts';

interface Answer {
  redirectUri: string;
  payload: Record<string, unknown>;
  accountId?: string;
  clientId?: string;
  sid?: string;
  loginTs?: number;
  amr?: string[];
  participants: string[];
}

const answers: Answer[] = [];
let engine: Engine;

// Everything that src/protocols/saml uses of the engine.
function respond(ctx: KoaContextWithOIDC, redirectUri: string, payload: Record<string, unknown>): void {
  const { session, client } = ctx.oidc;
  answers.push({
    redirectUri,
    payload,
    accountId: session?.accountId,
    clientId: client?.clientId,
    sid: session?.sidFor(client?.clientId ?? ''),
    loginTs: session?.loginTs,
    amr: session?.amr,
    participants: Object.keys(session?.authorizations ?? {}),
  });
  ctx.body = 'answered';
}

beforeAll(async () => {
  const options: Configuration = configuration({ adapter: sharedStore(), jwks: { keys: [await aKey('RS256')] } });
  engine = await startEngine((issuer) => {
    const provider = new Provider(issuer, options);
    provider.registerResponseMode('saml', respond);
    return provider;
  });
});
afterAll(() => engine.close());

const request = (parameters: Record<string, string> = {}) =>
  `${engine.origin}/auth?${new URLSearchParams({
    client_id: 'urn:sp',
    response_type: 'none',
    response_mode: 'saml',
    scope: 'openid',
    redirect_uri: acsUri,
    state: 'request-1',
    ...parameters,
  })}`;

describe('a registered response mode', () => {
  it('is called with context, redirect URI and payload after the usual sign-in', async () => {
    const browser = httpClient();
    const page = await browser.follow(await browser.get(request()));
    expect(page).toMatchObject({ status: 200, text: 'answered' });
    const answer = answers.at(-1);
    expect(answer).toMatchObject({ redirectUri: acsUri, accountId: 'alice', clientId: 'urn:sp', amr: ['pwd'] });
    expect(answer?.payload).toEqual({ state: 'request-1', iss: engine.origin });
    expect(answer?.sid).toMatch(/^.{20,}$/);
    expect(answer?.loginTs).toBeGreaterThan(Date.now() / 1000 - 60);
  });

  it('is called for an error in the same way', async () => {
    await httpClient().get(request({ prompt: 'none' }));
    expect(answers.at(-1)).toMatchObject({
      redirectUri: acsUri,
      payload: { error: 'login_required', state: 'request-1', iss: engine.origin },
      accountId: undefined,
    });
  });

  it('shares the session with an OIDC application: no second sign-in, both take part, the SessionIndex stays', async () => {
    const browser = httpClient();
    const login = `${engine.origin}/auth?${new URLSearchParams({ client_id: 'app', response_type: 'code', scope: 'openid', redirect_uri: appUri })}`;
    const back = await browser.follow(await browser.get(login), (url) => url.startsWith(appUri));
    expect(back.location).toContain('code=');
    await browser.follow(await browser.get(request()));
    const first = answers.at(-1);
    await browser.follow(await browser.get(request({ prompt: 'none', state: 'request-2' })));
    expect(answers.at(-1)).toMatchObject({ sid: first?.sid, loginTs: first?.loginTs, payload: { state: 'request-2' } });
    expect(answers.at(-1)?.participants.sort()).toEqual(['app', 'urn:sp']);
  });

  it('does not answer for redirect URIs that are not registered', async () => {
    const before = answers.length;
    const page = await httpClient().get(request({ redirect_uri: 'https://sp.example.com/other' }));
    expect(page.status).toBe(400);
    expect(answers.length).toBe(before);
  });

  it('is not in discovery, but its response type is', async () => {
    const { response_types_supported, response_modes_supported } = (
      await httpClient().get(`${engine.origin}/.well-known/openid-configuration`)
    ).json();
    expect(response_types_supported).toContain('none');
    expect(response_modes_supported).not.toContain('saml');
  });
});
