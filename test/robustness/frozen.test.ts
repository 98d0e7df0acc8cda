// A process that was frozen carries out what arrived meanwhile when it runs again, although another instance may have answered the repeats.
import { request } from 'node:http';
import { expect, it } from 'vitest';
import { anApplication, basic, postAs, signIn } from '../oidc/support.ts';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { freePort, startIdp } from '../support/idp.ts';
import { serverProcess } from './support.ts';

it('a refresh that a frozen process carries out after another instance has answered its repeat ends no grant', async () => {
  const idp = await startIdp();
  const app = await anApplication(idp);
  const user = await aUser(idp.services);
  const { tokens } = await signIn(httpClient(idp.issuer), app, user, {
    scope: 'openid offline_access',
    prompt: 'consent',
  });
  const port = await freePort();
  const frozen = await serverProcess({ ...idp.environment, ISSUER: idp.issuer, PORT: String(port) });
  const refresh = async (refreshToken: unknown) => {
    const form = { grant_type: 'refresh_token', refresh_token: String(refreshToken) };
    const { status, text } = await postAs(idp, app, '/token', form);
    return { status, next: JSON.parse(text).refresh_token };
  };
  try {
    process.kill(frozen.pid, 'SIGSTOP');
    const late = new Promise<string>((resolve, reject) => {
      const headers = {
        host: new URL(idp.issuer).host,
        authorization: basic(app.clientId, app.clientSecret ?? ''),
        'content-type': 'application/x-www-form-urlencoded',
      };
      request({ port, method: 'POST', path: '/token', headers }, async (response) => {
        resolve((await response.setEncoding('utf8').toArray()).join(''));
      })
        .once('error', reject)
        .end(
          new URLSearchParams({ grant_type: 'refresh_token', refresh_token: tokens.refresh_token ?? '' }).toString(),
        );
    });
    const repeated = await refresh(tokens.refresh_token);
    expect(repeated.status).toBe(200);
    process.kill(frozen.pid, 'SIGCONT');
    expect(JSON.parse(await late), 'the same successor').toMatchObject({ refresh_token: repeated.next });
    expect((await refresh(repeated.next)).status).toBe(200);
  } finally {
    await frozen.kill('SIGKILL');
    await idp.stop();
  }
});
