// The published ways to run the server set only variables that it reads, with the time that it needs to stop. helm and a schema check
// of what the chart renders are run by hand: docs/operating.md says how.
import { readdirSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { expect, it } from 'vitest';
import { parse } from 'yaml';
import { type Variable, variables } from '../../src/base/config/variables.ts';

const chart = 'docs/deploy/helm/gatehouse';
const read = (name: string) => readFileSync(name, 'utf8');
const templates = readdirSync(`${chart}/templates`).map((name) => read(`${chart}/templates/${name}`));
const deployment = read(`${chart}/templates/deployment.yaml`);
const values = parse(read(`${chart}/values.yaml`)) as Record<string, unknown>;
const schema = JSON.parse(read(`${chart}/values.schema.json`)) as { properties: Record<string, unknown> };
const operating = read('docs/operating.md');
const compose = parse(read('compose.yaml')) as { services: { gatehouse: { environment: Record<string, string> } } };
const unit = read('docs/deploy/systemd/gatehouse.service');
const environment = /environment <<'END'\n([\s\S]*?)END\n/.exec(operating)?.[1] ?? '';

const names = Object.entries<Variable>(variables).flatMap(([name, { file }]) =>
  file ? [name, `${name}_FILE`] : [name],
);
/** Variables of the memory allocator, which the C library reads. */
const allocator = ['MALLOC_ARENA_MAX', 'MALLOC_MMAP_THRESHOLD_', 'MALLOC_TRIM_THRESHOLD_'];

it.each([
  ['the chart', [...deployment.matchAll(/name: ([A-Z][A-Z_]+),/g)].map(([, name = '']) => name)],
  ['compose.yaml', Object.keys(compose.services.gatehouse.environment)],
  [
    'the systemd unit',
    [...`${unit.match(/^Environment=.*$/gm)} ${environment}`.matchAll(/([A-Z][A-Z_]+)=/g)].map(([, name = '']) => name),
  ],
])('%s sets only variables that the server reads', (_place, set) => {
  expect(set.length).toBeGreaterThan(4);
  expect(set.filter((name) => !names.includes(name) && !allocator.includes(name))).toEqual([]);
});

it('the chart has defaults that its schema accepts, and each of them is used', () => {
  const validate = new Ajv({ strict: false }).compile(schema);
  expect(validate(values), JSON.stringify(validate.errors)).toBe(true);
  expect(validate({ ...values, issuer: 'https://id.example.com/path' })).toBe(false);
  expect(validate({ ...values, replica: 2 })).toBe(false);
  expect(Object.keys(schema.properties).filter((key) => !(key in values) && key !== 'global')).toEqual([]);
  const pathsOf = (value: unknown, path: string): string[] =>
    typeof value === 'object' && value !== null && !Array.isArray(value) && Object.keys(value).length > 0
      ? Object.entries(value).flatMap(([key, inner]) => pathsOf(inner, `${path}.${key}`))
      : [path];
  const unused = pathsOf(values, '.Values').filter((path) => {
    const parents = path.split('.').map((_part, index, parts) => parts.slice(0, parts.length - index).join('.'));
    return !parents
      .slice(0, -2)
      .some((place) => new RegExp(`${place.replaceAll('.', '\\.')}(?![\\w.])`).test(templates.join()));
  });
  expect(unused).toEqual([]);
});

it('the chart has the version of the package, and the secrets, probes and ports of the server', () => {
  const { appVersion } = parse(read(`${chart}/Chart.yaml`)) as { appVersion: string };
  expect(appVersion).toBe((JSON.parse(read('package.json')) as { version: string }).version);
  for (const path of ['/healthz', '/readyz']) expect(deployment).toContain(`path: ${path}, port: http`);
  expect(deployment).toContain(`containerPort: ${/EXPOSE (\d+)/.exec(read('Dockerfile'))?.[1]}`);
  const keys = [...templates.join().matchAll(/\/run\/secrets\/gatehouse\/([a-z-]+)/g)].map(([, key = '']) => key);
  const secret = read(`${chart}/templates/secret.yaml`);
  expect(keys.length).toBe(4);
  expect(keys.filter((key) => !secret.includes(`${key}: {{`))).toEqual([]);
});

it('each way to run the server waits for the drain and the end', () => {
  expect(deployment).toContain('terminationGracePeriodSeconds: {{ add .Values.drainSeconds 25 }}');
  expect(Number(/TimeoutStopSec=(\d+)/.exec(unit)?.[1])).toBeGreaterThanOrEqual(25);
  expect(Number(/stop_grace_period: (\d+)s/.exec(read('compose.yaml'))?.[1])).toBeGreaterThanOrEqual(25);
});
