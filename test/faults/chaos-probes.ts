// Requests of four kinds to each node of chaos.ts, past the proxy: each is answered in time, and every 503 says when to come back.
import { setTimeout as sleep } from 'node:timers/promises';
import { type Application, basic } from '../oidc/support.ts';
import { httpClient, type Page } from '../support/http.ts';
import type { Node } from './chaos-faults.ts';
import { fromAnywhere } from './person.ts';

const PAUSE_MS = 300;

export interface ProbesDependencies {
  nodes: readonly Node[];
  issuer: string;
  app: Application;
  answerMs: number;
  found(what: string): void;
  isOver(): boolean;
}

/** Goes on until `isOver`; returns how many requests were answered with each status. */
export async function probeNodes(dependencies: ProbesDependencies): Promise<Map<number, number>> {
  const counts = new Map<number, number>();
  await Promise.all(dependencies.nodes.map((node) => probeNode(node, dependencies, counts)));
  return counts;
}

async function probeNode(
  node: Node,
  { issuer, app, answerMs, found, isOver }: ProbesDependencies,
  counts: Map<number, number>,
): Promise<void> {
  const { host } = new URL(issuer);
  const asApp = { host, authorization: basic(app.clientId, app.clientSecret) };
  // Wrong tokens are counted by address.
  const client = () => httpClient(`http://127.0.0.1:${node.port}`, { headers: fromAnywhere() });
  const kinds: [name: string, send: () => Promise<Page>, type: RegExp][] = [
    ['introspect', () => client().post('/introspect', { form: { token: 'x' }, headers: asApp }), /^application\/json/],
    [
      'refresh',
      () => client().post('/token', { form: { grant_type: 'refresh_token', refresh_token: 'x' }, headers: asApp }),
      /^application\/json/,
    ],
    [
      'api',
      () =>
        client().get('/api/admin/users', { headers: { host, authorization: 'Bearer x', accept: 'application/json' } }),
      /^application\/problem\+json/,
    ],
    [
      'page',
      () => client().get('/reset-password?token=some-token', { headers: { host, accept: 'text/html' } }),
      /^text\/html/,
    ],
  ];
  for (let turn = 0; !isOver(); turn += 1) {
    const [name, send, type] = kinds[turn % kinds.length] as (typeof kinds)[number];
    const process = node.process;
    const from = performance.now();
    const page = await send().catch(() => undefined);
    const to = performance.now();
    const isExcused =
      node.process !== process ||
      process.exitCode !== null ||
      process.signalCode !== null ||
      node.frozen.some((one) => one.from < to && one.to > from);
    const status = page?.status ?? 0;
    counts.set(status, (counts.get(status) ?? 0) + 1);
    if (!isExcused && to - from > answerMs) found(`probe ${name}: ${status} after ${Math.round(to - from)} ms`);
    for (const error of page && status >= 500 ? errorsOf(page, type) : []) found(`probe ${name}: ${error}`);
    await sleep(PAUSE_MS);
  }
}

function errorsOf({ status, headers, text }: Page, type: RegExp): string[] {
  const errors: string[] = [];
  if (status !== 503) errors.push(`${status} ${text.slice(0, 300)}`);
  if (!headers['retry-after']) errors.push('503 without Retry-After');
  if (!type.test(headers['content-type'] ?? '')) errors.push(`503 as ${headers['content-type']}`);
  if (type.source.includes('/json') && !text.includes('temporarily_unavailable')) errors.push(text.slice(0, 200));
  return errors;
}
