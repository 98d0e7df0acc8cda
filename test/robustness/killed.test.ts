// `kill -9` under load and a start on the same database: acknowledged changes exist, sessions continue, and no code can be
// redeemed twice.
import { randomUUID } from 'node:crypto';
import * as oidc from 'openid-client';
import { beforeAll, expect, it } from 'vitest';
import { createRegistrationTokens } from '../../src/protocols/oidc/store/registration-tokens.ts';
import { type ApiCaller, aService } from '../admin/support.ts';
import { type Application, anApplication, signIn } from '../oidc/support.ts';
import type { TokenAnswer } from '../support/applications/rp.ts';
import { aUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
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
  await admin.get('/users'); // reads the OpenAPI document, which the caller checks each response against
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

/** What was requested under load, and whether the server had responded when it was killed. */
interface Load {
  unusedCodes: Code[];
  redeemed: { code: Code; tokens: TokenAnswer }[];
  /** Codes whose redemption was under way. */
  interruptedCodes: Code[];
  clients: Awaited<ReturnType<typeof register>>[];
  users: { username: string; id: string }[];
  /** The names of all users that were requested, acknowledged or not. */
  requestedNames: string[];
}

/** Signs in, redeems codes, registers clients and creates users at the same time until the server is killed. */
async function loadUntilKilled(): Promise<Load> {
  const load: Load = {
    unusedCodes: [],
    redeemed: [],
    interruptedCodes: [],
    clients: [],
    users: [],
    requestedNames: [],
  };
  const { unusedCodes, redeemed, interruptedCodes, clients, users, requestedNames } = load;
  let killed: Promise<unknown> | undefined;

  const createUsers = async (name: string) => {
    while (!killed) {
      const username = `${name}-${randomUUID()}`;
      requestedNames.push(username);
      const { status, text, ...page } = await newUser(username);
      expect(status, text).toBe(201);
      users.push({ username, id: page.json<{ id: string }>().id });
    }
  };
  const signInAndRegister = async () => {
    while (!killed) {
      unusedCodes.push(await getCode());
      const code = await getCode();
      interruptedCodes.push(code);
      redeemed.push({ code, tokens: await redeem(code) });
      interruptedCodes.splice(interruptedCodes.indexOf(code), 1);
      clients.push(await register());
      if (clients.length >= 6 && users.length >= 4) killed ??= server.kill('SIGKILL');
    }
  };
  // A request that is under way when the process is killed fails at its client and was not acknowledged.
  await Promise.allSettled([
    ...[signInAndRegister(), signInAndRegister(), signInAndRegister()],
    ...[createUsers('ann'), createUsers('bob')],
  ]);
  await killed;
  return load;
}

it('the server loses nothing that was acknowledged before it was killed', async () => {
  const { unusedCodes, redeemed, interruptedCodes, clients, users, requestedNames } = await loadUntilKilled();
  expect(redeemed.length).toBeGreaterThanOrEqual(6);
  server = await serverProcess(idp.environment);

  // The session of the browser still exists.
  unusedCodes.push(await getCode());
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
    // A repeated request with the same idempotency key gets the first response again.
    expect((await newUser(username)).json()).toMatchObject({ id });
  }
  // A user whose creation was interrupted exists with the password and the stored response, or not at all.
  for (const username of requestedNames.slice(-2)) {
    const [found] = (await admin.get(`/users?search=${username}`)).json<{ items: { id: string }[] }>().items;
    if (!found) continue;
    expect((await admin.get(`/users/${found.id}`)).json()).toMatchObject({ password: { must_change: false } });
    expect((await newUser(username)).json()).toMatchObject({ id: found.id });
  }
  for (const code of unusedCodes) expect(await redeem(code)).toMatchObject({ token_type: 'bearer' });
  // Interrupted redemptions may have succeeded or not; after this one, no code can be redeemed again.
  await Promise.allSettled(interruptedCodes.map(redeem));
  for (const code of [...redeemed.map(({ code }) => code), ...unusedCodes, ...interruptedCodes]) {
    await expect(redeem(code)).rejects.toBeInstanceOf(oidc.ResponseBodyError);
  }
});
