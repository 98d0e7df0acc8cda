// RequestedAuthnContext (SAML Core 3.3.2.2.1) in all combinations: who signs in and how, what is requested, with and without a session, with
// ForceAuthn and IsPassive. A user with a way to meet the request is led there; any other gets NoAuthnContext, without a loop.
// `npm run test:long` tries all 900. `npm test` tries each request in each mode, with one of the users.
import { generateSync } from 'otplib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parseAttestation } from '../../../src/people/mfa/factors/webauthn-ceremony.ts';
import { contextClasses } from '../../../src/protocols/saml/xml/names.ts';
import { aConnection, accountOf, anUpstream, type Connected } from '../../federation/support.ts';
import { softAuthenticator } from '../../mfa/authenticator.ts';
import { aLiveSp, answerIn, type LiveSp, redirect } from '../../saml/live.ts';
import { aUser, PASSWORD } from '../../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../../support/http.ts';
import { startIdp, type TestIdp } from '../../support/idp.ts';
import { isLongRun } from '../../support/long-run.ts';
import { textOf } from '../../support/pages/html.ts';
import { startDirectory, type TestDirectory } from '../../support/upstream/directory.ts';

const { password, mfa, passkey } = contextClasses;
const classes = 'urn:oasis:names:tc:SAML:2.0:ac:classes:';
const [plain, x509, smartcard, unspecified] = ['Password', 'X509', 'Smartcard', 'unspecified'].map(
  (name) => classes + name,
) as [string, string, string, string];
const SECRET = 'JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP';
const BASE = 'ou=people,dc=example,dc=com';

let idp: TestIdp;
let directory: TestDirectory;
let corp: Connected;
let sp: LiveSp;
let count = 0;

beforeAll(async () => {
  idp = await startIdp();
  const { settings } = idp.services;
  await settings.set('rate_limits', false);
  // Nobody sets up a factor on the way.
  await settings.set('mfa', 'off');
  await settings.reload();
  directory = await startDirectory([]);
  await aConnection(idp, {
    id: 'directory',
    kind: 'ldap',
    name: 'Directory',
    url: directory.url,
    base_dn: BASE,
    create_users: true,
  });
  corp = await anUpstream(idp);
  sp = await aLiveSp(idp);
});
afterAll(async () => {
  await directory?.stop();
  await corp?.remove();
  await idp?.stop();
});

type Way = 'password' | 'passkey' | 'connection';
type Has = 'password' | 'directory' | 'connection' | 'passkey' | 'app';

interface Person {
  has: Has[];
  username: string;
  password: string;
  subject: string;
  usePasskey(browser: HttpClient, page: Page): Promise<Page>;
}

async function aPerson(has: Has[]): Promise<Person> {
  count += 1;
  const subject = `every-${count}`;
  const { services, issuer } = idp;
  const device = softAuthenticator();
  const ceremony = { origin: new URL(issuer).origin, rpId: new URL(issuer).hostname };
  const secret = has.includes('directory') ? 'directory pass' : PASSWORD;
  const account = await anAccount(has, subject, secret);
  if (has.includes('passkey')) {
    const { challenge } = await services.mfa.passkeys.registrationOptions(account);
    const answer = parseAttestation(device.create({ challenge, ...ceremony }));
    if (!answer) throw new Error('the device gave no answer');
    await services.mfa.passkeys.register(account, answer, { challenge, name: 'Phone' });
  }
  if (has.includes('app')) await services.mfa.totp.importSecret(account.id, SECRET);
  return {
    has,
    username: account.username,
    password: secret,
    subject,
    async usePasskey(browser, page) {
      const options = /data-options="([^"]*)"/.exec(page.text)?.[1]?.replaceAll('&quot;', '"') ?? '{}';
      const { challenge } = JSON.parse(options) as { challenge: string };
      const response = device.get({ challenge, userHandle: account.id, ...ceremony });
      return browser.follow(await browser.submit(page, { response }, { form: '/passkey' }));
    },
  };
}

