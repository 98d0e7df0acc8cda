// The engine's own pages: those of the device flow, of a logout, and of an error that is not sent back to the application. Their forms post
// back to the engine, with the CSRF token from the session.
import { decodeJwt, decodeProtectedHeader } from 'jose';
import { AppError, type ErrorCode, type TechnicalDetail, tooManyRequests } from '../../base/http/errors.ts';
import { languagesOf, withUiLocales } from '../../base/http/pages/language.ts';
import { randomToken } from '../../base/platform/random.ts';
import { tooMuchStoredIn } from '../../base/storage/stored-size.ts';
import { unavailableIn } from '../../base/storage/unavailable.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import { hostOfDocument, isDocumentUrl } from './client-documents.ts';
import { appContext } from './engine/app-context.ts';
import type { ErrorOut, errors, KoaContextWithOIDC } from './engine/library.ts';
import type { OidcServices } from './oidc-services.ts';
import { TooManyAttempts } from './rate-limits.ts';
import { findUnlessRejected, registrationFault, reportRejectedClients } from './registration.ts';
import type { ClientSource } from './store/clients.ts';

/** The engine's CSRF token for its forms (`xsrf`). */
export function xsrfOf({ oidc }: KoaContextWithOIDC): string {
  const { secret } = (oidc.session?.state ?? {}) as { secret?: string };
  return secret ?? '';
}

/**
 * Gives the page the languages that the request asks for, and returns them. The steps of a logout carry them in their address, because
 * the engine has `ui_locales` only in the first one.
 */
export function readLanguages(ctx: KoaContextWithOIDC): string[] {
  const languages = languagesOf(ctx.oidc.params?.ui_locales ?? ctx.query.ui_locales);
  appContext(ctx).state.requestedLanguages = languages;
  return languages;
}

/** The name of the client of the request on pages. */
export function applicationName({ oidc: { client } }: KoaContextWithOIDC): string | undefined {
  return client?.clientName ?? client?.clientId;
}

// The engine's pages of the device flow (RFC 8628 3.3): enter the code, confirm the device, result.

/** oidc-provider's `features.deviceFlow` pages. */
export function createDevicePages({ deviceGuesses }: OidcServices) {
  return {
    async userCodeInputSource(ctx: KoaContextWithOIDC, _form: string, out?: ErrorOut, err?: Error): Promise<void> {
      if (unavailableIn(err)) throw err;
      if (err?.name === 'AbortedError') {
        appContext(ctx).render('device/done', { isConnected: false });
        return;
      }
      if (err?.name === 'NotFoundError') deviceGuesses.markUnknown(appContext(ctx));
      const page = {
        action: ctx.oidc.urlFor('code_verification'),
        hidden: [{ name: 'xsrf', value: xsrfOf(ctx) }],
        userCode: err && 'userCode' in err && typeof err.userCode === 'string' ? err.userCode : '',
        error: err || out ? errorText(err) : undefined,
      };
      appContext(ctx).render('device/enter-code', page, err ? Math.max(ctx.status, 400) : 200);
    },

    async userCodeConfirmSource(
      ctx: KoaContextWithOIDC,
      _form: string,
      _client: unknown,
      deviceInfo: Record<string, unknown>,
      userCode: string,
    ): Promise<void> {
      appContext(ctx).render('device/confirm', {
        action: ctx.oidc.urlFor('code_verification'),
        hidden: [
          { name: 'xsrf', value: xsrfOf(ctx) },
          { name: 'user_code', value: userCode },
        ],
        userCode,
        appName: applicationName(ctx),
        address: deviceInfo.ip,
        browser: deviceInfo.ua,
      });
    },

    async successSource(ctx: KoaContextWithOIDC): Promise<void> {
      appContext(ctx).render('device/done', { isConnected: true, appName: applicationName(ctx) });
    },
  };
}

function errorText(err: Error | undefined): PageText {
  switch (err?.name) {
    case 'NoCodeError':
      return t('device.enter-code');
    case 'NotFoundError':
      return t('phone.wrong-code');
    case 'ExpiredError':
      return t('device.expired');
    case 'AlreadyUsedError':
      return t('device.used');
    default:
      return t('device.failed');
  }
}

// The engine's pages for logout (OpenID Connect RP-Initiated Logout 1.0): confirmation and result.

/**
 * The pages of `/end-session`: those of oidc-provider's `features.rpInitiatedLogout`, and that of a rejected request. They don't name the
 * client of this server's own pages.
 */
