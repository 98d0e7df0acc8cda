// Gatehouse's own pages as a client of this server: a first-party client that is not registered, redeems its codes in the
// same process, and logs out like any other client.
import type { AdapterPayload, Provider } from 'oidc-provider';
import { sha256 } from '../../base/platform/random.ts';

export const FIRST_PARTY_CLIENT_ID = 'gatehouse';

/** Client metadata for the engine. */
export function firstPartyClientMetadata(issuer: string): AdapterPayload & { client_id: string } {
  return {
    client_id: FIRST_PARTY_CLIENT_ID,
    client_name: 'Gatehouse',
    redirect_uris: [`${issuer}/auth/callback`, `${issuer}/callback`],
    post_logout_redirect_uris: [`${issuer}/`],
    response_types: ['code'],
    grant_types: ['authorization_code'],
    token_endpoint_auth_method: 'none',
  };
}

export interface FirstPartySignIn {
  accountId: string;
  acr: string | undefined;
  amr: string[];
  authTime: Date;
  ssoUid: string;
  nonce: string | undefined;
}

export type FirstPartyClient = ReturnType<typeof createFirstPartyClient>;

export function createFirstPartyClient({ provider }: { provider(): Provider }) {
  return {
    /** The sign-in of a code, once; undefined when code, verifier or redirect URI is wrong (RFC 6749 4.1.3, RFC 7636 4.6). */
    async redeem(value: string, verifier: string, redirectUri: string): Promise<FirstPartySignIn | undefined> {
      const code = await provider().AuthorizationCode.find(value);
      if (!code || code.clientId !== FIRST_PARTY_CLIENT_ID || code.redirectUri !== redirectUri) return undefined;
      if (Reflect.get(code, 'consumed') !== undefined || code.codeChallenge !== sha256(verifier)) return undefined;
      if (!code.accountId || !code.sessionUid) return undefined;
      // Throws when the code was used before.
      await code.consume();
      return {
        accountId: code.accountId,
        acr: code.acr,
        amr: code.amr ?? [],
        authTime: new Date((code.authTime ?? 0) * 1000),
        ssoUid: code.sessionUid,
        nonce: code.nonce,
      };
    },

    /** An ID token of a live session: the id_token_hint with which a logout needs no confirmation. */
    async logoutHint(accountId: string, ssoUid: string): Promise<string | undefined> {
      const { Client, IdToken, Session } = provider();
      const session = await Session.findByUid(ssoUid);
      const client = await Client.find(FIRST_PARTY_CLIENT_ID);
      if (session?.accountId !== accountId || !client) return undefined;
      const token = new IdToken({ sub: accountId }, { client, ctx: undefined as never });
      Object.assign(token, { mask: { sub: null } }); // absent from oidc-provider's types
      token.set('sid', session.sidFor(FIRST_PARTY_CLIENT_ID));
      return token.issue({ use: 'idtoken' });
    },
  };
}
