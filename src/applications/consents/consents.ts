// Consents: what users allow applications to receive (OIDC Core 3.1.2.4). A consent outlives the session in which it was
// given; the engine's grants are made from it, so the end of a session revokes tokens and keeps the consent.

import { randomId } from '../../base/platform/random.ts';
import { isUniqueConstraintError, type Tx } from '../../base/storage/database.ts';
import { hotStatements } from '../../base/storage/statements.ts';
import type { Core } from '../../core/core.ts';

/** What is requested or granted: scopes for claims, single claims, and scopes by resource (RFC 8707). */
export interface Granted {
  scopes: string[];
  claims: string[];
  resources: Record<string, string[]>;
}

export interface ConsentEntry {
  applicationId: string;
  clientId: string;
  applicationName: string;
  granted: Granted;
  grantedAt: Date;
}

export type Consents = ReturnType<typeof createConsents>;

export const statements = hotStatements('consents', {
  hasUsed: 'SELECT 1 FROM application_users WHERE application_id = ? AND user_id = ?',
});

export function createConsents({ db, sql, now }: Core) {
  const keyOf = (userId: string, applicationId: string) => ({ userId_applicationId: { userId, applicationId } });

  /** `since`: an older one has ended. */
  async function find(userId: string, applicationId: string, since = new Date(0)): Promise<Granted | undefined> {
    const row = await db.consent.findUnique({ where: keyOf(userId, applicationId) });
    return row && row.updatedAt >= since ? (JSON.parse(row.granted) as Granted) : undefined;
  }

  async function hasUsed(userId: string, applicationId: string): Promise<boolean> {
    return (await sql.query(statements.hasUsed, applicationId, userId)).length > 0;
  }

  return {
    find,

    /** Whether there is a consent, and it is from before `since`. */
    async hasEnded(userId: string, applicationId: string, since: Date): Promise<boolean> {
      const row = await db.consent.findUnique({ where: keyOf(userId, applicationId) });
      return row !== null && row.updatedAt < since;
    },

    /** Adds to what was granted before, and has not ended. */
    async allow(userId: string, applicationId: string, granted: Granted, since?: Date): Promise<void> {
      const before = await find(userId, applicationId, since);
      const all = JSON.stringify(before ? union(before, granted) : granted);
      await db.consent.upsert({
        where: keyOf(userId, applicationId),
        create: { id: randomId(), userId, applicationId, granted: all, updatedAt: now() },
        update: { granted: all, updatedAt: now() },
      });
    },

    async list(userId: string): Promise<ConsentEntry[]> {
      const rows = await db.asStored.consent.findMany({
        where: { userId },
        include: { application: { select: { clientId: true, name: true } } },
        orderBy: { grantedAt: 'desc' },
      });
      return rows.map((row) => ({
        applicationId: row.applicationId,
        clientId: row.application.clientId,
        applicationName: row.application.name,
        granted: JSON.parse(row.granted) as Granted,
        grantedAt: row.grantedAt,
      }));
    },

    /** Withdraws the consent and deletes the row of `recordUse`; the caller revokes its grants. False when there was none. */
    async withdraw(userId: string, applicationId: string): Promise<boolean> {
      const { count } = await db.consent.deleteMany({ where: { userId, applicationId } });
      await db.applicationUser.deleteMany({ where: { userId, applicationId } });
      return count > 0;
    },

    hasUsed,

    /** Remembers that the user uses the application, with consent or without. Both must exist. */
    async recordUse(userId: string, applicationId: string): Promise<void> {
      if (await hasUsed(userId, applicationId)) return;
      const data = { userId, applicationId, firstUsedAt: now() };
      await db.applicationUser.create({ data }).catch((error: unknown) => {
        if (!isUniqueConstraintError(error)) throw error; // another request was first
      });
    },
  };
}

/** Withdraws every consent to the application; the caller revokes its grants. */
export const withdrawAll = (applicationId: string, tx: Tx) => tx.consent.deleteMany({ where: { applicationId } });

/** The part of `requested` that `granted` covers. */
export function intersect(requested: Granted, granted: Granted): Granted {
  const both = (a: string[], b: string[] = []) => a.filter((value) => b.includes(value));
  return {
    scopes: both(requested.scopes, granted.scopes),
    claims: both(requested.claims, granted.claims),
    resources: mapValues(requested.resources, (scopes, resource) => both(scopes, granted.resources[resource])),
  };
}

function union(a: Granted, b: Granted): Granted {
  const either = (x: string[] = [], y: string[] = []) => [...new Set([...x, ...y])];
  return {
    scopes: either(a.scopes, b.scopes),
    claims: either(a.claims, b.claims),
    resources: mapValues({ ...a.resources, ...b.resources }, (_, resource) =>
      either(a.resources[resource], b.resources[resource]),
    ),
  };
}

function mapValues(
  record: Record<string, string[]>,
  change: (value: string[], key: string) => string[],
): Record<string, string[]> {
  return Object.fromEntries(Object.entries(record).map(([key, value]) => [key, change(value, key)]));
}
