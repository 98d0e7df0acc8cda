// Who may ask about a token (RFC 7662 2.2 and 4): its own client, and confidential clients as the APIs that receive it.
import type { Client, FindAccount, KoaContextWithOIDC } from './library.ts';

interface Asked {
  kind: string;
  clientId?: string;
  accountId?: string;
}

/** oidc-provider's `features.introspection.allowedPolicy`; whoever may not ask hears `active: false`. */
export function createIntrospectionPolicy(findAccount: FindAccount) {
  return async function mayIntrospect(ctx: KoaContextWithOIDC, client: Client, token: Asked): Promise<boolean> {
    if (token.clientId !== client.clientId) {
      // A public client can only prove that it has the token; a refresh token is between its client and us.
      if (client.clientAuthMethod === 'none' || token.kind === 'RefreshToken') return false;
      // One that is switched off: its tokens count nowhere, and the engine fails on it.
      if (!token.clientId || !(await ctx.oidc.provider.Client.find(token.clientId))) return false;
    }
    if (token.accountId === undefined) return true;
    return (await findAccount(ctx, token.accountId, token as never)) !== undefined;
  };
}
