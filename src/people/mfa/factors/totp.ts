// Time-based one-time codes of an authenticator app (RFC 6238). A secret is stored when a
// code proves that the app has it. Until then it travels in the form, sealed, so that an abandoned enrolment leaves
// nothing in the database and does not affect the present factor.

import { createGuardrails, generateSecret, generateURI, verify } from 'otplib';
import { z } from 'zod';
import type { Base } from '../../../base/base.ts';
import { limits } from '../../../base/limits.ts';
import type { Clock } from '../../../base/platform/clock.ts';
import { openInTime, sealForATime } from '../../../base/platform/sealed-for-a-time.ts';
import type { Vault } from '../../../base/platform/vault.ts';
import { type Tx, transaction, withinTransaction } from '../../../base/storage/database.ts';
import type { Actor } from '../../../core/audit/audit.ts';
import type { Core } from '../../../core/core.ts';
import { clearResetByMail } from '../first-enrolment-rule.ts';
import { defaultParameters, parseTotpKey, type TotpKey, totpKeyText } from './totp-key.ts';

export interface TotpEnrolment {
  /** Base32, to be typed instead of scanned. */
  secret: string;
  /** For the QR code. */
  uri: string;
  /** Goes into the form and comes back with the first code. */
  sealed: string;
}

export type TotpOutcome = 'ok' | 'wrong' | 'replayed' | 'not-enrolled';

export type Totp = ReturnType<typeof createTotp>;

const { window, secretBytes, minSecretBytes } = limits.totp;
const ENROLMENT_SECONDS = limits.interaction.seconds;
const guardrails = createGuardrails({ MIN_SECRET_BYTES: minSecretBytes });
const context = (userId: string) => `totp_credentials:${userId}`;
const pendingContext = (userId: string) => `totp enrolment:${userId}`;

export function createTotp(
  dependencies: Core & {
    /** What the app displays beside the username: the name of the brand, or the host of the issuer. */
    issuerName(): string;
  },
) {
  const { db, vault, audit, issuerName } = dependencies;
  return {
    begin(account: { id: string; username: string }): TotpEnrolment {
      const secret = generateSecret({ length: secretBytes });
      const pending = sealForATime(dependencies, pendingContext(account.id), secret, ENROLMENT_SECONDS);
      return describe(issuerName(), account.username, secret, pending);
    },

    /** The enrolment that goes on, for the page after a wrong code. */
    resume(account: { id: string; username: string }, sealed: string): TotpEnrolment | undefined {
      const secret = openPending(dependencies, account.id, sealed);
      return secret === undefined ? undefined : describe(issuerName(), account.username, secret, sealed);
    },

    /** `again`: the form was sent twice, and this secret is stored already. */
    confirm: (
      account: { id: string },
      sealed: string,
      code: string,
      by: Actor = {},
    ): Promise<'ok' | 'again' | 'wrong' | 'expired'> => confirm(dependencies, account.id, { sealed, code }, by),
    /** A code works once, also when it is sent twice in parallel. */
    verify: (userId: string, code: string): Promise<TotpOutcome> => verifyOnce(dependencies, userId, code),

    /** A key from the configuration file or another system (parseTotpKey). Changes nothing when it is stored already. */
    async importSecret(userId: string, text: string, by: Actor = {}, outer?: Tx): Promise<void> {
      const key = parseTotpKey(text);
      await withinTransaction(db, outer, async (tx) => {
        const row = await tx.totpCredential.findUnique({ where: { userId } });
        if (isInUse(vault, row, key)) return;
        await store(dependencies, tx, { userId, key, lastStep: 0 }, by);
      });
    },

    remove: (userId: string, by: Actor = {}, outer?: Tx): Promise<boolean> =>
      withinTransaction(db, outer, async (tx) => {
        const { count } = await tx.totpCredential.deleteMany({ where: { userId } });
        if (count > 0) await audit.record({ ...by, type: 'totp.removed', outcome: 'success', subjectId: userId }, tx);
        return count > 0;
      }),

    async isEnrolled(userId: string, tx: Tx = db): Promise<boolean> {
      const row = await tx.totpCredential.findUnique({ where: { userId }, select: { confirmedAt: true } });
      return Boolean(row?.confirmedAt);
    },
  };
}

