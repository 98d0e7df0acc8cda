// Miniflux on PostgreSQL, which no preset has: registered as a web application of one's own.
import { startPostgres } from '../../support/database/postgres-start.ts';
import type { HttpClient } from '../../support/http.ts';
import type { Gatehouse } from '../gatehouse.ts';
import { freePort, Missing, needFile, run, startProgram } from '../programs.ts';
import { open } from '../travel.ts';
import { aPerson, expectPage, type Product, registerWeb, signIn, signOutHere } from './product.ts';

export async function startMiniflux(gatehouse: Gatehouse): Promise<Product> {
  const program = process.env.MINIFLUX;
  if (!program) throw new Missing('needs MINIFLUX (README.md)');
  needFile(program, 'MINIFLUX');
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const callback = `${origin}/oauth2/oidc/callback`;
  const { clientId, clientSecret } = await registerWeb(gatehouse, { name: 'Miniflux', redirect_uris: callback });
  const postgres = await startPostgres();
  const env = {
    DATABASE_URL: `${postgres.url}?sslmode=disable`,
    LISTEN_ADDR: `127.0.0.1:${port}`,
    BASE_URL: origin,
    RUN_MIGRATIONS: '1',
    DISABLE_SCHEDULER_SERVICE: '1',
    OAUTH2_PROVIDER: 'oidc',
    OAUTH2_CLIENT_ID: clientId,
    OAUTH2_CLIENT_SECRET: clientSecret,
    OAUTH2_REDIRECT_URL: callback,
    OAUTH2_OIDC_DISCOVERY_ENDPOINT: gatehouse.issuer,
    OAUTH2_USER_CREATION: '1',
    OAUTH2_ADDITIONAL_SCOPES: 'roles',
    OAUTH2_GROUP_CLAIM: 'roles',
    OAUTH2_ADMIN_GROUP: 'miniflux-admin',
  };
  const server = await startProgram(program, [], { env, ready: `${origin}/healthcheck` });
  const version = /Version:\s*(\S+)/.exec(await run(program, ['-info']))?.[1] ?? 'of unknown version';
  await gatehouse.services.roles.create({ name: 'miniflux-admin' });
  const start = `${origin}/oauth2/oidc/redirect`;
  /** The name of the person who is signed in, and whether administration is offered. */
  async function userOf(browser: HttpClient) {
    const { text } = await open(browser, `${origin}/authentication`);
    const [, name] = /id="form-username" value="([^"]*)"/.exec(text) ?? [];
    return { name, isAdmin: text.includes('href="/users"') };
  }

  return {
    version,
    async stop() {
      await server.stop();
      await postgres.stop();
    },
    trials: {
      'sign-in': async () => {
        const person = await aPerson(gatehouse);
        const { browser, page } = await signIn(gatehouse, start, person);
        const user = await userOf(browser);
        expectPage('not signed in', page, user.name === person.username && !user.isAdmin);
        return `as ${user.name}`;
      },
      'a role gives administration': async () => {
        const { browser, page } = await signIn(
          gatehouse,
          start,
          await aPerson(gatehouse, { roles: ['miniflux-admin'] }),
        );
        expectPage('no administrator', page, (await userOf(browser)).isAdmin);
        return 'administrator';
      },
      'sign-in without an address': async () => {
        const person = await aPerson(gatehouse, { email: null, emailVerified: false });
        const { browser, page } = await signIn(gatehouse, start, person);
        expectPage('not signed in', page, (await userOf(browser)).name === person.username);
        return 'signed in';
      },
      'sign-out and a disabled person here': async () => {
        const person = await aPerson(gatehouse);
        const { browser } = await signIn(gatehouse, start, person);
        await signOutHere(gatehouse, browser);
        await gatehouse.services.accounts.setActive(person.account.id, false);
        const { name } = await userOf(browser);
        return name ? 'stays signed in there until its session ends' : 'ends the session there';
      },
      'its sign-out': async () => {
        const { browser } = await signIn(gatehouse, start, await aPerson(gatehouse));
        const settings = await open(browser, `${origin}/settings`);
        await browser.follow(await browser.submit(settings, {}, { form: '/logout' }));
        if ((await userOf(browser)).name) throw new Error('still signed in');
        const again = await open(browser, start);
        return again.url.startsWith(gatehouse.issuer) ? 'ends the session here too' : 'ends its own session only';
      },
    },
  };
}
