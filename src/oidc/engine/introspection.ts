// Which clients may introspect a token (RFC 7662 2.2 and 4): its own client, and confidential clients as the APIs that
// receive it. A pairwise client knows users by the subjects of its own sector and learns no others (OIDC Core 8), not even from
// another application's token.
import type { Client, FindAccount, KoaContextWithOIDC } from './library.ts';

export type PairwiseIdentifier = (ctx: unknown, accountId: string, client: Client) => Promise<string>;

interface IntrospectedToken {
  kind: string;
  clientId?: string;
  accountId?: string;
  /** Members that the engine adds to the response, signed or not, in place of its own. */
  extra?: Record<string, unknown>;
}

/** oidc-provider's `features.introspection.allowedPolicy`; a client that it does not allow gets `active: false`. */
export function createIntrospectionPolicy(findAccount: FindAccount, pairwiseIdentifier: PairwiseIdentifier) {
  return async function mayIntrospect(
    ctx: KoaContextWithOIDC,
    client: Client,
    token: IntrospectedToken,
  ): Promise<boolean> {
    if (token.clientId !== client.clientId) {
      // A public client proves nothing but that it has the token; a refresh token concerns its own client only.
      if (client.clientAuthMethod === 'none' || token.kind === 'RefreshToken') return false;
      // The tokens of a disabled client are not valid, and the engine would fail on them.
      if (!token.clientId || !(await ctx.oidc.provider.Client.find(token.clientId))) return false;
    }
    const { accountId } = token;
    if (accountId === undefined) return true;
    if (client.subjectType === 'pairwise')
      token.extra = { ...token.extra, sub: await pairwiseIdentifier(ctx, accountId, client) };
    return (await findAccount(ctx, accountId, token as never)) !== undefined;
  };
}
