// Where checkpoints of the audit log are stored outside of the database: a file, the process's own log, and optionally a URL.
// The environment names file and URL, not a setting, because settings are in the database.
import { createPublicKey } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import path from 'node:path';
import type { Logger } from '../../../base/platform/logger.ts';
import {
  type Checkpoint,
  type CheckpointKey,
  formatCheckpoint,
  newestHead,
  parseCheckpoints,
  type SignedCheckpoints,
} from './checkpoint.ts';

export type OutsideCheckpoints = ReturnType<typeof createOutsideCheckpoints>;

export interface OutsideCheckpointsDependencies {
  file: string;
  url: string | undefined;
  key: CheckpointKey;
  /** Checks the address of the URL. */
  fetch: typeof fetch;
  logger: Logger;
}

export function createOutsideCheckpoints(dependencies: OutsideCheckpointsDependencies) {
  const { file, url, key, logger } = dependencies;
  const publicKey = createPublicKey(key.privateKey);
  const attempt = (place: string, work: () => Promise<void>) =>
    work().catch((err: unknown) => logger.error({ err, place }, 'an audit checkpoint could not be stored'));

  return {
    /** Writes the checkpoint to each place. A place that fails is logged; the next checkpoint includes what this one says. */
    async publish(checkpoint: Checkpoint): Promise<void> {
      logger.info({ checkpoint }, 'audit checkpoint');
      await Promise.all([
        attempt(file, () => append(file, `${formatCheckpoint(checkpoint)}\n`)),
        url === undefined ? undefined : attempt(url, () => post(url, checkpoint, dependencies.fetch)),
      ]);
    },
    /** The checkpoints of the file; none without a file. */
    read: async (): Promise<SignedCheckpoints> => parseCheckpoints(await textOf(file), publicKey),
    /** Renames the file after a restore, so that the chain may end earlier than it says; undefined where there is none. */
    async setAside(at: Date): Promise<string | undefined> {
      const name = `${file}.${at.toISOString().replaceAll(':', '-')}`;
      return rename(file, name).then(
        () => name,
        (error: NodeJS.ErrnoException) => {
          if (error.code !== 'ENOENT') throw error;
          return undefined;
        },
      );
    },
    /** The newest end of the chain in the file. */
    newest: async (): Promise<Checkpoint | undefined> => newestHead(await textOf(file), publicKey),
  };
}

function textOf(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}

async function append(file: string, text: string): Promise<void> {
  await mkdir(path.dirname(file), { recursive: true, mode: 0o700 });
  const handle = await open(file, 'a', 0o600);
  try {
    await handle.appendFile(text);
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

async function post(url: string, checkpoint: Checkpoint, send: typeof fetch): Promise<void> {
  const headers = { 'Content-Type': 'application/json' };
  const response = await send(url, { method: 'POST', headers, body: formatCheckpoint(checkpoint), redirect: 'error' });
  await response.arrayBuffer();
  if (!response.ok) throw new Error(`the response was ${response.status}`);
}
