// Builds access evaluation for applications (OpenID AuthZEN Authorization API 1.0).

import type { Applications } from '../../applications/applications.ts';
import type { RepeatedEntries } from '../../core/audit/repeated-entries.ts';
import type { Accounts } from '../../people/accounts/accounts.ts';
import type { RateLimits } from '../../people/rate-limits/rate-limits.ts';
import { accessApi } from '../../people/rbac/built-in.ts';
import type { Permissions } from '../../people/rbac/permissions.ts';
import type { ApiTokens } from '../oidc/store/api-access-tokens.ts';
import { createEvaluationCallers } from './callers.ts';
import { createEvaluations, type EvaluationsDependencies } from './evaluation.ts';
import { evaluationRoutes } from './routes.ts';

export interface AuthzenDependencies {
  issuer: string;
  accounts: Accounts;
  applications: Applications;
  repeatedEntries: RepeatedEntries;
  permissions: Permissions;
  rateLimits: RateLimits;
  tokens: ApiTokens;
  accountOf: EvaluationsDependencies['accountOf'];
  hasUsed: EvaluationsDependencies['hasUsed'];
  checkDirectories: EvaluationsDependencies['checkDirectories'];
}

export function createAuthzen(dependencies: AuthzenDependencies) {
  const { issuer, accounts, applications, permissions, rateLimits, repeatedEntries, tokens, accountOf, hasUsed } =
    dependencies;
  const { checkDirectories } = dependencies;
  const callers = createEvaluationCallers({ tokens, applications, rateLimits, audience: accessApi(issuer) });
  const evaluations = createEvaluations({ accounts, permissions, hasUsed, accountOf, checkDirectories });
  return { router: evaluationRoutes({ issuer, callers, evaluations, repeatedEntries, rateLimits }) };
}
