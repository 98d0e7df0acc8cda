// Loaded into the measured server: tells the benchmark for how long its event loop was held up between `begin` and
// `end`. CPU time of the process in each turn of the loop, because on a busy machine the clock counts what others do too
// (monitorEventLoopDelay of perf_hooks, told beside it). Turns with next to nothing to do are left out.
import { createHistogram, monitorEventLoopDelay } from 'node:perf_hooks';

const RESOLUTION_MS = 1;
const BUSY_MICROSECONDS = 200;
let watching;

function watch() {
  const turns = createHistogram();
  const delays = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  let before = used();
  let next;
  const turn = () => {
    const now = used();
    if (now - before >= BUSY_MICROSECONDS) turns.record(now - before);
    before = used();
    next = setImmediate(turn);
  };
  delays.enable();
  next = setImmediate(turn);
  return () => {
    clearImmediate(next);
    delays.disable();
    const cpuMs = (percentile) => turns.percentile(percentile) / 1000;
    const clockMs = (percentile) => Math.max(0, delays.percentile(percentile) / 1e6 - RESOLUTION_MS);
    return { p50: cpuMs(50), p99: cpuMs(99), max: cpuMs(100), clockP99: clockMs(99), clockMax: clockMs(100) };
  };
}

function used() {
  const { user, system } = process.cpuUsage();
  return user + system;
}

process.on('message', (word) => {
  if (word === 'begin') watching = watch();
  else process.send(watching());
});
// Nothing here keeps the server alive when it stops.
process.channel.unref();
