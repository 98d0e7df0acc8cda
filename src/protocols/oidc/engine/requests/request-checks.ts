// The checks of this server on an authorization request, before any prompt. The engine calls the validator of an extra
// parameter (`extraParams`) on every request, after its own checks of client, redirect URI, PKCE and scope.
import { decodeJwt } from 'jose';
import { limits } from '../../../../base/limits.ts';
import { plural } from '../../../../base/platform/plural.ts';
import type { BrokenRule } from '../../../../core/rejections/rules.ts';
import { recordRequestedLanguages, userScopes } from '../../claims/scopes.ts';
import type { OidcServices } from '../../oidc-services.ts';
import { isUnregistered } from '../../registration.ts';
import type { ClientApplication } from '../../store/clients.ts';
import { PROTOCOL_CLAIMS } from '../../store/grants.ts';
import { createTestTickets } from '../../store/test-tickets.ts';
import { appContext } from '../app-context.ts';
import { errors, type KoaContextWithOIDC } from '../library.ts';
import { TEST_MODE } from '../test-response-mode.ts';

/** The parameter whose validator runs these checks; its value also selects the first step of the sign-in page. */
export const REQUEST_CHECK_PARAMETER = 'screen_hint';

/** The scopes of an API that a client may request. */
type RegisteredScopes = (api: string, clientId: string) => Promise<string[]>;

/** oidc-provider's validator for `extraParams`. Throws invalid_request; SAML and test requests are never sent back. */
export function createRequestCheck(services: OidcServices, registeredScopes: RegisteredScopes) {
  const { clients, saml } = services;
  const tests = createTestTickets(services);
  return async function checkAndCompleteRequest(ctx: KoaContextWithOIDC): Promise<void> {
    const { client, params } = ctx.oidc;
    const application = client && (await clients.applicationOf(client.clientId));
    if (!client || !application || !params) return;
    limitSize({ ...params });
    if (application.protocol === 'saml') {
      assertSamlRequest(ctx, params);
      if (!(await saml.isPendingAuthnRequest(ctx, { ...params })))
        throw rejection('no pending AuthnRequest in this browser', 'a pending AuthnRequest');
      return;
    }
    if (params.response_mode === 'saml')
      throw rejection('this application signs in by OpenID Connect', 'no response_mode=saml');
    if (params.response_mode === TEST_MODE && !tests.matches(appContext(ctx), { ...params })) {
      throw rejection(
        'there is no test of this application in this browser',
        'a test that was started in this browser',
      );
    }
    assertApis(ctx, application);
    if (isUnregistered(application)) keepClaimsOfSignIn(params);
    restoreOfflineAccess(ctx, application);
    await requireScope(ctx, application, registeredScopes);
    recordRequestedLanguages(params);
  };
}

/** A plain request with `response_mode=saml`: PAR (RFC 9126) and request objects (RFC 9101) are validated before the browser's AuthnRequest is known. */
function assertSamlRequest({ oidc: { route }, query }: KoaContextWithOIDC, params: { response_mode?: unknown }): void {
  const isPlain = route === 'authorization' && !query.request_uri && !query.request;
  if (params.response_mode !== 'saml' || !isPlain)
    throw rejection('this application signs in by SAML', 'an AuthnRequest');
}

/** An API decides whether a client that nobody registered may ask; nothing else here is for it. */
function assertApis({ oidc: { resourceServers = {} } }: KoaContextWithOIDC, application: ClientApplication): void {
  const { length: count } = Object.keys(resourceServers);
  if (application.source === 'document' && count === 0)
    throw new errors.InvalidTarget('resource is missing: a client with a metadata document names an API (RFC 8707)');
  if (isUnregistered(application) && count > 1)
    throw new errors.InvalidTarget('resource must name one API: nobody registered this client');
}

/** Of the parameter `claims`, those about the sign-in itself: what a client learns about a person follows from its scopes. */
function keepClaimsOfSignIn(params: { claims?: unknown }): void {
  if (params.claims === undefined) return;
  const sent = JSON.parse(String(params.claims)) as Record<string, object | null>;
  const kept = Object.entries(sent).map(([use, claims]) => [
    use,
    Object.fromEntries(Object.entries(claims ?? {}).filter(([claim]) => PROTOCOL_CLAIMS.has(claim))),
  ]);
  params.claims = JSON.stringify(Object.fromEntries(kept));
}

/** Whether an answer with these parameters, such as an error, fits into an address. */
export function fitsIntoAnswer({ redirect_uri: uri, state }: { redirect_uri?: unknown; state?: unknown }): boolean {
  const sent = new URLSearchParams({ state: String(state ?? '') }).toString();
  return String(uri ?? '').length + sent.length <= limits.authorizationRequest.bytes;
}

