// The pictures of brands: stored in the database under the hash of their content, so that every instance serves them. A setting or an application has only the name of its picture.

import type { Base } from '../../base/base.ts';
import type { Tx } from '../../base/storage/database.ts';
import { fault } from '../../base/texts/faults.ts';
import { genuineText, removeValues, storedKeys, storeValue } from '../../core/settings/settings.ts';
import { isImageData, isImageName } from '../../core/settings/value-schemas.ts';
import { createImageReader, type NewImage } from './image-reader.ts';
import { ImageError } from './images/image-error.ts';
import { imageLimits } from './limits.ts';

export type ImageStore = ReturnType<typeof createImageStore>;

/** The keys of their rows, which have a MAC as settings have. */
export const IMAGE_KEY = 'brand-image:';

/** The thread starts with the first picture, and ends when it is idle. */
export function createImageStore({ db, now }: Base) {
  const reader = createImageReader();

  async function read(name: string): Promise<Buffer | undefined> {
    const text = isImageName(name) ? await genuineText(db, `${IMAGE_KEY}${name}`) : undefined;
    return text === undefined ? undefined : Buffer.from(JSON.parse(text) as string, 'base64');
  }

  async function check(bytes: Buffer): Promise<NewImage> {
    if (bytes.length > imageLimits.bytes)
      throw new ImageError(
        fault([], 'picture-size', { size: kilobytes(bytes.length), maximum: kilobytes(imageLimits.bytes) }),
      );
    return reader.read(bytes);
  }

  return {
    /** The content; undefined without such a picture, and for one that another program wrote. */
    read,
    /** The picture as it is written again. Throws ImageError, and unavailable (503) when too many pictures wait. */
    check,
    close: reader.close,

    /**
     * The name for a setting, and the picture to save with it. `value` is a data URL or the name of a stored picture, which is saved
     * again, because the removal of unused pictures may find it before the setting names it.
     *
     * @throws ImageError for a picture that cannot be used, one that is not stored, and a path
     */
    async prepare(value: string): Promise<NewImage> {
      if (isImageName(value)) {
        const bytes = await read(value);
        if (bytes) return { name: value, bytes };
        throw new ImageError(fault([], 'picture-missing'));
      }
      if (!isImageData(value)) throw new ImageError(fault([], 'picture-path'));
      return check(Buffer.from(value.slice(value.indexOf(',') + 1), 'base64'));
    },

    async save(tx: Tx, { name, bytes }: NewImage): Promise<void> {
      const key = `${IMAGE_KEY}${name}`;
      await storeValue(tx, key, bytes.toString('base64'), { source: 'brand', at: now(), isProtected: true });
    },

    /** Removes the pictures that were stored before `before` and have none of these names. */
    async removeOthers(used: ReadonlySet<string>, before: Date): Promise<void> {
      const keys = await storedKeys(db, IMAGE_KEY, before);
      await removeValues(
        db,
        keys.filter((key) => !used.has(key.slice(IMAGE_KEY.length))),
        before,
      );
    },
  };
}

const TYPES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  svg: 'image/svg+xml',
};

/** The media type of a stored picture. */
export function imageType(name: string): string {
  return TYPES[name.slice(name.indexOf('.') + 1)] ?? '';
}

const kilobytes = (bytes: number) => Math.ceil(bytes / 1000);
