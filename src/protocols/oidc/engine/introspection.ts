// Which clients may introspect a token (RFC 7662 2.2 and 4): its own client, and confidential clients as the APIs that
// receive it. A pairwise client receives only the subjects of its own sector (OIDC Core 8), also for another application's
// token.
import type { Client, FindAccount, KoaContextWithOIDC } from './library.ts';

export type PairwiseIdentifier = (ctx: unknown, accountId: string, client: Client) => Promise<string>;

interface IntrospectedToken {
  kind: string;
  clientId?: string;
  accountId?: string;
  /** Additional members of the response, signed or not. The engine's own members replace them, except `sub`. */
  extra?: Record<string, unknown> | undefined;
}

/** oidc-provider's `features.introspection.allowedPolicy`; a client that it does not allow gets `active: false`. */
export function createIntrospectionPolicy(findAccount: FindAccount, pairwiseIdentifier: PairwiseIdentifier) {
  return async function mayIntrospect(
    ctx: KoaContextWithOIDC,
    client: Client,
    token: IntrospectedToken,
  ): Promise<boolean> {
    if (token.clientId !== client.clientId) {
      // A public client proves only that it has the token. A refresh token may only be introspected by its own client.
      if (client.clientAuthMethod === 'none' || token.kind === 'RefreshToken') return false;
      // The tokens of a disabled client are invalid, and would cause an error in the engine.
      if (!token.clientId || !(await ctx.oidc.provider.Client.find(token.clientId))) return false;
    }
    const { accountId } = token;
    if (accountId === undefined) return true;
    if ((await findAccount(ctx, accountId, token as never)) === undefined) return false;
    // The engine adds its own members in one object literal behind `extra`, which takes V8 ten times as long (16 µs) unless `extra` is empty.
    Object.assign(ctx.body as object, token.extra);
    token.extra =
      client.subjectType === 'pairwise' ? { sub: await pairwiseIdentifier(ctx, accountId, client) } : undefined;
    return true;
  };
}
