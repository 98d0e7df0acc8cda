// Undocumented behaviour of the engine that this server relies on. Overrides have tests of their own (patches/).

import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { errors, Provider } from '../../src/protocols/oidc/engine/library.ts';
import { httpClient } from '../support/http.ts';
import { listen } from '../support/listen.ts';
import { aKey, appUri, configuration, type Engine, sharedStore, startEngine } from './bare-engine.ts';

interface ClientSeams {
  clientId: string;
  compareClientSecret(actual: string): boolean | Promise<boolean>;
  backchannelLogout(accountId: string, sid?: string): Promise<void>;
}

const notified: string[] = [];
const consumedOnce = new Set<string>();
/** Holds the reads of a code until all requests of a test have read it. */
let readTogether = async () => {};
let isConsumedOnce = true;
let engine: Engine;

/** Resolves when `count` callers wait. */
function barrier(count: number): () => Promise<void> {
  let waiting = 0;
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return () => {
    waiting += 1;
    if (waiting === count) open();
    return opened;
  };
}

beforeAll(async () => {
  const store = sharedStore();
  const adapter = (model: string) => {
    const plain = store(model);
    // As protocols/oidc/store/adapter.ts does it: one conditional update, rejected when it changed nothing.
    const consume = async (id: string) => {
      if (isConsumedOnce && consumedOnce.has(id)) throw new errors.InvalidGrant('used already');
      consumedOnce.add(id);
      await plain.consume(id);
    };
    const find = async (id: string) => {
      if (model === 'AuthorizationCode') await readTogether();
      return structuredClone(await plain.find(id));
    };
    return { ...plain, consume, find };
  };
  const keys = [await aKey('RS256')];
  engine = await startEngine((issuer) => {
    const provider = new Provider(issuer, configuration({ adapter, jwks: { keys: keys as never } }));
    const client = provider.Client.prototype as unknown as ClientSeams;
    client.compareClientSecret = async (actual) => actual === 'hashed elsewhere';
    client.backchannelLogout = async function notify(accountId, sid) {
      notified.push(`${this.clientId} ${accountId} ${sid}`);
    };
    return provider;
  });
});
afterAll(() => engine.close());
afterEach(() => {
  readTogether = async () => {};
  isConsumedOnce = true;
});

async function signIn() {
  const browser = httpClient();
  const query = new URLSearchParams({ client_id: 'app', response_type: 'code', scope: 'openid', redirect_uri: appUri });
  const back = await browser.follow(await browser.get(`${engine.origin}/auth?${query}`), (url) =>
    url.startsWith(appUri),
  );
  return { browser, code: new URL(back.location ?? '').searchParams.get('code') ?? '' };
}

const redeem = (code: string, secret = 'hashed elsewhere') =>
  httpClient().post(`${engine.origin}/token`, {
    form: { grant_type: 'authorization_code', code, redirect_uri: appUri },
    headers: { authorization: `Basic ${Buffer.from(`app:${secret}`).toString('base64')}` },
  });

describe('the engine', () => {
  it('calls Client.prototype.compareClientSecret, so that only hashes need to be stored', async () => {
    const { code } = await signIn();
    expect((await redeem(code, 'secret')).status).toBe(401);
    expect((await redeem(code)).status).toBe(200);
  });

  it('redeems a code once, of eight requests that read it together, only when consume throws InvalidGrant', async () => {
    const redeemed = async (code: string) => {
      readTogether = barrier(8);
      const answers = await Promise.all(Array.from({ length: 8 }, () => redeem(code)));
      return answers.filter(({ status }) => status === 200).length;
    };
    expect(await redeemed((await signIn()).code)).toBe(1);
    isConsumedOnce = false;
    expect(await redeemed((await signIn()).code)).toBeGreaterThan(1);
  });

  it('finds a session, notifies its participants and ends it outside a request', async () => {
    const { browser } = await signIn();
    const [cookie] = browser.cookies.all().filter(({ name }) => name === '_session');
    const { Session, Client } = engine.provider;
    const session = await Session.find(cookie?.value ?? '');
    const found = await Session.findByUid(session?.uid ?? '');
    expect(found).toMatchObject({ accountId: 'alice', authorizations: { app: { sid: expect.any(String) } } });

    const client = (await Client.find('app')) as unknown as ClientSeams;
    await client.backchannelLogout('alice', found?.sidFor('app'));
    expect(notified).toEqual([`app alice ${found?.sidFor('app')}`]);
    await found?.destroy();
    expect(await Session.findByUid(session?.uid ?? '')).toBeUndefined();
  });

  it('calls no private address by default: outgoing calls need the `fetch` option', async () => {
    let calls = 0;
    const app = await listen((_request, response) => {
      calls += 1;
      response.end();
    });
    const client = { client_id: 'app', client_secret: 'secret', redirect_uris: [appUri] };
    const clients = [{ ...client, backchannel_logout_uri: `${app.origin}/bcl` }];
    const features = { backchannelLogout: { enabled: true }, devInteractions: { enabled: false } };
    const shared = { clients, features, adapter: sharedStore(), jwks: { keys: [(await aKey('RS256')) as never] } };
    const build = (fetch?: typeof globalThis.fetch) =>
      new Provider(engine.origin, configuration({ ...shared, ...(fetch && { fetch: fetch as never }) }));
    const notify = async (provider: Provider) => {
      const found = (await provider.Client.find('app')) as unknown as ClientSeams;
      await found.backchannelLogout('alice', 'sid');
    };
    await expect(notify(build())).rejects.toThrow();
    expect(calls).toBe(0);
    await notify(build((url, init) => fetch(url, { method: init?.method, headers: init?.headers, body: init?.body })));
    expect(calls).toBe(1);
    await app.close();
  });
});
