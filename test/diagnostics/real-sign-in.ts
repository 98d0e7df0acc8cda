// A person at the sign-in pages: gives what each page asks for, as far as this person has it, until the application is called back or
// no page goes on.
import * as jose from 'jose';
import { generateSync } from 'otplib';
import { parseAttestation } from '../../src/people/mfa/factors/webauthn-ceremony.ts';
import { aConnection, callbackOf } from '../federation/support.ts';
import { softAuthenticator } from '../mfa/authenticator.ts';
import { aUser, PASSWORD } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { textOf, unescapeHtml } from '../support/pages/html.ts';
import { type DirectoryEntry, startDirectory, type TestDirectory } from '../support/upstream/directory.ts';
import { type OidcUpstream, startOidcUpstream } from '../support/upstream/oidc-upstream.ts';

const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const SHORT = 'aB3$xY9!q';
const NEW_PASSWORD = 'seven brown owls under a bridge';

export interface PersonPlan {
  email: 'verified' | 'unverified' | 'none';
  roles: string[];
  isActive: boolean;
  password: 'long' | 'short' | 'temporary' | 'none';
  totp: boolean;
  /** `security-key`: one that cannot verify its user. */
  passkey: 'none' | 'passkey' | 'security-key';
  lockedBy: 'nothing' | 'username' | 'email';
  department: string | undefined;
  /** Where the person can sign in beside the password and passkey of this server. */
  from: 'nowhere' | 'connection' | 'required-connection' | 'directory';
  /** What the directory says about a person who is linked to it. */
  inDirectory: 'fine' | 'disabled' | 'must-change' | 'gone';
  language: 'en' | 'de';
}

/** Where people of other servers sign in. */
export interface Elsewhere {
  upstream: OidcUpstream;
  directory: TestDirectory;
  stop(): Promise<void>;
}

export const CONNECTIONS = { connection: 'corp', 'required-connection': 'staff', directory: 'directory' } as const;
/** Users with an address of this domain sign in at the connection `staff` only. */
const STAFF_DOMAIN = 'staff.example.com';
const BASE = 'CN=Users,DC=corp,DC=example,DC=com';
const SERVICE = `CN=search,${BASE}`;
const DIRECTORY_PASSWORD = 'directory pass';

/** A user with a verified address and a long password. */
export const PLAIN: PersonPlan = {
  email: 'verified',
  roles: [],
  isActive: true,
  password: 'long',
  totp: false,
  passkey: 'none',
  lockedBy: 'nothing',
  department: undefined,
  from: 'nowhere',
  inDirectory: 'fine',
  language: 'en',
};

export interface Person {
  id: string;
  username: string;
  /** What the person types: the name that is locked, if one is. */
  login: string;
  password: string | undefined;
  /** The secret of the authenticator app. */
  totp: string | undefined;
  passkey: ReturnType<typeof softAuthenticator> | undefined;
  verifies: boolean;
  /** The connection at which the person signs in, and the subject there. */
  upstream: { connection: string; subject: string } | undefined;
  /** The server accepts no other way. */
  mustUseConnection: boolean;
  isInDirectory: boolean;
  /** The password of this server. */
  ownPassword: string | undefined;
  language: string;
}

/** Connects two identity providers and a directory, none of which creates accounts. */
export async function startElsewhere(idp: TestIdp): Promise<Elsewhere> {
  const { connection, directory: ldap, 'required-connection': required } = CONNECTIONS;
  const upstream = await startOidcUpstream([callbackOf(idp, connection), callbackOf(idp, required)]);
  const { issuer, clientId: client_id, clientSecret: client_secret } = upstream;
  await aConnection(idp, { id: connection, name: 'Example Corp', issuer, client_id, client_secret });
  await aConnection(
    idp,
    {
      id: required,
      name: 'Staff',
      issuer,
      client_id,
      client_secret,
      domains: [STAFF_DOMAIN],
      required_for_domains: true,
    },
    { proven: true },
  );
  const directory = await startDirectory([{ dn: SERVICE, password: 'search-secret', attributes: {} }]);
  await aConnection(idp, {
    id: ldap,
    kind: 'ldap',
    preset: 'active-directory',
    name: 'Example Directory',
    url: directory.url,
    base_dn: BASE,
    bind_dn: SERVICE,
    bind_password: 'search-secret',
  });
  return {
    upstream,
    directory,
    stop: async () => {
      await upstream.stop();
      await directory.stop();
    },
  };
}

