// Self-registration, behind the setting `self_registration`. Whoever asks is told the same whether the address has an
// account or not; the mail tells its owner. The account is made only when the link in that mail is used, with a proven
// address, so nobody can take an address that is not theirs, and no half-made account is left behind.
//
// The link carries the address itself, sealed: there is no row to keep. It is good once, because afterwards the address
// belongs to an account. The address is the user name, too: a choice of names would tell which are taken.
import type { Account } from '../accounts/account.ts';
import type { Accounts } from '../accounts/accounts.ts';
import type { Audit } from '../audit/audit.ts';
import type { Credentials } from '../credentials/credentials.ts';
import type { LinkOutcome } from '../credentials/password-by-link.ts';
import { AppError } from '../http/errors.ts';
import { limits } from '../limits.ts';
import type { DraftWriter } from '../mail/delivery.ts';
import { recipientOf } from '../mail/messages.ts';
import type { Outbox } from '../mail/outbox.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, transaction } from '../platform/db.ts';
import { randomId } from '../platform/random.ts';
import type { RequestInfo } from '../platform/request-info.ts';
import type { Vault } from '../platform/vault.ts';
import type { MailLimits } from '../rate-limits/mail-limits.ts';

export interface Registration {
  isOpen(): boolean;
  /** Notes that somebody wants an account with this address. */
  request(email: string, request: RequestInfo): Promise<void>;
  writeMail: DraftWriter;
  /** The address that a live link is for. */
  find(token: string): Promise<string | undefined>;
  finish(token: string, person: { name: string; password: string }, request: RequestInfo): Promise<LinkOutcome>;
}

export interface RegistrationNeeds {
  db: Db;
  vault: Vault;
  now: Clock;
  audit: Audit;
  accounts: Pick<Accounts, 'findByLogin' | 'create'>;
  credentials: Pick<Credentials, 'preparePassword'>;
  outbox: Outbox;
  mailLimits: Pick<MailLimits, 'to'>;
  /** The setting `self_registration`. */
  isOpen(): boolean;
}

const CONTEXT = 'registration link';
const { hours } = limits.emailVerification;

export function createRegistration(needs: RegistrationNeeds): Registration {
  const { db, vault, now, audit, accounts, credentials, outbox, mailLimits, isOpen } = needs;

  function tokenFor(email: string): string {
    return vault.seal(JSON.stringify({ email, until: now().getTime() + hours * 3_600_000 }), CONTEXT);
  }

  function addressOf(token: string): string | undefined {
    try {
      const { email, until } = JSON.parse(vault.open(token, CONTEXT).toString()) as { email: string; until: number };
      return until > now().getTime() ? email : undefined;
    } catch {
      return undefined; // not one of ours
    }
  }

  async function find(token: string): Promise<string | undefined> {
    const email = isOpen() ? addressOf(token) : undefined;
    return email !== undefined && !(await accounts.findByLogin(email)) ? email : undefined;
  }

  return {
    isOpen,

    request: (typed, request) => outbox.draft('registration', { typed, request }, hours * 3600),

    async writeMail({ typed }, take) {
      const email = typed.normalize('NFC').trim();
      const account = await accounts.findByLogin(email);
      const { allowed } = await mailLimits.to(email, 'registration');
      await transaction(db, async (tx) => {
        if (!(await take(tx)) || !allowed || !isOpen()) return;
        const owner = account?.isActive ? recipientOf(account) : undefined;
        if (owner) await outbox.send({ kind: 'already-registered', to: owner }, tx);
        if (!account) await outbox.send({ kind: 'registration', to: { email }, token: tokenFor(email), hours }, tx);
      });
    },

    find,

    async finish(token, { name, password }, request) {
      const email = await find(token);
      if (email === undefined) return { outcome: 'invalid' };
      const id = randomId();
      const profile = { username: email, email, emailVerified: true, name: name.trim() || null };
      const by = { actorId: id, request };
      const prepared = await credentials.preparePassword(unborn(id, profile, now()), password, by);
      if (prepared.outcome === 'refused') return { outcome: 'refused', faults: prepared.faults };
      try {
        await transaction(db, async (tx) => {
          await accounts.create({ id, ...profile }, by, tx);
          await prepared.store(tx);
          await audit.record({ ...by, type: 'account.registered', outcome: 'success', subjectId: id }, tx);
        });
      } catch (error) {
        // Two posts of one link: the unique address lets one of them through.
        if (error instanceof AppError && error.status === 409) return { outcome: 'invalid' };
        throw error;
      }
      return { outcome: 'done' };
    },
  };
}

// What the password rules look at, before there is a row.
function unborn(
  id: string,
  profile: Pick<Account, 'username' | 'email' | 'emailVerified' | 'name'>,
  at: Date,
): Account {
  return {
    ...profile,
    id,
    givenName: null,
    familyName: null,
    picture: null,
    locale: null,
    zoneinfo: null,
    phoneNumber: null,
    attributes: {},
    ssoId: null,
    isActive: true,
    source: 'local',
    createdAt: at,
    updatedAt: at,
    roles: [],
    permissions: [],
  };
}
