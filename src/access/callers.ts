// Which application asks: by its client secret (Basic), or by a token that it got for itself for this API.
import type { Applications } from '../applications/applications.ts';
import { basicOf, bearerOf } from '../http/authorization.ts';
import type { Context } from '../http/context.ts';
import { tooManyRequests, unauthorized } from '../http/errors.ts';
import type { OwnTokens } from '../oidc/own-tokens.ts';
import type { RateLimits } from '../rate-limits/rate-limits.ts';
import { addressKey } from '../rate-limits/sign-in-guard.ts';

/** What of an application decides about what it is told. */
export interface EvaluatingApp {
  clientId: string;
  applicationId: string;
  /** Permissions that it is shown; all when absent. */
  permissionsFilter: string[] | undefined;
}

export interface EvaluationCallers {
  /** Throws 401 without a good credential of an application, 429 when there are too many calls. */
  identify(ctx: Context): Promise<EvaluatingApp>;
}

export interface EvaluationCallersNeeds {
  tokens: OwnTokens;
  applications: Pick<Applications, 'find'>;
  rateLimits: Pick<RateLimits, 'consume' | 'peek'>;
  /** What the tokens must be made for. */
  audience: string;
}

export function createEvaluationCallers(needs: EvaluationCallersNeeds): EvaluationCallers {
  const { tokens, applications, rateLimits, audience } = needs;

  async function proven(ctx: Context): Promise<string | undefined> {
    const bearer = bearerOf(ctx);
    if (bearer !== undefined) {
      const token = await tokens.find(bearer);
      // A person's token would let whoever holds it ask about everybody else.
      return token?.audience === audience && token.accountId === undefined ? token.clientId : undefined;
    }
    const basic = basicOf(ctx);
    return basic && (await tokens.isSecretOf(basic.clientId, basic.secret)) ? basic.clientId : undefined;
  }

  return {
    async identify(ctx) {
      const address = addressKey(ctx.state.request.address);
      const failures = await rateLimits.peek('api:address', address);
      if (!failures.allowed) throw tooManyRequests(failures.retryAfterSeconds);
      const clientId = await proven(ctx);
      const application = clientId === undefined ? undefined : await applications.find(clientId);
      if (application?.protocol !== 'oidc' || !application.enabled) {
        await rateLimits.consume('api:address', address);
        const message = 'Give the client_id and secret of an application, or a token that it got for itself.';
        const headers = { 'WWW-Authenticate': `Basic realm="${audience}", Bearer realm="${audience}"` };
        throw unauthorized('unauthenticated', { message, headers });
      }
      const counted = await rateLimits.consume('api:caller', application.clientId);
      if (!counted.allowed) throw tooManyRequests(counted.retryAfterSeconds, { message: 'There were too many calls.' });
      return {
        clientId: application.clientId,
        applicationId: application.id,
        permissionsFilter: application.metadata.permissions_filter,
      };
    },
  };
}
