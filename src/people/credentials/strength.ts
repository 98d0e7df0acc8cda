// The list of common passwords and the strength estimate, both from zxcvbn-ts on a worker thread: loading its
// dictionaries takes 40 ms and one estimate up to 270 ms, which would block every other request.

import { workerModule } from '../../base/platform/package.ts';
import { type PageText, type Text, textAt } from '../../base/texts/text.ts';
import { createWorker } from './worker.ts';

export interface Strength {
  /** From 0 (guessed at once) to 4 (out of reach). */
  score: number;
  label: 'very weak' | 'weak' | 'fair' | 'good' | 'strong';
  /** What would make it stronger, in sentences. */
  advice: PageText[];
}

export type StrengthMeter = ReturnType<typeof createStrengthMeter>;

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
export function createStrengthMeter({ maxWaiting = 100 }: { maxWaiting?: number } = {}) {
  const worker = createWorker<Task, Result>({
    maxWaiting,
    file: workerModule('people/credentials/workers/strength.mjs'),
  });
  return {
    /** Whether it is a common password, two of them joined, or one repeated. */
    async isCommon(password: string): Promise<boolean> {
      return (await worker.run({ password })).common;
    },
    /** An estimate for the user; nothing is rejected because of it. `known`: what an attacker knows, such as names. */
    async estimate(password: string, known: readonly string[] = []): Promise<Strength> {
      const { score, warning, suggestions } = await worker.run({ password, known: known.filter(Boolean) });
      const label = LABELS[score] ?? 'fair';
      const keys = new Set([warning, ...suggestions]);
      return { score, label, advice: [...keys].flatMap((key) => (key ? adviceOf(key) : [])) };
    },
    close: (): Promise<void> => worker.close(),
  };
}

/** The text for a key of zxcvbn-ts, such as `strength.straight-row`; a key without a text adds nothing. */
const adviceOf = (key: string): Text[] => {
  const text = textAt(`strength.${key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`);
  return text ? [text] : [];
};
