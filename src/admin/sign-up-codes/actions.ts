// Sign-up codes, as administrators use them: created, listed and revoked. An administrator who may create one may also turn the demand for codes off
// (gatehouse.settings:write-security), so a code gives nobody more than the settings would.

import { limits } from '../../base/limits.ts';
import { type Db, transaction } from '../../base/storage/database.ts';
import type { Actor } from '../../core/audit/audit.ts';
import type { SignUpCode, SignUpCodes } from '../../people/sign-up-codes/sign-up-codes.ts';
import type { OnCreated } from '../api/idempotency.ts';
import { assertFreshProof } from '../proof/sensitive-changes.ts';

export interface CreatedSignUpCode {
  code: SignUpCode;
  /** Readable only now. */
  text: string;
}

export type SignUpCodeAdmin = ReturnType<typeof createSignUpCodeAdmin>;

/** `create` and `revoke` throw StepUpNeeded. */
export function createSignUpCodeAdmin({ db, codes }: { db: Db; codes: SignUpCodes }) {
  return {
    list: codes.list,
    get: codes.get,

    /** `onCreated` runs in the transaction. */
    create(
      {
        name,
        maxUses = 1,
        days = limits.signUpCode.defaultDays,
      }: { name: string; maxUses?: number | undefined; days?: number | undefined },
      by: Actor,
      onCreated: OnCreated<CreatedSignUpCode> = async () => {},
    ): Promise<CreatedSignUpCode> {
      assertFreshProof(by, 'sign-up-code.create', name);
      return transaction(db, async (tx) => {
        const made = await codes.create({ name, maxUses, days }, by, tx);
        await onCreated(made, tx);
        return made;
      });
    },

    async revoke(id: string, by: Actor): Promise<SignUpCode> {
      assertFreshProof(by, 'sign-up-code.revoke', (await codes.get(id)).name);
      return codes.revoke(id, by);
    },
  };
}
