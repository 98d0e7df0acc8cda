// The configuration of each reverse proxy for a website, filled in. test/peers/forward-auth.ts runs them with the real proxies.
//
// All remove each header with one of MARKS in its name (nginx without being told): CGI, WSGI and others read `X-Auth_Request.User` as
// `X-Auth-Request-User`, so a browser could send it beside that of the proxy.

import type { ProxiedApplication } from '../../../applications/application.ts';
import {
  headersOf,
  JWT_HEADER,
  letsProgramsIn,
  type ProxyKind,
} from '../../../applications/fields/proxied-application.ts';
import { isLocalhostName } from '../../../base/config/addresses.ts';
import { TEST_BACKEND_PATH } from '../../../protocols/forward-auth/website-test.ts';

/** As they are called, and what their configuration is written in. */
export const proxies: Readonly<Record<ProxyKind, { name: string; file: string; snippet(site: Site): string }>> = {
  traefik: { name: 'Traefik', file: 'traefik.yaml, dynamic.yaml or compose.yaml', snippet: traefik },
  caddy: { name: 'Caddy', file: 'Caddyfile', snippet: caddy },
  nginx: { name: 'nginx', file: 'nginx.conf', snippet: nginx },
  haproxy: { name: 'HAProxy', file: 'haproxy.cfg, gatehouse.lua', snippet: haproxy },
  envoy: { name: 'Envoy', file: 'envoy.yaml', snippet: envoy },
};

interface Site {
  origin: string;
  /** Host and port of the website. */
  host: string;
  /** Where the proxy reaches this server. */
  gatehouse: URL;
  /** What the proxy hands on from an answer. */
  headers: readonly string[];
}

/** The configuration for the website, with where it goes, and the address in it at which the proxy reaches this server. */
export function proxyConfiguration(application: ProxiedApplication, issuer: string) {
  const { name, file, snippet } = proxies[application.metadata.proxy];
  const site = siteOf(application, issuer);
  return { title: `${name} (${file})`, text: snippet(site), gatehouse: site.gatehouse.host };
}

function siteOf({ clientId, metadata }: ProxiedApplication, issuer: string): Site {
  // The answer has `Cookie` and `Authorization` as they were sent, without what is for this server.
  const headers = [
    ...Object.keys(headersOf(metadata.headers)),
    JWT_HEADER,
    'Cookie',
    ...(letsProgramsIn(metadata) ? ['Authorization'] : []),
  ];
  // A proxy with TLS is in front of this server, and replaces the headers that describe the request to the website.
  const gatehouse = new URL(isTls(issuer) ? 'http://gatehouse:3000' : issuer);
  // Some proxies take the address of IPv6, where this server does not listen, or ask a name server for it.
  if (isLocalhostName(gatehouse.hostname)) gatehouse.hostname = '127.0.0.1';
  return { origin: clientId, host: new URL(clientId).host, gatehouse, headers };
}

/** An address of the website that the proxy sends to this server, for the test: lines to add to the configuration, each with its place. */
const testRoutes: Readonly<Record<ProxyKind, (site: Site) => string>> = {
  traefik: ({ host, gatehouse }) => `  # to the routers
    ${nameOf(host)}-test:
      rule: Host(\`${hostOnly(host)}\`) && Path(\`${TEST_BACKEND_PATH}\`)
      middlewares: [${nameOf(host)}]
      service: gatehouse-test
  # to the services
    gatehouse-test:
      loadBalancer:
        passHostHeader: false
        servers:
          - url: ${gatehouse.origin}
`,
  caddy: ({ gatehouse }) => `	# before reverse_proxy
	reverse_proxy ${TEST_BACKEND_PATH} ${gatehouse.origin} {
		header_up Host {upstream_hostport}
	}
`,
  nginx: ({ gatehouse }) => `  location = ${TEST_BACKEND_PATH} {
    proxy_pass ${gatehouse.origin};
  }
`,
  haproxy: ({ gatehouse }) => `  # in the backend, at the end
  http-request set-header Host ${gatehouse.host} if { path ${TEST_BACKEND_PATH} }
  use-server gatehouse-test if { path ${TEST_BACKEND_PATH} }
  server gatehouse-test ${gatehouse.hostname}:${portOf(gatehouse)} weight 0
`,
  envoy: ({ gatehouse }) => `  # to the routes of the virtual host, first
  - match: { path: ${TEST_BACKEND_PATH} }
    route: { cluster: gatehouse, host_rewrite_literal: '${gatehouse.host}' }
`,
};

/** What of the configuration is about a fault that the test found: its lines, from the whole and correct one. */
export type TestedPart =
  | 'asks'
  | 'header'
  | 'aliases'
  | 'connection'
  | 'protocol'
  | 'answer'
  | 'request'
  | 'website'
  | 'test-route';

