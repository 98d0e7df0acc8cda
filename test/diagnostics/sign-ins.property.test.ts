// Over random applications, users and settings: what the access check, the preview and the offered fixes say is what a real sign-in
// does, in both protocols. SIGN_INS=2000 tries more; PROPERTY_SEED looks elsewhere.

import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { deflateRawSync } from 'node:zlib';
import * as jose from 'jose';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { AccessRejection } from '../../src/applications/access-decision.ts';
import { deviceCodeGrant, type OidcClientInput } from '../../src/applications/fields/oidc-client.ts';
import { serviceProvider, settingsOf } from '../../src/applications/fields/service-provider.ts';
import type { RuleFields } from '../../src/applications/rules/sign-in-rule.ts';
import { randomToken } from '../../src/base/platform/random.ts';
import { decryptAssertion } from '../../src/protocols/saml/xml/decrypt.ts';
import { contextClasses, nameIdFormats } from '../../src/protocols/saml/xml/names.ts';
import { parseXml } from '../../src/protocols/saml/xml/parse.ts';
import { childOf } from '../../src/protocols/saml/xml/read.ts';
import { type ApiCaller, aService } from '../admin/support.ts';
import { signQuery, spCredential } from '../saml/support.ts';
import { signRows } from '../support/database/row-macs.ts';
import type { HttpClient, Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { isLongRun } from '../support/long-run.ts';
import { textOf, unescapeHtml } from '../support/pages/html.ts';
import fc from '../support/property.ts';
import {
  aBrowser,
  anAddress,
  aPersonOf,
  CONNECTIONS,
  clientJwk,
  clientKey,
  type Elsewhere,
  type Ending,
  goThrough,
  type Person,
  type PersonPlan,
  PLAIN,
  startElsewhere,
} from './real-sign-in.ts';

const RUNS = Number(process.env.SIGN_INS ?? (isLongRun ? 200 : 6));
const CALLBACK = 'https://app.example.com/cb';
const API = 'https://library.example.com';
const MINUTES = 60_000;

let idp: TestIdp;
let elsewhere: Elsewhere;
let boss: Person;
let admin: HttpClient;
let freshUntil = 0;
let api: ApiCaller;
beforeAll(async () => {
  idp = await startIdp({ environment: { TRUST_PROXY: '1' } });
  for (const name of ['editor', 'minio-read', 'jupyterhub-user']) await idp.services.roles.create({ name });
  await idp.services.roles.create({ name: 'ops', permissions: ['library:write'] });
  await idp.services.db.asStored.resource.create({
    data: {
      identifier: API,
      scopes: '["read","write"]',
      scopePermissions: '{"write":"library:write"}',
      signingAlg: 'ES256',
    },
  });
  await signRows(idp.services);
  elsewhere = await startElsewhere(idp);
  await idp.services.roles.create({ name: 'helper', permissions: ['gatehouse.users:read'] });
  // Strong enough for every value of admin_mfa.
  boss = await aPersonOf(idp, { ...PLAIN, roles: ['admin'], passkey: 'passkey', password: 'none' });
  await signBossIn();
  api = await aService(idp);
});
/** Fixes need a fresh sign-in, and a long run outlives it. */
async function signBossIn(): Promise<void> {
  admin = aBrowser(idp);
  await goThrough(idp, boss, `${idp.issuer}/admin`, { browser: admin });
  freshUntil = Date.now() + 5 * MINUTES;
}
afterAll(async () => {
  await idp?.stop();
  await elsewhere?.stop();
});

// What is generated. The plain value comes first: a counterexample shrinks to it.

const seldom = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
const often = <T>(...values: T[]) => fc.constantFrom(...values);

/** What products do with a person of whom they receive these claims. Told by their documentation, not by this server. */
const PRODUCTS: Record<string, (received: Record<string, unknown>) => string[]> = {
  'oauth2-proxy': ({ email, email_verified: isVerified }) => [
    ...(email === undefined ? ['email'] : isVerified === true ? [] : ['verified-email']),
  ],
  gitea: ({ email }) => (email === undefined ? ['email'] : []),
  jupyterhub: ({ roles = [] }) => ((roles as string[]).includes('jupyterhub-user') ? [] : ['product-role']),
};

const settingsPlan = fc.record({
  mfa: seldom<string>('optional', 'required', 'off'),
  admin_mfa: seldom<string>('optional', 'required', 'phishing-resistant'),
  first_factor: seldom<string>('open', 'approval', 'window'),
  default_language: often('en', 'de'),
});

const personPlan: fc.Arbitrary<PersonPlan> = fc.record({
  email: often('verified', 'unverified', 'none'),
  roles: fc.subarray(['editor', 'ops', 'helper', 'minio-read', 'jupyterhub-user']),
  isActive: seldom(true, false),
  password: seldom('long', 'short', 'temporary', 'none'),
  totp: fc.boolean(),
  passkey: seldom('none', 'passkey', 'security-key'),
  lockedBy: seldom('nothing', 'username', 'email'),
  department: often(undefined, 'Library'),
  from: seldom('nowhere', 'connection', 'required-connection', 'directory'),
  inDirectory: often('fine', 'disabled', 'must-change', 'gone'),
  language: seldom('en', 'de'),
});

const common = {
  enabled: seldom(true, false),
  access: seldom<OidcClientInput['access']>('everyone', { roles: ['editor'] }, { roles: ['editor', 'ops'] }),
  mfa: seldom<'required' | 'phishing-resistant' | undefined>(undefined, 'required', 'phishing-resistant'),
  consent: often<'explicit' | 'implicit'>('implicit', 'explicit'),
  local_sign_in: fc.oneof(
    { weight: 9, arbitrary: fc.constant(undefined) },
    { weight: 1, arbitrary: fc.constant<false | undefined>(false) },
  ),
  connections: seldom<'all' | string[] | undefined>(
    undefined,
    'all',
    [],
    [CONNECTIONS.connection],
    [CONNECTIONS.directory, CONNECTIONS['required-connection']],
  ),
  session_hours: often(undefined, 1),
  allowed_networks: seldom(undefined, ['10.0.0.0/8'], ['203.0.113.0/24']),
  roles_filter: often(undefined, ['e*']),
  roles_rename: often(undefined, { editor: 'Editors' }),
} satisfies Record<keyof RuleFields, fc.Arbitrary<unknown>> & Record<string, fc.Arbitrary<unknown>>;

const clientPlan = fc.record({
  ...common,
  auth: often<'secret' | 'none' | 'key' | 'fapi2' | 'fapi2-signing'>('secret', 'none', 'key', 'fapi2', 'fapi2-signing'),
  secretIsGone: seldom(false, true),
  grants: seldom<NonNullable<OidcClientInput['grant_types']>>(
    ['authorization_code'],
    ['authorization_code', 'refresh_token'],
    [deviceCodeGrant],
    [deviceCodeGrant, 'authorization_code'],
    ['client_credentials'],
  ),
  preset: seldom(undefined, ...Object.keys(PRODUCTS)),
  scope: often(undefined, 'openid', 'openid profile email', 'openid roles permissions own', 'openid read write roles'),
  resources: often(undefined, [API]),
  id_token_claims: often<'always' | 'conform' | undefined>(undefined, 'conform'),
  subject_type: often<'public' | 'pairwise'>('public', 'pairwise'),
  claims: often<OidcClientInput['claims']>(undefined, {
    department: 'attributes.department',
    login: { field: 'username', scope: 'own' },
  }),
  default_acr_values: seldom<OidcClientInput['default_acr_values']>(undefined, ['urn:gatehouse:acr:mfa'], ['phr']),
  isPushed: seldom(false, true),
  access_token_minutes: often(undefined, 1),
  request: fc.record({
    acr_values: seldom(undefined, 'urn:gatehouse:acr:mfa', 'phr', 'urn:gatehouse:acr:password', 'unknown'),
    claims: seldom(
      undefined,
      '{"id_token":{"acr":{"essential":true,"values":["urn:gatehouse:acr:mfa"]}}}',
      '{"id_token":{"email":null},"userinfo":{"name":{"essential":true},"roles":null}}',
    ),
    max_age: seldom(undefined, '0', '3600'),
    prompt: seldom(undefined, 'login', 'consent', 'none', 'select_account'),
    ui_locales: seldom(undefined, 'de', 'xx'),
    isForApi: seldom(false, true),
  }),
});
type ClientPlan = (typeof clientPlan)['generate'] extends (...args: never[]) => { value: infer Plan } ? Plan : never;

const FORMATS = ['persistent', 'transient', 'emailAddress', 'unspecified'] as const;
const providerPlan = fc.record({
  ...common,
  name_id_format: often(undefined, ...FORMATS),
  isForced: fc.boolean(),
  name_id_field: often(undefined, 'sub' as const, 'username' as const, 'email' as const),
  named: often<readonly (typeof FORMATS)[number][]>([], ['emailAddress'], ['transient', 'persistent']),
  require_allow_create: seldom(false, true),
  attributes: often<Record<string, string>>({}, { mail: 'email', groups: 'roles', dep: 'attributes.department' }),
  isSigned: fc.boolean(),
  encrypt: seldom<'never' | 'always'>('never', 'always'),
  ignore_requested_authn_context: fc.boolean(),
  request: fc.record({
    context: seldom<keyof typeof contextClasses | undefined>(undefined, 'password', 'mfa', 'passkey'),
    comparison: often('exact', 'minimum'),
    isForced: seldom(false, true),
    isPassive: seldom(false, true),
    format: seldom(undefined, ...FORMATS),
    allowCreate: seldom(undefined, true, false),
  }),
});
type ProviderPlan = (typeof providerPlan)['generate'] extends (...args: never[]) => { value: infer Plan }
  ? Plan
  : never;

// What is made of it.

interface Tried {
  ok: boolean;
  /** Ids of checks, one of which must have failed. */
  because: string[];
  /** For the reader of a counterexample. */
  said: string;
  idToken?: Record<string, unknown>;
  userinfo?: Record<string, unknown>;
  /** What the access token says, to the API that reads it or asks about it. */
  accessToken?: { api: string | undefined; claims: Record<string, unknown> };
  assertion?: string;
}

interface App {
  identifier: string;
  /** The checks that the request of the application may change, because it asks for more or less than its registration. */
  asks: string[];
  signIn(person: Person): Promise<Tried>;
}

let apps = 0;
/** A sentence of the pages, in each language of the people. */
function wordsOf(key: string): RegExp {
  const sentences = ['en', 'de'].flatMap((language) =>
    ['sign-in', 'errors'].flatMap((file): string[] => {
      const texts = JSON.parse(readFileSync(`views/texts/${language}/${file}.json`, 'utf8')) as Record<string, string>;
      return texts[key] === undefined ? [] : [texts[key]];
    }),
  );
  if (sentences.length !== 2) throw new Error(`no text ${key}`);
  // Of a text with a case for each state, the last one: a disabled account.
  const pattern = (sentence: string) =>
    sentence
      .replace(/^\{state, select, .* other \{(.*)\}\}$/s, '$1')
      .split(/\{[^{}]*\}/)
      .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*');
  return new RegExp(sentences.map(pattern).join('|'));
}

/** The sentences of the pages by which the access rule closes an application. */
const CLOSED: Record<AccessRejection, readonly string[]> = {
  application_disabled: [],
  account_disabled: ['sign-in.inactive', 'error.account_inactive'],
  other_network: ['access-denied.network'],
  // Its page has the heading of the others.
  no_role: ['access-denied.lead', 'access-denied.can-ask', 'access-denied.asked', 'error.access_denied'],
};

const REJECTIONS: [RegExp, string[]][] = [
  ...Object.entries(CLOSED).flatMap(([id, keys]) => keys.map((key): [RegExp, string[]] => [wordsOf(key), [id]])),
  [wordsOf('error.first_factor_needs_approval'), ['factor']],
  [wordsOf('error.sign_in_method_not_allowed'), ['method']],
  [wordsOf('sign-in.only-with'), ['method']],
  [wordsOf('sign-in.too-many-tries'), ['lockout', 'codes', 'network']],
  [wordsOf('error.too_many_requests'), ['lockout', 'codes', 'network']],
  [wordsOf('app-error.not-from-here'), ['no_role', 'application_disabled', 'metadata', 'registration', 'grant']],
];

function rejected(ending: Ending, also: string[] = []): Tried {
  if (!('page' in ending)) throw new Error('no page');
  const said = `${ending.page.status} ${new URL(ending.page.url).pathname} ${textOf(ending.page.text)}`;
  const because = REJECTIONS.find(([words]) => words.test(said))?.[1];
  const isForm = ending.page.forms.some(({ action }) =>
    /\/(identifier|password|passkey|cancel|connections\/\w+)$/.test(action),
  );
  const noWay = ['method', 'lockout', 'directory'];
  return { ok: false, because: because ?? (isForm ? noWay : also), said: said.slice(0, 300) };
}

async function aClientOf(plan: ClientPlan): Promise<App> {
  const { auth, secretIsGone, grants, isPushed, local_sign_in, claims, request, ...rest } = plan;
  apps += 1;
  const fields = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const profile = isProfile(auth) ? auth : undefined;
  const hasKey = auth === 'key' || profile !== undefined;
  const secret = randomToken();
  const { application } = await idp.services.applications.createOidc({
    ...(fields as Partial<OidcClientInput>),
    ...(claims && { claims: claimsWithin(claims, plan.scope) }),
    client_name: `App ${apps}`,
    redirect_uris: [CALLBACK],
    grant_types: grantsOf(plan),
    ...(auth === 'secret' && { client_secret: secret }),
    ...(auth === 'none' && { token_endpoint_auth_method: 'none' }),
    ...(hasKey && { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [clientJwk] } }),
    ...(profile && { profile, ...PROFILE_ALGS }),
    ...(isPushed && { require_pushed_authorization_requests: true }),
    ...(local_sign_in === false && { local_sign_in }),
  } as OidcClientInput);
  const { clientId, id } = application;
  if (auth === 'secret' && secretIsGone)
    await idp.services.db.clientSecret.deleteMany({ where: { applicationId: id } });
  const proof = hasKey
    ? oidc.PrivateKeyJwt({ key: clientKey.privateKey, kid: 'one' })
    : auth === 'secret'
      ? oidc.ClientSecretBasic(secret)
      : oidc.None();
  const metadata = profile ? PROFILE_ALGS : {};
  return {
    identifier: clientId,
    asks: asksOf(request),
    signIn: (person) => oidcSignIn(plan, { clientId, proof, metadata }, person),
  };
}

