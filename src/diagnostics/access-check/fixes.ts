// The causes of a red access check, each with the fixes that this actor may use, or a sentence that says what is missing.

import { quotedPermissions } from '../../admin/console/permission-words.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import { falseIfForbidden } from '../../people/rbac/authority.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import { roleInFile } from '../role-in-file.ts';
import type { DiagnosticServices } from '../services.ts';
import { type Check, nameOf } from './check.ts';
import type { AccessFacts } from './facts.ts';
import { type AccessFix, type FixLink, type Offer, offersFor } from './fix-offers.ts';

/** A failed check, or one that may be the cause, and what the actor can do about it. */
export interface Cause {
  check: Check;
  fixes: AccessFix[];
  links: FixLink[];
  /** Ids of the fixes that the actor may not use. */
  denied: string[];
  /** Why the actor has no button. */
  note?: PageText | undefined;
}

/** The checks that are not passed, each with the fixes that the actor may use; a fix is offered once, for its first cause. @param mayOpen whether the actor may open a page */
export async function causesOf(
  services: DiagnosticServices,
  checks: readonly Check[],
  facts: AccessFacts,
  { by, mayOpen }: { by: Actor; mayOpen(permission: OwnPermission): boolean },
): Promise<Cause[]> {
  // What blocks the sign-in comes first.
  const open = (['failed', 'warning'] as const).flatMap((state) => checks.filter((check) => check.state === state));
  const offered = new Set<string>();
  const isFirst = ({ fix }: Offer) => !('id' in fix) || (!offered.has(fix.id) && offered.add(fix.id));
  const causes = open.map((check) => ({ check, offers: offersFor(services, check.id, facts).filter(isFirst) }));
  return Promise.all(
    causes.map(async ({ check, offers }): Promise<Cause> => {
      const reasons = await Promise.all(offers.map((offer) => reasonAgainst(services, offer, facts, { by, mayOpen })));
      const usable = offers.flatMap(({ fix }, index) => (reasons[index] === undefined ? [fix] : []));
      // Without any button that the actor may use, the page says why, also where a link is left.
      const lacksButton = offers.some(({ fix }) => 'apply' in fix) && !usable.some((fix) => 'apply' in fix);
      const note = usable.length === 0 || lacksButton ? reasons.find((one) => one !== undefined) : undefined;
      return {
        check,
        fixes: usable.filter((fix) => 'apply' in fix),
        links: usable.filter((fix) => 'href' in fix),
        denied: offers.flatMap(({ fix }, index) => ('id' in fix && reasons[index] !== undefined ? [fix.id] : [])),
        note,
      };
    }),
  );
}

/** To assign a role takes one of these for the user, and the right to manage the role. */
const ASSIGN = ['gatehouse.users:write', 'gatehouse.roles:write'] as const;
const ownedByFile = (what: string) => t('console.access-check.file', { what });

/** Why the actor cannot use this fix; undefined when the actor can. */
async function reasonAgainst(
  { admin: { users, applications, roles, groups } }: DiagnosticServices,
  { needs, fix }: Offer,
  { account, application }: AccessFacts,
  { by, mayOpen }: { by: Actor; mayOpen(permission: OwnPermission): boolean },
): Promise<PageText | undefined> {
  const action = fix.label;
  const lacks = (anyOf: readonly OwnPermission[], name: string) =>
    t('console.access-check.lacks-permission-for', { action, permission: quotedPermissions(anyOf), name });
  const mayChangeUser = (anyOf: readonly OwnPermission[]) => users.mayChange(account.id, by, anyOf);
  switch (needs.of) {
    case 'user':
      if (await mayChangeUser(needs.anyOf)) return undefined;
      return lacks(needs.anyOf, nameOf(account));
    case 'role':
      if (account.source === 'file') return roleInFile(application, account) ?? ownedByFile(nameOf(account));
      if ((await roles.assignable(by)).includes(needs.name) && (await mayChangeUser(ASSIGN))) return undefined;
      return t('console.access-check.lacks-role', { role: needs.name, name: nameOf(account) });
    case 'group': {
      const group = await groups.find(needs.name);
      const mayPut = group ? await groups.assertMayPut(group.id, by).then(() => true, falseIfForbidden) : false;
      if (mayPut) return undefined;
      return group
        ? t('console.access-check.lacks-group', { group: needs.name, name: nameOf(account) })
        : t('console.access-check.no-group', { group: needs.name });
    }
    case 'profile':
      if (account.source === 'file') return ownedByFile(nameOf(account));
      if (await mayChangeUser(['gatehouse.users:write'])) return undefined;
      return lacks(['gatehouse.users:write'], nameOf(account));
    case 'application':
      if (!(await applications.mayChange(application.id, by)))
        return lacks(['gatehouse.applications:write'], application.name);
      return application.source === 'file' ? ownedByFile(application.name) : undefined;
    case 'settings':
      return mayOpen('gatehouse.settings:write-security')
        ? undefined
        : t('console.access-check.lacks-permission', {
            action,
            permission: quotedPermissions(['gatehouse.settings:write-security']),
          });
  }
}
