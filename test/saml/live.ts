// A service provider that writes its messages as text, against a running server: it can send anything.
import { deflateRawSync } from 'node:zlib';
import { serviceProvider, settingsOf } from '../../src/applications/fields/service-provider.ts';
import type { HttpClient, Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { aCredential, type Credential, postBody, type SignOptions, signQuery, signXml } from './support.ts';

export interface MessageParts {
  id?: string;
  issueInstant?: string;
  issuer?: string;
  destination?: string | null;
  /** Further attributes of the root. */
  attributes?: string;
  /** What follows the Issuer. */
  body?: string;
}

export interface LiveSp {
  entityId: string;
  name: string;
  acs: string;
  credential: Credential;
  /** An AuthnRequest as text, as sound as the parts leave it. */
  request(parts?: MessageParts): string;
  logout(nameId: string, parts?: MessageParts): string;
  sign(xml: string, options?: SignOptions): string;
}

let count = 0;
const newId = () => `_${crypto.randomUUID()}`;

/** Registers one; `settings` are those of the configuration file. */
export async function aLiveSp(
  { services, issuer: idpIssuer }: Pick<TestIdp, 'services' | 'issuer'>,
  settings: Partial<Parameters<typeof serviceProvider.parse>[0] & object> = {},
): Promise<LiveSp> {
  count += 1;
  const entityId = `https://live${count}.example/metadata`;
  const acs = `https://live${count}.example/acs`;
  const credential = aCredential();
  const entry = serviceProvider.parse({
    name: `Live ${count}`,
    entity_id: entityId,
    acs_url: acs,
    slo_url: [
      { url: `https://live${count}.example/slo`, binding: 'redirect' },
      { url: `https://live${count}.example/slo`, binding: 'post' },
    ],
    certificates: [credential.certificatePem],
    encrypt_assertion: 'never',
    ...settings,
  });
  await services.applications.createSaml({ ...entry, entityId, settings: settingsOf(entry, undefined) });

  function message(name: 'AuthnRequest' | 'LogoutRequest', endpoint: string, parts: MessageParts): string {
    const { id = newId(), issueInstant = new Date().toISOString(), issuer = entityId, attributes = '' } = parts;
    const { destination = `${idpIssuer}/saml/${endpoint}`, body = '' } = parts;
    const sentTo = destination === null ? '' : ` Destination="${destination}"`;
    return (
      `<samlp:${name} xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"` +
      ` ID="${id}" Version="2.0" IssueInstant="${issueInstant}"${sentTo}${attributes}>` +
      `<saml:Issuer>${issuer}</saml:Issuer>${body}</samlp:${name}>`
    );
  }

  return {
    entityId,
    name: entry.name,
    acs,
    credential,
    request: (parts = {}) => message('AuthnRequest', 'sso', parts),
    logout: (nameId, parts = {}) =>
      message('LogoutRequest', 'slo', { ...parts, body: `<saml:NameID>${nameId}</saml:NameID>${parts.body ?? ''}` }),
    sign: (xml, options = {}) =>
      signXml(xml, { key: credential.privateKey, certificatePem: credential.certificatePem, ...options }),
  };
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** As a browser brings it from the service provider's page. */
export function post(browser: HttpClient, xml: string, relayState?: string, path = '/saml/sso'): Promise<Page> {
  return browser.post(path, { body: postBody(xml, relayState), headers: { ...FORM, 'sec-fetch-site': 'cross-site' } });
}

export interface RedirectOptions {
  relayState?: string;
  /** Signs the query. */
  key?: Credential;
  algorithm?: string;
  hash?: string;
  path?: string;
}

export function redirect(browser: HttpClient, xml: string, options: RedirectOptions = {}): Promise<Page> {
  const { relayState, key, path = '/saml/sso', ...how } = options;
  let query = `SAMLRequest=${encodeURIComponent(deflateRawSync(xml).toString('base64'))}`;
  if (relayState !== undefined) query += `&RelayState=${encodeURIComponent(relayState)}`;
  return browser.get(`${path}?${key ? signQuery(query, { key: key.privateKey, ...how }) : query}`);
}

/** Everything that a message may leave behind. */
export async function left({ services: { db } }: Pick<TestIdp, 'services'>): Promise<Record<string, number>> {
  const [requests, seen, participants, nameIds, artifacts, sessions] = await Promise.all([
    db.samlRequest.count(),
    db.seenMessage.count(),
    db.samlParticipant.count(),
    db.samlNameId.count(),
    db.oidcArtifact.count(),
    db.oidcArtifact.count({ where: { model: 'Session' } }),
  ]);
  return { requests, seen, participants, nameIds, artifacts, sessions };
}

/** The SAML message in the form or the address that the browser is sent on with. */
export function answerIn(page: Page): string | undefined {
  const field = page.forms[0]?.fields.SAMLResponse;
  return field === undefined ? undefined : Buffer.from(field, 'base64').toString();
}
