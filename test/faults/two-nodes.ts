// Driver: two nodes on one PostgreSQL behind a proxy that repeats idempotent requests and looks at /readyz. One node is killed, then cut
// off from the database, then stopped while it is cut off. `npm test` does not run it.
//   npm run build && npx tsx test/faults/two-nodes.ts [killed] [silent] [refused] [stopped]
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { loadConfig } from '../../src/base/config.ts';
import { limits } from '../../src/base/limits.ts';
import { createLogger } from '../../src/base/platform/logger.ts';
import { adminApi } from '../../src/people/rbac/built-in.ts';
import { createServices } from '../../src/server/services.ts';
import { anApplication, postAs } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { freePort, type TestIdp } from '../support/idp.ts';
import { programArguments } from '../support/program.ts';
import { roundRobin } from '../support/round-robin.ts';
import { guess, isActive, newTally, refreshUntil, signInSomehow, untilAnswered, type World } from './person.ts';
import { postgresProcess } from './postgres-process.ts';
import { type TcpProxy, tcpProxy } from './tcp-proxy.ts';

const FAULT_MS = 15_000;
const CHAINS = 4;
/** Wrong passwords of one account before it is locked; the last ones are sent with a solved CAPTCHA. */
const GUESSES = limits.rateLimits.signInPerAccount.points;
/** Of SIGTERM: 5 s for the proxy, 15 for requests, 5 for the database; and a little for a busy machine. */
const STOP_MS = 27_000;

interface Node {
  port: number;
  toDatabase: TcpProxy;
  process: ChildProcess;
  log: string[];
}

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-two-'));
const print = (line: string) => void process.stdout.write(`${line}\n`);
let isMet = true;
const expect = (what: string, passed: boolean) => {
  isMet &&= passed;
  print(`  ${passed ? 'met    ' : 'NOT MET'}  ${what}`);
};
const postgres = await postgresProcess();
await postgres.start();
const environment = {
  GATEHOUSE_SECRET: Buffer.alloc(32, 7).toString('base64url'),
  ISSUER: `http://localhost:${await freePort()}`,
  TRUST_PROXY: '1',
  LOG_FORMAT: 'json',
  LOG_LEVEL: 'warn',
};
const nodes: Node[] = [];
const front = { close: async () => {} };

/** What happens to the first node, and how it is repaired. */
const faults: Record<string, { begin(node: Node): Promise<void> | void; end(node: Node): Promise<void> | void }> = {
  killed: {
    begin: (node) => void node.process.kill('SIGKILL'),
    end: async (node) => void Object.assign(node, await start(node)),
  },
  silent: { begin: (node) => node.toDatabase.silenceAll(), end: (node) => node.toDatabase.serve() },
  refused: { begin: (node) => node.toDatabase.refuse(), end: (node) => node.toDatabase.serve() },
  stopped: {
    async begin(node) {
      node.toDatabase.silenceAll();
      const [code, ms] = await ended(node.process);
      expect(
        `SIGTERM while the database is silent: ended with ${code} after ${(ms / 1000).toFixed(1)} s`,
        ms < STOP_MS,
      );
    },
    async end(node) {
      await node.toDatabase.serve();
      Object.assign(node, await start(node));
    },
  },
};
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(faults);

try {
  const world = await prepare();
  for (const name of wanted) await runFault(name, world);
  if (wanted.includes('stopped')) await stopAtOnce(world);
} finally {
  for (const node of nodes) node.process.kill('SIGKILL');
  await front.close();
  for (const node of nodes) await node.toDatabase.close();
  await postgres.remove();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(isMet ? 0 : 1);

/** A third node that announces nothing: its connections go silent with requests on them, and SIGTERM comes at the same moment. */
async function stopAtOnce(world: Prepared): Promise<void> {
  print('\nstopped with DRAIN_SECONDS=0, requests in progress');
  const toDatabase = await tcpProxy(postgres.port);
  const node = await start({ port: await freePort(), toDatabase }, { DRAIN_SECONDS: '0' });
  nodes.push(node);
  const headers = { ...world.asAdmin, host: new URL(environment.ISSUER).host };
  const list = () =>
    httpClient(`http://127.0.0.1:${node.port}`)
      .get('/api/admin/users?limit=5', { headers })
      .then(({ status }) => status);
  await list();
  toDatabase.silenceAll();
  const answers = Promise.allSettled(Array.from({ length: 20 }, list));
  await sleep(500);
  const [code, ms] = await ended(node.process);
  const statuses = (await answers).map((answer) => (answer.status === 'fulfilled' ? answer.value : 'none'));
  expect(`ended with ${code} after ${(ms / 1000).toFixed(1)} s`, ms < STOP_MS);
  expect(`the requests in progress: ${[...new Set(statuses)]}`, !statuses.includes('none'));
}

interface Prepared extends Pick<World, 'idp' | 'app'> {
  users: () => Promise<TestUser>;
  asAdmin: { authorization: string };
  ready(count: number): Promise<void>;
  lost: string[];
  repeated(): number;
}

/** Starts a node on its port, with its own way to the database. */
async function start({ port, toDatabase }: Pick<Node, 'port' | 'toDatabase'>, more = {}): Promise<Node> {
  const child = spawn(process.execPath, programArguments('main'), {
    env: {
      PATH: process.env.PATH,
      ...environment,
      ...more,
      DATA_DIR: path.join(folder, String(port)),
      DATABASE_URL: postgres.url(toDatabase.port),
      PORT: String(port),
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const log: string[] = [];
  await new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      log.push(text);
      if (text.includes('Gatehouse is ready')) resolve();
    });
    child.once('exit', (code) => reject(new Error(`the node ended with ${code}: ${log.join('').slice(-2000)}`)));
  });
  return { port, toDatabase, process: child, log };
}

