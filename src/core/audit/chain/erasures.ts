// What is left of entries whose personal data was erased (core/audit/erasure.ts), and whether the log itself says so.

import { createHash } from 'node:crypto';
import type { Vault } from '../../../base/platform/vault.ts';
import type { Tx } from '../../../base/storage/database.ts';
import { isContentIntact, isRowGenuine } from '../row-mac.ts';
import type { ChainRow } from './link.ts';

/** SHA-256 in base64url. The salt is gone, and nothing of this is personal. */
export function hashOfLeft(row: Omit<ChainRow, 'salt' | 'erasedBy'>): string {
  const { digest, at, type, outcome, reason, actorId, actorApp, subjectId, clientId } = row;
  const { address, userAgent, requestId, data } = row;
  const fields = [digest, at.toISOString(), type, outcome, reason, actorId, actorApp, subjectId, clientId];
  const text = JSON.stringify([...fields, address, userAgent, requestId, data]);
  return createHash('sha256').update(text).digest('base64url');
}

/** What an entry `account.erased` says: its place in the chain, and of each erased entry the id and the hash of what is left. */
interface Erasure {
  seq: number;
  entries: ReadonlySet<string>;
}

/** Entries `account.erased` that are remembered, of 10 KB. */
const MAX_REMEMBERED = 100;

export type Erasures = ReturnType<typeof createErasures>;

/** Which erased entries the log itself says were erased. Without the secret only entries in the chain count. */
export function createErasures(db: Tx, vault: Vault | undefined) {
  const known = new Map<number, Erasure>();

  /** Undefined for an entry that says nothing, or that another program wrote. */
  async function read(id: number): Promise<Erasure | undefined> {
    const event = await db.auditEvent.findUnique({ where: { id } });
    if (event?.type !== 'account.erased' || !isContentIntact(event)) return undefined;
    const isGenuine = vault ? isRowGenuine(event, vault) : event.chainSeq !== null;
    if (!isGenuine) return undefined;
    const { entries } = JSON.parse(event.data) as { entries?: unknown };
    return Array.isArray(entries) ? { seq: event.chainSeq ?? Infinity, entries: new Set(entries) } : undefined;
  }

  return {
    /** Reads the entries that name these rows; before `isIntact`. */
    async load(rows: readonly ChainRow[]): Promise<void> {
      const ids = new Set(rows.flatMap(({ salt, erasedBy }) => (salt === null && erasedBy !== null ? [erasedBy] : [])));
      const missing = [...ids].filter((id) => !known.has(id));
      if (known.size + missing.length > MAX_REMEMBERED)
        for (const id of known.keys()) if (!ids.has(id)) known.delete(id);
      for (const id of missing) {
        const erasure = await read(id);
        if (erasure) known.set(id, erasure);
      }
    },

    /** Whether the content is what the digest was made from, or what a later entry says is left of it. */
    isIntact(row: ChainRow): boolean {
      if (isContentIntact(row)) return true;
      const by = row.salt === null && row.erasedBy !== null ? known.get(row.erasedBy) : undefined;
      return by !== undefined && by.seq > (row.chainSeq ?? Infinity) && by.entries.has(`${row.id}:${hashOfLeft(row)}`);
    },
  };
}
