// Reads configuration files of HTTP requests on a worker thread: half a megabyte of YAML takes a second to parse and check,
// during which the event loop would answer no request. One file at a time, with a limit on time, memory and expansion.

import { AppError, invalidInput, unavailable } from '../base/http/errors.ts';
import { limits } from '../base/limits.ts';
import { workerModule } from '../base/platform/package.ts';
import { inTurns } from '../base/platform/turns.ts';
import { fault } from '../base/texts/faults.ts';
import { createWorker, TaskTimeout } from '../people/credentials/worker.ts';
import type { ParsedFile } from './file.ts';
import type { ParseResult, ParseTask } from './parse-task.ts';
import { type Declared, emptyDeclaration } from './schema.ts';

export type FileReader = ReturnType<typeof createFileReader>;

export interface FileReaderOptions {
  /** The maximum number of waiting files, including the current one. */
  maxWaiting?: number;
  timeLimitMs?: number;
}

/** The thread starts with the first file, and ends when it is idle. */
export function createFileReader(options: FileReaderOptions = {}) {
  const { maxWaiting, timeLimitMs } = { ...limits.configuration, ...options };
  const worker = createWorker<ParseTask, ParseResult>({
    file: workerModule('config-file/parse-task.ts'),
    timeLimitMs,
    maxHeapMb: limits.configuration.heapMb,
  });
  let waiting = 0;
  let last: Promise<unknown> = Promise.resolve();

  async function run(task: Omit<ParseTask, 'maxSize'>): Promise<ParseResult> {
    if (waiting >= maxWaiting) {
      throw unavailable('unavailable', { detail: 'too many files are waiting', headers: { 'Retry-After': '5' } });
    }
    waiting += 1;
    // After the previous file, also if that one failed: a file that takes too much time makes no other file fail.
    const turn = last.then(() => worker.run({ ...task, maxSize: limits.configuration.expandedSize }));
    last = turn.catch(() => undefined);
    try {
      return await turn;
    } catch (cause) {
      throw cause instanceof AppError ? cause : tooCostly(cause);
    } finally {
      waiting -= 1;
    }
  }

  return {
    /** Throws unavailable (503) when too many files wait, and invalid_input (400) for one that takes too much time or memory. */
    async read(text: string): Promise<ParsedFile> {
      const { pieces, faults } = await run({ text });
      const declared = emptyDeclaration();
      for await (const piece of inTurns(pieces, 1)) append(declared, JSON.parse(piece) as Partial<Declared>);
      return { declared, faults, locate: async (found) => (await run({ text, locate: found })).faults };
    },
    close: worker.close,
  };
}

function append(declared: Declared, { settings, ...sections }: Partial<Declared>): void {
  if (settings) declared.settings = settings;
  for (const [section, entries] of Object.entries(sections))
    (declared[section as keyof typeof sections] as unknown[]).push(...entries);
}

function tooCostly(cause: unknown): AppError {
  const code = cause instanceof TaskTimeout ? 'costly-time' : 'costly-memory';
  return invalidInput([fault(['file'], code)], cause);
}
