// Refused requests of the engine for the refusals of the console: what was received, without codes, tokens and secrets.
import type { Context } from '../http/context.ts';
import type { RefusalEndpoint, Refusals } from '../refusals/refusals.ts';
import type { KoaContextWithOIDC } from './library.ts';

interface EngineError extends Error {
  error?: string;
  error_description?: string;
  error_detail?: string;
}

/** Which refusals are kept, by the engine's event. */
export const KEPT: Record<string, RefusalEndpoint> = {
  'authorization.error': 'authorize',
  'grant.error': 'token',
  'pushed_authorization_request.error': 'par',
  'end_session.error': 'end-session',
};

/** What the rules are about. Of anything else only that it was sent: it may be a code, a token, a password, or the person's. */
const SHOWN = new Set(
  (
    'client_id redirect_uri post_logout_redirect_uri response_type response_mode scope resource audience prompt max_age acr_values ' +
    'code_challenge code_challenge_method grant_type client_assertion_type token_type_hint'
  ).split(' '),
);

/** Keeps the refusal and writes its code into a JSON answer. */
export function keepRefusal(
  refusals: Refusals,
  event: string,
  ctx: KoaContextWithOIDC,
  outer: Context,
  error: EngineError,
): void {
  const endpoint = KEPT[event];
  if (!endpoint) return;
  const parameters = parametersOf(ctx, endpoint);
  const { client } = ctx.oidc;
  const code = refusals.keep(outer.state.request, {
    endpoint,
    reason: error.error ?? error.message,
    message: error.error_detail ?? error.error_description ?? error.message,
    clientId: client?.clientId ?? idOf(ctx, parameters),
    subjectId: ctx.oidc.session?.accountId,
    received: {
      ...withoutSecrets(parameters),
      ...(endpoint === 'token' || endpoint === 'par' ? { authentication: methodOf(ctx, parameters) } : {}),
    },
  });
  const body: unknown = ctx.body;
  if (typeof body !== 'object' || body === null || !('error' in body)) return;
  Object.assign(body, { error_description: withCode(error.error_description, code) });
}

/** RFC 6749 5.2 leaves the description to us. */
export function withCode(description: string | undefined, code: string): string {
  return `${description ?? 'refused'} (refusal ${code})`;
}

function parametersOf(ctx: KoaContextWithOIDC, endpoint: RefusalEndpoint): Record<string, unknown> {
  const isPage = endpoint === 'authorize' || endpoint === 'end-session';
  return isPage ? { ...ctx.query, ...ctx.oidc.params } : { ...ctx.oidc.body };
}

function withoutSecrets(parameters: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(parameters)
      .filter(([, value]) => value !== undefined)
      .map(([name, value]) => [name, SHOWN.has(name) ? [value].flat().join(' ') : '(sent)']),
  );
}

/** How the client tried to prove itself. */
function methodOf(ctx: KoaContextWithOIDC, parameters: Record<string, unknown>): string {
  if (/^basic /i.test(ctx.get('Authorization'))) return 'client_secret_basic';
  if (parameters.client_assertion) return 'private_key_jwt';
  return parameters.client_secret ? 'client_secret_post' : 'none';
}

function idOf(ctx: KoaContextWithOIDC, { client_id }: Record<string, unknown>): string | undefined {
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
