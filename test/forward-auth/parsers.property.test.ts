// Whatever a proxy hands on of a client's request: no answer is a fault of this server, no redirect leaves the website and this server, and no
// path opens that a rule closes in any way in which websites read it.
import http from 'node:http';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { type PathRule, type ProxyKind, proxyKinds } from '../../src/applications/fields/proxied-application.ts';
import { isAmbiguous, rulesFor } from '../../src/protocols/forward-auth/path-rules.ts';
import { completeSignIn } from '../oidc/support.ts';
import { aUser } from '../support/factories.ts';
import { httpClient } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import fc, { anyCharacter, numRuns } from '../support/property.ts';
import { website } from '../support/website.ts';

const nobody = { roles: ['nobody'], groups: [] };
const paths: PathRule[] = [
  { path: '/', rule: 'public' },
  { path: '/admin/', rule: nobody },
  { path: '/@me', rule: nobody },
  { path: '/admin/public/', rule: 'public' },
  { path: '/kiosk/', methods: ['GET'], rule: nobody },
];

// ── How websites read a path ──────────────────────────────────────────────────────────────────────────────────

const decoded = (path: string) => {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
};
const segments = (path: string) => {
  const kept: string[] = [];
  for (const one of path.split('/').slice(1))
    if (one === '..') kept.pop();
    else if (one !== '.') kept.push(one);
  return `/${kept.join('/')}`;
};
const steps: ((path: string) => string)[] = [
  decoded,
  (path) => path.toLowerCase(),
  (path) => path.toUpperCase(),
  (path) => path.normalize('NFKC'),
  // Windows, and file systems without invisible characters.
  (path) => path.replace(/[\s.]+(?=\/|$)/g, ''),
  (path) => path.replace(/\p{Cf}/gu, ''),
  segments,
  (path) => path.replace(/\/{2,}/g, '/'),
  (path) => path.replaceAll('\\', '/'),
  (path) => path.replace(/;[^/]*/g, ''),
  (path) => path.replace(/(?<=.)\/$/, ''),
  (path) => path.replace(/\0.*$/s, ''),
  (path) => path.replace(/[?#].*$/s, ''),
  (path) => path.replace(/[\t\r\n]/g, ''),
];
/** Every path that up to three of these steps make of it, in any order. */
function readings(path: string): Set<string> {
  let last = new Set([path]);
  const all = new Set(last);
  for (let round = 0; round < 3; round += 1) {
    last = new Set([...last].flatMap((one) => steps.map((step) => step(one))).filter((one) => !all.has(one)));
    for (const one of last) all.add(one);
  }
  return all;
}
/** Whether a website that compares letters as they are would have the path for one that a rule closes. */
function isClosed(path: string, method: string): boolean {
  const isBelow = (name: string) => path === name || path.startsWith(`${name}/`);
  // What follows a script's name is its PATH_INFO (RFC 3875 4.1.5).
  if (isBelow('/@me')) return true;
  if (isBelow('/kiosk')) return method !== 'POST' && method !== 'DELETE';
  return isBelow('/admin') && !isBelow('/admin/public');
}
const opensNothing = (path: string, method: string) =>
  ![...readings(path)].some((reading) => isClosed(reading, method));

// ── What is sent ──────────────────────────────────────────────────────────────────────────────────────────────

const words = ['admin', 'Admin', 'ADMIN', 'public', 'Public', '@me', '@ME', 'kiosk', 'KIOSK', 'a', 'robots.txt'];
const lookalikes = [
  '\uff0f',
  '\uff0e\uff0e',
  '\u2025',
  '\ufe68',
  '\uff1b',
  'x\uff0f..',
  '..\u00a0',
  '. ',
  '.. ',
  '\u200b..',
];
const spellings = ['adm\u0131n', 'ADM\u0130N', 'admin.', 'admin ', 'admin\u00ad', 'admin\uff0fx', 'k\u0131osk'];
const marks = ['', '.', '..', ';', ';x', '\\', '\u212aiosk', '\u017f', '\0', '\t', '?', '#', '%', '/', 'é'];
/** As it is, or any of its characters encoded once or twice, in either case. */
const encoded = (word: string) =>
  fc.array(fc.integer({ min: 0, max: 5 }), { minLength: 3, maxLength: 12 }).map((how) => {
    const bytes = (character: string, wrap: (hex: string) => string) =>
      [...Buffer.from(character)].map((byte) => wrap(byte.toString(16).padStart(2, '0'))).join('');
    return [...word]
      .map((character, at) => {
        const kind = how[at % how.length];
        if (kind === 0) return bytes(character, (hex) => `%${hex}`);
        if (kind === 1) return bytes(character, (hex) => `%${hex.toUpperCase()}`);
        if (kind === 2) return bytes(character, (hex) => `%25${hex}`);
        return character;
      })
      .join('');
  });
const plain = fc.constantFrom(...words);
const segment = fc.oneof(
  plain,
  plain,
  plain.chain(encoded),
  fc.constantFrom(...marks),
  fc.constantFrom(...marks).chain(encoded),
  fc.constantFrom(...lookalikes, ...spellings).map(encodeURIComponent),
);
const asPath = fc
  .array(
    fc.oneof(
      segment,
      fc.tuple(segment, segment).map((two) => two.join('')),
    ),
    { maxLength: 4 },
  )
  .map((all) => `/${all.join('/')}`);
const method = fc.constantFrom('GET', 'HEAD', 'POST', 'DELETE', 'OPTIONS', 'PROPFIND', 'TRACE');
const nasty = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '%00',
    '//evil.example',
    '/\\evil.example',
    'https://evil.example/',
    '@evil.example',
    '.',
    '..',
    '\u202e',
    '[',
    'null',
  ),
  fc.string({ unit: anyCharacter, maxLength: 40 }),
  fc.integer({ min: 1, max: 9000 }).map((n) => 'x'.repeat(n)),
);
/** What HTTP can carry in a header. */
const asHeader = (text: string) => Buffer.from(text.replace(/\p{Cc}/gu, '')).toString('latin1');

