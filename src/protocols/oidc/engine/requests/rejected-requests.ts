// Records rejected requests of the engine for the console: what was received, without codes, tokens and secrets, and
// the rule that was broken.

import { accessDecisionRule } from '../../../../applications/access-decision.ts';
import type { Context } from '../../../../base/http/context.ts';
import type { Vault } from '../../../../base/platform/vault.ts';
import type { RejectionEndpoint, Rejections } from '../../../../core/rejections/rejections.ts';
import type { RuleViolation } from '../../../../core/rejections/rules.ts';
import { accountOf } from '../../claims/find-account.ts';
import { registrationFault } from '../../registration/registration-fault.ts';
import { type ClientSource, matchingSecret } from '../../store/clients.ts';
import { withCode } from '../error-description.ts';
import type { KoaContextWithOIDC } from '../library.ts';
import { evaluateRules } from './request-rules.ts';

interface EngineError extends Error {
  error?: string;
  error_description?: string;
  error_detail?: string;
  /** Reported by a check of this server (request-checks.ts). */
  violation?: RuleViolation;
}

/** The endpoint of each of the engine's error events whose rejections are recorded. */
const RECORDED_EVENTS: Record<string, RejectionEndpoint> = {
  'authorization.error': 'authorize',
  'grant.error': 'token',
  'pushed_authorization_request.error': 'par',
  'device_authorization.error': 'device',
  'introspection.error': 'introspect',
  'revocation.error': 'revoke',
  'end_session.error': 'end-session',
  'registration_create.error': 'register',
  'registration_update.error': 'register',
};

/**
 * Parameters that are recorded with their value: those that the protocol's rules are about. Of all others only the name
 * is recorded, because the value may be a code, a token, a password or personal data.
 */
const RECORDED_VALUES = new Set(
  (
    'client_id redirect_uri post_logout_redirect_uri response_type response_mode scope resource audience prompt max_age acr_values ' +
    'code_challenge code_challenge_method grant_type client_assertion_type token_type_hint'
  ).split(' '),
);

export interface RecordDependencies {
  rejections: Rejections;
  clients: ClientSource;
}

/** Records the rejection and writes its code into a JSON response. */
export function recordRejection(
  { rejections, clients }: RecordDependencies,
  event: string,
  ctx: KoaContextWithOIDC,
  appContext: Context,
  error: EngineError,
): void {
  const endpoint = RECORDED_EVENTS[event];
  if (!endpoint) return;
  const parameters = parametersOf(ctx, endpoint);
  const { client, session, account } = ctx.oidc;
  const clientId = client?.clientId ?? clientIdOf(ctx, parameters);
  const received = {
    ...withoutSecrets(parameters),
    ...(isPage(endpoint) ? {} : { authentication: methodOf(ctx, parameters) }),
  };
  const words = [...new Set([error.error_description, error.error_detail])].filter(Boolean).join(': ');
  const message = words || error.message;
  const reason = error.error ?? error.message;
  const fault = registrationFault(error);
  // Only of a client that the engine has found, or rejects itself: a hint that it did not accept names none.
  const found = client?.clientId ?? (fault === undefined ? undefined : clientId);
  const application = found === undefined ? undefined : clients.cachedApplicationOf(found);
  const request = {
    endpoint,
    received,
    clientId,
    message,
    isClientKnown: found !== undefined,
    metadata: application?.protocol === 'oidc' ? application.metadata : undefined,
    access:
      application && account && accessDecisionRule(application, accountOf(account), appContext.state.request.address),
    isHintAccepted: parameters.id_token_hint === undefined ? undefined : client !== undefined,
  };
  const code = rejections.record(appContext.state.request, {
    endpoint,
    reason,
    message,
    clientId,
    received,
    subjectId: session?.accountId,
    rules: evaluateRules(
      request,
      reason,
      fault === undefined ? error.violation : { rule: 'registration', expected: fault },
    ),
  });
  const body: unknown = ctx.body;
  if (typeof body !== 'object' || body === null || !('error' in body)) return;
  Object.assign(body, { error_description: withCode(error.error_description, code) });
}

