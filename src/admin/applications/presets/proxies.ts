// The configuration of each reverse proxy for a website: a template in views/proxies, filled in. test/peers/forward-auth.ts runs them with
// the real proxies.
//
// All remove each header with one of MARKS in its name (nginx without being told): CGI, WSGI and others read `X-Auth_Request.User` as
// `X-Auth-Request-User`, so a browser could send it beside that of the proxy.

import path from 'node:path';
import { Eta } from 'eta';
import type { ProxiedApplication } from '../../../applications/application.ts';
import {
  headersOf,
  JWT_HEADER,
  letsProgramsIn,
  type ProxyKind,
} from '../../../applications/fields/proxied-application.ts';
import { isLocalhostName } from '../../../base/config/addresses.ts';
import { viewsDir } from '../../../base/platform/package.ts';
import { TEST_BACKEND_PATH } from '../../../protocols/forward-auth/website-test.ts';

/** As they are called, and what their configuration is written in. */
export const proxies: Readonly<Record<ProxyKind, { name: string; file: string }>> = {
  traefik: { name: 'Traefik', file: 'traefik.yaml, dynamic.yaml or compose.yaml' },
  caddy: { name: 'Caddy', file: 'Caddyfile' },
  nginx: { name: 'nginx', file: 'nginx.conf' },
  haproxy: { name: 'HAProxy', file: 'haproxy.cfg, gatehouse.lua' },
  envoy: { name: 'Envoy', file: 'envoy.yaml' },
};

const eta = new Eta({ views: path.join(viewsDir, 'proxies'), cache: true, autoEscape: false, autoTrim: false });

/** The configuration for the website, with where it goes, and the address in it at which the proxy reaches this server. */
export function proxyConfiguration(application: ProxiedApplication, issuer: string) {
  const { proxy } = application.metadata;
  const { name, file } = proxies[proxy];
  const site = siteOf(application, issuer);
  return { title: `${name} (${file})`, text: eta.render(proxy, site), gatehouse: site.gatehouse.host };
}

