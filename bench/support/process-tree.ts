// CPU time and memory of a server: of its process and of the processes below it, from /proc.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Returns a function that reads the CPU time since the process started, in milliseconds; in steps of 10 where the system is not Linux. */
export function cpuMeter(pid: number): () => number {
  if (process.platform !== 'linux') return () => psCpuMs(pid);
  // A thread that has ended is no longer in /proc, but its time still counts: the JVM ends threads of its compiler.
  const threads = new Map<string, number>();
  return () => {
    for (const file of processTree(pid).flatMap(threadsOf)) {
      // proc(5): the first field of schedstat is the time of one thread on a processor, in nanoseconds.
      const [nanoseconds] = wordsIn(`${file}/schedstat`);
      if (nanoseconds !== undefined) threads.set(file, Number(nanoseconds));
    }
    let sum = 0;
    for (const nanoseconds of threads.values()) sum += nanoseconds;
    return sum / 1e6;
  };
}

/** CPU time of the main thread since the process started, in milliseconds; of all threads where the system is not Linux. */
export function mainThreadMs(pid: number): number {
  const [nanoseconds] = wordsIn(`/proc/${pid}/task/${pid}/schedstat`);
  return nanoseconds === undefined ? psCpuMs(pid) : Number(nanoseconds) / 1e6;
}

/** Resident memory in MB. */
export function memoryMb(pid: number): number {
  const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', processTree(pid).join(',')], { encoding: 'utf8' });
  return kilobytes.split('\n').reduce((sum, line) => sum + Number(line), 0) / 1024;
}

/** The process and all below it; without those where the system is not Linux. */
export function processTree(pid: number): number[] {
  const children = threadsOf(pid).flatMap((thread) => wordsIn(`${thread}/children`));
  return [pid, ...children.flatMap((child) => processTree(Number(child)))];
}

const threadsOf = (pid: number): string[] => entriesOf(`/proc/${pid}/task`).map((id) => `/proc/${pid}/task/${id}`);

function entriesOf(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return []; // the process has ended
  }
}

function wordsIn(file: string): string[] {
  try {
    return readFileSync(file, 'latin1').split(/\s+/).filter(Boolean);
  } catch {
    return []; // the thread has ended since the folder was read
  }
}

// [[days-]hours:]minutes:seconds.hundredths
function psCpuMs(pid: number): number {
  const text = execFileSync('ps', ['-o', 'time=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  const [days, clock] = text.includes('-') ? text.split('-') : ['0', text];
  const seconds = (clock ?? '').split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1000;
}
