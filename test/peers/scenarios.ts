// What is tried with each pair of an upstream and a downstream. Each scenario begins in a new browser and throws when something
// differs from what a user expects; it returns what is worth a note.
import { resultsOf } from '../logout/support/browser-steps.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { textOf } from '../support/pages/html.ts';
import type { Gatehouse } from './gatehouse.ts';
import { type Application, type Downstream, person, STAFF, type Upstream } from './peer.ts';
import { withTotp } from './second-factor.ts';
import { open, travel } from './travel.ts';

export interface Pair {
  gatehouse: Gatehouse;
  connectionId: string;
  upstream: Upstream;
  downstream: Downstream;
}

export const local = { username: 'local-user', password: 'correct horse battery staple' };
const MFA = ['urn:gatehouse:acr:mfa', 'https://refeds.org/profile/mfa'];

/** A sign-in at the application over the upstream; comes back signed in, with the role and the group of its group there. */
export async function signsIn(pair: Pair): Promise<string> {
  const browser = httpClient();
  const { plain } = pair.downstream;
  await signIn(pair, browser, plain);
  const account = await accountOf(pair);
  const { roles = [], groups = [] } = account ?? {};
  if (pair.upstream.connection.role_mappings) {
    if (!roles.includes(STAFF)) throw new Error('its role is missing');
    if (!groups.some(({ name }) => name === STAFF)) throw new Error('its group is missing');
    const received = plain.groupsOn?.(await open(browser, plain.url));
    if (received && !received.includes(STAFF)) throw new Error(`the app received the groups ${received}`);
  }
  if (account?.email !== (pair.upstream.email ?? person.email)) throw new Error(`its address is ${account?.email}`);
  return `as ${account?.email ?? account?.username}`;
}

/** The sign-out of the application ends the sessions here and at the upstream. */
export async function signsOutAtApplication(pair: Pair): Promise<string> {
  const { downstream } = pair;
  const browser = httpClient();
  const session = await signIn(pair, browser, downstream.plain);
  await confirmed(browser, await open(browser, downstream.plain.signOutUrl));
  return expectSignedOut(pair, browser, session);
}

/** The sign-out of the portal ends the sessions of the application and at the upstream, with one line each. */
export async function signsOutAtPortal(pair: Pair): Promise<string> {
  const browser = httpClient();
  const session = await signIn(pair, browser, pair.downstream.plain);
  const page = await confirmed(browser, await open(browser, `${pair.gatehouse.issuer}/logout`));
  const lines = Object.entries(resultsOf(page)).map(([name, result]) => `${name}: ${result}`);
  return [await expectSignedOut(pair, browser, session), ...lines].join('; ');
}

/** The user signs out at the upstream: the sessions here and of the application end. */
export async function signsOutAtUpstream(pair: Pair): Promise<string> {
  const { upstream } = pair;
  if (!upstream.signOut) return 'not supported there';
  const browser = httpClient();
  const session = await signIn(pair, browser, pair.downstream.plain);
  const page = await upstream.signOut(browser);
  return `${await expectSignedOut(pair, browser, session)}; ends at ${new URL(page.url).pathname}`;
}

/** A second application demands a second factor: it is proven at the upstream where that can do it, else here without going upstream. */
export async function stepsUp(pair: Pair): Promise<string> {
  const { upstream, downstream, gatehouse } = pair;
  const browser = httpClient();
  await signIn(pair, browser, downstream.plain);
  if (upstream.withSecondFactor)
    return upstream.withSecondFactor(async (prove) => {
      const asked = await open(browser, downstream.demanding.url);
      if (asked.url.startsWith(gatehouse.issuer)) throw new Error(`not asked at the upstream: ${described(asked)}`);
      return `${await levelAfter(pair, await prove(browser, asked))} by the upstream`;
    });
  const account = await accountOf(pair);
  if (!account) throw new Error('no account');
  return withTotp(gatehouse, account.id, async (prove) => {
    const asked = await open(browser, downstream.demanding.url);
    if (!asked.url.startsWith(gatehouse.issuer)) throw new Error(`not asked here: ${described(asked)}`);
    return levelAfter(pair, await prove(browser, asked));
  });
}

async function levelAfter(pair: Pair, page: Page): Promise<string> {
  const { demanding } = pair.downstream;
  await expectSignedIn(pair, demanding, page);
  const level = demanding.levelOn(page);
  if (level !== undefined && !MFA.includes(level)) throw new Error(`the app got ${level}`);
  return level ?? 'accepted';
}

/** The upstream signs with a new key. */
export async function acceptsNewKey(pair: Pair): Promise<string> {
  const { upstream, gatehouse, connectionId } = pair;
  if (!upstream.rollOver) return 'not tried';
  const readAgain = async () => {
    const connection = await gatehouse.services.connections.get(connectionId);
    await gatehouse.services.connectionDocuments.readNow(connection);
  };
  // The daily job reads while the new key is published and not used yet.
  await upstream.rollOver(readAgain);
  await signIn(pair, httpClient(), pair.downstream.plain);
  return 'signs in';
}

