// One row per comparison: the cost of Gatehouse, the limit measured in the same run, their ratio and the target.

export interface Row {
  name: string;
  unit: 'ms CPU' | 'MB' | 'ms' | 'min';
  gatehouse: number;
  limit?: number;
  /** What the limit is: another server, a bare primitive. */
  limitName?: string;
  /** The median of the ratios of the bursts; without it gatehouse / limit. */
  ratio?: number;
  /** The ratio, or where there is no limit the value, that must not be exceeded; absent where it is only reported. */
  target?: number;
}

export const ratioOf = ({ gatehouse, limit, ratio }: Row): number | undefined => ratio ?? (limit && gatehouse / limit);
export const isWithin = (row: Row): boolean =>
  (ratioOf(row) ?? row.gatehouse) <= (row.target ?? Number.POSITIVE_INFINITY);

/** The rows as a table in Markdown, ready for docs/performance.md. */
export function table(rows: readonly Row[]): string {
  const cells = rows.map((row) => {
    const ratio = ratioOf(row);
    return [
      row.name,
      `${digits(row.gatehouse)} ${row.unit}`,
      row.limit === undefined ? '' : `${digits(row.limit)} (${row.limitName})`,
      ratio === undefined ? '' : ratio.toFixed(2),
      row.target === undefined ? '' : row.limit === undefined ? `${row.target} ${row.unit}` : String(row.target),
      row.target === undefined ? '' : isWithin(row) ? 'yes' : 'NO',
    ];
  });
  const all = [['', 'Gatehouse', 'limit', 'ratio', 'target', 'met'], ...cells];
  const widths = (all[0] ?? []).map((_, column) => Math.max(...all.map((row) => row[column]?.length ?? 0)));
  const line = (row: readonly string[]) => `| ${row.map((cell, at) => cell.padEnd(widths[at] ?? 0)).join(' | ')} |`;
  const [head = [], ...body] = all;
  return [line(head), `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`, ...body.map(line)].join('\n');
}

function digits(value: number): string {
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
