// A person at the sign-in pages: gives what each page asks for, as far as this person has it, until the application is called back or
// no page goes on.
import * as jose from 'jose';
import { generateSync } from 'otplib';
import { parseAttestation } from '../../src/mfa/factors/webauthn-input.ts';
import { softAuthenticator } from '../mfa/authenticator.ts';
import { aUser, PASSWORD } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import type { TestIdp } from '../support/idp.ts';
import { textOf, unescapeHtml } from '../support/pages/html.ts';

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
}

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
}

let people = 0;

/** Creates the person of this plan. */
export async function aPersonOf({ services }: TestIdp, plan: PersonPlan): Promise<Person> {
  people += 1;
  const { accounts, credentials, db, lockout, mfa, roles, config } = services;
  const username = `someone${people}`;
  const email = plan.email === 'none' ? undefined : `someone${people}@example.com`;
  const profile = {
    username,
    name: 'Ann Example',
    givenName: 'Ann',
    familyName: 'Example',
    email,
    emailVerified: plan.email === 'verified',
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
  const typed = { long: PASSWORD, temporary: PASSWORD, short: SHORT, none: undefined }[plan.password];
  return {
    id: account.id,
    username,
    login: login ?? username,
    password: typed,
    totp: plan.totp ? SECRET : undefined,
    passkey: device,
    verifies,
  };
}

/** How a sign-in ends: the page at which it cannot go on, or what was sent to the application. */
export type Ending = { page: Page } | { callback: URL } | { posted: Record<string, string>; to: string };

let addresses = 0;

/** A browser of its own network, so that no limit of an address counts. */
export function aBrowser({ issuer }: TestIdp): HttpClient {
  addresses += 1;
  const address = `10.${addresses >> 16}.${(addresses >> 8) & 255}.${addresses & 255}`;
  return httpClient(issuer, { headers: { 'x-forwarded-for': address, 'accept-language': 'en' } });
}

/** Opens the address, and goes on as far as this person can. */
export async function goThrough(
  idp: TestIdp,
  person: Person,
  url: string,
  { isThere = () => false, browser = aBrowser(idp) }: { isThere?(url: string): boolean; browser?: HttpClient },
): Promise<Ending> {
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
    const next = await answer(idp, browser, person, page);
    if (!next) return { page };
    page = await browser.follow(next, isThere);
  }
}

/** Sends the form of this page; undefined where the person has nothing that it asks for. */
async function answer(idp: TestIdp, browser: HttpClient, person: Person, page: Page): Promise<Page | undefined> {
  // The limits of the password do not stop a passkey.
  const isLocked = page.status === 429;
  if (page.status !== 200 && !isLocked) return undefined;
  const { db } = idp.services;
  const saved = /class="codes"[\s\S]*href="([^"]*)">I.ve saved/.exec(page.text)?.[1];
  if (saved) return browser.get(unescapeHtml(saved));
  const of = (end: string) => page.forms.find(({ action }) => action.endsWith(end));
  if (of('/consent')) return browser.submit(page, {}, { form: '/consent', button: 'Allow' });
  if (of('/new-password')) {
    person.password = NEW_PASSWORD;
    return browser.submit(page, { password: NEW_PASSWORD }, { form: '/new-password' });
  }
  if (of('/keep-factors')) return browser.submit(page, {}, { form: '/keep-factors' });
  if (of('/password') && person.password && !isLocked)
    return browser.submit(page, { username: person.login, password: person.password }, { form: '/password' });
  if (of('/passkey') && person.passkey) {
    const { mode, challenge } = ceremonyOf(page, '/passkey');
    // Without a password, only a passkey that verifies its user signs in.
    if (mode === 'autofill' && !person.verifies) return undefined;
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
