// A real MCP server and the client of the MCP SDK, as people use them: the server asks for tokens of Gatehouse, the client finds out where.
import tls from 'node:tls';
import { auth, type OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { OAuthClientInformationMixed, OAuthTokens } from '@modelcontextprotocol/sdk/shared/auth.js';
import { createRemoteJWKSet, type JWTPayload, jwtVerify } from 'jose';
import { type Listening, listen } from './listen.ts';
import { aCertificate, type Tls } from './tls.ts';

export interface TestMcpServer extends Listening {
  /** The identifier that it is registered with: that of its clients has a slash more. */
  identifier: string;
}

/** An MCP server whose tool `whoami` tells who asks, by which client. It takes tokens of the issuer for itself alone (RFC 9068, RFC 9728). */
export async function mcpServer(issuer: string, scope: string): Promise<TestMcpServer> {
  const keys = createRemoteJWKSet(new URL(`${issuer}/jwks`));
  const listening: Listening = await listen(async (request, response) => {
    const { origin } = listening;
    const { pathname } = new URL(request.url ?? '/', origin);
    if (pathname === '/.well-known/oauth-protected-resource') {
      const metadata = { resource: origin, authorization_servers: [issuer], scopes_supported: [scope] };
      response.setHeader('content-type', 'application/json').end(JSON.stringify(metadata));
      return;
    }
    const [, token = ''] = /^Bearer (.+)$/.exec(request.headers.authorization ?? '') ?? [];
    const verified = await jwtVerify(token, keys, { issuer, audience: origin, typ: 'at+jwt' }).catch(() => undefined);
    if (!verified) {
      const metadata = `${origin}/.well-known/oauth-protected-resource`;
      response.writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${metadata}", scope="${scope}"` }).end();
      return;
    }
    const server = new McpServer({ name: 'notes', version: '1.0.0' });
    server.registerTool('whoami', { description: 'who asks' }, async () => ({
      content: [{ type: 'text', text: JSON.stringify(verified.payload) }],
    }));
    const transport = new StreamableHTTPServerTransport({});
    response.on('close', () => void transport.close());
    await server.connect(transport as never);
    await transport.handleRequest(request, response);
  });
  return Object.assign(listening, { identifier: listening.origin });
}

/** What the SDK keeps of one user at one MCP server, in memory. */
export class TestAgent implements OAuthClientProvider {
  clientMetadataUrl: string | undefined;
  readonly redirectUrl: string;
  readonly grantTypes: string[];
  /** Where the person is sent; undefined until then. */
  authorization: URL | undefined;
  registered: OAuthClientInformationMixed | undefined;
  saved: OAuthTokens | undefined;
  #verifier = '';

  constructor(options: { documentUrl?: string; redirectUrl: string; registered?: OAuthClientInformationMixed }) {
    this.clientMetadataUrl = options.documentUrl;
    this.redirectUrl = options.redirectUrl;
    this.registered = options.registered;
    this.grantTypes = ['authorization_code', 'refresh_token'];
  }

  get clientMetadata() {
    return {
      client_name: 'SDK client',
      redirect_uris: [this.redirectUrl],
      grant_types: this.grantTypes,
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
      scope: 'notes:read',
    };
  }

  clientInformation = () => this.registered;
  saveClientInformation = (information: OAuthClientInformationMixed) => {
    this.registered = information;
  };
  tokens = () => this.saved;
  saveTokens = (tokens: OAuthTokens) => {
    this.saved = tokens;
  };
  redirectToAuthorization = (url: URL) => {
    this.authorization = url;
  };
  saveCodeVerifier = (verifier: string) => {
    this.#verifier = verifier;
  };
  codeVerifier = () => this.#verifier;
}

/** Connects to the server; the first time, the agent learns where to send the person. */
export async function connect(server: TestMcpServer, agent: TestAgent, code?: string): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' });
  const transport = new StreamableHTTPClientTransport(new URL(server.origin), { authProvider: agent });
  if (code !== undefined) await transport.finishAuth(code);
  await client.connect(transport as never);
  return client;
}

/** Refreshes with the SDK. */
export const refresh = (server: TestMcpServer, agent: TestAgent) => auth(agent, { serverUrl: server.origin });

/** The claims of the token that the server has verified. */
export async function whoami(client: Client): Promise<JWTPayload> {
  const { content } = await client.callTool({ name: 'whoami', arguments: {} });
  const [part] = content as { text: string }[];
  return JSON.parse(part?.text ?? '') as JWTPayload;
}

export interface DocumentHost extends Listening {
  host: string;
  /** Address of the document at this path. */
  urlOf(path: string): string;
  /** Path -> what is answered: a document, or an answer of its own. */
  documents: Map<string, object | ((response: import('node:http').ServerResponse) => void)>;
  /** Paths in the order of their requests. */
  requests: string[];
}

/** A web server with client metadata documents, which this process trusts. */
export async function documentHost(hostname: string): Promise<DocumentHost> {
  const certificate = await trustedCertificate(hostname);
  const documents: DocumentHost['documents'] = new Map();
  const requests: string[] = [];
  const listening = await listen((request, response) => {
    const path = request.url ?? '/';
    requests.push(path);
    const found = documents.get(path);
    if (typeof found === 'function') return found(response);
    if (!found) return void response.writeHead(404).end();
    response.setHeader('content-type', 'application/json').end(JSON.stringify(found));
  }, certificate);
  const host = `${hostname}:${listening.port}`;
  return Object.assign(listening, { host, documents, requests, urlOf: (path: string) => `https://${host}${path}` });
}

const certificates = new Map<string, Promise<Tls>>();

/** One for each name in a process: of two with the same name, OpenSSL looks at the first alone. */
function trustedCertificate(hostname: string): Promise<Tls> {
  const certificate = certificates.get(hostname) ?? aCertificate(hostname);
  if (!certificates.has(hostname)) certificate.then(({ cert }) => trust(cert));
  certificates.set(hostname, certificate);
  return certificate;
}

/** Node.js 20 reads NODE_EXTRA_CA_CERTS at its start alone. */
function trust(certificate: string): void {
  const { createSecureContext } = tls;
  tls.createSecureContext = (options) => {
    const made = createSecureContext(options);
    (made.context as { addCACert(pem: string): void }).addCACert(certificate);
    return made;
  };
}