function asksOf({ acr_values, claims, isForApi, prompt }: ClientPlan['request']): string[] {
  const isContext = acr_values !== undefined || claims !== undefined;
  return [
    // Where the access token is for an API alone, the ID token has the claims (OpenID Connect Core 5.4).
    ...(isForApi ? ['more-claims'] : []),
    ...(isContext ? ['factor', 'request'] : []),
    ...(claims === undefined ? [] : ['email', 'verified-email']),
    ...(prompt === 'none' ? ['request'] : []),
  ];
}

const PROFILE_ALGS = {
  id_token_signed_response_alg: 'ES256',
  authorization_signed_response_alg: 'ES256',
  introspection_signed_response_alg: 'ES256',
} as const;
const isProfile = (auth: ClientPlan['auth']) => auth === 'fapi2' || auth === 'fapi2-signing';

/** A public client gets no token for itself; the profiles know no devices, and pairwise subjects need a published key set there. */
function grantsOf({ auth, grants, subject_type }: ClientPlan): typeof grants {
  const isRejected = (grant: string) =>
    grant === deviceCodeGrant
      ? isProfile(auth) || subject_type === 'pairwise'
      : grant === 'client_credentials' && auth === 'none';
  const accepted = grants.filter((grant) => !isRejected(grant));
  return accepted.length > 0 ? accepted : ['authorization_code'];
}

