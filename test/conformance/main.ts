// Runs the plans of the OpenID Foundation's conformance suite against the built server and prints a table (test/conformance/README.md).
// Exits with 1 when a result is neither a pass nor listed in expected-results.json.
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type { Browser, BrowserContext } from 'playwright-core';
import { packageVersion } from '../../src/base/platform/package.ts';
import { startBrowser } from '../support/browser/browser.ts';
import { type Behavior, visit } from './browser-visits.ts';
import { disagreements, type Outcome, readExpected } from './expected.ts';
import { type RunningGatehouse, startGatehouse } from './gatehouse.ts';
import { configurationOf, type Plan, plans, receiverCallback } from './plans.ts';
import { createSuite, NoSuite, type PlanModule } from './suite.ts';

const { values: options } = parseArgs({
  options: {
    suite: { type: 'string', default: 'https://localhost:8443' },
    token: { type: 'string' },
    host: { type: 'string', default: 'localhost' },
    port: { type: 'string', default: '9443' },
    /** The address to listen on, for a suite that is not on this machine. */
    listen: { type: 'string', default: '127.0.0.1' },
    alias: { type: 'string', default: 'gatehouse' },
    plan: { type: 'string', multiple: true },
    module: { type: 'string', multiple: true },
    /** A folder for the logs and pictures of each module that did not pass. */
    logs: { type: 'string' },
    /** Leaves the plans in the suite, to look at them there. */
    keep: { type: 'boolean', default: false },
  },
});

const MODULE_MS = 240_000;
const POLL_MS = 300;
/** After a visit that ended back at the suite, a module that waits so long waits for a picture, not for a slow request. */
const IDLE_MS = 20_000;
/** What is under way at a signal has this time to end. */
const STOP_MS = 10_000;

const suite = createSuite(options.suite, options.token);
const chosen = plans.filter(({ name }) => !options.plan || options.plan.some((text) => name.includes(text)));
let gatehouse: RunningGatehouse;
let browser: Browser;

/** What has to be done at the end, the newest first. */
const cleanup: (() => unknown)[] = [];
const stop = new AbortController();
const signalled = new Promise<never>((_resolve, reject) => {
  stop.signal.addEventListener('abort', () => reject(stop.signal.reason));
});
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.on(signal, () => stop.abort(new Error(`Stopped by ${signal}.`)));

const running = run();
try {
  await Promise.race([running, signalled]);
} catch (error) {
  process.exitCode = 1;
  const isPlain = error instanceof NoSuite || error === stop.signal.reason;
  process.stderr.write(`${error instanceof Error && !isPlain ? error.stack : (error as Error).message}\n`);
}
for (const task of cleanup) {
  try {
    await task();
  } catch (error) {
    process.stderr.write(`${error}\n`);
  }
}
await Promise.race([running.catch(() => undefined), sleep(STOP_MS)]);
process.exit();

async function run(): Promise<void> {
  if (chosen.length === 0) throw new Error(`No such plan. There are: ${plans.map(({ name }) => name).join('; ')}`);
  const about = await suite.about();
  print(`Gatehouse ${packageVersion()}, ${commit()}`);
  print(`Suite ${about.version}, ${[about.tag, about.revision].filter(Boolean).join(', ')} at ${options.suite}`);
  const atEnd = (task: () => unknown) => void cleanup.unshift(task);
  const { host, port, alias, listen } = options;
  const clients = chosen.flatMap((plan) => (typeof plan.clients === 'string' ? [] : [plan.clients]));
  gatehouse = await startGatehouse({ suite: options.suite, host, port: Number(port), listen, alias, clients, atEnd });
  browser = await openBrowser();
  atEnd(() => browser.close());
  const outcomes: Outcome[] = [];
  for (const plan of chosen) outcomes.push(...(await runPlan(plan, atEnd)));
  printTable(outcomes);
  const faults = disagreements(outcomes, readExpected());
  for (const fault of faults) print(`not expected: ${fault}`);
  process.exitCode = faults.length > 0 ? 1 : 0;
}

