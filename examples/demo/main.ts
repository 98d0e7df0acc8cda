// `npm run demo`: starts Gatehouse in a temporary folder with two applications and an MCP server, and Example Corp, a second Gatehouse whose
// users may sign in, too. It prints one link.

import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { stringify } from 'yaml';
import { fault, quote } from '../../src/base/config/config-error.ts';
import { variables } from '../../src/base/config/variables.ts';
import { mcpAddress, SCOPES, startMcpServer } from '../mcp-server/server.ts';
import { type DemoApp, demoAdmin, demoUser } from './app.ts';
import { corpUser, exampleCorp } from './example-corp.ts';
import { type DemoGatehouse, type GatehouseOptions, startGatehouse } from './gatehouse.ts';
import { html, page } from './html.ts';
import { logoutPage, logoutPath } from './logout-page.ts';
import { createLogoutSteps, readSessionEnds } from './logout-steps.ts';
import { oidcApp } from './oidc-app/app.ts';
import { facts } from './pages.ts';
import { samlApp } from './saml-app/app.ts';
import { originOf, type Routes, serveSite } from './web.ts';

const stopped = new Promise<'signal'>((resolve) => {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve('signal'));
});

/** For agents on this computer, which listen on any port. */
const mcpClient = {
  client_id: 'agent',
  client_name: 'Agent on this computer',
  application_type: 'native',
  token_endpoint_auth_method: 'none',
  redirect_uris: ['http://localhost/callback', 'http://127.0.0.1/', 'http://localhost/oauth/callback'],
  grant_types: ['authorization_code', 'refresh_token'],
  scope: ['openid', 'offline_access', ...SCOPES].join(' '),
};

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
  const mcpPort = await choosePort(4003);
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
      configuration: demoConfiguration(apps, corp.connection, mcpAddress(mcpPort)),
      onLog: readSessionEnds(steps, 'Gatehouse', 'Ended its session with all tokens, and notified the applications.'),
    },
  ]);
  const startPort = await choosePort(4000);
  const logoutReporting = { steps, pageUrl: `${originOf(startPort)}${logoutPath}` };
  for (const app of apps) undo.push((await app.start(issuer, logoutReporting)).close);
  undo.push((await startMcpServer({ issuer, port: mcpPort })).close);
  const start = await serveSite(startPort, {
    ...startPage(apps, { issuer, corpIssuer, mcpServer: mcpAddress(mcpPort) }),
    ...logoutPage(steps.last),
  });
  undo.push(start.close);

  process.stdout.write(accessText(start.origin, issuer, corpIssuer, mcpAddress(mcpPort)));
  const end = await Promise.race([stopped, ...servers.map(({ died }) => died)]);
  if (end === 'signal') return 0;
  process.stderr.write(`Gatehouse ended unexpectedly:\n${end}\n`);
  return 1;
}

