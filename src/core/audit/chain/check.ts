// Verifies the audit log from the first entry to the last: the content and MAC of each row, its place in the chain, both
// anchors and all checkpoints. Without the secret it verifies all but the MACs, which is what an auditor with a copy can do.
import type { KeyObject } from 'node:crypto';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import type { Vault } from '../../../base/platform/vault.ts';
import type { Db } from '../../../base/storage/database.ts';
import { hasMacForm, isRowGenuine } from '../row-mac.ts';
import { type Checkpoint, isSigned, type SignedCheckpoints } from './checkpoint.ts';
import { createErasures, type Erasures } from './erasures.ts';
import { type ChainFault, createFaults, describeEntry, describeGap, type Faults } from './faults.ts';
import { type Anchor, type ChainRow, GENESIS, isGenuine, linkHash } from './link.ts';
import { checkWaitingOffline, newestOf, readUnsealed } from './unsealed.ts';

export type ChainResult =
  | {
      ok: true;
      entries: number;
      unsealed: number;
      newest: number;
      checkpoints: number;
      /** Without the secret: the newest checkpoint from outside. What came after it proves nothing. */
      proven?: { seq: number; at: Date };
    }
  | { ok: false; fault: ChainFault; faults: ChainFault[] };

export interface ChainCheckDependencies {
  db: Db;
  /** Verifies MACs; absent where the secret is not known. */
  vault?: Vault;
  /** Verifies the checkpoints in the database. */
  publicKey: KeyObject;
  /** The checkpoints from outside of the database. */
  outside: SignedCheckpoints;
  pageSize?: number;
}

type Check = ChainCheckDependencies & { faults: Faults; erasures: Erasures; bySeq: Map<number, Checkpoint[]> };
/** The entry before the next one; `hash` is unknown after a gap. */
interface PreviousEntry {
  seq: number;
  hash: string | undefined;
  row?: ChainRow;
}

const PAGE = 1000;

/** Verifies the whole log, and that no row outside of the chain claims a position in it. */
export async function checkChain(dependencies: ChainCheckDependencies): Promise<ChainResult> {
  const { db, vault, outside } = dependencies;
  const faults = createFaults();
  const checkpoints = [...outside.valid, ...(await storedCheckpoints(dependencies, faults))];
  for (const line of outside.invalid)
    faults.add({
      kind: 'checkpoint',
      seq: 0,
      message: `Line ${line} of the checkpoint file wasn't signed by this server.`,
    });
  const erasures = createErasures(db, vault);
  const check: Check = { ...dependencies, faults, erasures, bySeq: bySeq(checkpoints) };

  const anchors = await readAnchors(check);
  const head = anchors.head ?? { seq: 0, hash: GENESIS };
  if (!anchors.head && (await db.auditEvent.count()) > 0)
    faults.add({ kind: 'anchor', seq: 0, message: 'The stored end of the chain was removed.' });
  checkStart(check, anchors.tail);
  checkRollback(checkpoints, head, faults);

  const { entries, last } = await checkEntries(check, anchors.tail ?? { seq: 0, hash: GENESIS }, head.seq);
  if (head.seq > last.seq) await addRemoved(check, last, { seq: head.seq + 1 });
  else if (last.hash !== undefined && last.hash !== head.hash) {
    const message =
      'The last hash differs from the stored end of the chain: entries were hashed again without the secret.';
    faults.add({ kind: 'changed', seq: last.seq, message, ...(last.row && { at: last.row.at }) });
  }
  await checkOutsideOfChain(check, anchors.tail?.seq ?? 0);
  const newest = newestOf(checkpoints);
  const unsealed = vault ? await checkUnsealed(db, vault, faults) : await checkWaitingOffline(db, newest, faults);
  const [fault] = faults.list;
  if (fault) return { ok: false, fault, faults: faults.list };
  const proven = vault ? undefined : (newestOf(outside.valid) ?? { seq: 0, at: new Date(0) });
  const result = { ok: true, entries, newest: head.seq, unsealed, checkpoints: checkpoints.length } as const;
  return { ...result, ...(proven && { proven: { seq: proven.seq, at: proven.at } }) };
}

async function storedCheckpoints({ db, publicKey }: ChainCheckDependencies, faults: Faults): Promise<Checkpoint[]> {
  const rows = (await db.auditCheckpoint.findMany({ orderBy: { seq: 'asc' } })) as Checkpoint[];
  const valid: Checkpoint[] = [];
  for (const [index, row] of rows.entries()) {
    if (index % 20 === 0) await yieldToEventLoop();
    if (isSigned(row, publicKey)) valid.push(row);
    else
      faults.add({
        kind: 'checkpoint',
        seq: row.seq,
        at: row.at,
        message: `The checkpoint at entry ${row.seq} has an invalid signature.`,
      });
  }
  return valid;
}

