// Driver: a server process on a PostgreSQL that is frozen, silent, stopped or killed under load. `npm test` does not run it.
//   npm run build && npx tsx test/faults/postgresql.ts [frozen silent …: postgresql-faults.ts] [--seconds 45] [--workers 2]
// Each line of the result says what was expected; the exit code is 1 when one was not met.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { loadConfig } from '../../src/base/config.ts';
import { createLogger } from '../../src/base/platform/logger.ts';
import { adminApi } from '../../src/people/rbac/built-in.ts';
import { createServices } from '../../src/server/services.ts';
import { anApplication, basic, postAs, signIn } from '../oidc/support.ts';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { freePort, type TestIdp } from '../support/idp.ts';
import { programArguments } from '../support/program.ts';
import { type LoadTarget, readiness, startLoad, summary } from './load.ts';
import { postgresProcess } from './postgres-process.ts';
import { createDatabase, faults, SERVER } from './postgresql-faults.ts';
import { tcpProxy } from './tcp-proxy.ts';

const ANSWER_MS = 10_000;
const RECOVERY_MS = 15_000;
const LANES = 25;

const { values, positionals } = parseArgs({
  options: { seconds: { type: 'string', default: '45' }, workers: { type: 'string', default: '1' } },
  allowPositionals: true,
});
const wanted = positionals.length > 0 ? positionals : Object.keys(faults);

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-faults-data-'));
const postgres = await postgresProcess();
await postgres.start();
await createDatabase(postgres);
const proxy = await tcpProxy(postgres.port);
let isMet = true;
let server: ChildProcess | undefined;

/** How often each line was logged, and the first with a stack trace of each. */
const logged = new Map<string, number>();
const stacks = new Map<string, string>();

function note(text: string): void {
  if (!text.startsWith('{')) return;
  const { level, msg, code, job, err } = parsed(text);
  if (level !== 'error' && level !== 'warn') return;
  const key = [level, msg, code, job].filter(Boolean).join(' ');
  logged.set(key, (logged.get(key) ?? 0) + 1);
  if (err?.stack && !stacks.has(key)) stacks.set(key, text);
}

/** A line of the log may come in two parts. */
function parsed(text: string): Record<string, string> & { err?: { stack?: string } } {
  try {
    return JSON.parse(text);
  } catch {
    return {};
  }
}

const print = (line: string) => void process.stdout.write(`${line}\n`);
const expect = (what: string, passed: boolean) => {
  isMet &&= passed;
  print(`  ${passed ? 'met    ' : 'NOT MET'}  ${what}`);
};

try {
  const port = await freePort();
  const environment = {
    DATA_DIR: folder,
    GATEHOUSE_SECRET: Buffer.alloc(32, 7).toString('base64url'),
    DATABASE_URL: postgres.url(proxy.port, SERVER),
    LOG_FORMAT: 'json',
    LOG_LEVEL: 'warn',
    PORT: String(port),
  };
  const target = await prepare(environment);
  for (const name of wanted) await runFault(name, target);
} finally {
  server?.kill('SIGKILL');
  await proxy.close();
  await postgres.remove();
  rmSync(folder, { recursive: true, force: true });
}
process.exit(isMet ? 0 : 1);

