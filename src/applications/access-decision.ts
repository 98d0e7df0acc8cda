// Whether an account may use an application: the one access rule. Every place that applies it calls a function of this file whose
// name begins with accessDecision: sign-ins of both protocols (protocols/oidc/engine/interaction-policy.ts, sign-in/flow.ts), tokens
// (protocols/oidc/claims/find-account.ts), AuthZEN (protocols/authzen/routes.ts), the portal (account/portal.ts), the access check
// (diagnostics/access-check) and rejected requests (protocols/oidc/engine/events.ts, diagnostics/rejections/evaluation.ts).
import { inNetworks } from '../base/network/networks.ts';
import { type PageText, t } from '../base/texts/text.ts';
import type { RuleId } from '../core/rejections/rules.ts';
import type { AccountGroup } from '../people/accounts/account.ts';
import type { Access } from './fields/oidc-client.ts';
import type { RuleFields } from './rules/sign-in-rule.ts';

/** Why an account may, or may not, use an application. */
export type AccessReason = 'everyone' | 'role' | 'group' | AccessRejection;

export interface AccessDecision {
  allowed: boolean;
  reason: AccessReason;
}

/** What of an application decides. */
export interface ProtectedApplication {
  enabled: boolean;
  access: Access;
  metadata: RuleFields;
}

/** What of an account decides. */
export interface AccessSubject {
  isActive: boolean;
  /** Names of the roles that it has. */
  roles: readonly string[];
  /** The groups that it is in. */
  groups: readonly AccountGroup[];
}

/** A rule of a rejected request (core/rejections/rules.ts) by which the access rule closes an application: what each place says then. */
interface AccessRule {
  /** In the audit log, with words in `activity.reason`. */
  reason: string;
  /** In the rejected request. */
  message: string;
  /** On the page of the person. */
  lead: PageText;
  /** Whether a role or a group would help, so that the page offers to ask for access. */
  canAsk: boolean;
  /** Whether the application has this rule. */
  isSet(metadata: RuleFields): boolean;
  /** What the request had, and what the application wants. */
  compared(
    application: ProtectedApplication,
    account: AccessSubject & { username: string },
    address: string | undefined,
  ): { received: string; expected: string };
}

/** In the order of the conditions. */
export const accessRules = {
  access: {
    reason: 'access_denied',
    message: 'The account has none of the roles and groups that the application is open to.',
    lead: t('access-denied.lead'),
    canAsk: true,
    isSet: () => true,
    compared({ access }, { username, isActive, roles, groups }) {
      const isIn = groups.length > 0 ? ` and is in ${groups.map(({ name }) => name).join(', ')}` : '';
      const held = `${roles.length > 0 ? `has ${roles.join(', ')}` : 'has no roles'}${isIn}`;
      return {
        received: `${username} ${isActive ? held : 'cannot be used now'}`,
        expected: access === 'everyone' ? 'everyone' : namesText(access),
      };
    },
  },
  network: {
    reason: 'other_network',
    message: 'The application may not be used from this network.',
    lead: t('access-denied.network'),
    canAsk: false,
    isSet: ({ allowed_networks }) => allowed_networks !== undefined,
    compared: (application, _account, address) => brokenNetworkRule(application, address),
  },
} satisfies Partial<Record<RuleId, AccessRule>>;
export type AccessRuleId = keyof typeof accessRules;
export const accessRuleIds = Object.keys(accessRules) as AccessRuleId[];

/** A condition of the access rule. */
interface Condition {
  /** The rule that is broken where it is not met. */
  rule: AccessRuleId;
  isMet(application: ProtectedApplication, account: AccessSubject, address: string | undefined): boolean;
}

/** By the reason where it is not met, in their order. */
const conditions = {
  application_disabled: { rule: 'access', isMet: ({ enabled }) => enabled },
  account_disabled: { rule: 'access', isMet: (_application, { isActive }) => isActive },
  no_role: {
    rule: 'access',
    isMet: ({ access }, account) =>
      access === 'everyone' || grantingRoles(access, account).length > 0 || grantingGroups(access, account).length > 0,
  },
  other_network: { rule: 'network', isMet: (application, _account, address) => isInNetworks(application, address) },
} satisfies Record<string, Condition>;
/** Why an account may not use an application. */
export type AccessRejection = keyof typeof conditions;
export const accessRejections = Object.keys(conditions) as AccessRejection[];

/** Whether the application may be used from this address; also where no address is judged. */
export function isInNetworks(
  { metadata: { allowed_networks: networks } }: ProtectedApplication,
  address: string | undefined,
): boolean {
  return networks === undefined || address === undefined || inNetworks(networks)(address);
}

/** The first condition that is not met. */
const unmetIn = (application: ProtectedApplication, account: AccessSubject, address: string | undefined) =>
  accessRejections.find((one) => !conditions[one].isMet(application, account, address));

/**
 * Whether each condition is met: both must be enabled, the application open to everyone, to a role or to a group of the account, and used
 * from one of its networks.
 *
 * @param address where the request comes from; undefined where that is not judged: in lists, and for APIs that ask about a token
 */
export function accessDecisionConditions(
  application: ProtectedApplication,
  account: AccessSubject,
  address?: string,
): { rejection: AccessRejection; isMet: boolean }[] {
  return accessRejections.map((rejection) => ({
    rejection,
    isMet: conditions[rejection].isMet(application, account, address),
  }));
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
  const unmet = unmetIn(application, account, address);
  if (unmet) return { allowed: false, reason: unmet };
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

/** The decision as a rule of a rejected request: `access` where nothing is broken. */
export function accessDecisionRule(
  application: ProtectedApplication,
  account: AccessSubject & { username: string },
  address?: string,
): { rule: AccessRuleId; allowed: boolean; received: string; expected: string } {
  const unmet = unmetIn(application, account, address);
  const rule = unmet ? conditions[unmet].rule : 'access';
  return { rule, allowed: unmet === undefined, ...accessRules[rule].compared(application, account, address) };
}

/** The address of a request and the networks of the application, in a rejection. */
export function brokenNetworkRule(
  { metadata: { allowed_networks: networks = [] } }: ProtectedApplication,
  address = '',
) {
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
 * every application. It cannot see metadata: what a rule there closes, lists leave out as in groups-to-choose.ts.
 * test/applications/access-decision.test.ts checks that both agree.
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
