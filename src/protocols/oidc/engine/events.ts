// The engine's events as metrics, audit entries and log lines. Rejected requests are expected; everything else is an error.

import { accessDecisionRule } from '../../../applications/access-decision.ts';
import { isOnThisComputer } from '../../../applications/uris.ts';
import type { Context } from '../../../base/http/context.ts';
import { logError } from '../../../base/http/error-handler.ts';
import { databaseUnavailable } from '../../../base/http/errors.ts';
import { isPage } from '../../../base/http/pages/page-request.ts';
import { limits } from '../../../base/limits.ts';
import { defined } from '../../../base/platform/defined.ts';
import type { Logger } from '../../../base/platform/logger.ts';
import { createThrottle } from '../../../base/platform/throttle.ts';
import { tooMuchStoredIn } from '../../../base/storage/stored-size.ts';
import { unavailableIn } from '../../../base/storage/unavailable.ts';
import type { Core } from '../../../core/core.ts';
import type { RejectionEndpoint } from '../../../core/rejections/rejections.ts';
import type { BrokenRule } from '../../../core/rejections/rules.ts';
import { accountOf } from '../claims/find-account.ts';
import type { OidcOptions, OidcServices } from '../oidc-services.ts';
import { TooManyAttempts } from '../rate-limits.ts';
import { faultsOfRegistration, isUnregistered, registrationFault } from '../registration.ts';
import { matchingSecret } from '../store/clients.ts';
import { appContext, isDecided, withCode } from './app-context.ts';
import type { KoaContextWithOIDC, Provider } from './library.ts';
import { evaluateRules } from './requests/request-rules.ts';
import { isForPrograms } from './routes.ts';
import { TEST_MODE } from './test-response-mode.ts';

interface EngineError extends Error {
  error?: string;
  error_description?: string;
  error_detail?: string;
  brokenRule?: BrokenRule;
}

const TOKEN_MODELS = ['access_token', 'client_credentials', 'refresh_token', 'authorization_code'] as const;

/** Response modes other than those of OpenID Connect. */
const OTHER_MODES = ['saml', TEST_MODE];

/** The engine's error events that are audited, and recorded for the console. */
const REJECTIONS: Record<string, Rejected> = {
  'authorization.error': { type: 'authorization.rejected', endpoint: 'authorize' },
  'grant.error': { type: 'token.rejected', endpoint: 'token' },
  'introspection.error': { type: 'token.rejected', endpoint: 'introspect' },
  'revocation.error': { type: 'token.rejected', endpoint: 'revoke' },
  'device_authorization.error': { type: 'token.rejected', endpoint: 'device' },
  'pushed_authorization_request.error': { type: 'authorization.rejected', endpoint: 'par' },
  'registration_create.error': { type: 'registration.rejected', endpoint: 'register' },
  'registration_update.error': { type: 'registration.rejected', endpoint: 'register' },
  'end_session.error': { type: 'sign-out.rejected', endpoint: 'end-session' },
};

interface Rejected {
  type: 'authorization.rejected' | 'token.rejected' | 'registration.rejected' | 'sign-out.rejected';
  endpoint: RejectionEndpoint;
}

/** The others: anyone could cause them. A database that cannot be used is noted. */
const OTHER_ERRORS = [
  'userinfo.error',
  'registration_read.error',
  'registration_delete.error',
  'code_verification.error',
  'discovery.error',
  'jwks.error',
];

/** Call once for each Provider. */
export function listenToEvents(provider: Provider, services: OidcServices): void {
  const { metrics } = services;
  // The engine's types name each event; the tables hold only events of its documentation.
  const on = provider.on.bind(provider) as (
    event: string,
    listener: (ctx: KoaContextWithOIDC, error: EngineError) => void,
  ) => void;
  for (const type of TOKEN_MODELS) {
    on(`${type}.saved`, () => metrics.tokensIssued.inc({ type }));
    // A JWT access token is not saved, only issued.
    on(`${type}.issued`, () => metrics.tokensIssued.inc({ type }));
  }
  on('interaction.started', (ctx) => recordRequest(ctx, services));
  on('authorization.success', (ctx) => {
    // A test is answered to the console, and whether a service provider gets an assertion is decided in protocols/saml/sso/response-mode.ts.
    if (!OTHER_MODES.includes(String(ctx.oidc.params?.response_mode))) markAnswered(ctx);
    recordRequest(ctx, services);
    recordAuthorization(ctx, services);
  });
  for (const [event, rejected] of Object.entries(REJECTIONS))
    on(event, (ctx, error) => reportRejection(ctx, error, rejected, services));
  on('authorization.error', (ctx, error) => keepHere(ctx, error, services));
  for (const event of OTHER_ERRORS) on(event, (ctx, error) => void noteDatabaseError(appContext(ctx), error));
  provider.on('server_error', (ctx: KoaContextWithOIDC, err: Error) => {
    if (!noteDatabaseError(appContext(ctx), err))
      appContext(ctx).state.log().error({ err }, 'the OpenID Connect engine failed');
  });
}

