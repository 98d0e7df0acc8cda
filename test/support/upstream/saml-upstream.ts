// A SAML upstream for tests that writes its answers as text and signs them with xml-crypto: it can send anything.
import { constants, createCipheriv, createPublicKey, publicEncrypt, randomBytes } from 'node:crypto';
import { inflateRawSync } from 'node:zlib';
import { checkConnection } from '../../../src/federation/connections/schema.ts';
import { algorithms } from '../../../src/protocols/saml/xml/names.ts';
import { authorizeUrl, redirectUri } from '../../oidc/support.ts';
import { aCredential, type Credential, type SignOptions, signXml } from '../../saml/support.ts';
import { type HttpClient, httpClient, type Page } from '../http.ts';
import type { TestIdp } from '../idp.ts';

export interface SamlUpstream {
  connection: string;
  entityId: string;
  credential: Credential;
}

export interface BegunSignIn {
  browser: HttpClient;
  /** Where the browser was sent. */
  location: URL;
  xml: string;
  requestId: string;
}

export interface AnswerParts {
  /** Parts of the assertion. Null leaves one out. */
  id?: string;
  issuer?: string;
  nameId?: string | null;
  format?: string;
  /** Attributes of the NameID. */
  nameIdAttributes?: string;
  method?: string;
  recipient?: string | null;
  inResponseTo?: string | null;
  confirmationEnds?: string | null;
  confirmationAttributes?: string;
  audience?: string | null;
  notBefore?: string;
  notOnOrAfter?: string;
  conditions?: string;
  issueInstant?: string;
  authnInstant?: string;
  sessionAttributes?: string;
  contextClass?: string;
  authnStatement?: string;
  attributes?: Record<string, string | readonly string[]>;
  /** Of the Response. */
  responseId?: string;
  responseIssuer?: string | null;
  destination?: string | null;
  responseInResponseTo?: string | null;
  status?: string;
  extensions?: string;
  /** What is signed; both by default. */
  sign?: 'assertion' | 'response' | 'both' | 'none';
  signing?: SignOptions;
  /** `transport`: RSA-OAEP of XML Encryption 1.0, or of 1.1, which names its mask. */
  encrypt?: { certificate: string; algorithm?: string; transport?: string };
}

const SAML = 'xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"';
const SAMLP = 'xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol"';
const persistent = 'urn:oasis:names:tc:SAML:2.0:nameid-format:persistent';
const success = 'urn:oasis:names:tc:SAML:2.0:status:Success';
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toISOString();
const optional = (name: string, value: string | null | undefined) => (value == null ? '' : ` ${name}="${value}"`);
let count = 0;

/** Registers a connection to a new upstream; fields replace those that work. */
export async function aSamlUpstream(
  idp: Pick<TestIdp, 'services'>,
  fields: Record<string, unknown> = {},
  { proven = false }: { proven?: boolean } = {},
): Promise<SamlUpstream> {
  count += 1;
  const connection = `school-${count}-${process.pid}`;
  const entityId = `https://${connection}.example/metadata`;
  const credential = aCredential();
  const checked = checkConnection({
    id: connection,
    kind: 'saml',
    name: 'Example School',
    create_users: true,
    entity_id: entityId,
    sso_url: `https://${connection}.example/sso`,
    certificates: [credential.certificatePem],
    ...fields,
  });
  if (!checked.ok) throw new Error(JSON.stringify(checked.faults));
  await idp.services.connections.create(checked.value, { source: proven ? 'file' : 'local' });
  return { connection, entityId, credential };
}

/** Presses the button of the connection, and stops at the upstream. */
export async function beginAt(
  idp: TestIdp,
  { connection }: SamlUpstream,
  {
    clientId,
    browser = httpClient(idp.issuer),
    ...parameters
  }: { clientId: string; browser?: HttpClient } & Record<string, unknown>,
): Promise<BegunSignIn> {
  const url = authorizeUrl(idp, clientId, parameters as Record<string, string>);
  const page = await browser.follow(await browser.get(url), (to) => to.startsWith(redirectUri));
  const sent = await browser.submit(page, {}, { form: `/connections/${connection}` });
  if (sent.location === undefined)
    throw new Error(`not sent to the upstream: ${sent.status} ${sent.text.slice(0, 500)}`);
  return { browser, ...requestIn(sent.location) };
}

