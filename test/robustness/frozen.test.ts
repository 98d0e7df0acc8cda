// A process that stood still: requests that arrived meanwhile have no caller any more, and another instance may have answered their repeats.
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { watchPauses } from '../../src/server/pause-watch.ts';
import { type Application, anApplication, postAs, signIn } from '../oidc/support.ts';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type ServerProcess, serverProcess } from './support.ts';

describe('the watch of pauses', () => {
  let now = 0;
  const warnings: unknown[] = [];
  const watch = () =>
    watchPauses({ stopwatch: () => now, logger: { warn: (data: unknown) => void warnings.push(data) } as never });
  afterEach(() => {
    now = 0;
    warnings.length = 0;
  });

  it('rejects what is read in the first second after a pause of ten seconds, and logs the pause', () => {
    const { isStale, stop } = watch();
    now += 10_000;
    expect(isStale(), 'at once').toBe(true);
    now += 999;
    expect(isStale(), 'within a second').toBe(true);
    now += 1;
    expect(isStale(), 'after a second').toBe(false);
    expect(warnings).toEqual([{ seconds: 10 }]);
    stop();
  });

  it('accepts what is read after a shorter pause', () => {
    const { isStale, stop } = watch();
    for (let count = 0; count < 5; count += 1) {
      now += 9999;
      expect(isStale()).toBe(false);
    }
    stop();
  });
});

describe('a server that stood still', () => {
  let idp: TestIdp;
  let app: Application;
  let refreshToken: string;
  let server: ServerProcess;

  beforeAll(async () => {
    idp = await startIdp();
    app = await anApplication(idp);
    const user = await aUser(idp.services);
    const { tokens } = await signIn(httpClient(idp.issuer), app, user, {
      scope: 'openid offline_access',
      prompt: 'consent',
    });
    refreshToken = String(tokens.refresh_token);
    await idp.stop();
    server = await serverProcess(idp.environment);
    return async () => void (await server.kill('SIGKILL'));
  });

  it('answers 503 with Retry-After to a refresh of that time, whose token works at the next try', async () => {
    const refresh = () => postAs(idp, app, '/token', { grant_type: 'refresh_token', refresh_token: refreshToken });
    process.kill(server.pid, 'SIGSTOP');
    const waiting = refresh();
    await sleep(11_000);
    process.kill(server.pid, 'SIGCONT');
    const stale = await waiting;
    expect({ status: stale.status, retryAfter: stale.headers['retry-after'] }).toEqual({
      status: 503,
      retryAfter: '1',
    });
    expect(JSON.parse(stale.text), 'RFC 6749 5.2').toMatchObject({ error: 'temporarily_unavailable' });
    await vi.waitFor(() => expect(server.printed()).toContain('this process stood still'), { timeout: 10_000 });
    expect(server.printed(), 'the log').not.toContain('"stack"');
    await vi.waitFor(async () => expect((await refresh()).status).toBe(200), { timeout: 10_000, interval: 500 });
  });
});
