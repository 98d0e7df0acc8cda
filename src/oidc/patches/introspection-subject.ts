// Patch behind the engine: introspection names the user by the `sub` of the token's own client. A pairwise client knows users
// by the subjects of its own sector and learns no others (OIDC Core 8), not even from another application's token.
import type { Context } from '../../http/context.ts';
import { engineContext } from '../engine/app-context.ts';
import { routes } from '../engine/configuration.ts';
import type { PairwiseIdentifier } from '../engine/introspection.ts';

export async function translateSubject(ctx: Context, pairwiseIdentifier: PairwiseIdentifier): Promise<void> {
  if (ctx.path !== routes.introspection) return;
  const { client, entities } = engineContext(ctx) ?? {};
  const token = entities?.AccessToken ?? entities?.RefreshToken;
  const response = ctx.body as { active?: boolean; sub?: string } | undefined;
  if (client?.subjectType !== 'pairwise' || !response?.active || !token?.accountId) return;
  response.sub = await pairwiseIdentifier(ctx, token.accountId, client);
}
