// Puts a website behind each reverse proxy with the configuration that the console fills in, with nothing added but its surroundings, and
// tries what people, programs and attackers do there (README.md). Not part of `npm test`, because it needs the proxies.
//   npx tsx test/peers/forward-auth.ts [--proxy traefik] …
import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import http from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import path from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { parseArgs } from 'node:util';
import { proxyConfiguration } from '../../src/admin/applications/presets/proxies.ts';
import type { ProxyKind } from '../../src/applications/fields/proxied-application.ts';
import { completeSignIn } from '../oidc/support.ts';
import { aUser, type TestUser } from '../support/factories.ts';
import { type HttpClient, httpClient, type Page } from '../support/http.ts';
import { type Gatehouse, startGatehouse } from './gatehouse.ts';
import { freePort, Missing, needFile, newFolder, type Program, startProgram } from './programs.ts';

const { values: options } = parseArgs({ options: { proxy: { type: 'string', multiple: true } } });
const INSTALLED = process.env.PROXIES ?? '/opt/peers/proxies';

interface RealProxy {
  name: string;
  kind: ProxyKind;
  /** Writes the configuration with its surroundings, and starts the program. */
  start(folder: string, port: number, snippet: string, backend: string): Promise<Program>;
}

const wheel = (name: string) => needFile(path.join(INSTALLED, 'v/bin', name), 'README.md');
const ready = (port: number) => `http://127.0.0.1:${port}/.gatehouse/none`;

function startCaddy(program: string): RealProxy['start'] {
  return (folder, port, snippet) => {
    writeFileSync(path.join(folder, 'Caddyfile'), `{\n\tadmin off\n\tauto_https off\n}\n${snippet}`);
    return startProgram(program, ['run', '--config', path.join(folder, 'Caddyfile')], {
      env: { HOME: folder, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder },
      ready: ready(port),
    });
  };
}

