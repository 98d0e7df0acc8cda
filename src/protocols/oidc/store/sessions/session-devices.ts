// The browsers in which sessions began, and when each session was last used: the table session_devices.
import type { Base } from '../../../../base/base.ts';
import type { RequestInfo } from '../../../../base/platform/request-info.ts';
import type { Tx } from '../../../../base/storage/database.ts';
import { hotStatements } from '../../../../base/storage/statements.ts';

export type SessionDevices = ReturnType<typeof createSessionDevices>;

// Written at every sign-in.
export const statements = hotStatements('session-devices', {
  recordDevice: `INSERT INTO session_devices (uid, user_id, browser_id, user_agent, address, created_at, last_seen_at, expires_at)
    VALUES (?,?,?,?,?,?,?,?) ON CONFLICT (uid) DO UPDATE SET user_id = excluded.user_id, browser_id = excluded.browser_id,
      user_agent = excluded.user_agent, address = excluded.address, last_seen_at = excluded.last_seen_at,
      expires_at = excluded.expires_at`,
});

export function createSessionDevices({ sql, now }: Base) {
  return {
    /** Remembers the browser in which a session began, until `endsAt`, the latest end of the session. */
    async recordDevice(
      { uid, accountId, endsAt }: { uid: string; accountId: string; endsAt: Date },
      { userAgent, address }: RequestInfo,
      browserId?: string | undefined,
    ): Promise<void> {
      const at = now();
      const device = [accountId, browserId ?? null, userAgent, address, at, at, endsAt];
      await sql.later(statements.recordDevice, [uid, ...device]);
    },

    /** The known browsers in which these sessions began. */
    async browsersOf(uids: readonly string[], tx: Tx): Promise<string[]> {
      const where = { uid: { in: [...uids] }, browserId: { not: null } };
      const rows = await tx.sessionDevice.findMany({ where, select: { browserId: true } });
      return rows.flatMap(({ browserId }) => browserId ?? []);
    },
  };
}
