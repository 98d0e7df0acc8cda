// Authenticates the application that calls access evaluation: by its client secret (Basic), or by a client_credentials token
// for this API.

import type { ProtectedApplication } from '../../applications/access-decision.ts';
import type { ApplicationServices } from '../../applications/application-services.ts';
import { basicOf, bearerOf } from '../../base/http/authorization-header.ts';
import type { Context } from '../../base/http/context.ts';
import { tooManyRequests, unauthorized } from '../../base/http/errors.ts';
import type { People } from '../../people/people.ts';
import type { ApiTokens } from '../oidc/store/api-access-tokens.ts';

/** The data of the calling application for the evaluation. */
export interface EvaluatingApp {
  clientId: string;
  /** Decides which users' permissions it may query (applications/access-decision.ts). */
  application: ProtectedApplication;
  applicationId: string;
  /** Whether its registration allows it to evaluate users who never used it. */
  seesAllUsers: boolean;
  /** Permissions that are visible to it (people/accounts/visible-roles.ts). */
  permissionsFilter: string[] | undefined;
}

export type EvaluationCallers = ReturnType<typeof createEvaluationCallers>;

export function createEvaluationCallers(
  dependencies: People &
    ApplicationServices & {
      tokens: ApiTokens;
      /** The audience that tokens must have. */
      audience: string;
    },
) {
  const { tokens, applications, rateLimits, audience } = dependencies;

  async function authenticatedClientId(ctx: Context): Promise<string | undefined> {
    const bearer = bearerOf(ctx);
    if (bearer !== undefined) {
      const token = await tokens.find(bearer);
      // A user's token is rejected: its owner could query the permissions of every other user.
      return token?.audience === audience && token.accountId === undefined ? token.clientId : undefined;
    }
    const basic = basicOf(ctx);
    return basic && (await tokens.isSecretOf(basic.clientId, basic.secret)) ? basic.clientId : undefined;
  }

  return {
    /** Throws 401 without a valid credential of an application, 429 when there are too many calls. */
    async identify(ctx: Context): Promise<EvaluatingApp> {
      const network = { address: ctx.state.request.address };
      const failures = await rateLimits.peek('api:address', network);
      if (!failures.allowed) throw tooManyRequests(failures.retryAfterSeconds);
      const clientId = await authenticatedClientId(ctx);
      const application = clientId === undefined ? undefined : await applications.find(clientId);
      if (application?.protocol !== 'oidc' || !application.enabled) {
        await rateLimits.consume('api:address', network);
        const message = 'Send the client_id and secret of an application, or a token with its own client credentials.';
        const headers = { 'WWW-Authenticate': `Basic realm="${audience}", Bearer realm="${audience}"` };
        throw unauthorized('unauthenticated', { message, headers });
      }
      const counted = await rateLimits.consume('api:caller', application.clientId);
      if (!counted.allowed) throw tooManyRequests(counted.retryAfterSeconds, { message: 'Too many calls.' });
      ctx.state.sender = 'trusted';
      return {
        clientId: application.clientId,
        application,
        applicationId: application.id,
        seesAllUsers: application.metadata.access_evaluation === 'all_users',
        permissionsFilter: application.metadata.permissions_filter,
      };
    },
  };
}