const all: RealProxy[] = [
  {
    name: 'Traefik 3.7',
    kind: 'traefik',
    start(folder, port, snippet) {
      const [, strategy, dynamic = ''] = /aliasHeadersStrategy: (\w+)\n([\s\S]*)/.exec(snippet) ?? [];
      const file = path.join(folder, 'dynamic.yaml');
      writeFileSync(file, dynamic);
      const flags = [
        `--entrypoints.web.address=127.0.0.1:${port}`,
        `--entrypoints.web.http.aliasheadersstrategy=${strategy}`,
        `--providers.file.filename=${file}`,
        '--log.level=ERROR',
      ];
      return startProgram(wheel('traefik'), flags, { cwd: folder, ready: ready(port) });
    },
  },
  { name: 'Caddy 2.11', kind: 'caddy', start: (...given) => startCaddy(wheel('caddy'))(...given) },
  {
    name: 'Caddy 2.6',
    kind: 'caddy',
    start: (...given) => startCaddy(needFile(path.join(INSTALLED, 'caddy26/usr/bin/caddy'), 'README.md'))(...given),
  },
  {
    name: 'nginx 1.22',
    kind: 'nginx',
    start(folder, port, snippet) {
      const file = path.join(folder, 'nginx.conf');
      const server = snippet.replace('server {', `server {\n  listen 127.0.0.1:${port};`);
      writeFileSync(
        file,
        `daemon off;\npid ${folder}/pid;\nerror_log stderr;\nevents {}\nhttp {\n  access_log off;\n  client_body_temp_path ${folder}/body;\n  proxy_temp_path ${folder}/proxy;\n  fastcgi_temp_path ${folder}/fastcgi;\n  uwsgi_temp_path ${folder}/uwsgi;\n  scgi_temp_path ${folder}/scgi;\n${server}}\n`,
      );
      return startProgram(needFile('/usr/sbin/nginx', 'apt-get install nginx'), ['-c', file, '-e', 'stderr'], {
        ready: ready(port),
      });
    },
  },
  {
    name: 'HAProxy 2.6',
    kind: 'haproxy',
    start(folder, port, snippet, backend) {
      const [configuration = '', script = ''] = snippet.split('-- gatehouse.lua\n');
      const [, load = '', rules = ''] = /(lua-load \S+)\n([\s\S]*)/.exec(configuration) ?? [];
      const lua = path.join(folder, 'gatehouse.lua');
      writeFileSync(lua, script);
      const file = path.join(folder, 'haproxy.cfg');
      writeFileSync(
        file,
        `global\n  ${load.replace('/etc/haproxy/gatehouse.lua', lua)}\ndefaults\n  mode http\n  timeout connect 5s\n  timeout client 30s\n  timeout server 30s\nfrontend web\n  bind 127.0.0.1:${port}\n  default_backend website\nbackend website\n${rules}  server one ${backend}\n`,
      );
      return startProgram(needFile('/usr/sbin/haproxy', 'apt-get install haproxy'), ['-f', file], {
        ready: ready(port),
      });
    },
  },
  {
    name: 'Envoy 1.40',
    kind: 'envoy',
    start(folder, port, snippet, backend) {
      const [filters = '', clusters = ''] = snippet.split('# The cluster of Gatehouse\n');
      const indent = (text: string, by: string) => text.replace(/^(?=.)/gm, by);
      const [host, backendPort] = backend.split(':');
      const file = path.join(folder, 'envoy.yaml');
      const router =
        '  - name: envoy.filters.http.router\n    typed_config:\n      "@type": type.googleapis.com/envoy.extensions.filters.http.router.v3.Router\n';
      writeFileSync(
        file,
        `static_resources:
  listeners:
    - address:
        socket_address: { address: 127.0.0.1, port_value: ${port} }
      filter_chains:
        - filters:
            - name: envoy.filters.network.http_connection_manager
              typed_config:
                "@type": type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager
                stat_prefix: web
                use_remote_address: true
                upgrade_configs:
                  - upgrade_type: websocket
                route_config:
                  virtual_hosts:
                    - name: website
                      domains: ['127.0.0.1:${port}']
                      routes:
                        - match: { prefix: / }
                          route: { cluster: website }
${indent(filters + router, '                ')}
${indent(clusters, '  ')}
    - name: website
      type: STATIC
      load_assignment:
        cluster_name: website
        endpoints:
          - lb_endpoints:
              - endpoint:
                  address:
                    socket_address: { address: ${host}, port_value: ${backendPort} }
`,
      );
      return startProgram(
        wheel('envoy'),
        ['-c', file, '--log-level', 'error', '--use-dynamic-base-id', '--concurrency', '1'],
        { ready: ready(port) },
      );
    },
  },
];

