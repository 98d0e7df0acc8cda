// MinIO with the environment of the guide. Its console has no single sign-on any more, so the trial does what the older console did with the
// ID token: AssumeRoleWithWebIdentity at the API of the server.

import { relyingParty } from '../../support/applications/rp.ts';
import { httpClient } from '../../support/http.ts';
import type { Gatehouse } from '../gatehouse.ts';
import { freePort, goVersion, Missing, newFolder, startProgram } from '../programs.ts';
import { travel } from '../travel.ts';
import { aPerson, guideText, type Product, register, unmetDemands } from './product.ts';

export async function startMinio(gatehouse: Gatehouse): Promise<Product> {
  const program = process.env.MINIO;
  if (!program) throw new Missing('needs MINIO (README.md)');
  const [port, consolePort] = [await freePort(), await freePort()];
  const registered = await register(gatehouse, 'minio', { url: `http://127.0.0.1:${consolePort}` });
  const variables = guideText(registered, 'MinIO')
    .split('\n')
    .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)] as const);
  const server = await startProgram(
    program,
    ['server', newFolder('minio'), '--address', `127.0.0.1:${port}`, '--console-address', `127.0.0.1:${consolePort}`],
    {
      env: { ...Object.fromEntries(variables), MINIO_ROOT_USER: 'root-user', MINIO_ROOT_PASSWORD: 'root-password' },
      ready: `http://127.0.0.1:${port}/minio/health/ready`,
    },
  );

  async function credentialsOf(user: Awaited<ReturnType<typeof aPerson>>): Promise<{ status: number; text: string }> {
    const { clientId, clientSecret, metadata } = registered;
    const [redirectUri = ''] = metadata.redirect_uris as string[];
    const rp = await relyingParty({ issuer: gatehouse.issuer, clientId, clientSecret, redirectUri });
    const started = await rp.start({ scope: 'openid profile email roles' });
    const browser = httpClient();
    const form = await browser.follow(await browser.get(started.url));
    const { username, password } = user;
    const sent = await browser.submit(form, { username, password });
    const back = await browser.follow(sent, (url) => url.startsWith(redirectUri));
    const tokens = await rp.finish(back.location ?? (await travel(browser, back)).url, started);
    const query = {
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      WebIdentityToken: tokens.id_token ?? '',
    };
    const response = await fetch(`http://127.0.0.1:${port}/?${new URLSearchParams(query)}`, { method: 'POST' });
    return { status: response.status, text: await response.text() };
  }

  return {
    version: await goVersion(program),
    stop: () => server.stop(),
    trials: {
      'credentials for a person with its role': async () => {
        const { status, text } = await credentialsOf(await aPerson(gatehouse, { roles: ['minio-read'] }));
        if (status !== 200) throw new Error(`${status} ${text}`);
        return 'AssumeRoleWithWebIdentity gives a session';
      },
      'a person without a role is rejected, as the access check says': async () => {
        const user = await aPerson(gatehouse);
        const { status, text } = await credentialsOf(user);
        if (status < 400) throw new Error('not rejected');
        const reason = /<Message>([^<]*)/.exec(text)?.[1];
        return `${status} ${reason}; access check: ${await unmetDemands(gatehouse, registered, user)}`;
      },
      'a person with a role that it has no policy for': async () => {
        await gatehouse.services.roles.create({ name: 'minio-other' });
        const user = await aPerson(gatehouse, { roles: ['minio-other'] });
        const { status } = await credentialsOf(user);
        return `${status}; access check: ${await unmetDemands(gatehouse, registered, user)}`;
      },
    },
  };
}
