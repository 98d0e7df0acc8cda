// What fixes a failed check: the same actions as on the pages of the user and of the application, so each takes the same rights and
// the same fresh sign-in, and is audited like them.

import { leastPowerfulFirst, type MissingScope } from '../../admin/applications/presets/demands.ts';
import type { RoleOrGroup } from '../../admin/console/new-administrators.ts';
import { disabledSentence } from '../../admin/users/disabled-by.ts';
import { missingGroups, missingRoles } from '../../applications/access-decision.ts';
import type { Access } from '../../applications/fields/oidc-client.ts';
import { notFound } from '../../base/http/errors.ts';
import { displayName } from '../../base/http/pages/tokens.ts';
import { type PageLink, type PageText, sentences, t } from '../../base/texts/text.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Account } from '../../people/accounts/account.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';
import type { DiagnosticServices } from '../services.ts';
import type { CheckId } from './check.ts';
import { localWays } from './checks.ts';
import type { AccessFacts } from './facts.ts';

export interface AccessFix {
  id: string;
  label: PageText;
  /** What happens, on the page that asks before the fix. */
  consequence: PageText;
  /** It changes something for more than this sign-in, so the page asks first. */
  asksFirst?: boolean;
  /** What it gives to the person: with permissions in Gatehouse, the page asks first. */
  gives?: RoleOrGroup;
  /** What the page says after it. */
  done: PageText;
  apply(by: Actor): Promise<unknown>;
}

/** A fix, or a page where the cause is fixed by hand, with the rights that it takes. */
export interface Offer {
  fix: AccessFix | PageLink;
  needs:
    | { of: 'user'; anyOf: readonly OwnPermission[] }
    | { of: 'role'; name: string }
    | { of: 'group'; name: string }
    | { of: 'profile' }
    | { of: 'application' }
    | { of: 'settings' };
}

/** The highest number of roles, and of groups, that get a button. */
const MAX_ROLES = 4;
const MAX_GROUPS = 4;
const WRITE_USERS = ['gatehouse.users:write'] as const;

/** Every fix of a failed check, regardless of the administrator; none where the failure ends by itself. */
export function offersFor(services: DiagnosticServices, id: CheckId, facts: AccessFacts): Offer[] {
  const { applications } = services.admin;
  const { application } = facts;
  switch (id) {
    case 'application_disabled':
      return [enableOffer(services, facts)];
    case 'account_disabled':
    case 'lockout':
      return accountOffers(services, id, facts);
    case 'no_role':
      return [...roleOffers(services, facts, application.access), ...groupOffers(services, facts)];
    case 'path':
      return pathOffers(services, facts);
    case 'method':
    case 'password':
      return passwordOffers(services, facts);
    case 'factor':
      return factorOffers(services, facts);
    case 'email':
      if (isWithheld(facts, 'email')) return [link(facts, t('console.access-check.change-scopes'), 'settings')];
      return [userLink(facts.account, t('console.access-check.add-email'), 'change/email')];
    case 'verified-email':
      return [verifiedOffer(services, facts)];
    case 'name-id':
      return nameIdOffers(services, facts);
    case 'encryption':
      return [link(facts, t('console.access-check.change-encryption'), 'settings')];
    case 'product-role':
      if (isWithheld(facts, 'roles') || isWithheld(facts, 'groups'))
        return [link(facts, t('console.access-check.change-scopes'), 'settings')];
      return [
        ...leastPowerfulFirst(application, facts.product?.roles ?? [])
          .slice(0, MAX_ROLES)
          .map((name) =>
            facts.product?.of === 'group' ? addToGroup(services, facts, name) : giveRole(services, facts, name),
          ),
        link(facts, t('console.access-check.change-claims', { protocol: application.protocol }), 'claims'),
      ];
    case 'group':
      return groupOffers(services, facts);
    case 'api_access':
      return [
        { needs: { of: 'application' }, fix: { label: t('console.access-check.change-rule'), href: '/admin/apis' } },
      ];
    case 'other_network':
      return [link(facts, t('console.access-check.change-allowed-networks'), 'access')];
    case 'network':
      return facts.network?.isDenied
        ? [
            {
              needs: { of: 'settings' },
              fix: { label: t('console.access-check.change-networks'), href: '/admin/security/protection' },
            },
          ]
        : [];
    case 'directory':
      return []; // in the directory
    case 'metadata':
      return [
        {
          needs: { of: 'application' },
          fix: {
            id: 'metadata',
            label: t('console.access-check.read-metadata'),
            consequence: t('console.access-check.read-metadata-why', { app: application.name }),
            done: t('console.access-check.metadata-read'),
            apply: (by) => applications.readMetadataAgain(application.id, by),
          },
        },
      ];
    case 'registration':
      return [link(facts, t('console.access-check.change-registration'), facts.registration?.tab ?? 'settings')];
    case 'openid':
      return [link(facts, t('console.access-check.change-scopes'), 'settings')];
    case 'key':
      return [link(facts, t('console.access-check.change-keys'), 'credentials')];
    case 'secret':
      return [link(facts, t('console.access-check.create-secret'), 'secret')];
    case 'grant':
      return [link(facts, t('console.access-check.change-grants'), 'settings')];
    case 'codes':
      return [];
  }
}