async function readAnchors({ db, vault, faults }: Check): Promise<{ head?: Anchor; tail?: Anchor }> {
  const anchors = await db.auditChain.findMany();
  for (const anchor of anchors) {
    if (!vault || isGenuine(anchor, vault)) continue;
    const message = `The stored ${anchor.id === 'head' ? 'end' : 'start'} of the chain was changed, or was made under a key that this database lacks.`;
    faults.add({ kind: 'anchor', seq: anchor.seq, message });
  }
  const find = (id: string) => anchors.find((anchor) => anchor.id === id);
  const [head, tail] = [find('head'), find('tail')];
  return { ...(head && { head }), ...(tail && { tail }) };
}

function bySeq(checkpoints: readonly Checkpoint[]): Map<number, Checkpoint[]> {
  const found = new Map<number, Checkpoint[]>();
  for (const checkpoint of checkpoints) found.set(checkpoint.seq, [...(found.get(checkpoint.seq) ?? []), checkpoint]);
  return found;
}

/** A purge moves the start of the chain and signs it. */
function checkStart({ bySeq, faults }: Check, tail: Anchor | undefined): void {
  if (!tail || tail.seq === 0) return;
  const signed = bySeq.get(tail.seq)?.some(({ kind, hash }) => kind === 'tail' && hash === tail.hash);
  if (signed) return;
  const message = `The log starts after entry ${tail.seq}, but no checkpoint says that the entries before were purged.`;
  faults.add({ kind: 'anchor', seq: tail.seq, message });
}

function checkRollback(checkpoints: readonly Checkpoint[], head: Omit<Anchor, 'id'>, faults: Faults): void {
  const newest = checkpoints.reduce((max, each) => (each.seq > max.seq ? each : max), { seq: 0, at: new Date(0) });
  if (newest.seq <= head.seq) return;
  const message = `The log was rolled back: it ends at entry ${head.seq}, but on ${newest.at.toISOString()} it had entry ${newest.seq}.`;
  faults.add({ kind: 'rolled-back', seq: head.seq + 1, at: newest.at, message });
}

/** Verifies the entries from `start` to the position `until`, in their order. */
async function checkEntries(
  check: Check,
  start: Omit<Anchor, 'id'>,
  until: number,
): Promise<{ entries: number; last: PreviousEntry }> {
  const { db, faults, pageSize = PAGE } = check;
  let last: PreviousEntry = start;
  let entries = 0;
  for (;;) {
    const rows = await db.auditEvent.findMany({
      where: { chainSeq: { gt: last.seq, lte: until } },
      orderBy: { chainSeq: 'asc' },
      take: pageSize,
    });
    const first = rows[0]?.chainSeq ?? until + 1;
    if (first > last.seq + 1) {
      // A purge may have removed these entries since the anchors were read.
      const { tail } = await readAnchors(check);
      if (tail && tail.seq > last.seq) {
        last = tail;
        continue;
      }
    }
    if (rows.length === 0) return { entries, last };
    await check.erasures.load(rows);
    for (const row of rows) {
      const seq = row.chainSeq ?? 0;
      if (seq > last.seq + 1) last = await addRemoved(check, last, { seq, row });
      checkEntry(check, last, row);
      last = { seq, hash: row.chainHash ?? undefined, row };
      entries += 1;
    }
    if (faults.isFull()) return { entries, last };
    await yieldToEventLoop();
  }
}

/** Reports what is wrong with one entry: its content, its writer, its place or its hash at a checkpoint. */
function checkEntry({ vault, faults, erasures, bySeq }: Check, last: PreviousEntry, row: ChainRow): void {
  const seq = row.chainSeq ?? 0;
  const report = (kind: ChainFault['kind'], what: string) =>
    faults.add({ kind, seq, id: row.id, at: row.at, message: `${describeEntry(row)} ${what}` });
  if (!erasures.isIntact(row))
    report('changed', row.salt === null ? 'was emptied, and no later entry says what was erased.' : 'was changed.');
  else if (vault ? !isRowGenuine(row, vault) : !hasMacForm(row))
    report('changed', 'was changed or added: its MAC is invalid.');
  else if (last.hash !== undefined && row.chainHash !== linkHash(last.hash, row))
    report('moved', "was moved: it is genuine, but doesn't belong at this place in the chain.");
  const signed = bySeq.get(seq)?.find(({ hash }) => hash !== row.chainHash);
  if (signed) {
    const at = signed.at.toISOString();
    report('checkpoint', `doesn't match the checkpoint of ${at}: it, or an entry before it, was replaced.`);
  }
}

