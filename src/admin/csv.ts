// Reads CSV as spreadsheets write it (RFC 4180): quoted cells, quotes doubled inside them, either kind of line end, and a
// semicolon in place of the comma where the first line has one.

export interface CsvRow {
  /** Where it begins in the text, the first line being 1. */
  line: number;
  cells: string[];
}

/** The rows of the text; empty lines are left out. */
export function parseCsv(text: string): CsvRow[] {
  const source = text.replace(/^\ufeff/, '');
  const firstLine = source.slice(0, source.search(/[\r\n]|$/));
  const separator = firstLine.includes(';') && !firstLine.includes(',') ? ';' : ',';
  const rows: CsvRow[] = [];
  let line = 1;
  let begins = 1;
  let row: string[] = [];
  let cell = '';
  let isQuoted = false;
  const endRow = () => {
    row.push(cell);
    if (row.some((one) => one.trim() !== '')) rows.push({ line: begins, cells: row });
    row = [];
    cell = '';
    begins = line;
  };
  for (let at = 0; at < source.length; at += 1) {
    const character = source[at] ?? '';
    if (character === '\n') line += 1;
    if (isQuoted) {
      if (character !== '"') cell += character;
      else if (source[at + 1] === '"') {
        cell += '"';
        at += 1;
      } else isQuoted = false;
    } else if (character === '"' && cell === '') isQuoted = true;
    else if (character === separator) {
      row.push(cell);
      cell = '';
    } else if (character === '\n') endRow();
    else if (character !== '\r') cell += character;
  }
  endRow();
  return rows;
}