async function ended(child: ChildProcess): Promise<[code: number | null, ms: number]> {
  const began = performance.now();
  const code = new Promise<number | null>((resolve) => child.once('exit', resolve));
  child.kill('SIGTERM');
  return [await code, performance.now() - began];
}

async function prepare(): Promise<Prepared> {
  for (let count = 0; count < 2; count += 1) {
    nodes.push(await start({ port: await freePort(), toDatabase: await tcpProxy(postgres.port) }));
  }
  const ports = nodes.map(({ port }) => port);
  const proxy = await roundRobin(ports, { port: Number(new URL(environment.ISSUER).port), repeats: true });
  front.close = proxy.close;
  await proxy.ready(2);
  const config = loadConfig(
    { ...environment, DATA_DIR: folder, DATABASE_URL: postgres.url(postgres.port) },
    { cwd: folder, terminal: false },
  );
  const services = await createServices({ config, logger: createLogger({ level: 'silent', format: 'json' }) });
  front.close = async () => {
    await services.close();
    await proxy.close();
  };
  const idp = { issuer: config.issuer, services } as TestIdp;
  const app = await anApplication(idp);
  const resource = adminApi(config.issuer);
  const service = await anApplication(idp, {
    redirect_uris: [],
    grant_types: ['client_credentials'],
    resources: [resource],
    scope: 'admin:*',
  });
  const form = { grant_type: 'client_credentials', resource, scope: 'admin:*' };
  const token = (await postAs(idp, service, '/token', form)).json().access_token;
  const asAdmin = { authorization: `Bearer ${token}` };
  return { idp, app, users: () => aUser(services), asAdmin, ...proxy };
}

async function runFault(name: string, prepared: Prepared): Promise<void> {
  const fault = faults[name];
  const [node] = nodes;
  if (!fault || !node) throw new Error(`no such fault: ${name}`);
  print(`\n${name}`);
  const { asAdmin, users, lost } = prepared;
  const world: World = { ...prepared, tally: newTally() };
  const { tally } = world;
  let isOver = false;
  const first = { lost: lost.length, repeated: prepared.repeated() };
  const people = await Promise.all(Array.from({ length: CHAINS }, users));
  const [signingIn, leaving, attacked] = [await users(), await users(), await users()];
  const lives = await Promise.all(people.map((user) => signInSomehow(world, user)));
  const left = await signInSomehow(world, leaving);
  const early = await guess(world, attacked, 2);

  const load = [
    ...lives.map((life) => refreshUntil(world, life, () => isOver)),
    (async () => {
      while (!isOver) await signInSomehow(world, signingIn);
    })(),
  ];
  const during = Promise.all(load).catch((error: unknown) => void tally.broken.push(String(error)));
  await sleep(2000);
  await fault.begin(node);
  // While the fault lasts, one person is signed out, and another one's password is guessed.
  const address = `/api/admin/users/${leaving.account.id}/sessions`;
  const out = await httpClient(world.idp.issuer).request('DELETE', address, { headers: asAdmin });
  if (out.status >= 300) tally.failedReads.push(`sign-out: ${out.status} ${out.text}`);
  else tally.signOuts += 1;
  const late = await guess(world, attacked, GUESSES + 1);
  await sleep(FAULT_MS);
  await fault.end(node);
  await prepared.ready(2);
  await sleep(2000);
  isOver = true;
  await during;

  const { signIns, refreshes, repeats, broken, failedReads } = tally;
  print(
    `  ${signIns} sign-ins, ${refreshes} refreshes; sent again by the proxy: ${prepared.repeated() - first.repeated}`,
  );
  print(
    `  sent again by people and clients: ${JSON.stringify(repeats)}; lost at the proxy: ${lost.length - first.lost}`,
  );
  for (const line of new Set(lost.slice(first.lost))) print(`    ${line}`);
  expect(
    `no idempotent request failed (${failedReads.length}: ${[...new Set(failedReads)]})`,
    failedReads.length === 0,
  );
  expect(`nothing failed that was sent again (${broken})`, broken.length === 0);
  expect(`${early} + ${late} wrong passwords were checked of ${GUESSES}`, early + late === GUESSES);
  for (const { port } of nodes) {
    const active = await Promise.all(lives.map(({ accessToken }) => isActive(world, port, accessToken)));
    expect(`all ${CHAINS} chains of refresh tokens continue at ${port}`, active.every(Boolean));
    expect(`the sign-out holds at ${port}`, !(await isActive(world, port, left.accessToken)));
  }
  const form = { grant_type: 'refresh_token', refresh_token: left.refreshToken };
  const refused = await untilAnswered(tally, 'refresh', () => postAs(world.idp, world.app, '/token', form));
  expect(`and for its refresh token: ${refused.json().error}`, refused.json().error === 'invalid_grant');
}
