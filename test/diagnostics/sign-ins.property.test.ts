// Over random applications, users and settings: what the access check, the preview and the offered fixes say is what a real sign-in
// does, in both protocols. SIGN_INS=2000 tries more; PROPERTY_SEED looks elsewhere.
import { deflateRawSync } from 'node:zlib';
import * as oidc from 'openid-client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OidcClientInput } from '../../src/applications/fields/oidc-client.ts';
import { serviceProvider, settingsOf } from '../../src/applications/fields/service-provider.ts';
import { randomToken } from '../../src/platform/random.ts';
import { nameIdFormats } from '../../src/saml/xml/names.ts';
import { type ApiCaller, aService } from '../admin/support.ts';
import { signQuery, spCredential } from '../saml/support.ts';
import type { HttpClient, Page } from '../support/http.ts';
import { startIdp, type TestIdp } from '../support/idp.ts';
import { textOf, unescapeHtml } from '../support/pages/html.ts';
import fc from '../support/property.ts';
import {
  aBrowser,
  aPersonOf,
  clientJwk,
  clientKey,
  type Ending,
  goThrough,
  type Person,
  type PersonPlan,
  PLAIN,
} from './real-sign-in.ts';

const RUNS = Number(process.env.SIGN_INS ?? 24);
const CALLBACK = 'https://app.example.com/cb';
const MINUTES = 60_000;

let idp: TestIdp;
let boss: Person;
let admin: HttpClient;
let api: ApiCaller;
beforeAll(async () => {
  idp = await startIdp({ environment: { TRUST_PROXY: '1' } });
  for (const name of ['editor', 'ops']) await idp.services.roles.create({ name });
  await idp.services.roles.create({ name: 'helper', permissions: ['gatehouse.users:read'] });
  // Strong enough for every value of admin_mfa.
  boss = await aPersonOf(idp, { ...PLAIN, roles: ['admin'], passkey: 'passkey', password: 'none' });
  admin = aBrowser(idp);
  await goThrough(idp, boss, `${idp.issuer}/admin`, { browser: admin });
  api = await aService(idp);
});
afterAll(() => idp?.stop());

// What is generated. The plain value comes first: a counterexample shrinks to it.

const seldom = <T>(usual: T, ...others: T[]) =>
  fc.oneof({ weight: 4, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: fc.constantFrom(...others) });
const often = <T>(...values: T[]) => fc.constantFrom(...values);

const settingsPlan = fc.record({
  mfa: seldom<string>('optional', 'required', 'off'),
  admin_mfa: seldom<string>('optional', 'required', 'phishing-resistant'),
  first_factor: seldom<string>('open', 'approval', 'window'),
  default_language: often('en', 'de'),
});

