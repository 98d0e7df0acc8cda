// Self-registration, while the setting `self_registration` is on. The response is the same whether the address has an
// account or not; the mail tells its owner. The account is created when the link in that mail is used, with a verified
// address: so no user can take the address of another, and no unfinished account is left in the database.
//
// The link contains the address itself, sealed, and the id of the invitation code where the setting `sign_up_code_required` demands one;
// nothing else is stored. It works once, because afterwards the address has an account. A use of the code is counted when the account is created. The address is also the username, because choosing a name would reveal which names are taken.

import type { Base } from '../../base/base.ts';
import { AppError } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { randomId } from '../../base/platform/random.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import { transaction } from '../../base/storage/database.ts';
import type { Core } from '../../core/core.ts';
import type { DeferredWriter } from '../../core/mail/delivery.ts';
import { recipientOf } from '../../core/mail/messages.ts';
import type { Account } from '../../people/accounts/account.ts';
import { nameKey } from '../../people/accounts/names.ts';
import { emptyProfile } from '../../people/accounts/profile-fields.ts';
import type { People } from '../../people/people.ts';
import type { LinkOutcome } from '../mailed-links/set-password.ts';

export type SelfRegistration = ReturnType<typeof createSelfRegistration>;

/** What a link contains. */
interface Invitation {
  email: string;
  codeId?: string | undefined;
}

const CONTEXT = 'registration link';
const { hours } = limits.emailVerification;

export function createSelfRegistration(
  dependencies: Core &
    People & {
      /** The setting `self_registration`. */
      isOpen(): boolean;
      /** The setting `sign_up_code_required`. */
      needsCode(): boolean;
      /** The setting `sign_up_domains`. */
      domains(): readonly string[];
    },
) {
  const { db, accounts, outbox, mailLimits, isOpen, needsCode, signUpCodes: codes, repeatedEntries } = dependencies;
  const accepts = (email: string) => isAccepted(email, dependencies.domains());
  return {
    isOpen,
    /** Whether accounts with this address may be created: it is in one of the domains of the settings. */
    accepts,

    /** Whether an account takes an invitation code. */
    needsCode,

    /** The id of a usable invitation code; undefined, and an entry in the audit log, for any other. */
    async checkCode(typed: string, request: RequestInfo): Promise<string | undefined> {
      const found = await codes.find(typed);
      if ('code' in found) return found.code.id;
      const reason = found.fault === 'unknown' ? 'unknown_code' : found.fault;
      await repeatedEntries.record({ type: 'sign-up-code.rejected', outcome: 'failure', reason, request });
      return undefined;
    },

    /** Stores the request for an account with this address. */
    request: (typed: string, codeId: string | undefined, request: RequestInfo): Promise<void> =>
      outbox.defer('registration', { typed, request, codeId }, hours * 3600),

    writeMail: (async ({ typed, request, codeId }, take) => {
      const email = typed.normalize('NFC').trim();
      const account = await accounts.findByLogin(email);
      const { allowed } = await mailLimits.to(email, 'registration');
      await transaction(db, async (tx) => {
        if (!(await take(tx)) || !allowed || !isOpen() || !accepts(email)) return;
        const owner = account?.isActive ? recipientOf(account, request) : undefined;
        if (owner) await outbox.send({ kind: 'already-registered', to: owner }, tx);
        if (account) return;
        const token = tokenFor(dependencies, { email, codeId });
        await outbox.send(
          {
            kind: 'registration',
            to: { email, pageLanguage: request?.language, application: request?.application },
            token,
            hours,
          },
          tx,
        );
      });
    }) satisfies DeferredWriter,

    /** The address of a usable link. */
    find: async (token: string): Promise<string | undefined> => (await findInvitation(dependencies, token))?.email,
    /** Creates the account with its password. */
    finish: (token: string, input: { name: string; password: string }, request: RequestInfo): Promise<LinkOutcome> =>
      finish(dependencies, token, input, request),
  };
}

