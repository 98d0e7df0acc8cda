// Attacks on the sign-in at an upstream: stolen, swapped and forged answers, forged ID tokens, old sessions, and connections that
// must not be usable.
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { sha256 } from '../../src/base/platform/random.ts';
import type { RuleId } from '../../src/core/rejections/rules.ts';
import { redirectUri } from '../oidc/support.ts';
import { itOnSqlite } from '../support/database/it-on-sqlite.ts';
import { aClient } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { expectNotSignedIn, expectSignedIn } from '../support/pages/enter.ts';
import { actionsOf } from '../support/pages/html.ts';
import { sharedIdpWithConnections } from '../support/shared-idp.ts';
import type { OidcQuirks } from '../support/upstream/oidc-upstream.ts';
import {
  accountOf,
  anUpstream,
  type Connected,
  callbackOf,
  isAtApplication,
  openSignIn,
  signInOver,
} from './support.ts';

let idp: TestIdp;
let corp: Connected;
let other: Connected;
let clientId: string;
let count = 0;

beforeAll(async () => {
  idp = await sharedIdpWithConnections();
  corp = await anUpstream(idp);
  other = await anUpstream(idp, { create_users: true });
  ({ clientId } = await aClient(idp.services, { redirect_uris: [redirectUri] }));
});
beforeEach(() => {
  count += 1;
  corp.upstream.quirks = {};
  corp.upstream.user = { sub: `attack-${count}` };
});
afterAll(async () => {
  await corp.remove();
  await other.remove();
});

/** Begins a sign-in and goes as far as the address of the callback with the answer. */
async function anAnswer(browser: HttpClient, { upstream, connection } = corp): Promise<string> {
  const form = await openSignIn(idp, { clientId, browser });
  const sent = await browser.submit(form, {}, { form: `/connections/${connection}` });
  upstream.user = { sub: `attack-${count}` };
  const page = await browser.follow(sent, (url) => url.startsWith(callbackOf(idp, connection)));
  return page.location ?? '';
}

/** The rejected request that the page refers to, and the rule that it broke. */
async function rejectionOn(page: Page) {
  const code = /Error reference: <strong[^>]*>([A-Z0-9-]+)</.exec(page.text)?.[1] ?? '';
  const found = await idp.services.rejections.find(code);
  return { found, failed: found?.rules.find(({ state }) => state === 'failed') };
}

const isRejected = async (page: Page, text = 'couldn’t verify the response') => {
  expect(page.status, page.text).toBe(400);
  expect(page.text).toContain(text);
  expect(await accountOf(idp, corp.connection, `attack-${count}`)).toBeUndefined();
};

