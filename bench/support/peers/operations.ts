// The operations that are measured at every identity provider. A worker is undefined where the provider does not offer the operation.
import { send } from '../load.ts';
import { samlRequestUrl } from '../saml.ts';
import { clientHeaders } from '../sign-in.ts';
import { ask } from '../website.ts';
import { authorize, newBrowser, newTokens, redeem, token } from './flows.ts';
import type { Provider } from './provider.ts';

export interface Operation {
  name: string;
  /** Operations in one burst. */
  operations: number;
  workers: number;
  /** Prepares one worker and returns its operation. */
  worker(provider: Provider): Promise<(() => Promise<unknown>) | undefined>;
}

/** Cookies by which Gatehouse knows a browser again after a sign-out; peers have none. */
const isLasting = (name: string) => name.startsWith('gatehouse_browser');

const ordinary: Operation[] = [
  {
    name: 'discovery',
    operations: 400,
    workers: 4,
    worker:
      async ({ endpoints }) =>
      () =>
        send(endpoints.discovery, {}),
  },
  {
    name: 'client credentials',
    operations: 100,
    workers: 4,
    worker: async (provider) =>
      provider.grants.includes('client_credentials')
        ? () => token(provider, { grant_type: 'client_credentials' })
        : undefined,
  },
  {
    name: 'code flow, live session',
    operations: 24,
    workers: 4,
    async worker(provider) {
      const browser = newBrowser();
      await authorize(provider, browser);
      const isAskedAgain = (await authorize(provider, browser)).hasSignedIn;
      return isAskedAgain ? undefined : async () => redeem(provider, (await authorize(provider, browser)).code);
    },
  },
  {
    name: 'userinfo',
    operations: 150,
    workers: 4,
    async worker(provider) {
      const headers = { authorization: `Bearer ${(await newTokens(provider)).access_token}` };
      return () => send(provider.endpoints.userinfo, { headers });
    },
  },
  {
    name: 'introspection',
    operations: 150,
    workers: 4,
    async worker({ endpoints, ...provider }) {
      if (endpoints.introspection === '') return undefined;
      const form = { token: (await newTokens({ endpoints, ...provider })).access_token };
      return async () => {
        const { text } = await send(endpoints.introspection, { headers: clientHeaders, form });
        if (!/"active": ?true/.test(text)) throw new Error(`introspection says ${text}`);
      };
    },
  },
  {
    name: 'refresh',
    operations: 40,
    // Dex has one refresh token for a user at a client, so that the next sign-in revokes the one before.
    workers: 1,
    async worker(provider) {
      let { refresh_token: current = '' } = await newTokens(provider, 'openid profile email offline_access');
      return async () => {
        const { refresh_token } = await token(provider, { grant_type: 'refresh_token', refresh_token: current });
        current = refresh_token ?? current;
      };
    },
  },
];

const passwordSignIn: Operation = {
  name: 'sign-in with a password',
  operations: 8,
  workers: 4,
  async worker(provider) {
    if (!('fields' in provider.login)) return undefined;
    const { cookies, ...browser } = newBrowser();
    return async () => {
      const lasting = cookies.all().filter(({ name }) => isLasting(name));
      cookies.clear();
      for (const cookie of lasting) cookies.set(cookie);
      const { hasSignedIn } = await authorize(provider, { cookies, ...browser });
      if (!hasSignedIn) throw new Error('the user was not asked for a password');
    };
  },
};

const samlSignOn: Operation = {
  name: 'SAML sign-on, live session',
  operations: 24,
  workers: 4,
  async worker(provider) {
    const { saml } = provider.endpoints;
    if (!saml) return undefined;
    const browser = newBrowser();
    await authorize(provider, browser);
    return async () => {
      const { text, url } = await browser.follow(await browser.get(samlRequestUrl(saml)));
      if (!/name="SAMLResponse"/i.test(text)) throw new Error(`no Response at ${url}: ${text.slice(0, 300)}`);
    };
  },
};

/** A proxy asks whether a page may be handed on. */
export const websiteCheck: Operation = {
  name: 'website, live session',
  operations: 400,
  workers: 4,
  async worker({ check }) {
    const question = await check?.();
    return question && (() => ask(question));
  },
};

export const operations: Operation[] = [...ordinary, passwordSignIn, samlSignOn];

/** All but the sign-ins in turn, for the memory measurement. */
export async function mixedWorker(provider: Provider, offered: readonly Operation[]): Promise<() => Promise<unknown>> {
  const mixed = offered.filter((one) => one !== passwordSignIn && one !== samlSignOn);
  const prepared = await Promise.all(mixed.map(({ worker }) => worker(provider)));
  const workers = prepared.filter((worker) => worker !== undefined);
  let turn = 0;
  return async () => {
    turn += 1;
    return workers[turn % workers.length]?.();
  };
}
