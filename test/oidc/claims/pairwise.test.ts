// Pairwise subjects (OIDC Core 8): each sector knows a user by another subject, everywhere, and never by the public one.
import * as jose from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { signRows } from '../../support/database/row-macs.ts';
import { aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { type Application, anApplication, authorizeUrl, forApi, outcome, postAs, signIn } from '../support.ts';

const api = 'https://api.example.com';
let idp: TestIdp;
let user: TestUser;
let wiki: Application;
let shop: Application;
let shopApp: Application;

const pairwise = (uri: string) =>
  anApplication(idp, {
    redirect_uris: [uri],
    subject_type: 'pairwise',
    grant_types: ['authorization_code', 'refresh_token'],
    ...forApi(api, 'read'),
  });

beforeAll(async () => {
  idp = await startIdp();
  user = await aUser(idp.services);
  [wiki, shop, shopApp] = [
    await pairwise('https://wiki.example/cb'),
    await pairwise('https://shop.example/cb'),
    await pairwise('https://shop.example/app/cb'),
  ];
  await idp.services.db.asStored.resource.create({ data: { identifier: api, scopes: '["read"]' } });
  await signRows(idp.services);
});
afterAll(() => idp?.stop());

const subOf = async (app: Application, who = user) =>
  (await signIn(httpClient(idp.issuer), app, who)).tokens.claims()?.sub;

describe('a pairwise subject', () => {
  it('differs by sector and user, is the same within a sector, and is never the public subject', async () => {
    const subs = await Promise.all([wiki, shop, shopApp].map((app) => subOf(app)));
    expect(subs[1]).toBe(subs[2]);
    expect(subs[0]).not.toBe(subs[1]);
    expect(subs).not.toContain(user.account.id);
    expect(await subOf(wiki)).toBe(subs[0]);
    expect(await subOf(wiki, await aUser(idp.services))).not.toBe(subs[0]);
  });

  it('is the same in userinfo, introspection and a JWT access token', async () => {
    const browser = httpClient(idp.issuer);
    const { tokens } = await signIn(browser, wiki, user, { scope: 'openid offline_access' });
    const sub = tokens.claims()?.sub;
    expect((await wiki.rp.userinfo(tokens)).sub).toBe(sub);
    expect((await wiki.rp.introspect(tokens.access_token)).sub).toBe(sub);
    expect((await wiki.rp.introspect(tokens.refresh_token ?? '')).sub).toBe(sub);
    const resource = await anApplication(idp, { grant_types: ['client_credentials'], redirect_uris: [] });
    const foreign = await postAs(idp, resource, '/introspect', { token: tokens.access_token });
    expect(foreign.json()).toMatchObject({ active: true, sub, client_id: wiki.clientId });

    const started = await wiki.rp.start({ scope: 'openid read', resource: api });
    const page = await browser.follow(await browser.get(started.url), (url) => url.startsWith(wiki.redirectUri));
    const code = new URL(page.location ?? '').searchParams.get('code') ?? '';
    const answer = await postAs(idp, wiki, '/token', {
      grant_type: 'authorization_code',
      code,
      redirect_uri: wiki.redirectUri,
      code_verifier: started.checks.pkceCodeVerifier,
      resource: api,
    });
    expect(jose.decodeJwt(String(answer.json().access_token))).toMatchObject({ sub, aud: api });
  });

  it('is what a pairwise API receives at introspection, whichever client the token belongs to', async () => {
    const site = await anApplication(idp);
    const { tokens } = await signIn(httpClient(idp.issuer), site, user);
    const introspection = await postAs(idp, shopApp, '/introspect', { token: tokens.access_token });
    expect(introspection.json()).toMatchObject({ active: true, sub: await subOf(shop), client_id: site.clientId });
    const { tokens: others } = await signIn(httpClient(idp.issuer), wiki, user);
    const foreign = await postAs(idp, shopApp, '/introspect', { token: others.access_token });
    expect(foreign.json()).toMatchObject({ active: true, sub: await subOf(shop), client_id: wiki.clientId });
  });

  it('is accepted in an id_token_hint and as a requested sub', async () => {
    const browser = httpClient(idp.issuer);
    const { tokens } = await signIn(browser, wiki, user);
    const parameters = { redirect_uri: wiki.redirectUri, prompt: 'none' };
    const claims = (sub: unknown) => JSON.stringify({ id_token: { sub: { value: sub } } });
    const ask = (more: Record<string, string>) =>
      outcome(browser, authorizeUrl(idp, wiki.clientId, { ...parameters, ...more }), wiki.redirectUri);
    expect((await ask({ id_token_hint: tokens.id_token ?? '' })).get('code')).toBeTruthy();
    expect((await ask({ claims: claims(tokens.claims()?.sub) })).get('code')).toBeTruthy();
    expect((await ask({ claims: claims(user.account.id) })).get('error')).toBe('login_required');
  });

  it('needs one redirect host, or a sector_identifier_uri', async () => {
    const input = {
      redirect_uris: ['https://a.example/cb', 'https://b.example/cb'],
      subject_type: 'pairwise' as const,
    };
    await expect(idp.services.applications.createOidc(input)).rejects.toThrow();
  });
});