/** The AuthnRequest in an address. */
export function requestIn(address: string): Omit<BegunSignIn, 'browser'> {
  const location = new URL(address);
  const xml = inflateRawSync(Buffer.from(location.searchParams.get('SAMLRequest') ?? '', 'base64')).toString();
  return { location, xml, requestId: / ID="([^"]+)"/.exec(xml)?.[1] ?? '' };
}

/** An assertion as text, unsigned. */
export function assertionXml(idp: TestIdp, upstream: SamlUpstream, requestId: string, parts: AnswerParts = {}): string {
  const {
    id = `_a${crypto.randomUUID()}`,
    issuer = upstream.entityId,
    nameId = 'opaque-1',
    format = persistent,
  } = parts;
  const { recipient = `${idp.issuer}/saml/acs`, inResponseTo = requestId, confirmationEnds = inSeconds(300) } = parts;
  const {
    audience = `${idp.issuer}/saml/sp/metadata`,
    notBefore = inSeconds(-60),
    notOnOrAfter = inSeconds(300),
  } = parts;
  const { contextClass = 'urn:oasis:names:tc:SAML:2.0:ac:classes:PasswordProtectedTransport' } = parts;
  const attributes = Object.entries(parts.attributes ?? {}).map(
    ([name, values]) =>
      `<saml:Attribute Name="${name}">${[values]
        .flat()
        .map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`)
        .join('')}</saml:Attribute>`,
  );
  const statement =
    parts.authnStatement ??
    `<saml:AuthnStatement AuthnInstant="${parts.authnInstant ?? inSeconds(-5)}" SessionIndex="session-1"${parts.sessionAttributes ?? ''}>` +
      `<saml:AuthnContext><saml:AuthnContextClassRef>${contextClass}</saml:AuthnContextClassRef></saml:AuthnContext></saml:AuthnStatement>`;
  return (
    `<saml:Assertion ${SAML} ID="${id}" Version="2.0" IssueInstant="${parts.issueInstant ?? inSeconds(0)}">` +
    `<saml:Issuer>${issuer}</saml:Issuer><saml:Subject>` +
    (nameId === null ? '' : `<saml:NameID Format="${format}"${parts.nameIdAttributes ?? ''}>${nameId}</saml:NameID>`) +
    `<saml:SubjectConfirmation Method="${parts.method ?? 'urn:oasis:names:tc:SAML:2.0:cm:bearer'}"><saml:SubjectConfirmationData` +
    optional('InResponseTo', inResponseTo) +
    optional('NotOnOrAfter', confirmationEnds) +
    optional('Recipient', recipient) +
    `${parts.confirmationAttributes ?? ''}/></saml:SubjectConfirmation></saml:Subject>` +
    `<saml:Conditions NotBefore="${notBefore}" NotOnOrAfter="${notOnOrAfter}">` +
    (audience === null
      ? ''
      : `<saml:AudienceRestriction><saml:Audience>${audience}</saml:Audience></saml:AudienceRestriction>`) +
    `${parts.conditions ?? ''}</saml:Conditions>${statement}` +
    (attributes.length > 0 ? `<saml:AttributeStatement>${attributes.join('')}</saml:AttributeStatement>` : '') +
    '</saml:Assertion>'
  );
}

/** A Response around this content, unsigned. */
export function responseXml(
  idp: TestIdp,
  upstream: SamlUpstream,
  requestId: string,
  content: string,
  parts: AnswerParts = {},
): string {
  const { responseIssuer = upstream.entityId, destination = `${idp.issuer}/saml/acs` } = parts;
  const { responseInResponseTo = requestId, status = success } = parts;
  return (
    `<samlp:Response ${SAMLP} ${SAML} ID="${parts.responseId ?? `_r${crypto.randomUUID()}`}" Version="2.0"` +
    ` IssueInstant="${inSeconds(0)}"${optional('Destination', destination)}${optional('InResponseTo', responseInResponseTo)}>` +
    (responseIssuer === null ? '' : `<saml:Issuer>${responseIssuer}</saml:Issuer>`) +
    (parts.extensions ? `<samlp:Extensions>${parts.extensions}</samlp:Extensions>` : '') +
    `<samlp:Status><samlp:StatusCode Value="${status}"/></samlp:Status>${content}</samlp:Response>`
  );
}

/** A whole answer: sound where the parts leave it so. */
export function answerXml(idp: TestIdp, upstream: SamlUpstream, requestId: string, parts: AnswerParts = {}): string {
  const { sign = 'both' } = parts;
  const key = {
    key: upstream.credential.privateKey,
    certificatePem: upstream.credential.certificatePem,
    ...parts.signing,
  };
  const plain = assertionXml(idp, upstream, requestId, parts);
  const signed = sign === 'assertion' || sign === 'both' ? signXml(plain, key) : plain;
  const content = parts.encrypt ? encrypted(signed, parts.encrypt) : signed;
  const response = responseXml(idp, upstream, requestId, content, parts);
  return sign === 'response' || sign === 'both' ? signXml(response, key) : response;
}

/** Posts an answer as the browser brings it from the upstream. */
export function postAnswer(
  browser: HttpClient,
  xml: string,
  { relayState, headers = {} }: { relayState?: string; headers?: Record<string, string> } = {},
): Promise<Page> {
  const form = {
    SAMLResponse: Buffer.from(xml).toString('base64'),
    ...(relayState !== undefined && { RelayState: relayState }),
  };
  return browser.post('/saml/acs', { form, headers: { 'sec-fetch-site': 'cross-site', ...headers } });
}

/** XML Encryption by node:crypto, with any of the algorithms. */
export function encrypted(
  xml: string,
  {
    certificate,
    algorithm = algorithms.aes256Gcm,
    transport = algorithms.rsaOaep,
  }: NonNullable<AnswerParts['encrypt']>,
): string {
  const is11 = transport === algorithms.rsaOaep11;
  const isGcm = algorithm.endsWith('gcm');
  const bytes = algorithm.includes('128') ? 16 : 32;
  const [key, nonce] = [randomBytes(bytes), randomBytes(isGcm ? 12 : 16)];
  const cipher = createCipheriv(`aes-${bytes * 8}-${isGcm ? 'gcm' : 'cbc'}` as 'aes-256-gcm', key, nonce);
  const text = Buffer.concat([nonce, cipher.update(xml, 'utf8'), cipher.final()]);
  const data = isGcm ? Buffer.concat([text, cipher.getAuthTag()]) : text;
  const padding = constants.RSA_PKCS1_OAEP_PADDING;
  const wrapped = publicEncrypt(
    { key: createPublicKey(certificate), padding, oaepHash: is11 ? 'sha256' : 'sha1' },
    key,
  );
  const value = (octets: Buffer) =>
    `<xenc:CipherData><xenc:CipherValue>${octets.toString('base64')}</xenc:CipherValue></xenc:CipherData>`;
  const hashes = is11
    ? `<ds:DigestMethod Algorithm="${algorithms.sha256}"/><xenc11:MGF xmlns:xenc11="http://www.w3.org/2009/xmlenc11#" Algorithm="${algorithms.mgf1Sha256}"/>`
    : '';
  return (
    `<saml:EncryptedAssertion ${SAML}><xenc:EncryptedData xmlns:xenc="http://www.w3.org/2001/04/xmlenc#"` +
    ` Type="http://www.w3.org/2001/04/xmlenc#Element"><xenc:EncryptionMethod Algorithm="${algorithm}"/>` +
    `<ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><xenc:EncryptedKey>` +
    `<xenc:EncryptionMethod Algorithm="${transport}">${hashes}</xenc:EncryptionMethod>` +
    `${value(wrapped)}</xenc:EncryptedKey></ds:KeyInfo>` +
    `${value(data)}</xenc:EncryptedData></saml:EncryptedAssertion>`
  );
}
