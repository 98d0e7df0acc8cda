// Self-registration, while the setting `self_registration` is on. The response is the same whether the address has an
// account or not; the mail tells its owner. The account is created when the link in that mail is used, with a verified
// address: so no user can take the address of another, and no unfinished account is left in the database.
//
// The link contains the address itself, sealed, and the id of the invitation code where the setting `sign_up_code_required` demands one;
// nothing else is stored. It works once, because afterwards the address has an account. A use of the code is counted when the account is
// created. The address is also the username, because choosing a name would reveal which names are taken.

import { z } from 'zod';
import { AppError } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { randomId } from '../../base/platform/random.ts';
import type { RequestInfo } from '../../base/platform/request-info.ts';
import { openInTime, sealForATime } from '../../base/platform/sealed-for-a-time.ts';
import { type Tx, transaction } from '../../base/storage/database.ts';
import type { Core } from '../../core/core.ts';
import type { DeferredWriter } from '../../core/mail/delivery.ts';
import { recipientOf } from '../../core/mail/messages.ts';
import type { Account } from '../../people/accounts/account.ts';
import { NEW_ACTIVITY } from '../../people/accounts/active.ts';
import { isInDomains } from '../../people/accounts/names.ts';
import { emptyProfile } from '../../people/accounts/profile-fields.ts';
import type { People } from '../../people/people.ts';
import { type LinkOutcome, termsField } from '../mailed-links.ts';

/** A new account, once its address is proven. */
export const finishForm = z.object({
  username: z.string().max(254),
  name: z.string().max(200),
  password: z.string().max(4096),
  terms: termsField,
});

export type SelfRegistration = ReturnType<typeof createSelfRegistration>;

type SignUp = Omit<z.output<typeof finishForm>, 'username'>;

/** What the link in the mail contains. */
const signUpLink = z.object({ email: z.string(), codeId: z.string().optional() });

type SignUpLink = z.output<typeof signUpLink>;

const CONTEXT = 'registration link';
const { hours } = limits.emailVerification;

export function createSelfRegistration(services: Core & People) {
  const { db, accounts, outbox, mailLimits, signUpCodes: codes, repeatedEntries, settings } = services;
  const isOpen = () => settings.latest().self_registration;
  const accepts = (email: string) => isInDomains(email, settings.latest().sign_up_domains);
  const needsCode = () => settings.latest().sign_up_code_required;

  /** The content of a usable link: registration is open for its address, which has no account, and its code can be used. */
  async function findLink(token: string): Promise<SignUpLink | undefined> {
    const link = isOpen() ? openInTime(services, CONTEXT, signUpLink, token) : undefined;
    if (!link || !accepts(link.email)) return undefined;
    const { email, codeId } = link;
    if (needsCode() && (codeId === undefined || !(await codes.isUsable(codeId)))) return undefined;
    return (await accounts.findByLogin(email)) ? undefined : link;
  }

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

    writeMail: (async ({ typed, request, codeId }, claim) => {
      const email = typed.normalize('NFC').trim();
      const account = await accounts.findByLogin(email);
      const { allowed } = await mailLimits.to(email, 'registration');
      await transaction(db, async (tx) => {
        if (!(await claim(tx)) || !allowed || !isOpen() || !accepts(email)) return;
        const owner = account?.isActive ? recipientOf(account, request) : undefined;
        if (owner) await outbox.send({ kind: 'already-registered', to: owner }, tx);
        if (account) return;
        const token = sealForATime(services, CONTEXT, { email, codeId }, hours * 3600);
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
    find: async (token: string): Promise<string | undefined> => (await findLink(token))?.email,

    /** Creates the account with its password. */
    async finish(token: string, { name, password, terms }: SignUp, request: RequestInfo): Promise<LinkOutcome> {
      const isCodeNeeded = needsCode();
      const link = await findLink(token);
      if (!link) return { outcome: 'invalid' };
      const { email, codeId } = link;
      const prepared = await prepareRegistration(services, { email, name, password, terms }, request);
      if (prepared.outcome === 'rejected') return prepared;
      try {
        return await transaction(db, async (tx) => {
          const code = isCodeNeeded && codeId !== undefined ? await codes.use(codeId, tx) : undefined;
          if (isCodeNeeded && !code) return { outcome: 'invalid' };
          await prepared.store(tx, code && { codeId: code.id, codeName: code.name });
          return { outcome: 'done' };
        });
      } catch (error) {
        // The form was sent twice: the unique address lets one request through.
        if (error instanceof AppError && error.status === 409) return { outcome: 'invalid' };
        throw error;
      }
    },
  };
}

/** An account with an address that a mailed link has proven, which is its username too; `store` creates it with its password. */
export async function prepareRegistration(
  { accounts, audit, credentials, now }: Core & People,
  { email, name, password, terms }: SignUp & { email: string },
  request: RequestInfo,
) {
  const id = randomId();
  const proof = { emailVerified: true, emailProven: true };
  const profile = { username: email, email, ...proof, name: name.trim() || null };
  const by = { actorId: id, request };
  const prepared = await credentials.preparePassword(draftAccount(id, profile, now()), password, by);
  if (prepared.outcome === 'rejected') return { outcome: 'rejected' as const, faults: prepared.faults };
  return {
    outcome: 'ready' as const,
    id,
    async store(tx: Tx, data?: Record<string, unknown>): Promise<void> {
      await accounts.create({ id, ...profile }, by, tx);
      await prepared.store(tx);
      if (terms) await accounts.acceptTerms(id, terms, by, tx);
      await audit.record({ ...by, type: 'account.registered', outcome: 'success', subjectId: id, data }, tx);
    },
  };
}

/** The account before it is stored, for the password rules. */
function draftAccount(
  id: string,
  profile: Pick<Account, 'username' | 'email' | 'emailVerified' | 'emailProven' | 'name'>,
  at: Date,
): Account {
  return {
    ...emptyProfile,
    ...profile,
    id,
    attributes: {},
    ssoId: null,
    ...NEW_ACTIVITY,
    source: 'local',
    termsVersion: null,
    termsAcceptedAt: null,
    deleteAt: null,
    createdAt: at,
    updatedAt: at,
    lastSeenAt: at,
    roles: [],
    permissions: [],
    groups: [],
  };
}
