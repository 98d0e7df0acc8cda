// Which clients may ask for an API beside those that are registered for it, and how its identifier may be spelled.
import { decodeJwt } from 'jose';
import * as oidc from 'openid-client';
import { beforeAll, describe, expect, it } from 'vitest';
import { anApi, aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { sharedIdp } from '../../support/shared-idp.ts';
import {
  type Application,
  anApplication,
  authorizeUrl,
  completeSignIn,
  forApi,
  postAs,
  redirectUri,
  verifier,
} from '../support.ts';

let idp: TestIdp;
let user: TestUser;

beforeAll(async () => {
  idp = await sharedIdp();
  user = await aUser(idp.services);
});

/** The access token of a sign-in that asks for the API in this spelling. */
async function tokenFor(app: Application, resource: string, at: string = resource): Promise<string> {
  const browser = httpClient(idp.issuer);
  const started = await app.rp.start({ scope: 'openid notes:read', resource });
  const page = await completeSignIn(browser, started.url, { user });
  const tokens = await oidc.authorizationCodeGrant(app.rp.config, new URL(page.location ?? ''), started.checks, {
    resource: at,
  });
  return tokens.access_token;
}

describe('the identifier of an API', () => {
  it.each([
    ['https://notes.example', 'https://notes.example/', 'https://NOTES.example'],
    ['https://slash.example/', 'https://slash.example', 'HTTPS://Slash.Example/'],
  ])(
    '%s is found with and without the slash of its empty path, and its host in any case',
    async (registered, one, other) => {
      await anApi(idp.services, { identifier: registered, scopes: ['notes:read'] });
      const app = await anApplication(idp, forApi(other, 'notes:read'));
      const token = decodeJwt(await tokenFor(app, one, other));
      expect(token).toMatchObject({ aud: registered, scope: 'notes:read' });
    },
  );

  it('is another one with a slash behind a path', async () => {
    await anApi(idp.services, { identifier: 'https://paths.example/mcp', scopes: ['notes:read'] });
    const app = await anApplication(idp, forApi('https://paths.example/mcp', 'notes:read'));
    await expect(tokenFor(app, 'https://paths.example/mcp/')).rejects.toThrow();
  });

  it('is registered once, in whatever spelling', async () => {
    await anApi(idp.services, { identifier: 'https://Once.example' });
    expect((await idp.services.resources.get('https://once.example')).identifier).toBe('https://once.example');
    await expect(anApi(idp.services, { identifier: 'https://once.example/' })).rejects.toThrow(/already/i);
  });

  it('may be sent twice in two spellings, and counts once', async () => {
    await anApi(idp.services, { identifier: 'https://twice.example', scopes: ['notes:read'] });
    const app = await anApplication(idp, forApi('https://twice.example', 'notes:read'));
    const url = `${authorizeUrl(idp, app.clientId, { scope: 'notes:read' })}&${new URLSearchParams([
      ['resource', 'https://twice.example'],
      ['resource', 'https://twice.example/'],
    ])}`;
    const page = await completeSignIn(httpClient(idp.issuer), url, { user });
    const answer = await postAs(idp, app, '/token', {
      grant_type: 'authorization_code',
      code: new URL(page.location ?? '').searchParams.get('code') ?? '',
      redirect_uri: redirectUri,
      code_verifier: verifier,
    });
    expect(decodeJwt(((await answer.json()) as { access_token: string }).access_token).aud).toBe(
      'https://twice.example',
    );
  });
});
