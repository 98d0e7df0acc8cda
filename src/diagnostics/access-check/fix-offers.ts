// What fixes a failed check: the same actions as on the pages of the user and of the application, so each takes the same rights and
// the same fresh sign-in, and is audited like them.
import type { ApplicationAdmin } from '../../admin/applications/actions.ts';
import type { UserAdmin } from '../../admin/users/actions.ts';
import { disabledSentence } from '../../admin/users/disabled-by.ts';
import { missingRoles } from '../../applications/access-decision.ts';
import type { Actor } from '../../audit/audit.ts';
import type { OwnPermission } from '../../rbac/built-in.ts';
import { type CheckId, nameOf } from './checks.ts';
import type { AccessFacts } from './facts.ts';

export interface AccessFix {
  id: string;
  label: string;
  /** What happens, on the page that asks before the fix. */
  consequence: string;
  /** It changes something for more than this sign-in, so the page asks first. */
  asksFirst?: boolean;
  /** What the page says after it. */
  done: string;
  apply(by: Actor): Promise<unknown>;
}

/** A page where the cause is fixed by hand. */
export interface FixLink {
  label: string;
  href: string;
}

/** A fix with the rights that it takes. */
export interface Offer {
  fix: AccessFix | FixLink;
  needs:
    | { of: 'user'; anyOf: readonly OwnPermission[] }
    | { of: 'role'; name: string }
    | { of: 'application' }
    | { of: 'settings' };
}

export interface FixActions {
  userAdmin: Pick<UserAdmin, 'allowFirstFactor' | 'invite' | 'sendPasswordReset' | 'setActive' | 'setRoles' | 'unlock'>;
  /** Without one, a mailed link is a file that nobody receives. */
  hasMailServer: boolean;
  applicationAdmin: Pick<ApplicationAdmin, 'readMetadataAgain' | 'setEnabled' | 'update'>;
}

/** So many roles get a button. */
const MAX_ROLES = 4;
const WRITE_USERS = ['gatehouse.users:write'] as const;

/** Every fix of a failed check, whoever asks; none where it ends by itself. */
export function offersFor(dependencies: FixActions, id: CheckId, facts: AccessFacts): Offer[] {
  const { applicationAdmin } = dependencies;
  const { application } = facts;
  switch (id) {
    case 'application_disabled': {
      const { name } = application;
      return [
        {
          needs: { of: 'application' },
          fix: {
            id: 'enable-application',
            label: `Enable ${name}`,
            consequence: `People who have access to ${name} can sign in to it again.`,
            asksFirst: true,
            done: `${name} is enabled.`,
            apply: (by) => applicationAdmin.setEnabled(application.id, true, by),
          },
        },
      ];
    }
    case 'account_disabled':
    case 'lockout':
      return accountOffers(dependencies, id, facts);
    case 'no_role':
      return roleOffers(dependencies, facts);
    case 'method':
    case 'password':
      return passwordOffers(dependencies, facts);
    case 'factor':
      return factorOffers(dependencies, facts);
    case 'email':
      return [userLink(facts, 'Add email', 'edit')];
    case 'network':
      return facts.network?.isDenied
        ? [{ needs: { of: 'settings' }, fix: { label: 'Change blocked networks', href: '/admin/security/protection' } }]
        : [];
    case 'metadata':
      return [
        {
          needs: { of: 'application' },
          fix: {
            id: 'metadata',
            label: 'Read its metadata again',
            consequence: `Gatehouse reads the metadata of ${application.name} at its address now.`,
            done: 'The metadata was read again.',
            apply: (by) => applicationAdmin.readMetadataAgain(application.id, by),
          },
        },
      ];
    case 'secret':
      return [link(facts, 'Create a client secret', 'secret')];
    case 'grant':
      return [link(facts, 'Change its grants', 'settings')];
    case 'codes':
      return [];
  }
}

function link({ application }: AccessFacts, label: string, page: string): Offer {
  return {
    needs: { of: 'application' },
    fix: { label, href: `/admin/applications/${application.id}/${page}` },
  };
}

function userLink({ account }: AccessFacts, label: string, page: string): Offer {
  return {
    needs: { of: 'user', anyOf: WRITE_USERS },
    fix: { label, href: `/admin/users/${account.id}/${page}` },
  };
}