function enableOffer({ admin: { applications } }: DiagnosticServices, { application }: AccessFacts): Offer {
  const { name } = application;
  return {
    needs: { of: 'application' },
    fix: {
      id: 'enable-application',
      label: t('console.access-check.enable', { name }),
      consequence: t('console.access-check.app-enable-why', { app: name }),
      asksFirst: true,
      done: t('console.access-check.app-enabled', { app: name }),
      apply: (by) => applications.setEnabled(application.id, true, by),
    },
  };
}

function link({ application }: AccessFacts, label: PageText, page: string): Offer {
  return {
    needs: { of: 'application' },
    fix: { label, href: `/admin/applications/${application.id}/${page}` },
  };
}

function userLink(account: Account, label: PageText, page: string): Offer {
  return {
    needs: { of: 'user', anyOf: WRITE_USERS },
    fix: { label, href: `/admin/users/${account.id}/${page}` },
  };
}

function accountOffers(
  { admin: { users } }: DiagnosticServices,
  id: 'account_disabled' | 'lockout',
  { account, disabled }: AccessFacts,
): Offer[] {
  const who = displayName(account);
  if (id === 'lockout')
    return [
      {
        needs: { of: 'user', anyOf: ['gatehouse.users:unlock'] },
        fix: {
          id: 'unlock',
          label: t('console.access-check.unlock', { who }),
          consequence: t('console.access-check.unlock-why', { who }),
          done: t('console.access-check.unlocked', { who }),
          apply: (by) => users.unlock(account.id, by),
        },
      },
    ];
  if (account.isEnabled) return [userLink(account, t('console.access-check.change-period'), 'change/period')];
  return [
    {
      needs: { of: 'user', anyOf: WRITE_USERS },
      fix: {
        id: 'enable',
        label: t('console.access-check.enable', { name: who }),
        consequence: sentences([
          t('console.access-check.is-disabled'),
          ...(disabled ? [disabledSentence(disabled)] : []),
          t('console.access-check.enable-why', { who }),
        ]),
        asksFirst: true,
        done: t('console.access-check.enabled', { who }),
        apply: (by) => users.setActive(account.id, true, by),
      },
    },
  ];
}

function roleOffers(services: DiagnosticServices, facts: AccessFacts, access: Access): Offer[] {
  const roles = leastPowerfulFirst(facts.application, missingRoles(access, facts.account)).slice(0, MAX_ROLES);
  return roles.map((role) => giveRole(services, facts, role));
}

/** The roles and groups of the rule that closes the page, or the rule itself. */
function pathOffers(services: DiagnosticServices, facts: AccessFacts): Offer[] {
  const change = link(facts, t('console.access-check.change-path-rules'), 'access');
  const { rule } = facts.page?.broken ?? {};
  if (rule === undefined || typeof rule === 'string') return [change];
  const groups = leastPowerfulFirst(facts.application, missingGroups(rule, facts.account)).slice(0, MAX_GROUPS);
  return [...roleOffers(services, facts, rule), ...groups.map((group) => addToGroup(services, facts, group)), change];
}

/** The groups that open the application, or the rule itself. */
function groupOffers(services: DiagnosticServices, facts: AccessFacts): Offer[] {
  const groups = leastPowerfulFirst(facts.application, facts.admittingGroups).slice(0, MAX_GROUPS);
  return [
    ...groups.map((group) => addToGroup(services, facts, group)),
    link(facts, t('console.access-check.change-rule'), 'access'),
  ];
}

function giveRole({ admin: { users } }: DiagnosticServices, { account }: AccessFacts, role: string): Offer {
  const who = displayName(account);
  return {
    needs: { of: 'role', name: role },
    fix: {
      id: `role ${role}`,
      label: t('console.access-check.give-role', { who, role }),
      consequence: t('console.access-check.give-role-why', { who, role }),
      gives: { kind: 'role', name: role },
      done: t('console.access-check.role-given', { who, role }),
      apply: (by) => users.setRoles(account.id, [...account.roles, role], by),
    },
  };
}

function addToGroup({ admin: { groups, users } }: DiagnosticServices, { account }: AccessFacts, group: string): Offer {
  const who = displayName(account);
  return {
    needs: { of: 'group', name: group },
    fix: {
      id: `group ${group}`,
      label: t('console.access-check.add-to-group', { who, group }),
      consequence: t('console.access-check.add-to-group-why', { who, group }),
      gives: { kind: 'group', name: group },
      done: t('console.users.held.joined', { user: who, group }),
      async apply(by) {
        const found = await groups.find(group);
        if (!found) throw notFound({ message: t('console.groups.error.unknown') });
        await users.join(found.id, { userId: account.id }, by);
      },
    },
  };
}

