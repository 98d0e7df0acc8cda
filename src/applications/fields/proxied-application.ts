// The schema of a website behind a reverse proxy that asks this server about each request (forward authentication): as it is declared, and
// as `applications.metadata` stores it. Its identifier is its origin.

import { z } from 'zod';
import { addFault, type Fault, fault, faultFrom, rule } from '../../base/texts/faults.ts';
import { typedAddress, webUriFault, webUriSchema } from '../uris.ts';
import { applicationFields, fieldsIn } from './application-field.ts';
import { permissionFilterFaults, presetField, userField, viewFields } from './claim-settings.ts';
import { accessField, nameField, oidcMetadata, signInFields, useFields } from './oidc-client.ts';
import { provisionFaults, provisionField, withoutToken } from './provisioning.ts';

export const proxyKinds = ['traefik', 'caddy', 'nginx', 'haproxy', 'envoy'] as const;
export type ProxyKind = (typeof proxyKinds)[number];

/** The header names of a well-known server, each with the user field of its value. */
export const headerSets = {
  remote: {
    'Remote-User': 'preferred_username',
    'Remote-Groups': 'groups',
    'Remote-Name': 'name',
    'Remote-Email': 'email',
  },
  authentik: {
    'X-authentik-username': 'preferred_username',
    'X-authentik-groups': 'groups',
    'X-authentik-email': 'email',
    'X-authentik-name': 'name',
    'X-authentik-uid': 'sub',
  },
  'oauth2-proxy': {
    'X-Auth-Request-User': 'sub',
    'X-Auth-Request-Preferred-Username': 'preferred_username',
    'X-Auth-Request-Groups': 'groups',
    'X-Auth-Request-Email': 'email',
  },
} as const satisfies Record<string, Record<string, string>>;
/** The signed statement about the user, in every answer. */
export const JWT_HEADER = 'X-Gatehouse-Jwt';

/**
 * Headers that carry a request or its connection, or steer a proxy: an answer must not replace them at the website. Of `X-Forwarded-*`, those
 * that oauth2-proxy and SonarQube know are about people.
 */
const NOT_FOR_PEOPLE =
  /^(accept|authorization|cache-control|cf-connecting|connection|content|cookie|date|expect|forwarded|host|if|keep-alive|location|origin|proxy|range|refresh|sec|set-cookie2?|te|trailer|transfer-encoding|true-client|upgrade|via|www-authenticate|x-accel|x-client-ip|x-forwarded(?!-(user|login|name|email|groups|preferred-username)$)|x-gatehouse|x-http-method|x-method-override|x-original|x-real-ip|x-rewrite|x-sendfile)(-|$)/i;
const MAX_HEADERS = 30;
/** Checked beside the record, whose own fault for a name does not pass through a union. */
function headerNameFault(name: string): Fault | undefined {
  if (name.length > 64 || !/^[A-Za-z][A-Za-z0-9]*(-[A-Za-z0-9]+)*$/.test(name)) return fault([name], 'header-name');
  return NOT_FOR_PEOPLE.test(name) ? fault([name], 'header-of-request') : undefined;
}
const headers = z.union(
  [
    z.enum(['remote', 'authentik', 'oauth2-proxy']),
    z
      .record(z.string(), userField)
      .superRefine((own, context) => {
        for (const name of Object.keys(own).slice(0, MAX_HEADERS)) {
          const found = headerNameFault(name);
          if (found) addFault(context, found);
        }
      })
      .refine((own) => Object.keys(own).length <= MAX_HEADERS, rule('too-many-headers'))
      .refine(
        (own) => new Set(Object.keys(own).map((name) => name.toLowerCase())).size === Object.keys(own).length,
        rule('unique'),
      ),
  ],
  rule('header-set'),
);

/** Below this path of a website this server answers itself. */
export const RESERVED_PATH = '/.gatehouse/';