/** What the terminal prints: where to go, and whom to sign in as. */
function accessText(start: string, issuer: string, corpIssuer: string, mcpServer: string): string {
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

  An MCP server, for Claude Code, VS Code or another agent:
  Address            ${mcpServer}
  Client ID          ${mcpClient.client_id}

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

/** The text of the file. */
function demoConfiguration(apps: readonly DemoApp[], connection: Record<string, unknown>, mcpServer: string): string {
  const entries = (section: DemoApp['declaration']['section']) =>
    apps.flatMap(({ declaration }) => (declaration.section === section ? [declaration.entry] : []));
  return stringify({
    clients: [...entries('clients'), { ...mcpClient, resources: [mcpServer] }],
    resources: [{ identifier: mcpServer, scopes: SCOPES, clients: 'self-registered' }],
    service_providers: entries('service_providers'),
    roles: [{ name: 'editor', description: 'Edits articles', permissions: ['articles:read', 'articles:write'] }],
    users: [demoUser, demoAdmin],
    // So that the console opens with a password alone. The default is `required`.
    settings: { admin_mfa: 'optional', agents: 'allowed' },
    connections: [connection],
  });
}

/** Returns `preferred` if it is free, else another free port. */
async function choosePort(preferred: number): Promise<number> {
  // "localhost" can be either address, and a browser may try the second one first.
  const isFree = (await portOf('127.0.0.1', preferred)) !== undefined && (await portOf('::1', preferred)) !== undefined;
  if (isFree) return preferred;
  const free = await portOf('127.0.0.1', 0);
  if (free === undefined) throw new Error('There is no free port on 127.0.0.1.');
  return free;
}

/** Returns a free port; on a machine without that address the port counts as free. */
async function portOf(host: string, port: number): Promise<number | undefined> {
  const probe = createServer().listen(port, host);
  try {
    await once(probe, 'listening');
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? error.code : undefined;
    return code === 'EADDRNOTAVAIL' || code === 'EAFNOSUPPORT' ? port : undefined;
  }
  const address = probe.address();
  probe.close();
  await once(probe, 'close');
  return address !== null && typeof address === 'object' ? address.port : undefined;
}

interface Servers {
  issuer: string;
  /** Of the second Gatehouse. */
  corpIssuer: string;
  mcpServer: string;
}

/** Routes of the start page. */
function startPage(apps: readonly DemoApp[], { issuer, corpIssuer, mcpServer }: Servers): Routes {
  const body = html`
<p class="eyebrow">Gatehouse demo</p>
<h1>Sign in once, open both</h1>
<p class="lead">Two applications, one for each protocol. Neither stores users. Both ask Gatehouse, at <a href="${issuer}">${issuer}</a>, who you are. Sign in there as:</p>
${facts({ Username: demoUser.username, Password: demoUser.password })}
<ul class="apps">
${apps.map(
  ({ name, protocol, description, origin }) => html`<li>
<a href="${origin}/"><strong>${name}</strong><span class="tag">${protocol}</span></a>
<p>${description}</p>
</li>
`,
)}
</ul>
<p>Both are also in your <a href="${issuer}/dashboard">app list at Gatehouse</a>. Sign out of one, and you are signed out of the other.</p>
<section class="part" aria-labelledby="console">
<h2 id="console">The console</h2>
<p>Administrators manage applications and people in the <a href="${issuer}/admin">console</a>. Sign out first, then sign in as:</p>
${facts({ Username: demoAdmin.username, Password: demoAdmin.password })}
<p>The <a href="${issuer}/admin/access-check">access check</a> says why a person can or can’t open an application.</p>
</section>
<section class="part" aria-labelledby="corp">
<h2 id="corp">Sign in with Example Corp</h2>
<p>Example Corp, at <a href="${corpIssuer}">${corpIssuer}</a>, is a second Gatehouse, and a connection of the first. Choose <strong>Sign in with Example Corp</strong> on the sign-in page, and sign in there as:</p>
${facts({ Username: corpUser.username, Password: corpUser.password })}
<p>Gatehouse creates an account for Kim at the first sign-in. The role <code>editor</code> comes from the group <code>staff</code> at Example Corp. The applications see no difference.</p>
</section>
<section class="part" aria-labelledby="mcp">
<h2 id="mcp">Let an agent keep notes</h2>
<p>An MCP server, whose address is also its identifier as an API. Add it to Claude Code, VS Code, Cursor or the MCP Inspector, and sign in as above:</p>
${facts({ Address: mcpServer, 'Client ID, if asked for': mcpClient.client_id })}
<p>The first call of <code>add_note</code> asks you for more than reading; <code>delete_notes</code> needs a second factor.</p>
</section>
<section class="part" aria-labelledby="sign-out">
<h2 id="sign-out">One sign-out ends all sessions</h2>
<p>Then choose <strong>Sign out everywhere</strong> in one application. This ends the sessions at both applications, at Gatehouse and at Example Corp. <a href="${logoutPath}">The last sign-out</a> lists who ended what, and when.</p>
</section>
<p class="small">All data is in a folder that is deleted when you press Ctrl-C in the terminal.</p>`;
  const document = page('Gatehouse demo', body);
  return { 'GET /': () => ({ body: document }) };
}