/** A claim of a scope that the client may not request is rejected at the registration. */
function claimsWithin(claims: NonNullable<OidcClientInput['claims']>, scope: string | undefined) {
  const isKnown = scope === undefined || scope.split(' ').includes('own');
  return Object.fromEntries(Object.entries(claims).filter(([, source]) => isKnown || typeof source === 'string'));
}

const OIDC_ERRORS: Record<string, string[]> = {
  access_denied: Object.keys(CLOSED).filter((id) => !id.endsWith('_disabled')),
  invalid_client: ['application_disabled', 'secret', 'key', 'registration'],
  unauthorized_client: ['grant'],
  invalid_request: ['grant'],
  invalid_scope: ['openid'],
  login_required: ['request'],
  consent_required: ['request'],
  interaction_required: ['request'],
  account_selection_required: ['request'],
  unmet_authentication_requirements: ['request'],
};

async function oidcSignIn(
  plan: ClientPlan,
  client: { clientId: string; proof: oidc.ClientAuth; metadata: object },
  person: Person,
): Promise<Tried> {
  const config = await oidc.discovery(new URL(idp.issuer), client.clientId, client.metadata, client.proof, {
    execute: [oidc.allowInsecureRequests],
  });
  // The networks of an application count for its own requests, too. Failed authentication counts by address.
  const address = anAddress();
  config[oidc.customFetch] = (url, { headers, ...options }) =>
    fetch(url, { ...options, headers: { ...headers, 'x-forwarded-for': address } } as RequestInit);
  try {
    const isDevice = !grantsOf(plan).includes('authorization_code') && grantsOf(plan).includes(deviceCodeGrant);
    const { isForApi, ...wishes } = plan.request;
    const api = isForApi && plan.resources ? API : undefined;
    const scope =
      plan.scope ?? `openid profile email phone address roles permissions groups${plan.claims ? ' own' : ''}`;
    const asked = Object.entries(wishes).filter((wish): wish is [string, string] => wish[1] !== undefined);
    const parameters = { scope, ...(api && { resource: api }), ...(!isDevice && Object.fromEntries(asked)) };
    const DPoP = isProfile(plan.auth) ? oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair('ES256')) : undefined;
    const answer = isDevice
      ? await onDevice(config, { parameters, isLocalAccepted: await isLocal(client.clientId) }, person)
      : await withCode(config, { plan, parameters, DPoP, api }, person);
    if (answer.rejection) return answer.rejection;
    const { tokens } = answer;
    const { access_token: token, expires_in: lifetime = 0 } = tokens;
    if (plan.access_token_minutes !== undefined) expect(lifetime).toBeLessThanOrEqual(60 * plan.access_token_minutes);
    const idToken = { ...tokens.claims() } as Record<string, unknown>;
    const userinfo = api ? undefined : await oidc.fetchUserInfo(config, token, oidc.skipSubjectCheck, { DPoP });
    const isAsked = plan.auth !== 'none' && !api;
    const claims = api ? jose.decodeJwt(token) : isAsked ? await oidc.tokenIntrospection(config, token) : undefined;
    const product = plan.preset === undefined ? [] : (PRODUCTS[plan.preset]?.({ ...idToken, ...userinfo }) ?? []);
    if (product.length > 0) return { ok: false, because: product, said: `${plan.preset} rejects` };
    return {
      ok: true,
      because: [],
      said: 'signed in',
      idToken,
      ...(userinfo && { userinfo }),
      ...(claims && { accessToken: { api, claims: { ...claims } as Record<string, unknown> } }),
    };
  } catch (error) {
    const code = errorOf(error);
    if (code === undefined) throw error;
    // max_age=0 is prompt=login (OpenID Connect Core 3.1.2.1), and `none` must be alone.
    const isContradiction = plan.request.prompt === 'none' && plan.request.max_age === '0';
    const because = [...(OIDC_ERRORS[code] ?? []), ...(isContradiction ? ['request'] : [])];
    return { ok: false, because, said: `${code} ${error}` };
  }
}

