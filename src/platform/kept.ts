// Keeps what was read of the directory (people, roles, applications) for exactly as long as it is what is stored: every
// look asks the database for its revision, a hundredth of the work of reading and unpacking the rows again. Where no
// revision is to be had (PostgreSQL, which other instances write to), everything is read each time.
import type { Sql } from './sql.ts';

export interface KeptOptions<T> {
  /** More are forgotten, the oldest first. */
  max: number;
  /** Whether the value depends on nothing but the stored rows, such as the time. */
  isLasting?(value: T): boolean;
}

/** `load` with a memory. What it returns is shared by everybody who asks: it must not be changed. */
export function keepFresh<T>(
  sql: Pick<Sql, 'revision'>,
  load: (key: string) => Promise<T | undefined>,
  { max, isLasting = () => true }: KeptOptions<T>,
): (key: string) => Promise<T | undefined> {
  const kept = new Map<string, { value: T; revision: number }>();

  async function read(key: string, revision: number | undefined): Promise<T | undefined> {
    const value = await load(key);
    kept.delete(key);
    // As of before the reading: what was written meanwhile makes it void.
    if (value !== undefined && revision !== undefined && isLasting(value)) {
      const [oldest] = kept.keys();
      if (kept.size >= max && oldest !== undefined) kept.delete(oldest);
      kept.set(key, { value, revision });
    }
    return value;
  }

  return (key) => {
    const revision = sql.revision();
    const known = kept.get(key);
    return known && known.revision === revision ? Promise.resolve(known.value) : read(key, revision);
  };
}
