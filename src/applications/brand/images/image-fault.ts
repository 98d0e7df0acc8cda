// Why a picture cannot be used, as the end of a sentence that begins with the name of its field.

import { faultMessage } from '../../../base/platform/fault-messages.ts';
import { imageLimits } from '../limits.ts';

export class ImageFault extends Error {
  override name = 'ImageFault';
}

/** A picture that was checked and written again. */
export interface CheckedImage {
  /** The end of its name, which decides its media type. */
  kind: 'png' | 'jpg' | 'svg';
  bytes: Buffer;
  width: number;
  height: number;
}

/** Throws ImageFault when the picture is larger than browsers should have to decode, or has no size. */
export function assertSize(width: number, height: number): void {
  if (width < 1 || height < 1) throw new ImageFault(faultMessage('picture-dimensions'));
  if (width > imageLimits.side || height > imageLimits.side || width * height > imageLimits.pixels)
    throw new ImageFault(faultMessage('picture-pixels', { width, height, side: imageLimits.side }));
}

export const damaged = (kind: string): ImageFault =>
  new ImageFault(faultMessage('picture-kind-damaged', { format: kind }));