// Printable ASCII of a path (RFC 3986 3.3) without what servers read in two ways.
const rulePath = z
  .string()
  .max(512)
  .regex(/^(\/[A-Za-z0-9._~!$&'()*+,=:@-]+)*\/?$/, rule('path-rule'))
  .startsWith('/', rule('path-rule'))
  .refine((path) => !/(^|\/)\.\.?(\/|$)|:\$/.test(path), rule('path-rule'))
  .refine((path) => !`${path}/`.toLowerCase().startsWith(RESERVED_PATH), rule('path-reserved'));
export const pathMethods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Who may open a part of the website: everybody, who proved a second factor, or who has one of these roles or is in one of these groups. */
const pathRule = z.strictObject({
  path: rulePath.describe(
    '`/public/` with what is below it, or `/robots.txt` alone; a rule that is not `public` also covers what is below a file',
  ),
  methods: z.array(z.enum(pathMethods)).min(1).optional(),
  rule: z.union([
    z.enum(['public', 'mfa']),
    z.strictObject({
      roles: z.array(z.string().min(1).max(255)).max(100).default([]),
      groups: z.array(z.string().min(1).max(255)).max(100).default([]),
    }),
  ]),
});
export type PathRule = z.output<typeof pathRule>;

/** Of two rules for the same path and method, the order alone would decide which counts. One without methods is for all that none before it names. */
function pathsTwice(rules: readonly PathRule[]): Fault[] {
  for (const [at, { path, methods = [] }] of rules.entries()) {
    const before = rules.slice(0, at).findIndex((one) => {
      if (one.path !== path) return false;
      return one.methods === undefined || methods.some((method) => one.methods?.includes(method));
    });
    if (before >= 0) return [fault(['paths', at, 'path'], 'declared-already', { where: `paths[${before}]` })];
  }
  return [];
}

/** The origin of a website: scheme, host and port, in lower case and without the default port. */
const siteUrl = typedAddress(255)
  .superRefine(faultFrom(webUriFault))
  .refine((url) => !URL.canParse(url) || new URL(url).href === `${new URL(url).origin}/`, rule('site-url'))
  // What a proxy asks about (protocols/forward-auth/asked-request.ts), and safe in each configuration that the console fills in. With a dot at
  // the end it is another host to a browser and the same to a proxy.
  .refine((url) => !URL.canParse(url) || /^[\w.:[\]-]+(?<!\.)$/.test(new URL(url).hostname), rule('site-host'))
  .transform((url) => new URL(url).origin)
  .meta(webUriSchema);

/**
 * Whether the website has the host of this server, or of another website, on whichever port: browsers have one store of cookies for all ports
 * of a host (RFC 6265 8.5), so it would receive the sessions there, in this server those of administrators too.
 */
export const isOnHostOf = (issuerOrOther: string, origin: string): boolean =>
  URL.canParse(origin) && new URL(origin).hostname === new URL(issuerOrOther).hostname;

/** How this server answers the proxy. */
const answer = z.strictObject({
  proxy: z
    .enum(proxyKinds)
    .describe('the reverse proxy in front of it, whose [snippet](forward-auth.md) the console fills in')
    .register(applicationFields, { section: 'general', gives: 'nothing' }),
  logo_uri: oidcMetadata.shape.logo_uri,
  ...presetField,
  headers: headers
    .default('remote')
    .describe(
      'the headers about the user: `remote` (`Remote-User`, `-Groups`, `-Name`, `-Email`), `authentik`, `oauth2-proxy`, or your own, as `{ X-User: email }`',
    )
    .register(applicationFields, { section: 'headers', gives: 'user fields' }),
  paths: z
    .array(pathRule)
    .max(100)
    .default([])
    .describe(
      'rules for parts of it, as `[{ path: /api/, methods: [GET], rule: public }]`; `rule` is `public`, `mfa` or `{ roles: […], groups: […] }`. The longest path counts; without one the access rule does',
    )
    .register(applicationFields, { section: 'paths', gives: 'path rules' }),
  preflight: z
    .enum(['ask', 'allow'])
    .default('ask')
    .describe('`allow`: CORS preflight requests, which carry no cookie, reach the website')
    .register(applicationFields, { section: 'paths', gives: 'nothing', switch: { on: 'allow', off: 'ask' } }),
  depends_on: z
    .array(siteUrl)
    .max(5)
    .refine((list) => new Set(list).size === list.length, rule('unique'))
    .optional()
    .describe(
      'other registered websites of its domain that its pages fetch from, such as `[https://api.example.com]`: a sign-in here is one there',
    )
    .register(applicationFields, { section: 'paths', gives: 'nothing' }),
  csrf: z
    .enum(['allow', 'reject'])
    .default('allow')
    .describe(
      '`reject`: a change or a WebSocket that a page of another website causes is rejected, also one of its own domain',
    )
    .register(applicationFields, { section: 'paths', gives: 'nothing', switch: { on: 'reject', off: 'allow' } }),
  access_tokens: z
    .enum(['none', 'users', 'all'])
    .default('none')
    .describe(
      'which [access tokens](forward-auth.md#programs) for it let a program in: none, those of people who may use it, or also those of clients that act for themselves',
    )
    .register(applicationFields, { section: 'programs', gives: 'programs' }),
  app_passwords: z
    .boolean()
    .default(false)
    .describe(
      '`true`: people create [app passwords](forward-auth.md#programs) with which their programs sign in (Basic authentication)',
    )
    .register(applicationFields, { section: 'programs', gives: 'nothing' }),
  ...useFields,
  ...signInFields,
  ...viewFields,
  ...provisionField,
});

/** An entry of `proxied_applications:` in the configuration file. */
export const proxiedApplication = z.strictObject({
  name: nameField,
  url: siteUrl
    .describe('its address, without a path: what people type')
    .register(applicationFields, { section: null, gives: 'nothing' }),
  enabled: z
    .boolean()
    .default(true)
    .describe('`false` rejects every request')
    .register(applicationFields, { section: null, gives: 'nothing' }),
  ...accessField,
  ...answer.shape,
});
export type ProxiedEntry = z.output<typeof proxiedApplication>;

/** What goes to `applications.metadata` of a website; its origin is the row's client_id. */
export const proxiedSettings = answer;
export type ProxiedSettings = z.output<typeof proxiedSettings>;

/** No filter that matches nothing, one token, and one rule for a path and method. */
export const proxiedRules = (entry: ProxiedEntry): Fault[] => [
  ...permissionFilterFaults(entry),
  ...provisionFaults(entry),
  ...pathsTwice(entry.paths),
];

/** The stored settings of an entry. */
export const proxiedSettingsOf = (entry: ProxiedEntry): ProxiedSettings => fieldsIn(answer, withoutToken(entry));

export const CALLBACK_PATH = `${RESERVED_PATH}callback`;
export const SIGN_IN_PATH = `${RESERVED_PATH}sign-in`;
export const LOGOUT_PATH = `${RESERVED_PATH}logout`;
export const JOIN_PATH = `${RESERVED_PATH}join`;

/** The headers about the user, with the user field of each. */
export function headersOf(chosen: ProxiedSettings['headers']): Readonly<Record<string, string>> {
  return typeof chosen === 'string' ? headerSets[chosen] : chosen;
}

/** The scope of an access token with which a program may send requests to a website. */
export const WEBSITE_SCOPE = 'website:access';

/** Whether programs can come with a credential of this server, which their requests carry in `Authorization`. */
export const letsProgramsIn = ({ access_tokens: tokens, app_passwords }: ProxiedSettings): boolean =>
  tokens !== 'none' || app_passwords;

/** A website as a client of the engine: this server redeems its codes itself. */
export function clientOfWebsite(origin: string): Record<string, unknown> {
  return {
    redirect_uris: [`${origin}${CALLBACK_PATH}`],
    post_logout_redirect_uris: [`${origin}/`],
    response_types: ['code'],
    response_modes: ['query'],
    grant_types: ['authorization_code'],
    token_endpoint_auth_method: 'none',
    scope: 'openid',
  };
}
