// Replay protection: the IDs of accepted messages, so that no instance accepts one twice (SAML Profiles 4.1.4.5).
import type { Base } from '../../../base/base.ts';
import { limits } from '../../../base/limits.ts';
import { sha256 } from '../../../base/platform/random.ts';
import { isFirstUse } from '../../../base/storage/single-use.ts';

export type SeenMessages = ReturnType<typeof createSeenMessages>;

export function createSeenMessages({ sql, now }: Base) {
  return {
    /** Stores the ID; false when this issuer used it before. */
    async isNew(issuer: string, messageId: string): Promise<boolean> {
      const id = sha256(`${issuer}\0${messageId}`);
      // Longer than a message is accepted: its age, the clock skew on both sides, and room for a slow clock.
      const expiresAt = new Date(now().getTime() + 4 * limits.saml.requestAgeSeconds * 1000);
      return isFirstUse(sql, id, expiresAt);
    },
  };
}
