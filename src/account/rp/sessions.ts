// Sessions of Gatehouse's own pages: the cookie `sessionId` holds a random value of which only the hash is stored. Each belongs
// to a single sign-on session and ends with it.

import { limits } from '../../base/limits.ts';
import { randomToken, sha256 } from '../../base/platform/random.ts';
import type { Core } from '../../core/core.ts';
import { acrOf, withMfa } from '../../people/mfa/acr.ts';
import type { SessionServices } from '../../protocols/logout/session-services.ts';
import type { FirstPartySignIn } from './first-party-client.ts';

export interface RpSession {
  userId: string;
  ssoUid: string;
  acr: string | undefined;
  amr: string[];
  /** When the user last authenticated. */
  authTime: Date;
  expiresAt: Date;
}

export type RpSessions = ReturnType<typeof createRpSessions>;

interface Row {
  id: string;
  userId: string;
  ssoUid: string;
  acr: string | null;
  /** JSON array. */
  amr: string;
  authTime: Date;
}

const LIFETIME_MS = limits.rpSession.cookieSeconds * 1000;
const THRESHOLD_MS = limits.rpSession.refreshThresholdSeconds * 1000;

export function createRpSessions({ db, now, sessions }: Core & SessionServices) {
  async function find(cookie: string | undefined): Promise<RpSession | undefined> {
    if (!cookie) return undefined;
    const row = await db.rpSession.findUnique({ where: { id: sha256(cookie) } });
    if (!row || row.expiresAt <= now()) return undefined;
    // This session ends with its single sign-on session.
    const sso = await sessions.find(row.ssoUid);
    if (sso?.accountId !== row.userId) return undefined;
    return sessionOf(row);
  }

  /** A new session, always under a new cookie value (session fixation). */
  async function create({ accountId, ssoUid, acr, amr, authTime }: Omit<FirstPartySignIn, 'nonce'>): Promise<string> {
    const cookie = randomToken();
    const data = {
      id: sha256(cookie),
      userId: accountId,
      ssoUid,
      acr: acr ?? null,
      amr: JSON.stringify(amr),
      authTime,
    };
    const expiresAt = new Date(now().getTime() + LIFETIME_MS);
    await db.rpSession.create({ data: { ...data, createdAt: now(), expiresAt } });
    return cookie;
  }

  return {
    find,
    create,

    /** Replaces the session by one that has proven these methods just now, under a new cookie value. */
    async renew(cookie: string, { userId, ssoUid, amr }: RpSession, more: readonly string[]): Promise<string> {
      const proven = withMfa([...amr, ...more]);
      const renewed = await create({ accountId: userId, ssoUid, acr: acrOf(proven), amr: proven, authTime: now() });
      await db.rpSession.deleteMany({ where: { id: sha256(cookie) } });
      return renewed;
    },

    /** Extends the session by an hour when it is within minutes of its end; undefined when it has ended. */
    async refresh(cookie: string | undefined): Promise<RpSession | undefined> {
      const session = await find(cookie);
      if (!session || !cookie) return undefined;
      if (session.expiresAt.getTime() - now().getTime() > THRESHOLD_MS) return session;
      const expiresAt = new Date(now().getTime() + LIFETIME_MS);
      await db.rpSession.updateMany({ where: { id: sha256(cookie) }, data: { expiresAt } });
      return { ...session, expiresAt };
    },

    async remove(cookie: string | undefined): Promise<void> {
      if (cookie) await db.rpSession.deleteMany({ where: { id: sha256(cookie) } });
    },

    /** Adds authentication methods that the user has just proven on a page of this server (amr, RFC 8176). */
    async addProof({ userId, ssoUid, amr }: RpSession, more: readonly string[]): Promise<void> {
      const proven = withMfa([...amr, ...more]);
      const change = { amr: JSON.stringify(proven), acr: acrOf(proven) ?? null };
      await db.rpSession.updateMany({ where: { userId, ssoUid }, data: change });
    },
  };
}

function sessionOf({ userId, ssoUid, acr, amr, authTime, expiresAt }: Row & { expiresAt: Date }): RpSession {
  return { userId, ssoUid, acr: acr ?? undefined, amr: JSON.parse(amr) as string[], authTime, expiresAt };
}
