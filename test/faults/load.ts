// Requests of many kinds at once, each with its time and its answer, before, during and after a fault.
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Application } from '../oidc/support.ts';
import { basic } from '../oidc/support.ts';
import { httpClient, type RequestOptions } from '../support/http.ts';

/** No answer after this time counts as none. */
const GIVE_UP_MS = 60_000;

export interface Sample {
  kind: string;
  /** Milliseconds since the load began. */
  at: number;
  ms: number;
  /** 0: no answer. */
  status: number;
  retryAfter?: string | undefined;
}

export interface LoadTarget {
  issuer: string;
  /** With client_credentials and the admin API. */
  service: Application;
  adminToken: string;
  userToken: string;
  app: Application;
}

export interface Load {
  samples: Sample[];
  /** What was acknowledged with success. */
  acknowledged: { users: string[]; tokens: string[] };
  now(): number;
  end(): Promise<void>;
}

/** `lanes` requests at a time, one after the other in each lane, until `end`. */
export function startLoad(target: LoadTarget, lanes: number): Load {
  const began = performance.now();
  const now = () => Math.round(performance.now() - began);
  const samples: Sample[] = [];
  const acknowledged: Load['acknowledged'] = { users: [], tokens: [] };
  let isOver = false;
  const { issuer, service, adminToken, userToken, app } = target;
  const asService = { authorization: basic(service.clientId, service.clientSecret) };
  const asAdmin = { authorization: `Bearer ${adminToken}` };

  async function request(kind: string, method: string, path: string, options: RequestOptions = {}) {
    const at = now();
    const answered = httpClient(issuer)
      .request(method, path, options)
      .catch(() => undefined);
    let timer: NodeJS.Timeout | undefined;
    const tooLate = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), GIVE_UP_MS);
    });
    const page = await Promise.race([answered, tooLate]);
    clearTimeout(timer);
    samples.push({ kind, at, ms: now() - at, status: page?.status ?? 0, retryAfter: page?.headers['retry-after'] });
    // Nobody listens.
    if (!page) await sleep(100);
    return page;
  }
  const kinds: (() => Promise<void>)[] = [
    async () => {
      const form = { grant_type: 'client_credentials' };
      const page = await request('token', 'POST', '/token', { form, headers: asService });
      if (page?.status === 200) acknowledged.tokens.push(String(page.json().access_token));
    },
    async () => {
      const username = `u-${randomUUID()}`;
      const page = await request('create user', 'POST', '/api/admin/users', {
        json: { username },
        headers: { ...asAdmin, 'idempotency-key': username },
      });
      if (page?.status === 201) acknowledged.users.push(String(page.json().id));
    },
    async () => void (await request('list users', 'GET', '/api/admin/users?limit=5', { headers: asAdmin })),
    async () =>
      void (await request('userinfo', 'GET', '/userinfo', { headers: { authorization: `Bearer ${userToken}` } })),
    async () =>
      void (await request('introspect', 'POST', '/introspect', { form: { token: userToken }, headers: asService })),
    async () => {
      const { url } = await app.rp.start({ scope: 'openid' });
      await request('authorize', 'GET', url, { headers: { accept: 'text/html' } });
    },
    async () => void (await request('reset page', 'GET', '/forgot', { headers: { accept: 'text/html' } })),
    async () =>
      void (await request('session', 'GET', '/api/auth/session', { headers: { cookie: `sessionId=${randomUUID()}` } })),
    async () => void (await request('readyz', 'GET', '/readyz')),
  ];
  async function lane(first: number): Promise<void> {
    for (let next = first; !isOver; next += 1) await kinds[next % kinds.length]?.();
  }
  const running = Promise.all(Array.from({ length: lanes }, (_, index) => lane(index)));
  return {
    samples,
    acknowledged,
    now,
    async end() {
      isOver = true;
      await running;
    },
  };
}

/** What was answered in a time: how many answers of each status, and the longest wait. */
export function summary(samples: readonly Sample[], from: number, to: number): string {
  const within = samples.filter(({ at, ms }) => at + ms >= from && at + ms < to);
  const statuses = new Map<number, number>();
  for (const { status } of within) statuses.set(status, (statuses.get(status) ?? 0) + 1);
  const counts = [...statuses].sort(([a], [b]) => a - b).map(([status, count]) => `${status || 'none'}: ${count}`);
  const longest = within.reduce((one, other) => (other.ms > one.ms ? other : one), { kind: '-', ms: 0 });
  return `${counts.join(', ')}; longest ${(longest.ms / 1000).toFixed(1)} s (${longest.kind})`;
}

/** How often /readyz had said the opposite of all requests of the three seconds before it. */
export function readiness(samples: readonly Sample[]): { silent: number; wrong: number } {
  const hasFailed = ({ status }: Sample) => status === 0 || status >= 500;
  const isSlow = ({ ms }: Sample) => ms > 2000;
  const others = samples.filter(({ kind }) => kind !== 'readyz');
  let silent = 0;
  let wrong = 0;
  for (const probe of samples.filter(({ kind }) => kind === 'readyz')) {
    const before = others.filter(({ at, ms }) => at > probe.at - 3000 && at + ms < probe.at + probe.ms);
    if (before.length < 10) continue;
    if (probe.status === 200 && before.every(hasFailed)) silent += 1;
    if (probe.status !== 200 && !before.some((one) => hasFailed(one) || isSlow(one))) wrong += 1;
  }
  return { silent, wrong };
}