/** What the templates print. */
function siteOf({ clientId, metadata }: ProxiedApplication, issuer: string) {
  const { protocol, hostname, host, port } = new URL(clientId);
  const isTls = protocol === 'https:';
  // The answer has `Cookie` and `Authorization` as they were sent, without what is for this server.
  const headers = [
    ...Object.keys(headersOf(metadata.headers)),
    JWT_HEADER,
    'Cookie',
    ...(letsProgramsIn(metadata) ? ['Authorization'] : []),
  ];
  // A proxy with TLS is in front of this server, and replaces the headers that describe the request to the website.
  const gatehouse = new URL(issuer.startsWith('https:') ? 'http://gatehouse:3000' : issuer);
  // Some proxies take the address of IPv6, where this server does not listen, or ask a name server for it.
  if (isLocalhostName(gatehouse.hostname)) gatehouse.hostname = '127.0.0.1';
  return {
    origin: clientId,
    isTls,
    scheme: protocol.slice(0, -1),
    host,
    hostname,
    /** An IPv6 one without the brackets. */
    address: hostname.replaceAll(/[[\]]/g, ''),
    /** Where a proxy with http listens: it is for this machine alone. */
    loopback: /^[\d[]/.test(host) ? hostname : '127.0.0.1',
    port: port || (isTls ? '443' : '80'),
    /** In the configuration of several websites. */
    name: host.replaceAll(/[^a-z0-9]+/g, '-').replaceAll(/^-|-$/g, ''),
    /** Where the proxy reaches this server. */
    gatehouse,
    gatehousePort: gatehouse.port || '80',
    /** What the proxy hands on from an answer. */
    headers,
    /** As Go writes the names of headers, which the placeholders of Caddy have. */
    asInGo: (name: string) => name.toLowerCase().replaceAll(/(?<![^-])[a-z]/g, (letter) => letter.toUpperCase()),
    marks: MARKS,
    testPath: TEST_BACKEND_PATH,
  };
}

/**
 * What of the configuration a check of the test (../website-test.ts) is about. `header` is a header that the website receives, and its lines
 * name it; `test-route` has a template of its own (views/proxies/*-test.eta).
 */
export type TestedPart = keyof typeof partOf | 'header' | 'test-route';

/** For each part, which lines of the templates in views/proxies are about it: with its fault, and what matches by proxy. */
const partOf = {
  // The proxy does not ask about a request, or asks as another proxy. The middleware of Traefik with its routers (`tls:` decides which one
  // takes the request), `forward_auth` and `uri` of Caddy, `auth_request`, the action of HAProxy, the filter of Envoy.
  asks: /middlewares: |address[:=]|tls: |forward_auth |auth_request \/|lua\.gatehouse|ext_authz$|ExtAuthz|\turi \//,
  // A header with one of MARKS reaches the website: what removes them. nginx needs no line.
  aliases: /aliasHeaders|request_header "-|\[\^A-Za-z0-9-\]|remove_on_match/,
  // A browser removes a header of the list with `Connection`: what Caddy and HAProxy do about it; the others need no line.
  connection: /@hop|req\.hdr\(Connection\)/,
  // Another protocol than WebSocket reaches the website: each line of `Upgrade`, and the maps of nginx for it.
  // Envoy has no line: it hands on no protocol that `upgrade_configs` does not name.
  protocol: /Upgrade|gatehouse_(upgrade|connection)|^ +(~\*\^)?websocket/,
  // The redirect or the cookie of an answer does not reach the browser: the variables and `error_page` of nginx, the lists of HAProxy and
  // Envoy. Traefik and Caddy hand on the whole answer.
  answer: /gatehouse_location|gatehouse_set_cookie|error_page|'location'|exact: (location|set-cookie)$/,
  // What this server is told about the request is missing, or is what the browser said: the headers that the proxy sends or sets.
  request: /exact: (cookie|accept|referer|sec-fetch-mode)$|X-Original|X-Forwarded|x-forwarded/,
  // The address of the browser is the one that it claims: what sets or decides the header.
  address: /use_remote_address|X-Forwarded-For|x-forwarded-for/,
  // Which website the question is about is missing or wrong: the address of the question, or the header with that of the request.
  website: /website=|lua\.gatehouse|url = |X-Original-URL/,
} satisfies Readonly<Record<string, RegExp>>;

/** The lines of the configuration that concern the part; for `header`, those that hand on this header. */
export function linesAbout(part: TestedPart, application: ProxiedApplication, issuer: string, header = ''): string {
  const { proxy } = application.metadata;
  const site = siteOf(application, issuer);
  // An address of the website that the proxy sends to this server, for the test: lines to add to the configuration, each with its place.
  if (part === 'test-route') return eta.render(`${proxy}-test`, site);
  const variable = `\\$gatehouse_${header.replaceAll('-', '_')}`;
  const ofHeader = new RegExp(`(^|[^\\w-])(${header}|${variable})($|[^\\w-])`, 'i');
  // The lines about `Connection` name each header, and hand on none.
  const isAbout = (line: string) =>
    part === 'header' ? ofHeader.test(line) && !/onnection/.test(line) : partOf[part].test(line);
  // Comments say nothing to change, but those of Traefik with a line for `tls:`, which an administrator may have to add.
  return eta
    .render(proxy, site)
    .split('\n')
    .filter((line) => (!line.trim().startsWith('#') || line.includes('tls: ')) && isAbout(line))
    .join('\n');
}

/**
 * What may stand in a header name beside letters, digits and hyphens (RFC 9110 5.6.2): CGI, WSGI and PHP read some of them as a hyphen,
 * lighttpd reads all of them so. nginx drops such headers itself.
 */
export const MARKS = [..."_.~!#$%&'*+^`|"];
