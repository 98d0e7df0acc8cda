// A client with a security profile and its own keys, driven by openid-client, and requests of it made by hand with jose.
import * as jose from 'jose';
import * as oidc from 'openid-client';
import { sha256 } from '../../../src/base/platform/random.ts';
import type { TestUser } from '../../support/factories.ts';
import { httpClient, type Page } from '../../support/http.ts';
import type { TestIdp } from '../../support/idp.ts';
import { type ClientInput, completeSignIn, verifier } from '../support.ts';

export const callback = 'https://bank.example.com/cb';
/** As the key says it (RFC 9864), and as this server writes it. */
export type ClientAlg = 'ES256' | 'PS256' | 'Ed25519';
export type ServerAlg = 'ES256' | 'PS256' | 'EdDSA';
type Claims = Record<string, unknown>;

export interface FapiClient {
  clientId: string;
  alg: ClientAlg;
  keys: jose.GenerateKeyPairResult;
  config: oidc.Configuration;
  dpop: oidc.DPoPHandle;
}

export const seconds = () => Math.floor(Date.now() / 1000);

/** A registered client whose registration says little more than its profile. */
export async function aFapiClient(
  idp: TestIdp,
  profile: 'fapi2' | 'fapi2-signing',
  { alg = 'ES256', serverAlg = 'PS256', ...input }: ClientInput & { alg?: ClientAlg; serverAlg?: ServerAlg } = {},
): Promise<FapiClient> {
  const keys = await jose.generateKeyPair(alg, { extractable: true });
  const jwk = { ...(await jose.exportJWK(keys.publicKey)), kid: 'one', use: 'sig' } as jose.JWK & { kty: 'EC' };
  const serverAlgs = {
    id_token_signed_response_alg: serverAlg,
    authorization_signed_response_alg: serverAlg,
    introspection_signed_response_alg: serverAlg,
  };
  const { application } = await idp.services.applications.createOidc({
    client_name: 'Bank',
    consent: 'implicit',
    profile,
    redirect_uris: [callback],
    grant_types: ['authorization_code', 'refresh_token', 'client_credentials'],
    jwks: { keys: [jwk] },
    ...serverAlgs,
    ...input,
  });
  const { clientId } = application;
  const config = await oidc.discovery(
    new URL(idp.issuer),
    clientId,
    serverAlgs,
    oidc.PrivateKeyJwt({ key: keys.privateKey, kid: 'one' }),
    { execute: [oidc.allowInsecureRequests] },
  );
  const dpop = oidc.getDPoPHandle(config, await oidc.randomDPoPKeyPair(alg));
  return { clientId, alg, keys, config, dpop };
}

/** A pushed request with the sign-in, up to the address with the response. */
export async function signInWithPar(idp: TestIdp, client: FapiClient, user: TestUser, isSigned: boolean) {
  const checks = { pkceCodeVerifier: verifier, expectedState: oidc.randomState(), expectedNonce: oidc.randomNonce() };
  const parameters: Record<string, string> = {
    redirect_uri: callback,
    scope: 'openid profile offline_access',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
    state: checks.expectedState,
    nonce: checks.expectedNonce,
  };
  if (isSigned) oidc.useJwtResponseMode(client.config);
  const signed = isSigned
    ? (await oidc.buildAuthorizationUrlWithJAR(client.config, parameters, { key: client.keys.privateKey, kid: 'one' }))
        .searchParams
    : parameters;
  const url = await oidc.buildAuthorizationUrlWithPAR(client.config, signed, { DPoP: client.dpop });
  const page = await completeSignIn(httpClient(idp.issuer), url.href, { user, redirectUri: callback });
  return { back: new URL(page.location ?? 'about:blank'), checks, page, url };
}

/** The whole sign-in with the tokens. */
export async function tokensOf(idp: TestIdp, client: FapiClient, user: TestUser, isSigned = false) {
  const { back, checks } = await signInWithPar(idp, client, user, isSigned);
  return oidc.authorizationCodeGrant(client.config, back, checks, undefined, { DPoP: client.dpop });
}

/** A client assertion by hand; `undefined` leaves a claim out. */
export function assertion(idp: TestIdp, { clientId, keys, alg }: FapiClient, claims: Claims = {}, header: Claims = {}) {
  const now = seconds();
  const sound = { iss: clientId, sub: clientId, aud: idp.issuer, jti: crypto.randomUUID(), iat: now, exp: now + 60 };
  return new jose.SignJWT({ ...sound, ...claims })
    .setProtectedHeader({ alg, kid: 'one', ...header })
    .sign(keys.privateKey);
}

/** A DPoP proof by hand, of a key of its own unless given. */
export async function proof(
  { method = 'POST', url, token }: { method?: string; url: string; token?: string },
  claims: Claims = {},
  keys?: jose.GenerateKeyPairResult,
): Promise<string> {
  const pair = keys ?? (await jose.generateKeyPair('ES256', { extractable: true }));
  const sound = {
    jti: crypto.randomUUID(),
    htm: method,
    htu: url,
    iat: seconds(),
    ...(token && { ath: sha256(token) }),
  };
  return new jose.SignJWT({ ...sound, ...claims })
    .setProtectedHeader({ alg: 'ES256', typ: 'dpop+jwt', jwk: await jose.exportJWK(pair.publicKey) })
    .sign(pair.privateKey);
}

/** A request with this assertion. */
export function withAssertion(
  idp: Pick<TestIdp, 'issuer'>,
  path: string,
  form: Record<string, string>,
  jwt: string,
  headers: Record<string, string> = {},
): Promise<Page> {
  const client_assertion_type = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  return httpClient(idp.issuer).post(path, {
    form: { ...form, client_assertion_type, client_assertion: jwt },
    headers: { accept: '*/*', ...headers },
  });
}

/** The parameters of a sound authorization request. */
export async function sound(client: FapiClient): Promise<Record<string, string>> {
  return {
    client_id: client.clientId,
    response_type: 'code',
    redirect_uri: callback,
    scope: 'openid offline_access',
    code_challenge: await oidc.calculatePKCECodeChallenge(verifier),
    code_challenge_method: 'S256',
  };
}

/** A nonce of the server, from the first answer to a proof without one. */
export async function nonceOf(idp: TestIdp, client: FapiClient): Promise<string> {
  const url = `${idp.issuer}/token`;
  const page = await withAssertion(idp, '/token', { grant_type: 'client_credentials' }, await assertion(idp, client), {
    dpop: await proof({ url }),
  });
  return String(page.headers['dpop-nonce']);
}