async function withCode(
  config: oidc.Configuration,
  {
    plan,
    parameters,
    DPoP,
    api,
  }: {
    plan: ClientPlan;
    parameters: Record<string, string>;
    DPoP: oidc.DPoPHandle | undefined;
    api: string | undefined;
  },
  person: Person,
) {
  const checks = {
    pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
    expectedState: oidc.randomState(),
    expectedNonce: oidc.randomNonce(),
  };
  const request = {
    ...parameters,
    redirect_uri: CALLBACK,
    code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
  };
  const isSigned = plan.auth === 'fapi2-signing';
  if (isSigned) oidc.useJwtResponseMode(config);
  const key = { key: clientKey.privateKey, kid: 'one' };
  const sent = isSigned ? (await oidc.buildAuthorizationUrlWithJAR(config, request, key)).searchParams : request;
  const url =
    plan.isPushed || isProfile(plan.auth)
      ? await oidc.buildAuthorizationUrlWithPAR(config, sent, { DPoP })
      : oidc.buildAuthorizationUrl(config, sent);
  const isThere = (at: string) => at.startsWith(CALLBACK);
  const isLocalAccepted = await isLocal(config.clientMetadata().client_id);
  const ending = await goThrough(idp, person, url.href, { isThere, isLocalAccepted, upstream: elsewhere.upstream });
  if ('page' in ending) return { rejection: rejected(ending, errorsIn(textOf(ending.page.text))) } as const;
  if (!('callback' in ending)) throw new Error('a SAML Response');
  const maxAge = parameters.max_age === undefined ? {} : { maxAge: Number(parameters.max_age) };
  const forApi = api === undefined ? undefined : { resource: api };
  const expected = { ...checks, ...maxAge };
  return { tokens: await oidc.authorizationCodeGrant(config, ending.callback, expected, forApi, { DPoP }) };
}

