// Who may ask about a token (RFC 7662 2.2 and 4): its own client, and confidential clients as the APIs that receive it.
import type { Context } from '../http/context.ts';
import type { Client, FindAccount, KoaContextWithOIDC } from './library.ts';

export type PairwiseIdentifier = (ctx: unknown, accountId: string, client: Client) => Promise<string>;

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

/**
 * A pairwise client knows people by names of its own sector, and learns no others (OIDC Core 8): not even from a token of
 * another application. The engine names people as the token's application knows them.
 */
export async function nameForAsker(ctx: Context, pairwiseIdentifier: PairwiseIdentifier): Promise<void> {
  const { client, entities } = (ctx as unknown as KoaContextWithOIDC).oidc ?? {};
  const token = entities?.AccessToken ?? entities?.RefreshToken;
  const answer = ctx.body as { active?: boolean; sub?: string } | undefined;
  if (client?.subjectType !== 'pairwise' || !answer?.active || !token?.accountId) return;
  answer.sub = await pairwiseIdentifier(ctx, token.accountId, client);
}