/**
 * An error before anybody was asked is a page of this server where nobody registered the client: else a link to this server would lead to any
 * website (RFC 9700 4.11.2). The listener is called before the engine redirects.
 */
function keepHere({ oidc }: KoaContextWithOIDC, error: EngineError, { clients }: OidcServices): void {
  const { client, params, route } = oidc;
  const application = client && clients.cachedApplicationOf(client.clientId);
  if (route !== 'authorization' || !application || !isUnregistered(application)) return;
  const uri = String(params?.redirect_uri ?? '');
  if (URL.canParse(uri) && !isOnThisComputer(uri)) Object.assign(error, { allow_redirect: false });
}

/** Records the use of the session, if the user made this request: `prompt=none` and frames are made by applications. */
function recordRequest(engineCtx: KoaContextWithOIDC, { sessions }: OidcServices): void {
  const { result, session, prompts } = engineCtx.oidc;
  if (!session?.accountId || result?.login || prompts.has('none') || !isPage(appContext(engineCtx))) return;
  void sessions.recordActivity(session.uid);
}

/** The application has an answer in this session, which the engine saves with it. */
export function markAnswered({ oidc: { session, client } }: KoaContextWithOIDC): void {
  if (session?.accountId && client) Object.assign(session.authorizationFor(client.clientId), { isAnswered: true });
}

function recordAuthorization(engineCtx: KoaContextWithOIDC, { recordUsage, logger }: OidcServices): void {
  const { result, session, client, params } = engineCtx.oidc;
  if (!session?.accountId) return;
  const ctx = appContext(engineCtx);
  const { accountId } = session;
  // A sign-in and a SAML response have audit entries of their own; a test is no usage.
  if (result?.login || !client || OTHER_MODES.includes(String(params?.response_mode))) return;
  recordUsage(accountId, client.clientId, ctx.state.request).catch((err) => logNotAudited(logger, err));
}

function reportRejection(
  engineCtx: KoaContextWithOIDC,
  error: EngineError,
  { type, endpoint }: Rejected,
  services: OidcServices,
): void {
  const { repeatedEntries, logger, clientLimits } = services;
  const ctx = appContext(engineCtx);
  if (noteDatabaseError(ctx, error)) return;
  explainCredentials(engineCtx, error, services);
  if (type === 'registration.rejected') explainRegistration(engineCtx, error);
  const { request } = ctx.state;
  const clientId = engineCtx.oidc.client?.clientId;
  const subjectId = type === 'authorization.rejected' ? engineCtx.oidc.session?.accountId : undefined;
  const reason = error.error ?? error.message;
  const detail = error.error_detail ?? error.error_description;
  ctx.state.log().info({ event: type, clientId, reason, detail }, 'request rejected');
  if (reason === 'invalid_request_object') clientLimits.markFailed(ctx);
  // Only logged: so many rejections must not fill the audit log.
  if (error instanceof TooManyAttempts || tooMuchStoredIn(error)) return;
  if (isNextStep(reason) || isDecided(engineCtx, reason)) return;
  recordRejection(services, endpoint, engineCtx, error);
  repeatedEntries
    .record({
      type,
      outcome: 'failure',
      reason,
      request,
      ...(clientId && { clientId }),
      ...(subjectId && { subjectId }),
      data: { detail: detail ?? null },
    })
    .catch((err) => logNotAudited(logger, err));
}

/**
 * Errors that say what comes next and reject nothing: prompt=none that needs an interaction (OIDC Core 3.1.2.6), the polling of a device
 * (RFC 8628 3.5), and the nonce of the first DPoP proof (RFC 9449 8).
 */
const isNextStep = (error: string): boolean =>
  /^((login|consent|interaction|account_selection)_required|authorization_pending|slow_down|use_dpop_nonce)$/.test(
    error,
  );

