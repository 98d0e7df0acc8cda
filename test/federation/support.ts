// Shared by the tests of sign-in at an upstream: connections of a test server, and a browser that goes through both servers.
import { checkConnection } from '../../src/federation/connections/schema.ts';
import { authorizeUrl, redirectUri } from '../oidc/support.ts';
import { aClient } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { type OidcUpstream, startOidcUpstream } from '../support/upstream/oidc-upstream.ts';

let count = 0;

/** The redirect URI of a connection. */
export const callbackOf = (idp: TestIdp, id: string) => `${idp.issuer}/upstream/${id}/callback`;

/** Registers a connection; fields replace those that work with the upstream. `proven`: its domains are proven. */
export async function aConnection(
  idp: TestIdp,
  fields: Record<string, unknown> & { id: string },
  { proven = false }: { proven?: boolean } = {},
): Promise<void> {
  const checked = checkConnection({ kind: 'oidc', name: 'Example Corp', ...fields });
  if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
  await idp.services.connections.create(checked.value, { source: proven ? 'file' : 'local' });
}

export interface Connected {
  upstream: OidcUpstream;
  connection: string;
  /** Stops the upstream and deletes the connection: others use the same server, whose sign-in page would list it. */
  remove(): Promise<void>;
}

/** An upstream with a connection to it, whose fields may depend on its origin; both are of this test alone. */
export async function anUpstream(
  idp: TestIdp,
  fields: Record<string, unknown> | ((origin: string) => Record<string, unknown>) = {},
  options: { proven?: boolean; client?: Record<string, unknown> } = {},
): Promise<Connected> {
  count += 1;
  const id = `corp-${count}-${process.pid}`;
  const upstream = await startOidcUpstream([callbackOf(idp, id)], options.client);
  const { issuer, clientId: client_id, clientSecret: client_secret } = upstream;
  const more = typeof fields === 'function' ? fields(issuer) : fields;
  await aConnection(idp, { id, issuer, client_id, client_secret, create_users: true, ...more }, options);
  const source = options.proven ? 'file' : 'local';
  const remove = async () => {
    await upstream.stop();
    await idp.services.connections.remove(id, { source });
  };
  return { upstream, connection: id, remove };
}

export const isAtApplication = (url: string) => url.startsWith(redirectUri);

/** Opens the sign-in of an application. */
export async function openSignIn(
  idp: TestIdp,
  {
    clientId,
    browser = httpClient(idp.issuer),
    ...parameters
  }: { clientId: string; browser?: HttpClient } & Record<string, unknown>,
): Promise<Page> {
  const url = authorizeUrl(idp, clientId, parameters as Record<string, string>);
  return browser.follow(await browser.get(url), isAtApplication);
}

/** Presses the button of the connection and follows to the application or the next page. */
export async function pressConnection(browser: HttpClient, page: Page, connection: string): Promise<Page> {
  const sent = await browser.submit(page, {}, { form: `/connections/${connection}` });
  return browser.follow(sent, isAtApplication);
}

export interface UpstreamSignIn {
  page: Page;
  browser: HttpClient;
  clientId: string;
}

/** A whole sign-in over a connection, at a new application and in a new browser unless given. */
export async function signInOver(
  idp: TestIdp,
  connection: string,
  {
    browser = httpClient(idp.issuer),
    clientId,
    ...parameters
  }: { browser?: HttpClient; clientId?: string } & Record<string, unknown> = {},
): Promise<UpstreamSignIn> {
  const client = clientId ?? (await aClient(idp.services, { redirect_uris: [redirectUri] })).clientId;
  const form = await openSignIn(idp, { clientId: client, browser, ...parameters });
  return { page: await pressConnection(browser, form, connection), browser, clientId: client };
}

/** The account that a subject of a connection belongs to. */
export async function accountOf(idp: TestIdp, connection: string, subject: string) {
  const identity = await idp.services.identities.find(connection, subject);
  return identity && idp.services.accounts.find(identity.userId);
}