/** The commit that was built, and whether files were changed since. */
function commit(): string {
  const git = (...command: string[]) =>
    execFileSync('git', command, { cwd: import.meta.dirname, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] });
  try {
    const [hash, date] = git('log', '-1', '--format=%H %cs').trim().split(' ');
    return `commit ${hash} of ${date}${git('status', '--porcelain', ':/') ? ' with changes that are not committed' : ''}`;
  } catch {
    return 'of no repository';
  }
}

/** Signals end the driver, which then closes the browser. */
function openBrowser(): Promise<Browser> {
  return startBrowser({ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false });
}

async function runPlan(plan: Plan, atEnd: (task: () => unknown) => void): Promise<Outcome[]> {
  const created = await suite.createPlan(plan.planName, plan.variant, await configurationOf(plan, gatehouse));
  const modules = created.modules.filter(
    ({ testModule }) => !options.module || options.module.some((text) => testModule.includes(text)),
  );
  const address = `${options.suite}/plan-detail.html?plan=${created.id}`;
  print(`${plan.name}: ${modules.length} modules${options.keep ? `, ${address}` : ''}`);
  if (!options.keep) atEnd(() => suite.deletePlan(created.id));
  const done: Outcome[] = [];
  for (const module of modules) {
    stop.signal.throwIfAborted();
    const outcome = await runModule(plan, created.id, module);
    done.push(outcome);
    const mark = outcome.result === 'PASSED' ? '' : ` ${outcome.conditions.join(', ')}`;
    print(`  ${outcome.result.padEnd(8)} ${outcome.module}${mark}`);
  }
  return done;
}

async function runModule(plan: Plan, planId: string, module: PlanModule): Promise<Outcome> {
  const first = await runOnce(plan, planId, module);
  // A fault of the driver says nothing about the server; a result of the suite is never repeated.
  if (first.fault === undefined || stop.signal.aborted) return first.outcome;
  print(`  repeated ${module.testModule}: ${first.fault}`);
  const { outcome, fault } = await runOnce(plan, planId, module);
  return fault === undefined ? outcome : { ...outcome, conditions: [...outcome.conditions, `driver: ${fault}`] };
}

/** One run of a module, and what went wrong in the driver, if anything did. */
async function runOnce(
  plan: Plan,
  planId: string,
  module: PlanModule,
): Promise<{ outcome: Outcome; fault: string | undefined }> {
  if (!browser.isConnected()) browser = await openBrowser();
  const id = await suite.createModule(planId, module);
  const pictures: Buffer[] = [];
  let fault: string | undefined;
  let isLate = false;
  try {
    isLate = !(await drive(id, module.testModule, pictures));
  } catch (error) {
    fault = error instanceof Error ? error.message : String(error);
    await suite.cancel(id);
  }
  const log = await suite.log(id);
  const { result } = await suite.info(id);
  const conditions = log
    .filter((entry) => entry.result === 'WARNING' || entry.result === 'FAILURE')
    .map(({ src }) => src);
  if (isLate) conditions.push(`no end after ${MODULE_MS / 1000} s`);
  if (options.logs && result !== 'PASSED') {
    const folder = path.join(options.logs, `${plan.name}-${module.testModule}`.replaceAll(/[^\w-]+/g, '-'));
    rmSync(folder, { recursive: true, force: true });
    mkdirSync(folder, { recursive: true });
    writeFileSync(path.join(folder, 'log.json'), JSON.stringify(log, null, 1));
    for (const [index, png] of pictures.entries()) writeFileSync(path.join(folder, `${index}.png`), png);
  }
  const isCancelled = isLate || fault !== undefined;
  return {
    fault,
    outcome: {
      plan: plan.name,
      module: module.testModule,
      result: isCancelled || !result ? 'INTERRUPTED' : result,
      conditions: [...new Set(conditions)],
    },
  };
}

