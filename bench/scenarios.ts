// The operations that are measured on both servers: those of an ordinary day's load.
import { httpClient } from '../test/support/http.ts';
import { agent, send } from './support/load.ts';
import type { Scenario } from './support/measure.ts';
import { samlWorker } from './support/saml.ts';
import { clientHeaders, codeFor, redeem, signIn, token } from './support/sign-in.ts';
import { api, exchangingApi, otherApi, person, type Target } from './support/target.ts';
import { ask, questionOfProgram, questionOfSession, questionWithoutSession } from './support/website.ts';

async function accessToken(target: Target): Promise<string> {
  return (await redeem(target, (await signIn(target)).code)).access_token;
}

export const codeFlow: Scenario = {
  name: 'code flow, live session',
  operations: 50,
  workers: 4,
  async worker(target) {
    const { cookie } = await signIn(target);
    return async () => redeem(target, await codeFor(target, cookie));
  },
};

export const scenarios: Scenario[] = [
  codeFlow,
  {
    name: 'client credentials',
    operations: 250,
    workers: 4,
    worker: async (target) => () => token(target, { grant_type: 'client_credentials' }),
  },
  {
    name: 'refresh',
    operations: 80,
    workers: 4,
    async worker(target) {
      // The bare engine gives offline access only with prompt=consent (OpenID Connect Core section 11).
      const prompt: Record<string, string> = target.name === 'bare' ? { prompt: 'consent' } : {};
      const scope = `${target.scope ?? 'openid profile email'} offline_access`;
      const { code } = await signIn(target, { scope, ...prompt });
      let current = (await redeem(target, code)).refresh_token ?? '';
      return async () => {
        const { refresh_token = '' } = await token(target, { grant_type: 'refresh_token', refresh_token: current });
        current = refresh_token;
      };
    },
  },
  {
    name: 'userinfo',
    operations: 250,
    workers: 4,
    async worker(target) {
      const headers = { authorization: `Bearer ${await accessToken(target)}` };
      return () => send(`${target.origin}/userinfo`, { headers });
    },
  },
  {
    name: 'introspection',
    operations: 250,
    workers: 4,
    async worker(target) {
      const form = { token: await accessToken(target) };
      return async () => {
        const { text } = await send(`${target.origin}/introspect`, { headers: clientHeaders, form });
        if (!text.includes('"active":true')) throw new Error(`introspection says ${text}`);
      };
    },
  },
  {
    name: 'discovery',
    operations: 800,
    workers: 4,
    worker: async (target) => () => send(`${target.origin}/.well-known/openid-configuration`, {}),
  },
];

/** Compared with a refresh that gives the token of the first API. */
export const tokenExchange: Scenario = {
  name: 'token exchange',
  operations: 80,
  workers: 4,
  async worker(target) {
    const form = { resource: api, scope: 'openid offline_access item:read' };
    const { refresh_token = '' } = await redeem(target, (await signIn(target, form)).code);
    const refresh = { grant_type: 'refresh_token', refresh_token, resource: api };
    const { access_token } = await token(target, refresh);
    const { id, secret } = exchangingApi;
    const headers = { authorization: `Basic ${Buffer.from(`${id}:${secret}`).toString('base64')}` };
    const exchange = {
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token: access_token,
      subject_token_type: 'urn:ietf:params:oauth:token-type:access_token',
      resource: otherApi,
    };
    return () => send(`${target.origin}/token`, { headers, form: exchange });
  },
};

/** A service provider's request, and the Response to it. */
export const samlSignOn: Scenario = {
  name: 'SAML sign-on, live session',
  operations: 50,
  workers: 4,
  worker: samlWorker,
};

/** The page of the applications that the user can open. */
export const appList: Scenario = {
  name: 'app list',
  operations: 60,
  workers: 4,
  async worker(target) {
    const browser = httpClient(target.origin, { agent });
    const page = await browser.follow(await browser.get('/dashboard'));
    const { status, url } = await browser.follow(await browser.submit(page, person));
    if (status !== 200) throw new Error(`the app list answered ${status} at ${url}`);
    const cookie = browser.cookies.headerFor(new URL(target.origin));
    return () => send(`${target.origin}/dashboard`, { headers: { cookie } });
  },
};

/** A complete password sign-in: four requests, by a known browser. */
export const passwordSignIn: Scenario = {
  name: 'sign-in',
  operations: 12,
  workers: 4,
  async worker(target) {
    let { knownBrowser } = await signIn(target);
    return async () => {
      ({ knownBrowser } = await signIn(target, {}, knownBrowser));
    };
  },
};

/** The same at an OpenID Connect upstream, by the button of its connection. */
export const connectionSignIn: Scenario = {
  ...passwordSignIn,
  name: 'sign-in over an OIDC connection',
  async worker(target) {
    const over = { overConnection: true };
    let { knownBrowser } = await signIn(target, {}, [], over);
    return async () => {
      ({ knownBrowser } = await signIn(target, {}, knownBrowser, over));
    };
  },
};

/** The same by a new browser: the owner gets a mail, which is audited too. */
export const newBrowserSignIn: Scenario = {
  ...passwordSignIn,
  name: 'sign-in, new browser and its mail',
  worker: async (target) => () => signIn(target),
};

/** A proxy asks about a page of a website: the user is signed in, a program has an app password, or the cookie is made up. */
export const websiteChecks: Scenario[] = [
  {
    name: 'website, live session',
    operations: 400,
    workers: 4,
    async worker({ origin }) {
      const question = await questionOfSession(origin);
      return () => ask(question);
    },
  },
  {
    name: 'website, app password',
    operations: 400,
    workers: 4,
    async worker({ origin }) {
      const question = await questionOfProgram(origin);
      return () => ask(question);
    },
  },
  {
    name: 'website, unknown cookie',
    operations: 400,
    workers: 4,
    worker:
      async ({ origin }) =>
      () =>
        ask(questionWithoutSession(origin)),
  },
];

/** All operations in turn, for the memory measurement. */
export async function mixedWorker(target: Target): Promise<() => Promise<unknown>> {
  const workers = await Promise.all(scenarios.map(({ worker }) => worker(target)));
  let turn = 0;
  return async () => {
    turn += 1;
    return workers[turn % workers.length]?.();
  };
}
