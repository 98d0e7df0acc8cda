// The task of the worker thread that checks pictures and writes them again (image-store.ts): inflating and compressing the pixels of a PNG takes
// up to a second. No WebP: some mail programs do not show it.
import { type Fault, fault } from '../../../base/texts/faults.ts';
import { type CheckedImage, ImageError } from './image-error.ts';
import { checkJpeg, isJpeg } from './jpeg.ts';
import { checkPng, isPng } from './png.ts';
import { checkSvg, isSvg } from './svg.ts';

export interface ImageTask {
  bytes: Uint8Array;
}

export type ImageResult = { image: Omit<CheckedImage, 'bytes'> & { bytes: Uint8Array } } | { fault: Fault };

/** Its content decides what it is, neither its name nor the type that a browser sent. */
export function perform({ bytes }: ImageTask): ImageResult {
  try {
    return { image: checked(Buffer.from(bytes)) };
  } catch (error) {
    if (error instanceof ImageError) return { fault: error.fault };
    // A number beyond the end of a damaged file.
    if (error instanceof RangeError) return { fault: fault([], 'picture-damaged') };
    throw error;
  }
}

function checked(bytes: Buffer): CheckedImage {
  if (isPng(bytes)) return checkPng(bytes);
  if (isJpeg(bytes)) return checkJpeg(bytes);
  if (isSvg(bytes)) return checkSvg(bytes);
  throw new ImageError(fault([], 'picture-kind'));
}
