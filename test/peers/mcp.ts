// The tools of the MCP project at the built program (README.md): the scenarios for authorization servers of its conformance suite, and the CLI of
// its Inspector, which signs a person in and calls a tool of examples/mcp-server. Not part of `npm test`, because it needs them.
//   npx tsx test/peers/mcp.ts
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { stringify } from 'yaml';
import { startGatehouse } from '../../examples/demo/gatehouse.ts';
import { mcpAddress, SCOPES, startMcpServer } from '../../examples/mcp-server/server.ts';
import { completeSignIn } from '../oidc/support.ts';
import { httpClient } from '../support/http.ts';
import { freePort, needFile, newFolder, skip } from './programs.ts';

const INSTALLED = process.env.MCP_TOOLS ?? '/opt/peers/mcp';
/** Both need Node.js 22. */
const NODE = process.env.MCP_NODE ?? process.execPath;
const user = {
  username: 'ann',
  email: 'ann@example.com',
  email_verified: true,
  name: 'Ann',
  password: 'quiet harbor lantern forty',
};
const CLIENT = 'agent';
const modules = path.join(INSTALLED, 'node_modules', '@modelcontextprotocol');
const versionOf = (name: string) =>
  (JSON.parse(readFileSync(path.join(modules, name, 'package.json'), 'utf8')) as { version: string }).version;

try {
  needFile(path.join(modules, 'conformance'), 'npm install @modelcontextprotocol/conformance@alpha');
  needFile(path.join(modules, 'inspector'), 'npm install @modelcontextprotocol/inspector');
} catch (error) {
  skip(error);
}

const [port, mcpPort, callbackPort] = [await freePort(), await freePort(), await freePort()];
const issuer = `http://localhost:${port}`;
const resource = mcpAddress(mcpPort);
const gatehouse = await startGatehouse({
  folder: path.join(newFolder('mcp'), 'gatehouse'),
  issuer,
  configuration: stringify({
    resources: [{ identifier: resource, scopes: SCOPES }],
    clients: [
      {
        client_id: CLIENT,
        application_type: 'native',
        token_endpoint_auth_method: 'none',
        redirect_uris: ['http://127.0.0.1/callback', 'http://127.0.0.1/oauth/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        resources: [resource],
        scope: ['openid', 'offline_access', ...SCOPES].join(' '),
      },
    ],
    users: [user],
  }),
});
const server = await startMcpServer({ issuer, port: mcpPort });
const failed: string[] = [];
try {
  await trial(`conformance ${versionOf('conformance')}, authorization server`, [
    path.join(modules, 'conformance', 'dist', 'index.js'),
    ...[
      'authorization',
      '--url',
      issuer,
      '--client-id',
      CLIENT,
      '--resource',
      resource,
      '--port',
      String(callbackPort),
    ],
  ]);
  await trial(`Inspector ${versionOf('inspector')}, CLI`, [
    path.join(INSTALLED, 'node_modules', '.bin', 'mcp-inspector'),
    ...[
      '--cli',
      resource,
      '--transport',
      'http',
      '--client-id',
      CLIENT,
      '--method',
      'tools/call',
      '--tool-name',
      'whoami',
    ],
    ...['--callback-url', `http://127.0.0.1:${callbackPort}/oauth/callback`],
  ]);
} finally {
  await server.close();
  await gatehouse.stop();
}
process.stdout.write(failed.length === 0 ? 'all passed\n' : `failed: ${failed.join(', ')}\n`);
process.exitCode = failed.length === 0 ? 0 : 1;

/** Runs the program; when it prints an address of the authorization endpoint, a person signs in there and allows the agent. */
async function trial(name: string, args: string[]): Promise<void> {
  const home = newFolder('home');
  const child = spawn(NODE, args, {
    cwd: home,
    env: {
      ...process.env,
      HOME: home,
      BROWSER: 'none',
      MCP_AUTO_OPEN_ENABLED: 'true',
      MCP_INSPECTOR_SECRET_STORE: 'memory',
    },
  });
  let said = '';
  let opened: Promise<void> | undefined;
  const listen = (text: string) => {
    said += text;
    const [url] = new RegExp(`${issuer}/authorize\\?\\S+`).exec(said) ?? [];
    // The address is complete when something follows it.
    if (url && !said.endsWith(url)) opened ??= signIn(url, child);
  };
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', listen);
  const timeout = setTimeout(() => child.kill('SIGKILL'), 120_000);
  const [code] = await once(child, 'close');
  clearTimeout(timeout);
  await opened;
  if (code !== 0 || !opened) failed.push(name);
  process.stdout.write(`${code === 0 && opened ? 'passed' : 'FAILED'}  ${name}\n`);
  if (code !== 0 || !opened || process.argv.includes('--log')) process.stdout.write(`${said}\n`);
}

async function signIn(url: string, child: ChildProcess): Promise<void> {
  const redirectUri = new URL(url).searchParams.get('redirect_uri') ?? '';
  const page = await completeSignIn(httpClient(issuer), url, {
    user: { ...user, account: undefined as never },
    redirectUri,
  });
  if (page.location === undefined) {
    process.stdout.write(`the sign-in ended at ${page.url} (${page.status})\n`);
    child.kill();
    return;
  }
  await fetch(page.location);
}
