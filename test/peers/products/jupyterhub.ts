// JupyterHub with the generic authenticator, configured by the guide, and servers that are never started.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import type { HttpClient } from '../../support/http.ts';
import type { Gatehouse } from '../gatehouse.ts';
import { freePort, Missing, newFolder, run, startProgram } from '../programs.ts';
import { open } from '../travel.ts';
import {
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

export async function startJupyterHub(gatehouse: Gatehouse): Promise<Product> {
  const { JUPYTERHUB: folder, CONFIGURABLE_HTTP_PROXY: proxy } = process.env;
  if (!folder || !proxy) throw new Missing('needs JUPYTERHUB and CONFIGURABLE_HTTP_PROXY (README.md)');
  const [port, hubPort, proxyPort] = [await freePort(), await freePort(), await freePort()];
  const origin = `http://127.0.0.1:${port}`;
  const registered = await register(gatehouse, 'jupyterhub', { url: origin });
  const data = newFolder('jupyterhub');
  const file = path.join(data, 'jupyterhub_config.py');
  // A renewal at each request, which the guide has after five minutes.
  const guide = guideText(registered, 'jupyterhub_config.py').replace(/auth_refresh_age = \d+/, 'auth_refresh_age = 1');
  writeFileSync(
    file,
    `c = get_config()
${guide}
c.JupyterHub.bind_url = "${origin}"
c.JupyterHub.hub_bind_url = "http://127.0.0.1:${hubPort}"
c.ConfigurableHTTPProxy.api_url = "http://127.0.0.1:${proxyPort}"
c.ConfigurableHTTPProxy.command = ["${proxy}"]
c.JupyterHub.spawner_class = "simple"
c.JupyterHub.tornado_settings = {"slow_spawn_timeout": 0}
`,
  );
  const hub = await startProgram(path.join(folder, 'bin/jupyterhub'), ['--config', file], {
    cwd: data,
    env: { JUPYTERHUB_CRYPT_KEY: 'a'.repeat(64), PATH: `${path.join(folder, 'bin')}:${process.env.PATH}` },
    ready: `${origin}/hub/login`,
    seconds: 180,
  });
  const version = (await run(path.join(folder, 'bin/jupyterhub'), ['--version'])).trim();
  const start = `${origin}/hub/oauth_login?next=%2Fhub%2Ftoken`;
  const isIn = async (browser: HttpClient) =>
    (await browser.follow(await browser.get(`${origin}/hub/token`), (url) => url.startsWith(gatehouse.issuer))).url ===
    `${origin}/hub/token`;

  return {
    version,
    stop: () => hub.stop(),
    trials: {
      'sign-in with its group': async () => {
        const { page, browser } = await signIn(
          gatehouse,
          start,
          await aPerson(gatehouse, { groups: ['jupyterhub-user'] }),
        );
        expectPage('not signed in', page, page.status === 200 && (await isIn(browser)));
        return 'signed in';
      },
      'a person outside of its groups is rejected, as the access check says': async () => {
        const user = await aPerson(gatehouse);
        const { page } = await signIn(gatehouse, start, user);
        expectPage('signed in', page, page.status === 403);
        return `${page.status}; access check: ${await unmetDemands(gatehouse, registered, user)}`;
      },
      'the session is renewed, and ends for a disabled person': async () => {
        const user = await aPerson(gatehouse, { groups: ['jupyterhub-user'] });
        const { browser } = await signIn(gatehouse, start, user);
        await new Promise((resolve) => setTimeout(resolve, 2000));
        if (!(await isIn(browser))) throw new Error('not renewed');
        await gatehouse.services.accounts.setActive(user.account.id, false);
        await eventually('the disabled person is out', async () => !(await isIn(browser)));
        return 'out at the next renewal';
      },
      'its sign-out ends the session here': async () => {
        const user = await aPerson(gatehouse, { groups: ['jupyterhub-user'] });
        const { browser } = await signIn(gatehouse, start, user);
        const asked = await open(browser, `${origin}/hub/logout`);
        const back = await browser.submit(asked, { logout: 'yes' });
        if (back.location !== `${origin}/`) throw new Error(`not sent back: ${described(back)}`);
        const form = await open(browser, start);
        expectPage('not asked to sign in', form, form.url.startsWith(gatehouse.issuer));
        return 'after a question, and back at JupyterHub';
      },
      'sign-out here': async () => {
        const user = await aPerson(gatehouse, { groups: ['jupyterhub-user'] });
        const { browser } = await signIn(gatehouse, start, user);
        await signOutHere(gatehouse, browser);
        return (await isIn(browser)) ? 'stays signed in there until its session ends' : 'ends the session there';
      },
    },
  };
}
