// The server on one core and the generator of its load on the others, by `taskset`, for times by the clock.
import { execFileSync } from 'node:child_process';
import os from 'node:os';

const count = os.cpus().length;
export const cores = { server: '0', generator: count === 2 ? '1' : `1-${count - 1}`, all: `0-${count - 1}` };

/** Puts all threads of the process, and those that it starts, on these cores. Throws on a machine with one. */
export function pin(pid: number, list: string): void {
  if (count < 2) throw new Error('the server and the generator need a core each');
  execFileSync('taskset', ['-a', '-c', '-p', list, String(pid)]);
}
