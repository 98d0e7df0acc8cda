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
function configuration(proxy: ProxyKind): string {
  const application = { clientId: 'https://wiki.example.com', metadata: proxiedSettings.parse({ proxy }) };
  const { text } = proxyConfiguration(
    application as Parameters<typeof proxyConfiguration>[0],
    'https://id.example.com',
  );
  return text.replaceAll('BACKEND:8080', 'wiki:80');
}

const envoyFilters = () =>
  parse(example('envoy.yaml')).static_resources.listeners[0].filter_chains[0].filters[0].typed_config.http_filters;

it('the examples have the configuration of the console', () => {
  expect(example('Caddyfile')).toContain(configuration('caddy'));
  expect(example('nginx.conf')).toContain(configuration('nginx'));
  const [staticPart = '', dynamicPart = ''] = configuration('traefik').split('# dynamic.yaml\n');
  expect(parse(example('traefik.yaml'))).toMatchObject(parse(staticPart));
  expect(parse(example('dynamic.yaml'))).toMatchObject(parse(dynamicPart));
  const [rules = '', script] = configuration('haproxy').split('-- gatehouse.lua\n');
  expect(example('gatehouse.lua')).toBe(script);
  const lines = rules.split('\n').filter((line) => line.startsWith('  '));
  expect(example('haproxy.cfg').split('\n')).toEqual(expect.arrayContaining(lines));
  expect(example('haproxy.cfg')).toContain(lines.slice(1).join('\n'));
  const { http_filters, clusters } = parse(configuration('envoy'));
  expect(envoyFilters().slice(0, -1)).toEqual(http_filters);
  expect(parse(example('envoy.yaml')).static_resources.clusters).toEqual(expect.arrayContaining(clusters));
});

it('the examples for Kubernetes hand on the same headers', () => {
  const [middleware] = parseAllDocuments(example('kubernetes/traefik.yaml')).map((one) => one.toJS());
  const { gatehouse } = parse(configuration('traefik').split('# dynamic.yaml\n')[1] ?? '').http.middlewares;
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
