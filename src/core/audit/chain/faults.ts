// The faults that the verification of the audit log found.

export interface ChainFault {
  /**
   * What happened: to an entry (`changed`, `removed`, `added`, `moved`), to the end of the log (`rolled-back`), to the stored start
   * or end of the chain (`anchor`), or to a checkpoint, in the database or outside (`checkpoint`).
   */
  kind: 'changed' | 'removed' | 'added' | 'moved' | 'rolled-back' | 'anchor' | 'checkpoint';
  /** The position in the chain; 0 for an entry that has none. */
  seq: number;
  /** The id of the entry, unless it was removed. */
  id?: number;
  /** The time of the entry; of the entry before it when it was removed. */
  at?: Date;
  message: string;
}

export type Faults = ReturnType<typeof createFaults>;

/** Enough to see what happened; an emptied log would have millions. */
const MAX_FAULTS = 100;

export function createFaults() {
  const list: ChainFault[] = [];
  const remaining = () => MAX_FAULTS - list.length;
  return {
    list,
    /** How many more are collected. */
    remaining,
    isFull: (): boolean => remaining() <= 0,
    add(fault: ChainFault): void {
      if (remaining() > 0) list.push(fault);
    },
  };
}

/** `Entry 17 of 2026-03-01T12:00:00.000Z`. */
export function describeEntry({ id, at }: { id: number; at: Date }): string {
  return `Entry ${id} of ${at.toISOString()}`;
}

/** Between which entries something is missing, in brackets; empty when neither is known. */
export function describeGap(before: number | undefined, next: number | undefined): string {
  const parts = [before && `after entry ${before}`, next && `before entry ${next}`].filter(Boolean);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}