/** The administrator vouches for the address, so the page asks first. */
function verifiedOffer({ admin: { users } }: DiagnosticServices, { account }: AccessFacts): Offer {
  const [who, email] = [displayName(account), account.email ?? ''];
  return {
    needs: { of: 'profile' },
    fix: {
      id: 'verify-email',
      label: t('console.access-check.verify-email', { email }),
      consequence: t('console.access-check.verify-email-why', { who, email }),
      asksFirst: true,
      done: t('console.access-check.email-verified', { email }),
      apply: (by) => users.update(account.id, { emailVerified: true }, by),
    },
  };
}

/** Another address for the user, or another NameID for the application. */
function nameIdOffers(services: DiagnosticServices, facts: AccessFacts): Offer[] {
  const other = link(facts, t('console.access-check.change-name-id'), 'claims');
  if (facts.missingForNameId !== 'verified-email') return [other];
  if (facts.account.email !== null) return [verifiedOffer(services, facts), other];
  return [userLink(facts.account, t('console.access-check.add-email'), 'change/email'), other];
}

/** Whether the registration leaves out the scope, so that no change of the user helps. */
const isWithheld = ({ product }: AccessFacts, wanted: MissingScope) =>
  product?.results.some(({ scope }) => scope === wanted) === true;

/**
 * A link for a password, and for an application without local sign-in the change that accepts it; that alone helps nobody who has
 * neither password nor passkey.
 */
function passwordOffers(
  { admin: { users, applications }, mailServer }: DiagnosticServices,
  facts: AccessFacts,
): Offer[] {
  const { account, application, password, required, rule } = facts;
  const who = displayName(account);
  if (required) return [link(facts, t('console.access-check.change-methods'), 'access')];
  const byHand = userLink(facts.account, t('console.access-check.temporary-password'), 'password');
  if (rule?.isLocalAllowed === false && localWays(facts).length === 0)
    return [link(facts, t('console.access-check.change-methods'), 'access'), byHand];
  if (rule?.isLocalAllowed === false)
    return [
      {
        needs: { of: 'application' },
        fix: {
          id: 'local-sign-in',
          label: t('console.access-check.accept-local'),
          consequence: t('console.access-check.accept-local-why', { app: application.name }),
          asksFirst: true,
          done: t('console.access-check.local-accepted', { app: application.name }),
          apply: (by) => applications.update(application.id, { local_sign_in: true }, by),
        },
      },
    ];
  if (!account.email || !mailServer.isSet()) return [byHand];
  const reset: AccessFix = {
    id: 'reset',
    label: t('console.access-check.send-link'),
    consequence: t('console.access-check.send-link-why', { who, email: account.email }),
    done: t('console.access-check.link-sent', { email: account.email }),
    apply: (by) => users.sendPasswordReset(account.id, by),
  };
  const invite: AccessFix = {
    id: 'invite',
    label: t('console.access-check.invite', { who }),
    consequence: t('console.access-check.invite-why', { who, email: account.email }),
    done: t('console.access-check.invited', { email: account.email }),
    apply: (by) => users.invite(account.id, by),
  };
  return password
    ? [{ needs: { of: 'user', anyOf: ['gatehouse.users:reset-password'] }, fix: reset }]
    : [{ needs: { of: 'user', anyOf: WRITE_USERS }, fix: invite }, byHand];
}

/** Meet the factor, or lower what the application demands. */
function factorOffers({ admin: { users, applications } }: DiagnosticServices, facts: AccessFacts): Offer[] {
  const { account, application, requirements } = facts;
  const who = displayName(account);
  const allow: Offer = {
    needs: { of: 'user', anyOf: ['gatehouse.users:reset-factors'] },
    fix: {
      id: 'allow-factor',
      label: t('console.access-check.let-set-up', { who }),
      consequence: t('console.access-check.let-set-up-why', { who }),
      done: t('console.access-check.let-set-up-done', { who }),
      apply: (by) => users.allowFirstFactor(account.id, by),
    },
  };
  const lower: Offer = {
    needs: { of: 'application' },
    fix: {
      id: 'lower-factor',
      label: t('console.access-check.no-mfa', { app: application.name }),
      consequence: t('console.access-check.no-mfa-why', { app: application.name }),
      asksFirst: true,
      done: t('console.access-check.no-mfa-done', { app: application.name }),
      apply: (by) => applications.update(application.id, { mfa: null }, by),
    },
  };
  const settings: Offer = {
    needs: { of: 'settings' },
    fix: { label: t('console.access-check.change-two-step'), href: '/admin/security/two-step' },
  };
  return [
    ...(requirements.missing === 'approval' ? [allow] : []),
    application.metadata.mfa === undefined ? settings : lower,
  ];
}