/** Whether the application accepts a password of this server, now that an administrator may have fixed it. */
const isLocal = async (identifier: string) =>
  (await idp.services.applications.find(identifier))?.metadata.local_sign_in !== false;

/** RFC 8628: the person enters the code of the device in a browser. */
async function onDevice(
  config: oidc.Configuration,
  { parameters, isLocalAccepted }: { parameters: Record<string, string>; isLocalAccepted: boolean },
  person: Person,
) {
  const device = await oidc.initiateDeviceAuthorization(config, parameters);
  const ending = await goThrough(idp, person, device.verification_uri_complete ?? '', {
    isLocalAccepted,
    upstream: elsewhere.upstream,
  });
  if (!('page' in ending)) throw new Error('the page of the device flow');
  const { resource } = parameters;
  try {
    const grant = { device_code: device.device_code, ...(resource && { resource }) };
    return { tokens: await oidc.genericGrantRequest(config, deviceCodeGrant, grant) };
  } catch (error) {
    if (errorOf(error) !== 'authorization_pending') throw error;
    return { rejection: rejected(ending, errorsIn(textOf(ending.page.text))) };
  }
}

/** RFC 6749 5.2, in the body or in the header WWW-Authenticate. */
function errorOf(error: unknown): string | undefined {
  if (error instanceof oidc.ResponseBodyError || error instanceof oidc.AuthorizationResponseError) return error.error;
  return error instanceof oidc.WWWAuthenticateChallengeError ? error.cause[0]?.parameters.error : undefined;
}

