// Our own checks of an authorization request, before anybody is asked anything. The engine calls the validator of an
// extra parameter on every request, with or without the parameter, after its own checks of client, redirect URI,
// PKCE and scope: the one documented place for them.
import { decodeJwt } from 'jose';
import type { ClientSource } from './clients.ts';
import { errors, type KoaContextWithOIDC } from './library.ts';
import { TEST_MODE } from './test-mode.ts';

/** The parameter whose validator carries these checks; it also tells the sign-in page where to begin. */
export const ADMISSION_PARAMETER = 'screen_hint';

/**
 * @param isSamlAsked whether the parameters are what was made of an AuthnRequest that this very browser brought and
 *   that is not answered yet, neither more nor less
 */
export function createAdmission({
  clients,
  isSamlAsked,
  isTestAsked,
}: {
  clients: ClientSource;
  /** Whether an administrator began this very test in this browser. */
  isTestAsked(ctx: KoaContextWithOIDC, params: Record<string, unknown>): boolean;
  isSamlAsked(ctx: KoaContextWithOIDC, params: Record<string, unknown>): Promise<boolean>;
}) {
  return async function admit(ctx: KoaContextWithOIDC): Promise<void> {
    const { client, params } = ctx.oidc;
    const facts = client && (await clients.facts(client.clientId));
    if (!client || !facts || !params) return;
    if (facts.protocol === 'saml') {
      // Neither pushed nor in a request object: those would have been checked against another moment.
      const isPlain = ctx.oidc.route === 'authorization' && !ctx.query.request_uri && !ctx.query.request;
      if (params.response_mode !== 'saml' || !isPlain) throw refusal('this application signs in by SAML');
      if (!(await isSamlAsked(ctx, { ...params }))) {
        throw refusal('there is no open SAML request for this sign-in in this browser');
      }
      return;
    }
    if (params.response_mode === 'saml') throw refusal('this application signs in by OpenID Connect');
    if (params.response_mode === TEST_MODE && !isTestAsked(ctx, { ...params })) {
      throw refusal('there is no test of this application in this browser');
    }
    keepOfflineAccess(ctx);
  };
}

/** A refusal that is shown here and never sent on: the redirect address is not to be trusted with it. */
function refusal(description: string): errors.InvalidRequest {
  return Object.assign(new errors.InvalidRequest(description), { allow_redirect: false });
}

/**
 * The engine drops offline_access unless the request says prompt=consent (OIDC Core 11), which client libraries seldom
 * send. Whether an application may stay connected is the business of its `refresh_token` grant and of consent, which
 * asks for offline_access by name; so the scope is put back.
 */
function keepOfflineAccess(ctx: KoaContextWithOIDC): void {
  const { client, params } = ctx.oidc;
  if (!client || !params || !client.grantTypeAllowed('refresh_token')) return;
  if (params.response_type !== undefined && params.response_type !== 'code') return;
  const kept = String(params.scope ?? '').split(' ');
  if (kept.includes('offline_access') || !requestedScope(ctx).split(' ').includes('offline_access')) return;
  if (client.scope && !client.scope.split(' ').includes('offline_access')) return;
  params.scope = [...kept, 'offline_access'].join(' ').trim();
}

/** The scope as it was sent: in a (pushed) request object that the engine has verified by now, or as a parameter. */
function requestedScope(ctx: KoaContextWithOIDC): string {
  const sent: Record<string, unknown> = ctx.method === 'POST' ? (ctx.oidc.body ?? {}) : ctx.query;
  const object = ctx.oidc.entities.PushedAuthorizationRequest?.request ?? sent.request;
  const scope = typeof object === 'string' && object !== '' ? decodeJwt(object).scope : sent.scope;
  return typeof scope === 'string' ? scope : '';
}
