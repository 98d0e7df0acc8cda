// The engine's grant for a request: what the person may let this application see, from their consent or, for a
// first-party application (`consent: implicit`), from the request itself.
import type { Grant, KoaContextWithOIDC } from 'oidc-provider';
import { type Consents, type Granted, intersect } from '../consents/consents.ts';
import type { ClientSource } from './clients.ts';

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

/** oidc-provider's `loadExistingGrant`. */
export function createGrantLoader({ consents, clients }: { consents: Consents; clients: ClientSource }) {
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
    return extended;
  };
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
