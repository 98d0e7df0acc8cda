// Has pictures checked and written again on a worker thread (images/task.ts).
import { createHash } from 'node:crypto';
import { workerModule } from '../../base/platform/package.ts';
import { fault } from '../../base/texts/faults.ts';
import { createWorker, TaskTimeout } from '../../people/credentials/worker.ts';
import { ImageError } from './images/image-error.ts';
import type { ImageResult, ImageTask } from './images/task.ts';
import { imageLimits } from './limits.ts';

/** A picture that can be stored. */
export interface NewImage {
  /** `<hash>.<kind>` */
  name: string;
  bytes: Buffer;
}

/** The first part of the name of a picture. */
export const imageHash = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex').slice(0, 32);

/** The thread starts with the first picture, and ends when it is idle. */
export function createImageReader() {
  const { maxWaiting, timeLimitMs, heapMb } = imageLimits;
  const file = workerModule('applications/brand/images/task.ts');
  const worker = createWorker<ImageTask, ImageResult>({ file, maxWaiting, timeLimitMs, maxHeapMb: heapMb });
  return {
    /** Throws ImageError, and unavailable (503) when too many pictures wait. */
    async read(bytes: Buffer): Promise<NewImage> {
      const result = await worker.run({ bytes }).catch((error: unknown): ImageResult => {
        if (error instanceof TaskTimeout) return { fault: fault([], 'picture-slow') };
        throw error;
      });
      if ('fault' in result) throw new ImageError(result.fault);
      const checked = Buffer.from(result.image.bytes);
      return { name: `${imageHash(checked)}.${result.image.kind}`, bytes: checked };
    },
    close: worker.close,
  };
}
