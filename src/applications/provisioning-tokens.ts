// The tokens with which this server writes people to applications (fields/provisioning.ts): encrypted, and never read by anyone else.
import { invalidInput } from '../base/http/errors.ts';
import { safeEqual } from '../base/platform/random.ts';
import type { Tx } from '../base/storage/database.ts';
import { fault } from '../base/texts/faults.ts';
import type { Core } from '../core/core.ts';
import type { Provision, ProvisionSettings } from './fields/provisioning.ts';

export function createProvisioningTokens({ db, vault, now }: Core) {
  const contextOf = (applicationId: string) => `provisioning_tokens:${applicationId}`;

  async function find(applicationId: string, tx: Tx = db): Promise<string | undefined> {
    const row = await tx.provisioningToken.findUnique({ where: { applicationId } });
    return row ? vault.open(row.tokenSealed, contextOf(applicationId)).toString() : undefined;
  }

  return {
    find,

    /** Whether this is the token that is stored. */
    async matches(applicationId: string, token: string): Promise<boolean> {
      const stored = await find(applicationId);
      return stored !== undefined && safeEqual(stored, token);
    },

    /**
     * Brings the token in line with the declaration, and returns whether another one is stored now. Throws invalid_input where there is
     * none, and for another address without its token: it must not be sent to whom it was not meant for.
     */
    async declare(
      applicationId: string,
      { before, after }: { before: ProvisionSettings | undefined; after: Provision | undefined },
      tx: Tx,
    ): Promise<boolean> {
      if (after === undefined) {
        if (before !== undefined) await tx.provisioningToken.deleteMany({ where: { applicationId } });
        return false;
      }
      const { token, token_file: file, url } = after;
      // Only the configuration file is beside other files.
      if (file !== undefined)
        throw invalidInput([fault(['provision', 'token_file'], 'for-file', { key: 'provision.token' })]);
      const stored = await find(applicationId, tx);
      if (token === undefined) {
        const isSame = before !== undefined && new URL(before.url).origin === new URL(url).origin;
        if (stored === undefined || !isSame) throw invalidInput([fault(['provision', 'token'], 'empty')]);
        return false;
      }
      if (stored === token) return false;
      const data = { tokenSealed: vault.seal(token, contextOf(applicationId)), updatedAt: now() };
      await tx.provisioningToken.upsert({
        where: { applicationId },
        create: { applicationId, ...data },
        update: data,
        select: { applicationId: true },
      });
      return true;
    },
  };
}
