// Whether an account may use an application: the one access rule. Every place that applies it calls a function of this file whose
// name begins with accessDecision: sign-ins of both protocols (protocols/oidc/engine/interaction-policy.ts, sign-in/flow.ts), tokens
// (protocols/oidc/claims/find-account.ts), AuthZEN (protocols/authzen/routes.ts), the portal (account/portal.ts), the access check
// (diagnostics/access-check) and rejected requests (protocols/oidc/engine/events.ts, diagnostics/rejections/evaluation.ts).
import { inNetworks } from '../base/network/networks.ts';
import type { AccountGroup } from '../people/accounts/account.ts';
import type { Access } from './fields/oidc-client.ts';

/** Why an account may not use an application. */
export type AccessRejection = 'application_disabled' | 'account_disabled' | 'no_role' | 'other_network';

/** Why an account may, or may not, use an application. */
export type AccessReason = 'everyone' | 'role' | 'group' | AccessRejection;

export interface AccessDecision {
  allowed: boolean;
  reason: AccessReason;
}

/** One condition of the access rule. */
export interface AccessCondition {
  /** The reason where it is not met. */
  rejection: AccessRejection;
  isMet: boolean;
}

/** What of an application decides. */
export interface ProtectedApplication {
  enabled: boolean;
  access: Access;
  /** From which networks it may be used, in CIDR notation; undefined: from everywhere. */
  networks?: readonly string[] | undefined;
}

/** What of an account decides. */
export interface AccessSubject {
  isActive: boolean;
  /** Names of the roles that it has. */
  roles: readonly string[];
  /** The groups that it is in. */
  groups: readonly AccountGroup[];
}

/** Whether the application may be used from this address; also where no address is judged. */
export function isInNetworks({ networks }: ProtectedApplication, address: string | undefined): boolean {
  return networks === undefined || address === undefined || inNetworks(networks)(address);
}

/**
 * Both must be enabled, the application open to everyone, to a role or to a group of the account, and used from one of its networks.
 *
 * @param address where the request comes from; undefined where that is not judged: in lists, and for APIs that ask about a token
 */
export function accessDecisionConditions(
  application: ProtectedApplication,
  account: AccessSubject,
  address?: string,
): AccessCondition[] {
  const { enabled, access } = application;
  return [
    { rejection: 'application_disabled', isMet: enabled },
    { rejection: 'account_disabled', isMet: account.isActive },
    {
      rejection: 'no_role',
      isMet:
        access === 'everyone' ||
        grantingRoles(access, account).length > 0 ||
        grantingGroups(access, account).length > 0,
    },
    { rejection: 'other_network', isMet: isInNetworks(application, address) },
  ];
}

/**
 * Whether every condition is met, or the first that is not. Pure: the caller gives an application and an account that
 * were read for this request.
 */
export function accessDecision(
  application: ProtectedApplication,
  account: AccessSubject,
  address?: string,
): AccessDecision {
  const unmet = accessDecisionConditions(application, account, address).find(({ isMet }) => !isMet);
  if (unmet) return { allowed: false, reason: unmet.rejection };
  const { access } = application;
  if (access === 'everyone') return { allowed: true, reason: 'everyone' };
  return { allowed: true, reason: grantingRoles(access, account).length > 0 ? 'role' : 'group' };
}

/** The roles of the account that the access rule names; none for an application that is open to everyone. */
export function grantingRoles(access: Access, account: { roles: readonly string[] }): string[] {
  return access === 'everyone' ? [] : access.roles.filter((role) => account.roles.includes(role));
}

/** The groups of the account that the access rule names, with the way in and the end of each. */
export function grantingGroups(access: Access, { groups }: AccessSubject): AccountGroup[] {
  return access === 'everyone' ? [] : groups.filter(({ name }) => access.groups?.includes(name));
}

/** The roles that the account lacks, each of which would give access. */
export function missingRoles(access: Access, { roles }: { roles: readonly string[] }): string[] {
  return access === 'everyone' ? [] : access.roles.filter((role) => !roles.includes(role));
}

/** The groups that the account is not in, each of which would give access. */
export function missingGroups(access: Access, { groups }: { groups: readonly AccountGroup[] }): string[] {
  const named = access === 'everyone' ? [] : (access.groups ?? []);
  return named.filter((name) => !groups.some((group) => group.name === name));
}

/** The decision as a rule of a rejected request: the account with its roles and the roles that grant access, or the address and the networks. */
export function accessDecisionRule(
  application: ProtectedApplication,
  account: AccessSubject & { username: string },
  address?: string,
): { rule: 'access' | 'network'; allowed: boolean; received: string; expected: string } {
  const { access } = application;
  const { allowed, reason } = accessDecision(application, account, address);
  if (reason === 'other_network') return { rule: 'network', allowed, ...brokenNetworkRule(application, address) };
  const { username, roles, groups } = account;
  const isIn = groups.length > 0 ? ` and is in ${groups.map(({ name }) => name).join(', ')}` : '';
  const held = `${roles.length > 0 ? `has ${roles.join(', ')}` : 'has no roles'}${isIn}`;
  return {
    rule: 'access',
    allowed,
    received: `${username} ${reason === 'account_disabled' ? 'cannot be used now' : held}`,
    expected: access === 'everyone' ? 'everyone' : namesText(access),
  };
}

/** The address of a request and the networks of the application, in a rejection. */
export function brokenNetworkRule({ networks = [] }: ProtectedApplication, address = '') {
  return { received: address, expected: networks.join('\n') };
}

function namesText({ roles, groups = [] }: Exclude<Access, 'everyone'>): string {
  const named = (one: string, several: string, names: readonly string[]) =>
    names.length === 0 ? [] : [`${names.length === 1 ? one : several} ${names.join(', ')}`];
  const parts = [...named('the role', 'one of the roles', roles), ...named('the group', 'one of the groups', groups)];
  return parts.join(' or ') || 'no role';
}

/**
 * The same rule as a condition of a database query (Prisma's `where` on applications), for lists that must not read
 * every application. test/applications/access-decision.test.ts checks that both agree.
 */
export function accessDecisionFilter({ isActive, roles, groups }: AccessSubject) {
  return {
    ...(isActive ? {} : { id: { in: [] } }),
    enabled: true,
    OR: [
      { access: 'everyone' },
      { access: 'roles', roles: { some: { role: { name: { in: [...roles] } } } } },
      { access: 'roles', groups: { some: { groupId: { in: groups.map(({ id }) => id) } } } },
    ],
  };
}