/** Reports the entries that are missing between two others, and names those that only lost their place in the chain. */
async function addRemoved(
  { db, faults }: Check,
  last: PreviousEntry,
  next: { seq: number; row?: ChainRow },
): Promise<PreviousEntry> {
  const missing = next.seq - last.seq - 1;
  const unchained = await db.auditEvent.findMany({
    where: { chainSeq: null, id: { gt: last.row?.id ?? 0, ...(next.row && { lt: next.row.id }) } },
    orderBy: { id: 'asc' },
    take: missing + 1,
  });
  const end = unchained.length === missing ? endAfter(last, unchained) : undefined;
  // The hash of the next entry proves that exactly these entries were here.
  if (end && (!next.row || next.row.chainHash === linkHash(end.hash, next.row))) {
    for (const [index, row] of unchained.entries())
      faults.add({
        kind: 'removed',
        seq: last.seq + 1 + index,
        id: row.id,
        at: row.at,
        message: `${describeEntry(row)} was taken out of the chain.`,
      });
    return end;
  }
  const which =
    missing === 1
      ? `The entry at position ${last.seq + 1}`
      : `The entries at positions ${last.seq + 1} to ${next.seq - 1}`;
  const message = `${which}${describeGap(last.row?.id, next.row?.id)} ${missing === 1 ? 'was' : 'were'} removed.`;
  faults.add({ kind: 'removed', seq: last.seq + 1, message, ...(last.row && { at: last.row.at }) });
  return { seq: next.seq - 1, hash: undefined };
}

/** The end of the chain if these rows followed the entry; undefined where its hash is unknown. */
function endAfter({ seq, hash }: PreviousEntry, rows: readonly ChainRow[]): { seq: number; hash: string } | undefined {
  if (hash === undefined) return undefined;
  let end = { seq, hash };
  for (const row of rows) {
    const chainSeq = end.seq + 1;
    end = { seq: chainSeq, hash: linkHash(end.hash, { ...row, chainSeq }) };
  }
  return end;
}

/** Reports the rows that claim a position before the start `start` or behind the end of the chain. */
async function checkOutsideOfChain({ db, faults }: Check, start: number): Promise<void> {
  for (const row of await db.auditEvent.findMany({
    where: { chainSeq: { lte: start } },
    orderBy: { chainSeq: 'asc' },
    take: faults.remaining(),
  }))
    addOutside(row, faults);

  for (;;) {
    const take = faults.remaining();
    const end = await chainEnd(db);
    const rows = await db.auditEvent.findMany({
      where: { chainSeq: { gt: end } },
      orderBy: { chainSeq: 'asc' },
      take,
    });
    // The end is read again after the rows: one transaction writes a row's position and the new end, so a row that was sealed
    // between the two reads is not behind it.
    const endNow = await chainEnd(db);
    const behind = rows.filter(({ chainSeq }) => (chainSeq ?? 0) > endNow);
    for (const row of behind) addOutside(row, faults);
    // Only a page full of rows that were sealed meanwhile may have others after it.
    if (behind.length > 0 || rows.length < take || faults.isFull()) return;
  }
}

/** The position of the newest entry, 0 without one. */
async function chainEnd(db: Db): Promise<number> {
  return (await db.auditChain.findUnique({ where: { id: 'head' } }))?.seq ?? 0;
}

function addOutside(row: ChainRow, faults: Faults): void {
  faults.add({
    kind: 'added',
    seq: row.chainSeq ?? 0,
    id: row.id,
    at: row.at,
    message: `${describeEntry(row)} was added: it is not part of the chain.`,
  });
}

/** Verifies the rows that wait for the chain; returns their number. */
async function checkUnsealed(db: Db, vault: Vault, faults: Faults): Promise<number> {
  let [count, after] = [0, 0];
  for (;;) {
    const rows = await readUnsealed(db, vault, { after, limit: 100 });
    for (const row of rows.forged)
      faults.add({
        kind: 'added',
        seq: 0,
        id: row.id,
        at: row.at,
        message: `${describeEntry(row)} was added by another program.`,
      });
    count += rows.count;
    if (rows.count < 100) return count;
    after = rows.lastId;
    await yieldToEventLoop();
  }
}
