// The second factors of an account, loaded by one hot statement, because the policy needs them at every sign-in.

import { type Tx, transaction } from '../../base/storage/database.ts';
import { hotStatements } from '../../base/storage/statements.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../accounts/account.ts';
import { isStaff } from '../rbac/built-in.ts';
import type { Passkeys } from './factors/passkeys.ts';
import type { Phones } from './factors/phone-number.ts';
import type { RecoveryCodes } from './factors/recovery-codes.ts';
import type { Totp } from './factors/totp.ts';
import { allowReplacement } from './first-enrolment-rule.ts';
import { type FactorRule, type FactorSet, type FactorSettings, hasSecondFactor } from './policy.ts';

export type OwnFactors = FactorSet & {
  /** The verified number for codes by SMS. */
  phone: string | undefined;
};

/** A factor as administrators see it. */
export interface FactorView {
  /** `totp`, `phone`, `recovery-codes`, or `passkey-` and the ID of the credential. */
  id: string;
  kind: 'totp' | 'passkey' | 'phone' | 'recovery-codes';
  /** The name of a passkey, the number of a phone. */
  name: string | null;
  addedAt: Date | null;
  lastUsedAt: Date | null;
  /** Recovery codes that are not used yet. */
  left?: number;
}

/** No other factor has an ID that begins so. */
const PASSKEY = 'passkey-';

interface Row {
  totp: number | bigint;
  passkeys: number | bigint;
  verifyingPasskeys: number | bigint;
  phone: string | null;
  phoneMac: string | null;
  recoveryCodes: number | bigint;
}

export const statements = hotStatements('factors', {
  of: `SELECT (SELECT COUNT(*) FROM totp_credentials WHERE user_id = ? AND confirmed_at IS NOT NULL) AS "totp",
    (SELECT COUNT(*) FROM passkeys WHERE user_id = ?) AS "passkeys",
    (SELECT COUNT(*) FROM passkeys WHERE user_id = ? AND user_verified) AS "verifyingPasskeys",
    (SELECT number FROM phone_factors WHERE user_id = ?) AS "phone",
    (SELECT mac FROM phone_factors WHERE user_id = ?) AS "phoneMac",
    (SELECT COUNT(*) FROM recovery_codes WHERE user_id = ? AND used_at IS NULL) AS "recoveryCodes"`,
});

