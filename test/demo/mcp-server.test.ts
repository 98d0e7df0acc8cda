// The example MCP server behind Gatehouse, used by the client of the MCP SDK: it finds the authorization server, signs a person in, calls tools,
// asks for more scopes when a tool needs them; and a tool that needs a second factor says so (RFC 9470).
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { mcpAddress, SCOPES, startMcpServer } from '../../examples/mcp-server/server.ts';
import { completeSignIn } from '../oidc/support.ts';
import { aClient, anApi, aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient } from '../support/http.ts';
import { freePort, type TestIdp } from '../support/idp.ts';
import { sharedIdp } from '../support/shared-idp.ts';

/** Where a program on this computer listens; the port is not the registered one. */
const redirectUrl = 'http://localhost:51234/callback';
let idp: TestIdp;
let server: Awaited<ReturnType<typeof startMcpServer>>;
let clientId: string;
let user: TestUser;
let browser: HttpClient;

beforeAll(async () => {
  idp = await sharedIdp();
  const port = await freePort();
  server = await startMcpServer({ issuer: idp.issuer, port });
  await anApi(idp.services, { identifier: mcpAddress(port), scopes: [...SCOPES] });
  ({ clientId } = await aClient(idp.services, {
    client_name: 'Agent',
    application_type: 'native',
    token_endpoint_auth_method: 'none',
    redirect_uris: ['http://localhost/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    consent: 'explicit',
    resources: [server.resource],
    scope: `openid offline_access ${SCOPES.join(' ')}`,
  }));
});
afterAll(() => server?.close());
beforeEach(async () => {
  user = await aUser(idp.services);
  browser = httpClient(idp.issuer);
});

/** What the SDK keeps of one person, in memory. */
class Agent implements OAuthClientProvider {
  readonly redirectUrl = redirectUrl;
  readonly clientMetadata = { redirect_uris: [redirectUrl], token_endpoint_auth_method: 'none' };
  /** Where the person was sent, the newest last. */
  readonly sentTo: URL[] = [];
  saved: OAuthTokens | undefined;
  #verifier = '';
  clientInformation = () => ({ client_id: clientId });
  tokens = () => this.saved;
  saveTokens = (tokens: OAuthTokens) => {
    this.saved = tokens;
  };
  redirectToAuthorization = (url: URL) => void this.sentTo.push(url);
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;

  /** The person follows the newest address; the SDK redeems the code. */
  async finish(): Promise<void> {
    const page = await completeSignIn(browser, String(this.sentTo.at(-1)), { user, redirectUri: redirectUrl });
    const code = new URL(page.location ?? expect.fail(page.text)).searchParams.get('code') ?? '';
    await auth(this, { serverUrl: server.resource, authorizationCode: code });
  }
}

async function connect(agent: Agent): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(server.resource), { authProvider: agent });
  await client.connect(transport as never);
  return client;
}
const call = async (client: Client, name: string, given: Record<string, unknown> = {}) => {
  const { content } = await client.callTool({ name, arguments: given });
  return (content as { text: string }[])[0]?.text;
};
/** The WWW-Authenticate of a tool call by hand. */
const challenged = async (name: string, token?: string) => {
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {} } });
  const accept = 'application/json, text/event-stream';
  const headers = { 'content-type': 'application/json', accept, ...(token && { authorization: `Bearer ${token}` }) };
  const answer = await fetch(server.resource, { method: 'POST', body, headers });
  return `${answer.status} ${answer.headers.get('www-authenticate') ?? ''}`;
};

it('an agent finds the authorization server, and its person allows it', async () => {
  const agent = new Agent();
  await expect(connect(agent)).rejects.toThrow('Unauthorized');
  const { searchParams, origin } = agent.sentTo.at(-1) ?? expect.fail('the person is sent to the authorization server');
  expect(origin).toBe(idp.issuer);
  expect(searchParams.get('resource')).toBe(server.resource);
  expect(searchParams.get('scope')).toBe('notes:read');
  await agent.finish();
  const client = await connect(agent);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('add_note');
  expect(JSON.parse((await call(client, 'whoami')) ?? '')).toEqual({
    subject: user.account.id,
    applications: [clientId],
  });
});

it('a tool that needs another scope makes the agent ask for both, and the person consents once more', async () => {
  const agent = new Agent();
  await connect(agent).catch(() => undefined);
  await agent.finish();
  const client = await connect(agent);
  await expect(call(client, 'add_note', { text: 'Milk' })).rejects.toThrow();
  const scope = agent.sentTo.at(-1)?.searchParams.get('scope')?.split(' ');
  expect(scope?.sort()).toEqual(['notes:read', 'notes:write']);
  await agent.finish();
  const again = await connect(agent);
  expect(await call(again, 'add_note', { text: 'Milk' })).toBe('Added.');
  expect(await call(again, 'list_notes')).toBe('Milk');
  // A sign-in with a password is not enough for this one.
  expect(await challenged('delete_notes', agent.saved?.access_token)).toContain(
    '401 Bearer error="insufficient_user_authentication", acr_values="urn:gatehouse:acr:mfa phr"',
  );
});

it('the metadata is at the address of RFC 9728, and the challenges are those of RFC 6750', async () => {
  const { origin } = new URL(server.resource);
  const metadata = `${origin}/.well-known/oauth-protected-resource/mcp`;
  const answer = await fetch(metadata);
  expect(answer.headers.get('access-control-allow-origin')).toBe('*');
  expect(await answer.json()).toEqual({
    resource: server.resource,
    authorization_servers: [idp.issuer],
    scopes_supported: SCOPES,
    bearer_methods_supported: ['header'],
  });
  expect(await challenged('whoami')).toBe(`401 Bearer scope="notes:read", resource_metadata="${metadata}"`);
  expect(await challenged('whoami', 'made.up.token')).toContain('401 Bearer error="invalid_token"');
});

it('a token for another API does not open it', async () => {
  const other = 'https://other-api.example.com';
  await anApi(idp.services, { identifier: other, scopes: ['notes:read'] });
  const worker = await aClient(idp.services, {
    grant_types: ['client_credentials'],
    resources: [other],
    scope: 'notes:read',
  });
  const form = { grant_type: 'client_credentials', resource: other, scope: 'notes:read' };
  const authorization = `Basic ${Buffer.from(`${worker.clientId}:${worker.clientSecret}`).toString('base64')}`;
  const page = await httpClient(idp.issuer).post('/token', { form, headers: { authorization } });
  expect(await challenged('whoami', String(page.json().access_token))).toContain('401 Bearer error="invalid_token"');
});
