// The page for an error of the engine that must not, or cannot, be sent back to the application.

import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { ErrorPage } from '../../../base/http/context.ts';
import { AppError, type ErrorCode, type TechnicalDetail, tooManyRequests } from '../../../base/http/errors.ts';
import { tooMuchStoredIn } from '../../../base/storage/stored-size.ts';
import { type PageText, t } from '../../../base/texts/text.ts';
import type { People } from '../../../people/people.ts';
import { appContext } from '../engine/app-context.ts';
import type { ErrorOut, errors, KoaContextWithOIDC } from '../engine/library.ts';
import { TooManyAttempts } from '../rate-limits/too-many-attempts.ts';
import { registrationFault } from '../registration/registration-fault.ts';
import type { ClientSource } from '../store/clients.ts';
import { readLanguages } from './engine-forms.ts';

/** Of a value that the page repeats. */
const MAX_DISPLAYED = 500;

const CODES: Record<string, ErrorCode> = {
  access_denied: 'access_denied',
  invalid_token: 'invalid_token',
  server_error: 'internal',
  temporarily_unavailable: 'unavailable',
};

const MESSAGES: Record<string, PageText> = {
  invalid_client: t('app-error.invalid-client'),
  invalid_redirect_uri: t('app-error.invalid-redirect-uri'),
  post_logout_redirect_uri: t('app-error.post-logout-redirect-uri'),
  id_token_hint: t('app-error.id-token-hint'),
  invalid_request_uri: t('app-error.invalid-request-uri'),
};

/** oidc-provider's `renderError`: throws an AppError, which the error handler of the application renders. */
export function createErrorPage({
  rejections,
  clients,
  rejectedLogoutPage,
}: People & {
  clients: ClientSource;
  /** The page of a rejected logout request. */
  rejectedLogoutPage(ctx: KoaContextWithOIDC): (error: AppError) => Promise<ErrorPage>;
}) {
  return async function renderError(
    ctx: KoaContextWithOIDC,
    out: ErrorOut,
    error: errors.OIDCProviderError | Error,
  ): Promise<never> {
    const status = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
    const { state } = appContext(ctx);
    readLanguages(ctx);
    if (ctx.oidc.client) state.request.application = ctx.oidc.client.clientId;
    if (status >= 500 || tooMuchStoredIn(error)) throw error;
    if (error instanceof TooManyAttempts) throw tooManyRequests(error.retryAfterSeconds, { cause: error });
    // The engine emits this event only after the page, which is thrown here and so ends the request.
    if (ctx.oidc.route === 'end_session') ctx.oidc.provider.emit('end_session.error', ctx, error);
    const detail = {
      error: out.error,
      description: out.error_description,
      detail: 'error_detail' in error ? error.error_detail : undefined,
      clientId: ctx.oidc.client?.clientId,
    };
    if (error.name === 'SessionNotFound') {
      const advice = t('error.sign_in_expired.advice');
      throw new AppError('sign_in_expired', { advice, detail, cause: error });
    }
    const rejectionCode = rejections.codeOf(state.request);
    if (isLogout(ctx)) state.errorPage = rejectedLogoutPage(ctx);
    throw new AppError(CODES[out.error] ?? 'bad_request', {
      message: messageOf(ctx, out, error) ?? t('app-error.invalid'),
      advice: adviceOf(ctx.oidc.client?.clientName ?? ctx.oidc.client?.clientId),
      technical: technicalOf(ctx, out, error, clients),
      detail,
      cause: error,
      ...(rejectionCode && { rejectionCode }),
    });
  };
}

const isLogout = ({ oidc }: KoaContextWithOIDC) => oidc.route.startsWith('end_session');

// The engine finds the client by the hint, so without a client the hint was not accepted.
const isHintRejected = ({ oidc: { client, params, route } }: KoaContextWithOIDC) =>
  route === 'end_session' && params?.id_token_hint !== undefined && !client;

function messageOf(ctx: KoaContextWithOIDC, { error }: ErrorOut, cause: Error): PageText | undefined {
  const { route } = ctx.oidc;
  if (registrationFault(cause) !== undefined)
    return isLogout(ctx) ? t('app-error.registration-logout') : t('app-error.registration');
  if (isHintRejected(ctx)) return MESSAGES.id_token_hint;
  if (route === 'end_session_confirm') return t('error.csrf_failed');
  return MESSAGES[unregisteredReturn(ctx) === undefined ? error : 'post_logout_redirect_uri'];
}

/** The post_logout_redirect_uri of the request, if it is the fault. */
function unregisteredReturn({ oidc: { client, params, route } }: KoaContextWithOIDC): string | undefined {
  const uri = params?.post_logout_redirect_uri;
  const isUnregistered = typeof uri === 'string' && client?.postLogoutRedirectUriAllowed(uri) === false;
  return route === 'end_session' && isUnregistered ? uri : undefined;
}

function adviceOf(application: string | undefined): PageText {
  return application === undefined
    ? t('error.saml_request_invalid.advice')
    : t('app-error.advice', { app: application });
}

function technicalOf(
  ctx: KoaContextWithOIDC,
  { error, error_description: description }: ErrorOut,
  cause: Error,
  clients: ClientSource,
): TechnicalDetail[] {
  const { issuer, params } = ctx.oidc;
  const uri = unregisteredReturn(ctx);
  const isClientKnown = (id: string) => clients.cachedApplicationOf(id) !== undefined;
  const fault = () => hintFault(String(params?.id_token_hint), { issuer, clientId: params?.client_id, isClientKnown });
  return [
    { label: t('error-page.error'), value: error },
    ...(description ? [{ label: t('error-page.description'), value: description }] : []),
    ...(isHintRejected(ctx) && registrationFault(cause) === undefined
      ? [{ label: 'id_token_hint', value: fault() }]
      : []),
    ...(uri === undefined ? [] : [{ label: 'post_logout_redirect_uri', value: uri.slice(0, MAX_DISPLAYED) }]),
  ];
}

interface HintContext {
  issuer: string;
  /** The parameter client_id of the request. */
  clientId: unknown;
  isClientKnown(clientId: string): boolean;
}

const MAX_QUOTED = 200;
const NOT_OURS = 'The ID token isn’t one that this server issued to the app.';

function hintFault(hint: string, context: HintContext): string {
  return `${NOT_OURS} ${reasonOf(hint, context)}`;
}

function reasonOf(hint: string, { issuer, clientId, isClientKnown }: HintContext): string {
  if (hint.split('.').length === 5) return 'It is encrypted (JWE). Send it as the token endpoint returned it.';
  const token = decoded(hint);
  if (!token) return 'It can’t be read as a JWT.';
  const { iss, aud, alg, kid } = token;
  if (iss !== issuer) return `Its issuer (iss) is ${quoted(iss)}. This server is ${quoted(issuer)}.`;
  if (typeof aud !== 'string') return 'It doesn’t name one application (aud).';
  if (!isClientKnown(aud))
    return `The application ${quoted(aud)} that it was issued to (aud) isn’t registered, or is disabled.`;
  if (clientId !== undefined && clientId !== aud)
    return `It was issued to ${quoted(aud)} (aud), and client_id is ${quoted(clientId)}.`;
  return `No key of this server matches its signature (alg ${quoted(alg)}, kid ${quoted(kid)}).`;
}

function decoded(hint: string) {
  try {
    return { ...decodeJwt(hint), ...decodeProtectedHeader(hint) };
  } catch {
    return undefined;
  }
}

function quoted(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value).slice(0, MAX_QUOTED);
}