/** Says in the error that the Basic credentials are not encoded, where that is the fault. */
function explainCredentials(ctx: KoaContextWithOIDC, error: EngineError, services: OidcServices): void {
  const isUndecodable = /properly encoded/.test(error.error_description ?? '');
  const brokenRule =
    error.error === 'invalid_client' || isUndecodable ? unencodedCredentials(ctx, services) : undefined;
  if (!brokenRule) return;
  const { received, expected } = brokenRule;
  const text = `Basic credentials have ${received}; expected: ${expected}`;
  Object.assign(error, { brokenRule, error_detail: text });
  setDescription(ctx, error, [error.error_description, text].filter(Boolean).join('; '));
}

/** Says in the error what is wrong by the rules of this server, which name the field and the remedy; the engine's do not. */
function explainRegistration(ctx: KoaContextWithOIDC, error: EngineError): void {
  if (!/^invalid_(client_metadata|redirect_uri)$/.test(error.error ?? '')) return;
  const description = faultsOfRegistration(ctx.oidc.body);
  if (description === undefined) return;
  Object.assign(error, { error_detail: description });
  setDescription(ctx, error, description);
}

/** Puts the description into the error, and into the response where it is written already. */
function setDescription(ctx: KoaContextWithOIDC, error: EngineError, description: string): void {
  Object.assign(error, { error_description: description });
  if (typeof ctx.body === 'object') Object.assign(ctx.body as object, { error_description: description });
}

function logNotAudited(logger: Logger, err: unknown): void {
  logger.error({ err }, 'an audit event was not written');
}

// Application usage: which applications users open with a session that they already have. One audit entry for each account,
// application and hour, so that the portal can list what was used lately without a write for each request.

/** The use of the server's own pages is not recorded. */
export function createUsageRecorder({ audit, now, firstPartyClient }: Core & OidcOptions): OidcServices['recordUsage'] {
  const isDue = createThrottle(now, limits.applicationUsage.seconds);

  return async function recordUsage(accountId, clientId, request) {
    if (clientId === firstPartyClient.client_id || !isDue(`${accountId}\n${clientId}`)) return;
    await audit.record({
      type: 'authorization.granted',
      outcome: 'success',
      actorId: accountId,
      subjectId: accountId,
      clientId,
      request,
    });
  };
}

// Records rejected requests of the engine for the console: what was received, without codes, tokens and secrets, and
// the rule that was broken.

/**
 * Parameters that are recorded with their value: those that the protocol's rules are about. Of all others only the name
 * is recorded, because the value may be a code, a token, a password or personal data.
 */
const RECORDED_VALUES = new Set(
  (
    'client_id redirect_uri post_logout_redirect_uri response_type response_mode scope resource audience prompt max_age acr_values ' +
    'code_challenge code_challenge_method grant_type client_assertion_type token_type_hint group ' +
    'subject_token_type requested_token_type'
  ).split(' '),
);

/** Records the rejection and writes its code into a JSON response. */
function recordRejection(
  { rejections, clients }: OidcServices,
  endpoint: RejectionEndpoint,
  ctx: KoaContextWithOIDC,
  error: EngineError,
): void {
  const sender = appContext(ctx).state.request;
  const parameters = parametersOf(ctx, endpoint);
  const { client, session, account } = ctx.oidc;
  const received = withoutSecrets(parameters);
  if (!showsPage(endpoint)) received.authentication = methodOf(ctx, parameters);
  const reason = error.error ?? error.message;
  const descriptions = new Set([error.error_description, error.error_detail].filter(Boolean));
  const message = [...descriptions].join(': ') || error.message;

  const clientId = client?.clientId ?? clientIdOf(ctx, parameters);
  const fault = registrationFault(error);
  // Only of a client that the engine has found, or rejects itself: a hint that it did not accept names none.
  const knownId = fault === undefined ? client?.clientId : clientId;
  const application = knownId === undefined ? undefined : clients.cachedApplicationOf(knownId);
  const request = {
    endpoint,
    received,
    clientId,
    message,
    isClientKnown: knownId !== undefined,
    metadata: application?.protocol === 'oidc' ? application.metadata : undefined,
    access: application && account && accessDecisionRule(application, accountOf(account), sender.address),
    isHintAccepted: parameters.id_token_hint === undefined ? undefined : client !== undefined,
  };
  const brokenRule: BrokenRule | undefined =
    fault === undefined ? error.brokenRule : { rule: 'registration', expected: fault };
  const rules = evaluateRules(request, reason, brokenRule);
  const subjectId = session?.accountId;
  const code = rejections.record(sender, { endpoint, reason, message, clientId, received, subjectId, rules });
  const body: unknown = ctx.body;
  if (typeof body !== 'object' || body === null || !('error' in body)) return;
  Object.assign(body, { error_description: withCode(error.error_description, code) });
}

