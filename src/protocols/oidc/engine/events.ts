// The engine's events as metrics, audit entries and log lines. Rejected requests are expected; everything else is an error.

import type { Context } from '../../../base/http/context.ts';
import { isPage } from '../../../base/http/pages/page-request.ts';
import { limits } from '../../../base/limits.ts';
import type { Logger } from '../../../base/platform/logger.ts';
import type { Metrics } from '../../../base/platform/metrics.ts';
import type { RequestInfo } from '../../../base/platform/request-info.ts';
import { tooMuchStoredIn } from '../../../base/storage/stored-size.ts';
import type { RepeatedEntries } from '../../../core/audit/repeated-entries.ts';
import type { Core } from '../../../core/core.ts';
import type { RuleViolation } from '../../../core/rejections/rules.ts';
import { TooManyAttempts } from '../rate-limits/too-many-attempts.ts';
import { faultsOfRegistration } from '../registration/registration-fault.ts';
import { appContext } from './app-context.ts';
import { noteDatabaseFailure } from './database-unavailable.ts';
import type { KoaContextWithOIDC, Provider } from './library.ts';
import {
  type CredentialFaultDependencies,
  type RecordDependencies,
  recordRejection,
  unencodedCredentials,
} from './requests/rejected-requests.ts';
import { TEST_MODE } from './test-response-mode.ts';

export interface EngineEvents extends RecordDependencies, CredentialFaultDependencies {
  repeatedEntries: RepeatedEntries;
  metrics: Metrics;
  logger: Logger;
  /** Notes that the request object of this request is bad. */
  countFailedRequestObject(ctx: Context): void;
  /** Records a request that the user made with a session. */
  recordActivity(sessionUid: string): Promise<void>;
  recordUsage: RecordUsage;
}

interface EngineError extends Error {
  error?: string;
  error_description?: string;
  error_detail?: string;
  violation?: RuleViolation;
}

const TOKEN_MODELS = ['access_token', 'client_credentials', 'refresh_token', 'authorization_code'] as const;

/** Response modes other than those of OpenID Connect. */
const OTHER_MODES = ['saml', TEST_MODE];

/** The audit event of each of the engine's error events. */
const AUDIT_EVENTS = {
  'authorization.error': 'authorization.rejected',
  'grant.error': 'token.rejected',
  'introspection.error': 'token.rejected',
  'revocation.error': 'token.rejected',
  'device_authorization.error': 'token.rejected',
  'pushed_authorization_request.error': 'authorization.rejected',
  'registration_create.error': 'registration.rejected',
  'registration_update.error': 'registration.rejected',
  'end_session.error': 'sign-out.rejected',
} as const;

/** Those that have none: anyone could cause them. A database that cannot be used is noted. */
const OTHER_ERRORS = [
  'userinfo.error',
  'registration_read.error',
  'registration_delete.error',
  'code_verification.error',
  'discovery.error',
  'jwks.error',
];

type AuditEvent = (typeof AUDIT_EVENTS)[keyof typeof AUDIT_EVENTS];

/** Call once for each Provider. */
export function listenToEvents(provider: Provider, events: EngineEvents): void {
  const { metrics } = events;
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
  on('interaction.started', (ctx) => recordRequest(ctx, events));
  on('authorization.success', (ctx) => {
    recordRequest(ctx, events);
    recordAuthorization(ctx, events);
  });
  for (const [event, type] of Object.entries(AUDIT_EVENTS)) {
    on(event, (ctx, error) => reportRejection(ctx, error, event, type, events));
  }
  for (const event of OTHER_ERRORS) on(event, (ctx, error) => void noteDatabaseFailure(appContext(ctx), error));
  provider.on('server_error', (ctx: KoaContextWithOIDC, err: Error) => {
    if (!noteDatabaseFailure(appContext(ctx), err))
      appContext(ctx).state.log().error({ err }, 'the OpenID Connect engine failed');
  });
}