async function confirm(
  dependencies: Core,
  userId: string,
  { sealed, code }: { sealed: string; code: string },
  by: Actor,
): Promise<'ok' | 'again' | 'wrong' | 'expired'> {
  const { db, vault, now } = dependencies;
  const secret = openPending(dependencies, userId, sealed);
  if (secret === undefined) return 'expired';
  const key: TotpKey = { secret, ...defaultParameters };
  const step = await stepOf(now, key, code);
  if (step === undefined) return 'wrong';
  return transaction(db, async (tx) => {
    const row = await tx.totpCredential.findUnique({ where: { userId } });
    if (isInUse(vault, row, key)) return 'again';
    await store(dependencies, tx, { userId, key, lastStep: step }, by);
    return 'ok';
  });
}

async function verifyOnce({ db, vault, now }: Base, userId: string, code: string): Promise<TotpOutcome> {
  const row = await db.totpCredential.findUnique({ where: { userId } });
  if (!row?.confirmedAt) return 'not-enrolled';
  const key = keyInUse(vault, row);
  const step = key && (await stepOf(now, key, code));
  if (step === undefined) return 'wrong';
  // Only to a later step, and only for this secret: of two equal requests one changes nothing.
  const { count } = await db.totpCredential.updateMany({
    where: { userId, lastStep: { lt: BigInt(step) }, secretSealed: row.secretSealed },
    data: { lastStep: BigInt(step) },
  });
  return count === 1 ? 'ok' : 'replayed';
}

async function store(
  { vault, now, audit }: Core,
  tx: Tx,
  { userId, key, lastStep }: { userId: string; key: TotpKey; lastStep: number },
  by: Actor,
): Promise<void> {
  const { secret: _secret, ...parameters } = key;
  const row = {
    ...parameters,
    // With its parameters, where they are not the usual ones.
    secretSealed: vault.seal(totpKeyText(key), context(userId)),
    confirmedAt: now(),
    lastStep: BigInt(lastStep),
  };
  await tx.totpCredential.upsert({ where: { userId }, create: { userId, ...row }, update: row });
  await clearResetByMail(tx, userId);
  await audit.record({ ...by, type: 'totp.enrolled', outcome: 'success', subjectId: userId }, tx);
}

interface StoredKey {
  userId: string;
  secretSealed: string;
  algorithm: string;
  digits: number;
  period: number;
}

/** The stored key. Undefined when another program changed how its codes are made, such as to one digit. */
function keyInUse(vault: Vault, { userId, secretSealed, algorithm, digits, period }: StoredKey): TotpKey | undefined {
  const text = vault.open(secretSealed, context(userId)).toString();
  const [secret = ''] = text.split(' ');
  // Only parsed keys are stored.
  const key = { secret, algorithm, digits, period } as TotpKey;
  return totpKeyText(key) === text ? key : undefined;
}

function isInUse(vault: Vault, row: (StoredKey & { confirmedAt: Date | null }) | null, key: TotpKey): boolean {
  const stored = row?.confirmedAt ? keyInUse(vault, row) : undefined;
  return stored !== undefined && totpKeyText(stored) === totpKeyText(key);
}

/** The secret of an enrolment that goes on; undefined when it has expired. */
const openPending = (base: Base, userId: string, sealed: string): string | undefined =>
  openInTime(base, pendingContext(userId), z.string(), sealed);

function describe(issuer: string, label: string, secret: string, sealed: string): TotpEnrolment {
  return { secret, uri: generateURI({ issuer, label, secret, ...defaultParameters }), sealed };
}

/** The time step that this code belongs to; undefined for a wrong code. */
async function stepOf(
  now: Clock,
  { secret, algorithm, digits, period }: TotpKey,
  typed: string,
): Promise<number | undefined> {
  const token = typed.normalize('NFKC').replace(/[\s-]/g, ''); // apps show "123 456"
  if (!new RegExp(`^\\d{${digits}}$`).test(token)) return undefined;
  const result = await verify({
    secret,
    token,
    algorithm,
    digits,
    period,
    epoch: epochSeconds(now),
    epochTolerance: window * period,
    guardrails,
  });
  return result.valid ? Math.floor(epochSeconds(now) / period) + result.delta : undefined;
}

function epochSeconds(now: Clock): number {
  return Math.floor(now().getTime() / 1000);
}