const isPage = (endpoint: RejectionEndpoint) => endpoint === 'authorize' || endpoint === 'end-session';

function parametersOf(ctx: KoaContextWithOIDC, endpoint: RejectionEndpoint): Record<string, unknown> {
  if (!isPage(endpoint)) return { ...ctx.oidc.body };
  // The engine drops a response_mode that it does not know.
  const known = Object.entries({ ...ctx.oidc.params }).filter(([, value]) => value !== undefined);
  return { ...ctx.query, ...Object.fromEntries(known) };
}

function withoutSecrets(parameters: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parameters)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, RECORDED_VALUES.has(name) ? [value].flat().join(' ') : '(sent)']),
  );
}

/** The client authentication method that the request used. */
function methodOf(ctx: KoaContextWithOIDC, parameters: Record<string, unknown>): string {
  if (/^basic /i.test(ctx.get('Authorization'))) return 'client_secret_basic';
  if (parameters.client_assertion) {
    return ctx.oidc.client?.clientAuthMethod === 'client_secret_jwt' ? 'client_secret_jwt' : 'private_key_jwt';
  }
  return parameters.client_secret ? 'client_secret_post' : 'none';
}

/** The client_id as it was sent, in the body or in the Basic credentials (RFC 6749 2.3.1); it need not be registered. */
function clientIdOf(ctx: KoaContextWithOIDC, { client_id }: Record<string, unknown>): string | undefined {
  if (typeof client_id === 'string') return client_id;
  const [, encoded] = /^basic\s+(\S+)$/i.exec(ctx.get('Authorization')) ?? [];
  const [id] = Buffer.from(encoded ?? '', 'base64')
    .toString()
    .split(':');
  try {
    return id ? decodeURIComponent(id) : undefined;
  } catch {
    return undefined;
  }
}

// Why Basic credentials failed that were sent without the form-encoding of RFC 6749 2.3.1, which many clients leave out.

export interface CredentialFaultDependencies {
  clients: ClientSource;
  vault: Vault;
}

const REMEDY =
  'the client_id and the secret, each form-encoded (RFC 6749 2.3.1), or a secret of letters, digits, - and _';

/** Undefined where the encoding is not the fault. Call it for a request that failed to authenticate the client. */
export function unencodedCredentials(
  ctx: KoaContextWithOIDC,
  { clients, vault }: CredentialFaultDependencies,
): RuleViolation | undefined {
  const [, encoded] = /^basic ([A-Za-z0-9+/]+={0,2})$/i.exec(ctx.get('Authorization')) ?? [];
  const [id, ...rest] = Buffer.from(encoded ?? '', 'base64')
    .toString()
    .split(':');
  if (id === undefined || rest.length === 0) return undefined;
  const secret = rest.join(':');
  const violation = (rule: 'client' | 'secret', received: string): RuleViolation => ({
    rule,
    received,
    expected: REMEDY,
  });
  if (decoded(id) === undefined) return violation('client', 'a client_id with a % that is not encoded as %25');
  if (decoded(secret) === undefined) return violation('secret', 'a secret with a % that is not encoded as %25');
  if (ctx.oidc.client === undefined)
    return rest.length > 1
      ? violation('client', 'a client_id that is not registered: a : in it must be encoded as %3A')
      : undefined;
  if (secret.includes('+'))
    return violation('secret', 'a secret with a + that is not encoded as %2B: it stands for a space');
  return decoded(secret) !== secret &&
    matchingSecret(clients.cachedApplicationOf(ctx.oidc.client.clientId), secret, vault)
    ? violation('secret', 'the right secret, with a % that is not encoded as %25')
    : undefined;
}

function decoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}