/** Records the use of the session, if the user made this request: `prompt=none` and frames are made by applications. */
function recordRequest(engineCtx: KoaContextWithOIDC, { recordActivity, logger }: EngineEvents): void {
  const { result, session, prompts } = engineCtx.oidc;
  if (!session?.accountId || result?.login || prompts.has('none') || !isPage(appContext(engineCtx))) return;
  recordActivity(session.uid).catch((err) => logger.error({ err }, 'the use of a session was not recorded'));
}

function recordAuthorization(engineCtx: KoaContextWithOIDC, events: EngineEvents): void {
  const { recordUsage, logger } = events;
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
  event: string,
  type: AuditEvent,
  events: EngineEvents,
): void {
  const { repeatedEntries, logger, rejections, clients, countFailedRequestObject } = events;
  const ctx = appContext(engineCtx);
  if (noteDatabaseFailure(ctx, error)) return;
  explainCredentials(engineCtx, error, events);
  if (type === 'registration.rejected') explainRegistration(engineCtx, error);
  const { request } = ctx.state;
  const clientId = engineCtx.oidc.client?.clientId;
  const subjectId = type === 'authorization.rejected' ? engineCtx.oidc.session?.accountId : undefined;
  const reason = error.error ?? error.message;
  const detail = error.error_detail ?? error.error_description;
  ctx.state.log().info({ event: type, clientId, reason, detail }, 'request rejected');
  if (reason === 'invalid_request_object') countFailedRequestObject(ctx);
  // Only logged: so many rejections must not fill the audit log.
  if (error instanceof TooManyAttempts || tooMuchStoredIn(error)) return;
  if (isNextStep(reason)) return;
  recordRejection({ rejections, clients }, event, engineCtx, ctx, error);
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
function explainCredentials(ctx: KoaContextWithOIDC, error: EngineError, events: EngineEvents): void {
  const isUndecodable = /properly encoded/.test(error.error_description ?? '');
  const violation = error.error === 'invalid_client' || isUndecodable ? unencodedCredentials(ctx, events) : undefined;
  if (!violation) return;
  const { received, expected } = violation;
  const text = `Basic credentials have ${received}; expected: ${expected}`;
  const description = [error.error_description, text].filter(Boolean).join('; ');
  Object.assign(error, { violation, error_detail: text, error_description: description });
  if (typeof ctx.body === 'object') Object.assign(ctx.body as object, { error_description: description });
}

/** Says in the error what is wrong by the rules of this server, which name the field and the remedy; the engine's do not. */
function explainRegistration(ctx: KoaContextWithOIDC, error: EngineError): void {
  if (!/^invalid_(client_metadata|redirect_uri)$/.test(error.error ?? '')) return;
  const description = faultsOfRegistration(ctx.oidc.body);
  if (description === undefined) return;
  Object.assign(error, { error_detail: description, error_description: description });
  if (typeof ctx.body === 'object') Object.assign(ctx.body as object, { error_description: description });
}

function logNotAudited(logger: Logger, err: unknown): void {
  logger.error({ err }, 'an audit event was not written');
}

// Application usage: which applications users open with a session that they already have. One audit entry for each account,
// application and hour, so that the portal can list what was used lately without a write for each request.

type RecordUsage = (accountId: string, clientId: string, request: RequestInfo) => Promise<void>;

const MAX_REMEMBERED = 10_000;

export function createUsageRecorder({
  audit,
  now,
  exceptOf,
}: Core & {
  /** The client_id of the server's own pages, whose use is not recorded. */
  exceptOf: string;
}): RecordUsage {
  // Saves most of the writes; another instance does not know of it and writes once more.
  const recordedAt = new Map<string, number>();

  return async function recordUsage(accountId, clientId, request) {
    if (clientId === exceptOf) return;
    const key = `${accountId}\n${clientId}`;
    const at = now().getTime();
    if (at - (recordedAt.get(key) ?? Number.NEGATIVE_INFINITY) < limits.applicationUsage.seconds * 1000) return;
    if (recordedAt.size >= MAX_REMEMBERED) recordedAt.clear();
    recordedAt.set(key, at);
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