export function createFactors(
  dependencies: Core & { totp: Totp; passkeys: Passkeys; phones: Phones; recoveryCodes: RecoveryCodes },
) {
  const { db, sql, now, audit, totp, passkeys, phones, recoveryCodes } = dependencies;

  async function factorsOf(userId: string, tx?: Tx): Promise<OwnFactors> {
    const [row] = await (tx ? sql.in(tx) : sql).query<Row>(statements.of, ...Array<string>(6).fill(userId));
    const isPhoneGenuine =
      row?.phone && sql.macs.isGenuine('phone_factors', { userId, number: row.phone }, row.phoneMac ?? '');
    return {
      totp: Number(row?.totp ?? 0) > 0,
      passkeys: Number(row?.passkeys ?? 0),
      verifyingPasskeys: Number(row?.verifyingPasskeys ?? 0),
      phone: isPhoneGenuine ? (row.phone ?? undefined) : undefined,
      recoveryCodes: Number(row?.recoveryCodes ?? 0),
    };
  }

  return {
    of: factorsOf,
    /** For the password rules: 8 characters suffice with a second factor. */
    hasSecondFactor: async (userId: string, tx?: Tx): Promise<boolean> => hasSecondFactor(await factorsOf(userId, tx)),

    /** Whether this is the last of the factors with which a password of 8 characters suffices (`hasSecondFactor`). A phone is none of them. */
    async isLast(userId: string, without: { totp: true } | { passkeyId: string }, tx: Tx = db): Promise<boolean> {
      const factors = await factorsOf(userId, tx);
      if ('totp' in without) return factors.totp && factors.passkeys === 0;
      const isOwn = (await tx.passkey.count({ where: { userId, id: without.passkeyId } })) === 1;
      return isOwn && factors.passkeys === 1 && !factors.totp;
    },

    /** One by one. A forged phone number, which is no factor, is not listed. */
    async list(userId: string): Promise<FactorView[]> {
      const where = { userId };
      const [{ phone: number }, app, keys, phone, codes] = await Promise.all([
        factorsOf(userId),
        db.asStored.totpCredential.findUnique({ where }),
        passkeys.list(userId),
        db.asStored.phoneFactor.findUnique({ where }),
        db.asStored.recoveryCode.findMany({ where }),
      ]);
      const list: FactorView[] = keys.map(({ id, name, createdAt: addedAt, lastUsedAt }) => ({
        id: `${PASSKEY}${id}`,
        kind: 'passkey',
        name,
        addedAt,
        lastUsedAt,
      }));
      if (app?.confirmedAt)
        list.push({ id: 'totp', kind: 'totp', name: null, addedAt: app.confirmedAt, lastUsedAt: lastUseOf(app) });
      if (number && phone) {
        const { confirmedAt: addedAt, lastUsedAt } = phone;
        list.push({ id: 'phone', kind: 'phone', name: number, addedAt, lastUsedAt });
      }
      const [code] = codes;
      if (code) {
        const lastUse = Math.max(...codes.map(({ usedAt }) => usedAt?.getTime() ?? 0));
        const lastUsedAt = lastUse > 0 ? new Date(lastUse) : null;
        const left = codes.filter(({ usedAt }) => usedAt === null).length;
        list.push({
          id: 'recovery-codes',
          kind: 'recovery-codes',
          name: null,
          addedAt: code.createdAt,
          lastUsedAt,
          left,
        });
      }
      return list;
    },

    /**
     * Removes the factor with this ID of `list`, for administrators; returns whether the account had it. After the last one the user may set
     * up another, as after `reset`.
     */
    remove: (userId: string, id: string, by: Actor): Promise<boolean> =>
      transaction(db, async (tx) => {
        if (id === 'recovery-codes') return recoveryCodes.remove(userId, by, tx);
        const isRemoved = id.startsWith(PASSKEY)
          ? await passkeys.remove(userId, id.slice(PASSKEY.length), by, tx)
          : (id === 'totp' && (await totp.remove(userId, by, tx))) ||
            (id === 'phone' && (await phones.remove(userId, by, tx)));
        if (!isRemoved) return false;
        const { totp: hasTotp, passkeys: keys, phone } = await factorsOf(userId, tx);
        if (!hasTotp && keys === 0 && phone === undefined) await allowReplacement(tx, userId, now());
        return true;
      }),

    /** Removes all factors of a user who lost them; for administrators. */
    reset: (userId: string, by: Actor = {}): Promise<void> =>
      transaction(db, async (tx) => {
        const { totp: hasTotp, passkeys: keys, phone } = await factorsOf(userId, tx);
        const hadFactor = hasTotp || keys > 0 || phone !== undefined;
        await totp.remove(userId, by, tx);
        await passkeys.removeAll(userId, by, tx);
        await phones.remove(userId, by, tx);
        await recoveryCodes.remove(userId, by, tx);
        // Users cannot allow a new factor to themselves, unless they had one, which they have proven.
        if (by.actorId !== userId || hadFactor) await allowReplacement(tx, userId, now());
        await audit.record({ ...by, type: 'factors.reset', outcome: 'success', subjectId: userId }, tx);
      }),
  };
}

/** When a code of the app was last entered: the time step of the code (RFC 6238, section 4.2). */
const lastUseOf = ({ lastStep, period }: { lastStep: bigint; period: number }): Date | null =>
  lastStep > 0n ? new Date(Number(lastStep) * period * 1000) : null;

/** What the setting `admin_mfa` demands of users with a right in Gatehouse. */
export function staffRule({ admin_mfa: rule }: FactorSettings, account: Account): FactorRule {
  if (rule === 'optional' || !isStaff(account)) return undefined;
  return rule === 'required' ? 'mfa' : rule;
}
