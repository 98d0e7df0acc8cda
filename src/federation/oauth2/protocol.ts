// Sign-in at an OAuth 2.0 upstream without OpenID Connect (GitHub, Facebook): the code is redeemed (RFC 6749 4.1), and its API says
// who the user is. There is no ID token, so neither the time of the sign-in nor its strength is known.

import { createHash, createHmac } from 'node:crypto';
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { OutgoingError } from '../../base/network/outgoing-fetch.ts';
import { randomToken } from '../../base/platform/random.ts';
import type { Core } from '../../core/core.ts';
import { claimAt, groupNames, textOf } from '../accounts/mapping.ts';
import type { Connection, OAuth2Connection } from '../connections/connection.ts';
import type { Connections } from '../connections/connections.ts';
import { quirksOf } from '../connections/presets/presets.ts';
import { FederationError } from '../faults.ts';
import type { Redeemed, SentRequest, UpstreamAnswer, UpstreamIdentity, UpstreamProtocol } from '../upstream.ts';

type Json = Record<string, unknown>;

const memorySchema = z.object({ verifier: z.string().optional() });
const addressesSchema = z.array(z.object({ email: z.string(), primary: z.boolean(), verified: z.boolean() }));
const DENIED = ['access_denied', 'user_denied'];

export function createOAuth2Protocol(dependencies: Core & { connections: Connections }): UpstreamProtocol {
  return {
    async begin(connection, { loginHint }, callbackUrl) {
      const { settings } = asOAuth2(connection);
      const state = randomToken(limits.state.bytes);
      const verifier = settings.pkce ? randomToken(limits.pkceVerifier.bytes) : undefined;
      const url = new URL(settings.authorization_url);
      const parameters = {
        ...settings.authorization_parameters,
        response_type: 'code',
        client_id: settings.client_id,
        redirect_uri: callbackUrl,
        ...(settings.scopes.length > 0 && { scope: settings.scopes.join(' ') }),
        state,
        ...(verifier && {
          code_challenge: createHash('sha256').update(verifier).digest('base64url'),
          code_challenge_method: 'S256',
        }),
        ...(loginHint && { login_hint: loginHint }),
      };
      for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
      return { handle: state, redirect: { method: 'redirect', url: url.href }, memory: { verifier } };
    },

    async tryClient(connection, callbackUrl) {
      const oauth2 = asOAuth2(connection);
      const [secret] = await dependencies.connections.decryptedSecrets(connection.id, 'client-secret');
      const memory = oauth2.settings.pkce ? { verifier: randomToken(limits.pkceVerifier.bytes) } : {};
      const request = { callbackUrl, memory, sentAt: new Date(0) };
      await tokenOf(dependencies, oauth2, { answer: { code: randomToken() }, request, secret: secret?.value });
      throw new FederationError('upstream_answer_invalid', {
        rule: 'answer',
        reason: 'The token endpoint accepts any code.',
      });
    },

    redeem: (connection, answer, request) => redeem(dependencies, asOAuth2(connection), answer, request),
  };
}

async function redeem(
  dependencies: Core & { connections: Connections },
  connection: OAuth2Connection,
  answer: UpstreamAnswer,
  request: SentRequest,
): Promise<Redeemed> {
  const { settings } = connection;
  assertAccepted(settings.issuer, answer);
  const [secret] = await dependencies.connections.decryptedSecrets(connection.id, 'client-secret');
  const token = await tokenOf(dependencies, connection, { answer, request, secret: secret?.value });
  const call = (url: string) => callApi(dependencies, apiUrl(connection, url, token, secret?.value), token);
  const user = z.record(z.string(), z.unknown()).parse(await call(settings.userinfo_url));
  const claims = { ...user, ...(settings.emails_url && (await addressOf(() => call(settings.emails_url ?? '')))) };
  const groups = await groupsOf(settings, claims, (url) =>
    requestApi(dependencies, apiUrl(connection, url, token, secret?.value), token),
  );
  const subject = textOf(claimAt(claims, settings.subject_claim)) ?? '';
  return {
    identity: {
      subject,
      claims: quirksOf(connection).email === 'never' ? { ...claims, email_verified: false } : claims,
      groups,
      acr: undefined,
      amr: [],
      authTime: undefined,
      session: undefined,
    },
    checks: [
      { name: 'Access token', expected: 'a token', received: 'a token' },
      { name: 'Identifier of the user', expected: settings.subject_claim, received: subject || 'nothing' },
    ],
  };
}

function assertAccepted(
  issuer: string | undefined,
  { error, error_description: text = '', iss, code }: UpstreamAnswer,
): void {
  // Checked before any other parameter of the answer (RFC 9207 2.4).
  if (iss !== undefined && issuer !== undefined && iss !== issuer)
    throw new FederationError('upstream_answer_invalid', {
      rule: 'issuer',
      reason: 'The answer comes from another issuer.',
      expected: issuer,
      received: iss,
    });
  const expected = 'a code';
  if (error !== undefined)
    throw new FederationError(DENIED.includes(error) ? 'upstream_denied' : 'upstream_answer_invalid', {
      rule: 'answer',
      reason: `${error} ${text}`.trim(),
      expected,
      received: error,
    });
  if (!code)
    throw new FederationError('upstream_answer_invalid', {
      rule: 'answer',
      reason: 'The answer has no code.',
      expected,
      received: 'nothing',
    });
}