function accountOffers(
  { userAdmin }: FixActions,
  id: 'account_disabled' | 'lockout',
  { account, disabled }: AccessFacts,
): Offer[] {
  const who = nameOf(account);
  if (id === 'lockout')
    return [
      {
        needs: { of: 'user', anyOf: ['gatehouse.users:unlock'] },
        fix: {
          id: 'unlock',
          label: `Unlock ${who}`,
          consequence: `${who} can try again at once.`,
          done: `${who} can try again.`,
          apply: (by) => userAdmin.unlock(account.id, by),
        },
      },
    ];
  return [
    {
      needs: { of: 'user', anyOf: WRITE_USERS },
      fix: {
        id: 'enable',
        label: `Enable ${who}`,
        consequence: `This account is disabled. ${disabled ? `${disabledSentence(disabled)} ` : ''}If you enable it, ${who} can sign in again.`,
        asksFirst: true,
        done: `The account of ${who} is enabled.`,
        apply: (by) => userAdmin.setActive(account.id, true, by),
      },
    },
  ];
}

function roleOffers({ userAdmin }: FixActions, facts: AccessFacts): Offer[] {
  const { account, application } = facts;
  const who = nameOf(account);
  const roles = missingRoles(application.access, account).slice(0, MAX_ROLES);
  return [
    ...roles.map(
      (role): Offer => ({
        needs: { of: 'role', name: role },
        fix: {
          id: `role ${role}`,
          label: `Give ${who} the role ${role}`,
          consequence: `${who} gets every permission of the role ${role}, and access to the applications that require it.`,
          done: `${who} has the role ${role}.`,
          apply: (by) => userAdmin.setRoles(account.id, [...account.roles, role], by),
        },
      }),
    ),
    link(facts, 'Change access rule', 'access'),
  ];
}

/** A link for a password, and for an application without local sign-in the change that accepts it. */
function passwordOffers({ userAdmin, applicationAdmin, hasMailServer }: FixActions, facts: AccessFacts): Offer[] {
  const { account, application, password, required, rule } = facts;
  const who = nameOf(account);
  if (required) return [link(facts, 'Change accepted sign-in methods', 'access')];
  if (rule?.isLocalAllowed === false)
    return [
      {
        needs: { of: 'application' },
        fix: {
          id: 'local-sign-in',
          label: 'Accept passwords and passkeys',
          consequence: `${application.name} then accepts passwords and passkeys of this server.`,
          asksFirst: true,
          done: `${application.name} accepts passwords and passkeys of this server.`,
          apply: (by) => applicationAdmin.update(application.id, { local_sign_in: true }, by),
        },
      },
    ];
  const byHand = userLink(facts, 'Create temporary password', 'password');
  if (!account.email || !hasMailServer) return [byHand];
  const reset: AccessFix = {
    id: 'reset',
    label: 'Send password link',
    consequence: `${who} gets a link for a new password at ${account.email}.`,
    done: `The password reset link is on its way to ${account.email}.`,
    apply: (by) => userAdmin.sendPasswordReset(account.id, by),
  };
  const invite: AccessFix = {
    id: 'invite',
    label: `Invite ${who}`,
    consequence: `${who} gets a link to set a password at ${account.email}.`,
    done: `The invitation is on its way to ${account.email}.`,
    apply: (by) => userAdmin.invite(account.id, by),
  };
  return password
    ? [{ needs: { of: 'user', anyOf: ['gatehouse.users:reset-password'] }, fix: reset }]
    : [{ needs: { of: 'user', anyOf: WRITE_USERS }, fix: invite }, byHand];
}

/** Meet the factor, or lower what the application demands. */
function factorOffers({ userAdmin, applicationAdmin }: FixActions, facts: AccessFacts): Offer[] {
  const { account, application, requirements } = facts;
  const who = nameOf(account);
  const allow: Offer = {
    needs: { of: 'user', anyOf: ['gatehouse.users:reset-factors'] },
    fix: {
      id: 'allow-factor',
      label: `Let ${who} set up a second step`,
      consequence: `For a week, the password of ${who} is enough to set up a second step. Verify that the request comes from ${who}.`,
      done: `${who} can set up a second step at the next sign-in.`,
      apply: (by) => userAdmin.allowFirstFactor(account.id, by),
    },
  };
  const lower: Offer = {
    needs: { of: 'application' },
    fix: {
      id: 'lower-factor',
      label: `Don’t require it for ${application.name}`,
      consequence: `Everyone can then sign in to ${application.name} with a password alone, unless the settings require a second step.`,
      asksFirst: true,
      done: `${application.name} no longer requires a second step.`,
      apply: (by) => applicationAdmin.update(application.id, { mfa: null }, by),
    },
  };
  const settings: Offer = {
    needs: { of: 'settings' },
    fix: { label: 'Change two-step settings', href: '/admin/security/two-step' },
  };
  return [
    ...(requirements.missing === 'approval' ? [allow] : []),
    application.metadata.mfa === undefined ? settings : lower,
  ];
}
