// Whether an account may use an application: the one access rule. Applied to sign-ins in oidc/engine/interaction-policy.ts,
// to tokens in oidc/claims/find-account.ts, and in the portal and diagnostics.
import type { Access } from './oidc-client.ts';

/** Why an account may, or may not, use an application. */
export type AccessReason = 'everyone' | 'role' | 'application_disabled' | 'account_disabled' | 'no_role';

export interface AccessDecision {
  allowed: boolean;
  reason: AccessReason;
}

/** What of an application decides. */
export interface ProtectedApplication {
  enabled: boolean;
  access: Access;
}

/** What of an account decides. */
export interface AccessSubject {
  isActive: boolean;
  /** Names of the roles that it has. */
  roles: readonly string[];
}

/**
 * Both must be enabled, and the application open to everyone or to a role of the account. Pure: the caller gives an
 * application and an account that were read for this request.
 */
export function accessDecision(application: ProtectedApplication, account: AccessSubject): AccessDecision {
  if (!application.enabled) return { allowed: false, reason: 'application_disabled' };
  if (!account.isActive) return { allowed: false, reason: 'account_disabled' };
  if (application.access === 'everyone') return { allowed: true, reason: 'everyone' };
  const isMember = grantingRoles(application.access, account).length > 0;
  return isMember ? { allowed: true, reason: 'role' } : { allowed: false, reason: 'no_role' };
}

/** The roles of the account that the access rule names; none for an application that is open to everyone. */
export function grantingRoles(access: Access, account: Pick<AccessSubject, 'roles'>): string[] {
  return access === 'everyone' ? [] : access.roles.filter((role) => account.roles.includes(role));
}

/** The decision as a rule of a rejected request: the account with its roles, and the roles that grant access. */
export function accessRuleOf(application: ProtectedApplication, account: AccessSubject & { username: string }) {
  const { access } = application;
  return {
    allowed: accessDecision(application, account).allowed,
    received: `${account.username}: ${account.roles.join(', ') || 'no roles'}`,
    expected: access === 'everyone' ? 'everyone' : access.roles.join(', '),
  };
}

/**
 * The same rule as a condition of a database query (Prisma's `where` on applications), for lists that must not read
 * every application. test/applications/access-decision.test.ts checks that both agree.
 */
export function accessibleTo({ isActive, roles }: AccessSubject) {
  return {
    ...(isActive ? {} : { id: { in: [] } }),
    enabled: true,
    OR: [{ access: 'everyone' }, { access: 'roles', roles: { some: { role: { name: { in: [...roles] } } } } }],
  };
}
