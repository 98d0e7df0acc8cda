// The engine's grant for a request: what the person may let this application see, from their consent or, for a
// first-party application (`consent: implicit`), from the request itself.

import { type Consents, type Granted, intersect } from '../consents/consents.ts';
import type { ClientSource } from './clients.ts';
import { errors, type Grant, type KoaContextWithOIDC } from './library.ts';
import { isStored } from './session-saving.ts';
import type { SessionStore } from './session-store.ts';

/** Scopes, claims and resource scopes that the request asks for. */
export function wantedBy(ctx: KoaContextWithOIDC): Granted {
  const { requestParamScopes, requestParamOIDCScopes, requestParamClaims, resourceServers } = ctx.oidc;
  const resources = Object.entries(resourceServers ?? {}).map(([indicator, server]) => [
    indicator,
    [...requestParamScopes].filter((scope) => server.scopes.has(scope)),
  ]);
  return {
    scopes: [...requestParamOIDCScopes],
    claims: [...requestParamClaims],
    resources: Object.fromEntries(resources),
  };
}

export interface GrantLoaderNeeds {
  consents: Consents;
  clients: ClientSource;
  enter: SessionStore['enter'];
}

/** oidc-provider's `loadExistingGrant`. */
export function createGrantLoader({ consents, clients, enter }: GrantLoaderNeeds) {
  return async function loadExistingGrant(ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
    const { client, account, session, provider } = ctx.oidc;
    if (!client || !account || !session) return undefined;
    const facts = await clients.facts(client.clientId);
    if (!facts) return undefined;

    const grantId = session.grantIdFor(client.clientId);
    const found = grantId ? await provider.Grant.find(grantId) : undefined;
    // Another person's grant stays behind in a session that changed hands.
    const grant = found?.accountId === account.accountId ? found : undefined;
    const wanted = wantedBy(ctx);
    if (grant && covers(grant, wanted)) return grant;

    const consented = facts.consent === 'implicit' ? wanted : await consents.find(account.accountId, facts.id);
    const allowed = consented && intersect(wanted, consented);
    if (!allowed || isEmpty(allowed)) return grant;
    const extended = grant ?? new provider.Grant({ accountId: account.accountId, clientId: client.clientId });
    add(extended, allowed);
    await extended.save();
    if (extended === grant || (await isFirst(ctx, extended))) return extended;
    await extended.destroy();
    return loadExistingGrant(ctx);
  };

  /**
   * Enters the application into the session with this new grant. Tabs of one application may ask for it at the same
   * moment, and tokens are good only under the grant and `sid` that the session names: false when another one was first,
   * whose entry this request then goes by.
   */
  async function isFirst({ oidc }: KoaContextWithOIDC, grant: Grant): Promise<boolean> {
    const { client, session } = oidc;
    if (!client || !session?.accountId || !isStored(session)) return true;
    const { clientId } = client;
    const known = { ...session.authorizationFor(clientId) };
    session.ensureClientContainer(clientId);
    const entry = { sid: session.sidFor(clientId) ?? '', grantId: grant.jti };
    const kept = await enter({ uid: session.uid, accountId: session.accountId }, clientId, entry, known);
    if (!kept) throw new errors.LoginRequired('the session has ended');
    Object.assign(session.authorizationFor(clientId), kept);
    return kept.grantId === grant.jti;
  }
}

function add(grant: Grant, { scopes, claims, resources }: Granted): void {
  if (scopes.length > 0) grant.addOIDCScope(scopes.join(' '));
  if (claims.length > 0) grant.addOIDCClaims(claims);
  for (const [indicator, resourceScopes] of Object.entries(resources)) {
    if (resourceScopes.length > 0) grant.addResourceScope(indicator, resourceScopes.join(' '));
  }
}

function covers(grant: Grant, { scopes, claims, resources }: Granted): boolean {
  const within = (asked: string[], granted: string[]) => asked.every((value) => granted.includes(value));
  return (
    within(scopes, grant.getOIDCScope().split(' ')) &&
    within(claims, grant.getOIDCClaims()) &&
    Object.entries(resources).every(([indicator, asked]) => within(asked, grant.getResourceScope(indicator).split(' ')))
  );
}

function isEmpty({ scopes, claims, resources }: Granted): boolean {
  return scopes.length === 0 && claims.length === 0 && Object.values(resources).every((list) => list.length === 0);
}
