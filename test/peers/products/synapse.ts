// Synapse with an OpenID Connect provider from the guide. A Matrix client takes its login token and becomes a device, which a logout ends.
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import type { HttpClient } from '../../support/http.ts';
import type { Gatehouse } from '../gatehouse.ts';
import { freePort, Missing, newFolder, run, startProgram } from '../programs.ts';
import { aPerson, described, eventually, guideText, type Product, register, signIn, signOutHere } from './product.ts';

export async function startSynapse(gatehouse: Gatehouse): Promise<Product> {
  const folder = process.env.SYNAPSE;
  if (!folder) throw new Missing('needs SYNAPSE (README.md)');
  const python = path.join(folder, 'bin/python');
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const registered = await register(gatehouse, 'synapse', { url: origin });
  const data = newFolder('synapse');
  const file = path.join(data, 'homeserver.yaml');
  const generate = ['--server-name', 'matrix.test', '--config-path', file, '--generate-config', '--report-stats=no'];
  await run(python, ['-m', 'synapse.app.homeserver', ...generate], { cwd: data });
  writeFileSync(file, readFileSync(file, 'utf8').replace(/port: 8008/, `port: ${port}`));
  // The client of this trial is no page that Synapse knows, so it need not ask.
  const own = `sso:\n  client_whitelist: ["${origin}/"]\nsuppress_key_server_warning: true\n`;
  appendFileSync(file, `\n${guideText(registered, 'homeserver.yaml')}\n${own}`);
  const server = await startProgram(python, ['-m', 'synapse.app.homeserver', '--config-path', file], {
    cwd: data,
    ready: `${origin}/_matrix/client/versions`,
    seconds: 180,
  });
  const version = /synapse ([\d.]+)/i.exec(
    await run(python, ['-c', 'import synapse; print("synapse", synapse.__version__)']),
  )?.[1];

  /** Signs in as a Matrix client: the browser comes back with a login token, which gives an access token. */
  async function login(
    user: Awaited<ReturnType<typeof aPerson>>,
  ): Promise<{ browser: HttpClient; token: string; id: string }> {
    const redirect = `${origin}/_matrix/client/v3/login/sso/redirect/oidc-gatehouse?redirectUrl=${encodeURIComponent(`${origin}/client`)}`;
    const { browser, page } = await signIn(gatehouse, redirect, user);
    const loginToken = new URL(page.url).searchParams.get('loginToken') ?? /loginToken=([\w.-]+)/.exec(page.text)?.[1];
    if (!loginToken) throw new Error(`no login token: ${described(page)}`);
    const response = await fetch(`${origin}/_matrix/client/v3/login`, {
      method: 'POST',
      body: JSON.stringify({ type: 'm.login.token', token: loginToken }),
    });
    const answer = (await response.json()) as { access_token: string; user_id: string };
    if (!response.ok) throw new Error(JSON.stringify(answer));
    return { browser, token: answer.access_token, id: answer.user_id };
  }
  const whoami = async (token: string) =>
    (await fetch(`${origin}/_matrix/client/v3/account/whoami`, { headers: { authorization: `Bearer ${token}` } }))
      .status;

  return {
    version: version ?? 'of unknown version',
    stop: () => server.stop(),
    trials: {
      'sign-in': async () => (await login(await aPerson(gatehouse))).id,
      'sign-out here ends its device': async () => {
        const user = await aPerson(gatehouse);
        const { browser, token } = await login(user);
        if ((await whoami(token)) !== 200) throw new Error('the access token is not valid');
        await signOutHere(gatehouse, browser);
        await eventually('its access token has ended', async () => (await whoami(token)) === 401);
        const [event] = await gatehouse.services.audit.list({
          subjectId: user.account.id,
          types: ['logout.delivered'],
        });
        return event ? 'its access token has ended' : 'ended, but not noted as delivered';
      },
      'a disabled person is signed out': async () => {
        const user = await aPerson(gatehouse);
        const { token } = await login(user);
        await gatehouse.services.endSession.all(user.account.id, 'account-disabled', {});
        await gatehouse.services.accounts.setActive(user.account.id, false);
        await eventually('its access token has ended', async () => (await whoami(token)) === 401);
        return 'its access token has ended';
      },
    },
  };
}