const partOf: Readonly<Record<Exclude<TestedPart, 'header' | 'test-route'>, RegExp>> = {
  asks: /middlewares: |address[:=]|forward_auth |auth_request \/|lua\.gatehouse|ext_authz$|ExtAuthz|\turi \//,
  aliases: /aliasHeaders|request_header "-|\[\^A-Za-z0-9-\]|remove_on_match/,
  connection: /@hop|req\.hdr\(Connection\)/,
  // Envoy has no line: it hands on no protocol that `upgrade_configs` does not name.
  protocol: /Upgrade|gatehouse_(upgrade|connection)|^ +(~\*\^)?websocket/,
  answer: /gatehouse_location|gatehouse_set_cookie|error_page|'location'|exact: (location|set-cookie)$/,
  request: /exact: (cookie|accept|referer|sec-fetch-mode)$|X-Original|X-Forwarded|x-forwarded/,
  website: /website=|lua\.gatehouse|url = /,
};

/** The lines of the configuration that concern the part; for `header`, those that hand on this header. */
export function linesAbout(part: TestedPart, application: ProxiedApplication, issuer: string, header = ''): string {
  const { proxy } = application.metadata;
  const site = siteOf(application, issuer);
  if (part === 'test-route') return testRoutes[proxy](site);
  const [hyphens, underscores] = [header.toLowerCase(), header.toLowerCase().replaceAll('-', '_')];
  const isAbout = (line: string) =>
    part === 'header'
      ? (line.toLowerCase().includes(hyphens) || line.includes(`$gatehouse_${underscores}`)) && !/onnection/.test(line)
      : partOf[part].test(line);
  const all = proxies[proxy].snippet(site);
  return all
    .split('\n')
    .filter((line) => !line.trim().startsWith('#') && isAbout(line))
    .join('\n');
}

