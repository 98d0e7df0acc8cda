// The page for an error of the engine that must not, or cannot, be sent back to the application.

import { AppError, type ErrorCode, type TechnicalDetail, tooManyRequests } from '../../http/errors.ts';
import { withUiLocales } from '../../http/pages/language.ts';
import type { Rejections } from '../../rejections/rejections.ts';
import { type PageText, t } from '../../texts/text.ts';
import { appContext } from '../engine/app-context.ts';
import { routes } from '../engine/configuration.ts';
import type { ErrorOut, errors, KoaContextWithOIDC } from '../engine/library.ts';
import { TooManyAttempts } from '../rate-limits/too-many-attempts.ts';
import { registrationFault } from '../registration/registration-fault.ts';
import { readLanguages } from './engine-forms.ts';

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
export function createErrorPage({ rejections }: { rejections: Pick<Rejections, 'codeOf'> }) {
  return async function renderError(
    ctx: KoaContextWithOIDC,
    out: ErrorOut,
    error: errors.OIDCProviderError | Error,
  ): Promise<never> {
    const status = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
    const { state } = appContext(ctx);
    const languages = readLanguages(ctx);
    if (ctx.oidc.client) state.request.application = ctx.oidc.client.clientId;
    if (status >= 500) throw error;
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
    // Without the name of the application, the user can sign out of all others.
    const signsOut = isLogout(ctx) && registrationFault(error) !== undefined;
    throw new AppError(CODES[out.error] ?? 'bad_request', {
      message: messageOf(ctx, out, error) ?? t('app-error.invalid'),
      advice: adviceOf(ctx.oidc.client?.clientName ?? ctx.oidc.client?.clientId),
      technical: technicalOf(ctx, out, error),
      detail,
      cause: error,
      ...(rejectionCode && { rejectionCode }),
      ...(signsOut && { next: { href: withUiLocales(routes.end_session, languages), label: t('logout.submit') } }),
    });
  };
}

const isLogout = ({ oidc }: KoaContextWithOIDC) => oidc.route.startsWith('end_session');

// The engine finds the client by the hint, so without a client the hint was not accepted.
const isHintRejected = ({ oidc: { client, params, route } }: KoaContextWithOIDC) =>
  route === 'end_session' && params?.id_token_hint !== undefined && !client;

function messageOf(ctx: KoaContextWithOIDC, { error }: ErrorOut, cause: Error): PageText | undefined {
  const { client, params, route } = ctx.oidc;
  if (registrationFault(cause) !== undefined)
    return isLogout(ctx) ? t('app-error.registration-logout') : t('app-error.registration');
  if (isHintRejected(ctx)) return MESSAGES.id_token_hint;
  const uri = params?.post_logout_redirect_uri;
  const isUnregistered = typeof uri === 'string' && client?.postLogoutRedirectUriAllowed(uri) === false;
  return MESSAGES[route === 'end_session' && isUnregistered ? 'post_logout_redirect_uri' : error];
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
): TechnicalDetail[] {
  return [
    { label: t('error-page.error'), value: error },
    ...(description ? [{ label: t('error-page.description'), value: description }] : []),
    ...(isHintRejected(ctx) && registrationFault(cause) === undefined
      ? [{ label: 'id_token_hint', value: 'The ID token isn’t one that this server issued to the app.' }]
      : []),
  ];
}