let idp: TestIdp;
let cookie: string;
let stranger: string;
const origins = new Map<ProxyKind, string>();

beforeAll(async () => {
  idp = await startIdp();
  await idp.services.settings.set('rate_limits', false);
  await idp.services.settings.reload();
  await idp.services.roles.create({ name: 'nobody' });
  const site = await website('caddy', () => idp.issuer, []);
  const user = await aUser(idp.services);
  for (const proxy of proxyKinds) {
    const url = proxy === 'caddy' ? site.origin : `https://${proxy}.example`;
    await idp.services.applications.createProxied({ name: proxy, url, proxy, paths });
    origins.set(proxy, url);
  }
  await idp.services.applications.createProxied({ name: 'IPv6', url: 'https://[2001:db8::1]:8443', proxy: 'traefik' });
  const browser = httpClient();
  const begun = await browser.get(`${site.origin}/kiosk/`);
  stranger = begun.location ?? '';
  await browser.follow(await completeSignIn(browser, begun, { user, redirectUri: `${site.origin}/.gatehouse/` }));
  cookie = browser.cookies.headerFor(new URL(site.origin)) ?? '';
  return () => site.close();
});
afterAll(() => idp?.stop());
afterEach(() => expect(idp.log.filter((line) => line.includes('"level":"error"'))).toEqual([]));

interface Answer {
  status: number;
  location: string | undefined;
}

/** Sends headers that may come twice; undefined for what HTTP cannot carry. */
function ask(
  proxy: ProxyKind,
  headers: [string, string][],
  { method = 'GET', path = '' } = {},
): Promise<Answer | undefined> {
  return new Promise((resolve) => {
    try {
      const target = `/forward-auth/${proxy}${path}`;
      const all = headers.some(([name]) => name === 'Host')
        ? headers
        : [['Host', new URL(idp.issuer).host], ...headers];
      const sent = http.request(
        `${idp.issuer.replace('localhost', '127.0.0.1')}`,
        { path: target, method, headers: all.flat() as never },
        (answer) => {
          answer
            .resume()
            .once('end', () => resolve({ status: answer.statusCode ?? 0, location: answer.headers.location }));
        },
      );
      sent.once('error', () => resolve(undefined));
      sent.end();
    } catch {
      resolve(undefined);
    }
  });
}

