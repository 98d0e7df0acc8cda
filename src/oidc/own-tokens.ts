// Access tokens that this very server is the audience of: the admin API and access evaluation. They are opaque and stored,
// so that a sign-out, a lost role or a disabled application ends them at once.
import type { Provider } from './library.ts';

export interface OwnToken {
  clientId: string;
  /** Absent when the application acts by itself (client_credentials). */
  accountId: string | undefined;
  scopes: string[];
  /** The resource that it was asked for; absent without one. */
  audience: string | undefined;
}

export interface OwnTokens {
  /** The token behind this value, if it is good now. */
  find(value: string): Promise<OwnToken | undefined>;
  /** Whether this client proves itself with this secret. */
  isSecretOf(clientId: string, secret: string): Promise<boolean>;
}

interface ComparingClient {
  clientAuthMethod: string;
  compareClientSecret(secret: string): Promise<boolean>;
}

export function createOwnTokens({ provider }: { provider(): Provider }): OwnTokens {
  return {
    async find(value) {
      const { AccessToken, ClientCredentials, Client } = provider();
      const token = (await AccessToken.find(value)) ?? (await ClientCredentials.find(value));
      // A token that is bound to a key is no bearer token; nobody here could check the proof.
      if (!token?.isValid || token.isSenderConstrained() || !token.clientId) return undefined;
      // Gone when the application is disabled.
      if (!(await Client.find(token.clientId))) return undefined;
      const { clientId, scope = '', aud } = token;
      const accountId = 'accountId' in token ? token.accountId : undefined;
      return {
        clientId,
        accountId,
        scopes: scope.split(' ').filter(Boolean),
        audience: typeof aud === 'string' ? aud : undefined,
      };
    },

    async isSecretOf(clientId, secret) {
      const client = (await provider().Client.find(clientId)) as unknown as ComparingClient | undefined;
      if (!client || !['client_secret_basic', 'client_secret_post'].includes(client.clientAuthMethod)) return false;
      return client.compareClientSecret(secret);
    },
  };
}
