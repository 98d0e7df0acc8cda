// Claims preview: what an OpenID Connect application receives about an account. Administrators see it without a sign-in, and
// after a test sign-in, whose response goes to the console instead of the application.

import { decodeJwt, decodeProtectedHeader } from 'jose';
import { ownScopes } from '../../../applications/fields/claim-settings.ts';
import { type AccountInGroup, groupsToChoose, inGroup } from '../../../applications/groups-to-choose.ts';
import { findResource } from '../../../applications/resources.ts';
import { sha256 } from '../../../base/platform/random.ts';
import type { Core } from '../../../core/core.ts';
import type { Account } from '../../../people/accounts/account.ts';
import { claimsByScope } from '../../../people/accounts/claims.ts';
import type { People } from '../../../people/people.ts';
import type { Client, Provider } from '../engine/library.ts';
import type { ClientSource } from '../store/clients.ts';
import { chosenGroupOf } from './chosen-group.ts';
import { BY_SCOPE, claimsOf } from './find-account.ts';
import { mayReach, permittedScopes } from './resource-servers.ts';
import { engineScopes } from './scopes.ts';

export interface ClaimsPreview {
  /** Claims of the ID token. */
  idToken: Record<string, unknown>;
  userinfo: Record<string, unknown>;
}

/** What an access token says: a JWT for each API, and without an API an opaque one, of which introspection tells. */
export interface AccessTokenPreview {
  /** The identifier of the API; undefined for the opaque one. */
  api?: string;
  claims: Record<string, unknown>;
}

export type ClaimsPreviews = ReturnType<typeof createClaimsPreviews>;

export function createClaimsPreviews(dependencies: Core & People & { provider(): Provider; clients: ClientSource }) {
  const { provider, clients, accounts, db } = dependencies;
  /** The engine's own class decides which claims a scope includes. */
  async function claims(client: Client, available: Record<string, unknown>, scope: string) {
    const { Claims } = provider();
    const filter = new Claims(available, { ctx: undefined as never, client });
    filter.scope(scope);
    return (await filter.result()) as Record<string, unknown>;
  }

  /** Of an application that asks for a group: the account for the first that it offers. */
  async function firstChoice(clientId: string, account: Account): Promise<AccountInGroup> {
    const application = await clients.applicationOf(clientId);
    const asks = application?.protocol === 'oidc' && application.metadata.ask_group === true;
    const [first] = asks ? await groupsToChoose(application, account, db) : [];
    return (first && (await inGroup(account, first.id, db))) ?? account;
  }

  /** `use`: a token holds fewer groups than UserInfo. */
  async function available(client: Client, account: AccountInGroup, use: 'userinfo' | 'id_token') {
    return { ...claimsOf(account, await clients.applicationOf(client.clientId), use) } as Record<string, unknown>;
  }

  return {
    /** Without a sign-in. Nothing is signed, so the result cannot be used as a token. */
    async preview(
      clientId: string,
      person: Account,
      scope: string,
    ): Promise<(ClaimsPreview & { accessTokens: AccessTokenPreview[] }) | undefined> {
      const client = await provider().Client.find(clientId);
      if (!client) return undefined;
      const account = await firstChoice(clientId, person);
      const userinfo = await claims(client, await available(client, account, 'userinfo'), scope);
      const known = await available(client, account, 'id_token');
      const ofScope = await claims(client, known, scope);
      const metadata = (await clients.applicationOf(clientId))?.metadata ?? {};
      const { id_token_claims: setting, resources = [] } = metadata;
      const ofUser = [...engineScopes, ...ownScopes(metadata)];
      const opaqueScope = scope.split(' ').filter((one) => ofUser.includes(one));
      const inToken = setting === 'conform' ? await claims(client, known, 'openid') : ofScope;
      const { issuer: iss } = provider();
      const group = account.group && { group: account.group };
      const token = { iss, sub: userinfo.sub, client_id: clientId, ...group };
      const apis = { resources, scope, opaqueScope, account };
      const accessTokens = await accessTokensOf(dependencies, token, ofScope, apis);
      return { idToken: { iss, aud: clientId, ...inToken }, userinfo, accessTokens };
    },

    /** Redeems the code of a test, once, for the ID token that the application would receive. */
    async redeem({
      clientId,
      code: value,
      verifier,
      redirectUri,
    }: {
      clientId: string;
      code: string;
      verifier: string;
      redirectUri: string;
    }): Promise<(ClaimsPreview & { header: Record<string, unknown> }) | undefined> {
      const { AuthorizationCode, Client, IdToken } = provider();
      const [code, client] = await Promise.all([AuthorizationCode.find(value), Client.find(clientId)]);
      if (!code || !client || code.clientId !== clientId || code.redirectUri !== redirectUri) return undefined;
      if (Reflect.get(code, 'consumed') !== undefined || code.codeChallenge !== sha256(verifier)) return undefined;
      // Throws when the code was used before.
      await code.consume();
      const person = await accounts.find(code.accountId ?? '');
      const chosen = chosenGroupOf(code);
      const account = person && chosen !== undefined ? await inGroup(person, chosen, db) : person;
      if (!account) return undefined;
      const { acr, amr, authTime: auth_time, nonce, sid, scope = 'openid' } = code;
      const known = await available(client, account, 'id_token');
      const token = new IdToken({ ...known, acr, amr, auth_time }, { client, ctx: undefined as never });
      Object.assign(token, { scope }); // absent from oidc-provider's types
      if (nonce) token.set('nonce', nonce);
      if (sid) token.set('sid', sid);
      const signed = await token.issue({ use: 'idtoken' });
      return {
        header: { ...decodeProtectedHeader(signed) },
        idToken: decodeJwt(signed),
        userinfo: await claims(client, await available(client, account, 'userinfo'), scope),
      };
    },
  };
}

/** The opaque access token, and the JWT for each API, with the scopes that the user may have. */
async function accessTokensOf(
  dependencies: Core,
  token: Record<string, unknown>,
  ofScope: Record<string, unknown>,
  {
    resources,
    scope,
    opaqueScope,
    account,
  }: { resources: readonly string[]; scope: string; opaqueScope: readonly string[]; account: Account },
): Promise<AccessTokenPreview[]> {
  const names = BY_SCOPE.flatMap((name): readonly string[] => claimsByScope[name]);
  const byScope = Object.fromEntries(names.flatMap((name) => (name in ofScope ? [[name, ofScope[name]]] : [])));
  const tokens: AccessTokenPreview[] = [
    { claims: { active: true, ...token, scope: opaqueScope.join(' '), ...byScope } },
  ];
  for (const identifier of resources) {
    const api = await findResource(identifier, dependencies.db);
    // The user gets no token for this one.
    if (!api || !mayReach(api, account)) continue;
    const requested = api.scopes.filter((one) => scope.split(' ').includes(one));
    const granted = permittedScopes(requested, api.scopePermissions, account.permissions);
    const scopes = granted.length > 0 ? { scope: granted.join(' ') } : {};
    tokens.push({ api: identifier, claims: { ...token, aud: identifier, ...scopes, ...byScope } });
  }
  return tokens;
}
