// Identity assertions (ID-JAG, draft-ietf-oauth-identity-assertion-authz-grant; MCP: Enterprise-Managed Authorization). This server gives its
// clients assertions about the people who are signed in to them, for the authorization servers of other companies; and it takes those of the
// identity providers that it is connected to, in place of a consent page.

import { decodeProtectedHeader, importJWK, SignJWT } from 'jose';
import { idJagGrant } from '../../applications/fields/oidc-client.ts';
import { acceptsSignIn } from '../../applications/rules/sign-in-rule.ts';
import { canonicalResource } from '../../applications/uris.ts';
import { AppError } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { randomToken } from '../../base/platform/random.ts';
import type { Core } from '../../core/core.ts';
import type { PrivateJwk } from '../../core/keys/key-pair.ts';
import type { BrokenRule } from '../../core/rejections/rules.ts';
import { FEDERATED_ACR } from '../../people/mfa/acr.ts';
import { withChosenGroup } from './claims/chosen-group.ts';
import { type Subjects, sectorOfClient } from './claims/pairwise-subjects.ts';
import {
  createExchangeRecorder,
  findForApi,
  type GrantContext,
  invalidGrant,
  invalidRequest,
  issueForApi,
  type Params,
  requestedScopes,
  singleResource,
} from './delegated-tokens.ts';
import { type Client, engineSeconds, errors, grantHelpers, type Provider } from './engine/library.ts';
import type { ClientSource } from './store/clients.ts';
import type { Sessions } from './store/sessions/sessions.ts';

const TYPE = 'urn:ietf:params:oauth:token-type:';
export const ID_JAG = `${TYPE}id-jag`;

/** An assertion of a connected identity provider, which is verified (federation/oidc/id-jag.ts). */
export interface IdentityAssertion {
  userId: string;
  connectionId: string;
  clientId: string;
  scope: string | undefined;
  resource: string | undefined;
  authTime: Date | undefined;
  use(): Promise<boolean>;
}

export interface IdJagDependencies {
  clients: ClientSource;
  sessions: Sessions;
  jwks(): { keys: PrivateJwk[] };
  subjects: Subjects;
  /** Throws an AppError for an assertion that is not believed. */
  upstream: { readAssertion(assertion: string): Promise<IdentityAssertion> };
}

/** Issues an assertion: RFC 8693 with the ID token, or a refresh token, of the client itself. */
export function createIdJagIssuer(
  provider: Provider,
  { clients, sessions, jwks, subjects }: IdJagDependencies,
  record: ReturnType<typeof createExchangeRecorder>,
) {
  return async function issueIdJag(ctx: GrantContext): Promise<void> {
    const { client, params } = ctx.oidc;
    // The API behind the other server, which that server judges: so it is named as it was sent.
    if (params.resource !== undefined) singleResource([params.resource].flat());
    const [resource] = [ctx.oidc.body?.resource ?? []].flat();
    const server = await serverNamed(client, singleResource([params.audience ?? []].flat()));
    const subject = await subjectOf(client, params);

    // The other server is registered as an API: its access rule, scopes and signing algorithm count.
    await findForApi(provider, ctx, server.identifier, subject);
    const [target] = await grantHelpers.resolveRequestedResources(provider, ctx);
    const { sign } = (target?.jwt ?? {}) as { sign?: { alg: string } };
    const jwk = jwks().keys.find(({ alg }) => alg === sign?.alg);
    if (!target || !jwk) throw new errors.InvalidTarget('no assertion is issued for this resource');
    const asked = requestedScopes(ctx, target.scopes);
    const scope = asked.filter((one) => target.scopes.has(one)).join(' ') || undefined;
    if (asked.length > 0 && scope === undefined)
      throw new errors.InvalidScope('the client and the person have none of these scopes there', asked.join(' '));

    const { seconds } = limits.idJag;
    const { alg, kid } = jwk;
    const { sub, acr, amr, auth_time } = subject;
    const claims = { sub, client_id: server.clientId, scope, resource, acr, amr, auth_time };
    const assertion = await new SignJWT(claims as never)
      .setProtectedHeader({ alg, kid, typ: 'oauth-id-jag+jwt' })
      .setIssuer(provider.issuer)
      .setAudience(server.issuer)
      .setJti(randomToken())
      .setIssuedAt(engineSeconds())
      .setExpirationTime(engineSeconds() + seconds)
      .sign(await importJWK({ ...jwk } as never, alg));
    ctx.body = grantHelpers.buildTokenResponse(provider, {
      accessToken: assertion,
      issuedTokenType: ID_JAG,
      expiresIn: seconds,
      scope,
      tokenType: 'N_A',
    });
    await record(ctx, { api: server.issuer, clientThere: server.clientId });
  };

  /** The other authorization server, and the client there. The issuer is as it is registered: it is compared character by character. */
  async function serverNamed(client: Client, identifier: string) {
    const { id_jag_clients: servers = {} } = (await clients.applicationOf(client.clientId))?.metadata ?? {};
    for (const [issuer, clientId] of Object.entries(servers))
      if (canonicalResource(issuer) === identifier) return { identifier, issuer, clientId };
    throw new errors.InvalidTarget('the client gets no assertions for this authorization server');
  }

  /** Who is signed in to the client, by a token of its own. */
  async function subjectOf(client: Client, { subject_token, subject_token_type }: Params) {
    const value = String(subject_token ?? '');
    if (subject_token_type === `${TYPE}id_token`) return subjectOfIdToken(client, value);
    if (subject_token_type !== `${TYPE}refresh_token`)
      throw invalidRequest(`subject_token_type must be ${TYPE}id_token or ${TYPE}refresh_token`);
    const token = await provider.RefreshToken.find(value);
    const isLiving = token?.isValid && token.clientId === client.clientId && !token.consumed;
    const grant = isLiving && token.grantId ? await provider.Grant.find(token.grantId) : undefined;
    if (!token || !grant) throw invalidRequest('subject_token is no valid refresh token of this client');
    const { accountId, claims, acr, amr, authTime } = token;
    return { accountId, claims, sub: subjects.of(sectorOfClient(client), accountId), acr, amr, auth_time: authTime };
  }

  async function subjectOfIdToken(client: Client, value: string) {
    const { payload } = await verifiedIdToken(client, value);
    const { sub, sid, exp, acr, amr, auth_time, group } = payload;
    const accountId = typeof sub === 'string' ? subjects.accountOf(sectorOfClient(client), sub) : undefined;
    const isCurrent = typeof exp === 'number' && exp > engineSeconds() && typeof auth_time === 'number';
    if (!isCurrent || accountId === undefined)
      throw invalidRequest('subject_token is no valid ID token for this client');
    const ofClient = (await sessions.list(accountId)).flatMap(({ participants }) => participants);
    if (!ofClient.some((one) => one.clientId === client.clientId && one.sid === sid))
      throw invalidRequest('the sign-in of subject_token has ended');
    const claims = withChosenGroup({}, (group as { id?: string } | undefined)?.id);
    return { accountId, claims, sub, acr, amr, auth_time };
  }

  /** Not a logout token, which the same keys sign for the same audience. */
  async function verifiedIdToken(client: Client, value: string): Promise<{ payload: Params }> {
    try {
      if (![undefined, 'JWT'].includes(decodeProtectedHeader(value).typ)) throw new Error('another kind of token');
      return (await provider.IdToken.validate(value, client)) as unknown as { payload: Params };
    } catch {
      throw invalidRequest('subject_token is no valid ID token for this client');
    }
  }
}

