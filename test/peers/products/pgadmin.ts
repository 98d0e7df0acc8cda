// pgAdmin 4, which no preset has: registered as a web application of one's own, with its sign-in page in JavaScript left out.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { type HttpClient, httpClient } from '../../support/http.ts';
import type { Gatehouse } from '../gatehouse.ts';
import { freePort, Missing, newFolder, run, startProgram } from '../programs.ts';
import { open, travel } from '../travel.ts';
import { aPerson, described, expectPage, type Product, registerWeb, signOutHere } from './product.ts';

export async function startPgAdmin(gatehouse: Gatehouse): Promise<Product> {
  const folder = process.env.PGADMIN;
  if (!folder) throw new Missing('needs PGADMIN (README.md)');
  const python = path.join(folder, 'bin/python');
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const { issuer, services } = gatehouse;
  const { clientId, clientSecret } = await registerWeb(gatehouse, {
    name: 'pgAdmin',
    redirect_uris: `${origin}/oauth2/authorize`,
    post_logout_redirect_uris: `${origin}/`,
  });
  await services.roles.create({ name: 'pgadmin-user' });
  const data = newFolder('pgadmin');
  const at = (name: string) => JSON.stringify(path.join(data, name));
  const provider = {
    OAUTH2_NAME: 'gatehouse',
    OAUTH2_DISPLAY_NAME: 'Gatehouse',
    OAUTH2_CLIENT_ID: clientId,
    OAUTH2_CLIENT_SECRET: clientSecret,
    OAUTH2_SERVER_METADATA_URL: `${issuer}/.well-known/openid-configuration`,
    OAUTH2_TOKEN_URL: `${issuer}/token`,
    OAUTH2_AUTHORIZATION_URL: `${issuer}/authorize`,
    OAUTH2_API_BASE_URL: `${issuer}/`,
    OAUTH2_USERINFO_ENDPOINT: 'userinfo',
    OAUTH2_SCOPE: 'openid profile email roles',
    OAUTH2_USERNAME_CLAIM: 'preferred_username',
    OAUTH2_ADDITIONAL_CLAIMS: { roles: ['pgadmin-user'] },
    OAUTH2_CHALLENGE_METHOD: 'S256',
    OAUTH2_RESPONSE_TYPE: 'code',
    OAUTH2_LOGOUT_URL: `${issuer}/end-session?id_token_hint={id_token}&post_logout_redirect_uri={redirect_uri}`,
  };
  writeFileSync(
    path.join(data, 'config_local.py'),
    `SERVER_MODE = True
DATA_DIR = ${JSON.stringify(data)}
LOG_FILE = ${at('log')}
SQLITE_PATH = ${at('database')}
SESSION_DB_PATH = ${at('sessions')}
STORAGE_DIR = ${at('storage')}
AZURE_CREDENTIAL_CACHE_DIR = ${at('azure')}
KERBEROS_CCACHE_DIR = ${at('kerberos')}
DEFAULT_SERVER = "127.0.0.1"
DEFAULT_SERVER_PORT = ${port}
MASTER_PASSWORD_REQUIRED = False
UPGRADE_CHECK_ENABLED = False
AUTHENTICATION_SOURCES = ["oauth2"]
OAUTH2_CONFIG = [${JSON.stringify(provider)}]
`,
  );
  const find = 'import importlib.util; print(importlib.util.find_spec("pgadmin4").submodule_search_locations[0])';
  const program = (await run(python, ['-c', find])).trim();
  const env = { ...process.env, PYTHONPATH: data };
  const first = { PGADMIN_SETUP_EMAIL: 'root@example.com', PGADMIN_SETUP_PASSWORD: 'a-password-of-a-trial' };
  await run(python, ['setup.py', 'setup-db'], { cwd: program, env: { ...env, ...first } });
  const server = await startProgram(python, [path.join(program, 'pgAdmin4.py')], {
    env: { PYTHONPATH: data },
    ready: `${origin}/login`,
    seconds: 180,
  });
  const show = 'from importlib.metadata import version; print(version("pgadmin4"))';
  const version = (await run(python, ['-c', show])).trim();

  /** Presses the button of the sign-in page, and signs in here. */
  async function login(person: Awaited<ReturnType<typeof aPerson>>, browser: HttpClient = httpClient()) {
    const form = await start(browser);
    const { username, password } = person;
    return { browser, page: await travel(browser, await browser.submit(form, { username, password })) };
  }
  async function start(browser: HttpClient) {
    const page = await open(browser, `${origin}/login`);
    const csrf_token = /"csrfToken": "([^"]*)"/.exec(page.text)?.[1] ?? '';
    const form = { csrf_token, oauth2_button: 'gatehouse', email: '', password: '' };
    const sent = await browser.post(`${origin}/authenticate/login`, { form, headers: { origin } });
    const asked = await travel(browser, sent);
    if (!asked.url.startsWith(issuer)) throw new Error(`not sent to sign in: ${described(asked)}`);
    return asked;
  }
  const isIn = async (browser: HttpClient) => (await browser.get(`${origin}/browser/`)).status === 200;

  return {
    version,
    stop: () => server.stop(),
    trials: {
      'sign-in with a role that its additional claims demand': async () => {
        const { browser, page } = await login(await aPerson(gatehouse, { roles: ['pgadmin-user'] }));
        expectPage('not signed in', page, await isIn(browser));
        return 'signed in';
      },
      'a person without that role is rejected': async () => {
        const { browser, page } = await login(await aPerson(gatehouse));
        expectPage('signed in', page, !(await isIn(browser)));
        return 'back on its sign-in page';
      },
      'sign-in without an address': async () => {
        const person = await aPerson(gatehouse, { roles: ['pgadmin-user'], email: null, emailVerified: false });
        const { browser } = await login(person);
        return (await isIn(browser)) ? 'signed in' : 'rejected there';
      },
      'its sign-out ends the session here, without a question': async () => {
        const { browser } = await login(await aPerson(gatehouse, { roles: ['pgadmin-user'] }));
        const back = await travel(browser, await browser.get(`${origin}/oauth2/logout`));
        expectPage('not back', back, back.url.startsWith(origin) && !(await isIn(browser)));
        await start(browser);
        return 'asked for the password again';
      },
      'sign-out and a disabled person here': async () => {
        const person = await aPerson(gatehouse, { roles: ['pgadmin-user'] });
        const { browser } = await login(person);
        await signOutHere(gatehouse, browser);
        await services.accounts.setActive(person.account.id, false);
        return (await isIn(browser)) ? 'stays signed in there until its session ends' : 'ends the session there';
      },
    },
  };
}
