// "Why?": may this person open this application, by which role or why not; what it would receive, without a sign-in; and the
// last attempts with the precise reason of each refusal.
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import { attributesFor } from '../accounts/claims.ts';
import { seenBy } from '../accounts/view.ts';
import type { Application } from '../applications/application.ts';
import type { Applications } from '../applications/applications.ts';
import type { Audit, AuditEntry } from '../audit/audit.ts';
import type { AuditEventType } from '../audit/events.ts';
import type { Received, ReceivedHere } from '../oidc/received.ts';
import type { Db } from '../platform/db.ts';
import type { SignInGuard } from '../rate-limits/sign-in-guard.ts';
import type { Refusal, Refusals } from '../refusals/refusals.ts';

export interface Reason {
  label: string;
  isMet: boolean;
  explanation: string;
}

export interface Verdict {
  mayOpen: boolean;
  reasons: Reason[];
}

export interface WouldReceive {
  oidc?: Received;
  /** A SAML application: attributes, and the identifier that it would get. */
  saml?: { nameId: string; attributes: Record<string, string[]> };
}

export interface WhyAdmin {
  /** By id, user name or e-mail address. */
  findUser(text: string): Promise<Account | undefined>;
  /** By id, client_id, entity ID or name. */
  findApplication(text: string): Promise<Application | undefined>;
  verdict(account: Account, application: Application): Promise<Verdict>;
  wouldReceive(account: Account, application: Application): Promise<WouldReceive>;
  /** Newest first, of this person, application or request. */
  attempts(about: {
    userId?: string;
    clientId?: string;
    requestId?: string;
  }): Promise<{ events: AuditEntry[]; refusals: Refusal[] }>;
}

export interface WhyNeeds {
  db: Db;
  accounts: Pick<Accounts, 'find' | 'findByLogin'>;
  applications: Pick<Applications, 'get' | 'find' | 'list'>;
  audit: Pick<Audit, 'list'>;
  refusals: Pick<Refusals, 'list'>;
  signInGuard: Pick<SignInGuard, 'lockedSeconds'>;
  received: Pick<ReceivedHere, 'preview'>;
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
const SHOWN = 30;

export function createWhy(needs: WhyNeeds): WhyAdmin {
  const { db, accounts, applications, audit, refusals, signInGuard, received } = needs;

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
      const { access } = application;
      const held = access === 'everyone' ? [] : access.roles.filter((role) => account.roles.includes(role));
      const lockedSeconds = await signInGuard.lockedSeconds(account.username);
      const reasons: Reason[] = [
        {
          label: 'The account is active',
          isMet: account.isActive,
          explanation: account.isActive ? '' : 'It is disabled.',
        },
        {
          label: 'The application is enabled',
          isMet: application.enabled,
          explanation: application.enabled ? '' : 'It is switched off.',
        },
        {
          label: 'A role of theirs opens it',
          isMet: access === 'everyone' || held.length > 0,
          explanation:
            access === 'everyone'
              ? 'It is open to everyone.'
              : held.length > 0
                ? `By the role ${held.join(', ')}.`
                : `It is open to ${access.roles.join(', ')}; they have ${account.roles.join(', ') || 'no roles'}.`,
        },
        {
          label: 'They may try a password',
          isMet: lockedSeconds === 0,
          explanation:
            lockedSeconds === 0
              ? ''
              : `Too many wrong passwords: a new browser waits another ${Math.ceil(lockedSeconds / 60)} minutes.`,
        },
      ];
      return { mayOpen: reasons.slice(0, 3).every(({ isMet }) => isMet), reasons };
    },

    async wouldReceive(account, application) {
      if (application.protocol === 'oidc') {
        const scope = application.metadata.scope ?? 'openid profile email phone roles permissions';
        const oidc = await received.preview(application.clientId, account, scope);
        return oidc ? { oidc } : {};
      }
      const { metadata, id } = application;
      const stored = await db.samlNameId.findUnique({
        where: { userId_applicationId: { userId: account.id, applicationId: id } },
        select: { value: true },
      });
      const format = metadata.name_id_format ?? 'persistent';
      const nameIds: Record<string, string> = {
        persistent: stored?.value ?? 'a random one, made at the first sign-in',
        transient: 'a new random one at each sign-in',
        emailAddress:
          account.email && account.emailVerified ? account.email : 'none: the e-mail address is not confirmed',
        unspecified: account.username,
      };
      return {
        saml: {
          nameId: `${nameIds[format] ?? ''} (${format})`,
          attributes: attributesFor(seenBy(account, metadata), metadata.attributes),
        },
      };
    },

    async attempts({ userId, clientId, requestId }) {
      const about = {
        ...(userId && { subjectId: userId }),
        ...(clientId && { clientId }),
        ...(requestId && { requestId }),
      };
      const [events, kept] = await Promise.all([
        audit.list({ ...about, ...(requestId ? {} : { types: ATTEMPTS }), limit: SHOWN }),
        refusals.list({ ...about, limit: SHOWN }),
      ]);
      return { events, refusals: kept.refusals };
    },
  };
}
