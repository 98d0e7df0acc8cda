// Exports the audit log as a stream: JSON Lines for other programs, or CSV for a spreadsheet.
import type { Audit, AuditEntry, AuditFilter } from './audit.ts';

const PAGE = 500;
const COLUMNS = [
  'id',
  'at',
  'type',
  'outcome',
  'reason',
  'actorId',
  'actorName',
  'actorApp',
  'actorAppName',
  'subjectId',
  'subjectName',
  'clientId',
  'clientName',
  'address',
  'userAgent',
  'requestId',
  'data',
] as const satisfies readonly (keyof NamedEntry)[];

/** An entry with the present names of whom and what it mentions by id; null: there is none, or no longer. */
export interface NamedEntry extends AuditEntry {
  actorName: string | null;
  actorAppName: string | null;
  subjectName: string | null;
  clientName: string | null;
}

type Naming = (entries: AuditEntry[]) => Promise<NamedEntry[]>;

/** Entries from the newest to the oldest, read page by page; entries written during the export are not included. */
async function* entries(audit: Audit, filter: AuditFilter, named: Naming): AsyncGenerator<NamedEntry[]> {
  let before = filter.before;
  for (;;) {
    const page = await audit.list({ ...filter, limit: PAGE, ...(before === undefined ? {} : { before }) });
    if (page.length > 0) yield await named(page);
    before = page.at(-1)?.id;
    if (page.length < PAGE) return;
  }
}

/** One JSON object per line. */
export async function* jsonLines(audit: Audit, filter: AuditFilter, named: Naming): AsyncGenerator<string> {
  for await (const page of entries(audit, filter, named))
    yield page.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

/** CSV (RFC 4180) with a header line. */
export async function* csv(audit: Audit, filter: AuditFilter, named: Naming): AsyncGenerator<string> {
  yield `${COLUMNS.join(',')}\r\n`;
  for await (const page of entries(audit, filter, named)) {
    yield page.map((entry) => `${COLUMNS.map((column) => csvCell(entry[column])).join(',')}\r\n`).join('');
  }
}

/**
 * Formats one cell. A text that a spreadsheet would run as a formula gets a leading apostrophe, because a client chooses
 * user agents and names (OWASP: CSV injection).
 */
export function csvCell(value: unknown): string {
  if (value === null || value === undefined || value === '') return '';
  const text = textOf(value);
  const isNumber = typeof value === 'number';
  const safe = !isNumber && /^[\s\p{Cc}]*[=+\-@|%\uff1d\uff0b\uff0d\uff20]|^[\t\r\n]/u.test(text) ? `'${text}` : text;
  return /[",\r\n;\t]|^\s|\s$/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

function textOf(value: unknown): string {
  if (value instanceof Date) return value.toISOString();
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