/** The upstream goes down during a sign-in: the page says so, and a local sign-in works. Last, because it does not come back. */
export async function survivesOutage(pair: Pair): Promise<string> {
  const { upstream, downstream } = pair;
  const page = upstream.signIn ? await signInDuringOutage(pair) : await passwordDuringOutage(pair);
  const browser = httpClient();
  const form = await open(browser, downstream.plain.url);
  const { username, password } = local;
  const inside = await travel(browser, await browser.submit(form, { username, password }));
  if (downstream.plain.userOn(inside) === undefined) throw new Error(`no local sign-in: ${described(inside)}`);
  return `${page ? `${page.status} “${headingOf(page)}”` : 'the browser finds no server'}; a local sign-in works`;
}

/** An OpenID Connect upstream goes down before the code is redeemed; after its answer a SAML upstream is not needed any more. */
async function signInDuringOutage({ upstream, downstream, connectionId }: Pair): Promise<Page | undefined> {
  const browser = httpClient();
  const atUpstream = await pressConnection(browser, await open(browser, downstream.plain.url), connectionId);
  const callback = `/upstream/${connectionId}/callback`;
  const get: HttpClient['get'] = async (url, options) => {
    if (new URL(url).pathname === callback) await upstream.stop();
    return browser.get(url, options);
  };
  if (upstream.kind === 'oidc') return upstream.signIn?.({ ...browser, get }, atUpstream);
  await upstream.stop();
  return upstream.signIn?.(browser, atUpstream).catch(() => undefined);
}

async function passwordDuringOutage({ upstream, downstream }: Pair): Promise<Page> {
  await upstream.stop();
  const browser = httpClient();
  const { username, password } = person;
  return browser.submit(await open(browser, downstream.plain.url), { username, password });
}

/** Signs in at the application, and returns the new sessions here. */
async function signIn(pair: Pair, browser: HttpClient, application: Application): Promise<string[]> {
  const { upstream, connectionId } = pair;
  const before = await sessionsOf(pair);
  let page = await open(browser, application.url);
  if (!page.url.startsWith(pair.gatehouse.issuer)) throw new Error(`not at the sign-in page: ${described(page)}`);
  if (upstream.signIn) {
    page = await pressConnection(browser, page, connectionId);
    if (page.url.startsWith(pair.gatehouse.issuer)) throw new Error(`not at the upstream: ${described(page)}`);
    page = await upstream.signIn(browser, page);
  } else
    page = await travel(browser, await browser.submit(page, { username: person.username, password: person.password }));
  await expectSignedIn(pair, application, page);
  return (await sessionsOf(pair)).filter((uid) => !before.includes(uid));
}

async function sessionsOf(pair: Pair): Promise<string[]> {
  const account = await accountOf(pair);
  return account ? (await pair.gatehouse.services.sessions.list(account.id)).map(({ uid }) => uid) : [];
}

async function pressConnection(browser: HttpClient, page: Page, connectionId: string): Promise<Page> {
  return travel(browser, await browser.submit(page, {}, { form: `/connections/${connectionId}` }));
}

async function expectSignedIn(pair: Pair, application: Application, page: Page): Promise<void> {
  const user = application.userOn(page);
  const account = await accountOf(pair);
  if (!account || user === undefined || ![account.id, account.email, account.username].includes(user))
    throw new Error(`${application.name} is signed in as ${user}: ${described(page)}`);
}

/** The confirmation that a sign-out without a proof of its origin asks for. */
async function confirmed(browser: HttpClient, page: Page): Promise<Page> {
  const form = page.forms.find(({ buttons }) => buttons.some(({ name }) => name === 'logout'));
  return form ? travel(browser, await browser.submit(page, { logout: 'yes' }, { form: form.action })) : page;
}

/** Neither the application nor this server has a session, and the upstream asks for the password again. */
async function expectSignedOut(pair: Pair, browser: HttpClient, sessions: readonly string[]): Promise<string> {
  const { gatehouse, downstream, connectionId } = pair;
  if (sessions.length !== 1) throw new Error(`${sessions.length} sessions began`);
  await soon(async () => {
    if ((await sessionsOf(pair)).includes(sessions[0] ?? '')) throw new Error('the session is left at Gatehouse');
  });
  const page = await soon(async () => {
    const opened = await open(browser, downstream.plain.url);
    if (opened.url.startsWith(gatehouse.issuer)) return opened;
    throw new Error(`the session of the application is left: ${described(opened)}`);
  });
  if (pair.upstream.kind === 'ldap') return 'signed out';
  const asked = await pressConnection(browser, page, connectionId);
  if (downstream.plain.userOn(asked) !== undefined) throw new Error('the session at the upstream is left');
  return 'signed out everywhere';
}

/** Who is notified by a server call needs a moment: tries for five seconds. */
async function soon<Result>(attempt: () => Promise<Result>): Promise<Result> {
  for (let tries = 1; tries < 20; tries += 1) {
    try {
      return await attempt();
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }
  return attempt();
}

async function accountOf({ gatehouse: { services }, connectionId }: Pair) {
  const identity = await services.db.asStored.externalIdentity.findFirst({ where: { connectionId } });
  return identity ? services.accounts.find(identity.userId) : undefined;
}

function headingOf(page: Page): string {
  const alert = /<(\w+)[^>]*role="alert"[^>]*>([\s\S]*?)<\/\1>/.exec(page.text)?.[2];
  return textOf(alert ?? /<h1[^>]*>([\s\S]*?)<\/h1>/.exec(page.text)?.[1] ?? '');
}

function described(page: Page): string {
  return `${page.status} ${page.url.slice(0, 200)} ${textOf(page.text).slice(0, 500)}`;
}
