// A server under load as a separate process, so that its CPU time can be measured.
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

export interface Child {
  pid: number;
  /** CPU time of all its threads since it started, in milliseconds; in steps of 10 where the system is not Linux. */
  cpuMs(): number;
  /** Resident memory in MB. */
  memoryMb(): number;
  /** How long the event loop was blocked; needs event-loop.mjs in the child. */
  watchEventLoop(work: () => Promise<void>): Promise<HeldUp>;
  stop(): Promise<void>;
}

export interface ChildOptions {
  arguments: string[];
  cwd: string;
  env: Record<string, string>;
  /** Returns 200 when the server is ready. */
  readyUrl: string;
}

export interface StartedChild extends Child {
  /** From starting the process to its first response. */
  startMs: number;
}

/** Milliseconds of CPU in a busy turn of the event loop, and the result of monitorEventLoopDelay. */
export interface HeldUp {
  p50: number;
  p99: number;
  max: number;
  /** The longest turn without garbage collection. */
  own: number;
  /** The longest collection, by the clock. */
  gc: number;
  clockP99: number;
  clockMax: number;
}

const running = new Set<ChildProcess>();
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});

const LOG_CHARACTERS = 5000;
const READY_MS = 60_000;

/** Starts `node <arguments>` and waits until it responds; throws with its last output otherwise. */
export async function startChild({ arguments: args, cwd, env, readyUrl }: ChildOptions): Promise<StartedChild> {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  const system = { PATH, HOME, ...(TMPDIR ? { TMPDIR } : {}), NODE_ENV: 'production' };
  const started = performance.now();
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...system, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  let log = '';
  for (const stream of [child.stdout, child.stderr])
    stream?.setEncoding('utf8').on('data', (text: string) => {
      log = (log + text).slice(-LOG_CHARACTERS);
    });
  while (!(await answers(readyUrl))) {
    if (child.exitCode !== null) throw new Error(`node ${args.join(' ')} ended with ${child.exitCode}:\n${log}`);
    if (performance.now() - started > READY_MS) throw new Error(`node ${args.join(' ')} did not get ready:\n${log}`);
    await sleep(5);
  }
  const { pid = 0 } = child;
  const startMs = performance.now() - started;
  return {
    pid,
    startMs,
    cpuMs: () => cpuMs(pid),
    memoryMb: () => memoryMb(pid),
    async watchEventLoop(work) {
      child.send('begin');
      await work();
      const report = once(child, 'message');
      child.send('end');
      return (await report)[0];
    },
    stop: () => stop(child),
  };
}

async function answers(url: string): Promise<boolean> {
  try {
    return (await fetch(url)).ok;
  } catch {
    return false;
  }
}

async function stop(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  const hurry = setTimeout(() => child.kill('SIGKILL'), 20_000);
  await ended;
  clearTimeout(hurry);
}

function cpuMs(pid: number): number {
  if (process.platform !== 'linux') return psCpuMs(pid);
  // proc(5): the first field of schedstat is the time of one thread on a processor, in nanoseconds.
  const threads = `/proc/${pid}/task`;
  return readdirSync(threads).reduce((sum, thread) => sum + threadNs(`${threads}/${thread}/schedstat`), 0) / 1e6;
}

function threadNs(file: string): number {
  try {
    return Number(readFileSync(file, 'latin1').split(' ')[0]);
  } catch {
    return 0; // the thread has ended since the folder was read
  }
}

// [[days-]hours:]minutes:seconds.hundredths
function psCpuMs(pid: number): number {
  const text = execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  const [days, clock] = text.includes('-') ? text.split('-') : ['0', text];
  const seconds = (clock ?? '').split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1000;
}

function memoryMb(pid: number): number {
  const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Number(kilobytes) / 1024;
}
