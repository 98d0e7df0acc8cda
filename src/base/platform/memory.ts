// Settings of V8 that halve the memory of the server. They are made by the program, before it loads anything large, so that every
// way to start it has them.
import { PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics, setFlagsFromString } from 'node:v8';

/** The space for young objects in bytes, which V8 would let grow to 32 MB; it has two halves of this size. */
const YOUNG_HALF = 8 * 2 ** 20;
const FIRST_HALF = 2 ** 20;
/**
 * How much the old objects may grow between two collections of all, in percent of those that survived. V8 would let them double and more. Few
 * requests leave anything there, so such a collection is rare with this limit too.
 */
const OLD_GROWTH_PERCENT = 40;
/** What a start allocates stays alive, so that collections meanwhile only delay it. */
const START_MS = 5000;

/** Call it first: flags apply to what is loaded and allocated later. */
export function limitMemory(): void {
  // The query compiler and the XML parser are WebAssembly: compile what is used, when it is used, and do not optimize it, which
  // takes 30 MB on several threads for code that runs once for each kind of query.
  setFlagsFromString('--wasm-lazy-compilation');
  setFlagsFromString('--no-wasm-dynamic-tiering');
  setFlagsFromString('--no-wasm-tier-up');
  growYoungSpace();
  setTimeout(() => setFlagsFromString(`--heap-growing-percent=${OLD_GROWTH_PERCENT}`), START_MS).unref();
  new PerformanceObserver(keepYoungLimit).observe({ entryTypes: ['gc'] });
}

// There is no flag for the largest size that works after the start of the process, but the factor by which the space grows does: it grows
// once, from its first size to the wanted one, and then by 1. V8 grows it in a collection of which more survives than it holds, and such
// collections follow each other while modules are loaded. So it grows here: a callback after the first one would come too late.
function growYoungSpace(): void {
  setFlagsFromString(`--semi-space-growth-factor=${YOUNG_HALF / FIRST_HALF}`);
  const survivors: number[][] = [];
  for (let piece = 0; piece < MAX_PIECES && youngSize() < 2 * YOUNG_HALF; piece += 1)
    for (let count = 0; count < PIECE; count += 1) survivors.push([piece, count]);
  keepYoungLimit();
}

/** Arrays of some 50 bytes that are made before the size is read again. */
const PIECE = 2000;
/** 10 MB in all, where some 3 are enough. */
const MAX_PIECES = 100;

/**
 * Sets the factor by which the space of young objects grows next: to its limit when V8 has shrunk it, which it does in an idle process, and not
 * at all otherwise. It runs after each collection; call it when a worker thread has started too: V8 then sets the factor of the whole process to its default.
 */
export function keepYoungLimit(): void {
  const factor = Math.min(YOUNG_HALF / FIRST_HALF, Math.max(1, Math.floor((2 * YOUNG_HALF) / youngSize())));
  setFlagsFromString(`--semi-space-growth-factor=${factor}`);
}

function youngSize(): number {
  const young = getHeapSpaceStatistics().find(({ space_name: name }) => name === 'new_space');
  return young?.space_size ?? 2 * YOUNG_HALF;
}

/** Smaller than what glibc takes from the system for one block by itself (MALLOC_MMAP_THRESHOLD_, 32 MB at most): see returnFreeMemory. */
const TRIM_BLOCK = 28 * 2 ** 20;
/** Enough for a threshold of 280 MB, 14 hashes. */
const MAX_TRIM_BLOCKS = 10;

/**
 * Returns freed memory at the end of the C library's heap to the system: that of a password hash, 19 MB. With the settings of `npm start`
 * and of the image, glibc retains up to 24 MB there, so that hashes in a row need no fresh pages; it returns all of it when blocks
 * are freed that make the rest larger. Their pages are never touched. Without these settings it does nothing,
 * because glibc would then adapt its thresholds to the block.
 */
export function returnFreeMemory(): void {
  const retained = Number(process.env.MALLOC_TRIM_THRESHOLD_);
  if (!Number.isSafeInteger(retained)) return;
  const count = Math.min(Math.floor(retained / TRIM_BLOCK) + 1, MAX_TRIM_BLOCKS);
  const blocks = Array.from({ length: count }, () => Buffer.allocUnsafeSlow(TRIM_BLOCK).buffer);
  // A transfer to a closed port frees them at once, and not at some later collection.
  const { port1, port2 } = new MessageChannel();
  port2.close();
  port1.postMessage(undefined, blocks);
  port1.close();
}
