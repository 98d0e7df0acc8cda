// The queue of password attempts of this instance. Network addresses take turns, so that one with many attempts does not
// delay the others, and known browsers come first. An attempt that depends on others in flight waits for them, here or
// on another instance. None waits longer than `limits.signInQueue.seconds`.
import { limits } from '../../base/limits.ts';

export interface QueuedAttempt {
  /** The key of the network address. */
  address: string;
  isKnownBrowser: boolean;
  /** The counters that the attempt uses: when another attempt of the same counter ends, its turn may have come. */
  counters: readonly string[];
}

/** `settled`: other attempts see its result; `waitsFor`: the counter whose attempts in flight decide whether this one may begin. */
export type AttemptStep<T> = { done: T; settled?: Promise<void> | undefined } | { waitsFor: string };

export type SignInQueue = ReturnType<typeof createSignInQueue>;

export interface SignInQueueOptions {
  concurrency?: number;
  maxWaiting?: number;
  /** Calls `work` after so many milliseconds, unless the result is called before. Tests replace it. */
  after?: (milliseconds: number, work: () => void) => () => void;
}

interface Waiting {
  place: QueuedAttempt;
  /** Whether it is done; otherwise it waits for the result. */
  run(): Promise<{ settled?: Promise<void> | undefined } | { waitsFor: string }>;
  leave(): void;
  isLate: boolean;
}

/** By address, in the order in which the addresses take turns. */
type Lane = Map<string, Waiting[]>;

/** After so many turns of known browsers in a row, another one has a turn. */
const KNOWN_IN_A_ROW = 4;
const { pollMilliseconds } = limits.signInQueue;

export function createSignInQueue(options: SignInQueueOptions = {}) {
  const { concurrency = limits.signInQueue.concurrency, maxWaiting = limits.signInQueue.maxWaiting } = options;
  const { after = timer } = options;
  const turns = createTurns(maxWaiting);
  const blocked = createBlockedCounters(after);
  let running = 0;
  let ended = 0;

  function startNext(): void {
    while (running < concurrency) {
      const waiting = turns.next(blocked.isFree);
      if (!waiting) return;
      void work(waiting);
    }
  }

  async function work(waiting: Waiting): Promise<void> {
    running += 1;
    const endedBefore = ended;
    const result = await waiting.run();
    running -= 1;
    if (!('waitsFor' in result)) {
      startNext();
      await result.settled;
      ended += 1;
      for (const counter of waiting.place.counters) blocked.remove(counter);
    } else if (waiting.isLate) waiting.leave();
    else {
      // When another attempt has ended meanwhile, it may have been the one that this attempt waits for.
      if (ended === endedBefore) blocked.add(result.waitsFor, startNext);
      turns.add(waiting, 'first');
    }
    startNext();
  }

  return {
    /** Runs `attempt` when its turn comes, again when it has to wait; `busy` when it waited too long or too many wait. */
    run<T>(place: QueuedAttempt, attempt: () => Promise<AttemptStep<T>>): Promise<T | 'busy'> {
      return new Promise((resolve, reject) => {
        const waiting = waitingAttempt(place, attempt, { resolve, reject, ended: () => cancel() });
        const cancel = after(limits.signInQueue.seconds * 1000, () => {
          waiting.isLate = true;
          turns.remove(waiting);
        });
        turns.add(waiting, 'last');
        startNext();
      });
    },
  };
}

interface Settle<T> {
  resolve(result: T | 'busy'): void;
  reject(error: unknown): void;
  /** Called when the attempt needs no turn any more. */
  ended(): void;
}

function waitingAttempt<T>(place: QueuedAttempt, attempt: () => Promise<AttemptStep<T>>, settle: Settle<T>): Waiting {
  return {
    place,
    isLate: false,
    leave: () => settle.resolve('busy'),
    async run() {
      try {
        const step = await attempt();
        if ('waitsFor' in step) return step;
        settle.resolve(step.done);
        settle.ended();
        return { settled: step.settled };
      } catch (error) {
        settle.reject(error);
        settle.ended();
        return {};
      }
    },
  };
}

/** The waiting attempts, and whose turn it is. */
function createTurns(maxWaiting: number) {
  const lanes = { known: new Map() as Lane, others: new Map() as Lane };
  let count = 0;
  let knownInARow = 0;
  const laneOf = ({ place }: Waiting) => (place.isKnownBrowser ? lanes.known : lanes.others);

  /** Makes room: the address with the most waiting attempts loses its newest. */
  function removeNewestOfLongest(): void {
    const queues = [lanes.others, lanes.known].flatMap((lane) => [...lane.values()]);
    const longest = queues.reduce((one, other) => (other.length > one.length ? other : one));
    const newest = longest.at(-1);
    if (newest) remove(newest);
  }

  function remove(waiting: Waiting): void {
    const lane = laneOf(waiting);
    const { address } = waiting.place;
    const attempts = lane.get(address) ?? [];
    if (!attempts.includes(waiting)) return; // it runs at this moment
    const left = attempts.filter((one) => one !== waiting);
    if (left.length > 0) lane.set(address, left);
    else lane.delete(address);
    count -= 1;
    waiting.leave();
  }

  return {
    remove,

    next(isFree: (waiting: Waiting) => boolean): Waiting | undefined {
      const isOthersTurn = knownInARow >= KNOWN_IN_A_ROW;
      const order = isOthersTurn ? [lanes.others, lanes.known] : [lanes.known, lanes.others];
      for (const lane of order) {
        const found = takeFirst(lane, isFree);
        if (!found) continue;
        knownInARow = lane === lanes.known ? knownInARow + 1 : 0;
        count -= 1;
        return found;
      }
      return undefined;
    },

    add(waiting: Waiting, where: 'first' | 'last'): void {
      const lane = laneOf(waiting);
      const { address } = waiting.place;
      const attempts = lane.get(address) ?? [];
      lane.set(address, where === 'first' ? [waiting, ...attempts] : [...attempts, waiting]);
      count += 1;
      if (count > maxWaiting) removeNewestOfLongest();
    },
  };
}

/** Counters with attempts in flight that others wait for. */
function createBlockedCounters(after: NonNullable<SignInQueueOptions['after']>) {
  /** How to stop the timer of each. */
  const cancels = new Map<string, () => void>();

  function remove(counter: string): void {
    cancels.get(counter)?.();
    cancels.delete(counter);
  }

  return {
    remove,
    isFree: ({ place }: Waiting) => !place.counters.some((counter) => cancels.has(counter)),

    /** Until it is removed, or for a while: attempts in flight on another instance end unnoticed. */
    add(counter: string, removed: () => void): void {
      if (cancels.has(counter)) return;
      const removeLater = () => {
        remove(counter);
        removed();
      };
      cancels.set(counter, after(pollMilliseconds, removeLater));
    },
  };
}

/** The first free attempt of the address whose turn it is; that address has its next turn after all others. */
function takeFirst(lane: Lane, isFree: (waiting: Waiting) => boolean): Waiting | undefined {
  for (const [address, attempts] of lane) {
    const index = attempts.findIndex(isFree);
    const found = attempts[index];
    if (!found) continue;
    lane.delete(address);
    if (attempts.length > 1) lane.set(address, attempts.toSpliced(index, 1));
    return found;
  }
  return undefined;
}

function timer(milliseconds: number, work: () => void): () => void {
  const timeout = setTimeout(work, milliseconds).unref();
  return () => clearTimeout(timeout);
}