const showsPage = (endpoint: RejectionEndpoint) => endpoint === 'authorize' || endpoint === 'end-session';

function parametersOf(ctx: KoaContextWithOIDC, endpoint: RejectionEndpoint): Record<string, unknown> {
  if (!showsPage(endpoint)) return { ...ctx.oidc.body };
  // The engine drops a response_mode that it does not know.
  return { ...ctx.query, ...defined({ ...ctx.oidc.params }) };
}

function withoutSecrets(parameters: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(defined(parameters)).map(([name, value]) => [
      name,
      RECORDED_VALUES.has(name) ? [value].flat().join(' ') : '(sent)',
    ]),
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
  const { id } = basicCredentials(ctx);
  return id === '' ? undefined : formDecoded(id);
}

/** The Basic credentials as they were sent, up to the first colon and behind it. */
function basicCredentials(ctx: KoaContextWithOIDC): { id: string; secret: string | undefined } {
  const [, encoded = ''] = /^basic\s+(\S+)$/i.exec(ctx.get('Authorization')) ?? [];
  const text = Buffer.from(encoded, 'base64').toString();
  const [id = ''] = text.split(':', 1);
  return { id, secret: text.includes(':') ? text.slice(id.length + 1) : undefined };
}

// Why Basic credentials failed that were sent without the form-encoding of RFC 6749 2.3.1, which many clients leave out.

const REMEDY =
  'the client_id and the secret, each form-encoded (RFC 6749 2.3.1), or a secret of letters, digits, - and _';

/** Undefined where the encoding is not the fault. Call it for a request that failed to authenticate the client. */
function unencodedCredentials(ctx: KoaContextWithOIDC, { clients, vault }: OidcServices): BrokenRule | undefined {
  const { id, secret } = basicCredentials(ctx);
  if (secret === undefined) return undefined;
  const brokenRule = (rule: 'client' | 'secret', received: string): BrokenRule => ({
    rule,
    received,
    expected: REMEDY,
  });
  if (formDecoded(id) === undefined) return brokenRule('client', 'a client_id with a % that is not encoded as %25');
  if (formDecoded(secret) === undefined) return brokenRule('secret', 'a secret with a % that is not encoded as %25');
  const { client } = ctx.oidc;
  if (!client && secret.includes(':'))
    return brokenRule('client', 'a client_id that is not registered: a : in it must be encoded as %3A');
  if (!client) return undefined;
  if (secret.includes('+'))
    return brokenRule('secret', 'a secret with a + that is not encoded as %2B: it stands for a space');
  const isRight =
    formDecoded(secret) !== secret && matchingSecret(clients.cachedApplicationOf(client.clientId), secret, vault);
  return isRight ? brokenRule('secret', 'the right secret, with a % that is not encoded as %25') : undefined;
}

/** As client_secret_basic encodes it (RFC 6749 2.3.1); undefined when it cannot be decoded. */
function formDecoded(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '));
  } catch {
    return undefined;
  }
}

// The engine's responses while the database cannot be used. To programs: 503 with Retry-After and `temporarily_unavailable` in the form
// of RFC 6749 5.2, never an error such as invalid_grant, after which a client discards its tokens. At the authorization endpoint
// the engine redirects with `temporarily_unavailable` (RFC 6749 4.1.2.1), if it could read the client; otherwise it renders a page.

/** Runs the engine. When the database could not be used, programs get the response of base/http/error-handler.ts instead of any other. */
export async function answerWithDatabase(ctx: Context, run: () => Promise<void>): Promise<void> {
  await run();
  const error = databaseUnavailable(ctx.state.databaseError);
  if (error && isForPrograms(ctx.path)) throw error;
  if (error) logError(ctx, error);
}

/** For the engine's error events, whose errors may have this cause: the response is the one above. */
function noteDatabaseError(ctx: Context, error: unknown): boolean {
  const unavailable = unavailableIn(error);
  if (!unavailable) return false;
  ctx.state.databaseError = unavailable;
  return true;
}
