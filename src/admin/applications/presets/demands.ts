// What a product demands of a person beyond the access rule, and what of it a person lacks: the access check, the test sign-in and the
// setup of an application say it.

import type { Application } from '../../../applications/application.ts';
import { claimSources } from '../../../applications/fields/claim-settings.ts';
import type { Account } from '../../../people/accounts/account.ts';
import { type AccountView, visibleGroups, visibleRoles } from '../../../people/accounts/visible-roles.ts';
import type { Preset, PresetRole } from './parts.ts';
import { productOf } from './presets.ts';
import type { ProductPreset } from './products.ts';

/** What a product receives of a person. */
export interface ReceivedPerson {
  email: string | null;
  emailVerified: boolean;
  /** Roles, or groups of a product that reads groups, as the product gets them: filtered and by the names of the application. */
  roles: readonly string[];
  /** The scopes that the application may not request, and without which it receives no address, no roles or no groups. */
  missingScopes?: readonly MissingScope[];
}

export type MissingScope = 'email' | 'roles' | 'groups';

/** Whether a product reads groups of its users, or roles. In this file, a role means either. */
export const readsRolesOrGroups = ({ groups }: Preset): 'group' | 'role' => (groups ? 'group' : 'role');
/** The roles, or groups, that the product reads. */
export const rolesReadBy = ({ groups, roles = [] }: Preset): readonly PresetRole[] => groups ?? roles;

export type Demand = 'address' | 'verified' | 'role';

export interface DemandResult {
  demand: Demand;
  /** `other-roles`: the person has roles that count only if the product was set up for them. */
  state: 'met' | 'rejected' | 'no-rights' | 'other-roles';
  /** The scope that is missing, where no person can meet the demand. */
  scope?: MissingScope;
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

/** The result of each demand of the product, in the order in which it notices. */
export function demandResults(product: ProductPreset, person: ReceivedPerson): DemandResult[] {
  const { email, emailVerified, roles, missingScopes = [] } = person;
  const stateOf = {
    address: email === null ? 'rejected' : 'met',
    verified: email === null || emailVerified ? 'met' : 'rejected',
    role: roleState(product, roles),
  } as const;
  return demandsOf(product).map(({ demand, isRejected }): DemandResult => {
    const scope = demand === 'role' ? (`${readsRolesOrGroups(product)}s` as const) : 'email';
    if (!missingScopes.includes(scope)) return { demand, state: stateOf[demand] };
    // Where there is no address, nobody asks whether it is verified.
    if (demand === 'verified') return { demand, state: 'met' };
    return { demand, state: isRejected ? 'rejected' : 'no-rights', scope };
  });
}

/** The scopes of a person that the registration leaves out. Roles and groups may be in a claim of the application's own, too. */
export function missingScopes({ protocol, metadata }: Application, product: Preset | undefined): MissingScope[] {
  if (protocol !== 'oidc' || metadata.scope === undefined) return [];
  const scopes = metadata.scope.split(' ');
  const names = product?.groups ? 'groups' : 'roles';
  const hasNames = claimSources(metadata.claims).some(
    ({ field, scope }) => field === names && (scope === undefined || scopes.includes(scope)),
  );
  const missing: MissingScope[] = hasNames ? ['email'] : ['email', names];
  return missing.filter((scope) => !scopes.includes(scope));
}

function roleState(product: ProductPreset, roles: readonly string[]): DemandResult['state'] {
  const { role, countsOtherRoles } = product.demands ?? {};
  if (roles.some((name) => isReadRole(product, name))) return 'met';
  if (countsOtherRoles && roles.length > 0) return 'other-roles';
  return role === 'to-sign-in' ? 'rejected' : 'no-rights';
}

/** Whether the product reads a role, or group, of this name, after the application has renamed it. */
function isReadRole(product: ProductPreset, name: string): boolean {
  return (
    product.demands?.roleNames?.test(name) === true ||
    rolesReadBy(product).some((one) => (one.nameThere ?? one.name) === name)
  );
}

/** The roles, or groups, of this server that the application sends to the product under a name that the product reads. */
export function rolesThatCount(product: ProductPreset, view: AccountView): string[] {
  const known = rolesReadBy(product).map(({ name }) => name);
  const candidates = product.groups ? known : [...new Set([...known, ...Object.keys(view.roles_rename ?? {})])];
  return candidates.filter((name) => namesSent(product, name, view).some((sent) => isReadRole(product, sent)));
}

/** The names under which the application sends this role, or a group of this name at the top. */
const namesSent = ({ groups }: Preset, name: string, view: AccountView) =>
  groups ? visibleGroups([{ id: name, name, path: `/${name}` }], view) : visibleRoles([name], view);

/** The role, or group, that the product reads first of these; undefined when it reads none of them. */
export function roleInProduct(product: ProductPreset, received: readonly string[]) {
  return rolesReadBy(product).find(({ name, nameThere = name }) => received.includes(nameThere));
}

/** Roles, or groups, with the least powerful first: those that the product doesn't read, then its own, which it lists the other way. */
export function leastPowerfulFirst(application: Application, names: readonly string[]): string[] {
  const product = productOf(application);
  const own = product ? rolesReadBy(product).map(({ name }) => name) : [];
  const rank = (name: string) => (own.includes(name) ? own.length - own.indexOf(name) : 0);
  return names.toSorted((one, other) => rank(one) - rank(other));
}

/** What the application receives of this account. */
export function receivedOf(account: Account, application: Application, product: Preset): ReceivedPerson {
  const { email, emailVerified, roles, groups } = account;
  const { metadata } = application;
  const visible = product.groups ? visibleGroups(groups, metadata) : visibleRoles(roles, metadata);
  return { email, emailVerified, roles: visible, missingScopes: missingScopes(application, product) };
}
