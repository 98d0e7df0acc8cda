// Settings of V8 that halve the memory of the server. They are made by the program, before it loads anything large, so that every
// way to start it has them. What each one saves and costs is in docs/performance.md.
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** The space for young objects in bytes, which V8 would let grow to 32 MB; it has two halves of this size. */
const YOUNG_HALF = 8 * 2 ** 20;
const FIRST_HALF = 2 ** 20;
let isGrown = false;

/** Call it first: flags apply to what is loaded and allocated later. */
export function limitMemory(): void {
  // The query compiler and the XML parser are WebAssembly: compile what is used, when it is used, and do not optimize it, which
  // takes 30 MB on several threads for code that runs once for each kind of query.
  setFlagsFromString('--wasm-lazy-compilation');
  setFlagsFromString('--no-wasm-dynamic-tiering');
  setFlagsFromString('--no-wasm-tier-up');
  limitYoungObjects();
}

// There is no flag for the largest size that works after the start of the process, but the factor by which the space grows does:
// it grows once, from its first size to the wanted one, and then by 1.
function limitYoungObjects(): void {
  setFlagsFromString(`--semi-space-growth-factor=${YOUNG_HALF / FIRST_HALF}`);
  const observer = new PerformanceObserver(() => {
    const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
    if (young && young.space_size < 2 * YOUNG_HALF) return;
    isGrown = true;
    keepYoungLimit();
    observer.disconnect();
  });
  observer.observe({ entryTypes: ['gc'] });
}

/** Call it when a worker thread has started: V8 then sets the factor of the whole process to 2 again. */
export function keepYoungLimit(): void {
  if (isGrown) setFlagsFromString('--semi-space-growth-factor=1');
}
