// The HTTP API of the OpenID Foundation's conformance suite.
import { Agent, request } from 'node:https';

export interface PlanModule {
  testModule: string;
  variant?: Record<string, string>;
}

export interface ModuleInfo {
  status: string;
  /** PASSED, WARNING, REVIEW, SKIPPED or FAILED; null before it ends. */
  result: string | null;
}

/** One entry of the log of a module. */
export interface LogEntry {
  src: string;
  msg?: string;
  result?: string;
  /** The name of a placeholder for a picture of the browser. */
  upload?: string;
}

/** What the suite says about itself. */
export interface SuiteInfo {
  version: string;
  tag: string;
  revision: string;
}

export interface Suite {
  /** Throws NoSuite where no suite answers. */
  about(): Promise<SuiteInfo>;
  createPlan(
    name: string,
    variant: Record<string, string>,
    config: object,
  ): Promise<{ id: string; modules: PlanModule[] }>;
  /** Removes the plan with the logs of its modules. */
  deletePlan(id: string): Promise<void>;
  /** Creates a module, which begins at once unless it waits for a person. */
  createModule(planId: string, module: PlanModule): Promise<string>;
  startModule(id: string): Promise<void>;
  info(id: string): Promise<ModuleInfo>;
  /** The addresses that the browser has to open. */
  urls(id: string): Promise<string[]>;
  /** Takes the address off that list. */
  visited(id: string, url: string): Promise<void>;
  log(id: string): Promise<LogEntry[]>;
  /** Fills a placeholder with a PNG. */
  upload(id: string, placeholder: string, png: Buffer): Promise<void>;
  cancel(id: string): Promise<void>;
}

/** No suite answers at the origin. The message says how to start one. */
export class NoSuite extends Error {}

// The suite is a program of this machine with a certificate of its own.
const agent = new Agent({ rejectUnauthorized: false, keepAlive: true });
const TIMEOUT_MS = 120_000;

/** A client of the suite at `origin`, such as https://localhost:8443. */
export function createSuite(origin: string, token: string | undefined): Suite {
  const call = async <T>(method: string, path: string, body?: { type: string; content: string }): Promise<T> => {
    const text = await send(new URL(`/api/${path}`, origin), method, token, body);
    return (text === '' ? undefined : JSON.parse(text)) as T;
  };
  const json = (value: unknown) => ({ type: 'application/json', content: JSON.stringify(value) });
  const query = (values: Record<string, string>) => new URLSearchParams(values).toString();
  const variantOf = (variant: Record<string, string> | undefined) => ({ variant: JSON.stringify(variant ?? {}) });

  return {
    async about() {
      try {
        const info = await call<Partial<SuiteInfo> | undefined>('GET', 'server');
        if (info?.version) return { version: info.version, tag: info.tag ?? '', revision: info.revision ?? '' };
      } catch (error) {
        const { message, code } = error as NodeJS.ErrnoException;
        throw noSuite(origin, message || code || String(error));
      }
      throw noSuite(origin, 'the response has no version');
    },
    deletePlan: (id) => call('DELETE', `plan/${id}`),
    createPlan: (planName, variant, config) =>
      call('POST', `plan?${query({ planName, ...variantOf(variant) })}`, json(config)),
    async createModule(plan, { testModule: test, variant }) {
      const path = `runner?${query({ test, plan, ...variantOf(variant) })}`;
      return (await call<{ id: string }>('POST', path, { type: 'application/json', content: '' })).id;
    },
    startModule: (id) => call('POST', `runner/${id}`),
    info: (id) => call('GET', `info/${id}`),
    urls: async (id) => (await call<{ browser?: { urls?: string[] } }>('GET', `runner/${id}`)).browser?.urls ?? [],
    visited: (id, url) => call('POST', `runner/browser/${id}/visit?${query({ url })}`),
    log: (id) => call('GET', `log/${id}`),
    upload: (id, placeholder, png) =>
      call('POST', `log/${id}/images/${placeholder}`, {
        type: 'text/plain',
        content: `data:image/png;base64,${png.toString('base64')}`,
      }),
    cancel: (id) => call('DELETE', `runner/${id}`),
  };
}

function noSuite(origin: string, why: string): NoSuite {
  return new NoSuite(
    `No conformance suite answers at ${origin} (${why}): start one with "docker compose -f test/conformance/compose.yaml up --detach", or name yours with --suite (test/conformance/README.md).`,
  );
}

function send(
  url: URL,
  method: string,
  token: string | undefined,
  body: { type: string; content: string } | undefined,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const headers = {
      ...(body ? { 'content-type': body.type } : {}),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    };
    const sent = request(url, { method, headers, agent, timeout: TIMEOUT_MS }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () => {
        const text = Buffer.concat(pieces).toString('utf8');
        const { statusCode = 0 } = response;
        if (statusCode < 300 || (statusCode === 404 && method === 'DELETE')) resolve(statusCode < 300 ? text : '');
        else reject(new Error(`${method} ${url.pathname} of the suite answered ${statusCode}: ${text.slice(0, 500)}`));
      });
    });
    sent.on('timeout', () => sent.destroy(new Error(`${method} ${url.pathname} of the suite did not answer`)));
    sent.on('error', reject);
    sent.end(body?.content);
  });
}