async function anAccount(has: Has[], subject: string, secret: string) {
  const { services } = idp;
  const isLocal = !has.includes('directory') && !has.includes('connection');
  const browser = httpClient(idp.issuer);
  const form = isLocal ? undefined : await send(browser, 'exact', [unspecified]);
  if (has.includes('directory') && form) {
    const entry = { uid: [subject], mail: [`${subject}@corp.example`], cn: ['Ann'], entryUUID: [subject] };
    directory.entries.push({ dn: `uid=${subject},${BASE}`, password: secret, attributes: entry });
    await browser.follow(await browser.submit(form, { username: subject, password: secret }));
  } else if (form) {
    corp.upstream.user = { sub: subject };
    await browser.follow(await browser.submit(form, {}, { form: `/connections/${corp.connection}` }));
  }
  const connection = has.includes('directory') ? 'directory' : corp.connection;
  const account = isLocal ? (await aUser(services)).account : await accountOf(idp, connection, subject);
  if (!account) throw new Error('no account');
  if (!isLocal && has.includes('password')) await services.credentials.setPassword(account, secret);
  if (isLocal && !has.includes('password'))
    await services.db.passwordCredential.deleteMany({ where: { userId: account.id } });
  return account;
}

/** Up to the first page, or the Response. */
async function send(browser: HttpClient, comparison: string, requested: string[], attributes = ''): Promise<Page> {
  const names = requested.map((name) => `<saml:AuthnContextClassRef>${name}</saml:AuthnContextClassRef>`).join('');
  const body = `<samlp:RequestedAuthnContext Comparison="${comparison}">${names}</samlp:RequestedAuthnContext>`;
  return browser.follow(await redirect(browser, sp.request({ body, attributes })));
}

const hasPassword = ({ has }: Person) => has.includes('password') || has.includes('directory');

/** Does what the pages ask for, beginning with this way, until the Response. */
async function goOn(person: Person, browser: HttpClient, first: Page, begin: Way): Promise<Page> {
  let page = first;
  let way: Way | undefined = begin;
  for (let steps = 0; steps < 6 && answerIn(page) === undefined; steps += 1) {
    const takesPassword = page.text.includes('autocomplete="current-password"');
    const takesPasskey = page.text.includes('data-options=');
    if (way === 'connection' && page.text.includes('/connections/')) {
      corp.upstream.quirks = { idToken: { auth_time: Math.floor(Date.now() / 1000) } };
      corp.upstream.user = { sub: person.subject };
      page = await browser.follow(await browser.submit(page, {}, { form: `/connections/${corp.connection}` }));
    } else if (takesPasskey && (way === 'passkey' || !takesPassword)) page = await person.usePasskey(browser, page);
    else if (takesPassword && hasPassword(person)) {
      const { username, password: secret } = person;
      page = await browser.follow(await browser.submit(page, { username, password: secret }, { form: '/password' }));
    } else if (page.text.includes('autocomplete="one-time-code"')) {
      // A code works once, and the test has no time to wait for the next.
      await idp.services.db.totpCredential.updateMany({ data: { lastStep: 0 } });
      page = await browser.follow(await browser.submit(page, { code: generateSync({ secret: SECRET }) }));
    } else break;
    way = undefined;
  }
  if (answerIn(page) === undefined) throw new Error(`no Response: ${page.status} ${textOf(page.text).slice(0, 400)}`);
  return page;
}

const statusOf = (page: Page) =>
  /[^:"]+(?="(?:><\/samlp:StatusCode>)*<?\/)/.exec(lastCode(page))?.[0] ?? lastCode(page);
const lastCode = (page: Page) =>
  [...(answerIn(page) ?? '').matchAll(/StatusCode Value="urn:oasis:names:tc:SAML:2.0:status:(\w+)"/g)].at(-1)?.[1] ??
  '';
const classOf = (page: Page) => /AuthnContextClassRef>([^<]+)/.exec(answerIn(page) ?? '')?.[1] ?? '';

const strength = [password, mfa, passkey] as string[];
const requests: [string, string[]][] = [
  ['exact', [plain]],
  ['exact', [password]],
  ['exact', [mfa]],
  ['exact', [passkey]],
  ['exact', [x509]],
  ['exact', [unspecified]],
  ['exact', [smartcard, password]],
  ['minimum', [password]],
  ['minimum', [mfa]],
  ['maximum', [plain]],
  ['maximum', [mfa]],
  ['maximum', [unspecified]],
  ['better', [password]],
  ['better', [passkey]],
  ['better', [unspecified]],
];