/** The website: it answers with what it received. */
async function startBackend() {
  const server = http.createServer(async (req, res) => {
    const body = await readText(req);
    res.setHeader('content-type', 'application/json');
    res.end(JSON.stringify({ method: req.method, url: req.url, headers: req.headers, body }));
  });
  server.on('upgrade', (req, socket) => {
    // RFC 6455 4.2.2.
    const key = `${req.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11`;
    const accept = createHash('sha1').update(key).digest('base64');
    socket.end(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`,
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { address: `127.0.0.1:${(server.address() as AddressInfo).port}`, stop: () => server.close() };
}

type Received = { method: string; url: string; headers: Record<string, string>; body: string };

const failures: string[] = [];
function expect(name: string, what: string, isSo: boolean, found: unknown): void {
  if (!isSo) failures.push(`${name}: ${what}: ${JSON.stringify(found)?.slice(0, 300)}`);
  process.stdout.write(`  ${isSo ? 'ok' : 'FAILED'}  ${what}\n`);
}

const asProgram = { headers: { accept: 'application/json', 'sec-fetch-mode': 'cors' } };
const FORGED = {
  'Remote-User': 'forged',
  Remote_User: 'forged',
  'Remote.User': 'forged',
  'Remote~User': 'forged',
  'X-Gatehouse_Jwt': 'forged',
  'X_Gatehouse-Jwt': 'forged',
  'Remote-Groups': 'forged',
  'X-Gatehouse-Jwt': 'forged',
};

/** The answer to a request as it is written, which an HTTP client would not send. */
function send(port: number, ...lines: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(`${lines.join('\r\n')}\r\n\r\n`));
    readText(socket).then(resolve, reject);
  });
}

async function open(browser: HttpClient, origin: string, target: string, user: TestUser): Promise<Page> {
  const page = await completeSignIn(browser, `${origin}${target}`, { user, redirectUri: `${origin}/.gatehouse/` });
  return page.location ? browser.follow(page) : page;
}

async function upgrade(origin: string, cookie: string | undefined): Promise<number> {
  const headers = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
    'sec-websocket-version': '13',
    ...(cookie && { cookie }),
  };
  return new Promise((resolve, reject) => {
    const request = http.request(`${origin}/socket`, { headers });
    request.on('response', (answer) => resolve(answer.resume().statusCode ?? 0));
    request.on('upgrade', (_answer, socket) => {
      socket.destroy();
      resolve(101);
    });
    request.on('error', reject);
    request.end();
  });
}

async function tryProxy(gatehouse: Gatehouse, { name, kind, start }: RealProxy): Promise<void> {
  const { services, issuer } = gatehouse;
  const [backend, port] = [await startBackend(), await freePort()];
  const origin = `http://127.0.0.1:${port}`;
  const application = await services.applications.createProxied({
    name,
    url: origin,
    proxy: kind,
    access: { roles: ['reader'] },
    paths: [
      { path: '/public/', rule: 'public' },
      { path: '/admin/', rule: { roles: ['nobody'] } },
    ],
  });
  if (application.protocol !== 'proxy') throw new Error('a website was expected');
  // Two other websites, which are open to everyone.
  const [other, otherPort] = [`localhost:${port}`, await freePort()];
  for (const url of [`http://${other}`, `http://127.0.0.1:${otherPort}`])
    await services.applications.createProxied({ name: url, url, proxy: kind, paths: [{ path: '/', rule: 'public' }] });
  const { text } = proxyConfiguration(application, issuer);
  const program = await start(newFolder(kind), port, text.replaceAll('BACKEND:8080', backend.address), backend.address);
  const user = await aUser(services);
  await services.roles.assign(user.account.id, 'reader');
  const browser = httpClient();
  const check = (what: string, isSo: boolean, found: unknown) => expect(name, what, isSo, found);
  try {
    const first = await browser.get(`${origin}/a?b=c`);
    check('a page leads to the sign-in', first.location?.startsWith(`${issuer}/authorize`) === true, [
      first.status,
      first.location,
    ]);
    const page = await open(browser, origin, '/a?b=c', user);
    check('the sign-in leads back to the page', page.url === `${origin}/a?b=c` && page.status === 200, [
      page.status,
      page.url,
      page.text,
    ]);
    const { headers } = page.json<Received>();
    check('the website learns the username', headers['remote-user'] === user.username, headers);
    check('and gets the signed statement', headers['x-gatehouse-jwt']?.split('.').length === 3, headers);
    const forged = (await browser.get(`${origin}/`, { headers: FORGED })).json<Received>().headers;
    check('forged headers do not reach it, in no spelling', !JSON.stringify(forged).includes('forged'), forged);
    const open2 = await httpClient().get(`${origin}/public/a.css`, { headers: FORGED });
    check(
      'a public path has empty headers',
      open2.status === 200 && !open2.json<Received>().headers['remote-user'],
      open2.text,
    );
    for (const [first, host] of [
      ['GET / HTTP/1.1', other],
      ['GET / HTTP/1.1', `127.0.0.1:${otherPort}`],
      [`GET ${origin}/ HTTP/1.1`, other],
      [`GET http://${other}/ HTTP/1.1`, `127.0.0.1:${port}`],
    ] as const) {
      const answer = await send(port, first, `Host: ${host}`, 'Sec-Fetch-Mode: cors', 'Connection: close');
      check(`${first} with Host: ${host} is no way to this website`, !answer.includes('"method"'), answer);
    }
    const cookies = `Cookie: ${browser.cookies.headerFor(new URL(origin))}`;
    const hop = await send(
      port,
      'GET / HTTP/1.1',
      `Host: 127.0.0.1:${port}`,
      cookies,
      'Connection: close, Remote-User',
    );
    check(
      'no header is lost by "Connection"',
      !hop.includes('"method"') ||
        (hop.includes(`"remote-user":"${user.username}"`) && !/"connection":".*remote/i.test(hop)),
      hop,
    );
    const program401 = await httpClient().get(`${origin}/api`, asProgram);
    check('a program gets 401, no redirect', program401.status === 401 && !program401.location, [
      program401.status,
      program401.location,
    ]);
    const socket = await upgrade(origin, undefined);
    check('a WebSocket without a session gets 401', socket === 401, socket);
    const cookie = browser.cookies.headerFor(new URL(origin));
    const live = await upgrade(origin, cookie);
    check('a WebSocket with one opens', live === 101, live);
    const posted = await browser.request('POST', `${origin}/form`, { form: { a: '1' } });
    check(
      'a form reaches the website with its body',
      posted.status === 200 && posted.json<Received>().body === 'a=1',
      posted.text,
    );
    const late = await httpClient().request('POST', `${origin}/form`, { form: { a: '1' } });
    check('a form without a session gets 401', late.status === 401 && !late.location, [late.status, late.location]);
    const head = await browser.request('HEAD', `${origin}/`);
    check('HEAD is answered', head.status === 200, head.status);
    for (const odd of ['/public/..%2fadmin/', '/public//admin', '/public/%5cadmin', '/public/;/admin/']) {
      const answer = await httpClient().request('GET', `${origin}${odd}`, asProgram);
      // Traefik sends what it normalised to both.
      const isPublic = answer.status === 200 && /^\/public\/[a-z]*$/.test(answer.json<Received>().url);
      check(`${odd} reaches no other path`, answer.status >= 400 || isPublic, [answer.status, answer.text]);
    }
    const closed = await browser.get(`${origin}/admin/`, asProgram);
    check('a rule for a path closes it', closed.status === 403, closed.status);
    await services.roles.unassign(user.account.id, 'reader');
    const lost = await browser.get(`${origin}/`, asProgram);
    check('without the role it is closed at once', lost.status === 403, lost.status);
    await services.roles.assign(user.account.id, 'reader');
    const click = { headers: { 'sec-fetch-site': 'same-origin' } };
    const leaving = await browser.follow(await browser.get(`${origin}/.gatehouse/logout`, click));
    await browser.follow(
      leaving.forms.length > 0 ? await browser.submit(leaving) : leaving,
      (url) => url === `${origin}/`,
    );
    const out = await browser.get(`${origin}/`, asProgram);
    check('a sign-out ends it', out.status === 401, out.status);
  } catch (error) {
    check('runs to its end', false, `${(error as Error).stack} ${program.output().slice(-1500)}`);
  } finally {
    await program.stop();
    backend.stop();
  }
}

const gatehouse = await startGatehouse('127.0.0.1');
await gatehouse.services.roles.create({ name: 'reader' });
await gatehouse.services.roles.create({ name: 'nobody' });
for (const proxy of all) {
  if (options.proxy && !options.proxy.includes(proxy.kind)) continue;
  process.stdout.write(`${proxy.name}\n`);
  await tryProxy(gatehouse, proxy).catch((error) => {
    if (error instanceof Missing) process.stdout.write(`  skipped, ${error.message}\n`);
    else expect(proxy.name, 'starts', false, String(error));
  });
}
await gatehouse.stop();
for (const failure of failures) process.stdout.write(`${failure}\n`);
process.exit(failures.length > 0 ? 1 : 0);
