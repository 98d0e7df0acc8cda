// SQL that differs between SQLite and PostgreSQL, for the few queries that Prisma cannot express.
import type { DatabaseKind } from './database-url.ts';
import { type Fragment, fragment, trustedText } from './fragments.ts';

export interface Dialect {
  /** The end of a SELECT that locks its rows; empty on SQLite, where only one transaction writes at a time. */
  forUpdate: '' | 'FOR UPDATE';
  /** Whether the column contains the text, compared literally and with case. */
  contains(column: string, text: string): Fragment;
  /** The day (UTC) of a timestamp, as YYYY-MM-DD. */
  utcDay(column: string): Fragment;
  /** The number under this key of a JSON object; NULL without the key. */
  jsonNumber(column: string, key: string): Fragment;
}

export const dialects: Record<DatabaseKind, Dialect> = {
  sqlite: {
    forUpdate: '',
    contains: (column, text) => fragment`instr(${trustedText(column)}, ${text}) > 0`,
    utcDay: (column) => trustedText(`substr(${column}, 1, 10)`), // stored as ISO 8601 in UTC
    jsonNumber: (column, key) => fragment`json_extract(${trustedText(column)}, ${`$.${key}`})`,
  },
  postgresql: {
    forUpdate: 'FOR UPDATE',
    contains: (column, text) => fragment`strpos(${trustedText(column)}, ${text}) > 0`,
    utcDay: (column) => trustedText(`to_char(${column}, 'YYYY-MM-DD')`),
    jsonNumber: (column, key) => fragment`(${trustedText(column)}::json ->> ${key})::int`,
  },
};
