// Our own pages as an application of this very server (seed 4.2): a first-party client that exists without being
// registered, redeems its codes in-process, and signs out like any other.
import type { AdapterPayload, Provider } from 'oidc-provider';
import { sha256 } from '../platform/random.ts';

export const OWN_CLIENT_ID = 'gatehouse';

/** Client metadata for the engine. */
export function ownClientMetadata(issuer: string): AdapterPayload & { client_id: string } {
  return {
    client_id: OWN_CLIENT_ID,
    client_name: 'Gatehouse',
    redirect_uris: [`${issuer}/auth/callback`, `${issuer}/callback`],
    post_logout_redirect_uris: [`${issuer}/`],
    response_types: ['code'],
    grant_types: ['authorization_code'],
    token_endpoint_auth_method: 'none',
  };
}

export interface OwnSignIn {
  accountId: string;
  acr: string | undefined;
  amr: string[];
  authTime: Date;
  ssoUid: string;
  nonce: string | undefined;
}

export interface OwnClient {
  /** The sign-in behind a code, once; undefined when the code, verifier or address is wrong (RFC 6749 4.1.3, 7636). */
  redeem(code: string, verifier: string, redirectUri: string): Promise<OwnSignIn | undefined>;
  /** An ID token of a live session, as the hint that lets a sign-out go without a question. */
  logoutHint(accountId: string, ssoUid: string): Promise<string | undefined>;
}

export function createOwnClient({ provider }: { provider(): Provider }): OwnClient {
  return {
    async redeem(value, verifier, redirectUri) {
      const code = await provider().AuthorizationCode.find(value);
      if (!code || code.clientId !== OWN_CLIENT_ID || code.redirectUri !== redirectUri) return undefined;
      if (Reflect.get(code, 'consumed') !== undefined || code.codeChallenge !== sha256(verifier)) return undefined;
      if (!code.accountId || !code.sessionUid) return undefined;
      // Throws for everybody but the first.
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

    async logoutHint(accountId, ssoUid) {
      const { Client, IdToken, Session } = provider();
      const session = await Session.findByUid(ssoUid);
      const client = await Client.find(OWN_CLIENT_ID);
      if (session?.accountId !== accountId || !client) return undefined;
      const token = new IdToken({ sub: accountId }, { client, ctx: undefined as never });
      Object.assign(token, { mask: { sub: null } }); // absent from the engine's typings
      token.set('sid', session.sidFor(OWN_CLIENT_ID));
      return token.issue({ use: 'idtoken' });
    },
  };
}