/** The access token; some vendors answer errors with status 200. */
async function tokenOf(
  { outgoing }: Core,
  { settings }: OAuth2Connection,
  { answer, request, secret = '' }: { answer: UpstreamAnswer; request: SentRequest; secret: string | undefined },
): Promise<string> {
  const { verifier } = memorySchema.parse(request.memory);
  const isBasic = settings.token_endpoint_auth_method === 'client_secret_basic';
  const body = new URLSearchParams({
    grant_type: 'authorization_code',
    code: answer.code ?? '',
    redirect_uri: request.callbackUrl,
    ...(verifier && { code_verifier: verifier }),
    ...(!isBasic && { client_id: settings.client_id }),
    ...(settings.token_endpoint_auth_method === 'client_secret_post' && { client_secret: secret }),
  });
  const credentials = [settings.client_id, secret].map(encodeURIComponent).join(':');
  const response = await send(outgoing, settings.token_url, {
    method: 'POST',
    body,
    headers: {
      accept: 'application/json',
      ...(isBasic && { authorization: `Basic ${Buffer.from(credentials).toString('base64')}` }),
    },
  });
  const answered = (await response.json().catch(() => ({}))) as Json;
  const token = answered.access_token;
  if (response.ok && typeof token === 'string' && token !== '') return token;
  const reason = textOf(answered.error) ?? `status ${response.status}`;
  const isSecret =
    response.status === 401 || /incorrect_client_credentials|invalid_client|unauthorized_client/.test(reason);
  throw new FederationError('upstream_answer_invalid', {
    rule: isSecret ? 'secret' : 'answer',
    reason: `The token endpoint answers ${reason}. ${textOf(answered.error_description) ?? ''}`.trim(),
    expected: 'an access token',
    received: reason,
  });
}

async function callApi(dependencies: Core, url: string, token: string): Promise<unknown> {
  return (await requestApi(dependencies, url, token)).json();
}

async function requestApi({ outgoing }: Core, url: string, token: string): Promise<Response> {
  const headers = { accept: 'application/json', authorization: `Bearer ${token}` };
  const response = await send(outgoing, url, { headers });
  if (response.ok) return response;
  throw new FederationError(response.status >= 500 ? 'upstream_unavailable' : 'upstream_answer_invalid', {
    rule: 'answer',
    reason: `${new URL(url).origin} answers ${response.status} to the request for the user.`,
    expected: 'status 200',
    received: String(response.status),
  });
}

async function send(outgoing: typeof fetch, url: string, init: RequestInit): Promise<Response> {
  try {
    // A redirect would send the token or the secret to another server.
    return await outgoing(url, { ...init, redirect: 'error' });
  } catch (cause) {
    if (!(cause instanceof OutgoingError)) throw cause;
    const message = cause.message;
    throw new FederationError('upstream_unavailable', {
      rule: 'answer',
      reason: message,
      expected: 'an answer',
      cause,
    });
  }
}

/** The primary address if it is verified; the list may be forbidden to the token. The one of the profile is not trusted. */
async function addressOf(read: () => Promise<unknown>): Promise<Json> {
  try {
    const primary = addressesSchema.parse(await read()).find((one) => one.primary && one.verified);
    return primary ? { email: primary.email, email_verified: true } : { email_verified: false };
  } catch (error) {
    if (error instanceof FederationError && error.code === 'upstream_unavailable') throw error;
    return { email_verified: false };
  }
}

/** Facebook demands a proof that the caller has the app secret. */
function apiUrl(connection: OAuth2Connection, address: string, token: string, secret = ''): string {
  const url = new URL(address);
  if (quirksOf(connection).appSecretProof)
    url.searchParams.set('appsecret_proof', createHmac('sha256', secret).update(token).digest('hex'));
  return url.href;
}

function asOAuth2(connection: Connection): OAuth2Connection {
  if (connection.kind !== 'oauth2') throw new TypeError(`${connection.id} is no OAuth 2.0 connection`);
  return connection;
}

const listSchema = z.array(z.union([z.string(), z.record(z.string(), z.unknown())]));
const NOTHING = { names: [], isComplete: false };

/**
 * With `groups_url`, `groups_claim` is the path of the name in each entry of the list; entries of text need none. A list that the
 * token may not read, that has another page (RFC 8288) or another form, is incomplete and changes no role.
 * @param request calls the API; throws FederationError for a status that is not 2xx
 */
async function groupsOf(
  { groups_url: url, groups_claim: path }: OAuth2Connection['settings'],
  user: Record<string, unknown>,
  request: (url: string) => Promise<Response>,
): Promise<UpstreamIdentity['groups']> {
  if (url === undefined)
    return path === undefined ? undefined : { names: groupNames(claimAt(user, path)) ?? [], isComplete: true };
  try {
    const response = await request(url);
    const list = listSchema.safeParse(await response.json().catch(() => undefined));
    if (!list.success || /;\s*rel="?next"?/i.test(response.headers.get('link') ?? '')) return NOTHING;
    const names = list.data.map((one) => (typeof one === 'string' ? one : textOf(claimAt(one, path ?? 'name'))));
    return names.every((name) => name !== undefined) ? { names: [...new Set(names)], isComplete: true } : NOTHING;
  } catch (error) {
    if (error instanceof FederationError && error.code === 'upstream_answer_invalid') return NOTHING;
    throw error;
  }
}
