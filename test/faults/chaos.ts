// Driver: real traffic while nodes are killed and frozen, the database is frozen, killed, stopped, silent or locked, the disk is full and
// the clock jumps, one after the other and at random. `npm test` does not run it.
//   npm run build && npx tsx test/faults/chaos.ts postgresql|sqlite [--minutes 8] [--seed 1] [--only 'database slow'] [--workers 2]
// PostgreSQL: two nodes behind a proxy. SQLite: one node, on a small file system of its own where the machine permits mount.
import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadConfig } from '../../src/base/config.ts';
import { createLogger } from '../../src/base/platform/logger.ts';
import { createServices } from '../../src/server/services.ts';
import { httpClient } from '../support/http.ts';
import { freePort, type TestIdp } from '../support/idp.ts';
import { programArguments } from '../support/program.ts';
import { roundRobin } from '../support/round-robin.ts';
import { createBackups, runCommand } from './chaos-backups.ts';
import { createFaults, type Fault, type Node } from './chaos-faults.ts';
import { chaosMail } from './chaos-mail.ts';
import { probeNodes } from './chaos-probes.ts';
import { startTraffic } from './chaos-traffic.ts';
import { postgresProcess } from './postgres-process.ts';
import { tcpProxy } from './tcp-proxy.ts';

const ANSWER_MS = 10_000;
const RECOVERY_MS = 15_000;
const MEMORY_MB = 500;
/** A mail that a killed process had claimed waits until its lease is over. */
const MAIL_SECONDS = 330;
const { values, positionals } = parseArgs({
  options: {
    minutes: { type: 'string', default: '8' },
    seed: { type: 'string', default: '1' },
    only: { type: 'string', default: '' },
    workers: { type: 'string', default: '1' },
  },
  allowPositionals: true,
});
const isPostgres = positionals[0] !== 'sqlite';

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-chaos-'));
const print = (line: string) => void process.stdout.write(`${line}\n`);
const findings: string[] = [];
/** How many faults ended a process in the middle of its work, or its lease by the clock: a mail may be sent again after each. */
let interruptions = 0;
const found = (what: string) => {
  if (!findings.includes(what)) print(`${new Date().toISOString()} FOUND ${what}`);
  findings.push(what);
};
let isMet = true;
const expect = (what: string, passed: boolean) => {
  isMet &&= passed;
  print(`  ${passed ? 'met    ' : 'NOT MET'}  ${what}`);
};
let state = Number(values.seed);
/** A number below `max`, the same in each run with the same seed. */
const random = (max: number) => {
  state = (state * 1_103_515_245 + 12_345) % 2_147_483_648;
  return Math.floor((state / 2_147_483_648) * max);
};
const seconds = (from: number, to: number) => (from + random(to - from + 1)) * 1000;
/** How often each line of level error or warn was logged, and the slowest requests. */
const logged = new Map<string, number>();
const slowest: { ms: number; line: string }[] = [];
let requests = 0;

const postgres = isPostgres ? await postgresProcess() : undefined;
await postgres?.start();
const data = path.join(folder, 'data');
mkdirSync(data);
const isMounted = !isPostgres && mounted(data);
const mail = await chaosMail();
const environment: Record<string, string> = {
  GATEHOUSE_SECRET: Buffer.alloc(32, 7).toString('base64url'),
  ISSUER: `http://localhost:${await freePort()}`,
  TRUST_PROXY: '1',
  LOG_FORMAT: 'json',
  SMTP_URL: `smtp://127.0.0.1:${mail.port}`,
  WORKERS: values.workers,
};
const databaseOf = (node: Pick<Node, 'toDatabase'>): Record<string, string> =>
  postgres ? { DATABASE_URL: postgres.url(node.toDatabase?.port ?? postgres.port) } : {};

function mounted(target: string): boolean {
  try {
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=300m,mode=0755', 'tmpfs', target], { stdio: 'pipe' });
    return true;
  } catch {
    print('this machine permits no mount: no full disk');
    return false;
  }
}

async function start(place: Pick<Node, 'port' | 'folder' | 'clockFile' | 'toDatabase'>): Promise<Node> {
  const child = spawn(
    process.execPath,
    ['--import', path.resolve('test/robustness/set-clock.mjs'), ...programArguments('main')],
    {
      env: {
        PATH: process.env.PATH,
        ...environment,
        ...databaseOf(place),
        DATA_DIR: place.folder,
        PORT: String(place.port),
        CLOCK_FILE: place.clockFile,
      },
      stdio: ['ignore', 'pipe', 'pipe'],
    },
  );
  const node: Node = { ...place, process: child, frozen: [] };
  let rest = '';
  let output = '';
  const ready = new Promise<void>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      const lines = (rest + text).split('\n');
      rest = lines.pop() ?? '';
      for (const line of lines) read(line, node);
      if (text.includes('Gatehouse is ready')) resolve();
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
    child.once('exit', (code, signal) => {
      if (signal === null && code !== 0) found(`a node ended with ${code}: ${(output + rest).slice(-500)}`);
      reject(new Error(`the node ended with ${code ?? signal}`));
    });
  });
  await ready;
  return node;
}