const errorsIn = (text: string) =>
  Object.entries(OIDC_ERRORS).flatMap(([error, ids]) => (text.includes(error) ? ids : []));

async function aProviderOf(plan: ProviderPlan): Promise<App> {
  const { isForced, named, isSigned, encrypt, name_id_format, access, enabled, request, ...rest } = plan;
  apps += 1;
  const entityId = `https://sp${apps}.example.com/metadata`;
  const acs = `https://sp${apps}.example.com/acs`;
  const key = (use: string) =>
    `<KeyDescriptor use="${use}"><KeyInfo xmlns="http://www.w3.org/2000/09/xmldsig#"><X509Data><X509Certificate>${spCredential.certificatePem.replace(/-----[^-]+-----|\s/g, '')}</X509Certificate></X509Data></KeyInfo></KeyDescriptor>`;
  const metadata =
    `<EntityDescriptor xmlns="urn:oasis:names:tc:SAML:2.0:metadata" entityID="${entityId}"><SPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">` +
    `${key('signing')}${encrypt === 'always' ? key('encryption') : ''}${named.map((name) => `<NameIDFormat>${nameIdFormats[name]}</NameIDFormat>`).join('')}` +
    `<AssertionConsumerService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST" Location="${acs}" index="0"/></SPSSODescriptor></EntityDescriptor>`;
  const fields = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const entry = serviceProvider.parse({
    ...fields,
    name: `Wiki ${apps}`,
    metadata,
    access,
    enabled,
    encrypt_assertion: encrypt,
    ...(name_id_format && { name_id_format, force_name_id_format: isForced }),
    ...(isSigned && { require_signed_requests: true }),
  });
  await idp.services.applications.createSaml({ ...entry, entityId, settings: settingsOf(entry, metadata) });
  const asks = [
    ...(request.context ? ['factor', 'method', 'request'] : []),
    ...(request.isPassive ? ['request'] : []),
    ...(request.format !== undefined || request.allowCreate !== undefined ? ['name-id'] : []),
  ];
  return { identifier: entityId, asks, signIn: (person) => samlSignIn(plan, { entityId, acs }, person) };
}