let people = 0;

/** Creates the person of this plan. */
export async function aPersonOf({ services }: TestIdp, plan: PersonPlan, elsewhere?: Elsewhere): Promise<Person> {
  people += 1;
  const { accounts, credentials, db, lockout, mfa, roles, config } = services;
  const username = `someone${people}`;
  const domain = plan.from === 'required-connection' ? STAFF_DOMAIN : 'example.com';
  const email = plan.email === 'none' ? undefined : `someone${people}@${domain}`;
  const profile = {
    username,
    name: 'Ann Example',
    givenName: 'Ann',
    familyName: 'Example',
    email,
    emailVerified: plan.email === 'verified',
    locale: plan.language,
    ...(plan.department !== undefined && { attributes: { department: plan.department } }),
  };
  const { account } = await aUser(services, { ...profile, mustChange: plan.password === 'temporary' });
  if (plan.password === 'none') await db.passwordCredential.deleteMany({ where: { userId: account.id } });
  const device = plan.passkey === 'none' ? undefined : softAuthenticator();
  const verifies = plan.passkey === 'passkey';
  if (device) {
    const ceremony = { origin: config.issuerUrl.origin, rpId: config.issuerUrl.hostname, userVerified: verifies };
    const { challenge } = await mfa.passkeys.registrationOptions(account);
    const answer = parseAttestation(device.create({ challenge, ...ceremony }));
    if (!answer) throw new Error('the device gave no answer');
    await mfa.passkeys.register(account, answer, { challenge, name: 'Key' });
  }
  if (plan.totp) await mfa.totp.importSecret(account.id, SECRET);
  // Eight characters suffice while the account has a second factor.
  if (plan.password === 'short') {
    if (!plan.totp && !device) await mfa.totp.importSecret(account.id, SECRET);
    const result = await credentials.setPassword(account, SHORT);
    if (result !== 'ok') throw new Error(`the password was rejected: ${JSON.stringify(result)}`);
    if (!plan.totp && !device) await mfa.totp.remove(account.id);
  }
  await roles.setRoles(account.id, plan.roles);
  const login = plan.lockedBy === 'email' ? email : username;
  if (plan.lockedBy !== 'nothing' && login)
    for (let attempt = 0; attempt < 6; attempt += 1)
      await lockout.attempt({ login, accountId: account.id, address: `192.0.2.${attempt}` }, async () => ({
        isRight: false,
      }));
  if (!plan.isActive) await accounts.setActive(account.id, false);
  const upstream = elsewhere && (await linkedOf(services, account, plan, elsewhere));
  const typed = { long: PASSWORD, temporary: PASSWORD, short: SHORT, none: undefined }[plan.password];
  // A directory checks what the password form gets.
  const isInDirectory = plan.from === 'directory';
  return {
    upstream: plan.from === 'directory' ? undefined : upstream,
    mustUseConnection: plan.from === 'required-connection',
    language: plan.language,
    id: account.id,
    username,
    login: login ?? username,
    isInDirectory,
    password: typed,
    ownPassword: typed,
    totp: plan.totp ? SECRET : undefined,
    passkey: device,
    verifies,
  };
}