/** The question of each proxy about this request. */
function question(proxy: ProxyKind, origin: string, { method = 'GET', target = '/' }, more: [string, string][] = []) {
  const [, scheme = '', host = ''] = /^(\w+):\/\/(.*)$/s.exec(origin) ?? [];
  if (proxy === 'nginx')
    return ask(proxy, [['X-Original-URL', `${origin}${target}`], ['X-Original-Method', method], ...more]);
  if (proxy === 'envoy')
    return ask(proxy, [['Host', host], ['X-Forwarded-Proto', scheme], ...more], { method, path: target });
  return ask(proxy, [
    ['X-Forwarded-Method', method],
    ['X-Forwarded-Proto', scheme],
    ['X-Forwarded-Host', host],
    ['X-Forwarded-Uri', target],
    ...more,
  ]);
}

function expectSafe(answer: Answer | undefined): void {
  if (!answer) return;
  expect(answer.status).toBeLessThan(500);
  if (answer.location === undefined) return;
  const known = [new URL(idp.issuer).origin, ...origins.values(), 'https://[2001:db8::1]:8443'];
  expect(known).toContain(new URL(answer.location).origin);
}

const runs = { numRuns: numRuns(150) };

describe('rules for paths', () => {
  it('close a path that is closed in any reading', () => {
    fc.assert(
      fc.property(asPath, method, (path, method) => {
        // Others are no path of a request.
        if (isAmbiguous(path) || !/^[!-"$->@-~]*$/.test(path)) return;
        const isPublic = rulesFor(paths, method, path).every((rule) => rule?.rule === 'public');
        if (isPublic) expect(opensNothing(path, method)).toBe(true);
      }),
      { numRuns: numRuns(3000) },
    );
  });

  it.each([
    ...[
      '/public/x%ef%bc%8f%ef%bc%8e%ef%bc%8e%ef%bc%8fadmin/',
      '/public/%e2%80%a5/admin/',
      '/public/x%ef%b9%a8..%ef%b9%a8',
    ],
    ...['/public/x%ef%bc%9ba', '/public/..%20/admin/', '/public/.%20./admin/', '/public/..%c2%a0/admin/'],
    ...['/public/%e2%80%8b../admin/', '/public/..%20', '/public/%20/', '/public/...', '/admin%ef%bc%8fx'],
    ...['/robots.txt::$DATA', '/admin:%24i30:$INDEX_ALLOCATION/x'],
  ])('reject %s, in which some servers see a separator or a dot segment', (path) => {
    expect(isAmbiguous(path)).toBe(true);
  });

  it.each(['/adm%c4%b1n/', '/ADM%c4%b0N/', '/admin.', '/admin./x', '/admin%20/', '/admin%c2%a0/', '/admin%c2%ad/'])(
    'count for %s, which some servers take for their path',
    (path) => {
      expect(rulesFor(paths, 'GET', path)).toContain(paths[1]);
    },
  );

  it.each([
    '/wiki/Dr.',
    '/wiki/a%20b',
    '/pod/Foo::Bar',
    '/wiki/%d9%85%db%8c%e2%80%8c%d8%b1%d9%88%d9%85',
    '/wiki/.well-known/x.txt',
  ])('reject no title of a page: %s', (path) => {
    expect(isAmbiguous(path)).toBe(false);
  });

  it('ask for what each reading needs: a wider rule in other letters does not replace a narrower one', () => {
    const rules: PathRule[] = [
      { path: '/', rule: nobody },
      { path: '/pub/', rule: { roles: ['reader'], groups: [] } },
    ];
    expect(rulesFor(rules, 'GET', '/pub/a')).toEqual([rules[1]]);
    expect(rulesFor(rules, 'GET', '/PUB/a')).toEqual([rules[0], rules[1]]);
    expect(rulesFor(paths, 'HEAD', '/kiosk/')).toContain(paths[4]);
    expect(rulesFor(paths, 'GET', '/%E2%84%AAiosk/')).toContain(paths[4]);
  });

  it('that restrict one path count for what is below it too, where a program gets it as PATH_INFO', () => {
    const rules: PathRule[] = [
      { path: '/', rule: 'public' },
      { path: '/area/', rule: nobody },
      { path: '/area/index.php', rule: 'mfa' },
      { path: '/admin.php', rule: nobody },
      { path: '/admin.php/help', rule: 'public' },
      { path: '/robots.txt', rule: 'public' },
    ];
    const [all, area, index, admin, help] = rules;
    for (const path of ['/admin.php/', '/admin.php/x', '/ADMIN.PHP/x', '/admin.php/help/x'])
      expect(rulesFor(rules, 'GET', path), path).toContain(admin);
    expect(rulesFor(rules, 'GET', '/admin.php/help')).toEqual([help]);
    expect(rulesFor(rules, 'GET', '/admin.phpx')).toEqual([all]);
    // A weaker rule inside does not replace the one around it.
    expect(rulesFor(rules, 'GET', '/area/index.php/x')).toEqual([area, index]);
    expect(rulesFor([{ path: '/robots.txt', rule: 'public' }], 'GET', '/robots.txt/x')).toEqual([undefined]);
  });

  it('for methods count for each method that no rule can name, and for OPTIONS that none names', () => {
    const rules: PathRule[] = [
      { path: '/', rule: 'public' },
      { path: '/dav/', methods: ['GET', 'PUT'], rule: nobody },
      { path: '/dav/open/', rule: 'public' },
      { path: '/api/', methods: ['OPTIONS'], rule: 'public' },
      { path: '/api/', methods: ['POST'], rule: 'mfa' },
    ];
    const [all, dav, open, preflight, change] = rules;
    for (const method of ['PROPFIND', 'MKCOL', 'MOVE', 'REPORT', 'QUERY', 'TRACE', 'CONNECT', 'OPTIONS', 'X']) {
      expect(rulesFor(rules, method, '/dav/x'), method).toEqual([all, dav]);
      expect(rulesFor(rules, method, '/dav/open/x'), method).toEqual([open]);
    }
    expect(rulesFor(rules, 'POST', '/dav/x')).toEqual([all]);
    expect(rulesFor(rules, 'OPTIONS', '/api/x')).toEqual([preflight]);
    expect(rulesFor(rules, 'PROPFIND', '/api/x')).toContain(change);
  });

  it.each(proxyKinds)('hold behind %s', async (proxy) => {
    const origin = origins.get(proxy) ?? '';
    await fc.assert(
      fc.asyncProperty(asPath, method, fc.boolean(), async (path, method, isSignedIn) => {
        const answer = await question(proxy, origin, { method, target: path }, isSignedIn ? [['Cookie', cookie]] : []);
        expectSafe(answer);
        const [asked = ''] = path.split(/[?#]/);
        if (answer?.status === 200) expect(opensNothing(asked, method)).toBe(true);
      }),
      runs,
    );
  });
});

describe('a question with any values', () => {
  it.each(proxyKinds)('of %s is answered', async (proxy) => {
    const headers = [
      'X-Forwarded-Method',
      'X-Forwarded-Proto',
      'X-Forwarded-Host',
      'X-Forwarded-Uri',
      'X-Original-URL',
      'X-Original-Method',
      'X-Forwarded-For',
      'Cookie',
      'Accept',
      'Sec-Fetch-Mode',
      'Forwarded',
    ];
    const header = fc.tuple(fc.constantFrom(...headers), nasty.map(asHeader));
    await fc.assert(
      fc.asyncProperty(fc.array(header, { maxLength: 3 }), fc.boolean(), async (more, isAlone) => {
        const own = more as [string, string][];
        const answer = await (isAlone
          ? ask(proxy, own)
          : question(proxy, origins.get(proxy) ?? '', { target: '/admin/' }, own));
        expectSafe(answer);
        // A second one of a header that says what is asked is an error; anything else leaves the path closed.
        expect(answer?.status).not.toBe(200);
      }),
      runs,
    );
  });

  it.each(proxyKinds)('of %s is about the exact origin alone', async (proxy) => {
    const origin = origins.get(proxy) ?? '';
    const { protocol, host, hostname } = new URL(origin);
    const variants = fc.constantFrom(
      host,
      host.toUpperCase(),
      `${hostname}.`,
      `${hostname}:443`,
      `${hostname}:80`,
      `${hostname}:0`,
      `${hostname}:99999`,
      `x.${host}`,
      `${host}.evil.example`,
      `evil.example#${host}`,
      `evil.example@${host}`,
      `${host}@evil.example`,
      `${host}/`,
      '[2001:db8::1]:8443',
      '[2001:DB8:0::1]:8443',
      '[::1]',
      '[',
      '0x7f.1',
      '2130706433',
      'xn--',
    );
    const scheme = fc.constantFrom(protocol.slice(0, -1), 'http', 'https', 'ws', 'wss', 'HTTPS', 'ftp', 'javascript');
    const navigation: [string, string][] = [['Sec-Fetch-Mode', 'navigate']];
    await fc.assert(
      fc.asyncProperty(scheme, fc.oneof(variants, nasty.map(asHeader)), async (scheme, asked) => {
        const answer = await question(proxy, `${scheme}://${asked}`, { target: '/kiosk/' }, navigation);
        expectSafe(answer);
        expect(answer?.status).not.toBe(200);
      }),
      runs,
    );
  });
});

describe('the way back from the sign-in', () => {
  it('takes no state, code or cookie that was made up or changed, and stays at the website', async () => {
    const origin = origins.get('caddy') ?? '';
    const genuine = new URL(stranger).searchParams.get('state') ?? '';
    const changed = fc.oneof(
      nasty,
      fc
        .nat(genuine.length)
        .map((at) => `${genuine.slice(0, at)}${genuine[at] === 'A' ? 'B' : 'A'}${genuine.slice(at + 1)}`),
      fc.nat(genuine.length).map((at) => genuine.slice(0, at)),
      fc.constant(genuine),
    );
    const [name = '', value = ''] =
      cookie
        .split('; ')
        .find((one) => one.startsWith('gatehouse_app'))
        ?.split('=') ?? [];
    const cookies = fc.oneof(
      fc.constantFrom(
        '',
        cookie,
        `${name}=${value}; ${name}=${value}`,
        `${name}=${value}x`,
        `${name}=${value.split('.')[0]}`,
        `${name}=.`,
        `${name}==;`,
      ),
      nasty.map((text) => `${name}=${asHeader(text)}`),
    );
    const name2 = fc.constantFrom('state', 'code', 'error', 'iss', 'rd', 'redirect_uri', 'state');
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(name2, changed), { maxLength: 3 }),
        cookies,
        fc.constantFrom('callback', 'logout', 'x', ''),
        async (pairs, cookie, page) => {
          const query = new URLSearchParams(pairs.map(([name, text]) => [name, Buffer.from(text).toString()]));
          const target = `/.gatehouse/${page}?${query}`;
          const answer = await question('caddy', origin, { target }, [
            ['Cookie', cookie],
            ['Sec-Fetch-Mode', 'navigate'],
          ]);
          expectSafe(answer);
          expect(answer?.status).not.toBe(200);
        },
      ),
      runs,
    );
  });

  it('leads to the page that was asked for, at the website, whatever it looks like', async () => {
    const origin = origins.get('nginx') ?? '';
    const site = origins.get('caddy') ?? '';
    const page = fc
      .oneof(nasty, asPath)
      .map(
        (text) =>
          `/${[...Buffer.from(text)].map((byte) => (byte > 0x20 && byte < 0x7f && byte !== 0x23 ? String.fromCharCode(byte) : '%20')).join('')}`,
      );
    expect(origin).toBeTruthy();
    await fc.assert(
      fc.asyncProperty(page, async (target) => {
        // What was asked before the sign-in, and is not ambiguous.
        const begun = await question('caddy', site, { target: `/kiosk/${target}` }, [['Sec-Fetch-Mode', 'navigate']]);
        expectSafe(begun);
        if (begun?.status !== 302) return;
        const state = new URL(begun.location ?? '').searchParams.get('state') ?? '';
        const back = await question(
          'caddy',
          site,
          { target: `/.gatehouse/callback?${new URLSearchParams({ state, code: 'x' })}` },
          [['Cookie', cookie]],
        );
        expect(back?.status).toBe(302);
        const { origin: arrived, pathname } = new URL(back?.location ?? '');
        expect(arrived).toBe(site);
        expect(['/', '/kiosk']).toContain(pathname.startsWith('/kiosk') ? '/kiosk' : pathname);
      }),
      runs,
    );
  });
});