/** Registers what the load needs, starts the server process and signs in. */
async function prepare(environment: Record<string, string>): Promise<LoadTarget> {
  const config = loadConfig(environment, { cwd: folder, terminal: false });
  const services = await createServices({ config, logger: createLogger({ level: 'silent', format: 'json' }) });
  await services.roles.ensureBuiltInRoles();
  await services.settings.set('rate_limits', false);
  await services.settings.set('admin_mfa', 'optional');
  const started = spawn(process.execPath, programArguments('main'), {
    env: { PATH: process.env.PATH, WORKERS: values.workers, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  server = started;
  await new Promise<void>((resolve, reject) => {
    const output: string[] = [];
    for (const stream of [started.stdout, started.stderr])
      stream.setEncoding('utf8').on('data', (text: string) => {
        output.push(text);
        for (const line of text.split('\n')) note(line);
        if (text.includes('Gatehouse is ready')) resolve();
        if (process.env.VERBOSE) process.stderr.write(text);
      });
    started.once('exit', (code, signal) => {
      print(`  the server ended: ${code ?? signal}\n${output.join('').slice(-2000)}`);
      reject(new Error('the server ended'));
    });
  });
  const idp = { issuer: config.issuer, services } as TestIdp;
  const user = await aUser(services);
  const app = await anApplication(idp);
  const resource = adminApi(config.issuer);
  const service = await anApplication(idp, {
    redirect_uris: [],
    grant_types: ['client_credentials'],
    resources: [resource],
    scope: 'admin:*',
  });
  await services.close();
  const { tokens } = await signIn(httpClient(config.issuer), app, user);
  const form = { grant_type: 'client_credentials', resource, scope: 'admin:*' };
  const admin = await postAs(idp, service, '/token', form);
  if (admin.status !== 200) throw new Error(admin.text);
  return {
    issuer: config.issuer,
    service,
    app,
    adminToken: String(admin.json().access_token),
    userToken: tokens.access_token,
  };
}

async function runFault(name: string, target: LoadTarget): Promise<void> {
  const fault = faults[name];
  if (!fault) throw new Error(`no such fault: ${name}`);
  const seconds = fault.isInstant ? 20 : Number(values.seconds);
  print(`\n${name}${fault.isInstant ? '' : ` for ${seconds} s`}, ${LANES} requests at a time`);
  const load = startLoad(target, LANES);
  await sleep(5000);
  const began = load.now();
  await fault.begin(postgres, proxy, { workers });
  await sleep(seconds * 1000);
  const ending = load.now();
  await fault.end(postgres, proxy);
  const back = fault.isInstant ? began : load.now();
  await sleep(fault.isInstant ? 5000 : 20_000);
  const over = load.now();
  await load.end();

  const { samples } = load;
  print(`  before: ${summary(samples, 0, began)}`);
  print(`  during: ${summary(samples, began, ending)}`);
  print(`  after:  ${summary(samples, back, over)}`);
  const isWrong = ({ status }: { status: number }) => status === 0 || status >= 500;
  // A request under way when the fault begins waits from then on.
  const waits = samples.map(({ at, ms }) => at + ms - (at + ms > began ? Math.max(at, began) : at));
  const longest = waits.reduce((one, other) => Math.max(one, other), 0);
  const lastFailure = samples.filter(isWrong).reduce((last, { at, ms }) => Math.max(last, at + ms), back);
  if (process.env.VERBOSE)
    for (const sample of samples.toSorted((a, b) => b.ms - a.ms).slice(0, 12)) print(`  ${JSON.stringify(sample)}`);
  const unexpected = samples.filter(({ status }) => status !== 503 && isWrong({ status }));
  expect(`every request is answered within 10 s (longest ${(longest / 1000).toFixed(1)} s)`, longest <= ANSWER_MS);
  expect(
    `no failure but 503 (${unexpected.length}${unexpected[0] ? `: ${JSON.stringify(unexpected.slice(0, 3))}` : ''})`,
    unexpected.length === 0,
  );
  const recovery = lastFailure - back;
  expect(`normal service ${(recovery / 1000).toFixed(1)} s after the database is back`, recovery <= RECOVERY_MS);
  const { silent, wrong } = readiness(samples);
  expect(
    `/readyz: ${silent} times 200 while everything failed, ${wrong} times 503 while nothing did`,
    silent + wrong === 0,
  );
  const unmarked = samples.filter(({ status, retryAfter, kind }) => status === 503 && !retryAfter && kind !== 'readyz');
  expect(`each 503 has Retry-After (${unmarked.length} have not)`, unmarked.length === 0);
  for (const [line, count] of logged) print(`  log: ${count} × ${line}`);
  for (const [key, line] of stacks) print(`  stack: ${key}: ${line.slice(0, 700)}`);
  logged.clear();
  stacks.clear();
  const lost = await lostAfter(target, load.acknowledged);
  const { users, tokens } = load.acknowledged;
  expect(`of ${users.length} users and ${tokens.length} tokens, ${lost.length} are lost`, lost.length === 0);
  expect('the server still runs', server?.exitCode === null);
}

function workers(): number[] {
  const text = execFileSync('ps', ['-o', 'pid=', '--ppid', String(server?.pid)], { encoding: 'utf8' });
  return text.split('\n').map(Number).filter(Boolean);
}

async function lostAfter(
  { issuer, adminToken, service }: LoadTarget,
  { users, tokens }: { users: string[]; tokens: string[] },
): Promise<string[]> {
  const client = httpClient(issuer);
  const lost: string[] = [];
  for (const id of users) {
    const page = await client.get(`/api/admin/users/${id}`, { headers: { authorization: `Bearer ${adminToken}` } });
    if (page.status !== 200) lost.push(`user ${id}: ${page.status}`);
  }
  for (const token of tokens) {
    const headers = { authorization: basic(service.clientId, service.clientSecret) };
    const page = await client.post('/introspect', { form: { token }, headers });
    if (page.json().active !== true) lost.push(`token: ${page.text}`);
  }
  return lost;
}
