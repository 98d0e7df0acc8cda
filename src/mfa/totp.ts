// Time-based one-time codes (seed 5.6, RFC 6238). The only importer of otplib. A secret counts only after a code proved
// that the app has it; until then it travels in the form, sealed, so that an abandoned enrolment leaves nothing behind
// and a replacement does not touch the factor in use.
import { createGuardrails, generateSecret, generateURI, ScureBase32Plugin, verify } from 'otplib';
import type { Audit, By } from '../audit/audit.ts';
import { badRequest } from '../http/errors.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import { type Db, type Tx, transaction } from '../platform/db.ts';
import type { Vault } from '../platform/vault.ts';

export interface TotpEnrolment {
  /** Base32, to be typed where no camera is at hand. */
  secret: string;
  /** For the QR code. */
  uri: string;
  /** Goes into the form and comes back with the first code. */
  sealed: string;
}

export type TotpOutcome = 'ok' | 'wrong' | 'replayed' | 'not-enrolled';

export interface Totp {
  begin(account: { id: string; username: string }): TotpEnrolment;
  /** The same enrolment again, for the page that is shown after a wrong code. */
  resume(account: { id: string; username: string }, sealed: string): TotpEnrolment | undefined;
  /** `again`: the form was sent twice, and this secret is in use already. */
  confirm(
    account: { id: string },
    sealed: string,
    code: string,
    by?: By,
  ): Promise<'ok' | 'again' | 'wrong' | 'expired'>;
  /** A code works once, also when it is sent twice at the same moment. */
  verify(userId: string, code: string): Promise<TotpOutcome>;
  /** A secret from the configuration file or another system. Does nothing when it is the one in use. */
  importSecret(userId: string, secret: string, by?: By, tx?: Tx): Promise<void>;
  remove(userId: string, by?: By, tx?: Tx): Promise<boolean>;
  isEnrolled(userId: string, tx?: Tx): Promise<boolean>;
}

export interface TotpNeeds {
  db: Db;
  vault: Vault;
  now: Clock;
  audit: Audit;
  /** Shown in the app beside the account name: the host of the issuer. */
  issuerName: string;
}

const { digits, stepSeconds, window, secretBytes, minSecretBytes } = limits.totp;
const ENROLMENT_SECONDS = limits.interaction.seconds;
const guardrails = createGuardrails({ MIN_SECRET_BYTES: minSecretBytes });
const base32 = new ScureBase32Plugin();
const context = (userId: string) => `totp_credentials:${userId}`;
const pendingContext = (userId: string) => `totp enrolment:${userId}`;

export function createTotp({ db, vault, now, audit, issuerName }: TotpNeeds): Totp {
  const epoch = () => Math.floor(now().getTime() / 1000);

  /** The time step whose code this is. */
  async function stepOf(secret: string, typed: string): Promise<number | undefined> {
    const token = typed.normalize('NFKC').replace(/[\s-]/g, ''); // apps show "123 456"
    if (!new RegExp(`^\\d{${digits}}$`).test(token)) return undefined;
    const result = await verify({
      secret,
      token,
      digits,
      period: stepSeconds,
      epoch: epoch(),
      epochTolerance: window * stepSeconds,
      guardrails,
    });
    return result.valid ? Math.floor(epoch() / stepSeconds) + result.delta : undefined;
  }

  function describe(account: { id: string; username: string }, secret: string, sealed: string): TotpEnrolment {
    const uri = generateURI({ issuer: issuerName, label: account.username, secret, digits, period: stepSeconds });
    return { secret, uri, sealed };
  }

  function openPending(userId: string, sealed: string): string | undefined {
    try {
      const { secret, until } = JSON.parse(vault.open(sealed, pendingContext(userId)).toString()) as {
        secret: string;
        until: number;
      };
      return until > epoch() ? secret : undefined;
    } catch {
      return undefined; // another account's, or changed on the way
    }
  }

  async function store(tx: Tx, userId: string, secret: string, lastStep: number, by: By): Promise<void> {
    const row = { secretSealed: vault.seal(secret, context(userId)), confirmedAt: now(), lastStep: BigInt(lastStep) };
    await tx.totpCredential.upsert({ where: { userId }, create: { userId, ...row }, update: row });
    await audit.record({ ...by, type: 'totp.enrolled', outcome: 'success', subjectId: userId }, tx);
  }

  const secretInUse = (row: { secretSealed: string }, userId: string) =>
    vault.open(row.secretSealed, context(userId)).toString();

  return {
    begin(account) {
      const secret = generateSecret({ length: secretBytes });
      const pending = JSON.stringify({ secret, until: epoch() + ENROLMENT_SECONDS });
      return describe(account, secret, vault.seal(pending, pendingContext(account.id)));
    },

    resume(account, sealed) {
      const secret = openPending(account.id, sealed);
      return secret === undefined ? undefined : describe(account, secret, sealed);
    },

    async confirm(account, sealed, code, by = {}) {
      const secret = openPending(account.id, sealed);
      if (secret === undefined) return 'expired';
      const step = await stepOf(secret, code);
      if (step === undefined) return 'wrong';
      return transaction(db, async (tx) => {
        const row = await tx.totpCredential.findUnique({ where: { userId: account.id } });
        if (row?.confirmedAt && secretInUse(row, account.id) === secret) return 'again';
        await store(tx, account.id, secret, step, by);
        return 'ok';
      });
    },

    async verify(userId, code) {
      const row = await db.totpCredential.findUnique({ where: { userId } });
      if (!row?.confirmedAt) return 'not-enrolled';
      const step = await stepOf(secretInUse(row, userId), code);
      if (step === undefined) return 'wrong';
      // Only forward, and only for the secret that was looked at: of two equal posts one finds nothing to change.
      const { count } = await db.totpCredential.updateMany({
        where: { userId, lastStep: { lt: BigInt(step) }, secretSealed: row.secretSealed },
        data: { lastStep: BigInt(step) },
      });
      return count === 1 ? 'ok' : 'replayed';
    },

    async importSecret(userId, secret, by = {}, outer) {
      const clean = cleanSecret(secret);
      const work = async (tx: Tx) => {
        const row = await tx.totpCredential.findUnique({ where: { userId } });
        if (row?.confirmedAt && secretInUse(row, userId) === clean) return;
        await store(tx, userId, clean, 0, by);
      };
      await (outer ? work(outer) : transaction(db, work));
    },

    async remove(userId, by = {}, outer) {
      const work = async (tx: Tx) => {
        const { count } = await tx.totpCredential.deleteMany({ where: { userId } });
        if (count > 0) await audit.record({ ...by, type: 'totp.removed', outcome: 'success', subjectId: userId }, tx);
        return count > 0;
      };
      return outer ? work(outer) : transaction(db, work);
    },

    async isEnrolled(userId, tx = db) {
      const row = await tx.totpCredential.findUnique({ where: { userId }, select: { confirmedAt: true } });
      return Boolean(row?.confirmedAt);
    },
  };
}

/** Base32 as people write it, in its canonical form; throws invalid_input when it is none, or too short. */
export function cleanSecret(secret: string): string {
  const text = secret.replace(/[\s-]/g, '').replace(/=+$/, '').toUpperCase();
  try {
    if (base32.decode(text).length >= minSecretBytes) return text;
  } catch {
    // falls through to the same refusal
  }
  const message = `Give at least ${minSecretBytes} bytes in base32 (A to Z, 2 to 7).`;
  throw badRequest('invalid_input', { fields: [{ field: 'totp_secret', message }] });
}