describe('an answer of an upstream', () => {
  it('is worth nothing in another browser', async () => {
    const url = await anAnswer(httpClient(idp.issuer));
    const thief = httpClient(idp.issuer);
    const mine = await openSignIn(idp, { clientId, browser: thief });
    const stored = await thief.get(url);
    const page = await thief.follow(stored);
    expect(page.status).toBe(400);
    const uid = new URL(mine.url).pathname.split('/')[2];
    const answer = stored.location?.split('/').at(-1);
    // Nor when the thief puts it into a sign-in of the thief's own.
    await isRejected(await thief.get(`/signin/${uid}/upstream/${answer}`));
  });

  it('is worth nothing in another sign-in to which a database writer moved it', async () => {
    const victim = httpClient(idp.issuer);
    await victim.get(await anAnswer(victim));
    const thief = httpClient(idp.issuer);
    const mine = await openSignIn(idp, { clientId, browser: thief });
    const uid = new URL(mine.url).pathname.split('/')[2] ?? '';
    const answer = `chosen-by-the-thief-${count}`;
    const { db } = idp.services;
    const { id } = await db.upstreamRequest.findFirstOrThrow({
      where: { connectionId: corp.connection, redeemedAt: null },
      orderBy: { createdAt: 'desc' },
    });
    await db.upstreamRequest.update({ where: { id }, data: { boundTo: uid, answerId: sha256(answer) } });
    await isRejected(await thief.get(`/signin/${uid}/upstream/${answer}`));
  });

  it('works once, at the callback and at its redemption', async () => {
    const browser = httpClient(idp.issuer);
    const url = await anAnswer(browser);
    const stored = await browser.get(url);
    await isRejected(await browser.get(url));
    const done = await browser.follow(stored, isAtApplication);
    expectSignedIn(done);
    const again = await browser.get(stored.location ?? '');
    expectNotSignedIn(again);
    expect(again.status).not.toBe(200);
  });

  itOnSqlite('is not accepted at the callback of another connection', async () => {
    const browser = httpClient(idp.issuer);
    const url = new URL(await anAnswer(browser));
    await isRejected(await browser.get(`/upstream/${other.connection}/callback${url.search}`));
  });

  itOnSqlite.each([
    ['names another issuer (mix-up)', { iss: 'https://attacker.example' }],
    ['names no issuer although the upstream announces one', { iss: undefined }],
    ['has another state', { state: 'forged' }],
    ['has no state', { state: undefined }],
  ])('is rejected when it %s', async (_what, answer: Record<string, string | undefined>) => {
    corp.upstream.quirks = { answer };
    await isRejected((await signInOver(idp, corp.connection)).page);
  });

  itOnSqlite('is explained when the user declines, and leads back', async () => {
    corp.upstream.quirks = { answer: { code: undefined, error: 'access_denied' } };
    const { page } = await signInOver(idp, corp.connection);
    await isRejected(page, 'Example Corp didn’t sign you in.');
    expect(page.text).toContain('/signin/');
  });

  itOnSqlite('appears in the rejected requests with what was expected and received', async () => {
    corp.upstream.quirks = { idToken: { iss: 'https://attacker.example' } };
    const { page } = await signInOver(idp, corp.connection);
    const { found, failed } = await rejectionOn(page);
    expect(found).toMatchObject({ endpoint: 'upstream', clientId: corp.connection });
    expect(failed).toMatchObject({
      rule: 'issuer',
      received: 'https://attacker.example',
      expected: corp.upstream.issuer,
    });
    expect(page.text).not.toContain('attacker.example');
  });
});

describe('an ID token', () => {
  const hour = 3600;
  const now = () => Math.floor(Date.now() / 1000);
  itOnSqlite.each<[string, RuleId, () => OidcQuirks]>([
    ['without a signature', 'algorithm', () => ({ signature: 'none' })],
    ['signed with the public key as an HMAC secret', 'algorithm', () => ({ signature: 'hmac' })],
    ['signed with another key under the same kid', 'token_signature', () => ({ signature: 'other-key' })],
    ['signed with a key that is not published', 'token_key', () => ({ signature: 'unknown-kid' })],
    ['for another audience', 'audience', () => ({ idToken: { aud: 'another-client' } })],
    ['for several audiences without azp', 'audience', () => ({ idToken: { aud: ['gatehouse', 'another-client'] } })],
    [
      'for another authorized party',
      'audience',
      () => ({ idToken: { aud: ['gatehouse', 'x'], azp: 'another-client' } }),
    ],
    ['of another issuer', 'issuer', () => ({ idToken: { iss: 'https://attacker.example' } })],
    ['without an issuer', 'claim', () => ({ idToken: { iss: undefined } })],
    ['with another nonce', 'nonce', () => ({ idToken: { nonce: 'forged' } })],
    ['without a nonce', 'nonce', () => ({ idToken: { nonce: undefined } })],
    ['that has expired', 'time', () => ({ idToken: { exp: now() - hour } })],
    ['whose expiry is a text', 'claim', () => ({ idToken: { exp: 'tomorrow' } })],
    ['that was issued before the request', 'time', () => ({ idToken: { iat: now() - hour } })],
    ['without a subject', 'subject', () => ({ idToken: { sub: undefined } })],
  ])('is rejected %s by the rule %s', async (_what, rule, quirks) => {
    corp.upstream.quirks = quirks();
    const { page } = await signInOver(idp, corp.connection);
    expect(page.status, page.text).toBe(400);
    expect((await rejectionOn(page)).failed).toMatchObject({ rule });
    expect(await accountOf(idp, corp.connection, `attack-${count}`)).toBeUndefined();
  });

  itOnSqlite('is rejected with userinfo of another subject', async () => {
    corp.upstream.quirks = { userinfo: { sub: 'victim', email: 'victim@corp.example' } };
    await isRejected((await signInOver(idp, corp.connection)).page);
  });
});

