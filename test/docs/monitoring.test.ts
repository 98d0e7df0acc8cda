// The dashboard and the alert rules ask only for metrics and labels that /metrics has, and the documents name no others.
// promtool and a real Prometheus check the rest by hand: docs/operating.md says how.
import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { createMetrics } from '../../src/base/platform/metrics.ts';

interface Panel {
  id: number;
  type: string;
  title: string;
  datasource?: { uid: string };
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { refId: string; expr: string; datasource: { uid: string } }[];
}

const dashboard = JSON.parse(readFileSync('docs/deploy/grafana/gatehouse.json', 'utf8')) as {
  uid: string;
  title: string;
  schemaVersion: number;
  panels: Panel[];
  templating: { list: { name: string; type: string; query: string | { query: string } }[] };
};
const rules = parse(readFileSync('docs/deploy/prometheus/gatehouse.rules.yaml', 'utf8')) as {
  groups: { name: string; rules: { alert: string; expr: string; annotations: { summary: string } }[] }[];
};
const alerts = rules.groups.flatMap((group) => group.rules);
const expressions = [
  ...dashboard.panels.flatMap(({ title, targets = [] }) => targets.map(({ expr }) => ({ where: title, expr }))),
  ...alerts.map(({ alert, expr }) => ({ where: alert, expr })),
];

/** What Prometheus adds to every series, and the label `job` of our metrics, which it renames. */
const scraped = ['job', 'instance', 'exported_job'];
const words = [
  ...['sum', 'rate', 'increase', 'by', 'histogram_quantile', 'topk', 'vector', 'or', 'unless', 'label_values'],
  ...['le', 'm', 'h'],
];

/** Each metric name in /metrics (those of a histogram with their suffix) and its labels. */
const known = await (async () => {
  const metrics = createMetrics();
  const names = new Map<string, string[]>([['up', []]]);
  for (const metric of await metrics.registry.getMetricsAsArray()) {
    const { name, labelNames, type } = metric as unknown as { name: string; labelNames: string[]; type: string };
    const labels = labelNames ?? [];
    if (type !== 'histogram') names.set(name, labels);
    else for (const part of ['bucket', 'sum', 'count']) names.set(`${name}_${part}`, [...labels, 'le']);
  }
  return names;
})();

/** What of an expression is in no series: metrics, and labels of one that do not exist. */
function unknownIn(expression: string): string[] {
  const withoutText = expression.replace(/"[^"]*"/g, '""').replace(/\[[^\]]*\]/g, '');
  const found: string[] = [];
  const selected = new Set<string>();
  const rest = withoutText.replace(/([a-z_][a-z0-9_]*)\s*\{([^}]*)\}/g, (_match, name: string, matchers: string) => {
    const labels = known.get(name);
    if (!labels) found.push(name);
    for (const label of labels ?? []) selected.add(label);
    for (const [, label = ''] of matchers.matchAll(/([a-z_]+)\s*(?:=~|!~|!=|=)/g))
      if (![...(labels ?? []), ...scraped].includes(label)) found.push(`${name}{${label}}`);
    return '';
  });
  for (const [, list = ''] of rest.matchAll(/\bby \(([^)]*)\)/g))
    for (const label of list.split(/,\s*/)) if (![...selected, ...scraped].includes(label)) found.push(`by (${label})`);
  const names = rest.replace(/\bby \([^)]*\)/g, '').match(/[a-z_][a-z0-9_]*/g) ?? [];
  return [...found, ...names.filter((name) => !words.includes(name) && !known.has(name))];
}

it.each(expressions)('$where asks for metrics and labels that exist', ({ expr }) => {
  expect(unknownIn(expr)).toEqual([]);
});

it('the dashboard has what Grafana needs to load it', () => {
  expect(dashboard).toMatchObject({ uid: 'gatehouse', title: 'Gatehouse', schemaVersion: expect.any(Number) });
  const ids = dashboard.panels.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
  const cells = new Set<string>();
  for (const { title, type, gridPos, datasource, targets } of dashboard.panels) {
    const { x, y, w, h } = gridPos;
    expect(x + w, title).toBeLessThanOrEqual(24);
    for (let column = x; column < x + w; column += 1) {
      for (let line = y; line < y + h; line += 1) {
        expect(cells, `${title} covers another panel`).not.toContain(`${column}:${line}`);
        cells.add(`${column}:${line}`);
      }
    }
    if (type === 'row') continue;
    expect(targets?.length, title).toBeGreaterThan(0);
    for (const source of [datasource, ...(targets ?? []).map((target) => target.datasource)])
      expect(source?.uid, title).toBe(`$\{datasource}`);
  }
  const variables = dashboard.templating.list.map(({ name }) => name);
  const used = expressions.flatMap(({ expr }) => [...expr.matchAll(/\$([a-z]+)\b/g)].map(([, name = '']) => name));
  expect([...new Set(used)].filter((name) => !variables.includes(name))).toEqual([]);
  for (const { query } of dashboard.templating.list.filter(({ type }) => type === 'query')) {
    const [, metric = ''] = /label_values\((\w+)/.exec(typeof query === 'string' ? query : query.query) ?? [];
    expect([...known.keys()]).toContain(metric);
  }
});

it('each alert has a test for promtool, in the fault that raises it', () => {
  const tests = readFileSync('docs/deploy/prometheus/gatehouse.rules.test.yaml', 'utf8');
  expect(alerts.filter(({ alert }) => !tests.includes(`{alertname="${alert}"}`))).toEqual([]);
  expect(new Set(alerts.map(({ alert }) => alert)).size).toBe(alerts.length);
});

it('docs/operating.md names no metric that does not exist', () => {
  const named = [
    ...readFileSync('docs/operating.md', 'utf8').matchAll(
      /`((?:gatehouse|nodejs|process)_[a-z0-9_]+_(?:total|seconds|bytes))`/g,
    ),
  ];
  const names = named.map(([, name = '']) => name);
  expect(names.length).toBeGreaterThan(8);
  expect(names.filter((name) => !known.has(name) && !known.has(`${name}_count`))).toEqual([]);
});