async function samlSignIn(
  { isSigned, request: { context, comparison, isForced, isPassive, format, allowCreate } }: ProviderPlan,
  sp: { entityId: string; acs: string },
  person: Person,
): Promise<Tried> {
  const policy = [
    ...(format ? [`Format="${nameIdFormats[format]}"`] : []),
    ...(allowCreate === undefined ? [] : [`AllowCreate="${allowCreate}"`]),
  ];
  const xml =
    `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"` +
    ` ID="_${crypto.randomUUID()}" Version="2.0" IssueInstant="${new Date().toISOString()}" Destination="${idp.issuer}/saml/sso"` +
    `${isForced ? ' ForceAuthn="true"' : ''}${isPassive ? ' IsPassive="true"' : ''}><saml:Issuer>${sp.entityId}</saml:Issuer>` +
    `${policy.length > 0 ? `<samlp:NameIDPolicy ${policy.join(' ')}/>` : ''}` +
    `${context ? `<samlp:RequestedAuthnContext Comparison="${comparison}"><saml:AuthnContextClassRef>${contextClasses[context]}</saml:AuthnContextClassRef></samlp:RequestedAuthnContext>` : ''}` +
    `</samlp:AuthnRequest>`;
  const query = `SAMLRequest=${encodeURIComponent(deflateRawSync(xml).toString('base64'))}`;
  const signed = isSigned ? signQuery(query, { key: spCredential.privateKey }) : query;
  const isLocalAccepted = await isLocal(sp.entityId);
  const ending = await goThrough(idp, person, `${idp.issuer}/saml/sso?${signed}`, {
    isLocalAccepted,
    upstream: elsewhere.upstream,
  });
  if ('page' in ending) return rejected(ending, ['application_disabled', 'metadata', 'registration']);
  if (!('posted' in ending)) throw new Error('a code');
  const response = Buffer.from(ending.posted.SAMLResponse ?? '', 'base64').toString();
  const codes = [...response.matchAll(/StatusCode Value="[^"]*:(\w+)"/g)].map((match) => match[1] ?? '');
  if (codes[0] === 'Success') return { ok: true, because: [], said: 'Success', assertion: decrypted(response) };
  return { ok: false, because: codes.flatMap((code) => SAML_STATUSES[code] ?? []), said: codes.join(' ') };
}

function decrypted(response: string): string {
  const encrypted = childOf(parseXml(response, { kind: 'response' }).root, 'saml:EncryptedAssertion');
  if (!encrypted) return response;
  return decryptAssertion(encrypted, { decryptionKeys: [spCredential.privateKey], allowCbc: false });
}

const SAML_STATUSES: Record<string, string[]> = {
  InvalidNameIDPolicy: ['name-id', 'request'],
  RequestUnsupported: ['encryption'],
  RequestDenied: ['no_role'],
  NoPassive: ['request'],
  NoAuthnContext: ['request'],
};

// What the server says.

interface Said {
  canSignIn: boolean;
  failed: string[];
  uncertain: string[];
  page: Page;
}

async function ask(person: Person, { identifier }: App): Promise<Said> {
  const query = new URLSearchParams({ user: person.username, application: identifier });
  let answer = await api.get(`/access-check?${query}`);
  // A quick machine asks more often than a token may.
  for (; answer.status === 429; answer = await api.get(`/access-check?${query}`)) await sleep(1000);
  if (answer.status === 401) {
    // A long run outlives the token.
    api = await aService(idp);
    answer = await api.get(`/access-check?${query}`);
  }
  expect([answer.status, answer.status === 200 ? '' : answer.text]).toEqual([200, '']);
  const { can_sign_in, rules } = answer.json<{ can_sign_in: boolean; rules: { id: string; state: string }[] }>();
  if (Date.now() > freshUntil) await signBossIn();
  const page = await admin.get(
    `/admin/access-check?${new URLSearchParams({ user: person.username, app: identifier })}`,
  );
  expect([page.status, page.status === 200 ? '' : textOf(page.text)]).toEqual([200, '']);
  expect(textOf(page.text).includes('Ann Example can’t sign in to')).toBe(!can_sign_in);
  const of = (state: string) => rules.filter((rule) => rule.state === state).map(({ id }) => id);
  // Until the network of the person is known, nobody can say more.
  const uncertain = [...of('warning'), ...of('later').filter((id) => id === 'other_network' || id === 'method')];
  return { canSignIn: can_sign_in, failed: of('failed'), uncertain, page };
}

const blockOf = ({ text }: Page, label: string) =>
  unescapeHtml(
    new RegExp(`aria-label="${label}"[^>]*><code>([\\s\\S]*?)</code>`).exec(text)?.[1]?.replace(/<[^>]*>/g, '') ?? '',
  );
/** The buttons that fix something. */
const fixesOf = ({ forms }: Page) => forms.filter(({ fields }) => 'fix' in fields);

/** Presses the first button that was not pressed yet; the id of its fix. */
async function fixOne({ page }: Said, pressed: Set<string>): Promise<string | undefined> {
  const form = fixesOf(page).find(({ fields }) => !pressed.has(fields.fix ?? ''));
  if (!form) return undefined;
  const id = form.fields.fix ?? '';
  pressed.add(id);
  await idp.services.rateLimits.reset('own-changes:account', boss.id);
  const sent = await admin.post(form.action, { form: form.fields });
  const done = sent.status === 200 ? await admin.submit(sent, { confirmed: 'yes', fix: id }) : sent;
  expect([id, done.status, done.status === 303 ? '' : textOf(done.text).slice(0, 400)]).toEqual([id, 303, '']);
  return id;
}

/** Failures that one click always ends, if the administrator has every right. */
const ONE_CLICK = ['application_disabled', 'account_disabled', 'no_role', 'lockout'];

/** Claims of one sign-in, which no preview has. */
const OF_SIGN_IN = [
  ...['iat', 'exp', 'nonce', 'at_hash', 'auth_time', 'acr', 'amr', 'sid', 'jti', 'nbf', 'cnf', 'token_type'],
];
const withoutSignIn = (claims: Record<string, unknown> = {}) =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !OF_SIGN_IN.includes(name)));

