// Gitea on SQLite, with the authentication source of the guide, which its command line adds instead of its form.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import Database from 'better-sqlite3';
import { aClient } from '../../support/factories.ts';
import type { HttpClient } from '../../support/http.ts';
import type { Gatehouse } from '../gatehouse.ts';
import { freePort, goVersion, Missing, needFile, newFolder, run, startProgram } from '../programs.ts';
import { open, travel } from '../travel.ts';
import {
  aMember,
  aPerson,
  described,
  eventually,
  expectPage,
  guideText,
  type Product,
  register,
  signIn,
  signOutHere,
  unmetDemands,
} from './product.ts';

const ADMIN = { name: 'administrator', password: 'a-password-of-a-trial' };

export async function startGitea(gatehouse: Gatehouse): Promise<Product> {
  const program = process.env.GITEA;
  if (!program) throw new Missing('needs GITEA (README.md)');
  needFile(program, 'GITEA');
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const registered = await register(gatehouse, 'gitea', { url: origin });
  const data = newFolder('gitea');
  const at = (name: string) => path.join(data, name);
  writeFileSync(
    at('app.ini'),
    `I_AM_BEING_UNSAFE_RUNNING_AS_ROOT = true
[server]
HTTP_ADDR = 127.0.0.1
HTTP_PORT = ${port}
ROOT_URL = ${origin}/
DISABLE_SSH = true
OFFLINE_MODE = true
STATIC_ROOT_PATH = ${path.dirname(program)}
[database]
DB_TYPE = sqlite3
PATH = ${at('database')}
[security]
INSTALL_LOCK = true
SECRET_KEY = the-key-of-this-trial
${guideText(registered, 'app.ini')}
`,
  );
  const place = ['--config', at('app.ini'), '--work-path', data];
  const gitea = (...args: string[]) => run(program, [...args, ...place], { cwd: data });
  await gitea('migrate');
  const { name, password } = ADMIN;
  await gitea(
    ...['admin', 'user', 'create', '--admin', '--username', name, '--password', password],
    ...['--email', 'root@example.com', '--must-change-password=false'],
  );
  const form = new Map(
    guideText(registered, 'Authentication Sources')
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf(': ')), line.slice(line.indexOf(': ') + 2)]),
  );
  const entry = (label: string) => {
    const value = form.get(label);
    if (value === undefined) throw new Error(`the guide has no ${label}`);
    return value;
  };
  await gitea(
    ...['admin', 'auth', 'add-oauth', '--provider', 'openidConnect', '--name', entry('Authentication Name')],
    ...['--key', entry('Client ID (Key)'), '--secret', entry('Client Secret')],
    ...['--auto-discover-url', entry('OpenID Connect Auto Discovery URL')],
    ...entry('Additional Scopes')
      .split(' ')
      .flatMap((scope) => ['--scopes', scope]),
    ...['--group-claim-name', entry('Claim name providing group names for this source')],
    ...['--admin-group', entry('Group Claim value for administrator users')],
  );
  if (entry('Enable User Synchronization') !== 'selected') throw new Error('the guide does not synchronize');
  synchronize();
  const server = await startProgram(program, ['web', ...place], { cwd: data, ready: `${origin}/api/healthz` });
  const start = `${origin}/user/oauth2/${entry('Authentication Name')}`;
  // A user who may not sign in gets a page with status 200, too.
  const isIn = async (browser: HttpClient) =>
    (await browser.get(`${origin}/user/settings`)).text.includes('name="full_name"');
  const isAdmin = async (browser: HttpClient) => (await browser.get(`${origin}/-/admin`)).status === 200;

  const authorization = `Basic ${Buffer.from(`${name}:${password}`).toString('base64')}`;
  async function api<Answer = unknown>(method: string, at: string, body?: object): Promise<Answer> {
    const headers = { authorization, 'content-type': 'application/json' };
    const answer = await fetch(`${origin}/api/v1/${at}`, {
      method,
      headers,
      ...(body && { body: JSON.stringify(body) }),
    });
    if (!answer.ok) throw new Error(`${method} ${at}: ${answer.status} ${await answer.text()}`);
    const text = await answer.text();
    return (text === '' ? undefined : JSON.parse(text)) as Answer;
  }

  /** Selects “Enable User Synchronization”, for which its command line has no option. */
  function synchronize(): void {
    const database = new Database(at('database'));
    database.prepare('UPDATE login_source SET is_sync_enabled = 1').run();
    database.close();
  }

  /** What Gitea does each night with those whose access token has expired. */
  async function nightly(): Promise<void> {
    const database = new Database(at('database'));
    const expired = '2000-01-01 00:00:00';
    database.prepare("UPDATE external_login_user SET expires_at = ? WHERE refresh_token != ''").run(expired);
    await api('POST', 'admin/cron/sync_external_users');
    const left = database.prepare("SELECT 1 FROM external_login_user WHERE expires_at LIKE ? AND refresh_token != ''");
    await eventually('its task has run', async () => left.get(`2000-01-01%`) === undefined);
    database.close();
  }

  /** Adds a source with a client of its own; returns where a sign-in with it begins. */
  async function anotherSource(source: string, client: Parameters<typeof aClient>[1], ...more: string[]) {
    const { clientId, clientSecret } = await aClient(gatehouse.services, {
      ...registered.metadata,
      ...client,
      redirect_uris: [`${origin}/user/oauth2/${source}/callback`],
    });
    await gitea(
      ...['admin', 'auth', 'add-oauth', '--provider', 'openidConnect', '--name', source],
      ...['--key', clientId, '--secret', clientSecret],
      ...['--auto-discover-url', `${gatehouse.issuer}/.well-known/openid-configuration`],
      ...['email', 'profile', 'groups', 'offline_access'].flatMap((scope) => ['--scopes', scope]),
      ...more,
    );
    synchronize();
    return `${origin}/user/oauth2/${source}`;
  }

  return {
    version: await goVersion(program),
    stop: () => server.stop(),
    trials: {
      'sign-in': async () => {
        const person = await aPerson(gatehouse);
        const { browser, page } = await signIn(gatehouse, start, person);
        expectPage('not signed in', page, (await isIn(browser)) && !(await isAdmin(browser)));
        const { text } = await browser.get(`${origin}/user/settings`);
        if (!text.includes(person.username)) throw new Error('not with its username');
        return `signed in as ${person.username}`;
      },
      'its group gives administration': async () => {
        const { browser, page } = await signIn(gatehouse, start, await aPerson(gatehouse, { groups: ['gitea-admin'] }));
        expectPage('no administrator', page, await isAdmin(browser));
        return 'site administrator';
      },
      'a person without an address is rejected, as the access check says': async () => {
        const person = await aPerson(gatehouse, { email: null, emailVerified: false });
        const { browser, page } = await signIn(gatehouse, start, person);
        expectPage('signed in', page, !(await isIn(browser)));
        return `${page.status}; access check: ${await unmetDemands(gatehouse, registered, person)}`;
      },
      'its sign-out ends the session here': async () => {
        const { browser } = await signIn(gatehouse, start, await aPerson(gatehouse));
        const asked = await travel(browser, await browser.get(`${origin}/user/logout`));
        if (!asked.url.startsWith(gatehouse.issuer)) throw new Error(`not sent here: ${described(asked)}`);
        const back = await browser.submit(asked, { logout: 'yes' });
        if (back.location !== `${origin}/`) throw new Error(`not sent back: ${described(back)}`);
        const form = await open(browser, start);
        expectPage('not asked to sign in', form, form.url.startsWith(gatehouse.issuer));
        return 'after a question, and back at Gitea';
      },
      'its nightly task renews, and ends the session of a disabled person': async () => {
        const person = await aPerson(gatehouse);
        const { browser } = await signIn(gatehouse, start, person);
        await nightly();
        if (!(await isIn(browser))) throw new Error('out after a renewal');
        await gatehouse.services.accounts.setActive(person.account.id, false);
        if (!(await isIn(browser))) throw new Error('out before the task ran');
        await nightly();
        if (await isIn(browser)) throw new Error('still in');
        return 'out when the task has run';
      },
      'a group admits until the end, and gives a team': async () => {
        await api('POST', 'orgs', { username: 'science' });
        const team = { name: 'physics', permission: 'read', units: ['repo.code'] };
        const { id } = await api<{ id: number }>('POST', 'orgs/science/teams', team);
        const startByGroup = await anotherSource(
          'lab',
          {},
          ...['--required-claim-name', 'groups', '--required-claim-value', 'lab', '--group-claim-name', 'groups'],
          ...['--group-team-map', JSON.stringify({ physics: { science: ['physics'] } }), '--group-team-map-removal'],
        );
        const members = async () =>
          (await api<{ login: string }[]>('GET', `teams/${id}/members`)).map(({ login }) => login);
        const outsider = await signIn(gatehouse, startByGroup, await aPerson(gatehouse));
        expectPage('admitted without the group', outsider.page, !(await isIn(outsider.browser)));
        const { person, groupId, ended } = await aMember(gatehouse, 'lab');
        await aMember(gatehouse, 'physics', person);
        const { browser, page } = await signIn(gatehouse, startByGroup, person);
        expectPage('not admitted', page, await isIn(browser));
        if (!(await members()).includes(person.username)) throw new Error('not in the team');
        await ended();
        const after = await signIn(gatehouse, startByGroup, person);
        expectPage('admitted after the end', after.page, !(await isIn(after.browser)));
        await gatehouse.services.groups.addMembers(groupId, [{ userId: person.account.id }]);
        const again = await signIn(gatehouse, startByGroup, person);
        expectPage('not admitted again', again.page, await isIn(again.browser));
        if ((await members()).includes(person.username)) throw new Error('still in the team');
        return 'by a required claim; a sign-in after the end is rejected; a team follows a group';
      },
      'a group that opens it here admits until the end, also at night': async () => {
        const startByGroup = await anotherSource('open', { access: { roles: [], groups: ['lab'] } });
        const outsider = await signIn(gatehouse, startByGroup, await aPerson(gatehouse));
        expectPage('admitted without the group', outsider.page, outsider.page.url.startsWith(gatehouse.issuer));
        const { person, ended } = await aMember(gatehouse, 'lab');
        const { browser, page } = await signIn(gatehouse, startByGroup, person);
        expectPage('not admitted', page, await isIn(browser));
        await nightly();
        if (!(await isIn(browser))) throw new Error('out after a renewal');
        await ended();
        const after = await signIn(gatehouse, startByGroup, person);
        expectPage('admitted after the end', after.page, after.page.url.startsWith(gatehouse.issuer));
        await nightly();
        if (await isIn(browser)) throw new Error('still in');
        return 'a sign-in after the end gets the page without access; out when the task has run';
      },
      'sign-out here': async () => {
        const { browser } = await signIn(gatehouse, start, await aPerson(gatehouse));
        await signOutHere(gatehouse, browser);
        await nightly();
        if (!(await isIn(browser))) return 'ends the session there at night';
        return 'stays signed in there until its session ends, and the account stays active';
      },
    },
  };
}