export function createLogoutPages(services: OidcServices) {
  const { accounts, firstPartyClient } = services;
  const nameOf = (ctx: KoaContextWithOIDC) =>
    ctx.oidc.client?.clientId === firstPartyClient.client_id ? undefined : applicationName(ctx);
  return {
    async logoutSource(ctx: KoaContextWithOIDC): Promise<void> {
      const action = withUiLocales(ctx.oidc.urlFor('end_session_confirm'), readLanguages(ctx));
      const xsrf = xsrfOf(ctx);
      // No confirmation is needed; the form submits itself, and has a button for browsers without scripts.
      if (provesThisSession(ctx)) {
        appContext(ctx).render('form-post', { action, appName: undefined, fields: { xsrf, logout: 'yes' } });
        return;
      }
      appContext(ctx).render('logout/confirm', { action, appName: nameOf(ctx), ...(await question(ctx, xsrf)) });
    },

    async postLogoutSuccessSource(ctx: KoaContextWithOIDC): Promise<void> {
      readLanguages(ctx);
      // The user chose to stay signed in.
      const { accountId } = await ctx.oidc.provider.Session.get(ctx);
      appContext(ctx).render('logout/done', { appName: nameOf(ctx), isSignedIn: accountId !== undefined });
    },

    /**
     * Has the error handler answer a rejected logout request with a page of the logout: a user who is signed in learns that, and can sign out.
     * The fault is for the developer. Call it before the engine saves the session, which gets the CSRF token of the form.
     */
    setRejectedLogoutPage(ctx: KoaContextWithOIDC): void {
      const { session } = ctx.oidc;
      const { state } = appContext(ctx);
      const { requestId } = state.request;
      const isSignedIn = session?.accountId !== undefined;
      const xsrf = randomToken();
      if (isSignedIn) session.state = { secret: xsrf };
      const action = withUiLocales(ctx.oidc.urlFor('end_session_confirm'), readLanguages(ctx));
      state.errorPage = async ({ text, rejectionCode, technical }: AppError) => {
        const fault = { error: text, rejectionCode, requestId, technical };
        if (!isSignedIn) return { template: 'logout/done', data: fault };
        return { template: 'logout/confirm', data: { action, ...(await question(ctx, xsrf)), ...fault } };
      };
    },
  };

  /** The account and the applications that the confirmation page names, and the field that proves the form. */
  async function question(ctx: KoaContextWithOIDC, xsrf: string) {
    const [account, apps] = await Promise.all([
      accounts.find(ctx.oidc.session?.accountId ?? ''),
      answeredApplications(services, ctx),
    ]);
    appContext(ctx).state.profileLanguage = account?.locale ?? undefined;
    return { hidden: [{ name: 'xsrf', value: xsrf }], account, apps };
  }
}

/** The names of the applications in which the user is signed in, sorted. */
async function answeredApplications(
  { clients, firstPartyClient, logger }: OidcServices,
  { oidc: { session, provider } }: KoaContextWithOIDC,
): Promise<string[]> {
  const answered = Object.entries(session?.authorizations ?? {}).filter(([, entry]) => 'isAnswered' in entry);
  const ids = answered.map(([id]) => id).filter((id) => id !== firstPartyClient.client_id);
  const report = reportRejectedClients(logger);
  const names = ids.map(async (id) => {
    const client = await findUnlessRejected(
      () => provider.Client.find(id),
      (fault) => report(id, fault),
    );
    return client ? (client.clientName ?? id) : clients.cachedApplicationOf(id)?.name;
  });
  return (await Promise.all(names)).flatMap((name) => name ?? []).sort();
}

/** The engine has verified the hint; every ID token of this server names its session by `sid`. */
function provesThisSession({ oidc: { session, client, entities } }: KoaContextWithOIDC): boolean {
  const sid = entities.IdTokenHint?.payload.sid;
  if (!client || !session?.accountId || sid === undefined) return false;
  return sid === session.sidFor(client.clientId);
}

// The page for an error of the engine that must not, or cannot, be sent back to the application.

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
  invalid_request_uri: t('app-error.invalid-request-uri'),
};

/** oidc-provider's `renderError`: throws an AppError, which the error handler of the application renders. */
export function createErrorPage(
  { rejections, clients }: OidcServices,
  { setRejectedLogoutPage }: ReturnType<typeof createLogoutPages>,
) {
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
    if (isLogout(ctx)) setRejectedLogoutPage(ctx);
    throw new AppError(CODES[out.error] ?? 'bad_request', {
      message: messageOf(ctx, out, error) ?? t('app-error.invalid'),
      advice: adviceOf(ctx.oidc.client?.clientName ?? ctx.oidc.client?.clientId ?? hostOfRequest(ctx)),
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
  if (registrationFault(cause) !== undefined) {
    const host = hostOfRequest(ctx);
    if (host !== undefined) return t('app-error.document', { host });
    return isLogout(ctx) ? t('app-error.registration-logout') : t('app-error.registration');
  }
  if (isHintRejected(ctx)) return t('app-error.id-token-hint');
  if (ctx.oidc.route === 'end_session_confirm') return t('error.csrf_failed');
  if (unregisteredReturn(ctx) !== undefined) return t('app-error.post-logout-redirect-uri');
  return MESSAGES[error];
}

/** The host of a client with a metadata document. */
function hostOfRequest({ oidc: { params } }: KoaContextWithOIDC): string | undefined {
  const id = params?.client_id;
  return typeof id === 'string' && isDocumentUrl(id) ? hostOfDocument(id) : undefined;
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
  const details: TechnicalDetail[] = [{ label: t('error-page.error'), value: error }];
  if (description) details.push({ label: t('error-page.description'), value: description });
  if (isHintRejected(ctx) && registrationFault(cause) === undefined) {
    const isClientKnown = (id: string) => clients.cachedApplicationOf(id) !== undefined;
    const context = { issuer, clientId: params?.client_id, isClientKnown };
    details.push({ label: 'id_token_hint', value: hintFault(String(params?.id_token_hint), context) });
  }
  const uri = unregisteredReturn(ctx);
  if (uri !== undefined) details.push({ label: 'post_logout_redirect_uri', value: uri.slice(0, MAX_DISPLAYED) });
  return details;
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
  const token = contentOfHint(hint);
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

function contentOfHint(hint: string) {
  try {
    return { ...decodeJwt(hint), ...decodeProtectedHeader(hint) };
  } catch {
    return undefined;
  }
}

function quoted(value: unknown): string {
  return value === undefined ? 'missing' : JSON.stringify(value).slice(0, MAX_QUOTED);
}