/** The classes that are true of a user who has proven these, weakest first. */
function classesOf(proven: Has[]): string[] {
  const known = proven.some((one) => one === 'password' || one === 'directory');
  const isTwo = proven.includes('passkey') || (proven.includes('app') && proven.length > 1);
  return [known && password, isTwo && mfa, proven.includes('passkey') && passkey].filter((one) => one !== false);
}

/** What the assertion may state; empty: nobody with these classes meets the request. */
function mayState(comparison: string, requested: string[], mine: string[]): string[] {
  const level = (name: string) =>
    name === unspecified
      ? -1
      : strength.indexOf(name === plain ? password : name) +
        (strength.includes(name === plain ? password : name) ? 0 : -9);
  const levels = requested.map(level).filter((one) => one >= -1);
  const anything = requested.includes(unspecified);
  if (comparison === 'exact')
    return requested.filter((name) => name === unspecified || mine.includes(name === plain ? password : name));
  if (levels.length === 0) return [];
  if (comparison === 'minimum')
    return [...mine.filter((name) => level(name) >= Math.min(...levels)), ...(anything ? [unspecified] : [])];
  if (comparison === 'better') return mine.filter((name) => level(name) > Math.max(...levels));
  return [...mine.filter((name) => level(name) <= Math.max(...levels)), ...(anything ? [unspecified] : [])];
}

const firstProof = (way: Way, person: Person): Has[] => {
  if (way === 'password') return [person.has.includes('directory') ? 'directory' : 'password'];
  return [way];
};

const people: [Has[], Way[]][] = [
  [['password'], ['password']],
  [['password', 'app'], ['password']],
  [
    ['password', 'passkey'],
    ['password', 'passkey'],
  ],
  [['passkey'], ['passkey']],
  [['directory'], ['password']],
  [['directory', 'app'], ['password']],
  [
    ['directory', 'passkey'],
    ['password', 'passkey'],
  ],
  [['connection'], ['connection']],
  [
    ['connection', 'password'],
    ['connection', 'password'],
  ],
  [
    ['connection', 'passkey'],
    ['connection', 'passkey'],
  ],
  [['connection', 'app'], ['connection']],
];

const modes = ['a new sign-in', 'a session', 'ForceAuthn in a session', 'IsPassive in a session'] as const;
const cases = people.map(([has, ways], index) => ({ has, ways, index }));

describe.each(cases)('a user with $has', ({ has, ways, index }) => {
  for (const way of ways) {
    for (const [at, mode] of modes.entries()) {
      const tried = requests.filter((_, number) => isLongRun || (number + index + at) % (2 * people.length) === 0);
      it(`gets what they can prove: ${way}, ${mode}`, async () => {
        const person = await aPerson(has);
        for (const [comparison, requested] of tried) {
          const what = `${comparison} ${requested.join(' ')}`;
          const browser = httpClient(idp.issuer);
          if (mode !== 'a new sign-in') await goOn(person, browser, await send(browser, 'exact', [unspecified]), way);
          const isPassive = mode === 'IsPassive in a session';
          const attributes = isPassive ? ' IsPassive="true"' : mode.startsWith('Force') ? ' ForceAuthn="true"' : '';
          const page = await send(browser, comparison, requested, attributes);
          const answer = isPassive ? page : await goOn(person, browser, page, way);
          const proven = isPassive ? firstProof(way, person) : has;
          const allowed = mayState(comparison, requested, classesOf(proven));
          const canEver = mayState(comparison, requested, classesOf(has)).length > 0;
          if (allowed.length > 0) {
            expect(statusOf(answer), what).toBe('Success');
            expect(allowed, what).toContain(classOf(answer));
          } else expect(statusOf(answer), what).toBe(isPassive && canEver ? 'NoPassive' : 'NoAuthnContext');
        }
      });
    }
  }
});

it('a passkey of one user and the directory password of another prove nothing together', async () => {
  const [first, second] = [await aPerson(['directory', 'passkey']), await aPerson(['directory'])];
  const browser = httpClient(idp.issuer);
  const asked = await first.usePasskey(browser, await send(browser, 'exact', [password]));
  expect(asked.text).toContain('autocomplete="current-password"');
  const { username, password: secret } = second;
  const answer = await browser.follow(
    await browser.submit(asked, { username, password: secret }, { form: '/password' }),
  );
  expect(classOf(answer)).toBe(password);
  expect(statusOf(await send(browser, 'exact', [mfa]))).toBe('NoAuthnContext');
});
