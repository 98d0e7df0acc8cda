// What broke at other servers that answer for a reverse proxy, tried at a website behind one: `npm test` has the small proxy of ./website.ts
// (test/forward-auth/attacks.test.ts), and test/peers/forward-auth.ts the real ones. This list is the table of contents: each attack names the
// reports that it comes from.
import http from 'node:http';
import { connect } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { MARKS } from '../../src/admin/applications/presets/proxies.ts';
import { JWT_HEADER } from '../../src/applications/fields/proxied-application.ts';
import type { Services } from '../../src/server/services.ts';
import { completeSignIn } from '../oidc/support.ts';
import type { TestUser } from './factories.ts';
import { type HttpClient, httpClient, type Page } from './http.ts';
import { openWebsite, type Received } from './website.ts';

/** Two websites behind a proxy of the same kind. Their backends answer with what they receive. */
export interface Attacked {
  issuer: string;
  services: Services;
  /** Its address is an IPv4 one. `/public/` is open to everyone, `/admin/` to nobody, and the rest to `user` and `attacker`. */
  site: string;
  /** At `wiki.localhost`, without rules for paths: open to both. */
  other: string;
  user: TestUser;
  attacker: TestUser;
}

interface Attack {
  title: string;
  /** CVE and GHSA numbers, and issues of other projects. */
  reports: readonly string[];
  /** What got through; nothing when the website is safe. */
  run(attacked: Attacked): Promise<unknown[]>;
}

const asProgram = { headers: { accept: 'application/json', 'sec-fetch-mode': 'cors' } };
const hostOf = (origin: string) => new URL(origin).host;
/** What the backend received; undefined where another answer came. */
function receivedOf(text: string): Received | undefined {
  const body = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
  return body.includes('"url":') ? JSON.parse(body) : undefined;
}

/** The answer to a request as it is written, which an HTTP client would not send. */
export async function sendRaw(origin: string, ...lines: string[]): Promise<string> {
  const { hostname, port } = new URL(origin);
  const socket = connect(Number(port), hostname.endsWith('localhost') ? '127.0.0.1' : hostname);
  socket.write(`${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`, 'latin1');
  return readText(socket);
}

/** Whether a backend, however it reads paths, could take this one for something else than a public one. */
function isOutsidePublic(url: string): boolean {
  const decoded = [url, decoded1(url), decoded1(decoded1(url))];
  const readings = decoded.flatMap((one) => [
    one,
    one.replaceAll(/[\\∕⁄∖⧸⧵¥₩／＼]/g, '/'),
    one.replaceAll(/;[^/]*/g, ''),
  ]);
  return readings.some((one) => !new URL(`http://x${one.replaceAll(/\/{2,}/g, '/')}`).pathname.startsWith('/public/'));
}

