// Initial access tokens: their holder may register clients (RFC 7591 3; /register rejects everything else).
// Made by the command line and the console, read by the engine; the value is displayed once and stored as its hash.

import { limits } from '../../../base/limits.ts';
import { randomToken } from '../../../base/platform/random.ts';
import { transaction } from '../../../base/storage/database.ts';
import type { Actor } from '../../../core/audit/audit.ts';
import type { Core } from '../../../core/core.ts';
import { WITHOUT_PKCE } from '../registration.ts';
import { artifactId } from './adapter.ts';
import { artifactMac } from './protected-artifacts.ts';

/** The model of these rows, and their uid, by which one is found without reading the table. */
export const INITIAL_ACCESS_TOKEN = 'InitialAccessToken';

export type RegistrationTokens = ReturnType<typeof createRegistrationTokens>;

export function createRegistrationTokens(dependencies: Core) {
  const { db, now, audit } = dependencies;
  return {
    /** Makes a token that is valid for `seconds`, 24 hours by default; the confidential clients of one `withoutPkce` need no PKCE. */
    async issue({
      seconds = limits.registrationToken.defaultSeconds,
      withoutPkce = false,
      by = {},
    }: {
      seconds?: number;
      withoutPkce?: boolean;
      by?: Actor;
    } = {}): Promise<{ token: string; expiresAt: Date }> {
      const token = randomToken();
      const iat = Math.floor(now().getTime() / 1000);
      const exp = iat + seconds;
      const payload = JSON.stringify({
        kind: INITIAL_ACCESS_TOKEN,
        iat,
        exp,
        ...(withoutPkce && { policies: [WITHOUT_PKCE] }),
      });
      await transaction(db, async (tx) => {
        const none = { grantId: null, userCode: null, accountId: null, clientId: null };
        const row = {
          id: artifactId(INITIAL_ACCESS_TOKEN, token),
          model: INITIAL_ACCESS_TOKEN,
          uid: INITIAL_ACCESS_TOKEN,
          payload,
          ...none,
        };
        await tx.oidcArtifact.create({
          data: { ...row, expiresAt: BigInt(exp), mac: artifactMac(row, tx) },
        });
        const data = { seconds, ...(withoutPkce && { without_pkce: true }) };
        await audit.record({ ...by, type: 'registration.token-issued', outcome: 'success', data }, tx);
      });
      return { token, expiresAt: new Date(exp * 1000) };
    },

    /** Revokes every token; registered applications stay. Returns the number of tokens. */
    revokeAll: (by: Actor = {}): Promise<number> =>
      transaction(db, async (tx) => {
        const { count } = await tx.oidcArtifact.deleteMany({ where: { model: INITIAL_ACCESS_TOKEN } });
        await audit.record({ ...by, type: 'registration.tokens-revoked', outcome: 'success', data: { count } }, tx);
        return count;
      }),
  };
}
