// The clients that this server is itself: its own pages, a first-party client that is not registered, and the websites behind proxies. They
// redeem their codes in the same process, and log out like any other client.
import { sha256 } from '../../base/platform/random.ts';
import type { AdapterPayload, Provider } from './engine/library.ts';
import type { ClientSource } from './store/clients.ts';

export const FIRST_PARTY_CLIENT_ID = 'gatehouse';

/** Client metadata for the engine. */
export function firstPartyClientMetadata(issuer: string): AdapterPayload & { client_id: string } {
  return {
    client_id: FIRST_PARTY_CLIENT_ID,
    client_name: 'Gatehouse',
    redirect_uris: [`${issuer}/auth/callback`, `${issuer}/callback`],
    post_logout_redirect_uris: [`${issuer}/`],
    response_types: ['code'],
    response_modes: ['query'],
    grant_types: ['authorization_code'],
    token_endpoint_auth_method: 'none',
  };
}

/**
 * Whether nobody else redeems the codes of the client: it has no secret, so a script of the website could, with a verifier of its own, and would
 * have an ID token that signs out without a question.
 */
export async function isInProcessClient(clients: ClientSource, clientId: unknown): Promise<boolean> {
  if (typeof clientId !== 'string' || clientId === FIRST_PARTY_CLIENT_ID) return clientId === FIRST_PARTY_CLIENT_ID;
  const found = clients.cachedApplicationOf(clientId) ?? (await clients.applicationOf(clientId));
  return found?.protocol === 'proxy';
}

export interface InProcessSignIn {
  accountId: string;
  acr: string | undefined;
  amr: string[];
  authTime: Date;
  ssoUid: string;
  nonce: string | undefined;
}

export type InProcessClient = ReturnType<typeof createInProcessClient>;

export function createInProcessClient({ provider }: { provider(): Provider }, clientId: string) {
  return {
    /** The sign-in of a code, once; undefined when code, verifier or redirect URI is wrong (RFC 6749 4.1.3, RFC 7636 4.6). */
    async redeem(value: string, verifier: string, redirectUri: string): Promise<InProcessSignIn | undefined> {
      const code = await provider().AuthorizationCode.find(value);
      if (!code || code.clientId !== clientId || code.redirectUri !== redirectUri) return undefined;
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
      const client = await Client.find(clientId);
      if (session?.accountId !== accountId || !client) return undefined;
      const token = new IdToken({ sub: accountId }, { client, ctx: undefined as never });
      Object.assign(token, { mask: { sub: null } }); // absent from oidc-provider's types
      token.set('sid', session.sidFor(clientId));
      return token.issue({ use: 'idtoken' });
    },
  };
}