async function finish(
  dependencies: Core &
    People & {
      /** The setting `sign_up_code_required`. */
      needsCode(): boolean;
      /** The setting `sign_up_domains`. */
      domains(): readonly string[];
      /** The setting `self_registration`. */
      isOpen(): boolean;
    },
  token: string,
  { name, password }: { name: string; password: string },
  request: RequestInfo,
): Promise<LinkOutcome> {
  const { db, now, audit, accounts, credentials, signUpCodes: codes, needsCode } = dependencies;
  const invitation = await findInvitation(dependencies, token);
  if (!invitation) return { outcome: 'invalid' };
  const { email, codeId } = invitation;
  const id = randomId();
  const profile = { username: email, email, emailVerified: true, name: name.trim() || null };
  const by = { actorId: id, request };
  const prepared = await credentials.preparePassword(draftAccount(id, profile, now()), password, by);
  if (prepared.outcome === 'rejected') return { outcome: 'rejected', faults: prepared.faults };
  try {
    return await transaction(db, async (tx) => {
      const code = needsCode() && codeId !== undefined ? await codes.use(codeId, tx) : undefined;
      if (needsCode() && !code) return { outcome: 'invalid' };
      await accounts.create({ id, ...profile }, by, tx);
      await prepared.store(tx);
      const data = code && { codeId: code.id, codeName: code.name };
      await audit.record({ ...by, type: 'account.registered', outcome: 'success', subjectId: id, data }, tx);
      return { outcome: 'done' };
    });
  } catch (error) {
    // The form was sent twice: the unique address lets one request through.
    if (error instanceof AppError && error.status === 409) return { outcome: 'invalid' };
    throw error;
  }
}

/** Whether the address is in one of these domains, or there are none. A subdomain is another domain. */
function isAccepted(email: string, domains: readonly string[]): boolean {
  const domain = nameKey(email.slice(email.lastIndexOf('@') + 1));
  return domains.length === 0 || domains.some((one) => nameKey(one) === domain);
}

/** The content of a usable link: registration is open for its address, which has no account, and its code can be used. */
async function findInvitation(
  dependencies: Base &
    People & {
      /** The setting `sign_up_domains`. */
      domains(): readonly string[];
      /** The setting `self_registration`. */
      isOpen(): boolean;
      /** The setting `sign_up_code_required`. */
      needsCode(): boolean;
    },
  token: string,
): Promise<Invitation | undefined> {
  const { accounts, signUpCodes: codes, domains, isOpen, needsCode } = dependencies;
  const invitation = isOpen() ? invitationIn(dependencies, token) : undefined;
  if (!invitation || !isAccepted(invitation.email, domains())) return undefined;
  const { email, codeId } = invitation;
  if (needsCode() && (codeId === undefined || !(await codes.isUsable(codeId)))) return undefined;
  return (await accounts.findByLogin(email)) ? undefined : invitation;
}

function tokenFor({ vault, now }: Base, { email, codeId }: Invitation): string {
  return vault.seal(JSON.stringify({ email, codeId, until: now().getTime() + hours * 3_600_000 }), CONTEXT);
}

function invitationIn({ vault, now }: Base, token: string): Invitation | undefined {
  try {
    const content = JSON.parse(vault.open(token, CONTEXT).toString()) as Invitation & { until: number };
    return content.until > now().getTime() ? content : undefined;
  } catch {
    return undefined; // not sealed by this server, or modified
  }
}

/** The account before it is stored, for the password rules. */
function draftAccount(
  id: string,
  profile: Pick<Account, 'username' | 'email' | 'emailVerified' | 'name'>,
  at: Date,
): Account {
  return {
    ...emptyProfile,
    ...profile,
    id,
    attributes: {},
    ssoId: null,
    isActive: true,
    source: 'local',
    createdAt: at,
    updatedAt: at,
    roles: [],
    permissions: [],
    groups: [],
  };
}