/** Does what the module waits for and adds each page that the browser displays to `pictures`; false when the module did not end. */
async function drive(id: string, name: string, pictures: Buffer[]): Promise<boolean> {
  const context = await browser.newContext({ ignoreHTTPSErrors: true });
  const until = Date.now() + MODULE_MS;
  let started = false;
  let hasSignals = !name.endsWith('-caep-interop');
  let visits = 0;
  let pictureFrom = 0;
  try {
    while (Date.now() < until) {
      stop.signal.throwIfAborted();
      const { status } = await suite.info(id);
      if (status === 'FINISHED' || status === 'INTERRUPTED') return true;
      // The module about key rotation waits before it starts; others are seen so on a busy machine.
      if (status === 'CONFIGURED' && !started && name.includes('rotate')) {
        await gatehouse.rotateKeys();
        await suite.startModule(id);
        started = true;
      }
      if (!hasSignals && (await suite.log(id)).some(({ msg }) => msg?.includes('trigger these events'))) {
        await causeSignals(context);
        hasSignals = true;
      }
      if (status === 'WAITING') {
        const [url] = await suite.urls(id);
        if (url) {
          await suite.visited(id, url);
          const { issuer } = gatehouse;
          const visited = await visit({ context, url, issuer, behavior: behaviorOf(name, visits) });
          pictures.push(...visited.pictures);
          visits += 1;
          pictureFrom = Date.now() + (visited.isBackAtSuite || name.includes('reused-request-uri') ? IDLE_MS : 0);
        } else if (Date.now() > pictureFrom) await fillPlaceholders(id, name, pictures);
      }
      await sleep(POLL_MS);
    }
    await suite.cancel(id);
    return false;
  } finally {
    await context.close().catch(() => undefined); // it ends with a browser that has crashed
  }
}

/** The user signs in at the receiver, gets a password and is signed out everywhere, so that its stream has events. */
async function causeSignals(context: BrowserContext): Promise<void> {
  const { issuer } = gatehouse;
  const [client] = gatehouse.clients('receiver');
  const redirect_uri = receiverCallback(issuer);
  const asked = { client_id: client.client_id, response_type: 'code', scope: 'openid', redirect_uri };
  const url = `${issuer}/authorize?${new URLSearchParams(asked)}`;
  const [back] = await Promise.all([
    context.waitForEvent('request', (request) => request.url().startsWith(redirect_uri)),
    visit({ context, url, issuer, behavior: 'sign in' }),
  ]);
  const code = new URL(back.url()).searchParams.get('code') ?? '';
  await gatehouse.redeem(client, { code, redirect_uri });
  await gatehouse.signOutEverywhere();
}

/** What the module expects of the user at this visit, in its description. */
function behaviorOf(name: string, visits: number): Behavior {
  // The page that asks for confirmation, or says that the user is still signed in, is the one to see.
  if (/logout-(bad-|modified-|query-added-|no-id-token-hint)/.test(name) && visits === 1) return 'only look';
  if (name.endsWith('user-rejects-authentication')) return 'cancel';
  if (name.endsWith('reused-request-uri-prior-to-auth-completion-succeeds') && visits === 0) return 'only look';
  return 'sign in';
}

/** Uploads the last page, or the first where the module is about the sign-in page, wherever the module wants a picture for a reviewer. */
async function fillPlaceholders(id: string, name: string, pictures: readonly Buffer[]): Promise<void> {
  const isAboutSignInPage = /registration-(logo|policy|tos)-uri$/.test(name);
  const picture = pictures.at(isAboutSignInPage ? 0 : -1);
  if (!picture) return;
  for (const { upload } of await suite.log(id)) if (upload) await suite.upload(id, upload, picture);
}

function printTable(all: readonly Outcome[]): void {
  const results = ['PASSED', 'WARNING', 'REVIEW', 'SKIPPED', 'FAILED', 'INTERRUPTED'];
  print(`\n| plan | modules | ${results.map((name) => name.toLowerCase()).join(' | ')} |`);
  print(`|---|${'---|'.repeat(results.length + 1)}`);
  for (const { name } of chosen) {
    const own = all.filter(({ plan }) => plan === name);
    const counts = results.map((result) => own.filter((outcome) => outcome.result === result).length);
    print(`| ${name} | ${own.length} | ${counts.join(' | ')} |`);
  }
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
