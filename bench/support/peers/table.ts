// The result as a table in Markdown: a column for each server, and the peer's ratio to each Gatehouse.

export interface PeerRow {
  name: string;
  /** Of each server, the peer last; undefined where it is not offered. */
  values: (number | undefined)[];
  /** The peer's to each server before it; undefined where one of them does not offer it. */
  ratios: (number | undefined)[];
}

export function peersTable(servers: readonly string[], rows: readonly PeerRow[]): string {
  const own = servers.slice(0, -1);
  const head = ['CPU ms per operation', ...servers, ...own.map((name) => `of ${name}`)];
  const lines = rows.map(({ name, values, ratios }) => [name, ...values.map(inDigits), ...ratios.map(asFactor)]);
  const text = [head, head.map(() => '---'), ...lines].map((cells) => `| ${cells.join(' | ')} |`);
  return text.join('\n');
}

const asFactor = (ratio: number | undefined) => (ratio === undefined ? '–' : ratio.toFixed(ratio < 10 ? 2 : 1));

function inDigits(value: number | undefined): string {
  if (value === undefined) return '–';
  return value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2);
}