/** Takes assertions: the grant of RFC 7523, without a refresh token. */
export function registerIdJag(provider: Provider, dependencies: Core & IdJagDependencies): void {
  const { clients, upstream } = dependencies;
  const record = createExchangeRecorder(dependencies);
  provider.registerGrantType<Params>(idJagGrant, redeem, ['assertion', 'scope', 'resource'], 'resource');

  async function redeem(ctx: GrantContext): Promise<void> {
    const { client, params } = ctx.oidc;
    const said = await upstream.readAssertion(String(params.assertion ?? '')).catch(rejectAssertion);
    if (said.clientId !== client.clientId) throw invalidGrant('the assertion is for another client');
    const application = await clients.applicationOf(client.clientId);
    const { mfa, signInRule } = application ?? {};
    // How the person signed in there is not stated in terms of this server.
    if (mfa !== undefined || !acceptsSignIn(signInRule, said.connectionId))
      throw invalidGrant('the application requires another sign-in than that of the assertion');
    const api = singleResource([params.resource ?? [], said.resource ?? []].flat());
    const accountId = said.userId;
    await findForApi(provider, ctx, api, { accountId });
    const allowed = said.scope === undefined ? undefined : new Set(said.scope.split(' '));
    await issueForApi(provider, ctx, {
      accountId,
      issuedClaims: {
        acr: FEDERATED_ACR,
        amr: ['fed'],
        auth_time: said.authTime && Math.floor(said.authTime.getTime() / 1000),
      },
      scopeOf: (ofApi) => requestedScopes(ctx, ofApi).filter((one) => ofApi.has(one) && (allowed?.has(one) ?? true)),
      async grantId(scope, expiresIn) {
        if (!(await said.use())) throw invalidGrant('the assertion was used before');
        const grant = new provider.Grant({ accountId, clientId: client.clientId, expiresIn } as never);
        grant.addResourceScope(api, scope);
        return grant.save();
      },
    });
    await record(ctx, { api, connection: said.connectionId });
  }
}

/** Throws invalid_grant (RFC 7521 4.1.1) for an assertion that is not believed, temporarily_unavailable where its keys cannot be read. */
function rejectAssertion(error: unknown): never {
  if (!(error instanceof AppError)) throw error;
  if (error.status >= 500) {
    const unavailable = new errors.CustomOIDCProviderError(
      'temporarily_unavailable',
      'the keys of the issuer cannot be read',
    );
    throw Object.assign(unavailable, { statusCode: 503, status: 503 });
  }
  const { message, received, expected } = (error.detail ?? {}) as Record<string, string | undefined>;
  const description = `the assertion is rejected: ${message}`;
  const brokenRule: BrokenRule = { rule: 'id_jag', received: received ?? message, expected };
  throw invalidGrant(description, brokenRule);
}
