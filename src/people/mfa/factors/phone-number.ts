// The phone number for codes by SMS. It is stored when the user enters a code that was sent to it. Until then it
// travels in the form, sealed, so that an abandoned enrolment leaves nothing in the database.

import { z } from 'zod';
import { limits } from '../../../base/limits.ts';
import { openInTime, sealForATime } from '../../../base/platform/sealed-for-a-time.ts';
import { type Tx, transaction, withinTransaction } from '../../../base/storage/database.ts';
import type { Actor } from '../../../core/audit/audit.ts';
import type { Core } from '../../../core/core.ts';
import { clearResetByMail } from '../first-enrolment-rule.ts';
import type { CodeOutcome, OneTimeCodes } from './one-time-codes.ts';

export interface PhoneEnrolment {
  number: string;
  /** Goes into the form and comes back with the code. */
  sealed: string;
  /** To be sent to the number now. */
  code: string;
}

export type Phones = ReturnType<typeof createPhones>;

const context = (userId: string) => `phone enrolment:${userId}`;

export function createPhones(core: Core & { oneTimeCodes: OneTimeCodes }) {
  const { db, now, audit, oneTimeCodes } = core;
  function resume(userId: string, sealed: string): string | undefined {
    return openInTime(core, context(userId), z.string(), sealed);
  }

  async function prove(userId: string, sealed: string, code: string): Promise<CodeOutcome> {
    const number = resume(userId, sealed);
    return number === undefined ? 'expired' : oneTimeCodes.verify(userId, 'phone', number, code);
  }

  return {
    /** The number of an enrolment that goes on, for the page after a wrong code. */
    resume,
    /** Whether the code of an enrolment is correct; stores nothing. */
    prove,

    async begin(userId: string, number: string): Promise<PhoneEnrolment> {
      const sealed = sealForATime(core, context(userId), number, limits.oneTimeCode.seconds);
      return { number, sealed, code: await oneTimeCodes.issue(userId, 'phone', number) };
    },

    async confirm(userId: string, sealed: string, code: string, by: Actor = {}): Promise<CodeOutcome> {
      const number = resume(userId, sealed);
      if (number === undefined) return 'expired';
      const outcome = await prove(userId, sealed, code);
      if (outcome !== 'ok') return outcome;
      await transaction(db, async (tx) => {
        const row = { number, confirmedAt: now(), lastUsedAt: null };
        await tx.phoneFactor.upsert({ where: { userId }, create: { userId, ...row }, update: row });
        await clearResetByMail(tx, userId);
        const data = { number: maskNumber(number) };
        await audit.record({ ...by, type: 'phone.confirmed', outcome: 'success', subjectId: userId, data }, tx);
      });
      return 'ok';
    },

    /** A code that was sent to this number was entered in a sign-in. */
    async used(userId: string, number: string): Promise<void> {
      await db.phoneFactor.updateMany({ where: { userId, number }, data: { lastUsedAt: now() } });
    },

    remove: (userId: string, by: Actor = {}, outer?: Tx): Promise<boolean> =>
      withinTransaction(db, outer, async (tx) => {
        const { count } = await tx.phoneFactor.deleteMany({ where: { userId } });
        if (count > 0) await audit.record({ ...by, type: 'phone.removed', outcome: 'success', subjectId: userId }, tx);
        return count > 0;
      }),
  };
}

/** A typed number in the format of E.164; undefined when it is not a phone number. */
export function phoneNumber(typed: string): string | undefined {
  const digits = typed
    .normalize('NFKC')
    .replace(/[\s().\-/]/g, '')
    .replace(/^00/, '+');
  return /^\+[1-9]\d{6,14}$/.test(digits) ? digits : undefined;
}

/** `+49•••••67`, which only its owner recognizes. */
export function maskNumber(number: string): string {
  return `${number.slice(0, 3)}•••••${number.slice(-2)}`;
}
