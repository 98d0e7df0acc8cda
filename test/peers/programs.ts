// The programs of other projects, run for a while on loopback.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';

/** A peer that this machine does not have; the message says what it needs. */
export class Missing extends Error {
  override name = 'Missing';
}

/** Ends a program whose only peer is missing, without a failure. */
export function skip(error: unknown): never {
  if (!(error instanceof Missing)) throw error;
  process.stdout.write(`skipped, ${error.message}\n`);
  process.exit(0);
}

const running = new Set<ChildProcess>();
const folders: string[] = [];
process.on('exit', () => {
  for (const child of running) endGroup(child, 'SIGKILL');
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

/** Throws Missing unless the file exists. */
export function needFile(file: string, how: string): string {
  if (!existsSync(file)) throw new Missing(`needs ${file} (${how})`);
  return file;
}

/** An empty folder, removed at the end unless KEEP is set. */
export function newFolder(name: string): string {
  const folder = mkdtempSync(path.join(tmpdir(), `gatehouse-peers-${name}-`));
  if (process.env.KEEP === undefined) folders.push(folder);
  return folder;
}

/** The output of a command; throws with its error output. */
export async function run(command: string, args: string[], options: { cwd?: string; env?: NodeJS.ProcessEnv } = {}) {
  return (await promisify(execFile)(command, args, options)).stdout;
}

export interface Program {
  stop(): Promise<void>;
  output(): string;
}

export interface ProgramOptions {
  cwd?: string;
  env?: Record<string, string>;
  /** When it is ready, this URL answers below 500, or this file exists. */
  ready: string;
  seconds?: number;
}

/** Starts a program and waits until it answers. Throws with its last output otherwise. */
export async function startProgram(command: string, args: string[], options: ProgramOptions): Promise<Program> {
  const { cwd, env = {}, ready, seconds = 120 } = options;
  // A group of its own, because some leave their workers behind.
  const how = { cwd, env: { ...process.env, ...env }, detached: true, stdio: ['ignore', 'pipe', 'pipe'] } as const;
  const child = spawn(command, args, { ...how, stdio: [...how.stdio] });
  running.add(child);
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-20_000);
    });
  let ended = false;
  const exit = new Promise<void>((resolve) => {
    const end = () => {
      ended = true;
      running.delete(child);
      resolve();
    };
    child.once('exit', end).once('error', (error) => {
      output += String(error);
      end();
    });
  });
  const stop = async () => {
    endGroup(child, 'SIGTERM');
    await Promise.race([exit, sleep(10_000)]);
    endGroup(child, 'SIGKILL');
  };
  const deadline = Date.now() + seconds * 1000;
  const isReady = ready.startsWith('http') ? () => answers(ready) : async () => existsSync(ready);
  while (!(await isReady())) {
    if (!ended && Date.now() < deadline) {
      await sleep(250);
      continue;
    }
    await stop();
    throw new Error(`${command} did not start:\n${output}`);
  }
  return { stop, output: () => output };
}

function endGroup({ pid }: ChildProcess, signal: NodeJS.Signals): void {
  try {
    if (pid !== undefined) process.kill(-pid, signal);
  } catch {
    // It has ended.
  }
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { redirect: 'manual' })).status < 500;
  } catch {
    return false;
  }
}

/** A port of loopback that was free a moment ago. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

/** The version of a Debian package; undefined when it is not installed. */
export async function packageVersion(name: string): Promise<string | undefined> {
  const status = await run('dpkg-query', ['--status', name]).catch(() => '');
  return /^Version: (.*)$/m.exec(status)?.[1];
}

/** The version of the module that a program in Go was built from; NAME_VERSION in the environment overrides it. */
export async function goVersion(program: string): Promise<string> {
  const variable = `${path.basename(program).toUpperCase().replaceAll('-', '_')}_VERSION`;
  // Built in a folder, a program has no version.
  const built = process.env[variable]
    ? `\tmod\tbuilt\t${process.env[variable]}`
    : await run('go', ['version', '-m', program]).catch(() => '');
  return /^\s+mod\s+\S+\s+v?(\S+)/m.exec(built)?.[1] ?? 'of unknown version';
}

/** A port of loopback that leads to another one until it is stopped. */
export async function forward(port: number): Promise<{ origin: string; port: number; stop(): Promise<void> }> {
  const open = new Set<Socket>();
  const server = createServer((incoming) => {
    const outgoing = connect(port, '127.0.0.1');
    for (const [one, other] of [
      [incoming, outgoing],
      [outgoing, incoming],
    ] as const) {
      open.add(one);
      one.pipe(other);
      one.on('error', () => other.destroy()).on('close', () => open.delete(one));
    }
  });
  const own = await freePort();
  await new Promise<void>((resolve) => server.listen(own, '127.0.0.1', resolve));
  const stop = async () => {
    for (const socket of open) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  };
  return { origin: `http://127.0.0.1:${own}`, port: own, stop };
}
