// The engine's own pages in our dress: errors of its endpoints, sign-out confirmation, device flow. Their forms post
// back to the engine and carry its own per-session token (`xsrf`).

import type { Context } from '../http/context.ts';
import { AppError, type ErrorCode } from '../http/errors.ts';
import type { Refusals } from '../refusals/refusals.ts';
import type { DeviceGuesses } from './device-guesses.ts';
import type { ErrorOut, errors, KoaContextWithOIDC } from './library.ts';
import { provesThisSession } from './sign-out-proof.ts';

/** The engine runs inside our application, on our context. */
export function outer(ctx: KoaContextWithOIDC): Context {
  return ctx as unknown as Context;
}

interface SessionState {
  state?: { secret?: string; postLogoutRedirectUri?: string };
  authorizations?: Record<string, unknown>;
}

/** Who somebody is, for the page that asks them. */
export interface Shown {
  name: string | null;
  username: string;
  email: string | null;
}

export interface PagesNeeds {
  findAccount(id: string): Promise<Shown | undefined>;
  deviceGuesses: DeviceGuesses;
  refusals: Pick<Refusals, 'known'>;
}

const codes: Record<string, ErrorCode> = {
  access_denied: 'access_denied',
  invalid_token: 'invalid_token',
  server_error: 'internal',
  temporarily_unavailable: 'unavailable',
};

const sentences: Record<string, string> = {
  invalid_client: 'The application that sent you here is not known to this server, or is switched off.',
  invalid_redirect_uri: 'The application asked to send you to an address that is not registered for it.',
  post_logout_redirect_uri:
    'The application asked to send you back, after the sign-out, to an address that is not registered for it.',
  invalid_request_uri: 'The sign-in request of the application has expired or was already used.',
};

/** Renders an error that must not, or can not, be sent back to the application. */
async function renderError(
  refusals: Pick<Refusals, 'known'>,
  ctx: KoaContextWithOIDC,
  out: ErrorOut,
  error: errors.OIDCProviderError | Error,
): Promise<void> {
  const status = 'statusCode' in error && typeof error.statusCode === 'number' ? error.statusCode : 500;
  if (status >= 500) throw error;
  // Of a refused sign-out the engine would tell only after this page, which is an error of ours and ends the request here.
  if (ctx.oidc.route === 'end_session') ctx.oidc.provider.emit('end_session.error', ctx, error);
  const refusal = refusals.known(outer(ctx).state.request);
  const application = ctx.oidc.client?.clientName ?? ctx.oidc.client?.clientId;
  const expired = error.name === 'SessionNotFound';
  const code: ErrorCode = expired ? 'sign_in_expired' : (codes[out.error] ?? 'bad_request');
  throw new AppError(code, {
    ...(expired ? {} : { message: sentenceOf(out) ?? 'The request of the application can not be accepted.' }),
    advice: expired
      ? 'Go back to the application and sign in again.'
      : `Go back and try again. If it happens again, tell ${application ? `the people who run ${application}` : 'the administrator'}: ${out.error}${out.error_description ? `, ${out.error_description}` : ''}.`,
    detail: {
      error: out.error,
      description: out.error_description,
      detail: 'error_detail' in error ? error.error_detail : undefined,
      clientId: ctx.oidc.client?.clientId,
    },
    cause: error,
    ...(refusal && !expired && { refusal }),
  });
}

function sentenceOf({ error, error_description = '' }: ErrorOut): string | undefined {
  return error_description.startsWith('post_logout_redirect_uri')
    ? sentences.post_logout_redirect_uri
    : sentences[error];
}

export function createPages({ findAccount, deviceGuesses, refusals }: PagesNeeds) {
  const secretOf = (ctx: KoaContextWithOIDC) => (ctx.oidc.session as SessionState | undefined)?.state?.secret ?? '';
  const applicationName = (ctx: KoaContextWithOIDC) => ctx.oidc.client?.clientName ?? ctx.oidc.client?.clientId;

  async function openedApplications({ oidc: { session, provider } }: KoaContextWithOIDC): Promise<string[]> {
    const ids = Object.keys((session as SessionState | undefined)?.authorizations ?? {});
    const clients = await Promise.all(ids.map((id) => provider.Client.find(id)));
    return clients.flatMap((client) => (client ? [client.clientName ?? client.clientId] : [])).sort();
  }

  return {
    renderError: (ctx: KoaContextWithOIDC, out: ErrorOut, error: errors.OIDCProviderError | Error) =>
      renderError(refusals, ctx, out, error),

    async logoutSource(ctx: KoaContextWithOIDC): Promise<void> {
      const page = { action: ctx.oidc.urlFor('end_session_confirm'), appName: applicationName(ctx) };
      const xsrf = secretOf(ctx);
      // A caller that proves itself need not ask: the form sends itself, and its button stands by.
      if (provesThisSession(ctx)) {
        outer(ctx).render('form-post', { ...page, appName: undefined, fields: { xsrf, logout: 'yes' } });
        return;
      }
      const [account, apps] = await Promise.all([
        findAccount(ctx.oidc.session?.accountId ?? ''),
        openedApplications(ctx),
      ]);
      outer(ctx).render('sign-out/confirm', { ...page, hidden: [{ name: 'xsrf', value: xsrf }], account, apps });
    },

    async postLogoutSuccessSource(ctx: KoaContextWithOIDC): Promise<void> {
      outer(ctx).render('sign-out/done', { appName: applicationName(ctx) });
    },

    device: {
      async userCodeInputSource(ctx: KoaContextWithOIDC, _form: string, out?: ErrorOut, err?: Error): Promise<void> {
        if (err?.name === 'AbortedError') {
          outer(ctx).render('device/done', { isConnected: false });
          return;
        }
        if (err?.name === 'NotFoundError') deviceGuesses.wrong(outer(ctx));
        const status = err ? Math.max(ctx.status, 400) : 200;
        const page = {
          action: ctx.oidc.urlFor('code_verification'),
          hidden: [{ name: 'xsrf', value: secretOf(ctx) }],
          userCode: err && 'userCode' in err && typeof err.userCode === 'string' ? err.userCode : '',
          problem: err || out ? deviceFault(err) : undefined,
        };
        outer(ctx).render('device/enter-code', page, status);
      },

      async userCodeConfirmSource(
        ctx: KoaContextWithOIDC,
        _form: string,
        _client: unknown,
        deviceInfo: Record<string, unknown>,
        userCode: string,
      ): Promise<void> {
        outer(ctx).render('device/confirm', {
          action: ctx.oidc.urlFor('code_verification'),
          hidden: [
            { name: 'xsrf', value: secretOf(ctx) },
            { name: 'user_code', value: userCode },
          ],
          userCode,
          appName: applicationName(ctx),
          address: deviceInfo.ip,
          browser: deviceInfo.ua,
        });
      },

      async successSource(ctx: KoaContextWithOIDC): Promise<void> {
        outer(ctx).render('device/done', { isConnected: true, appName: applicationName(ctx) });
      },
    },
  };
}

function deviceFault(err: Error | undefined): string {
  switch (err?.name) {
    case 'NoCodeError':
      return 'Enter the code that your device shows.';
    case 'NotFoundError':
      return 'This code is not known. Check it and enter it again.';
    case 'ExpiredError':
      return 'This code has expired. Ask for a new one on your device.';
    case 'AlreadyUsedError':
      return 'This code was already used. Ask for a new one on your device.';
    default:
      return 'That did not work. Enter the code again.';
  }
}
