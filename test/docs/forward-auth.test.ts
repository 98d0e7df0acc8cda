// The code of the guide for websites is that of the examples, and the configuration of the examples is that of the console. The verifiers run in
// test/forward-auth/verifier.test.ts and test/peers/website-verifiers.ts, the configurations in test/peers/website-examples.ts.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { proxyConfiguration } from '../../src/admin/applications/presets/proxies.ts';
import {
  type ProxyKind,
  proxiedApplication,
  proxiedSettings,
  proxyKinds,
} from '../../src/applications/fields/proxied-application.ts';

const read = (name: string) => readFileSync(name, 'utf8');
const example = (name: string) => read(`examples/websites/${name}`);
const guide = read('docs/forward-auth.md');

it('the guide has the verifier of the example in JavaScript, and links to the others', () => {
  expect([...guide.matchAll(/^```\w+\n(.*?)^```$/gms)].map(([, code]) => code)).toContain(
    example('verify/website.mjs'),
  );
  for (const extension of ['py', 'go']) expect(guide).toContain(`examples/websites/verify/website.${extension})`);
});

/** What the console displays for the website of the examples, whose backend is `wiki`. */
function configuration(proxy: ProxyKind, clientId = 'https://wiki.example.com', issuer = 'https://id.example.com') {
  const application = { clientId, metadata: proxiedSettings.parse({ proxy }) };
  const { text, gatehouse } = proxyConfiguration(application as Parameters<typeof proxyConfiguration>[0], issuer);
  // The page says which address to replace.
  expect(text).toContain(gatehouse);
  return text.replaceAll('BACKEND:8080', 'wiki:80');
}

/** Traefik reads labels without regard to case, a list with commas, and the service alone from its port. */
const fromLabels = (labels: Record<string, unknown>) =>
  Object.fromEntries(Object.entries(labels).map(([name, value]) => [name.toLowerCase(), String(value)]));
function fromFile({
  http,
}: {
  http: {
    middlewares: Record<string, { forwardAuth: object }>;
    routers: Record<string, { rule: string; middlewares: string[] }>;
  };
}) {
  const [[name, { forwardAuth }] = expect.fail()] = Object.entries(http.middlewares);
  const { rule, middlewares } = http.routers[name] ?? expect.fail();
  return fromLabels({
    ...prefixed(`traefik.http.middlewares.${name}.forwardauth.`, forwardAuth),
    ...prefixed(`traefik.http.routers.${name}.`, { rule, middlewares }),
    [`traefik.http.services.${name}.loadbalancer.server.port`]: 8080,
  });
}
const prefixed = (start: string, values: object) =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [`${start}${name}`, value]));

const envoyFilters = () =>
  parse(example('envoy.yaml')).static_resources.listeners[0].filter_chains[0].filters[0].typed_config.http_filters;

it('the examples have the configuration of the console', () => {
  expect(example('Caddyfile')).toContain(configuration('caddy'));
  expect(example('nginx.conf')).toContain(configuration('nginx'));
  const [staticPart = '', dynamicPart = '', labelled = ''] = configuration('traefik').split(
    /# (?:dynamic|compose)\.yaml.*\n/,
  );
  expect(parse(example('traefik.yaml'))).toMatchObject(parse(staticPart));
  const dynamic = parse(dynamicPart);
  expect(parse(example('dynamic.yaml'))).toMatchObject(dynamic);
  expect(fromLabels(parse(labelled).labels)).toEqual(fromFile(dynamic));
  const [rules = '', script] = configuration('haproxy').split('-- gatehouse.lua, the same for all websites\n');
  expect(example('gatehouse.lua')).toBe(script);
  const lines = rules.split('\n').filter((line) => line.startsWith('  '));
  expect(example('haproxy.cfg').split('\n')).toEqual(expect.arrayContaining(lines));
  expect(example('haproxy.cfg')).toContain(lines.slice(4).join('\n'));
  const { http_filters, clusters } = parse(configuration('envoy'));
  expect(envoyFilters().slice(0, -1)).toEqual(http_filters);
  expect(parse(example('envoy.yaml')).static_resources.clusters).toEqual(expect.arrayContaining(clusters));
});

it.each(proxyKinds)('%s finds a Gatehouse on this machine at the address where it listens', (proxy) => {
  for (const host of ['localhost', 'id.localhost']) {
    const text = configuration(proxy, 'http://wiki.localhost:8080', `http://${host}:3000`);
    expect(text).toContain('127.0.0.1');
    expect(text).not.toContain(`${host}:3000`);
  }
});

it('two websites share no name of Traefik, and one script of HAProxy', () => {
  const [one, other] = ['https://wiki.example.com', 'https://wiki-2.example.com'];
  const namesOf = (origin: string) => {
    const [, dynamicPart = '', labelled = ''] = configuration('traefik', origin).split(
      /# (?:dynamic|compose)\.yaml.*\n/,
    );
    const { middlewares, routers, services } = parse(dynamicPart).http;
    const all = [middlewares, routers, services, parse(labelled).labels].map((part) => Object.keys(part));
    return all.flatMap((names, at) => names.map((name) => `${at} ${name}`));
  };
  expect(namesOf(one).filter((name) => namesOf(other).includes(name))).toEqual([]);
  const scriptOf = (origin: string) => configuration('haproxy', origin).split('-- gatehouse.lua')[1];
  expect(scriptOf(other)).toBe(scriptOf(one));
});

it('the examples for Kubernetes hand on the same headers', () => {
  const [middleware] = parseAllDocuments(example('kubernetes/traefik.yaml')).map((one) => one.toJS());
  const [, dynamicPart = ''] = configuration('traefik').split(/# (?:dynamic|compose)\.yaml.*\n/);
  const gatehouse = parse(dynamicPart).http.middlewares['wiki-example-com'];
  expect(middleware.spec.forwardAuth).toEqual({
    ...gatehouse.forwardAuth,
    address: gatehouse.forwardAuth.address.replace('//gatehouse:', '//gatehouse.gatehouse:'),
  });
  const [, policy, , traffic] = parseAllDocuments(example('kubernetes/envoy-gateway.yaml')).map((one) => one.toJS());
  const [mutation, authorization] = parse(configuration('envoy')).http_filters;
  const { http_service, failure_mode_allow } = authorization.typed_config;
  const exact = ({ patterns }: { patterns: { exact: string }[] }) => patterns.map((pattern) => pattern.exact);
  expect(policy.spec.extAuth).toMatchObject({
    failOpen: failure_mode_allow,
    headersToExtAuth: exact(http_service.authorization_request.allowed_headers),
    http: { path: http_service.path_prefix },
  });
  expect(policy.spec.extAuth.http.headersToBackend.map((name: string) => name.toLowerCase())).toEqual(
    exact(http_service.authorization_response.allowed_upstream_headers),
  );
  const { regex } = mutation.typed_config.mutations.request_mutations[0].remove_on_match.key_matcher.safe_regex;
  expect(traffic.spec.headers.earlyRequestHeaders.removeOnMatch).toEqual([{ type: 'RegularExpression', value: regex }]);
});

it('the configuration file of the examples declares the website', () => {
  const [website] = parse(example('gatehouse.yaml')).proxied_applications;
  expect(proxiedApplication.safeParse(website).success).toBe(true);
});
