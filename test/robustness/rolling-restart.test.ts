// Two instances behind a proxy that never repeats a request are restarted one after the other: no request is lost, and sessions,
// sign-outs stay.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { stopServer } from '../../src/server/stop.ts';
import { type Application, anApplication, authorizeUrl, outcome, signIn } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { freePort, startIdp, type TestIdp } from '../support/idp.ts';
import { type RoundRobin, roundRobin } from '../support/round-robin.ts';
import { steadyLoad } from './load.ts';
import { reconnect } from './support.ts';

let proxy: RoundRobin;
let nodes: TestIdp[];
let app: Application;
let user: TestUser;
let browser: HttpClient;
let address: Record<string, string>;

beforeAll(async () => {
  const port = await freePort();
  address = { ISSUER: `http://localhost:${port}`, TRUST_PROXY: '1' };
  const one = await startIdp({ environment: address });
  nodes = [one, await another(one)];
  proxy = await roundRobin(
    nodes.map((node) => node.port),
    { port },
  );
  await proxy.ready(2);
  app = await anApplication(one);
  reconnect(app);
  user = await aUser(one.services);
  browser = httpClient(one.issuer);
  await signIn(browser, app, user, { scope: 'openid email offline_access' });
});
afterAll(async () => {
  await proxy?.close();
  await Promise.all((nodes ?? []).map((node) => node.stop()));
});

/** Another instance on the same data, or a new one in place of one that ended. */
function another({ environment }: TestIdp, port = ''): Promise<TestIdp> {
  const { DATABASE_URL = '', DATA_DIR = '' } = environment;
  return startIdp({ environment: { ...address, DATABASE_URL, DATA_DIR, ...(port && { PORT: port }) } });
}

it('a rolling restart loses no request while two instances are restarted one after the other behind a proxy that repeats none', async () => {
  const sessions = async () => (await nodes[0]?.services.sessions.list(user.account.id))?.map(({ uid }) => uid) ?? [];
  const before = await sessions();
  const other = httpClient(nodes[0]?.issuer);
  await signIn(other, app, user);
  const [ended = ''] = (await sessions()).filter((uid) => !before.includes(uid));
  const load = steadyLoad({ app, browser });
  await load.more(10);
  for (const [index, node] of nodes.entries()) {
    await stopServer(node, { announceSeconds: 0.4, logger: node.services.logger });
    await load.more(5);
    nodes[index] = await another(node, String(node.port));
    await proxy.ready(2);
    // A sign-out in between is one for all instances.
    if (index === 0) await nodes[0]?.services.endSession.one(ended, 'ended-by-admin');
  }
  await load.more(10);
  await load.end();
  expect({ lost: proxy.lost, failures: load.failures }).toEqual({ lost: [], failures: [] });
  const answers = await Promise.all(
    [browser, other].map((each) =>
      outcome(each, authorizeUrl(nodes[0] ?? expect.fail(), app.clientId, { prompt: 'none' })),
    ),
  );
  expect(answers.map((answer) => answer.get('error') ?? 'code').sort()).toEqual(['code', 'login_required']);
});
