// Loaded into the measured server: reports how long its event loop was blocked between `begin` and `end`, in each busy
// turn. Measures CPU time, because wall time includes other processes on a busy machine; of the main thread only where the
// system reports it (Linux), because the garbage collector and the compiler use other threads. Turns with garbage
// collection are reported separately, and monitorEventLoopDelay beside them.
import { openSync, readSync } from 'node:fs';
import { createHistogram, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';

const RESOLUTION_MS = 1;
const BUSY_MS = 0.2;
/** Turns longer than this are checked for garbage collection; shorter ones cannot be the longest. */
const LONG_MS = 1;
const schedstat = process.platform === 'linux' ? openSync(`/proc/self/task/${process.pid}/schedstat`) : undefined;
const text = Buffer.alloc(64);
const nothing = new Int32Array(new SharedArrayBuffer(4));
let watching;

function watch() {
  const turns = createHistogram();
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  const long = [];
  const pauses = [];
  const collector = new PerformanceObserver((list) => pauses.push(...list.getEntries()));
  collector.observe({ entryTypes: ['gc'] });
  let before = moment();
  let next;
  const turn = () => {
    const { at, cpu, thread } = moment();
    // Each measurement may be slightly too high; the minimum is not.
    const ms = Math.min(thread - before.thread, cpu - before.cpu, at - before.at);
    if (ms >= BUSY_MS) turns.record(Math.round(ms * 1000));
    if (ms >= LONG_MS) long.push({ from: before.at, to: at, ms });
    before = moment();
    next = setImmediate(turn);
  };
  delays.enable();
  next = setImmediate(turn);
  return async () => {
    clearImmediate(next);
    delays.disable();
    await sleep(20); // the last collections are reported a little later
    collector.disconnect();
    const isCollected = ({ from, to }) =>
      pauses.some(({ startTime, duration }) => startTime < to && startTime + duration > from);
    const own = long.filter((turn) => !isCollected(turn)).map(({ ms }) => ms);
    const cpuMs = (percentile) => turns.percentile(percentile) / 1000;
    const clockMs = (percentile) => Math.max(0, delays.percentile(percentile) / 1e6 - RESOLUTION_MS);
    return {
      p50: cpuMs(50),
      p99: cpuMs(99),
      max: cpuMs(100),
      own: Math.max(0, ...own),
      gc: Math.max(0, ...pauses.map(({ duration }) => duration)),
      clockP99: clockMs(99),
      clockMax: clockMs(100),
    };
  };
}

function moment() {
  const { user, system } = process.cpuUsage();
  const cpu = (user + system) / 1000;
  return { at: performance.now(), cpu, thread: threadMs() ?? cpu };
}

/** CPU time of the main thread, whose id is that of the process (proc(5): the first field of schedstat). */
function threadMs() {
  if (schedstat === undefined) return undefined;
  // The kernel updates the figure when the thread sleeps, so it sleeps for a moment.
  Atomics.wait(nothing, 0, 0, 0.02);
  const length = readSync(schedstat, text, 0, text.length, 0);
  return Number(text.latin1Slice(0, length).split(' ')[0]) / 1e6;
}

process.on('message', async (word) => {
  if (word === 'begin') watching = watch();
  else process.send(await watching());
});
// Does not prevent the server from stopping.
process.channel.unref();