/** Links the person to where the plan says; the directory has the profile that is stored here. */
async function linkedOf(
  { identities }: TestIdp['services'],
  { id, username, email }: { id: string; username: string; email: string | null },
  { from, inDirectory, department }: PersonPlan,
  { directory }: Elsewhere,
): Promise<Person['upstream']> {
  if (from === 'nowhere') return undefined;
  const connection = CONNECTIONS[from];
  const number = Number(username.replace('someone', ''));
  const hex = number.toString(16).padStart(8, '0');
  const subject = from === 'directory' ? `${hex}-0000-0000-0000-000000000000` : `subject-of-${username}`;
  await identities.link({ userId: id, connectionId: connection, subject, label: username }, { actorId: id });
  if (from === 'directory' && inDirectory !== 'gone') {
    const guid = Buffer.alloc(16);
    guid.writeUInt32LE(number);
    const rejection = { fine: undefined, disabled: '533', 'must-change': '773' }[inDirectory];
    const entry: DirectoryEntry = {
      dn: `CN=${username},${BASE}`,
      password: DIRECTORY_PASSWORD,
      attributes: {
        sAMAccountName: [username],
        displayName: ['Ann Example'],
        givenName: ['Ann'],
        sn: ['Example'],
        objectClass: ['user'],
        objectCategory: ['person'],
        objectGUID: [guid],
        userAccountControl: [inDirectory === 'disabled' ? '514' : '512'],
        ...(email !== null && { mail: [email] }),
        ...(department !== undefined && { department: [department] }),
        ...(inDirectory === 'must-change' && { pwdLastSet: ['0'] }),
      },
    };
    directory.entries.push(rejection === undefined ? entry : { ...entry, rejection });
  }
  return { connection, subject };
}

/** How a sign-in ends: the page at which it cannot go on, or what was sent to the application. */
export type Ending = { page: Page } | { callback: URL } | { posted: Record<string, string>; to: string };

let addresses = 0;

