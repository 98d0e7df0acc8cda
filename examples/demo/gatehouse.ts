// Runs a server of the demo: the built `dist/main.js`, as a child process, in a temporary folder.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Variable, variables } from '../../src/base/config/variables.ts';

const program = path.join(import.meta.dirname, '..', '..', 'dist', 'main.js');
const READY_SECONDS = 60;
const MAX_LOG_CHARACTERS = 20_000;

export interface DemoGatehouse {
  issuer: string;
  /** Resolves with its last log lines when it stops unexpectedly. */
  died: Promise<string>;
  stop(): Promise<void>;
}

export interface GatehouseOptions {
  /** Is created. */
  folder: string;
  issuer: string;
  /** The text of gatehouse.yaml. */
  configuration: string;
  /** Gets each line of its log. */
  onLog?: (line: string) => void;
}

/** Starts it and waits until it is ready; throws with its log otherwise. */
export async function startGatehouse(options: GatehouseOptions): Promise<DemoGatehouse> {
  const { folder, issuer, configuration, onLog } = options;
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const configFile = path.join(folder, 'gatehouse.yaml');
  writeFileSync(configFile, configuration, { mode: 0o600 });
  const server = spawn(process.execPath, [program], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env, // for the system's own variables; those of Gatehouse are blanked, so the developer's database stays untouched
      ...blankVariables(),
      ISSUER: issuer,
      PORT: new URL(issuer).port,
      DATA_DIR: path.join(folder, 'data'),
      GATEHOUSE_CONFIG: configFile,
      LOG_FORMAT: 'json',
    },
  });
  let log = '';
  const keep = (text: string) => {
    log = (log + text).slice(-MAX_LOG_CHARACTERS);
  };
  server.stdout.setEncoding('utf8').on('data', keep);
  server.stderr.setEncoding('utf8').on('data', keep);
  if (onLog) createInterface({ input: server.stdout }).on('line', onLog);

  let isWanted = true;
  const died = new Promise<string>((resolve) => {
    server.once('error', (error) => resolve(String(error)));
    server.once('close', (code) => isWanted && resolve(`${log}(exit code ${code})`));
  });
  const stop = async () => {
    isWanted = false;
    await end(server);
  };
  const outcome = await Promise.race([died, untilReady(issuer)]);
  if (outcome !== 'ready') {
    await stop();
    throw new Error(`Gatehouse did not start:\n${outcome === 'late' ? log : outcome}`);
  }
  return { issuer, died, stop };
}

async function untilReady(issuer: string): Promise<'ready' | 'late'> {
  const deadline = Date.now() + READY_SECONDS * 1000;
  while (Date.now() < deadline) {
    const answer = await fetch(`${issuer}/readyz`).catch(() => undefined);
    if (answer?.ok) return 'ready';
    await sleep(100);
  }
  return 'late';
}

async function end(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null || server.pid === undefined) return;
  const ended = once(server, 'close');
  server.kill('SIGTERM');
  await ended;
}

function blankVariables(): Record<string, string> {
  const names = Object.entries<Variable>(variables).flatMap(([name, { file }]) =>
    file ? [name, `${name}_FILE`] : [name],
  );
  return Object.fromEntries(names.map((name) => [name, '']));
}
