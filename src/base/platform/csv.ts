// Reads CSV (RFC 4180) as spreadsheets write it, in several turns of the event loop.
import { Readable } from 'node:stream';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { CsvError, parse } from 'csv-parse';

export { CsvError } from 'csv-parse';

export interface CsvRow {
  /** Where it begins in the text, the first line being 1. */
  line: number;
  cells: string[];
}

/** Bytes that are read in one turn of the event loop. */
const CHUNK = 16 * 1024;

/** The rows of the text; rows without a value are left out. A quote that is never closed is closed at the end. */
export async function parseCsv(text: string): Promise<CsvRow[]> {
  // One kind of line end: the parser counts a CR LF inside quotes as two lines.
  const source = text.replaceAll('\r\n', '\n');
  try {
    return await rowsOf(source);
  } catch (error) {
    if (error instanceof CsvError && error.code === 'CSV_QUOTE_NOT_CLOSED') return rowsOf(`${source}"`);
    throw error;
  }
}

async function rowsOf(source: string): Promise<CsvRow[]> {
  const firstLine = source.slice(0, source.search(/\n|$/));
  const parser = parse({
    bom: true,
    delimiter: firstLine.includes(';') && !firstLine.includes(',') ? ';' : ',',
    record_delimiter: '\n',
    relax_column_count: true,
    relax_quotes: true,
    trim: true,
    skip_records_with_empty_values: true,
    info: true,
  });
  const rows: CsvRow[] = [];
  const failed = (error: unknown) => parser.destroy(error as Error);
  Readable.from(chunksOf(source)).on('error', failed).pipe(parser);
  // `info.lines` is the line on which the row ends.
  for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>)
    rows.push({ line: info.lines - lineEnds(record), cells: record });
  return rows;
}

async function* chunksOf(text: string): AsyncGenerator<Buffer> {
  const bytes = Buffer.from(text);
  for (let at = 0; at < bytes.length; at += CHUNK) {
    yield bytes.subarray(at, at + CHUNK);
    await nextTurn();
  }
}

function lineEnds(cells: readonly string[]): number {
  return cells.join('').split('\n').length - 1;
}
