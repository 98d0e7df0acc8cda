// The driver of npm run conformance, with a stand-in for the suite: what it says and listens on, and what it leaves behind.
import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { processTree } from '../../bench/support/process-tree.ts';
import { selfSignedCertificate } from '../../src/core/keys/certificate.ts';

interface Suite {
  origin: string;
  /** The requests, as method and path. */
  calls: string[];
  /** Resolves when such a request has come. */
  hasCalled(call: RegExp): Promise<void>;
  close(): void;
}

const endings: (() => void)[] = [];
afterEach(() => {
  for (const end of endings.splice(0)) end();
});

/** A suite with one module, which ends as `status` says. `broken` is a path that answers 500. */
async function aSuite({ status, broken }: { status: string; broken?: string }): Promise<Suite> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const from = new Date();
  const until = new Date(from.getTime() + 3600_000);
  const cert = await selfSignedCertificate({ privateKey, publicKey, host: 'localhost', from, until });
  const key = privateKey.export({ format: 'pem', type: 'pkcs8' }).toString();
  const calls: string[] = [];
  const waiting = new Set<() => void>();
  const bodies: Record<string, object> = {
    'GET /api/server': { version: '9.9.9', tag: 'release-v9.9.9', revision: 'abcdef' },
    'POST /api/plan': { id: 'plan1', modules: [{ testModule: 'module1' }] },
    'POST /api/runner': { id: 'run1' },
    'GET /api/info/run1': { status, result: status === 'FINISHED' ? 'PASSED' : null },
    'GET /api/runner/run1': { browser: { urls: [] } },
    'GET /api/log/run1': [],
  };
  const server = createTlsServer({ key, cert }, ({ method, url = '' }: IncomingMessage, response: ServerResponse) => {
    const call = `${method} ${url.split('?')[0]}`;
    calls.push(call);
    for (const wake of waiting) wake();
    waiting.clear();
    if (call.endsWith(broken ?? 'none')) response.writeHead(500).end('out of order');
    else response.writeHead(bodies[call] ? 200 : 204).end(bodies[call] && JSON.stringify(bodies[call]));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  endings.push(close);
  return {
    origin: `https://localhost:${(server.address() as AddressInfo).port}`,
    calls,
    close,
    async hasCalled(call) {
      while (!calls.some((one) => call.test(one))) {
        await new Promise<void>((resolve) => waiting.add(resolve));
      }
    },
  };
}

interface Driver {
  child: ChildProcess;
  port: number;
  output(): string;
  /** The exit code. */
  ended: Promise<number | null>;
}

async function aDriver(suite: string): Promise<Driver> {
  const port = await freePorts();
  const args = ['--suite', suite, '--port', String(port), '--plan', 'Config'];
  const program = path.resolve('test/conformance/main.ts');
  const child = spawn(process.execPath, ['--import', 'tsx', program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  endings.push(() => child.kill('SIGKILL'));
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return { child, port, output: () => output, ended };
}

/** A port that is free together with the next one. */
async function freePorts(): Promise<number> {
  for (;;) {
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const isNextFree = await canListen(port + 1, '127.0.0.1');
    server.close();
    if (isNextFree) return port;
  }
}

function canListen(port: number, host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, host, () => server.close(() => resolve(true)));
  });
}

const foldersOf = ({ child }: Driver) =>
  readdirSync(tmpdir()).filter((name) => name.startsWith(`gatehouse-conformance-${child.pid}-`));

/** Nothing of the driver is left: no plan in the suite, folder, process, or port. */
async function expectClean(driver: Driver, suite: Suite, processes: readonly number[]): Promise<void> {
  expect(suite.calls.filter((call) => call === 'DELETE /api/plan/plan1')).toHaveLength(1);
  expect(foldersOf(driver)).toEqual([]);
  expect(processes.filter((pid) => existsSync(`/proc/${pid}`))).toEqual([]);
  expect(await canListen(driver.port, '127.0.0.1')).toBe(true);
}

// Each starts a server and a browser.
describe('the driver of the conformance suite', { timeout: 300_000 }, () => {
  it('ends with one sentence where no suite answers', async () => {
    const suite = await aSuite({ status: 'FINISHED' });
    suite.close();
    const driver = await aDriver(suite.origin);
    expect(await driver.ended).toBe(1);
    expect(driver.output()).toMatch(
      /^No conformance suite answers at https:\/\/localhost:\d+ \(.*ECONNREFUSED.*\): .*\n$/,
    );
    expect(driver.output()).toContain('docker compose -f test/conformance/compose.yaml up --detach');
    expect(foldersOf(driver)).toEqual([]);
  });

  it('names the commit and the suite, and leaves nothing behind after a run', async () => {
    const suite = await aSuite({ status: 'FINISHED' });
    const driver = await aDriver(suite.origin);
    expect(await driver.ended, driver.output()).toBe(0);
    expect(driver.output()).toMatch(/Gatehouse \S+, commit [0-9a-f]{40} of \d{4}-\d\d-\d\d/);
    expect(driver.output()).toContain('Suite 9.9.9, release-v9.9.9, abcdef');
    expect(driver.output()).toContain('| Config | 1 | 1 | 0 | 0 | 0 | 0 | 0 |');
    await expectClean(driver, suite, []);
  });

  it('leaves nothing behind after a failure', async () => {
    const suite = await aSuite({ status: 'FINISHED', broken: '/api/runner' });
    const driver = await aDriver(suite.origin);
    expect(await driver.ended).toBe(1);
    expect(driver.output()).toContain('POST /api/runner of the suite answered 500: out of order');
    await expectClean(driver, suite, []);
  });

  it.each(['SIGINT', 'SIGTERM'] as const)(
    'listens on loopback alone and leaves nothing behind after %s',
    async (signal) => {
      const suite = await aSuite({ status: 'RUNNING' });
      const driver = await aDriver(suite.origin);
      await Promise.race([suite.hasCalled(/^GET \/api\/info/), driver.ended]);
      expect(driver.child.exitCode, driver.output()).toBeNull();
      const processes = processTree(driver.child.pid ?? 0);
      expect(processes.length).toBeGreaterThan(2);
      for (const port of [driver.port, driver.port + 1]) {
        expect(await canListen(port, '127.0.0.1')).toBe(false);
        // On Linux the whole of 127.0.0.0/8 is this machine; a server at every address would be in the way.
        if (process.platform === 'linux') expect(await canListen(port, '127.0.0.2')).toBe(true);
      }
      driver.child.kill(signal);
      expect(await driver.ended).toBe(1);
      expect(driver.output()).toContain(`Stopped by ${signal}.`);
      expect(suite.calls).toContain('DELETE /api/runner/run1');
      await expectClean(driver, suite, processes);
    },
  );
});