/** Notes what a line of the log says against the server. */
function read(text: string, node: Node): void {
  if (!text.startsWith('{')) return;
  const line = JSON.parse(text);
  if (line.level === 'error' || line.level === 'warn') {
    const key = `${line.level} ${line.msg}${line.code ? ` (${line.code})` : ''}`;
    logged.set(key, (logged.get(key) ?? 0) + 1);
    if (line.err?.stack || line.cause?.stack) found(`a stack trace: ${text.slice(0, 1000)}`);
    if (/ALARM|internal/.test(`${line.msg} ${line.code}`)) found(text.slice(0, 1500));
  }
  if (line.msg !== 'request') return;
  requests += 1;
  if (line.status >= 500 && line.status !== 503) found(text);
  const now = performance.now();
  const wasFrozen = node.frozen.some(({ from, to }) => from < now && to > now - line.ms);
  if (wasFrozen) return;
  if (line.ms > ANSWER_MS) found(text);
  slowest.push({ ms: line.ms, line: `${line.method} ${line.path} ${line.status}` });
  slowest.sort((a, b) => b.ms - a.ms).splice(3);
}

const nodes: Node[] = [];
const backups = createBackups({ folder, environmentOf, found });
const faults = createFaults({
  nodes,
  postgres,
  isMounted,
  seconds,
  start,
  mail,
  found,
  hasWorkers: values.workers !== '1',
  backUp: () => backups.make(acknowledged()),
}).filter(({ name }) => name.includes(values.only));
let closeAll = async () => {};
let isOver = false;
let acknowledged = (): string[] => [];

/** Of a command on the database, past the proxies. */
function environmentOf(more: Record<string, string> = {}): Record<string, string> {
  const { PATH = '' } = process.env;
  return {
    PATH,
    ...environment,
    ...databaseOf({ toDatabase: undefined }),
    DATA_DIR: nodes[0]?.folder ?? data,
    ...more,
  };
}

/** Milliseconds until all nodes are ready; a minute at most. */
async function readyAfter(): Promise<number> {
  const began = performance.now();
  for (;;) {
    const statuses = await Promise.all(
      nodes.map(({ port }) =>
        httpClient(`http://127.0.0.1:${port}`)
          .get('/readyz')
          .then(
            ({ status }) => status,
            () => 0,
          ),
      ),
    );
    if (statuses.every((status) => status === 200)) return performance.now() - began;
    if (performance.now() - began > 60_000) return Number.POSITIVE_INFINITY;
    await sleep(200);
  }
}