/** In the configuration of several websites. */
const nameOf = (host: string) => host.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, '');
const hostOnly = (host: string) => new URL(`http://${host}`).hostname;
/** Where a proxy with http listens: it is for this machine alone. */
const loopbackOf = (host: string) => (/^[\d[]/.test(host) ? hostOnly(host) : '127.0.0.1');
const portOf = ({ port, protocol }: URL) => port || (protocol === 'https:' ? '443' : '80');
const isTls = (url: string) => url.startsWith('https:');
/**
 * What may stand in a header name beside letters, digits and hyphens (RFC 9110 5.6.2): CGI, WSGI and PHP read some of them as a hyphen,
 * lighttpd reads all of them so. nginx drops such headers itself.
 */
export const MARKS = [..."_.~!#$%&'*+^`|"];

function traefik({ origin, host, gatehouse, headers }: Site): string {
  const [name, asked] = [nameOf(host), `${gatehouse.origin}/forward-auth/traefik?website=${origin}`];
  const answered = [...headers, 'Upgrade'];
  return `# traefik.yaml, for the entry point of ${host}
entryPoints:
  ${isTls(origin) ? 'websecure' : 'web'}:
    http:
      aliasHeadersStrategy: delete

# dynamic.yaml, one for each website
http:
  middlewares:
    ${name}:
      forwardAuth:
        address: ${asked}
        authResponseHeaders: [${answered.join(', ')}]
  routers:
    ${name}:
      rule: Host(\`${hostOnly(host)}\`)
      middlewares: [${name}]
      service: ${name}
  services:
    ${name}:
      loadBalancer:
        servers:
          - url: http://BACKEND:8080

# compose.yaml: with labels, the website needs no dynamic.yaml
labels:
  traefik.http.middlewares.${name}.forwardauth.address: ${asked}
  traefik.http.middlewares.${name}.forwardauth.authresponseheaders: ${answered.join(',')}
  traefik.http.routers.${name}.rule: Host(\`${hostOnly(host)}\`)
  traefik.http.routers.${name}.middlewares: ${name}
  traefik.http.services.${name}.loadbalancer.server.port: 8080
`;
}

/** As Go writes the names of headers, which the placeholders of Caddy have. */
const asInGo = (name: string) => name.toLowerCase().replaceAll(/(?<![^-])[a-z]/g, (letter) => letter.toUpperCase());

function caddy({ origin, host, gatehouse, headers }: Site): string {
  const bind = isTls(origin) ? '' : `\n	bind ${loopbackOf(host)} # not in a container`;
  // With http in front of it, Caddy gets no certificate.
  return `${isTls(origin) ? host : origin} {${bind}
	# a website may read one of these names as one of the headers below
${MARKS.map((mark) => `	request_header "-*${mark}*"`).join('\n')}
	# no request removes a header of the list, or asks for another protocol than WebSocket
	@hop header_regexp Connection (?i)${headers.join('|')}
	request_header @hop -Connection
	@other not vars_regexp {http.request.header.Upgrade} (?i)^websocket$
	request_header @other -Upgrade
	forward_auth ${gatehouse.origin} {
		uri /forward-auth/caddy?website=${origin}
		header_up Host {upstream_hostport}
		transport http {
			dial_timeout 5s
			response_header_timeout 5s
		}
	}
	# copy_headers of Caddy 2.9 to 2.11.1 keeps what the browser sent where the answer has an empty value
${headers.map((name) => `	request_header ${name} {rp.header.${asInGo(name)}}`).join('\n')}
	reverse_proxy BACKEND:8080
}
`;
}

function nginx({ origin, host, gatehouse, headers }: Site): string {
  const variable = (name: string) => `$gatehouse_${name.toLowerCase().replaceAll('-', '_')}`;
  const answered = (name: string) => `$upstream_http_${name.toLowerCase().replaceAll('-', '_')}`;
  const handedOn = headers.map(
    (name) => `  auth_request_set ${variable(name)} ${answered(name)};
  proxy_set_header ${name} ${variable(name)};`,
  );
  const port = portOf(new URL(origin));
  const listen = isTls(origin)
    ? `${port} ssl;
  ssl_certificate /etc/nginx/fullchain.pem;
  ssl_certificate_key /etc/nginx/privkey.pem;`
    : `${loopbackOf(host)}:${port}; # in a container without the address`;
  // nginx hands on the challenge of a 401 itself.
  return `map $http_upgrade $gatehouse_upgrade {
  ~*^websocket$ websocket;
}
map $gatehouse_upgrade $gatehouse_connection {
  websocket upgrade;
}
map $upstream_status $gatehouse_challenge {
  403 $upstream_http_www_authenticate;
}
# error_page changes the method, and a map keeps its first value.
map $request_method $gatehouse_method {
  default $request_method;
}
server {
  listen ${listen}
  server_name ${hostOnly(host)};

  # Every location asks, unless it has an auth_request of its own. One with a proxy_set_header of its own must repeat those
  # below, or the browser's own Remote-User reaches the website; one with an error_page of its own must repeat error_page.
  auth_request /gatehouse-check;
  auth_request_set $gatehouse_location $upstream_http_location;
  auth_request_set $gatehouse_set_cookie $upstream_http_set_cookie;
  auth_request_set $gatehouse_status $upstream_status;
  error_page 401 = /gatehouse-check?401;
  error_page 403 = /gatehouse-check?403;
${handedOn.join('\n')}
  proxy_http_version 1.1;
  proxy_set_header Host ${host};
  proxy_set_header Upgrade $gatehouse_upgrade;
  proxy_set_header Connection $gatehouse_connection;

  location / {
    proxy_pass http://BACKEND:8080;
  }
  location = /gatehouse-check {
    internal;
    auth_request off;
    # What nginx itself closes (deny, auth_basic) stays as it is.
    set $gatehouse_closed "$args $gatehouse_status";
    if ($gatehouse_closed ~ "^401 (?!.*40[13]$)") {
      return 401;
    }
    if ($gatehouse_closed ~ "^403 (?!.*40[13]$)") {
      return 403;
    }
    if ($gatehouse_location) {
      add_header Set-Cookie $gatehouse_set_cookie always;
      return 302 $gatehouse_location;
    }
    proxy_pass ${gatehouse.origin}/forward-auth/nginx;
    proxy_connect_timeout 5s;
    proxy_read_timeout 5s;
    # the headers of people in many groups
    proxy_buffer_size 32k;
    proxy_buffers 4 32k;
    proxy_pass_request_body off;
    proxy_hide_header WWW-Authenticate;
${headers.map((name) => `    proxy_hide_header ${name};`).join('\n')}
    add_header WWW-Authenticate $gatehouse_challenge always;
    proxy_set_header Content-Length "";
    proxy_set_header Host ${gatehouse.host};
    proxy_set_header X-Original-URL ${origin}$request_uri;
    proxy_set_header X-Original-Method $gatehouse_method;
    proxy_set_header X-Forwarded-For $remote_addr;
  }
}
`;
}

function haproxy({ origin, host, gatehouse, headers }: Site): string {
  // An error of Lua would let the request through. HAProxy asks four times when it gets no answer.
  const removed = headers.filter((name) => name !== 'Authorization' && name !== 'Cookie');
  return `# haproxy.cfg: in the section "global", once
  lua-load /etc/haproxy/gatehouse.lua
  httpclient.resolvers.prefer ipv4
  # the headers of people in many groups
  tune.bufsize 32768

# in the backend of ${host}
  http-request deny if { req.hdr(Connection) -m sub -i ${headers.join(' ')} }
  http-request set-header Upgrade websocket if { req.hdr(Upgrade) -i websocket }
  http-request del-header Upgrade unless { req.hdr(Upgrade) -i websocket }
  http-request del-header [^A-Za-z0-9-] -m reg
  http-request del-header ${removed.join('\n  http-request del-header ')}
  http-request lua.gatehouse ${origin} ${headers.join(',').toLowerCase()}
  http-request deny deny_status 503 unless { var(txn.gatehouse) -m found }

-- gatehouse.lua, the same for all websites
core.register_action('gatehouse', { 'http-req' }, function(txn, website, headers)
  local asked = txn.http:req_get_headers()
  asked['x-forwarded-method'] = { [0] = txn.sf:method() }
  asked['x-forwarded-proto'] = { [0] = txn.sf:ssl_fc() == 1 and 'https' or 'http' }
  asked['x-forwarded-host'] = asked['host']
  asked['x-forwarded-uri'] = { [0] = txn.sf:pathq() }
  asked['x-forwarded-for'] = { [0] = txn.sf:src() }
  asked['host'] = { [0] = '${gatehouse.host}' }
  asked['content-length'] = nil
  asked['transfer-encoding'] = nil
  asked['expect'] = nil
  local url = '${gatehouse.origin}/forward-auth/haproxy?website=' .. website
  local answer = core.httpclient():get({ url = url, headers = asked, timeout = 2000 })
  if answer.status == 200 then
    for name in headers:gmatch('[^,]+') do
      txn.http:req_set_header(name, answer.headers[name] and answer.headers[name][0] or '')
    end
    txn:set_var('txn.gatehouse', 1)
    return
  end
  local reply = txn:reply({ status = answer.status > 0 and answer.status or 503 })
  for _, name in ipairs({ 'location', 'set-cookie', 'content-type', 'retry-after', 'www-authenticate', 'x-gatehouse-reference' }) do
    for _, value in pairs(answer.headers and answer.headers[name] or {}) do
      reply:add_header(name, value)
    end
  end
  reply:set_body(answer.body or '')
  txn:done(reply)
end, 2)
`;
}

function envoy({ host, gatehouse, headers }: Site): string {
  const exact = (names: readonly string[], indent: string) =>
    names.map((name) => `${indent}- exact: ${name.toLowerCase()}`).join('\n');
  return `# The filters of ${host}, before envoy.filters.http.router. Each virtual host of the listener names its hosts, this one
# domains: ['${host}']. With '*', a request gets through that was asked about another website. Several websites share
# the filters, whose allowed_upstream_headers name those of all.
http_filters:
  - name: envoy.filters.http.header_mutation
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.http.header_mutation.v3.HeaderMutation
      mutations:
        request_mutations:
          - remove_on_match: { key_matcher: { safe_regex: { regex: ":?.*[^:A-Za-z0-9-].*" } } }
  - name: envoy.filters.http.ext_authz
    typed_config:
      "@type": type.googleapis.com/envoy.extensions.filters.http.ext_authz.v3.ExtAuthz
      failure_mode_allow: false
      status_on_error: { code: ServiceUnavailable }
      http_service:
        path_prefix: /forward-auth/envoy
        server_uri:
          uri: ${gatehouse.origin}
          cluster: gatehouse
          timeout: 5s
        authorization_request:
          allowed_headers:
            patterns:
${exact(['cookie', 'authorization', 'accept', 'accept-language', 'origin', 'referer', 'x-requested-with', 'x-forwarded-proto', 'x-forwarded-for', 'sec-fetch-mode', 'sec-fetch-dest', 'sec-fetch-site', 'sec-fetch-user', 'sec-purpose', 'upgrade', 'sec-websocket-key', 'access-control-request-method'], '              ')}
        authorization_response:
          allowed_upstream_headers:
            patterns:
${exact(headers, '              ')}
          allowed_client_headers:
            patterns:
${exact(['location', 'set-cookie', 'content-type', 'retry-after', 'www-authenticate', 'x-gatehouse-reference'], '              ')}

# The cluster of Gatehouse
clusters:
  - name: gatehouse
    type: STRICT_DNS
    dns_lookup_family: V4_PREFERRED
    connect_timeout: 5s
    load_assignment:
      cluster_name: gatehouse
      endpoints:
        - lb_endpoints:
            - endpoint:
                address:
                  socket_address: { address: ${gatehouse.hostname}, port_value: ${portOf(gatehouse)} }
`;
}