describe('a connection', () => {
  itOnSqlite('stops every sign-in when the subject is missing, and writes nothing', async () => {
    const strict = await anUpstream(idp, { subject_claim: 'employee_id' });
    strict.upstream.user = { sub: `attack-${count}`, email: 'x@corp.example', email_verified: true };
    const { page } = await signInOver(idp, strict.connection);
    await strict.remove();
    expect(page.status).toBe(400);
    expect(page.text).toContain('Example Corp didn’t send your user ID, so nothing changed.');
    expect(await idp.services.db.externalIdentity.count({ where: { connectionId: strict.connection } })).toBe(0);
  });

  itOnSqlite('admits only users of the allowed organizations, whatever is signed', async () => {
    const limited = await anUpstream(idp, { allowed_tenants: ['tenant-a'] });
    limited.upstream.user = { sub: `attack-${count}`, tid: 'tenant-b' };
    const outside = await signInOver(idp, limited.connection);
    expect(outside.page.status).toBe(403);
    limited.upstream.user = { sub: `attack-${count}`, tid: 'tenant-a' };
    const inside = await signInOver(idp, limited.connection);
    await limited.remove();
    expectSignedIn(inside.page);
  });

  itOnSqlite('is closed by every door while it is disabled, also for an answer that is on its way', async () => {
    const closing = await anUpstream(idp);
    const browser = httpClient(idp.issuer);
    const url = await anAnswer(browser, closing);
    const form = await openSignIn(idp, { clientId, browser: httpClient(idp.issuer) });
    await idp.services.connections.setEnabled(closing.connection, false);
    const late = await browser.follow(await browser.get(url));
    expect(late.status).toBe(403);
    expect(actionsOf(form)).toContainEqual(expect.stringContaining(closing.connection));
    const straight = await openSignIn(idp, { clientId, connection: closing.connection });
    expect(straight.status).toBe(403);
    const fresh = await openSignIn(idp, { clientId });
    expect(fresh.text).not.toContain(closing.connection);
    expect(await accountOf(idp, closing.connection, `attack-${count}`)).toBeUndefined();
    await closing.remove();
  });

  itOnSqlite('admits nobody by itself when it is only for linking', async () => {
    const linking = await anUpstream(idp, { link_only: true });
    linking.upstream.user = { sub: `attack-${count}` };
    const page = await openSignIn(idp, { clientId, connection: linking.connection });
    await linking.remove();
    expect(page.status).toBe(403);
    expect(await accountOf(idp, linking.connection, `attack-${count}`)).toBeUndefined();
  });

  itOnSqlite('is started by no form of another site', async () => {
    const browser = httpClient(idp.issuer);
    const form = await openSignIn(idp, { clientId, browser });
    const headers = { origin: 'https://attacker.example', 'sec-fetch-site': 'cross-site' };
    const sent = await browser.submit(form, {}, { form: `/connections/${corp.connection}`, headers });
    expect(sent.status).toBe(403);
  });

  it('is not used when a database writer added or changed it', async () => {
    const forged = await anUpstream(idp);
    await forged.upstream.stop();
    const { db, connections } = idp.services;
    const row = await db.asStored.connection.findUniqueOrThrow({ where: { id: forged.connection } });
    const settings = row.settings.replace(forged.upstream.issuer, 'https://attacker.example');
    await db.asStored.connection.update({ where: { id: row.id }, data: { settings } });
    expect(await connections.find(row.id)).toBeUndefined();
    expect((await httpClient(idp.issuer).get(callbackOf(idp, row.id))).status).toBe(404);
    await idp.services.connections.remove(row.id);
  });

  it('gives no identity that a database writer moved to another user', async () => {
    await signInOver(idp, corp.connection);
    const { db, accounts } = idp.services;
    const victim = await accounts.create({ username: `victim-${count}` });
    await db.asStored.externalIdentity.updateMany({
      where: { connectionId: corp.connection, subject: `attack-${count}` },
      data: { userId: victim.id },
    });
    expectNotSignedIn((await signInOver(idp, corp.connection)).page);
    expect(await accountOf(idp, corp.connection, `attack-${count}`)).toBeUndefined();
  });
});
