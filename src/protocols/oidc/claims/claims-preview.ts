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

  /** Those of these APIs that are open to the user, with the scopes that the user may have of what is requested. */
  async function reachableApis(identifiers: readonly string[], scope: string, account: Account) {
    const reachable: { api: string; granted: string[] }[] = [];
    for (const identifier of identifiers) {
      const api = await findResource(identifier, db);
      if (!api || !mayReach(api, account)) continue;
      const requested = api.scopes.filter((one) => scope.split(' ').includes(one));
      const granted = permittedScopes(requested, api.scopePermissions, account.permissions);
      reachable.push({ api: identifier, granted });
    }
    return reachable;
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
      const metadata = (await clients.applicationOf(clientId))?.metadata ?? {};
      const { issuer: iss } = provider();
      const userinfo = await claims(client, await available(client, account, 'userinfo'), scope);
      const inTokens = await available(client, account, 'id_token');
      const claimsOfScope = await claims(client, inTokens, scope);
      const isConform = metadata.id_token_claims === 'conform';
      const inIdToken = isConform ? await claims(client, inTokens, 'openid') : claimsOfScope;

      const standard = { iss, sub: userinfo.sub, client_id: clientId, ...(account.group && { group: account.group }) };
      const byScope: Record<string, unknown> = {};
      for (const name of BY_SCOPE.flatMap((one): readonly string[] => claimsByScope[one]))
        if (name in claimsOfScope) byScope[name] = claimsOfScope[name];
      const userScopes = [...engineScopes, ...ownScopes(metadata)];
      const opaqueScope = scope.split(' ').filter((one) => userScopes.includes(one));
      const accessTokens: AccessTokenPreview[] = [
        { claims: { active: true, ...standard, scope: opaqueScope.join(' '), ...byScope } },
      ];
      for (const { api, granted } of await reachableApis(metadata.resources ?? [], scope, account)) {
        const scopes = granted.length > 0 ? { scope: granted.join(' ') } : {};
        accessTokens.push({ api, claims: { ...standard, aud: api, ...scopes, ...byScope } });
      }
      return { idToken: { iss, aud: clientId, ...inIdToken }, userinfo, accessTokens };
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