const personPlan: fc.Arbitrary<PersonPlan> = fc.record({
  email: often('verified', 'unverified', 'none'),
  roles: fc.subarray(['editor', 'ops', 'helper']),
  isActive: seldom(true, false),
  password: seldom('long', 'short', 'temporary', 'none'),
  totp: fc.boolean(),
  passkey: seldom('none', 'passkey', 'security-key'),
  lockedBy: seldom('nothing', 'username', 'email'),
  department: often(undefined, 'Library'),
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
  allowed_networks: seldom(undefined, ['10.0.0.0/8'], ['203.0.113.0/24']),
  roles_filter: often(undefined, ['e*']),
  roles_rename: often(undefined, { editor: 'Editors' }),
};

const clientPlan = fc.record({
  ...common,
  auth: often<'secret' | 'none' | 'key' | 'fapi2'>('secret', 'none', 'key', 'fapi2'),
  secretIsGone: seldom(false, true),
  grants: seldom<('authorization_code' | 'refresh_token' | 'client_credentials')[]>(
    ['authorization_code'],
    ['authorization_code', 'refresh_token'],
    ['client_credentials'],
  ),
  scope: often(undefined, 'openid', 'openid profile email', 'openid roles permissions own'),
  id_token_claims: often<'always' | 'conform' | undefined>(undefined, 'conform'),
  subject_type: often<'public' | 'pairwise'>('public', 'pairwise'),
  claims: often<OidcClientInput['claims']>(undefined, {
    department: 'attributes.department',
    login: { field: 'username', scope: 'own' },
  }),
  default_acr_values: seldom<OidcClientInput['default_acr_values']>(undefined, ['urn:gatehouse:acr:mfa'], ['phr']),
  isPushed: seldom(false, true),
  session_hours: often(undefined, 1),
  access_token_minutes: often(undefined, 1),
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
  assertion?: string;
}

interface App {
  identifier: string;
  signIn(person: Person): Promise<Tried>;
}

let apps = 0;
const REJECTIONS: [RegExp, string[]][] = [
  [/Your account is disabled/, ['account_disabled']],
  [/must allow you to set up two-step/, ['factor']],
  [/has expired or was completed elsewhere/, ['account_disabled']],
  [/Too many/, ['lockout', 'codes', 'network']],
  [/can’t be used from your network/, ['other_network']],
  [/can’t open|don’t have access|doesn’t have access/, ['no_role']],
];

function rejected(ending: Ending, also: string[] = []): Tried {
  if (!('page' in ending)) throw new Error('no page');
  const said = `${ending.page.status} ${new URL(ending.page.url).pathname} ${textOf(ending.page.text)}`;
  const because = REJECTIONS.find(([words]) => words.test(said))?.[1];
  const isForm = ending.page.forms.some(({ action }) => /\/(password|passkey|cancel)$/.test(action));
  return { ok: false, because: because ?? (isForm ? ['method', 'lockout'] : also), said: said.slice(0, 300) };
}

async function aClientOf(plan: ClientPlan): Promise<App> {
  const { auth, secretIsGone, grants, isPushed, local_sign_in, claims, ...rest } = plan;
  apps += 1;
  const fields = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== undefined));
  const hasKey = auth === 'key' || auth === 'fapi2';
  const secret = randomToken();
  const { application } = await idp.services.applications.createOidc({
    ...(fields as Partial<OidcClientInput>),
    ...(claims && { claims: claimsWithin(claims, plan.scope) }),
    client_name: `App ${apps}`,
    redirect_uris: [CALLBACK],
    grant_types: auth === 'none' ? ['authorization_code'] : grants,
    ...(auth === 'secret' && { client_secret: secret }),
    ...(auth === 'none' && { token_endpoint_auth_method: 'none' }),
    ...(hasKey && { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [clientJwk] } }),
    ...(auth === 'fapi2' && { profile: 'fapi2', id_token_signed_response_alg: 'ES256' }),
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
  const metadata = auth === 'fapi2' ? { id_token_signed_response_alg: 'ES256' } : {};
  return { identifier: clientId, signIn: (person) => oidcSignIn(plan, { clientId, proof, metadata }, person) };
}

/** A claim of a scope that the client may not request is rejected at the registration. */
function claimsWithin(claims: NonNullable<OidcClientInput['claims']>, scope: string | undefined) {
  const isKnown = scope === undefined || scope.split(' ').includes('own');
  return Object.fromEntries(Object.entries(claims).filter(([, source]) => isKnown || typeof source === 'string'));
}

const OIDC_ERRORS: Record<string, string[]> = {
  access_denied: ['no_role'],
  invalid_client: ['application_disabled', 'secret', 'key', 'registration'],
  unauthorized_client: ['grant'],
  invalid_request: ['grant'],
  invalid_scope: ['openid'],
};

async function oidcSignIn(
  plan: ClientPlan,
  client: { clientId: string; proof: oidc.ClientAuth; metadata: object },
  person: Person,
): Promise<Tried> {
  const config = await oidc.discovery(new URL(idp.issuer), client.clientId, client.metadata, client.proof, {
    execute: [oidc.allowInsecureRequests],
  });
  // The networks of an application count for its own requests, too.
  config[oidc.customFetch] = (url, { headers, ...options }) =>
    fetch(url, { ...options, headers: { ...headers, 'x-forwarded-for': '10.255.0.1' } } as RequestInit);
  const DPoP = plan.auth === 'fapi2' ? oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair('ES256')) : undefined;
  const checks = {
    pkceCodeVerifier: oidc.randomPKCECodeVerifier(),
    expectedState: oidc.randomState(),
    expectedNonce: oidc.randomNonce(),
  };
  const parameters = {
    redirect_uri: CALLBACK,
    scope: plan.scope ?? `openid profile email phone address roles permissions${plan.claims ? ' own' : ''}`,
    code_challenge: await oidc.calculatePKCECodeChallenge(checks.pkceCodeVerifier),
    code_challenge_method: 'S256',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
  };
  try {
    const url =
      plan.isPushed || plan.auth === 'fapi2'
        ? await oidc.buildAuthorizationUrlWithPAR(config, parameters, { DPoP })
        : oidc.buildAuthorizationUrl(config, parameters);
    const ending = await goThrough(idp, person, url.href, { isThere: (at) => at.startsWith(CALLBACK) });
    if ('page' in ending) return rejected(ending, errorsIn(textOf(ending.page.text)));
    if (!('callback' in ending)) throw new Error('a SAML Response');
    const tokens = await oidc.authorizationCodeGrant(config, ending.callback, checks, undefined, { DPoP });
    const idToken = { ...tokens.claims() } as Record<string, unknown>;
    const userinfo = await oidc.fetchUserInfo(config, tokens.access_token, oidc.skipSubjectCheck, { DPoP });
    return { ok: true, because: [], said: 'signed in', idToken, userinfo };
  } catch (error) {
    const code = errorOf(error);
    if (code === undefined) throw error;
    return { ok: false, because: OIDC_ERRORS[code] ?? [], said: `${code} ${error}` };
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
  const { isForced, named, isSigned, encrypt, name_id_format, access, enabled, ...rest } = plan;
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
  return { identifier: entityId, signIn: (person) => samlSignIn(plan, { entityId, acs }, person) };
}

async function samlSignIn(
  { isSigned }: ProviderPlan,
  sp: { entityId: string; acs: string },
  person: Person,
): Promise<Tried> {
  const xml =
    `<samlp:AuthnRequest xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion"` +
    ` ID="_${crypto.randomUUID()}" Version="2.0" IssueInstant="${new Date().toISOString()}" Destination="${idp.issuer}/saml/sso">` +
    `<saml:Issuer>${sp.entityId}</saml:Issuer></samlp:AuthnRequest>`;
  const query = `SAMLRequest=${encodeURIComponent(deflateRawSync(xml).toString('base64'))}`;
  const signed = isSigned ? signQuery(query, { key: spCredential.privateKey }) : query;
  const ending = await goThrough(idp, person, `${idp.issuer}/saml/sso?${signed}`, {});
  if ('page' in ending) return rejected(ending, ['application_disabled', 'metadata', 'registration']);
  if (!('posted' in ending)) throw new Error('a code');
  const response = Buffer.from(ending.posted.SAMLResponse ?? '', 'base64').toString();
  const codes = [...response.matchAll(/StatusCode Value="[^"]*:(\w+)"/g)].map((match) => match[1] ?? '');
  if (codes[0] === 'Success') return { ok: true, because: [], said: 'Success', assertion: response };
  return { ok: false, because: codes.flatMap((code) => SAML_STATUSES[code] ?? []), said: codes.join(' ') };
}

const SAML_STATUSES: Record<string, string[]> = {
  InvalidNameIDPolicy: ['name-id'],
  RequestUnsupported: ['encryption'],
  RequestDenied: ['no_role'],
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
  const { can_sign_in, rules } = (await api.get(`/access-check?${query}`)).json<{
    can_sign_in: boolean;
    rules: { id: string; state: string }[];
  }>();
  const page = await admin.get(
    `/admin/access-check?${new URLSearchParams({ user: person.username, app: identifier })}`,
  );
  expect([page.status, page.status === 200 ? '' : textOf(page.text)]).toEqual([200, '']);
  expect(textOf(page.text).includes('Ann Example can’t sign in to')).toBe(!can_sign_in);
  const of = (state: string) => rules.filter((rule) => rule.state === state).map(({ id }) => id);
  // Until the network of the person is known, nobody can say more.
  const uncertain = [...of('warning'), ...of('later').filter((id) => id === 'other_network')];
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
const OF_SIGN_IN = ['iat', 'exp', 'nonce', 'at_hash', 'auth_time', 'acr', 'amr', 'sid', 'jti', 'nbf'];
const withoutSignIn = (claims: Record<string, unknown> = {}) =>
  Object.fromEntries(Object.entries(claims).filter(([name]) => !OF_SIGN_IN.includes(name)));

function comparePreview({ page }: Said, tried: Tried): void {
  if (tried.idToken) {
    expect(JSON.parse(blockOf(page, 'ID token'))).toEqual(withoutSignIn(tried.idToken));
    expect(JSON.parse(blockOf(page, 'UserInfo'))).toEqual(tried.userinfo);
  }
  if (tried.assertion && !tried.assertion.includes('EncryptedAssertion'))
    expect(statementsOf(blockOf(page, 'Assertion as XML'))).toEqual(
      statementsOf(tried.assertion, blockOf(page, 'Assertion as XML')),
    );
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

/** A verdict and a sign-in: green if it ends well, red for the reason of a red check. Warnings leave it open. */
function compareVerdict({ canSignIn, failed, uncertain }: Said, { ok, because, said }: Tried): void {
  if (ok) {
    expect({ canSignIn, failed, said }).toMatchObject({ canSignIn: true, failed: [] });
    return;
  }
  const about = JSON.stringify({ canSignIn, failed, uncertain, because, said });
  expect(canSignIn ? uncertain : failed, about).toSatisfy((ids: string[]) => ids.some((id) => because.includes(id)));
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
  const [app, person] = [await make(), await aPersonOf(idp, plan)];
  const pressed = new Set<string>();
  for (;;) {
    const said = await ask(person, app);
    const tried = await app.signIn(person);
    compareVerdict(said, tried);
    comparePreview(said, tried);
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
