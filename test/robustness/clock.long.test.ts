// The clock of the machine is set forward by an hour and back while the server runs: nothing stops, and the log says so.
import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { type Database, openDatabase } from '../../src/base/storage/database.ts';
import { type Application, anApplication, authorizeUrl, outcome, signIn } from '../oidc/support.ts';
import { testFolder } from '../support/database/database.ts';
import { aUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { type ServerProcess, serverProcess } from './support.ts';

const file = path.join(testFolder(), `clock-${process.pid}`);
let idp: TestIdp;
let app: Application;
let browser: HttpClient;
let server: ServerProcess;
let database: Database;

beforeAll(async () => {
  idp = await startIdp();
  app = await anApplication(idp);
  const user = await aUser(idp.services);
  browser = httpClient(idp.issuer);
  await signIn(browser, app, user);
  await idp.stop();
  const preload = path.resolve('test/robustness/set-clock.mjs');
  server = await serverProcess({ ...idp.environment, NODE_OPTIONS: `--import=${preload}`, CLOCK_FILE: file });
  database = await openDatabase(idp.environment.DATABASE_URL ?? '');
  return async () => {
    await server.kill('SIGKILL');
    await database.close();
  };
});

/** Writes an audit entry, and waits until it has joined the chain. */
async function sealedEntry(): Promise<void> {
  await httpClient(idp.issuer).post('/token', { form: { grant_type: 'client_credentials', client_id: app.clientId } });
  await expect.poll(() => database.db.auditEvent.count({ where: { chainSeq: null } })).toBe(0);
}

it('the server goes on when the clock is set forward by half an hour and back', async () => {
  await sealedEntry();
  writeFileSync(file, String(30 * 60_000));
  await expect.poll(() => server.printed()).toContain('the clock of this machine was set forward by 1800 s');
  await sealedEntry();
  // A code from the time ahead.
  const started = await app.rp.start({ scope: 'openid offline_access', prompt: 'none' });
  const { location = '' } = await browser.get(started.url);
  writeFileSync(file, '0');
  await expect.poll(() => server.printed()).toContain('the clock of this machine was set back by 1800 s');
  await sealedEntry();
  const tokens = await app.rp.finish(location, started);
  expect(await app.rp.userinfo(tokens)).toMatchObject({ sub: tokens.claims()?.sub });
  expect(await app.rp.refresh(tokens.refresh_token ?? '')).toMatchObject({ token_type: 'bearer' });
  expect((await outcome(browser, authorizeUrl(idp, app.clientId, { prompt: 'none' }))).get('code')).toBeTruthy();
});
