// What a product demands of a person beyond the access rule, and what of it a person lacks: the access check, the test sign-in and the
// setup of an application say it.
import type { Account } from '../../../accounts/account.ts';
import { type AccountView, visibleRoles } from '../../../accounts/visible-roles.ts';
import type { ProductPreset } from './parts.ts';

/** What a product receives of a person. */
export interface ReceivedPerson {
  email: string | null;
  emailVerified: boolean;
  /** Names as the product gets them: after roles_filter and roles_rename. */
  roles: readonly string[];
}

export type Demand = 'address' | 'verified' | 'role';

export interface DemandVerdict {
  demand: Demand;
  /** `other-roles`: the person has roles that count only if the product was set up for them. */
  state: 'met' | 'rejected' | 'no-rights' | 'other-roles';
}

/** Each demand of the product, and whether it rejects a person who does not meet it. */
export function demandsOf({ demands }: ProductPreset): { demand: Demand; isRejected: boolean }[] {
  const { email, role } = demands ?? {};
  return [
    ...(email ? [{ demand: 'address' as const, isRejected: true }] : []),
    ...(email === 'verified' ? [{ demand: 'verified' as const, isRejected: true }] : []),
    ...(role ? [{ demand: 'role' as const, isRejected: role === 'to-sign-in' }] : []),
  ];
}

/** The verdict on each demand of the product, in the order in which it notices. */
export function demandVerdicts(product: ProductPreset, person: ReceivedPerson): DemandVerdict[] {
  const state = {
    address: person.email === null ? 'rejected' : 'met',
    verified: person.email === null || person.emailVerified ? 'met' : 'rejected',
    role: roleState(product, person.roles),
  } as const;
  return demandsOf(product).map(({ demand }) => ({ demand, state: state[demand] }));
}

function roleState(product: ProductPreset, roles: readonly string[]): DemandVerdict['state'] {
  const { role, countsOtherRoles } = product.demands ?? {};
  if (roles.some((name) => isRoleOf(product, name))) return 'met';
  if (countsOtherRoles && roles.length > 0) return 'other-roles';
  return role === 'to-sign-in' ? 'rejected' : 'no-rights';
}

/** Whether the product knows a role by this name, as it gets it. */
function isRoleOf({ roles = [], demands }: ProductPreset, name: string): boolean {
  return demands?.roleNames?.test(name) === true || roles.some((one) => (one.nameThere ?? one.name) === name);
}

/** The roles of this server that the product would know as its own, by what the application receives of them. */
export function rolesThatCount(product: ProductPreset, view: AccountView): string[] {
  const candidates = [...(product.roles ?? []).map(({ name }) => name), ...Object.keys(view.roles_rename ?? {})];
  return [...new Set(candidates)].filter((name) =>
    visibleRoles([name], view).some((received) => isRoleOf(product, received)),
  );
}

/** The role that a person has in the product; undefined for a person without a role that it knows. */
export function roleThere({ roles = [] }: ProductPreset, received: readonly string[]) {
  return roles.find(({ name, nameThere = name }) => received.includes(nameThere));
}

/** What the application receives of this account. */
export function receivedOf({ email, emailVerified, roles }: Account, view: AccountView): ReceivedPerson {
  return { email, emailVerified, roles: visibleRoles(roles, view) };
}
