// The list of common passwords and the strength meter (seed 5.5 policy 3), both from zxcvbn-ts on a worker thread: its
// dictionaries take 40 ms to load and one estimate up to 270 ms, which would hold up every other request.
import { createWorker } from './worker.ts';

export interface Strength {
  /** 0 guessed at once … 4 out of reach. */
  score: number;
  label: 'very weak' | 'weak' | 'fair' | 'good' | 'strong';
  /** What would make it stronger, in sentences. */
  advice: string[];
}

export interface StrengthMeter {
  /** Whether it is on the list of common passwords, or two of them put together, or one repeated. */
  isCommon(password: string): Promise<boolean>;
  /** `known` is what an attacker knows about the person: names, addresses. Never blocks anything: it helps. */
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
// The estimate grows with the square of the length, and what is longer than this is out of reach anyway.
const MAX_ESTIMATED = 100;

const TASK = `
const [core, language] = modules;
this.passwords ??= new Set(language.dictionary['passwords-common']);
const has = (text) => this.passwords.has(text);
const text = task.password.normalize('NFKC').toLowerCase();
const units = Array.from({ length: Math.floor(text.length / 2) }, (_, index) => index + 1);
const common = has(text)
  || units.some((unit) => unit >= 4 && has(text.slice(0, unit)) && has(text.slice(unit)))
  || units.some((unit) => text.length - unit >= 4 && has(text.slice(0, -unit)) && has(text.slice(-unit)))
  || units.some((unit) => has(text.slice(0, unit)) && text === text.slice(0, unit).repeat(text.length / unit));
if (!task.known) return { common, score: 0, warning: null, suggestions: [] };
this.zxcvbn ??= new core.ZxcvbnFactory({ dictionary: language.dictionary, graphs: language.adjacencyGraphs });
const { score, feedback } = this.zxcvbn.check(task.password.slice(0, ${MAX_ESTIMATED}), task.known);
return { common, score: common ? Math.min(score, 1) : score, ...feedback };`;

/** `maxWaiting`: more estimates than this at once are refused. */
export function createStrengthMeter({ maxWaiting = 100 }: { maxWaiting?: number } = {}): StrengthMeter {
  const worker = createWorker<Task, Result>({
    maxWaiting,
    modules: ['@zxcvbn-ts/core', '@zxcvbn-ts/language-common'],
    task: TASK,
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

// The keys of zxcvbn-ts in our words; keys that are missing here have nothing to add.
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
  similarToCommon: 'This resembles a very common password.',
  userInputs: 'Parts of your name or address are easy to guess.',
  wordByItself: 'A single word is easy to guess.',
  l33t: 'Swapping letters for look-alikes such as @ and 0 helps little.',
  reverseWords: 'Writing a word backwards helps little.',
  allUppercase: 'Capital letters only help little.',
  capitalization: 'A capital at the beginning helps little.',
  associatedYears: 'Leave out years that have to do with you.',
  repeated: 'Leave out repeated words and characters.',
  longerKeyboardPattern: 'Change direction on the keyboard more often, or better: use words.',
  anotherWord: 'Add a word or two, the less usual the better.',
  useWords: 'Use several words in a row.',
};
