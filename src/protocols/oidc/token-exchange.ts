// Token exchange (RFC 8693): an API that was called for a person asks for a token with which it calls another API for the same person. It is
// always a delegation: the token names the person as `sub`, and every application on the way as nested `act` (RFC 8693 4.1).
// An exchange gives nothing that the first application could not use: no scope that its token lacks, no API that the person may not reach, no
// time after its end. The token stays under the grant of the first sign-in, and ends with it.
// With `requested_token_type` id-jag it is an identity assertion for another authorization server (identity-assertions.ts).

import { accessDecision } from '../../applications/access-decision.ts';
import { tokenExchangeGrant } from '../../applications/fields/oidc-client.ts';
import { findResource, scopesForAgent } from '../../applications/resources.ts';
import { includesResource } from '../../applications/uris.ts';
import { limits } from '../../base/limits.ts';
import type { Core } from '../../core/core.ts';
import { accountOf } from './claims/find-account.ts';
import {
  createExchangeRecorder,
  findForApi,
  type GrantContext,
  invalidRequest,
  issueForApi,
  type Params,
  requestedScopes,
  singleResource,
} from './delegated-tokens.ts';
import { type Account, errors, type Provider } from './engine/library.ts';
import { createIdJagIssuer, ID_JAG, type IdJagDependencies } from './identity-assertions.ts';
import { actorsOf, createJwtAccessTokens, type JwtTokenDependencies } from './patches/provider/jwt-introspection.ts';

export const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

const PARAMETERS = [
  'audience',
  'resource',
  'scope',
  'requested_token_type',
  'subject_token',
  'subject_token_type',
  'actor_token',
  'actor_token_type',
];

/** Adds the grant to this Provider. */
export function registerTokenExchange(
  provider: Provider,
  dependencies: Core & JwtTokenDependencies & IdJagDependencies,
): void {
  const { clients, db, settings } = dependencies;
  const { verified, tokenOf } = createJwtAccessTokens(provider, dependencies);
  const record = createExchangeRecorder(dependencies);
  const issueIdJag = createIdJagIssuer(provider, dependencies, record);

  provider.registerGrantType<Params>(tokenExchangeGrant, exchange, PARAMETERS, ['resource', 'audience']);

  async function exchange(ctx: GrantContext): Promise<void> {
    const { client, params } = ctx.oidc;
    if (params.actor_token !== undefined || params.actor_token_type !== undefined)
      throw invalidRequest('actor_token is not accepted: the client that exchanges a token is the actor');
    if (params.requested_token_type === ID_JAG) return issueIdJag(ctx);
    if ((params.requested_token_type ?? ACCESS_TOKEN) !== ACCESS_TOKEN)
      throw invalidRequest(`requested_token_type must be ${ACCESS_TOKEN} or ${ID_JAG}`);
    if (params.subject_token_type !== ACCESS_TOKEN) throw invalidRequest(`subject_token_type must be ${ACCESS_TOKEN}`);

    const subject = await subjectOf(client.clientId, String(params.subject_token ?? ''));
    const api = singleResource([params.resource ?? [], params.audience ?? []].flat());
    const account = await findForApi(provider, ctx, api, subject);
    const limit = await limitOfSelfRegistered(subject.actors, account, api);
    await issueForApi(provider, ctx, {
      ...subject,
      scopeOf: (ofApi) => {
        const asked = requestedScopes(ctx, subject.scopes);
        const more = asked.filter((scope) => !subject.scopes.has(scope));
        if (more.length > 0)
          throw new errors.InvalidScope('subject_token does not have the requested scope', more.join(' '));
        return asked.filter((scope) => ofApi.has(scope) && (!limit || limit.includes(scope)));
      },
      issuedTokenType: ACCESS_TOKEN,
    });
    await record(ctx, { api, actors: subject.actors });
  }

  /** What subject_token says: a living token of a person for an API that this client runs, and the applications that it came through. */
  async function subjectOf(clientId: string, value: string) {
    const payload = await verified(value);
    if (!payload) throw invalidRequest('subject_token is no valid access token of this server for an API');
    const { may_exchange: apisOfClient = [] } = (await clients.applicationOf(clientId))?.metadata ?? {};
    if (!includesResource(apisOfClient, payload.aud))
      throw invalidRequest('subject_token is for an API that this client does not run');
    const token = await tokenOf(payload);
    if (!token) throw invalidRequest('the access that subject_token was issued for has ended');
    if (!('accountId' in token) || !token.accountId)
      throw invalidRequest('subject_token is of an application, not of a person');
    const actors = actorsOf(payload);
    const { actors: most } = limits.tokenExchange;
    if (actors.includes(clientId)) throw invalidRequest('subject_token was exchanged by this client already');
    if (actors.length >= most)
      throw invalidRequest(`subject_token came through ${most} applications, and goes no further`);
    const { acr, amr, auth_time, group, act, client_id } = payload;
    return {
      actors,
      accountId: token.accountId,
      claims: token.claims,
      grantId: () => payload.jti.split('.')[1] ?? '',
      scopes: new Set(payload.scope?.split(' ')),
      until: payload.exp,
      issuedClaims: { acr, amr, auth_time, group, act: { sub: clientId, act: act ?? { sub: client_id } } },
    };
  }

  /**
   * Where no administrator registered the application that the person signed in to: the scopes that the API gives it directly, which are the
   * most that an exchange gives. Undefined for any other. Throws invalid_request if the person may not use the application any more.
   */
  async function limitOfSelfRegistered(actors: readonly string[], account: Account, api: string) {
    const application = await clients.applicationOf(actors.at(-1) ?? '');
    // The network of the person was judged at the sign-in: this request comes from the API.
    if (!application || !accessDecision(application, accountOf(account)).allowed)
      throw invalidRequest('subject_token is of an application that the person may no longer use');
    if (application.source === 'local' || application.source === 'file') return undefined;
    const target = await findResource(api, db);
    return (target && scopesForAgent(target, application, settings.latest())) ?? [];
  }
}
