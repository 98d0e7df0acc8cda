// `npm run demo`: starts Gatehouse in a temporary folder with two applications, and prints one link.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fault, quote } from '../config/config-error.ts';
import { variables } from '../config/variables.ts';
import { type DemoApp, demoUser } from './app.ts';
import { demoConfiguration } from './configuration.ts';
import { startGatehouse } from './gatehouse.ts';
import { oidcApp } from './oidc-app/app.ts';
import { choosePort } from './ports.ts';
import { samlApp } from './saml-app/app.ts';
import { startPage } from './start-page.ts';
import { serveSite } from './web.ts';

const stopped = new Promise<'signal'>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve('signal'));
});

const folder = mkdtempSync(path.join(tmpdir(), 'gatehouse-demo-'));
const undo: (() => Promise<void>)[] = [async () => rmSync(folder, { recursive: true, force: true })];
try {
  process.exitCode = await run();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
} finally {
  for (const step of undo.reverse()) await step();
}

async function run(): Promise<number> {
  const apps: DemoApp[] = [oidcApp(await choosePort(4001)), await samlApp(await choosePort(4002))];
  const gatehouse = await startGatehouse({
    folder,
    port: await choosePort(wantedPort()),
    configuration: demoConfiguration(apps),
  });
  undo.push(gatehouse.stop);
  for (const app of apps) undo.push((await app.start(gatehouse.issuer)).close);
  const start = await serveSite(await choosePort(4000), startPage(apps, gatehouse.issuer));
  undo.push(start.close);

  process.stdout.write(`
  Gatehouse demo

  Open         ${start.origin}/
  Sign in as   ${demoUser.username}
  Password     ${demoUser.password}

  Gatehouse itself is at ${gatehouse.issuer}
  Press Ctrl-C to stop; everything made here is deleted then.

`);
  const end = await Promise.race([stopped, gatehouse.died]);
  if (end === 'signal') return 0;
  process.stderr.write(`Gatehouse ended by itself:\n${end}\n`);
  return 1;
}

function wantedPort(): number {
  const { PORT } = process.env;
  if (!PORT) return 3000;
  const { schema, allowed } = variables.PORT;
  const read = schema.safeParse(PORT);
  if (!read.success) throw new Error(fault('PORT', quote(PORT), allowed));
  return read.data;
}
