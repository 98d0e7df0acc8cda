// Puts a website behind each reverse proxy with the configuration that the console fills in, with nothing added but its surroundings, and
// tries what people, programs and attackers do there (README.md). Not part of `npm test`, because it needs the proxies.
//   npx tsx test/peers/forward-auth.ts [--proxy traefik] … [--test | --nodes]
// `--test` tries the Test of the console only, `--nodes` kills one node of two.
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { decodeJwt } from 'jose';
import type { z } from 'zod';
import { linesAbout, proxyConfiguration } from '../../src/admin/applications/presets/proxies.ts';
import { createWebsiteTest } from '../../src/admin/applications/website-test.ts';
import type { ProxiedApplication } from '../../src/applications/application.ts';
import type { PathRule, ProxyKind, proxiedApplication } from '../../src/applications/fields/proxied-application.ts';
import { limits } from '../../src/base/limits.ts';
import type { App } from '../logout/support/app.ts';
import { browserWith, leave, resultsOf } from '../logout/support/browser-steps.ts';
import { followLogout } from '../logout/support/follow.ts';
import { oidcApp } from '../logout/support/oidc-app.ts';
import { nodeSamlApp } from '../logout/support/saml-apps.ts';
import { basic, completeSignIn } from '../oidc/support.ts';
import { startBrowser } from '../support/browser/browser.ts';
import { aClient, aUser, aUserInGroups, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { aCertificate } from '../support/tls.ts';
import { openWebsite, type Received } from '../support/website.ts';
import { attacks, sendRaw, upgrade } from '../support/website-attacks.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { startTwoNodes, type TwoNodes } from './nodes.ts';
import { freePort, Missing, needFile, newFolder, type Program, startProgram } from './programs.ts';
import { withTotp } from './second-factor.ts';

const { values: options } = parseArgs({
  options: { proxy: { type: 'string', multiple: true }, test: { type: 'boolean' }, nodes: { type: 'boolean' } },
});
const INSTALLED = process.env.PROXIES ?? '/opt/peers/proxies';

interface RealProxy {
  name: string;
  kind: ProxyKind;
  /** Writes the configuration with its surroundings, and starts the program. */
  start(folder: string, sites: readonly Placed[]): Promise<Program>;
}

/** A website at this host, with the port that all of one proxy have. */
interface Placed {
  host: string;
  snippet: string;
  backend: string;
  /** The folder of its certificate, with https. */
  tls?: string | undefined;
}

const wheel = (name: string) => needFile(path.join(INSTALLED, 'v/bin', name), 'README.md');
const portOf = ([one]: readonly Placed[]) => new URL(`http://${one?.host}`).port;
// Few systems know names below `localhost`.
const addressOf = ([one]: readonly Placed[]) => (one?.host.startsWith('[::1]') ? '[::1]' : '127.0.0.1');
const ready = (sites: readonly Placed[]) =>
  sites[0]?.tls ?? `http://${addressOf(sites)}:${portOf(sites)}/.gatehouse/none`;

/** A folder with a certificate that nobody signed, under the names of the configurations. */
async function newCertificate(): Promise<string> {
  const folder = newFolder('tls');
  const { key, cert } = await aCertificate('wiki.localhost');
  const files = { 'fullchain.pem': cert, 'privkey.pem': `${key}`, 'certificate.pem': `${cert}\n${key}` };
  for (const [name, text] of Object.entries(files)) writeFileSync(path.join(folder, name), text);
  return folder;
}

function startCaddy(program: string): RealProxy['start'] {
  return (folder, sites) => {
    const withTls = ({ snippet, tls }: Placed) =>
      tls ? snippet.replace('{\n', `{\n\ttls ${tls}/fullchain.pem ${tls}/privkey.pem\n`) : snippet;
    const all = sites.map(withTls).join('');
    writeFileSync(path.join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https off\n}\n${all}`);
    return startProgram(program, ['run', '--config', path.join(folder, 'Caddyfile')], {
      env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      ready: ready(sites),
    });
  };
}

const caddy26 = () => needFile(path.join(INSTALLED, 'caddy26/usr/bin/caddy'), 'README.md');
/** Its copy_headers keeps what the browser sent where the answer has an empty value. */
const COPYING = 'Caddy 2.10';
const caddy210 = () => needFile(path.join(INSTALLED, 'caddy210/bin/caddy'), 'README.md');

const all: RealProxy[] = [
  {
    name: 'Traefik 3.7',
    kind: 'traefik',
    start(folder, sites) {
      let strategy: string | undefined;
      for (const [at, { snippet }] of sites.entries()) {
        const [, found, dynamic] = /aliasHeadersStrategy: (\w+)\n([\s\S]*)\n# compose.yaml/.exec(snippet) ?? [];
        strategy = found;
        writeFileSync(path.join(folder, `${at}.yaml`), dynamic ?? '');
      }
      const flags = [
        `--entrypoints.web.address=${addressOf(sites)}:${portOf(sites)}`,
        `--entrypoints.web.http.aliasheadersstrategy=${strategy}`,
        `--providers.file.directory=${folder}`,
        '--log.level=ERROR',
      ];
      const tls = sites[0]?.tls;
      if (tls) {
        flags.push('--entrypoints.web.http.tls=true');
        const file = `tls:\n  certificates:\n    - { certFile: ${tls}/fullchain.pem, keyFile: ${tls}/privkey.pem }\n`;
        writeFileSync(path.join(folder, 'tls.yaml'), file);
      }
      return startProgram(wheel('traefik'), flags, { cwd: folder, ready: ready(sites) });
    },
  },
  { name: 'Caddy 2.11', kind: 'caddy', start: (...given) => startCaddy(wheel('caddy'))(...given) },
  { name: 'Caddy 2.6', kind: 'caddy', start: (...given) => startCaddy(caddy26())(...given) },
  { name: COPYING, kind: 'caddy', start: (...given) => startCaddy(caddy210())(...given) },
  {
    name: 'nginx 1.22',
    kind: 'nginx',
    start(folder, sites) {
      const file = path.join(folder, 'nginx.conf');
      const withTls = ({ snippet, tls }: Placed) =>
        snippet.replaceAll('/etc/nginx', `${tls}`).replace(' ssl;', ' ssl http2;');
      const all = sites.map(withTls).join('');
      writeFileSync(
        file,
        `daemon off;\npid ${folder}/pid;\nerror_log stderr;\nevents {}\nhttp {\n  access_log off;\n  client_body_temp_path ${folder}/body;\n  proxy_temp_path ${folder}/proxy;\n  fastcgi_temp_path ${folder}/fastcgi;\n  uwsgi_temp_path ${folder}/uwsgi;\n  scgi_temp_path ${folder}/scgi;\n${all}}\n`,
      );
      return startProgram(needFile('/usr/sbin/nginx', 'apt-get install nginx'), ['-c', file, '-e', 'stderr'], {
        ready: ready(sites),
      });
    },
  },
  {
    name: 'HAProxy 2.6',
    kind: 'haproxy',
    start(folder, sites) {
      const lua = path.join(folder, 'gatehouse.lua');
      let global = '';
      const backends = sites.map(({ host, snippet, backend }, at) => {
        const [configuration = '', script = ''] = snippet.split('-- gatehouse.lua, the same for all websites\n');
        writeFileSync(lua, script);
        const [loads = '', rules = ''] = configuration.split(/# in the backend of .*\n/);
        global = loads.replace(/^#.*\n/, '').replace('/etc/haproxy/gatehouse.lua', lua);
        return { name: `website${at}`, host, text: `backend website${at}\n${rules}  server one ${backend}\n` };
      });
      const uses = backends.map(({ name, host }) => `  use_backend ${name} if { hdr(host) -i ${host} }\n`).join('');
      const tls = sites[0]?.tls && ` ssl crt ${sites[0].tls}/certificate.pem alpn h2,http/1.1`;
      const file = path.join(folder, 'haproxy.cfg');
      writeFileSync(
        file,
        `global\n${global}defaults\n  mode http\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\nfrontend web\n  bind ${addressOf(sites)}:${portOf(sites)}${tls ?? ''}\n${uses}  default_backend website0\n${backends.map(({ text }) => text).join('')}`,
      );
      return startProgram(needFile('/usr/sbin/haproxy', 'apt-get install haproxy'), ['-f', file], {
        ready: ready(sites),
      });
    },
  },
  {
    name: 'Envoy 1.40',
    kind: 'envoy',
    start(folder, sites) {
      const [rest = '', route = ''] = sites[0]?.snippet.split('# to the routes of the virtual host, first\n') ?? [];
      const [own = '', clusters = ''] = rest.split('# The cluster of Gatehouse\n');
      // The filters once, with the headers of all.
      const handedOn = sites.flatMap(
        ({ snippet }) =>
          /allowed_upstream_headers:\n *patterns:\n((?: *- exact: .*\n)*)/.exec(snippet)?.[1]?.split('\n') ?? [],
      );
      const filters = own.replace(
        /(?<=allowed_upstream_headers:\n *patterns:\n)(?: *- exact: .*\n)*/,
        [...new Set(handedOn)].filter(Boolean).join('\n').concat('\n'),
      );
      const indent = (text: string, by: string) => text.replace(/^(?=.)/gm, by);
      const file = path.join(folder, 'envoy.yaml');
      const tls = sites[0]?.tls;
      const transport = `transport_socket:
  name: envoy.transport_sockets.tls
  typed_config:
    "@type": type.googleapis.com/envoy.extensions.transport_sockets.tls.v3.DownstreamTlsContext
    common_tls_context:
      alpn_protocols: [h2, http/1.1]
      tls_certificates:
        - certificate_chain: { filename: ${tls}/fullchain.pem }
          private_key: { filename: ${tls}/privkey.pem }
`;
      const router =
        '  - name: envoy.filters.http.router\n    typed_config:\n      "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router\n';
      writeFileSync(
        file,
        `static_resources:
  listeners:
    - address:
        socket_address: { address: '${addressOf(sites).replace(/[[\]]/g, '')}', port_value: ${portOf(sites)} }
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: web
                upgrade_configs:
                  - upgrade_type: websocket
                route_config:
                  virtual_hosts:
${sites
  .map(
    ({ host }, at) => `                    - name: website${at}
                      domains: ['${host}']
                      routes:
${indent(route, '                      ')}
                        - match: { prefix: / }
                          route: { cluster: website${at} }`,
  )
  .join('\n')}
${indent(filters + router, '                ')}
${tls ? indent(transport, '          ') : ''}
${indent(clusters, '  ')}
${sites
  .map(
    ({ backend }, at) => `    - name: website${at}
      type: STATIC
      load_assignment:
        cluster_name: website${at}
        endpoints:
          - lb_endpoints:
              - endpoint:
                  address:
                    socket_address: { address: ${backend.split(':')[0]}, port_value: ${backend.split(':')[1]} }`,
  )
  .join('\n')}
`,
      );
      return startProgram(
        wheel('envoy'),
        ['-c', file, '--log-level', 'error', '--use-dynamic-base-id', '--concurrency', '1'],
        { ready: ready(sites) },
      );
    },
  },
];

/** The website: it answers with what it received. */
async function startBackend() {
  const server = http.createServer({ maxHeaderSize: 65536 }, async (req, res) => {
    const body = await readText(req);
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ method: req.method, url: req.url, headers: req.headers, body }));
  });
  server.on('upgrade', (req, socket) => {
    // RFC 6455 4.2.2, or whatever it was asked for: some proxies compare.
    const key = `${req.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    socket.end(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: ${req.headers.upgrade}\r\nX-Received-Upgrade: ${req.headers.upgrade}\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
}

const failures: string[] = [];
function expect(name: string, what: string, isSo: boolean, found: unknown): void {
  if (!isSo) failures.push(`${name}: ${what}`);
  process.stdout.write(
    `  ${isSo ? 'ok' : 'FAILED'}  ${what}${isSo ? '' : `: ${JSON.stringify(found)?.slice(0, 2000)}`}\n`,
  );
}

type Check = (what: string, isSo: boolean, found: unknown) => void;
const asProgram = { headers: { accept: 'application/json', 'sec-fetch-mode': 'cors' } };
const READER = { roles: ['reader'] };
const PATHS: PathRule[] = [
  { path: '/public/', rule: 'public' },
  { path: '/admin/', rule: { roles: ['nobody'], groups: [] } },
  { path: '/secure/', rule: 'mfa' },
];

/** The website at this host, its proxy and its backend, until `stop`. */
async function putBehind(
  { services, issuer }: Gatehouse,
  { name, kind, start }: RealProxy,
  origin: string,
  paths: PathRule[],
  change = (snippet: string) => snippet,
  programs: Pick<z.input<typeof proxiedApplication>, 'access_tokens' | 'depends_on'> = {},
  testRoute?: (application: ProxiedApplication) => string,
) {
  const backend = await startBackend();
  const application = await services.applications.createProxied({
    name: `${name} at ${origin}`,
    url: origin,
    proxy: kind,
    access: READER,
    paths,
    ...programs,
  });
  if (application.protocol !== 'proxy') throw new Error('a website was expected');
  const { text } = proxyConfiguration(application, issuer);
  const configuration = text.replaceAll('BACKEND:8080', backend.address);
  const lines = testRoute?.(application);
  const snippet = change(lines ? withTestRoute(kind, configuration, lines) : configuration);
  const { host, protocol } = new URL(origin);
  const tls = protocol === 'https:' ? await newCertificate() : undefined;
  const program = await start(newFolder(kind), [{ host, snippet, backend: backend.address, tls }]).catch((error) => {
    backend.stop();
    throw error;
  });
  // Traefik listens before it has read its routes, and with TLS it was not tried whether the proxy does.
  const client = httpClient(origin, { ...(tls && { authority: readFileSync(`${tls}/fullchain.pem`, 'utf8') }) });
  const statusOf = () =>
    client.get('/').then(
      ({ status }) => status,
      () => 404,
    );
  for (let tries = 0; tries < 200 && (await statusOf()) === 404; tries += 1) await sleep(50);
  return {
    application,
    origin,
    name: application.name,
    output: () => program.output(),
    async stop() {
      await program.stop();
      backend.stop();
      // Its port may be that of another one.
      await services.applications.remove(application.id);
    },
  };
}
type Site = Awaited<ReturnType<typeof putBehind>>;

interface Apps {
  /** Fails to sign out, so there is a page with the result. */
  failing: App;
  apps: App[];
}

async function aReader({ services }: Gatehouse): Promise<TestUser> {
  const user = await aUser(services);
  await services.roles.assign(user.account.id, 'reader');
  return user;
}

async function tryProxy(gatehouse: Gatehouse, { failing, apps }: Apps, proxy: RealProxy): Promise<void> {
  const { services, issuer } = gatehouse;
  const [port, otherPort] = [await freePort(), await freePort()];
  const site = await putBehind(gatehouse, proxy, `http://127.0.0.1:${port}`, PATHS);
  const check: Check = (what, isSo, found) => expect(proxy.name, what, isSo, found);
  let other: Site | undefined;
  try {
    other = await putBehind(gatehouse, proxy, `http://wiki.localhost:${otherPort}`, []);
    await visits(gatehouse, site, check);
    await stepsUp(gatehouse, site, check);
    await hasManyGroups(gatehouse, site, check);
    const [user, attacker] = [await aReader(gatehouse), await aReader(gatehouse)];
    const attacked = { issuer, services, site: site.origin, other: other.origin, user, attacker };
    for (const { title, run } of attacks) {
      const found = await run(attacked);
      check(title, found.length === 0, found);
    }
    await passesThrough(gatehouse, proxy, other, check);
    if (proxy.kind === 'traefik') await stripsPrefix(gatehouse, proxy, check);
    if (proxy.kind === 'haproxy') await failsInLua(gatehouse, proxy, check);
    if (proxy.kind === 'nginx') await closesItself(gatehouse, proxy, check);
    await choosesHost(gatehouse, proxy, site, check);
    await hasTwo(gatehouse, proxy, check);
    await closesInTime(gatehouse, proxy, check);
    await letsProgramsIn(gatehouse, proxy, check);
    await isAtAddress(gatehouse, proxy, check);
    await hasTls(gatehouse, proxy, check);
    const exits = [
      ...apps.map(
        (app): Exit => ({
          name: app.name,
          apps: [app, failing],
          leave: (browser) => leave(browser, app),
        }),
      ),
      {
        name: 'the website',
        apps: [failing],
        leave: (browser: HttpClient) => browser.get(`${site.origin}/.gatehouse/logout`, click),
      },
    ];
    for (const exit of exits) await signsOutAt(gatehouse, exit, [site, other], check);
  } catch (error) {
    check('runs to its end', false, `${(error as Error).stack} ${site.output().slice(-1500)}`);
  } finally {
    await other?.stop();
    await site.stop();
  }
}

/** A sign-in, a program, a WebSocket, a form, HEAD, and a role that is taken away. */
async function visits(gatehouse: Gatehouse, { origin }: Site, check: Check): Promise<void> {
  const { services, issuer } = gatehouse;
  const user = await aReader(gatehouse);
  const browser = httpClient();
  const first = await browser.get(`${origin}/a?b=c`);
  check('a page leads to the sign-in', first.location?.startsWith(`${issuer}/authorize`) === true, first.location);
  const late = await browser.request('POST', `${origin}/form`, { form: { a: '1' } });
  check(
    'a form without a session gets 401 and a page that opens the sign-in beside it',
    late.status === 401 && !late.location && late.text.includes('target="_blank"'),
    [late.status, late.location, late.text],
  );
  const page = await openWebsite(browser, origin, '/a?b=c', user);
  check('the sign-in leads back to the page', page.url === `${origin}/a?b=c` && page.status === 200, [
    page.status,
    page.url,
    page.text,
  ]);
  const { headers } = page.json<Received>();
  check('the website learns the username', headers['remote-user'] === user.username, headers);
  check('and gets the signed statement', headers['x-gatehouse-jwt']?.split('.').length === 3, headers);
  const posted = await browser.request('POST', `${origin}/form`, { form: { a: '1' } });
  check(
    'the form that is sent again reaches the website with its body',
    posted.status === 200 && posted.json<Received>().body === 'a=1',
    posted.text,
  );
  const socket = await upgrade(origin, browser.cookies.headerFor(new URL(origin)));
  check('a WebSocket opens', socket === 101, socket);
  const head = await browser.request('HEAD', `${origin}/`);
  check('HEAD is answered', head.status === 200, head.status);
  const closed = await browser.get(`${origin}/admin/`, asProgram);
  check('a rule for a path closes it', closed.status === 403, closed.status);
  const explained = await browser.get(`${origin}/admin/`);
  check(
    'with a page that says so',
    explained.status === 403 && explained.text.includes('<h1>No access</h1>'),
    explained.text,
  );
  await services.roles.unassign(user.account.id, 'reader');
  const lost = await browser.get(`${origin}/`, asProgram);
  check('without the role it is closed at once', lost.status === 403, lost.status);
}

/** A path with two-step verification leads to the second factor, and back to the page. */
async function stepsUp(gatehouse: Gatehouse, { origin }: Site, check: Check): Promise<void> {
  const user = await aReader(gatehouse);
  const browser = httpClient();
  await openWebsite(browser, origin, '/', user);
  const [refused, asked, page] = await withTotp(gatehouse, user.account.id, async (prove) => {
    const program = await browser.get(`${origin}/secure/a?b=c`, asProgram);
    const asked = await browser.follow(await browser.get(`${origin}/secure/a?b=c`));
    return [program, asked, await prove(browser, asked)];
  });
  check('a program is told that its sign-in is too weak for a path', refused.status === 401, refused.status);
  check('a page there leads to the second factor', asked.url.startsWith(gatehouse.issuer), [asked.url, asked.text]);
  const acr = page.status === 200 && decodeJwt(page.json<Received>().headers['x-gatehouse-jwt'] ?? '').acr;
  const isThere = page.url === `${origin}/secure/a?b=c` && acr === 'urn:gatehouse:acr:mfa';
  check('and back to the page', isThere, [page.status, page.url, page.text]);
  const open = await browser.get(`${origin}/secure/b`, asProgram);
  check('the path is open from then on', open.status === 200, open.status);
}

/** The most groups that a website receives, in a header and in the statement. */
async function hasManyGroups({ services }: Gatehouse, { origin }: Site, check: Check): Promise<void> {
  const user = await aUserInGroups(services, limits.groups.inToken);
  await services.roles.assign(user.account.id, 'reader');
  const { status, text } = await openWebsite(httpClient(), origin, '/', user);
  const received = status === 200 ? (JSON.parse(text) as Received).headers : {};
  const { 'remote-groups': inHeader = '', 'x-gatehouse-jwt': jwt = '' } = received;
  const inStatement = jwt && decodeJwt<{ groups: string[] }>(jwt).groups;
  const isWhole = [inHeader.split(','), inStatement].every(({ length }) => length === limits.groups.inToken);
  check('a person in many groups gets through with all', isWhole, [status, inHeader, inStatement, text.slice(0, 200)]);
}

/** A sign-in passes through the website that another one depends on, whose proxy does not see the page; also for a long one. */
async function passesThrough(gatehouse: Gatehouse, proxy: RealProxy, other: Site, check: Check): Promise<void> {
  const host = `127.0.0.1:${await freePort()}`;
  const site = await putBehind(gatehouse, proxy, `http://${host}`, [], undefined, { depends_on: [other.origin] });
  try {
    const user = await aReader(gatehouse);
    const browser = httpClient();
    const wanted = `${site.origin}/${'secret'.repeat(170)}`;
    let page = await completeSignIn(browser, wanted, { user, redirectUri: `${site.origin}/.gatehouse/` });
    const seen: string[] = [];
    for (let hops = 0; page.location && hops < 12; hops += 1) {
      page = await browser.get(page.location);
      if (page.url.startsWith(other.origin)) seen.push(`${page.url} ${page.location}`);
    }
    check('a sign-in through another website ends at the page', page.status === 200 && page.url === wanted, [
      page.status,
      page.url,
    ]);
    const learns = seen.filter((one) => one.includes('secret') || decodeURIComponent(one).includes(host));
    check('which the other one does not learn', seen.length === 2 && learns.length === 0, seen);
    const open = await browser.get(`${other.origin}/`, asProgram);
    check('where it is a sign-in too', open.status === 200, open.status);
  } finally {
    await site.stop();
  }
}

/** Traefik asks with the path that is left of a prefix, in whatever spelling it came (CVE-2026-40912, CVE-2026-48020). */
async function stripsPrefix(gatehouse: Gatehouse, proxy: RealProxy, check: Check): Promise<void> {
  const site = await putBehind(gatehouse, proxy, `http://127.0.0.1:${await freePort()}`, PATHS, (snippet) =>
    snippet
      .replace('middlewares: [', 'middlewares: [strip, ')
      .replace('  middlewares:\n', '  middlewares:\n    strip:\n      stripPrefix:\n        prefixes: [/app]\n'),
  );
  try {
    const reached = async (path: string) => {
      const answer = await sendRaw(site.origin, `GET ${path} HTTP/1.1`, `Host: ${new URL(site.origin).host}`);
      return /"url":"([^"]*)"/.exec(answer)?.[1];
    };
    const open = await reached('/app/public/a');
    check('a public path below a prefix is open', open === '/public/a', open);
    const spellings = [
      '/app/admin/',
      '/app//admin/',
      '/app/../admin/',
      '/app/public/../admin/',
      '/app%2fadmin/',
      '/appadmin/',
    ];
    for (const path of [
      ...spellings,
      '/app/..%2fadmin/',
      '/app/public/..%2fadmin/',
      '/app/app/../admin/',
      '/app;/admin/',
    ]) {
      const found = await reached(path);
      check(`${path}, without the prefix, is closed`, found === undefined, found);
    }
  } finally {
    await site.stop();
  }
}

/** What nginx closes itself, with and without a session: its own page, and nothing about the user. */
async function closesItself(gatehouse: Gatehouse, proxy: RealProxy, check: Check): Promise<void> {
  const own = [
    '  location /denied/ { deny all; proxy_pass http://BACKEND:8080; }',
    '  location /basic/ { auth_basic Files; auth_basic_user_file /dev/null; proxy_pass http://BACKEND:8080; }',
  ];
  const site = await putBehind(gatehouse, proxy, `http://127.0.0.1:${await freePort()}`, PATHS, (snippet) => {
    const [backend] = /(?<=proxy_pass http:\/\/)[\w.:]+(?=;\n {2}\})/.exec(snippet) ?? [''];
    return snippet.replace('  location / {', `${own.join('\n').replaceAll('BACKEND:8080', backend)}\n  location / {`);
  });
  try {
    const [browser, user] = [httpClient(), await aReader(gatehouse)];
    await openWebsite(browser, site.origin, '/', user);
    for (const who of [browser, httpClient()])
      for (const [path, status] of [
        ['/denied/', 403],
        ['/basic/', 401],
      ] as const) {
        const answer = await who.get(`${site.origin}${path}`, asProgram);
        const isAbout = Object.keys(answer.headers).some((name) => /^remote-|^x-gatehouse-jwt/.test(name));
        check(`${path} stays closed by nginx`, answer.status === status && !isAbout, [
          answer.status,
          answer.headers,
          answer.text,
        ]);
      }
    const refused = await browser.get(`${site.origin}/basic/`, asProgram);
    const challenge = refused.headers['www-authenticate'];
    check('with its challenge', challenge === 'Basic realm="Files"', challenge);
  } finally {
    await site.stop();
  }
}

/** HAProxy goes on after an error of a script. */
async function failsInLua(gatehouse: Gatehouse, proxy: RealProxy, check: Check): Promise<void> {
  const site = await putBehind(gatehouse, proxy, `http://127.0.0.1:${await freePort()}`, [], (snippet) =>
    snippet.replace(
      '  local asked',
      () => "  if txn.sf:path() ~= '/.gatehouse/none' then error('no') end\n  local asked",
    ),
  );
  const { status } = await httpClient().get(`${site.origin}/`);
  await site.stop();
  check('an error of its script lets nobody through', status === 503, status);
}

/** Programs, which send their credential in `Authorization`. */
async function letsProgramsIn(gatehouse: Gatehouse, proxy: RealProxy, check: Check): Promise<void> {
  const { services, issuer } = gatehouse;
  const host = `127.0.0.1:${await freePort()}`;
  const site = await putBehind(gatehouse, proxy, `http://${host}`, PATHS, undefined, { access_tokens: 'all' });
  const { origin } = site;
  const sendAs = (authorization: string, path = '/api') =>
    httpClient().get(`${origin}${path}`, { headers: { authorization, accept: 'application/json' } });
  try {
    const { clientId, clientSecret } = await aClient(services, {
      redirect_uris: [],
      grant_types: ['client_credentials'],
      resources: [origin],
      scope: 'website:access',
    });
    const answer = await httpClient(issuer).post('/token', {
      form: { grant_type: 'client_credentials', resource: origin, scope: 'website:access' },
      headers: { authorization: basic(clientId, clientSecret) },
    });
    const { access_token: token } = answer.json<{ access_token: string }>();
    const page = await sendAs(`Bearer ${token}`);
    const received = page.status === 200 ? page.json<Received>().headers : {};
    check('an access token lets a program in', received['remote-user'] === `client ${clientId}`, page.text);
    check('and does not reach the website', page.status === 200 && !page.text.includes(token), page.text);
    const wrong = await sendAs(`Bearer ${token}x`);
    const challenge = wrong.headers['www-authenticate'];
    const isChallenged = challenge === `Bearer realm="${origin}", error="invalid_token"`;
    check('a wrong one gets 401 with its challenge', wrong.status === 401 && isChallenged, [wrong.status, challenge]);
    await services.applications.update('proxy', site.application.id, {
      name: site.name,
      url: origin,
      ...site.application.metadata,
      access: READER,
      access_tokens: 'users',
    });
    const weak = await sendAs(`Bearer ${token}`);
    const demanded = `Bearer realm="${origin}", error="insufficient_scope", scope="website:access"`;
    const isDemanded = weak.status === 403 && weak.headers['www-authenticate'] === demanded;
    check('one that does not suffice gets 403 with its challenge', isDemanded, [weak.status, weak.headers]);
    const both = [`Authorization: Bearer ${token}`, `Authorization: ${basic('x', 'y')}`];
    const twice = await sendRaw(origin, 'GET /api HTTP/1.1', `Host: ${host}`, ...both);
    const isOne = !twice.includes('"method"') || (twice.includes('"remote-user":"client') && !twice.includes('Basic'));
    check('two credentials are one, or none', isOne, twice);
    const own = await sendAs('Digest of-the-website', '/public/a');
    const isKept = own.status === 200 && own.json<Received>().headers.authorization === 'Digest of-the-website';
    check('what is for the website reaches it', isKept, own.text);
  } finally {
    await site.stop();
  }
}

/** A website whose address is one of IPv6. */
async function isAtAddress(gatehouse: Gatehouse, proxy: RealProxy, check: Check): Promise<void> {
  const site = await putBehind(gatehouse, proxy, `http://[::1]:${await freePort()}`, PATHS);
  try {
    const user = await aReader(gatehouse);
    const { status, text } = await openWebsite(httpClient(), site.origin, '/', user);
    check('a website at [::1] opens', status === 200 && text.includes(user.username), [status, text]);
  } finally {
    await site.stop();
  }
}

/** A website with https in a real browser, over HTTP/2. */
async function hasTls(gatehouse: Gatehouse, proxy: RealProxy, check: Check): Promise<void> {
  const site = await putBehind(gatehouse, proxy, `https://wiki.localhost:${await freePort()}`, PATHS);
  const browser = await startBrowser();
  try {
    const user = await aReader(gatehouse);
    const page = await browser.newPage({ ignoreHTTPSErrors: true });
    await page.goto(`${site.origin}/a?b=c`);
    await page.fill('input[name=username]', user.username);
    await page.fill('input[name=password]', user.password);
    await page.click('button[type=submit]');
    await page.waitForURL(`${site.origin}/a?b=c`);
    const { headers } = JSON.parse((await page.textContent('body')) ?? '') as Received;
    check('with https the sign-in leads back to the page', headers['remote-user'] === user.username, headers);
    const cookies = await page.context().cookies(site.origin);
    const own = cookies.filter(
      ({ name, secure, httpOnly }) => /^__Host-gatehouse_app/.test(name) && secure && httpOnly,
    );
    check('its cookie belongs to the host', own.length === 1 && cookies.length === 1, cookies);
    check('the website does not get it', !headers.cookie, headers);
    const found = await page.evaluate(async () => {
      const [navigation] = performance.getEntriesByType('navigation') as PerformanceNavigationTiming[];
      const sent = await fetch('/form', { method: 'POST', body: 'a=1' });
      return { protocol: navigation?.nextHopProtocol, status: sent.status, text: await sent.text() };
    });
    check('it is HTTP/2', found.protocol === 'h2', found);
    check('a script sends a form', found.status === 200 && JSON.parse(found.text).body === 'a=1', found);
    const opens = () =>
      page.evaluate(
        (url) =>
          new Promise<boolean>((resolve) => {
            const socket = new WebSocket(url);
            socket.onopen = () => resolve(true);
            socket.onerror = () => resolve(false);
          }),
        `${site.origin.replace('https', 'wss')}/socket`,
      );
    check('a WebSocket opens', await opens(), 'error');
    await page.context().clearCookies();
    check('and none without a session', !(await opens()), 'open');
  } catch (error) {
    check('https works', false, `${(error as Error).stack} ${site.output().slice(-1500)}`);
  } finally {
    await browser.close();
    await site.stop();
  }
}

/** Two websites that are open to everyone, so that a client that chooses the host is judged by their rules. */
async function choosesHost({ services }: Gatehouse, { kind }: RealProxy, site: Site, check: Check): Promise<void> {
  const { port } = new URL(site.origin);
  const [other, otherPort] = [`wiki.localhost:${port}`, await freePort()];
  const paths: PathRule[] = [{ path: '/', rule: 'public' }];
  const open = await Promise.all(
    [`http://${other}`, `http://127.0.0.1:${otherPort}`].map((url) =>
      services.applications.createProxied({ name: url, url, proxy: kind, paths }),
    ),
  );
  for (const [first, host] of [
    ['GET / HTTP/1.1', other],
    ['GET / HTTP/1.1', `127.0.0.1:${otherPort}`],
    [`GET ${site.origin}/ HTTP/1.1`, other],
    [`GET http://${other}/ HTTP/1.1`, `127.0.0.1:${port}`],
  ] as const) {
    const answer = await sendRaw(site.origin, first, `Host: ${host}`, 'Sec-Fetch-Mode: cors');
    check(`${first} with Host: ${host} is no way to this website`, !answer.includes('"method"'), answer);
  }
  for (const { id } of open) await services.applications.remove(id);
}

/** All that the family of these headers may say about people. */
const OWN_HEADERS = {
  'X-Forwarded-User': 'preferred_username',
  'X-Forwarded-Login': 'preferred_username',
  'X-Forwarded-Name': 'name',
  'X-Forwarded-Email': 'email',
  'X-Forwarded-Groups': 'groups',
  'X-Forwarded-Preferred-Username': 'preferred_username',
} as const;

/** Two websites of one proxy, with headers of their own, of which one lets programs in. */
async function hasTwo(gatehouse: Gatehouse, { kind, start }: RealProxy, check: Check): Promise<void> {
  const { services, issuer } = gatehouse;
  const user = await aReader(gatehouse);
  const port = await freePort();
  const placed: (Placed & { origin: string; id: string; stop(): void })[] = [];
  for (const [host, rest] of [
    [`127.0.0.1:${port}`, { headers: 'authentik' as const, app_passwords: true }],
    [`wiki.localhost:${port}`, { headers: OWN_HEADERS, paths: [{ path: '/public/', rule: 'public' as const }] }],
  ] as const) {
    const backend = await startBackend();
    const origin = `http://${host}`;
    const registered = { name: `One of two at ${host}`, url: origin, proxy: kind, access: READER, ...rest };
    const application = await services.applications.createProxied(registered);
    if (application.protocol !== 'proxy') throw new Error('a website was expected');
    const snippet = proxyConfiguration(application, issuer).text.replaceAll('BACKEND:8080', backend.address);
    placed.push({ origin, id: application.id, host, snippet, backend: backend.address, stop: backend.stop });
  }
  const [one, other] = placed;
  if (!one || !other) throw new Error('two websites were expected');
  const program = await start(newFolder(kind), placed);
  try {
    for (let tries = 0; tries < 200 && (await httpClient().get(other.origin)).status === 404; tries += 1)
      await sleep(50);
    const browser = httpClient();
    const seen = async ({ origin }: Placed & { origin: string }) => {
      const page = await openWebsite(browser, origin, '/', user);
      return page.status === 200 ? page.json<Received>().headers : { status: String(page.status), text: page.text };
    };
    const [ofOne, ofOther] = [await seen(one), await seen(other)];
    check('of two websites in one proxy, one has its headers', ofOne['x-authentik-username'] === user.username, ofOne);
    check('and the other one has its own', ofOther['x-forwarded-user'] === user.username, ofOther);
    for (const path of ['/', '/public/'])
      for (const name of Object.keys(OWN_HEADERS).flatMap((own) => [
        own,
        own.replaceAll('-', '_'),
        own.replace('-', '.'),
      ])) {
        const lines = [`Host: ${other.host}`, `Cookie: ${browser.cookies.headerFor(new URL(other.origin))}`];
        const answer = await sendRaw(other.origin, `GET ${path} HTTP/1.1`, ...lines, `${name}: of-the-client`);
        if (!answer.includes('"url"') || answer.includes('of-the-client'))
          check(`${name} of the client does not reach ${path}`, false, answer);
      }
    const account = await services.accounts.find(user.account.id);
    const password =
      account && (await services.appPasswords.create(account, { applicationId: one.id, name: 'Program' }, {}));
    const send = (origin: string) =>
      httpClient().get(`${origin}/`, {
        headers: { authorization: basic(user.username, password ?? ''), accept: '*/*' },
      });
    const opened = await send(one.origin);
    const isHidden = opened.status === 200 && !opened.json<Received>().headers.authorization;
    check('an app password opens its website, and does not reach it', isHidden, [opened.status, opened.text]);
    const elsewhere = await send(other.origin);
    check('and is none at the other one', elsewhere.status === 401, [elsewhere.status, elsewhere.text]);
  } catch (error) {
    check('two websites run', false, `${(error as Error).stack} ${program.output().slice(-1500)}`);
  } finally {
    await program.stop();
    for (const { id, stop } of placed) {
      stop();
      await services.applications.remove(id);
    }
  }
}

/** Traefik has no setting for it: 30 seconds. */
const secondsToClose = (kind: ProxyKind) => (kind === 'traefik' ? 35 : 12);

/** While Gatehouse takes a question and does not answer, a proxy answers 5xx after a short time. */
async function closesInTime(gatehouse: Gatehouse, proxy: RealProxy, check: Check): Promise<void> {
  let hangs = false;
  const hanging = http.createServer((_, res) => {
    if (!hangs) res.writeHead(403).end();
  });
  await new Promise<void>((resolve) => hanging.listen(0, new URL(gatehouse.issuer).hostname, resolve));
  const { port } = hanging.address() as AddressInfo;
  const site = await putBehind(gatehouse, proxy, `http://127.0.0.1:${await freePort()}`, [], (snippet) =>
    snippet.replaceAll(new URL(gatehouse.issuer).port, String(port)),
  );
  try {
    hangs = true;
    const started = performance.now();
    const { status } = await httpClient().get(`${site.origin}/`);
    const seconds = (performance.now() - started) / 1000;
    const isClosed = status >= 500 && seconds < secondsToClose(proxy.kind);
    check(`it answers ${status} after ${seconds.toFixed(1)} s while Gatehouse hangs`, isClosed, [status, seconds]);
  } finally {
    await site.stop();
    hanging.closeAllConnections();
    hanging.close();
  }
}

/** Where a sign-out begins. */
interface Exit {
  name: string;
  apps: readonly App[];
  leave(browser: HttpClient): Promise<Page>;
}

/** Both websites open without a further sign-in, and are signed out at once, with a line each in the result. */
async function signsOutAt(gatehouse: Gatehouse, exit: Exit, sites: readonly Site[], check: Check): Promise<void> {
  const user = await aReader(gatehouse);
  const browser = await browserWith(exit.apps, user);
  for (const { origin } of sites) {
    const page = await browser.follow(await browser.get(`${origin}/`));
    check(
      `after a sign-in at an application ${origin} opens`,
      page.url === `${origin}/` && page.status === 200,
      page.url,
    );
  }
  const { trail } = await followLogout(browser, await exit.leave(browser));
  const result = await browser.get(trail.find((url) => url.includes('/signout/')) ?? gatehouse.issuer);
  const lines = resultsOf(result);
  for (const { origin, name } of sites) {
    const { status } = await browser.get(`${origin}/`, asProgram);
    check(`a sign-out at ${exit.name} ends ${origin}`, status === 401, status);
    check('with its line in the result', lines[name] === 'Signed out.', [lines, result.url]);
  }
  const sessions = await gatehouse.services.sessions.list(user.account.id);
  check('and the session of the sign-in', sessions.length === 0, sessions);
}

/** Only a click on the website itself needs no question. */
const click = {
  headers: { 'sec-fetch-site': 'same-origin', 'sec-fetch-user': '?1', 'sec-fetch-dest': 'document' },
};

/** The configuration with the lines that show what the website receives, at the places that they name. */
function withTestRoute(kind: ProxyKind, snippet: string, lines: string): string {
  const place: Record<ProxyKind, () => string> = {
    traefik: () => {
      const [routers = '', services = ''] = lines.split('  # to the services\n');
      return snippet
        .replace('  routers:\n', () => `  routers:\n${routers}`)
        .replace('  services:\n', () => `  services:\n${services}`);
    },
    caddy: () => snippet.replace(/(?=\treverse_proxy )/, () => lines),
    nginx: () => snippet.replace(/(?= {2}location \/ )/, () => lines),
    haproxy: () => snippet.replace('\n-- gatehouse.lua,', () => `\n${lines}\n-- gatehouse.lua,`),
    envoy: () => snippet + lines.replace(/^ {2}#/, '#'),
  };
  return place[kind]();
}

type Spoiled = (snippet: string) => string;
const without =
  (...patterns: RegExp[]): Spoiled =>
  (snippet) =>
    patterns.reduce((text, pattern) => text.replace(pattern, ''), snippet);

const NAMED = 'It names the website';
const ORIGIN = 'The proxy itself says where a request comes from';
const secret = (header: string) => `${header} reaches it without sign-ins of Gatehouse`;
/** The configuration of another website, copied. */
const ofOther: Spoiled = (text) => text.replace(/(?<=website=|lua\.gatehouse )http:\/\//, 'http://other.');

/** As many guides have it. */
const copyHeaders: Spoiled = (text) => {
  const names = [...text.matchAll(/\trequest_header (\S+) \{rp\..*\n/g)].map(([, name]) => name);
  return text
    .replaceAll(/\trequest_header \S+ \{rp\..*\n/g, '')
    .replace('\t\theader_up', `\t\tcopy_headers ${names.join(' ')}\n\t\theader_up`);
};

/** Faults in the configuration of each proxy, by the label of the check that finds them. */
const spoiled: Record<ProxyKind, Record<string, Spoiled>> = {
  traefik: {
    'Remote-Email reaches the website': without(/Remote-Email, /),
    'Other spellings of the headers don’t reach it': (text) => text.replace('Strategy: delete', 'Strategy: keep'),
    '/ is closed without a session': without(/(?<=rule: Host\(`[^`]*`\)\n) {6}middlewares: .*\n/),
    [NAMED]: without(/\?website=\S+/),
    [`${NAMED} `]: ofOther,
    [secret('Cookie')]: without(/ Cookie,/),
    [secret('Authorization')]: without(/ Authorization,/),
    'No other protocol than WebSocket reaches it': without(/, Upgrade(?=\])/),
  },
  caddy: {
    'Remote-Email reaches the website': without(/\trequest_header Remote-Email .*\n/),
    'Other spellings of the headers don’t reach it': without(/\trequest_header "-.*\n/g),
    '/ is closed without a session': without(/\tforward_auth [\s\S]*?\n\t\}\n/),
    'No other protocol than WebSocket reaches it': without(/\trequest_header @other .*\n/),
    [NAMED]: ofOther,
    [secret('Cookie')]: without(/\trequest_header Cookie .*\n/),
    [secret('Authorization')]: without(/\trequest_header Authorization .*\n/),
  },
  nginx: {
    'Remote-Email reaches the website': without(/ *proxy_set_header Remote-Email .*\n/),
    'Other spellings of the headers don’t reach it': (text) =>
      text.replace('server {', 'server {\n  underscores_in_headers on;'),
    '/ is closed without a session': (text) => text.replace('auth_request /gatehouse-check', 'auth_request off'),
    '/gatehouse-test.php is closed without a session': (text) =>
      text.replace(
        '  location / {',
        () => '  location ~ \\.php$ {\n    auth_request off;\n    return 200;\n  }\n  location / {',
      ),
    'Redirects and cookies reach the browser': without(/.*add_header Set-Cookie.*\n/),
    [NAMED]: (text) => text.replace('X-Original-URL http://', 'X-Original-URL http://other.'),
    [ORIGIN]: (text) => text.replaceAll('X-Forwarded-For $remote_addr', 'X-Forwarded-For $http_x_forwarded_for'),
    [secret('Cookie')]: without(/ *proxy_set_header Cookie .*\n/),
    'No other protocol than WebSocket reaches it': (text) =>
      text
        .replace('proxy_set_header Upgrade $gatehouse_upgrade', 'proxy_set_header Upgrade $http_upgrade')
        .replace('proxy_set_header Connection $gatehouse_connection', 'proxy_set_header Connection upgrade'),
  },
  haproxy: {
    'Remote-Email reaches the website': without(/(?<=lua\.gatehouse .*)remote-email,/),
    'Other spellings of the headers don’t reach it': without(/.*del-header \[.*\n/),
    '/ is closed without a session': without(/.*http-request (lua\.gatehouse|deny deny_status).*\n/g),
    'Cookies reach Gatehouse': (text) => text.replace("asked['content-length'] = nil", "asked['cookie'] = nil"),
    'No other protocol than WebSocket reaches it': without(/.*del-header Upgrade.*\n/),
    [NAMED]: ofOther,
    [ORIGIN]: without(/.*asked\['x-forwarded-for'\].*\n/),
    [secret('Cookie')]: without(/(?<=lua\.gatehouse .*),cookie/),
  },
  envoy: {
    'Remote-Email reaches the website': without(/ *- exact: remote-email\n/),
    'Other spellings of the headers don’t reach it': (text) => text.replace(/regex: ".*"/, 'regex: "never"'),
    '/ is closed without a session': without(/ {2}- name: envoy.filters.http.ext_authz[\s\S]*?(?=\n# The cluster)/),
    'Cookies reach Gatehouse': without(/ *- exact: cookie\n/),
    [ORIGIN]: without(/use_remote_address.*\n/),
    [secret('Cookie')]: (text) => text.replace(/(allowed_upstream_headers:[\s\S]*?) *- exact: cookie\n/, '$1'),
  },
};

/** The Test of the console finds nothing in the right configuration, and each fault in a spoiled one. */
async function findsFaults(gatehouse: Gatehouse, proxy: RealProxy, check: Check): Promise<void> {
  const test = createWebsiteTest(gatehouse.services);
  const found = async (change: Spoiled, hasRoute = true) => {
    const origin = `http://127.0.0.1:${await freePort()}`;
    const site = await putBehind(gatehouse, proxy, origin, PATHS, change, { access_tokens: 'users' }, (application) =>
      hasRoute ? linesAbout('test-route', application, gatehouse.issuer) : '',
    );
    try {
      const checks = await test.run(site.application, {});
      const words = ({ explanation = '', received = '' }) => `${explanation} ${received}`;
      return checks.map((one) => ({ label: String(one.label), state: one.state, words: words(one as never) }));
    } finally {
      await site.stop();
    }
  };
  const right = await found((text) => text);
  const notPassed = right.filter(({ state }) => state !== 'passed');
  check('the Test of the console passes', right.length > 12 && notPassed.length === 0, notPassed);
  const plain = (await found((text) => text, false)).filter(({ state }) => state !== 'passed');
  const isSkipped = plain.length === 1 && plain[0]?.state === 'skipped';
  check('without its route it says that headers are not seen', isSkipped, plain);
  const faulty = {
    ...spoiled[proxy.kind],
    ...(proxy.name === COPYING && { 'Remote-User reaches the website': copyHeaders }),
  };
  for (const [label, change] of Object.entries(faulty)) {
    const faults = (await found(change)).filter(({ state }) => state === 'failed');
    const isNamed = faults.some((one) => one.label === label.trim());
    check(`the Test names the fault: ${label}`, isNamed, faults);
  }
}

/**
 * One node of two is killed under load: nobody gets through without a session, sessions and begun sign-ins go on at the other node, and a
 * sign-out counts there at once.
 */
async function losesNode(nodes: TwoNodes, proxy: RealProxy, check: Check): Promise<void> {
  const { services } = nodes;
  nodes.use('own');
  const site = await putBehind(nodes, proxy, `http://127.0.0.1:${await freePort()}`, PATHS);
  const { origin } = site;
  const statusOf = (who: HttpClient) =>
    who.get(`${origin}/`, asProgram).then(
      ({ status }) => status,
      () => 0,
    );
  try {
    const [user, late] = [await aReader(nodes), await aReader(nodes)];
    const [browser, anonymous, begun] = [httpClient(), httpClient(), httpClient()];
    const other = await nodes.startOther();
    nodes.use('other');
    await openWebsite(browser, origin, '/', user);
    const callback = await completeSignIn(begun, `${origin}/a`, { user: late, redirectUri: `${origin}/.gatehouse/` });
    nodes.use('own', 'other');
    const found = new Map<HttpClient, number[]>([browser, anonymous].map((who) => [who, []]));
    let isDone = false;
    const load = [browser, browser, browser, anonymous].map(async (who) => {
      while (!isDone) found.get(who)?.push(await statusOf(who));
    });
    await sleep(2000);
    const before = (found.get(browser) ?? []).filter((status) => status !== 200);
    await other.kill('SIGKILL');
    await sleep(4000);
    isDone = true;
    await Promise.all(load);
    const [ofUser, ofNobody] = [found.get(browser) ?? [], found.get(anonymous) ?? []];
    check('two nodes answer', before.length === 0 && ofUser.length > 50, [before, ofUser.length]);
    const lost = ofUser.filter((status) => status !== 200);
    // Those that the node had taken and not answered.
    const isShort = lost.length <= 6 && lost.every((status) => status === 0 || status >= 500);
    check(`its death fails at most the requests that it had (${lost.length} of ${ofUser.length})`, isShort, lost);
    const isClosed = ofNobody.every((status) => status === 401 || status >= 500);
    check('nobody gets through without a session', isClosed && ofNobody.length > 10, [...new Set(ofNobody)]);
    const last = await Promise.all(Array.from({ length: 20 }, () => statusOf(browser)));
    check('the session goes on at the other node', new Set(last).size === 1 && last[0] === 200, last);
    const page = await begun.follow(callback);
    const isThere = page.status === 200 && page.url === `${origin}/a`;
    check('a sign-in that the killed one began ends at the other node', isThere, [page.status, page.url]);
    await services.endSession.all(user.account.id, 'ended-by-admin');
    const ended = await statusOf(browser);
    check('a sign-out counts at once', ended === 401, ended);
  } catch (error) {
    check('runs to its end', false, `${(error as Error).stack} ${site.output().slice(-1500)}`);
  } finally {
    await site.stop();
  }
}

const nodes = options.nodes ? await startTwoNodes() : undefined;
// Websites have another host than Gatehouse.
const gatehouse = nodes ?? (await startGatehouse('127.0.0.2'));
await gatehouse.services.roles.create({ name: 'reader' });
await gatehouse.services.roles.create({ name: 'nobody' });
const apps: Apps = {
  failing: await nodeSamlApp(gatehouse, 'Failing app', { spoiled: { status: 'failure' } }),
  apps: [await oidcApp(gatehouse, 'back', 'OpenID Connect app'), await nodeSamlApp(gatehouse, 'SAML app')],
};
for (const proxy of all) {
  if (options.proxy && !options.proxy.includes(proxy.kind)) continue;
  process.stdout.write(`${proxy.name}\n`);
  const run = async () => {
    const check: Check = (what, isSo, found) => expect(proxy.name, what, isSo, found);
    if (nodes) return losesNode(nodes, proxy, check);
    if (!options.test) await tryProxy(gatehouse, apps, proxy);
    await findsFaults(gatehouse, proxy, check);
  };
  await run().catch((error) => {
    if (error instanceof Missing) process.stdout.write(`  skipped, ${error.message}\n`);
    else expect(proxy.name, 'starts', false, String(error));
  });
}
for (const app of [apps.failing, ...apps.apps]) await app.close();
await gatehouse.stop();
for (const failure of failures) process.stdout.write(`${failure}\n`);
process.exit(failures.length > 0 ? 1 : 0);
