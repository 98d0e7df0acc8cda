// The engine's grant for a request: made from the user's consent or, for a first-party application (`consent: implicit`),
// from the request itself.

import type { ApplicationServices } from '../../../applications/application-services.ts';
import { type Granted, intersect } from '../../../applications/consents/consents.ts';
import type { Db, Tx } from '../../../base/storage/database.ts';
import type { Core } from '../../../core/core.ts';
import { ownResources } from '../../../people/rbac/built-in.ts';
import { errors, type Grant, type KoaContextWithOIDC } from '../engine/library.ts';
import { isStored } from '../patches/provider/session-saving.ts';
import { consentedSince, isUnregistered } from '../registration.ts';
import { artifactId } from './adapter.ts';
import type { ClientApplication, ClientSource } from './clients.ts';
import type { SessionStore } from './sessions/session-store.ts';

/** Claims about the sign-in itself, which need no consent. */
export const PROTOCOL_CLAIMS: ReadonlySet<string> = new Set(['sub', 'sid', 'auth_time', 'acr', 'amr', 'iss']);

/** Scopes, claims and resource scopes of the request: what its token will hold when all is granted. */
export function requestedBy(ctx: KoaContextWithOIDC): Granted {
  const { requestParamScopes, requestParamOIDCScopes, requestParamClaims, resourceServers } = ctx.oidc;
  const resources = Object.entries(resourceServers ?? {}).map(([indicator, server]) => [
    indicator,
    [...requestParamScopes].filter((scope) => server.scopes.has(scope)),
  ]);
  return {
    scopes: [...requestParamOIDCScopes],
    claims: [...requestParamClaims].filter((claim) => !PROTOCOL_CLAIMS.has(claim)),
    resources: Object.fromEntries(resources),
  };
}

/** oidc-provider's `loadExistingGrant`. */
export function createGrantLoader(
  services: Core & ApplicationServices & { clients: ClientSource; sessionStore: SessionStore },
) {
  const { config, consents, clients, sessionStore } = services;
  const isOwnApi = (resource: string) => Object.hasOwn(ownResources(config.issuer), resource);
  return async function loadExistingGrant(ctx: KoaContextWithOIDC): Promise<Grant | undefined> {
    const { client, account, session, provider } = ctx.oidc;
    if (!client || !account || !session) return undefined;
    const application = await clients.applicationOf(client.clientId);
    if (!application) return undefined;

    const grantId = session.grantIdFor(client.clientId);
    const found = grantId ? await provider.Grant.find(grantId) : undefined;
    // A session that has changed accounts may still name a grant of the previous one.
    const grant = found?.accountId === account.accountId ? found : undefined;
    const requested = requestedBy(ctx);
    const isCovered = grant !== undefined && covers(grant, requested);
    // The consent to a client that nobody registered ends, with its document or after a time, while the session and its grant go on: it is
    // asked for again each time.
    if (isCovered && !isUnregistered(application)) return grant;
    const consented = await consentedTo(application, account.accountId, requested);
    if (isUnregistered(application) && !isWithin(requested, consented)) return undefined;
    if (isCovered) return grant;

    const allowed = consented && intersect(requested, consented);
    if (!allowed || isEmpty(allowed)) return grant;
    if (grant) {
      addToGrant(grant, allowed);
      await grant.save();
      return grant;
    }
    const created = new provider.Grant({ accountId: account.accountId, clientId: client.clientId });
    addToGrant(created, allowed);
    await created.save();
    if (await addToSession(ctx, created)) return created;
    // Another request has added a grant to the session at the same moment: this request goes on with that one.
    await created.destroy();
    return loadExistingGrant(ctx);
  };

  /**
   * What the application may have without a question. Implicit consent covers rights in this server only where the operator declared
   * it in the configuration file: an application manager would otherwise get the rights of each administrator who follows a link.
   */
  async function consentedTo(
    application: ClientApplication,
    accountId: string,
    requested: Granted,
  ): Promise<Granted | undefined> {
    const { id, consent, source } = application;
    if (consent !== 'implicit') return consents.find(accountId, id, consentedSince(application, services));
    const ownApis = Object.keys(requested.resources).filter(isOwnApi);
    if (source === 'file' || ownApis.length === 0) return requested;
    const { resources = {} } = (await consents.find(accountId, id)) ?? {};
    const consentedApis = ownApis.map((api) => [api, resources[api] ?? []]);
    return { ...requested, resources: { ...requested.resources, ...Object.fromEntries(consentedApis) } };
  }

  /**
   * Adds the application to the session with this new grant. Several tabs may do so at the same moment, and tokens are valid
   * only under the grant and `sid` that the session names: false when another request was first, whose entry this request
   * then uses.
   */
  async function addToSession({ oidc }: KoaContextWithOIDC, grant: Grant): Promise<boolean> {
    const { client, session } = oidc;
    if (!client || !session?.accountId || !isStored(session)) return true;
    const { clientId } = client;
    const known = { ...session.authorizationFor(clientId) };
    session.ensureClientContainer(clientId);
    const entry = { sid: session.sidFor(clientId) ?? '', grantId: grant.jti };
    const stored = await sessionStore.addClientToSession(
      { uid: session.uid, accountId: session.accountId },
      clientId,
      entry,
      known,
    );
    if (!stored) throw new errors.LoginRequired('the session has ended');
    Object.assign(session.authorizationFor(clientId), stored);
    return stored.grantId === grant.jti;
  }
}

