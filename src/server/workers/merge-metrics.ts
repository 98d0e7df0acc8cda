// Puts the texts of /metrics (Prometheus text format) of several processes together. Their series differ by the label `worker`.

/** Each metric once, with its HELP and TYPE lines and the series of all texts, which Prometheus requires to follow each other. */
export function mergeMetrics(texts: readonly string[]): string {
  const families = new Map<string, { head: string[]; series: string[] }>();
  for (const text of texts) {
    let family: { head: string[]; series: string[] } | undefined;
    for (const line of text.split('\n')) {
      const [, kind, name = ''] = /^# (HELP|TYPE) (\S+)/.exec(line) ?? [];
      if (kind === 'HELP') {
        family = families.get(name) ?? { head: [], series: [] };
        families.set(name, family);
      }
      if (kind) {
        if (family && !family.head.includes(line)) family.head.push(line);
      } else if (line !== '') family?.series.push(line);
    }
  }
  const lines = [...families.values()].flatMap(({ head, series }) => [...head, ...series, '']);
  return `${lines.join('\n')}\n`;
}
