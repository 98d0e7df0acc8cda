// Two instances on one database behind one address: each step of a sign-in may reach another instance.
import { setTimeout as sleep } from 'node:timers/promises';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { type LoadBalancer, loadBalancer } from '../logout/support/load-balancer.ts';
import { type Application, anApplication, authorizeUrl, completeSignIn, outcome, signIn } from '../oidc/support.ts';
import { itOnBothInLongRun } from '../support/database/it-on-sqlite.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { reconnect } from './support.ts';

let board: LoadBalancer;
let one: TestIdp;
let other: TestIdp;
let app: Application;
let user: TestUser;
let browser: HttpClient;

beforeAll(async () => {
  board = await loadBalancer();
  other = await board.another();
  one = board.instances[0] ?? expect.fail();
  app = await anApplication(one);
  reconnect(app);
});
afterAll(() => board?.close());

beforeEach(async () => {
  board.use(one);
  user = await aUser(one.services);
  browser = httpClient(one.issuer);
});

describe('an instance', () => {
  it('finishes a sign-in that was started on the other instance, with tokens that are valid on both', async () => {
    const started = await app.rp.start({ scope: 'openid email offline_access' });
    const form = await browser.follow(await browser.get(started.url));
    board.use(other);
    const back = await completeSignIn(browser, form, { user });
    board.use(one);
    const tokens = await app.rp.finish(back.location ?? '', started);
    board.use(other);
    expect(await app.rp.userinfo(tokens)).toMatchObject({ email: user.account.email });
    expect(await app.rp.introspect(tokens.access_token)).toMatchObject({ active: true, sub: user.account.id });
    const renewed = await app.rp.refresh(tokens.refresh_token ?? '');
    board.use(one);
    expect(await app.rp.introspect(renewed.access_token)).toMatchObject({ active: true });
    // Once its successor was used on this instance, using the old one again revokes the grant (RFC 9700, 4.14.2).
    await app.rp.refresh(renewed.refresh_token ?? '');
    await expect(app.rp.refresh(tokens.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
    board.use(other);
    await expect(app.rp.refresh(renewed.refresh_token ?? '')).rejects.toMatchObject({ error: 'invalid_grant' });
  });

  it('knows a session on both instances until it ends on either', async () => {
    const { tokens } = await signIn(browser, app, user);
    board.use(other);
    const silent = () => outcome(browser, authorizeUrl(one, app.clientId, { prompt: 'none' }));
    expect((await silent()).get('code')).toBeTruthy();
    const [session] = await other.services.sessions.list(user.account.id);
    await other.services.endSession.one(session?.uid ?? '', 'ended-by-admin');
    board.use(one);
    expect((await silent()).get('error')).toBe('login_required');
    await expect(app.rp.userinfo(tokens)).rejects.toBeInstanceOf(oidc.WWWAuthenticateChallengeError);
  });

  it('rejects a token at once that the other instance has revoked, or whose account the other has disabled', async () => {
    for (const use of [one, other]) {
      const elsewhere = use === one ? other : one;
      board.use(use);
      const { tokens } = await signIn(httpClient(one.issuer), app, user);
      const answers = async () => ({
        introspection: (await app.rp.introspect(tokens.access_token)).active,
        userinfo: await app.rp.userinfo(tokens).then(Boolean, () => false),
      });
      const accepted = { introspection: true, userinfo: true };
      const rejected = { introspection: false, userinfo: false };
      expect(await answers()).toEqual(accepted);
      expect(await answers(), 'the second time').toEqual(accepted);
      await elsewhere.services.accounts.setActive(user.account.id, false);
      expect(await answers()).toEqual(rejected);
      await elsewhere.services.accounts.setActive(user.account.id, true);
      expect(await answers()).toEqual(accepted);
      board.use(elsewhere);
      await app.rp.revoke(tokens.access_token);
      board.use(use);
      expect(await answers()).toEqual(rejected);
    }
  });

  itOnBothInLongRun('decides at once by a membership that the other instance gave, took or let end', async () => {
    const { groups, roles } = one.services;
    const { name: role } = await roles.create({ name: 'both instances' });
    const group = await groups.create({ name: 'Both instances' });
    await groups.addRole(group.id, role);
    const access = { roles: [], groups: [group.name] };
    const scope = 'openid groups roles';
    const lab = await anApplication(one, { access, scope });
    reconnect(lab);
    const userId = user.account.id;
    await groups.addMembers(group.id, [{ userId }]);
    const { tokens } = await signIn(browser, lab, user, { scope });
    /** What tokens, a live session and pages say here. */
    const decisions = async () => ({
      claim:
        ((await lab.rp.userinfo(tokens).catch(() => undefined)) as { groups?: string[] } | undefined)?.groups ?? [],
      session: (await outcome(browser, authorizeUrl(one, lab.clientId, { prompt: 'none', scope }))).has('code'),
      page: (await browser.follow(await browser.get('/account/groups'))).text.includes('Both instances'),
    });
    const isIn = { claim: ['Both instances'], session: true, page: true };
    const isOut = { claim: [], session: false, page: false };
    for (const here of [one, other]) {
      const there = here === one ? other : one;
      board.use(here);
      expect(await decisions()).toEqual(isIn);
      await there.services.groups.removeMembers(group.id, [userId]);
      expect(await decisions()).toEqual(isOut);
      await there.services.groups.addMembers(group.id, [{ userId }]);
      expect(await decisions()).toEqual(isIn);
      expect((await here.services.accounts.find(userId))?.roles).toContain(role);
      const until = new Date(Date.now() + 3000);
      await there.services.groups.addMembers(group.id, [{ userId, until }]);
      expect((await here.services.accounts.find(userId))?.groups).toMatchObject([{ until }]);
      await sleep(until.getTime() - Date.now());
      expect(await decisions()).toEqual(isOut);
      await there.services.groups.addMembers(group.id, [{ userId, until: null }]);
    }
  });

  it('redeems a code that reaches both instances at the same moment at most once', async () => {
    await signIn(browser, app, user);
    const started = await app.rp.start();
    const code = new URL((await browser.get(started.url)).location ?? '').searchParams.get('code') ?? '';
    const answers = await Promise.all([one, other, one, other].map((instance) => redeemAt(instance, code, started)));
    expect(answers.filter((status) => status === 200).length).toBeLessThanOrEqual(1);
    expect(answers.filter((status) => status === 400).length).toBeGreaterThanOrEqual(3);
  });

  /** Sends the token request to one instance, past the load balancer, with the host that both serve. */
  async function redeemAt(
    { port }: TestIdp,
    code: string,
    { checks }: Awaited<ReturnType<Application['rp']['start']>>,
  ) {
    const page = await httpClient(`http://127.0.0.1:${port}`).post('/token', {
      form: {
        grant_type: 'authorization_code',
        code,
        redirect_uri: app.redirectUri,
        code_verifier: checks.pkceCodeVerifier,
      },
      headers: {
        host: new URL(one.issuer).host,
        authorization: `Basic ${Buffer.from(`${app.clientId}:${app.clientSecret}`).toString('base64')}`,
      },
    });
    return page.status;
  }
});
