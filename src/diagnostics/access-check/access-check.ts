// The access check: whether a user may open an application, by which role or why not; what the application would receive,
// without a sign-in; and the last attempts, each with its exact reason.
import type { Account } from '../../accounts/account.ts';
import type { Accounts } from '../../accounts/accounts.ts';
import { type ApplicationPreviews, createApplicationPreviews } from '../../admin/applications/preview.ts';
import {
  type AccessDenial,
  accessDecision,
  accessDecisionConditions,
  grantingRoles,
} from '../../applications/access-decision.ts';
import type { Application } from '../../applications/application.ts';
import type { Applications } from '../../applications/applications.ts';
import type { Audit, AuditEntry } from '../../audit/audit.ts';
import type { AuditEventType } from '../../audit/events.ts';
import type { ClaimsPreviews } from '../../oidc/claims/claims-preview.ts';
import type { Lockout } from '../../rate-limits/lockout.ts';
import type { Rejection, Rejections } from '../../rejections/rejections.ts';
import type { Db } from '../../storage/database.ts';

export interface Reason {
  label: string;
  isMet: boolean;
  explanation: string;
}

export interface Verdict {
  mayOpen: boolean;
  reasons: Reason[];
}

export interface AccessCheck {
  /** By id, user name or e-mail address. */
  findUser(text: string): Promise<Account | undefined>;
  /** By id, client_id, entity ID or name. */
  findApplication(text: string): Promise<Application | undefined>;
  verdict(account: Account, application: Application): Promise<Verdict>;
  preview: ApplicationPreviews;
  /** Newest first, of this user, application or request. */
  attempts(about: {
    userId?: string;
    clientId?: string;
    requestId?: string;
  }): Promise<{ events: AuditEntry[]; rejections: Rejection[] }>;
}

export interface AccessCheckDependencies {
  db: Db;
  accounts: Pick<Accounts, 'find' | 'findByLogin'>;
  applications: Pick<Applications, 'get' | 'find' | 'list'>;
  audit: Pick<Audit, 'list'>;
  rejections: Pick<Rejections, 'list'>;
  lockout: Pick<Lockout, 'lockedSeconds'>;
  claimsPreview: Pick<ClaimsPreviews, 'preview'>;
}

const ATTEMPTS: AuditEventType[] = [
  'sign-in.password',
  'sign-in.passkey',
  'sign-in.second-factor',
  'sign-in.recovery-code',
  'sign-in.completed',
  'sign-in.throttled',
  'authorization.granted',
  'authorization.refused',
  'consent.denied',
  'token.refused',
  'token.revoked',
  'saml.request',
  'saml.response',
];
const MAX_ATTEMPTS = 30;

/** Reads only: no sign-in, no NameID and no token is created. */
export function createAccessCheck(dependencies: AccessCheckDependencies): AccessCheck {
  const { db, accounts, applications, audit, rejections, lockout, claimsPreview } = dependencies;

  return {
    findUser: async (text) => (await accounts.find(text)) ?? accounts.findByLogin(text),

    async findApplication(text) {
      const byClient = await applications.find(text);
      if (byClient) return byClient;
      const byId = await db.application.findUnique({ where: { id: text }, select: { id: true } });
      if (byId) return applications.get(text);
      const { applications: found } = await applications.list({ search: text, limit: 2 });
      const exact = found.find(({ name }) => name.toLowerCase() === text.toLowerCase());
      return exact ?? (found.length === 1 ? found[0] : undefined);
    },

    async verdict(account, application) {
      const reasons = reasonsFor(account, application, await lockout.lockedSeconds(account));
      return { mayOpen: accessDecision(application, account).allowed, reasons };
    },

    preview: createApplicationPreviews({ db, claimsPreview }),

    async attempts({ userId, clientId, requestId }) {
      const about = {
        ...(userId && { subjectId: userId }),
        ...(clientId && { clientId }),
        ...(requestId && { requestId }),
      };
      const [events, stored] = await Promise.all([
        audit.list({ ...about, ...(requestId ? {} : { types: ATTEMPTS }), limit: MAX_ATTEMPTS }),
        rejections.list({ ...about, limit: MAX_ATTEMPTS }),
      ]);
      return { events, rejections: stored.rejections };
    },
  };
}

/** Each condition of the access rule, and the lockout, which delays a sign-in only. */
function reasonsFor(account: Account, application: Application, lockedSeconds: number): Reason[] {
  return [
    ...accessDecisionConditions(application, account).map(({ denial, isMet }) => ({
      label: labels[denial],
      isMet,
      explanation: explanationOf(denial, isMet, account, application),
    })),
    {
      label: 'The account is not locked',
      isMet: lockedSeconds === 0,
      explanation:
        lockedSeconds === 0
          ? ''
          : `Too many wrong passwords: a new browser waits another ${Math.ceil(lockedSeconds / 60)} minutes.`,
    },
  ];
}

const labels: Record<AccessDenial, string> = {
  application_disabled: 'The application is enabled',
  account_disabled: 'The account is active',
  no_role: 'The user has a required role',
};

function explanationOf(denial: AccessDenial, isMet: boolean, account: Account, { access }: Application): string {
  if (denial !== 'no_role') return isMet ? '' : 'It is disabled.';
  if (access === 'everyone') return 'It is open to everyone.';
  if (isMet) return `By the role ${grantingRoles(access, account).join(', ')}.`;
  return `It is open to ${access.roles.join(', ')}; the user has ${account.roles.join(', ') || 'no roles'}.`;
}