/** All parameters together are stored until the sign-in ends. The application gets the error, unless even that is too long. */
function limitSize(params: Record<string, unknown>): void {
  const { bytes } = limits.authorizationRequest;
  const size = Object.values(params).reduce<number>((sum, value) => sum + Buffer.byteLength(String(value ?? '')), 0);
  if (size <= bytes) return;
  const description = `the parameters of the request are longer than ${plural(bytes, 'byte')} together`;
  const brokenRule: BrokenRule = {
    rule: 'request',
    received: plural(size, 'byte'),
    expected: `at most ${plural(bytes, 'byte')}`,
  };
  const error = Object.assign(new errors.InvalidRequest(description), { brokenRule });
  throw fitsIntoAnswer(params) ? error : Object.assign(error, { allow_redirect: false });
}

/** An error that is displayed on a page of this server, and never sent to redirect_uri. */
function rejection(description: string, expected: string): errors.InvalidRequest {
  const brokenRule: BrokenRule = { rule: 'request', received: description, expected };
  return Object.assign(new errors.InvalidRequest(description), { allow_redirect: false, brokenRule });
}

/**
 * The engine drops offline_access unless the request says prompt=consent (OIDC Core 11), which client libraries seldom
 * send. Here the application's `refresh_token` grant and the user's consent decide on offline access, so the scope is put
 * back (docs/decisions/0006-offline-access-by-application.md). Clients of the Model Context Protocol that can refresh do not request the scope:
 * it is added for one that nobody registered and that asks for an API, so that the consent names it.
 */
function restoreOfflineAccess(ctx: KoaContextWithOIDC, { metadata, source }: ClientApplication): void {
  const { client, params } = ctx.oidc;
  if (!client || !params || !client.grantTypeAllowed('refresh_token')) return;
  if (params.response_type !== undefined && params.response_type !== 'code') return;
  const scopes = String(params.scope ?? '').split(' ');
  const sent = requestedScope(ctx).split(/\s+/);
  // Without a scope for the user, the registered one is requested (patches.ts).
  const known = userScopes(metadata);
  const isDefault = params.resource === undefined && !sent.some((one) => known.includes(one));
  const isAgent = (source === 'document' || source === 'dynamic') && params.resource !== undefined;
  const requested = [
    ...sent,
    ...(isDefault ? (metadata.scope ?? '').split(' ') : []),
    ...(isAgent ? ['offline_access'] : []),
  ];
  if (scopes.includes('offline_access') || !requested.includes('offline_access')) return;
  if (client.scope && !client.scope.split(' ').includes('offline_access')) return;
  params.scope = [...scopes, 'offline_access'].join(' ').trim();
}

/**
 * A request that names no scope that its token could have. Instead of a token without any scope, the client gets, at the APIs that the request
 * names by `resource`, the scopes that it is registered for (RFC 6749 3.3). It gets the error invalid_scope, before anybody signs in, when there
 * are none, and when nobody registered the client and it names unknown scopes: its own scopes are those that it asks for.
 */
async function requireScope(
  ctx: KoaContextWithOIDC,
  application: ClientApplication,
  registeredScopes: RegisteredScopes,
): Promise<void> {
  const { client, params, requestParamScopes, resourceServers } = ctx.oidc;
  if (!client || !params || userScopes(application.metadata).some((one) => requestParamScopes.has(one))) return;
  const apis = Object.keys(resourceServers ?? {});
  const registered = (await Promise.all(apis.map((api) => registeredScopes(api, client.clientId)))).flat();
  if (registered.some((one) => requestParamScopes.has(one))) return;
  const sent = requestedScope(ctx).trim();
  if (isUnregistered(application) && sent.split(/\s+/).some((one) => one !== '' && one !== 'offline_access'))
    throw new errors.InvalidScope('the API gives this client none of these scopes', sent);
  if (registered.length === 0) {
    const advice = sent.includes(',') ? ' (spaces separate scopes, not commas)' : '';
    const missing = sent === '' ? 'scope is missing' : `no requested scope is known${advice}`;
    throw new errors.InvalidScope(`${missing}, and the client is registered without a scope to use instead`, sent);
  }
  params.scope = [...new Set([...requestParamScopes, ...registered])].join(' ');
}

/** The scope as it was sent: in a (pushed) request object that the engine has verified by now, or as a parameter. */
function requestedScope(ctx: KoaContextWithOIDC): string {
  const sent: Record<string, unknown> = ctx.method === 'POST' ? (ctx.oidc.body ?? {}) : ctx.query;
  const object = ctx.oidc.entities.PushedAuthorizationRequest?.request ?? sent.request;
  const scope = typeof object === 'string' && object !== '' ? decodeJwt(object).scope : sent.scope;
  return typeof scope === 'string' ? scope : '';
}
