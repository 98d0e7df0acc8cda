// What the engine does, for the metrics, the audit log and the log. Refusals are expected; anything else is an error.

import type { Audit } from '../audit/audit.ts';
import type { Context } from '../http/context.ts';
import type { Logger } from '../platform/logger.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Refusals } from '../refusals/refusals.ts';
import { TooManyAttempts } from './client-limits.ts';
import type { KoaContextWithOIDC, Provider } from './library.ts';
import type { NoteOpened } from './opened.ts';
import { outer } from './pages.ts';
import { keepRefusal } from './refused.ts';
import { TEST_MODE } from './test-mode.ts';

export interface EngineEvents {
  audit: Audit;
  metrics: Metrics;
  logger: Logger;
  /** Remembers the browser that a session was begun in. */
  noteDevice(session: { uid: string; accountId: string; exp: number }, ctx: Context): Promise<void>;
  seen(uid: string): Promise<void>;
  /** Notes that somebody opened an application with a session that they had. */
  opened: NoteOpened;
  refusals: Refusals;
}

interface EngineError extends Error {
  error?: string;
  error_description?: string;
  error_detail?: string;
}

const TOKENS = {
  access_token: 'access_token',
  client_credentials: 'client_credentials',
  refresh_token: 'refresh_token',
  authorization_code: 'authorization_code',
} as const;

const OTHER_MODES = ['saml', TEST_MODE];

/** Refusals that the audit log keeps, by the engine's event. */
const REFUSALS = {
  'authorization.error': 'authorization.refused',
  'grant.error': 'token.refused',
  'introspection.error': 'token.refused',
  'revocation.error': 'token.refused',
  'device_authorization.error': 'token.refused',
  'pushed_authorization_request.error': 'authorization.refused',
  'registration_create.error': 'registration.refused',
  'end_session.error': 'sign-out.refused',
} as const;

export function listen(
  provider: Provider,
  { audit, metrics, logger, noteDevice, seen, opened, refusals }: EngineEvents,
): void {
  // The engine's typings name each event; these tables hold only events of its documentation.
  const on = provider.on.bind(provider) as (
    event: string,
    listener: (ctx: KoaContextWithOIDC, err: EngineError) => void,
  ) => void;
  for (const [model, type] of Object.entries(TOKENS)) {
    // JWT access tokens are not stored, only issued.
    on(`${model}.saved`, () => metrics.tokensIssued.inc({ type }));
    on(`${model}.issued`, () => metrics.tokensIssued.inc({ type }));
  }
  on('authorization.success', (ctx) => {
    const { result, session, client, params } = ctx.oidc;
    if (!session?.accountId) return;
    const { uid, accountId, exp = 0 } = session;
    // The browser once for each sign-in, not for each application that is opened with it.
    const noting = result?.login ? noteDevice({ uid, accountId, exp }, outer(ctx)) : seen(uid);
    noting.catch((cause) => logger.error({ err: cause }, 'the browser of a session was not noted'));
    // A sign-in has an entry of its own, and so has every answer by SAML; a test opens nothing.
    if (result?.login || !client || OTHER_MODES.includes(String(params?.response_mode))) return;
    opened(accountId, client.clientId, outer(ctx).state.request).catch((cause) =>
      logger.error({ err: cause }, 'an audit event was not written'),
    );
  });
  for (const [event, type] of Object.entries(REFUSALS)) {
    on(event, (ctx: KoaContextWithOIDC, err: EngineError) => {
      const { request, log } = outer(ctx).state;
      const clientId = ctx.oidc.client?.clientId;
      const reason = err.error ?? err.message;
      const detail = err.error_detail ?? err.error_description;
      log.info({ event: type, clientId, reason, detail }, 'request refused');
      // The log is enough: who is refused so often must not fill the audit log.
      if (err instanceof TooManyAttempts) return;
      // An interaction that prompt=none does not allow is an answer, not a refusal worth keeping.
      if (/^(login|consent|interaction|account_selection)_required$/.test(reason)) return;
      keepRefusal(refusals, event, ctx, outer(ctx), err);
      audit
        .record({
          type,
          outcome: 'failure',
          reason,
          request,
          ...(clientId && { clientId }),
          data: { detail: detail ?? null },
        })
        .catch((cause) => logger.error({ err: cause }, 'an audit event was not written'));
    });
  }
  provider.on('server_error', (ctx: KoaContextWithOIDC, err: Error) => {
    outer(ctx).state.log.error({ err }, 'the OpenID Connect engine failed');
  });
}
