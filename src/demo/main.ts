// `npm run demo`: starts Gatehouse in a temporary folder with two applications, and Example Corp, a second Gatehouse whose users may
// sign in, too. It prints one link.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fault, quote } from '../config/config-error.ts';
import { variables } from '../config/variables.ts';
import { type DemoApp, demoAdmin, demoUser } from './app.ts';
import { demoConfiguration } from './configuration.ts';
import { corpUser, exampleCorp } from './example-corp.ts';
import { type DemoGatehouse, type GatehouseOptions, startGatehouse } from './gatehouse.ts';
import { logoutPage, logoutPath } from './logout-page.ts';
import { createLogoutSteps, readSessionEnds } from './logout-steps.ts';
import { oidcApp } from './oidc-app/app.ts';
import { choosePort } from './ports.ts';
import { samlApp } from './saml-app/app.ts';
import { startPage } from './start-page.ts';
import { originOf, serveSite } from './web.ts';

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
  const issuer = `http://localhost:${await choosePort(wantedPort())}`;
  // Not on localhost: cookies belong to a host, whatever the port, and the two servers have the same ones.
  const corpIssuer = originOf(await choosePort(3001));
  const corp = exampleCorp(corpIssuer, issuer);
  const steps = createLogoutSteps();
  // Example Corp first: Gatehouse reads its documents right after its own start.
  const servers = await startServers([
    {
      folder: path.join(folder, 'example-corp'),
      issuer: corpIssuer,
      configuration: corp.configuration,
      onLog: readSessionEnds(
        steps,
        'Example Corp',
        'Ended its session: Gatehouse sent the browser there, and got it back.',
      ),
    },
    {
      folder: path.join(folder, 'gatehouse'),
      issuer,
      configuration: demoConfiguration(apps, corp.connection),
      onLog: readSessionEnds(steps, 'Gatehouse', 'Ended its session with all tokens, and notified the applications.'),
    },
  ]);
  const startPort = await choosePort(4000);
  const logoutReporting = { steps, pageUrl: `${originOf(startPort)}${logoutPath}` };
  for (const app of apps) undo.push((await app.start(issuer, logoutReporting)).close);
  const start = await serveSite(startPort, {
    ...startPage(apps, { issuer, corpIssuer }),
    ...logoutPage(steps.last),
  });
  undo.push(start.close);

  process.stdout.write(accessText(start.origin, issuer, corpIssuer));
  const end = await Promise.race([stopped, ...servers.map(({ died }) => died)]);
  if (end === 'signal') return 0;
  process.stderr.write(`Gatehouse ended unexpectedly:\n${end}\n`);
  return 1;
}

/** What the terminal prints: where to go, and whom to sign in as. */
function accessText(start: string, issuer: string, corpIssuer: string): string {
  return `
  Gatehouse demo

  Open               ${start}/
  Sign in as         ${demoUser.username}
  Password           ${demoUser.password}

  or with Example Corp:
  Sign in there as   ${corpUser.username}
  Password there     ${corpUser.password}

  The console:
  Open               ${issuer}/admin
  Administrator      ${demoAdmin.username}
  Its password       ${demoAdmin.password}

  Gatehouse itself is at ${issuer}
  Example Corp is at     ${corpIssuer}
  Press Ctrl-C to stop the demo and delete its data.

`;
}

/** Starts one after the other; when one fails, those before it are stopped at the end all the same. */
async function startServers(options: readonly GatehouseOptions[]): Promise<DemoGatehouse[]> {
  const started: DemoGatehouse[] = [];
  for (const one of options) {
    const server = await startGatehouse(one);
    undo.push(server.stop);
    started.push(server);
  }
  return started;
}

function wantedPort(): number {
  const { PORT } = process.env;
  if (!PORT) return 3000;
  const { schema, allowed } = variables.PORT;
  const read = schema.safeParse(PORT);
  if (!read.success) throw new Error(fault('PORT', quote(PORT), allowed));
  return read.data;
}