/** Of a network of its own, so that no limit of an address counts. */
export function anAddress(): string {
  addresses += 1;
  return `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;
}

export function aBrowser({ issuer }: TestIdp, language = 'en'): HttpClient {
  return httpClient(issuer, { headers: { 'x-forwarded-for': anAddress(), 'accept-language': language } });
}

/** Opens the address, and goes on as far as this person can. */
export async function goThrough(
  idp: TestIdp,
  person: Person,
  url: string,
  {
    isThere = () => false,
    browser = aBrowser(idp, person.language),
    isLocalAccepted = true,
    upstream,
  }: { isThere?(url: string): boolean; browser?: HttpClient; isLocalAccepted?: boolean; upstream?: OidcUpstream },
): Promise<Ending> {
  if (person.isInDirectory) person.password = isLocalAccepted ? person.ownPassword : DIRECTORY_PASSWORD;
  person.password ??= person.isInDirectory ? DIRECTORY_PASSWORD : undefined;
  if (upstream) upstream.user = { sub: person.upstream?.subject ?? 'a stranger' };
  let page = await browser.follow(await browser.get(url), isThere);
  const seen = new Map<string, number>();
  for (;;) {
    if (page.location) return { callback: new URL(page.location) };
    const saml = page.forms.find(({ fields }) => 'SAMLResponse' in fields);
    if (saml) return { posted: saml.fields, to: saml.action };
    const step = `${page.status} ${textOf(page.text)}`;
    const times = (seen.get(step) ?? 0) + 1;
    seen.set(step, times);
    if (times > 2) return { page };
    const next = await answer(idp, browser, person, page, { isLocalAccepted, upstream });
    if (!next) return { page };
    page = await browser.follow(next, isThere);
  }
}

/** Sends the form of this page; undefined where the person has nothing that it asks for. */
async function answer(
  idp: TestIdp,
  browser: HttpClient,
  person: Person,
  page: Page,
  { isLocalAccepted, upstream }: { isLocalAccepted: boolean; upstream: OidcUpstream | undefined },
): Promise<Page | undefined> {
  // The limits of the password do not stop a passkey.
  const isLocked = page.status === 429;
  if (page.status !== 200 && !isLocked) return undefined;
  const { db } = idp.services;
  const saved = /class="codes"[\s\S]*class="btn btn-primary" href="([^"]*)"/.exec(page.text)?.[1];
  if (saved) return browser.get(unescapeHtml(saved));
  const of = (end: string) => page.forms.find(({ action }) => action.endsWith(end));
  if (page.text.includes('autosubmit')) return browser.submit(page);
  if (of('/consent')) return browser.submit(page, {}, { form: '/consent', button: 'decision' });
  if (page.forms.some(({ buttons }) => buttons.some(({ name }) => name === 'confirm')))
    return browser.submit(page, {}, { button: 'confirm' });
  if (of('/new-password')) {
    person.password = NEW_PASSWORD;
    person.ownPassword = NEW_PASSWORD;
    return browser.submit(page, { password: NEW_PASSWORD }, { form: '/new-password' });
  }
  if (of('/keep-factors')) return browser.submit(page, {}, { form: '/keep-factors' });
  const connection = person.upstream && `/connections/${person.upstream.connection}`;
  const toConnection = async () => {
    if (!upstream || !person.upstream || !connection) return undefined;
    if (!page.forms.some(({ action }) => action.includes(connection))) return undefined;
    return browser.submit(page, {}, { form: connection });
  };
  if (person.mustUseConnection || !isLocalAccepted) {
    const there = await toConnection();
    if (there) return there;
  }
  if (of('/identifier') && person.password && !isLocked)
    return browser.submit(page, { username: person.login }, { form: '/identifier' });
  if (of('/password') && person.password && !isLocked)
    return browser.submit(page, { username: person.login, password: person.password }, { form: '/password' });
  // Without a password, only a passkey that verifies its user signs in.
  if (of('/passkey') && person.passkey && (person.verifies || ceremonyOf(page, '/passkey').mode !== 'autofill')) {
    const { challenge } = ceremonyOf(page, '/passkey');
    const { origin, hostname: rpId } = new URL(idp.issuer);
    const response = person.passkey.get({
      challenge,
      origin,
      rpId,
      userHandle: person.id,
      userVerified: person.verifies,
    });
    return browser.submit(page, { response }, { form: '/passkey' });
  }
  const there = await toConnection();
  if (there) return there;
  if (of('/code')) {
    if (!person.totp) return undefined;
    await db.totpCredential.updateMany({ where: { userId: person.id }, data: { lastStep: 0n } });
    return browser.submit(page, { code: generateSync({ secret: person.totp }) }, { form: '/code' });
  }
  if (of('/enrol-totp')) {
    const secret = /<code>([A-Z2-7 ]{16,})<\/code>/.exec(page.text)?.[1]?.replaceAll(' ', '') ?? '';
    person.totp = secret;
    return browser.submit(page, { code: generateSync({ secret }) }, { form: 'enrol-totp' });
  }
  if (of('/enrol-passkey')) {
    const device = softAuthenticator();
    const { origin, hostname: rpId } = new URL(idp.issuer);
    const { challenge } = ceremonyOf(page, '/enrol-passkey');
    person.passkey = device;
    person.verifies = true;
    const response = device.create({ challenge, origin, rpId });
    return browser.submit(page, { response }, { form: '/enrol-passkey' });
  }
  return undefined;
}

function ceremonyOf(page: Page, action: string): { mode: string; challenge: string } {
  const form = [...page.text.matchAll(/<form\b[^>]*>/g)]
    .map(([tag]) => tag)
    .find((tag) => tag.includes(`${action}"`) && tag.includes('data-webauthn'));
  const attribute = (name: string) => unescapeHtml(new RegExp(`${name}="([^"]*)"`).exec(form ?? '')?.[1] ?? '');
  const { challenge = '' } = JSON.parse(attribute('data-options') || '{}') as { challenge?: string };
  return { mode: attribute('data-webauthn'), challenge };
}

/** One key for all clients that have one: making it costs more than a sign-in. */
export const clientKey = await jose.generateKeyPair('ES256', { extractable: true });
export const clientJwk = {
  ...(await jose.exportJWK(clientKey.publicKey)),
  kty: 'EC' as const,
  kid: 'one',
  use: 'sig',
  alg: 'ES256',
};
