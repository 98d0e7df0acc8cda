// Reads CSV as spreadsheets write it (RFC 4180): either kind of line end, and a semicolon in place of the comma where the
// first line has one.
import { CsvError, parse } from 'csv-parse/sync';

export interface CsvRow {
  /** Where it begins in the text, the first line being 1. */
  line: number;
  cells: string[];
}

/** The rows of the text; rows without a value are left out. A quote that is never closed is closed at the end. */
export function parseCsv(text: string): CsvRow[] {
  // One kind of line end: the parser counts a CR LF inside quotes as two lines.
  const source = text.replaceAll('\r\n', '\n');
  try {
    return rowsOf(source);
  } catch (error) {
    if (error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED') return rowsOf(`${source}"`);
    throw error;
  }
}

function rowsOf(source: string): CsvRow[] {
  const firstLine = source.slice(0, source.search(/\n|$/));
  const rows = parse(source, {
    bom: true,
    delimiter: firstLine.includes(';') && !firstLine.includes(',') ? ';' : ',',
    record_delimiter: '\n',
    relax_column_count: true,
    relax_quotes: true,
    trim: true,
    skip_records_with_empty_values: true,
    info: true,
  }) as unknown as { record: string[]; info: { lines: number } }[];
  // `info.lines` is the line on which the row ends.
  return rows.map(({ record, info }) => ({ line: info.lines - lineEnds(record), cells: record }));
}

function lineEnds(cells: readonly string[]): number {
  return cells.join('').split('\n').length - 1;
}
