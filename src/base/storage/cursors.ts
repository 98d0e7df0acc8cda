// The cursors of lists: the place where a page ends and the next one begins. A malformed cursor begins at the first page.

/** A place in a list by time, and by id where the time is the same. */
export interface TimePlace {
  at: Date;
  id: string;
}

export const toTimeCursor = (at: Date, id: string): string => `${at.getTime()}.${id}`;

export function fromTimeCursor(cursor: string | undefined): TimePlace | undefined {
  const [, time, id] = /^(\d{1,14})\.([\w.~|-]{1,64})$/.exec(cursor ?? '') ?? [];
  return time && id ? { at: new Date(Number(time)), id } : undefined;
}

/** A place by the values of the columns that order the list. */
export const toValueCursor = (values: readonly (string | number)[]): string =>
  Buffer.from(JSON.stringify(values)).toString('base64url');

export function fromValueCursor(cursor: string | undefined): unknown[] {
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor ?? '', 'base64url').toString());
    return Array.isArray(values) ? values : [];
  } catch {
    return [];
  }
}