const isWithin = (requested: Granted, granted: Granted | undefined): boolean =>
  granted !== undefined && JSON.stringify(intersect(requested, granted)) === JSON.stringify(requested);

function addToGrant(grant: Grant, { scopes, claims, resources }: Granted): void {
  if (scopes.length > 0) grant.addOIDCScope(scopes.join(' '));
  if (claims.length > 0) grant.addOIDCClaims(claims);
  for (const [indicator, resourceScopes] of Object.entries(resources)) {
    if (resourceScopes.length > 0) grant.addResourceScope(indicator, resourceScopes.join(' '));
  }
}

function covers(grant: Grant, { scopes, claims, resources }: Granted): boolean {
  const within = (requested: string[], granted: string[]) => requested.every((value) => granted.includes(value));
  return (
    within(scopes, grant.getOIDCScope().split(' ')) &&
    within(claims, grant.getOIDCClaims()) &&
    Object.entries(resources).every(([indicator, requested]) =>
      within(requested, grant.getResourceScope(indicator).split(' ')),
    )
  );
}

/** Whether nothing is asked for: `offline_access` only says for how long. */
export function isEmpty({ scopes, claims, resources }: Granted): boolean {
  return (
    scopes.every((one) => one === 'offline_access') &&
    claims.length === 0 &&
    Object.values(resources).every((list) => list.length === 0)
  );
}

// The engine's grants as rows, with the codes and tokens that belong to them.

const TOKENS = ['AccessToken', 'AuthorizationCode', 'RefreshToken', 'DeviceCode'];
export const GRANT_MODELS = ['Grant', ...TOKENS];

export interface StoredGrant {
  clientId: string;
  granted: Granted;
  grantedAt: Date;
}

interface Payload {
  clientId: string;
  iat: number;
  openid?: { scope?: string; claims?: string[] };
  resources?: Record<string, string>;
}

/** Removes grants with all that was issued under them. Tokens carry the id of their grant; the id of its row is a hash of it. */
export async function removeGrantsById(tx: Tx, accountId: string, grantIds: string[]): Promise<void> {
  await tx.oidcArtifact.deleteMany({ where: { accountId, grantId: { in: grantIds } } });
  await tx.oidcArtifact.deleteMany({ where: { id: { in: rowsOf(grantIds) } } });
}

/** Removes all grants of the account, but those that end with the session `except`. */
export async function removeGrantsBut(
  accountId: string,
  except: { participants: { grantId: string | undefined; staysConnected: boolean }[] } | undefined,
  tx: Tx,
): Promise<void> {
  const ending = (except?.participants ?? []).filter(({ staysConnected }) => !staysConnected);
  const ids = ending.flatMap(({ grantId }) => grantId ?? []);
  const others = [{ grantId: null }, { grantId: { notIn: ids } }];
  await tx.oidcArtifact.deleteMany({ where: { accountId, model: { in: TOKENS }, OR: others } });
  await tx.oidcArtifact.deleteMany({ where: { accountId, model: 'Grant', id: { notIn: rowsOf(ids) } } });
}

/** The live grants of an account, the newest of each application. */
export async function grantsOf(db: Db, accountId: string, now: bigint): Promise<StoredGrant[]> {
  const rows = await db.oidcArtifact.findMany({
    where: { model: 'Grant', accountId, expiresAt: { gt: now } },
    select: { payload: true },
  });
  const grants = rows.map(({ payload }) => JSON.parse(payload) as Payload).sort((a, b) => a.iat - b.iat);
  const newest = new Map(grants.map((grant) => [grant.clientId, grant]));
  return [...newest.values()].reverse().map(({ clientId, iat, openid, resources = {} }) => ({
    clientId,
    granted: {
      scopes: splitScope(openid?.scope),
      claims: openid?.claims ?? [],
      resources: Object.fromEntries(
        Object.entries(resources).map(([resource, scope]) => [resource, splitScope(scope)]),
      ),
    },
    grantedAt: new Date(iat * 1000),
  }));
}

function rowsOf(grantIds: string[]): string[] {
  return grantIds.map((id) => artifactId('Grant', id));
}

function splitScope(scope = ''): string[] {
  return scope.split(' ').filter(Boolean);
}