function decoded1(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Signed in to the site. */
async function signedIn({ site, user }: Attacked, at = site, who = user): Promise<HttpClient> {
  const browser = httpClient();
  const page = await openWebsite(browser, at, '/', who);
  if (receivedOf(page.text)?.headers['remote-user'] !== who.username)
    throw new Error(`not signed in: ${page.status} ${page.url} ${page.text}`);
  return browser;
}

const cookieAt = (browser: HttpClient, origin: string) => browser.cookies.headerFor(new URL(origin));
const isClosed = async (browser: HttpClient, origin: string) => {
  const page = await browser.get(`${origin}/`, asProgram);
  return page.status === 401 ? [] : [page.status, page.text];
};

/** The callback of a sign-in that its user has not followed yet. */
async function callbackOf(browser: HttpClient, origin: string, user: TestUser): Promise<string> {
  const { location } = await completeSignIn(browser, `${origin}/`, { user, redirectUri: `${origin}/.gatehouse/` });
  if (!location) throw new Error('there is no callback');
  return location;
}

const SPELLINGS = [...MARKS.map((mark) => `Remote${mark}User`), 'REMOTE_USER', 'remote-user', 'Remote-User'];
const FORGED = [...SPELLINGS, 'Remote-Groups', 'Remote_Groups', JWT_HEADER, 'X-Gatehouse_Jwt', 'X_Gatehouse-Jwt'];
const REDIRECTS = ['rd', 'redirect', 'redirect_uri', 'return_to', 'next', 'url', 'post_logout_redirect_uri', 'state'];
const ODD_PATHS = [
  ...[
    '/public/..%2fadmin/',
    '/public/%2e%2e/admin/',
    '/public/%2e%2e%2fadmin/',
    '/public/../admin/',
    '/public/./../admin/',
  ],
  ...['/public//../admin/', '/public/%5c../admin/', '/public/..%5cadmin/', '/public/..\\admin/', '/public/..;/admin/'],
  ...[
    '/public;/../admin/',
    '/public/%252e%252e%252fadmin/',
    '/public/%c0%ae%c0%ae%c0%afadmin/',
    '/public/%zz/../admin/',
  ],
  ...['/public/%00/../admin/', '/public/.%09./admin/', '//public/admin/', '/%70ublic/../admin/', '/PUBLIC/../admin/'],
  ...['/public%2f..%2fadmin/', '/public/%2f..%2f..%2fadmin/', '/public/%u002e%u002e/admin/', '/public/..%00/admin/'],
  ...[...'∕⁄∖⧸⧵¥₩／＼'].map((separator) => `/public/..${encodeURIComponent(separator)}admin/`),
];

export const attacks: readonly Attack[] = [
  {
    title: 'headers about the user that the browser sends, in any spelling, do not reach the website',
    reports: ['CVE-2026-39858', 'CVE-2026-54763', 'CVE-2026-88011', 'CVE-2025-64484'],
    async run(attacked) {
      const browser = await signedIn(attacked);
      const found: unknown[] = [];
      for (const cookie of [cookieAt(browser, attacked.site), 'a=b'])
        for (const path of ['/', '/public/'])
          for (const name of FORGED) {
            const headers = [`Host: ${hostOf(attacked.site)}`, `Cookie: ${cookie}`, `${name}: forged`];
            const answer = await sendRaw(attacked.site, `GET ${path} HTTP/1.1`, ...headers, `${name}: forged`);
            if (receivedOf(answer) && /"forged/.test(answer)) found.push(name, answer);
          }
      return found;
    },
  },
  {
    title: 'no session reaches a website: neither its own nor that of another port of its host; other cookies do',
    reports: ['RFC 6265 8.5'],
    async run(attacked) {
      const own = cookieAt(await signedIn(attacked), attacked.site);
      const [before, after] = ['a=b; gatehouse_apple=c', 'd="e f"'];
      const found: unknown[] = [];
      for (const path of ['/', '/public/'])
        for (const [sent, kept] of [
          [own, ''],
          [`${own}; ${after}`, after],
          [`${before}; gatehouse_app_8080=x; ${own}; __Host-gatehouse_app=y; ${after}`, `${before}; ${after}`],
        ]) {
          const headers = [`Host: ${hostOf(attacked.site)}`, `Cookie: ${sent}`];
          const answer = await sendRaw(attacked.site, `GET ${path} HTTP/1.1`, ...headers);
          const received = receivedOf(answer);
          if (!received || (received.headers.cookie ?? '') !== kept) found.push(sent, answer);
        }
      return found;
    },
  },
  {
    title: 'a Connection header takes no header of the user away',
    reports: ['HAProxy hands on what the header Connection names'],
    async run(attacked) {
      const cookie = cookieAt(await signedIn(attacked), attacked.site);
      const found: unknown[] = [];
      for (const names of ['Remote-User', `close, remote-user, ${JWT_HEADER}`]) {
        const headers = [`Host: ${hostOf(attacked.site)}`, `Cookie: ${cookie}`, `Connection: ${names}`];
        const answer = await sendRaw(attacked.site, 'GET / HTTP/1.1', ...headers);
        const received = receivedOf(answer)?.headers;
        const isWhole = received?.['remote-user'] === attacked.user.username && received['x-gatehouse-jwt'] !== '';
        if (received && (!isWhole || /remote/i.test(received.connection ?? ''))) found.push(names, received);
      }
      return found;
    },
  },
  {
    title: 'headers that describe another request, also twice, do not open a closed page',
    reports: ['CVE-2026-40575', 'CVE-2026-76835', 'CVE-2026-35051'],
    async run({ site }) {
      const host = hostOf(site);
      const families = [
        [`X-Forwarded-Uri: /public/`],
        [`X-Forwarded-Uri: /public/`, `X-Forwarded-Uri: /public/`],
        [`X-Forwarded-Prefix: /public`],
        [`X-Original-URL: ${site}/public/`, 'X-Original-Method: GET'],
        [`X-Original-URL: /public/`, 'X-Rewrite-URL: /public/', 'X-Original-URI: /public/'],
        [`X-Forwarded-Method: OPTIONS`, 'X-HTTP-Method-Override: OPTIONS'],
        [
          `X-Forwarded-Host: ${host}`,
          'X-Forwarded-Proto: http',
          `X-Forwarded-Uri: /public/`,
          'X-Forwarded-Method: GET',
        ],
        [`Forwarded: for=127.0.0.1;host=${host};proto=http`, `X-Forwarded-Path: /public/`],
        ['X_Forwarded_Uri: /public/', 'X-Forwarded_Uri: /public/', 'x-envoy-original-path: /public/'],
        ['X-Forwarded-Proto: https', 'X-Forwarded-Proto: http', 'X-Forwarded-Port: 443', 'X-Forwarded-Ssl: on'],
      ];
      const found: unknown[] = [];
      for (const family of families)
        for (const path of ['/', '/admin/']) {
          const answer = await sendRaw(site, `GET ${path} HTTP/1.1`, `Host: ${host}`, ...family);
          if (receivedOf(answer)) found.push(family, answer);
        }
      return found;
    },
  },
  {
    title: 'the website is told the address, scheme and host of a request by its proxy alone',
    reports: [],
    async run({ site }) {
      const sent = ['X-Forwarded-For: 203.0.113.9', 'X-Forwarded-Proto: gopher', 'X-Forwarded-Host: evil.example'];
      const { headers = {} } =
        receivedOf(await sendRaw(site, 'GET /public/a HTTP/1.1', `Host: ${hostOf(site)}`, ...sent)) ?? {};
      const { 'x-forwarded-for': addresses = '', 'x-forwarded-proto': scheme, 'x-forwarded-host': host = '' } = headers;
      // A proxy may append: the last entry counts.
      const isOwn =
        !addresses.endsWith('203.0.113.9') && addresses !== '' && scheme === 'http' && !host.includes('evil');
      return isOwn ? [] : [headers];
    },
  },
  {
    title: 'a public path opens nothing else in another spelling, nor with a malformed path',
    reports: ['CVE-2021-32637', 'CVE-2026-134802', 'CVE-2026-40912', 'CVE-2026-48020'],
    async run({ site }) {
      const found: unknown[] = [];
      for (const path of ODD_PATHS) {
        const received = receivedOf(await sendRaw(site, `GET ${path} HTTP/1.1`, `Host: ${hostOf(site)}`));
        if (received && isOutsidePublic(received.url)) found.push(path, received.url);
      }
      return found;
    },
  },
  {
    title: 'a closed path is closed to a signed-in user in each spelling',
    reports: ['CVE-2021-32637', 'CVE-2026-134802'],
    async run(attacked) {
      const cookie = `Cookie: ${cookieAt(await signedIn(attacked), attacked.site)}`;
      const paths = [
        '/admin/',
        '/admin',
        '/ADMIN/',
        '/%61dmin/',
        '/x/..%2fadmin/',
        '//admin/',
        '/x/../admin/',
        '/;/admin/',
      ];
      const found: unknown[] = [];
      for (const path of paths) {
        const answer = await sendRaw(attacked.site, `GET ${path} HTTP/1.1`, `Host: ${hostOf(attacked.site)}`, cookie);
        if (receivedOf(answer)) found.push(path, answer);
      }
      return found;
    },
  },
  {
    title: 'the query is no part of the path that a rule is for',
    reports: ['CVE-2025-54576'],
    async run(attacked) {
      const { site } = attacked;
      const found: unknown[] = [];
      const paths = [
        '/?path=/public/',
        '/?/public/',
        '/admin/?/public/',
        '/admin?/../public/',
        '/x?a=b/public/',
        '/publican?/public/',
      ];
      for (const path of paths) {
        const answer = await sendRaw(site, `GET ${path} HTTP/1.1`, `Host: ${hostOf(site)}`);
        if (receivedOf(answer)) found.push(path, answer);
      }
      const browser = await signedIn(attacked);
      const admin = await browser.get(`${site}/admin/?x=/public/`, asProgram);
      return admin.status === 403 ? found : [...found, admin.status];
    },
  },
  {
    title: 'the agent of a health check is nobody',
    reports: ['GHSA-5hvv-m4w4-gf6v'],
    async run({ site }) {
      const found: unknown[] = [];
      for (const agent of ['ELB-HealthChecker/2.0', 'GoogleHC/1.0', 'kube-probe/1.34', 'Envoy/HC', 'HAProxy'])
        for (const path of ['/', '/healthz', '/ping', '/ready']) {
          const answer = await httpClient().get(`${site}${path}`, { headers: { 'user-agent': agent } });
          if (receivedOf(answer.text)) found.push(agent, path, answer.text);
        }
      return found;
    },
  },
  {
    title: 'no parameter and no path leads the browser to another host',
    reports: ['CVE-2020-11053', 'CVE-2026-83589'],
    async run(attacked) {
      const { site, other, issuer, user } = attacked;
      const found: unknown[] = [];
      const evil = [
        'https://evil.example/',
        '//evil.example/',
        '/\\evil.example/',
        '/%5cevil.example/',
        'javascript:alert(1)',
      ];
      const cookie = `Cookie: ${cookieAt(await signedIn(attacked), site)}`;
      const targets = [
        ...evil.slice(1, 4),
        ...REDIRECTS.flatMap((name) =>
          ['/', '/.gatehouse/callback', '/.gatehouse/logout'].flatMap((path) =>
            evil.map((to) => `${path}?${name}=${encodeURIComponent(to)}`),
          ),
        ),
      ];
      for (const target of targets)
        for (const who of [cookie, 'Cookie: a=b']) {
          const answer = await sendRaw(
            site,
            `GET ${target} HTTP/1.1`,
            `Host: ${hostOf(site)}`,
            who,
            'Accept: text/html',
          );
          const location = /^location: (.*)$/im.exec(answer)?.[1]?.trim();
          if (location && ![site, issuer].includes(new URL(location, site).origin)) found.push(target, location);
        }
      const page = await openWebsite(httpClient(), other, '//evil.example/a', user);
      return new URL(page.url).origin === other ? found : [...found, page.url];
    },
  },
  {
    title: 'the cookie of another website opens nothing',
    reports: ['a cookie of the parent domain reaches every backend'],
    async run(attacked) {
      const { site, other } = attacked;
      const browser = await signedIn(attacked, other);
      const values = cookieAt(browser, other)
        .split('; ')
        .map((cookie) => cookie.slice(cookie.indexOf('=') + 1));
      const name = cookieAt(await signedIn(attacked), site).split('=')[0];
      const found: unknown[] = [];
      for (const value of values) {
        const answer = await sendRaw(site, 'GET / HTTP/1.1', `Host: ${hostOf(site)}`, `Cookie: ${name}=${value}`);
        if (receivedOf(answer)) found.push(value, answer);
      }
      return found;
    },
  },
  {
    title: 'the code of another website signs nobody in',
    reports: ['RFC 9700 4.5'],
    async run(attacked) {
      const { site, other, user } = attacked;
      const stolen = new URL(await callbackOf(httpClient(), other, user)).searchParams.get('code') ?? '';
      const browser = httpClient();
      const begun = new URL((await browser.get(`${site}/`)).location ?? site).searchParams.get('state') ?? '';
      const found: unknown[] = [];
      for (const state of [begun, '', 'x']) {
        await browser.get(`${site}/.gatehouse/callback?${new URLSearchParams({ code: stolen, state })}`);
        found.push(...(await isClosed(browser, site)));
      }
      return found;
    },
  },
  {
    title: 'the callback of an attacker signs nobody in as the attacker (login CSRF)',
    reports: ['RFC 9700 4.7'],
    async run({ site, user, attacker }) {
      const callback = await callbackOf(httpClient(), site, attacker);
      const fresh = httpClient();
      await fresh.get(callback);
      const found = await isClosed(fresh, site);
      const victim = httpClient();
      await callbackOf(victim, site, user);
      await victim.get(callback);
      return [...found, ...(await isClosed(victim, site))];
    },
  },
  {
    title:
      'a cookie that an attacker had before the sign-in is worth nothing after it (fixation from a sibling website)',
    reports: ['RFC 6265bis 8.6'],
    async run({ site, user }) {
      const attacker = httpClient();
      const { setCookie } = await attacker.get(`${site}/`);
      const victim = httpClient();
      victim.cookies.store(new URL(site), setCookie);
      await openWebsite(victim, site, '/', user);
      const found = await isClosed(attacker, site);
      const name = setCookie[0]?.split('=')[0];
      return cookieAt(victim, site)
        .split('; ')
        .filter((one) => one.startsWith(`${name}=`)).length === 1
        ? found
        : [...found, cookieAt(victim, site)];
    },
  },
  {
    title: 'a session cookie that a sibling website sets beside that of the user does not replace it',
    reports: ['RFC 6265bis 8.6'],
    async run(attacked) {
      const { site, attacker } = attacked;
      const [own, planted] = [await signedIn(attacked), await signedIn(attacked, site, attacker)];
      const found: unknown[] = [];
      for (const cookies of [
        [planted, own],
        [own, planted],
      ]) {
        const cookie = cookies.map((one) => cookieAt(one, site)).join('; ');
        const answer = await sendRaw(site, 'GET / HTTP/1.1', `Host: ${hostOf(site)}`, `Cookie: ${cookie}`);
        if (receivedOf(answer)?.headers['remote-user'] === attacker.username) found.push(answer);
      }
      return found;
    },
  },
  {
    title: 'a cookie of another name that reads like that of the session after white space opens nothing',
    reports: ['cookie tossing with bytes that trim() removes: \\xa0__Host-'],
    async run(attacked) {
      const { site, attacker } = attacked;
      const planted = cookieAt(await signedIn(attacked, site, attacker), site);
      const found: unknown[] = [];
      for (const space of ['\xa0', ' \xa0', '\xa0 ']) {
        const cookie = `Cookie: a=b; ${space}${planted}`;
        const answer = await sendRaw(site, 'GET / HTTP/1.1', `Host: ${hostOf(site)}`, cookie);
        if (receivedOf(answer)) found.push(space, answer);
      }
      return found;
    },
  },
  {
    title: 'a browser without cookies does not go in circles',
    reports: ['loops after the sign-in'],
    async run(attacked) {
      const keeper = await signedIn(attacked);
      let page: Page | undefined;
      for (let [url, hops] = [`${attacked.site}/`, 0]; url && hops < 20; hops += 1) {
        page = await (url.startsWith(attacked.site) ? httpClient() : keeper).get(url);
        url = page.location ?? '';
      }
      const isPage = page?.location === undefined && page?.url.startsWith(attacked.site);
      return isPage && page?.status !== 200 ? [] : [page?.status, page?.url];
    },
  },
  {
    title: 'a host that is not registered is closed: another port, IPv6, a dot at the end, two hosts',
    reports: ['hosts that are not registered'],
    async run({ site, other }) {
      const { port } = new URL(site);
      const hosts = [
        ...[
          'unknown.example',
          `[::1]:${port}`,
          `[::ffff:127.0.0.1]:${port}`,
          '127.0.0.1:1',
          '127.0.0.1',
          `0x7f.1:${port}`,
        ],
        ...[
          `${hostOf(other)}.`,
          `localhost.:${port}`,
          `${hostOf(site)}@evil.example`,
          `evil.example/${hostOf(site)}`,
          '',
        ],
        ...[`${hostOf(site)}, evil.example`, `evil.example\r\nHost: ${hostOf(site)}`, `${hostOf(site)}\r\nHost: a`],
      ];
      const found: unknown[] = [];
      for (const host of hosts)
        for (const target of ['/', `${site}/`]) {
          const answer = await sendRaw(site, `GET ${target} HTTP/1.1`, `Host: ${host}`);
          if (receivedOf(answer)) found.push(target, host, answer);
        }
      return found;
    },
  },
  {
    title: 'a host in upper case is the same website, with the same rules',
    reports: ['hosts in upper case'],
    async run({ site, other }) {
      const host = hostOf(other).toUpperCase();
      const answer = await sendRaw(other, 'GET / HTTP/1.1', `Host: ${host}`, 'Accept: text/html');
      const location = /^location: (.*)$/im.exec(answer)?.[1]?.trim();
      const client = location && new URL(location, site).searchParams.get('client_id');
      return receivedOf(answer) || (location && client !== other) ? [answer] : [];
    },
  },
  {
    title: 'scripts get 401 and no redirect, prefetches neither, and a page gets the sign-in',
    reports: ['authentik#5097', 'authentik#5603', 'open-webui#24975'],
    async run({ site, issuer }) {
      const found: unknown[] = [];
      const programs: Record<string, string>[] = [
        { accept: '*/*', 'sec-fetch-mode': 'cors' },
        { accept: 'text/html', 'x-requested-with': 'XMLHttpRequest' },
        { accept: 'text/event-stream' },
        { accept: 'text/html', 'sec-fetch-mode': 'navigate', 'sec-purpose': 'prefetch' },
      ];
      for (const headers of programs) {
        const { status, location, text } = await httpClient().get(`${site}/api/x`, { headers });
        if (status !== 401 || location || !text.includes('login_required')) found.push(headers, status, location, text);
      }
      const page = await httpClient().get(`${site}/`, {
        headers: { accept: 'text/html', 'sec-fetch-mode': 'navigate' },
      });
      return page.location?.startsWith(`${issuer}/authorize?`) ? found : [...found, page.status, page.location];
    },
  },
  {
    title: 'a WebSocket without a session gets 401 and no redirect',
    reports: ['authentik#19860'],
    async run({ site }) {
      const status = await upgrade(site);
      return status === 401 ? [] : [status];
    },
  },
  {
    title: 'no tunnel but a WebSocket opens: other requests in it would reach the website without a question',
    reports: ['h2c smuggling (Bishop Fox, 2020)'],
    async run({ site }) {
      const found: unknown[] = [];
      const protocols = ['h2c', 'H2C', 'foo', 'TLS/1.2, HTTP/1.1', 'h2c, websocket', 'websocket, h2c', 'websocket/13'];
      for (const upgrade of [...protocols, ['h2c', 'websocket'], ['websocket', 'h2c'], ['foo', 'foo']])
        for (const key of [undefined, WEBSOCKET_KEY]) {
          const headers: Record<string, string | string[]> = {
            connection: 'Upgrade, HTTP2-Settings',
            upgrade,
            'http2-settings': 'AAMAAABkAARAAAAAAAIAAAAA',
            ...(key && { 'sec-websocket-key': key }),
          };
          const { status, protocol, text } = await askForTunnel(`${site}/public/`, headers);
          if (protocol !== undefined && protocol !== 'websocket') found.push([upgrade, key, status, protocol, text]);
        }
      return found;
    },
  },
  {
    title: 'a preflight without a cookie is answered with 401 and not with a redirect',
    reports: ['vouch-proxy#216'],
    async run({ site }) {
      const headers = { origin: 'https://app.example', 'access-control-request-method': 'PUT', accept: '*/*' };
      const { status, location } = await httpClient().request('OPTIONS', `${site}/`, { headers });
      return status === 401 && !location ? [] : [status, location];
    },
  },
  {
    title: 'a website of another host opens without a second sign-in',
    reports: ['authelia#321', 'authelia#1198', 'authentik#10848'],
    async run(attacked) {
      const browser = await signedIn(attacked);
      const page = await browser.follow(await browser.get(`${attacked.other}/a?b=c`));
      const isThere = page.status === 200 && page.url === `${attacked.other}/a?b=c`;
      return isThere && receivedOf(page.text)?.headers['remote-user'] === attacked.user.username ? [] : [page.url];
    },
  },
  {
    title: 'a body that waits for 100 Continue gets through',
    reports: ['RFC 9110 10.1.1'],
    async run(attacked) {
      const cookie = `Cookie: ${cookieAt(await signedIn(attacked), attacked.site)}`;
      // With the line that is sent after it.
      const length = 'a=1\r\nConnection: close\r\n\r\n'.length;
      const head = [`Host: ${hostOf(attacked.site)}`, cookie, 'Expect: 100-continue', `Content-Length: ${length}`];
      const answer = await sendRaw(attacked.site, 'POST /form HTTP/1.1', ...head, 'Connection: close', '', 'a=1');
      return /\b200 OK/.test(answer) && receivedOf(answer) ? [] : [answer];
    },
  },
  {
    title: 'requests at the same time all get through',
    reports: ['authelia#8548'],
    async run(attacked) {
      const browser = await signedIn(attacked);
      const pages = await Promise.all(Array.from({ length: 30 }, (_, at) => browser.get(`${attacked.site}/${at}`)));
      return pages.map(({ status }) => status).filter((status) => status !== 200);
    },
  },
  {
    title: 'a password in the header Authorization signs nobody in',
    reports: ['authelia#5006'],
    async run({ site, user }) {
      const authorization = `Basic ${Buffer.from(`${user.username}:${user.password}`).toString('base64')}`;
      const { status } = await httpClient().get(`${site}/`, { headers: { ...asProgram.headers, authorization } });
      return status === 401 ? [] : [status];
    },
  },
];

/** The example of RFC 6455 1.3. */
const WEBSOCKET_KEY = 'dGhlIHNhbXBsZSBub25jZQ==';

/** The status of the answer to a WebSocket's handshake (RFC 6455 4.1). */
export async function upgrade(origin: string, cookie?: string): Promise<number> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': WEBSOCKET_KEY,
    'sec-websocket-version': '13',
    ...(cookie && { cookie }),
  };
  return (await askForTunnel(`${origin}/socket`, headers)).status;
}

/** The answer to a request for another protocol (RFC 9110 7.8), and the protocol that the backend was asked for. */
async function askForTunnel(
  url: string,
  headers: Record<string, string | string[]>,
): Promise<{ status: number; protocol: string | undefined; text: string }> {
  return new Promise((resolve, reject) => {
    const request = http.request(url, { headers, agent: false });
    request.on('response', async (answer) => {
      const text = await readText(answer);
      resolve({ status: answer.statusCode ?? 0, protocol: receivedOf(text)?.headers.upgrade, text });
    });
    request.on('upgrade', ({ headers: { 'x-received-upgrade': received } }, socket) => {
      socket.destroy();
      resolve({ status: 101, protocol: String(received), text: '' });
    });
    request.on('error', reject);
    request.end();
  });
}
