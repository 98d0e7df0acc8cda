// The list of common passwords and the strength estimate, both from zxcvbn-ts on a worker thread: loading its
// dictionaries takes 40 ms and one estimate up to 270 ms, which would block every other request.
import { workerModule } from '../platform/package.ts';
import { createWorker } from './worker.ts';

export interface Strength {
  /** From 0 (guessed at once) to 4 (out of reach). */
  score: number;
  label: 'very weak' | 'weak' | 'fair' | 'good' | 'strong';
  /** What would make it stronger, in sentences. */
  advice: string[];
}

export interface StrengthMeter {
  /** Whether it is a common password, two of them joined, or one repeated. */
  isCommon(password: string): Promise<boolean>;
  /** An estimate for the user; nothing is rejected because of it. `known`: what an attacker knows, such as names. */
  estimate(password: string, known?: readonly string[]): Promise<Strength>;
  close(): Promise<void>;
}

interface Task {
  password: string;
  known?: readonly string[];
}
interface Result {
  common: boolean;
  score: number;
  warning: string | null;
  suggestions: string[];
}

const LABELS = ['very weak', 'weak', 'fair', 'good', 'strong'] as const;
/** `maxWaiting`: how many estimates may wait; more are rejected. */
export function createStrengthMeter({ maxWaiting = 100 }: { maxWaiting?: number } = {}): StrengthMeter {
  const worker = createWorker<Task, Result>({
    maxWaiting,
    file: workerModule('credentials/workers/strength.mjs'),
  });
  return {
    async isCommon(password) {
      return (await worker.run({ password })).common;
    },
    async estimate(password, known = []) {
      const { score, warning, suggestions } = await worker.run({ password, known: known.filter(Boolean) });
      const label = LABELS[score] ?? 'fair';
      const advice = [warning, ...suggestions].flatMap((key) => (key && ADVICE[key]) || []);
      return { score, label, advice: [...new Set(advice)] };
    },
    close: () => worker.close(),
  };
}

// The texts for the keys of zxcvbn-ts; a key that is not listed adds nothing.
const ADVICE: Record<string, string> = {
  straightRow: 'Rows of keys are easy to guess.',
  keyPattern: 'Patterns on the keyboard are easy to guess.',
  simpleRepeat: 'Repeated characters such as “aaa” are easy to guess.',
  extendedRepeat: 'Repeated parts such as “abcabc” are easy to guess.',
  sequences: 'Sequences such as “abc” or “6543” are easy to guess.',
  recentYears: 'Recent years are easy to guess.',
  dates: 'Dates are easy to guess.',
  topTen: 'This is among the ten most used passwords.',
  topHundred: 'This is among the hundred most used passwords.',
  common: 'This is a very common password.',
  similarToCommon: 'This is similar to a very common password.',
  userInputs: 'Parts of your name or address are easy to guess.',
  wordByItself: 'A single word is easy to guess.',
  l33t: 'Swapping letters for look-alikes such as @ and 0 doesn’t help much.',
  reverseWords: 'Writing a word backward doesn’t help much.',
  allUppercase: 'Using only capital letters doesn’t help much.',
  capitalization: 'A capital letter at the beginning doesn’t help much.',
  associatedYears: 'Avoid years that are connected to you.',
  repeated: 'Avoid repeated words and characters.',
  longerKeyboardPattern: 'Avoid keyboard patterns. Use words instead.',
  anotherWord: 'Add an uncommon word or two.',
  useWords: 'Use several words in a row.',
};