function comparePreview({ page }: Said, tried: Tried, { asks }: App): void {
  const previewed = (label: string) => JSON.parse(blockOf(page, label)) as Record<string, unknown>;
  const { idToken, userinfo, accessToken, assertion } = tried;
  // A request may ask for more claims.
  const compare = (shown: Record<string, unknown>, real: Record<string, unknown>) =>
    asks.includes('request') || asks.includes('more-claims')
      ? expect(real).toMatchObject(shown)
      : expect(shown).toEqual(real);
  if (idToken) compare(previewed('ID token'), withoutSignIn(idToken));
  if (userinfo) compare(previewed('UserInfo'), userinfo);
  if (accessToken) {
    const { api, claims } = accessToken;
    compare(previewed(api === undefined ? 'Access token' : `Access token for ${api}`), withoutSignIn(claims));
  }
  if (!assertion) return;
  const xml = blockOf(page, 'Assertion as XML');
  const [shown, real] = [statementsOf(xml), statementsOf(assertion, xml)];
  if (asks.includes('name-id')) expect(shown.attributes).toEqual(real.attributes);
  else expect(shown).toEqual(real);
}

/** NameID and attributes; the value of a NameID that does not exist yet is that of the preview. */
function statementsOf(xml: string, preview = xml) {
  const nameId = /<saml:NameID([^>]*)>([^<]*)</.exec(xml);
  const previewed = /<saml:NameID[^>]*>([^<]*)</.exec(preview)?.[1];
  const attributes = [...xml.matchAll(/<saml:Attribute [^>]*Name="([^"]*)"[\s\S]*?<\/saml:Attribute>/g)].map(
    ([all, name]) => [name, [...all.matchAll(/<saml:AttributeValue[^>]*>([^<]*)</g)].map(([, value]) => value)],
  );
  return {
    audience: /<saml:Audience>([^<]*)</.exec(xml)?.[1],
    nameId: Object.fromEntries(
      [...(nameId?.[1] ?? '').matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]),
    ),
    value: previewed === '…' ? '…' : nameId?.[2],
    attributes,
  };
}

/** A result and a sign-in: green if it ends well, red for the reason of a red check. Warnings leave it open. */
function compareVerdict({ canSignIn, failed, uncertain }: Said, { ok, because, said }: Tried, { asks }: App): void {
  if (ok) {
    const wrong = failed.filter((id) => !asks.includes(id));
    expect({ canSignIn: canSignIn || failed.length > wrong.length, wrong, said }).toMatchObject({
      canSignIn: true,
      wrong: [],
    });
    return;
  }
  const about = JSON.stringify({ canSignIn, failed, uncertain, asks, because, said });
  expect([...failed, ...uncertain, ...asks], about).toSatisfy((ids: string[]) =>
    ids.some((id) => because.includes(id)),
  );
}

async function compare({
  settings,
  person: plan,
  make,
}: {
  settings: Record<string, unknown>;
  person: PersonPlan;
  make(): Promise<App>;
}): Promise<void> {
  for (const [name, value] of Object.entries(settings)) await idp.services.settings.set(name as 'mfa', value as 'off');
  await idp.services.settings.reload();
  const [app, person] = [await make(), await aPersonOf(idp, plan, elsewhere)];
  const pressed = new Set<string>();
  for (;;) {
    const said = await ask(person, app);
    const tried = await app.signIn(person);
    compareVerdict(said, tried, app);
    comparePreview(said, tried, app);
    if (tried.ok) return;
    const offered = fixesOf(said.page).map(({ fields }) => fields.fix ?? '');
    const missing = said.failed.filter((id) => ONE_CLICK.includes(id)).length;
    expect({ failed: said.failed, offered: offered.length >= Math.min(missing, 1) }).toMatchObject({ offered: true });
    const fix = await fixOne(said, pressed);
    if (fix === undefined) return;
    const after = await ask(person, app);
    const before = said.failed.length + said.uncertain.length;
    expect(after.failed.length + after.uncertain.length, JSON.stringify({ fix, said, after })).toBeLessThan(before);
  }
}

describe('the access check, its preview and its fixes say what a real sign-in does', () => {
  it('over OpenID Connect', { timeout: 60 * MINUTES }, async () => {
    const plans = fc.record({ settings: settingsPlan, person: personPlan, client: clientPlan });
    await fc.assert(
      fc.asyncProperty(plans, ({ client, ...plan }) => compare({ ...plan, make: () => aClientOf(client) })),
      { numRuns: RUNS },
    );
  });

  it('over SAML', { timeout: 60 * MINUTES }, async () => {
    const plans = fc.record({ settings: settingsPlan, person: personPlan, provider: providerPlan });
    await fc.assert(
      fc.asyncProperty(plans, ({ provider, ...plan }) => compare({ ...plan, make: () => aProviderOf(provider) })),
      { numRuns: RUNS },
    );
  });
});