try {
  for (let count = 0; count < (isPostgres ? 2 : 1); count += 1) {
    const home = isPostgres ? path.join(folder, `node-${count}`) : data;
    const toDatabase = postgres && (await tcpProxy(postgres.port));
    const place = { port: await freePort(), folder: home, clockFile: path.join(folder, `clock-${count}`), toDatabase };
    writeFileSync(place.clockFile, '0');
    nodes.push(await start(place));
  }
  const front = await roundRobin(
    nodes.map(({ port }) => port),
    { port: Number(new URL(environment.ISSUER ?? '').port), repeats: true },
  );
  await front.ready(nodes.length);
  const [first] = nodes as [Node];
  const config = loadConfig(
    { ...environment, ...databaseOf({ toDatabase: undefined }), DATA_DIR: first.folder },
    { cwd: folder, terminal: false },
  );
  const services = await createServices({ config, logger: createLogger({ level: 'silent', format: 'json' }) });
  closeAll = async () => {
    await services.close();
    await front.close();
  };
  const traffic = await startTraffic({ issuer: config.issuer, services } as TestIdp);
  acknowledged = () => [...traffic.acknowledged.users];
  const mailing = mail.queue(services, () => isOver);
  const probing = probeNodes({
    nodes,
    issuer: config.issuer,
    app: traffic.world.app,
    answerMs: ANSWER_MS,
    found,
    isOver: () => isOver,
  });
  const until = performance.now() + Number(values.minutes) * 60_000;
  const counts = new Map<string, number>();
  let longest = 0;
  while (performance.now() < until) {
    const fault = faults[random(faults.length)] as Fault;
    const node = nodes[random(nodes.length)] as Node;
    counts.set(fault.name, (counts.get(fault.name) ?? 0) + 1);
    if (process.env.VERBOSE) print(`${new Date().toISOString()} ${fault.name}`);
    if (fault.name.includes('kill -9') || fault.name.includes('clock 25')) interruptions += 1;
    await fault.run(node);
    const recovery = await readyAfter();
    longest = Math.max(longest, recovery);
    if (recovery > RECOVERY_MS) found(`${fault.name}: not ready for ${Math.round(recovery)} ms`);
    await sleep(seconds(1, 4));
  }
  isOver = true;
  await traffic.end();
  await sleep(8000);

  print(`\n${isPostgres ? 'PostgreSQL, two nodes' : 'SQLite'}, ${values.minutes} minutes, seed ${values.seed}`);
  print(`  faults: ${[...counts].map(([name, count]) => `${name} ${count}`).join(', ')}`);
  const { users, tokens, signedOut, assertions } = traffic.acknowledged;
  const { signIns, refreshes, repeats } = traffic.world.tally;
  print(
    `  ${requests} requests: ${signIns} sign-ins, ${refreshes} refreshes, ${users.length} users, ${tokens.length} tokens, ${signedOut.length} sign-outs, ${assertions} assertions`,
  );
  print(`  sent again by people and clients: ${JSON.stringify(repeats)}`);
  for (const [line, count] of [...logged].toSorted(([, a], [, b]) => b - a)) print(`  log: ${count} × ${line}`);
  for (const { ms, line } of slowest) print(`  slow: ${Math.round(ms)} ms ${line}`);
  const lost = await traffic.lost();
  expect(
    `nothing acknowledged is lost (${lost.length}: ${[...new Set(lost.map((one) => one.replace(/ [\w-]{20,}/, '')))].slice(0, 5)})`,
    lost.length === 0,
  );
  const broken = [...new Set(traffic.broken)];
  expect(`nothing failed that was sent again (${broken.length}: ${broken.slice(0, 5)})`, broken.length === 0);
  expect(`ready again at most ${Math.round(longest)} ms after each fault`, longest <= RECOVERY_MS);
  const sealed = await services.db.auditEvent.count({
    // A job of a killed process goes on after its lease of a minute, and after another one when its successor is killed too.
    where: { chainSeq: null, at: { lt: new Date(Date.now() - 150_000) } },
  });
  expect(`jobs go on: ${sealed} audit entries older than 150 s wait for the chain`, sealed === 0);
  const recipients = await mailing;
  const missing = () => recipients.filter((one) => !mail.reached.has(one));
  for (let tries = 0; tries < MAIL_SECONDS && missing().length > 0; tries += 1) await sleep(1000);
  expect(`of ${recipients.length} mails ${missing().length} were not sent`, missing().length === 0);
  const repeated = [...mail.accepted.values()].filter((count) => count > 1).length;
  expect(
    `of ${mail.accepted.size} mails ${repeated} were sent twice, after ${interruptions} kills and leases ended by the clock`,
    repeated <= interruptions,
  );
  print(`  probes: ${JSON.stringify(Object.fromEntries(await probing))}`);
  await backups.make(acknowledged());
  expect(`backups: ${await backups.restored()}`, true);
  const memory = nodes.map(({ process: { pid } }) =>
    execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }),
  );
  const megabytes = memory.map((text) => Math.round(Number(text) / 1024));
  expect(`memory: ${megabytes.join(', ')} MB`, Math.max(...megabytes) < MEMORY_MB);
  for (const command of [['audit', 'verify'], ['doctor']]) {
    const { status, text } = await runCommand(command, environmentOf());
    if (command[0] === 'doctor') print(text.replace(/^/gm, '    '));
    else expect(`gatehouse audit verify: ${status} ${text.trim().slice(0, 600)}`, status === 0);
  }
  const kinds = [...new Set(findings)];
  for (const finding of kinds.slice(0, 30)) print(`  FOUND ${finding}`);
  expect(`no 500, no answer after more than 10 s, no alarm (${kinds.length})`, kinds.length === 0);
} finally {
  for (const node of nodes) {
    node.process.kill('SIGCONT');
    node.process.kill('SIGKILL');
  }
  await closeAll();
  await mail.close();
  for (const node of nodes) await node.toDatabase?.close();
  await postgres?.remove();
  if (isMounted) execFileSync('umount', ['-l', data]);
  rmSync(folder, { recursive: true, force: true });
}
process.exit(isMet ? 0 : 1);
