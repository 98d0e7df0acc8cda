// `kill -9` in the middle of load, and a start on the same database: whatever was acknowledged is there, nobody is signed
// out, and no code is good for a second time.
import { randomUUID } from 'node:crypto';
import * as oidc from 'openid-client';
import { beforeAll, expect, it } from 'vitest';
import { createRegistrationTokens } from '../../src/oidc/registration-tokens.ts';
import { type ApiCaller, aService } from '../admin/support.ts';
import { type Application, anApplication, signIn } from '../oidc/support.ts';
import { aUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import type { TokenAnswer } from '../support/rp.ts';
import { type ServerProcess, serverProcess } from './support.ts';

interface Code {
  callback: string;
  started: Awaited<ReturnType<Application['rp']['start']>>;
}

let idp: TestIdp;
let app: Application;
let browser: HttpClient;
let registrationToken: string;
let admin: ApiCaller;
let server: ServerProcess;

beforeAll(async () => {
  idp = await startIdp();
  app = await anApplication(idp);
  const user = await aUser(idp.services);
  registrationToken = (await createRegistrationTokens(idp.services).issue()).token;
  admin = await aService(idp);
  await admin.get('/users'); // reads the description that every answer is held against
  browser = httpClient(idp.issuer);
  await signIn(browser, app, user);
  await idp.stop();
  server = await serverProcess(idp.environment);
  return async () => void (await server.kill('SIGKILL'));
});

async function getCode(): Promise<Code> {
  const started = await app.rp.start({ scope: 'openid offline_access', prompt: 'none' });
  const { location = '' } = await browser.get(started.url);
  if (!location.includes('code=')) throw new Error(`no code: ${location}`);
  return { callback: location, started };
}

const redeem = ({ callback, started }: Code) => app.rp.finish(callback, started);

async function register(): Promise<{ uri: string; token: string }> {
  const page = await httpClient(idp.issuer).post('/register', {
    json: { client_name: 'Registered under load', redirect_uris: [app.redirectUri] },
    headers: { authorization: `Bearer ${registrationToken}` },
  });
  const { registration_client_uri: uri, registration_access_token: token } = page.json<Record<string, string>>();
  return { uri: uri ?? '', token: token ?? '' };
}

const newUser = async (username: string) =>
  admin.send('POST', '/users', { username, password: 'a pass phrase of its own' }, { 'idempotency-key': username });

it('loses nothing that was acknowledged', async () => {
  const open: Code[] = [];
  const redeemed: { code: Code; tokens: TokenAnswer }[] = [];
  const cutOff: Code[] = [];
  const clients: Awaited<ReturnType<typeof register>>[] = [];
  const asked: string[] = [];
  const users: { username: string; id: string }[] = [];
  let killed: Promise<unknown> | undefined;

  const creator = async (name: string) => {
    while (!killed) {
      const username = `${name}-${randomUUID()}`;
      asked.push(username);
      const { status, text, ...page } = await newUser(username);
      expect(status, text).toBe(201);
      users.push({ username, id: page.json<{ id: string }>().id });
    }
  };
  const worker = async () => {
    while (!killed) {
      open.push(await getCode());
      const code = await getCode();
      cutOff.push(code);
      redeemed.push({ code, tokens: await redeem(code) });
      cutOff.splice(cutOff.indexOf(code), 1);
      clients.push(await register());
      if (clients.length >= 6 && users.length >= 4) killed ??= server.kill('SIGKILL');
    }
  };
  // What is under way when the process dies fails at its client, and is acknowledged to nobody.
  await Promise.allSettled([worker(), worker(), worker(), creator('ann'), creator('bob')]);
  await killed;
  expect(redeemed.length).toBeGreaterThanOrEqual(6);
  server = await serverProcess(idp.environment);

  // The person is signed in still.
  open.push(await getCode());
  for (const { tokens } of redeemed) {
    expect(await app.rp.userinfo(tokens)).toMatchObject({ sub: tokens.claims()?.sub });
    expect(await app.rp.refresh(tokens.refresh_token ?? '')).toMatchObject({ token_type: 'bearer' });
  }
  for (const { uri, token } of clients) {
    const page = await httpClient().get(uri, { headers: { authorization: `Bearer ${token}` } });
    expect(page.status).toBe(200);
  }
  for (const { username, id } of users) {
    expect((await admin.get(`/users/${id}`)).json()).toMatchObject({ username, password: { must_change: false } });
    // Asked for again with its key, the first answer comes again.
    expect((await newUser(username)).json()).toMatchObject({ id });
  }
  // Whoever was cut off is there whole, with the password, or not at all.
  for (const username of asked.slice(-2)) {
    const [found] = (await admin.get(`/users?search=${username}`)).json<{ items: { id: string }[] }>().items;
    if (found)
      expect((await admin.get(`/users/${found.id}`)).json()).toMatchObject({ password: { must_change: false } });
  }
  for (const code of open) expect(await redeem(code)).toMatchObject({ token_type: 'bearer' });
  // Whether these were redeemed when the process died, their client can't know: now they are good once at most.
  await Promise.allSettled(cutOff.map(redeem));
  for (const code of [...redeemed.map(({ code }) => code), ...open, ...cutOff]) {
    await expect(redeem(code)).rejects.toBeInstanceOf(oidc.ResponseBodyError);
  }
});

it('stops in an orderly way when it is asked to', async () => {
  expect(await server.kill('SIGTERM')).toEqual({ code: 0 });
  server = await serverProcess(idp.environment);
  await getCode();
});
