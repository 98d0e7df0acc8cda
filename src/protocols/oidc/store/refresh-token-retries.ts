// The retry of a refresh whose answer was lost (docs/decisions/0034-refresh-token-retries.md). A rotated refresh token works again for
// `refresh_token_retry_seconds`, as long as nobody has used its successor; for an hour where it has none, because the database or the server
// failed between the use of the token and the answer. The time starts again when an answer fails, and an outage of the database does not
// count. The successor is derived from the token, so every instance issues the same one, also after the first instance was stopped between
// the use of the token and the answer.

import { limits } from '../../../base/limits.ts';
import { systemStopwatch } from '../../../base/platform/clock.ts';
import { hmacSha256 } from '../../../base/platform/hmac.ts';
import type { Sql } from '../../../base/storage/statements.ts';
import type { Core } from '../../../core/core.ts';
import { storeResult } from '../../../core/jobs/queue.ts';
import { type Adapter, type AdapterPayload, Provider } from '../engine/library.ts';
import { artifactId } from './adapter.ts';

export type RefreshTokenRetries = ReturnType<typeof createRefreshTokenRetries>;

export function createRefreshTokenRetries(dependencies: Core) {
  const { db, sql, vault, now, settings } = dependencies;
  const mac = hmacSha256(vault.deriveKey('refresh-token-successor'));
  const successorOf = (token: string, grantId: string) => mac(`${grantId}:${token}`);
  return {
    /**
     * The refresh token that takes the place of this one, 43 characters. The identifier of the grant is in the database only, so
     * the key alone does not lead from an old token to the newest.
     */
    successorOf,
    /**
     * Whether this used token may be used again.
     *
     * @param stored what the engine stored of it
     * @param find finds what the engine stored of another refresh token
     */
    async mayRetry(token: string, { consumed, grantId }: AdapterPayload, find: Adapter['find']): Promise<boolean> {
      if (typeof consumed !== 'number' || grantId === undefined) return false;
      const { refresh_token_retry_seconds: seconds } = settings.latest();
      const age = Math.floor(now().getTime() / 1000) - consumed;
      if (seconds === 0 || age >= limits.refreshToken.unansweredRetrySeconds) return false;
      // There is none yet while the answer to the first use is made, or where a fault ended the first use before it.
      const successor = await find(successorOf(token, grantId));
      return successor === undefined || (successor.consumed === undefined && age - outageWithin(age, sql) < seconds);
    },
    /**
     * Counts the time for a retry of this used token from now on, because its answer failed: a successor may be stored that the client
     * did not get. Waits up to a minute for the database. Throws what the database throws afterwards.
     */
    async restartRetryTime(token: string): Promise<void> {
      const where = { id: artifactId('RefreshToken', token), consumedAt: { not: null } };
      const write = async () => {
        await db.oidcArtifact.updateMany({ where, data: { consumedAt: Math.floor(now().getTime() / 1000) } });
      };
      await storeResult(write, { seconds: limits.refreshToken.maxRetrySeconds });
    },
  };
}

/** How many of the last `age` seconds the database could not be used: the client could not try again in that time. */
function outageWithin(age: number, { lastOutage }: Sql): number {
  const outage = lastOutage();
  if (!outage) return 0;
  const from = Math.max(outage.from, systemStopwatch() - age * 1000);
  return Math.max(0, outage.to - from) / 1000;
}

/**
 * The engine's adapter for refresh tokens. A token that may be used again is found as one that was not used, at the token endpoint
 * only: introspection says that it is not active.
 *
 * @param adapter stores them
 */
export function createRefreshTokenAdapter(adapter: Adapter, { mayRetry }: RefreshTokenRetries): Adapter {
  return {
    ...adapter,
    async find(token) {
      const stored = await adapter.find(token);
      const isRefresh = Provider.ctx?.oidc.route === 'token';
      if (!stored || !isRefresh || !(await mayRetry(token, stored, adapter.find))) return stored;
      const { consumed: _used, ...unused } = stored;
      return unused;
    },
  };
}
