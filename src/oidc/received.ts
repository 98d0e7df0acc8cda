// What an OpenID Connect application receives about a person: shown to administrators before anybody signs in, and after a
// test of theirs, whose answer comes back to the console instead of the application.
import { decodeJwt, decodeProtectedHeader } from 'jose';
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { sha256 } from '../platform/random.ts';
import type { ClientSource } from './clients.ts';
import { claimsOf } from './find-account.ts';
import type { Client, Provider } from './library.ts';

export interface Received {
  /** Claims of the ID token. */
  idToken: Record<string, unknown>;
  userinfo: Record<string, unknown>;
}

export interface ReceivedHere {
  /** Without a sign-in: nothing is signed, so that nobody can use it. */
  preview(clientId: string, account: Account, scope: string): Promise<Received | undefined>;
  /** The answer to a test, once: the very ID token that the application would have got. */
  redeem(test: {
    clientId: string;
    code: string;
    verifier: string;
    redirectUri: string;
  }): Promise<(Received & { header: Record<string, unknown> }) | undefined>;
}

export interface ReceivedNeeds {
  provider(): Provider;
  clients: Pick<ClientSource, 'facts'>;
  accounts: Pick<Accounts, 'find'>;
}

export function createReceived({ provider, clients, accounts }: ReceivedNeeds): ReceivedHere {
  /** The engine's own class decides which claims a scope shows. */
  async function claims(client: Client, available: Record<string, unknown>, scope: string) {
    const { Claims } = provider();
    const filter = new Claims(available, { ctx: undefined as never, client });
    filter.scope(scope);
    return (await filter.result()) as Record<string, unknown>;
  }

  async function available(client: Client, account: Account): Promise<Record<string, unknown>> {
    return { ...claimsOf(account, await clients.facts(client.clientId)) };
  }

  return {
    async preview(clientId, account, scope) {
      const client = await provider().Client.find(clientId);
      if (!client) return undefined;
      const userinfo = await claims(client, await available(client, account), scope);
      return { idToken: { iss: provider().issuer, aud: clientId, ...userinfo }, userinfo };
    },

    async redeem({ clientId, code: value, verifier, redirectUri }) {
      const { AuthorizationCode, Client, IdToken } = provider();
      const [code, client] = await Promise.all([AuthorizationCode.find(value), Client.find(clientId)]);
      if (!code || !client || code.clientId !== clientId || code.redirectUri !== redirectUri) return undefined;
      if (Reflect.get(code, 'consumed') !== undefined || code.codeChallenge !== sha256(verifier)) return undefined;
      // Throws for everybody but the first.
      await code.consume();
      const account = await accounts.find(code.accountId ?? '');
      if (!account) return undefined;
      const { acr, amr, authTime: auth_time, nonce, sid, scope = 'openid' } = code;
      const known = await available(client, account);
      const token = new IdToken({ ...known, acr, amr, auth_time }, { client, ctx: undefined as never });
      Object.assign(token, { scope }); // absent from the engine's typings
      if (nonce) token.set('nonce', nonce);
      if (sid) token.set('sid', sid);
      const signed = await token.issue({ use: 'idtoken' });
      return {
        header: { ...decodeProtectedHeader(signed) },
        idToken: decodeJwt(signed),
        userinfo: await claims(client, known, scope),
      };
    },
  };
}
