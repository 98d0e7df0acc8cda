// oauth2-proxy with Gatehouse as its identity provider, its session in the cookie: the check of its proxy endpoint.
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { rmSync } from 'node:fs';
import { httpClient } from '../../../test/support/http.ts';
import { startChild } from '../child.ts';
import { agent } from '../load.ts';
import { client, freePort, gatehouseFolder, person, startGatehouse } from '../target.ts';
import { asked } from '../website.ts';
import { checkOnly, type Installation, type InstallOptions } from './provider.ts';

export async function installOauth2Proxy({ program }: Pick<InstallOptions, 'program'>): Promise<Installation> {
  const folder = gatehouseFolder();
  const port = await freePort();
  const origin = `http://127.0.0.1:${port}`;
  const version = execFileSync(program, ['--version'], { encoding: 'utf8' }).trim();
  return {
    name: 'oauth2-proxy',
    version,
    settings: 'the session in an encrypted cookie, so a check reads nothing and sees no sign-out; logs of requests off',
    async start() {
      const issuer = await startGatehouse(folder);
      const child = await startChild({
        program,
        arguments: [
          '--provider=oidc',
          `--oidc-issuer-url=${issuer.origin}`,
          `--client-id=${client.id}`,
          `--client-secret=${client.secret}`,
          `--redirect-url=${client.redirectUri}`,
          `--cookie-secret=${randomBytes(16).toString('hex')}`,
          '--cookie-secure=false',
          '--code-challenge-method=S256',
          '--email-domain=*',
          `--http-address=127.0.0.1:${port}`,
          '--reverse-proxy=true',
          '--set-xauthrequest=true',
          '--skip-provider-button=true',
          '--upstream=static://202',
          '--request-logging=false',
          '--auth-logging=false',
        ],
        cwd: folder,
        env: {},
        readyUrl: `${origin}/ping`,
      });
      const stop = async () => {
        await child.stop();
        await issuer.stop();
      };
      return checkOnly({ ...child, stop }, async () => {
        const browser = httpClient(origin, { agent });
        const isBack = (url: string) => url.startsWith(client.redirectUri);
        const form = await browser.follow(await browser.get('/oauth2/start?rd=/'), isBack);
        const page = await browser.follow(await browser.submit(form, person), isBack);
        const done = await browser.get(`/oauth2/callback${new URL(page.location ?? '').search}`);
        if (done.status !== 302) throw new Error(`oauth2-proxy: ${done.status} ${done.text}`);
        const cookies = browser.cookies.headerFor(new URL(origin)).split('; ');
        const cookie = cookies.filter((one) => one.startsWith('_oauth2_proxy')).join('; ');
        return { url: `${origin}/oauth2/auth`, headers: { ...asked('/page'), cookie }, expect: 202 };
      });
    },
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}
