// An MCP server behind Gatehouse, used by the client of the MCP SDK: it finds the authorization server by itself, says who it is by the address
// of its metadata document, a person consents, and the token is for this MCP server alone.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anApi, aUser, type TestUser } from '../../support/factories.ts';
import { httpClient } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import {
  connect,
  type DocumentHost,
  documentHost,
  mcpServer,
  refresh,
  TestAgent,
  type TestMcpServer,
  whoami,
} from '../../support/mcp.ts';
import { signedIn } from '../../support/pages/account.ts';
import { textOf } from '../../support/pages/html.ts';
import { anApplication, completeSignIn, forApi } from '../support.ts';

let idp: TestIdp;
let server: TestMcpServer;
let vendor: DocumentHost;
let user: TestUser;

beforeAll(async () => {
  idp = await startIdp();
  server = await mcpServer(idp.issuer, 'notes:read');
  vendor = await documentHost('vendor.localhost');
  user = await aUser(idp.services);
  await anApi(idp.services, {
    identifier: server.identifier,
    scopes: ['notes:read', 'notes:write'],
    clients: 'self-registered',
  });
  await idp.services.settings.set('agents', 'allowed');
  await idp.services.settings.reload();
});
afterAll(async () => {
  await Promise.all([server?.close(), vendor?.close(), idp?.stop()]);
});

/** A client on this computer with its document. */
function anAgent(path: string, members: object = {}): TestAgent {
  const documentUrl = vendor.urlOf(path);
  vendor.documents.set(path, {
    client_id: documentUrl,
    client_name: 'Helper',
    redirect_uris: ['http://localhost/callback'],
    grant_types: ['authorization_code', 'refresh_token'],
    token_endpoint_auth_method: 'none',
    ...members,
  });
  return new TestAgent({ documentUrl, redirectUrl: 'http://localhost:33418/callback' });
}

/** The person signs in and decides; the code that the client gets. */
async function consents(agent: TestAgent, consent: 'Allow' | 'Don’t allow' = 'Allow'): Promise<URLSearchParams> {
  const page = await completeSignIn(httpClient(idp.issuer), agent.authorization?.href ?? '', {
    user,
    redirectUri: agent.redirectUrl,
    consent,
  });
  if (!page.location) throw new Error(`${page.status} ${page.url} ${textOf(page.text)}`);
  return new URL(page.location).searchParams;
}

/** Connects, lets the person consent, and connects with the token. */
async function connected(agent: TestAgent) {
  await expect(connect(server, agent)).rejects.toThrow(/unauthorized/i);
  return connect(server, agent, (await consents(agent)).get('code') ?? '');
}

describe('the MCP SDK', () => {
  it('connects with a metadata document', async () => {
    const agent = anAgent('/oauth/helper.json');
    await expect(connect(server, agent)).rejects.toThrow(/unauthorized/i);
    expect(agent.authorization?.searchParams.get('client_id')).toBe(agent.clientMetadataUrl);
    const code = (await consents(agent)).get('code') ?? '';
    const client = await connect(server, agent, code);
    expect(await whoami(client)).toMatchObject({
      iss: idp.issuer,
      sub: user.account.id,
      aud: server.identifier,
      client_id: agent.clientMetadataUrl,
      scope: 'notes:read',
    });
    await client.close();
  });

  it('keeps its access by refreshing, and loses it with the account', async () => {
    const agent = anAgent('/oauth/refresher.json');
    await (await connected(agent)).close();
    const first = agent.saved?.access_token;
    expect(agent.saved?.refresh_token).toBeDefined();
    expect(await refresh(server, agent)).toBe('AUTHORIZED');
    expect(agent.saved?.access_token).not.toBe(first);
    await idp.services.accounts.setActive(user.account.id, false);
    await expect(refresh(server, agent)).rejects.toThrow(/grant request is invalid/);
    await idp.services.accounts.setActive(user.account.id, true);
  });

  it('loses its access where the person signs out everywhere', async () => {
    const agent = anAgent('/oauth/everywhere.json');
    await (await connected(agent)).close();
    const browser = await signedIn(idp, user);
    const page = await browser.get('/account/sessions');
    const form =
      page.forms.find(({ action }) => action.endsWith('/account/sessions/end-all')) ?? expect.fail(page.text);
    await browser.follow(await browser.post(form.action, { form: form.fields }));
    await expect(refresh(server, agent)).rejects.toThrow(/grant request is invalid/);
  });

  it('connects as a registered client', async () => {
    const redirectUrl = 'https://client.example/callback';
    const { clientId, clientSecret } = await anApplication(idp, {
      ...forApi(server.identifier, 'notes:read'),
      redirect_uris: [redirectUrl],
      token_endpoint_auth_method: 'client_secret_post',
    });
    const agent = new TestAgent({ redirectUrl, registered: { client_id: clientId, client_secret: clientSecret } });
    const client = await connected(agent);
    expect(await whoami(client)).toMatchObject({ client_id: clientId, aud: server.identifier });
    await client.close();
  });

  it('registers itself where that is allowed, and returns to any port', async () => {
    const agent = new TestAgent({ redirectUrl: 'http://localhost:50999/callback' });
    const client = await connected(agent);
    const clientId = agent.registered?.client_id ?? '';
    expect(await whoami(client)).toMatchObject({ client_id: clientId, scope: 'notes:read' });
    await client.close();
    expect(await idp.services.applications.find(clientId)).toMatchObject({
      source: 'dynamic',
      metadata: { application_type: 'native', scope: 'openid offline_access', token_endpoint_auth_method: 'none' },
    });
    await idp.services.settings.set('agents', 'listed');
    await idp.services.settings.reload();
    await expect(connect(server, new TestAgent({ redirectUrl: 'http://localhost:1/cb' }))).rejects.toThrow(
      /registration/,
    );
    await idp.services.settings.set('agents', 'allowed');
    await idp.services.settings.reload();
  });
});
