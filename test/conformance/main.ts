// Runs the plans of the OpenID Foundation's conformance suite against the built server and prints a table (docs/conformance.md).
// Exits with 1 when a result is neither a pass nor listed in expected-results.json.
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { launchBrowser } from '../support/browser/browser.ts';
import { type Behavior, visit } from './browser-visits.ts';
import { disagreements, type Outcome, readExpected } from './expected.ts';
import { startGatehouse } from './gatehouse.ts';
import { configurationOf, type Plan, plans } from './plans.ts';
import { createSuite, type PlanModule } from './suite.ts';

const { values: options } = parseArgs({
  options: {
    suite: { type: 'string', default: 'https://localhost:8443' },
    token: { type: 'string' },
    host: { type: 'string', default: 'localhost' },
    port: { type: 'string', default: '9443' },
    alias: { type: 'string', default: 'gatehouse' },
    plan: { type: 'string', multiple: true },
    module: { type: 'string', multiple: true },
    /** A folder for the logs and pictures of each module that did not pass. */
    logs: { type: 'string' },
  },
});

// The child processes end with this one.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

const MODULE_MS = 240_000;
const POLL_MS = 300;
/** After a visit that ended back at the suite, a module that waits so long waits for a picture, not for a slow request. */
const IDLE_MS = 20_000;

const suite = createSuite(options.suite, options.token);
const chosen = plans.filter(({ name }) => !options.plan || options.plan.some((text) => name.includes(text)));
if (chosen.length === 0) throw new Error(`No such plan. There are: ${plans.map(({ name }) => name).join(', ')}`);

const outcomes: Outcome[] = [];
const kinds = [
  ...new Set(chosen.flatMap(({ clients }) => (clients === 'none' || clients === 'dynamic' ? [] : [clients]))),
];
const { host, port, alias } = options;
const gatehouse = await startGatehouse({ suite: options.suite, host, port: Number(port), alias, kinds });
let browser = await launchBrowser();
try {
  for (const plan of chosen) outcomes.push(...(await runPlan(plan)));
} finally {
  await browser.close();
  await gatehouse.stop();
}
printTable(outcomes);
const faults = disagreements(outcomes, readExpected());
for (const fault of faults) print(`not expected: ${fault}`);
process.exitCode = faults.length > 0 ? 1 : 0;

async function runPlan(plan: Plan): Promise<Outcome[]> {
  const created = await suite.createPlan(plan.planName, plan.variant, await configurationOf(plan, gatehouse));
  const modules = created.modules.filter(
    ({ testModule }) => !options.module || options.module.some((text) => testModule.includes(text)),
  );
  print(`${plan.name}: ${modules.length} modules, ${options.suite}/plan-detail.html?plan=${created.id}`);
  const done: Outcome[] = [];
  for (const module of modules) {
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
  if (first.fault === undefined) return first.outcome;
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
  if (!browser.isConnected()) browser = await launchBrowser();
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
  let visits = 0;
  let pictureFrom = 0;
  try {
    while (Date.now() < until) {
      const { status } = await suite.info(id);
      if (status === 'FINISHED' || status === 'INTERRUPTED') return true;
      if (status === 'CONFIGURED' && !started) {
        // Only the module about key rotation waits before it starts.
        await gatehouse.rotateKeys();
        await suite.startModule(id);
        started = true;
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

/** What the module expects of the user at this visit, in its description. */
function behaviorOf(name: string, visits: number): Behavior {
  // The page that asks for confirmation is the one to see.
  if (name.endsWith('logout-no-id-token-hint') && visits === 1) return 'only look';
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
