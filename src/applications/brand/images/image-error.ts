// Why a picture cannot be used.

import { AppError } from '../../../base/http/errors.ts';
import { type Fault, fault } from '../../../base/texts/faults.ts';
import { imageLimits } from '../limits.ts';

export class ImageError extends AppError {
  override name = 'ImageError';
  readonly fault: Fault;

  constructor(found: Fault) {
    super('invalid_input', { faults: [found], detail: found });
    this.fault = found;
  }
}

/** A picture that was checked and written again. */
export interface CheckedImage {
  /** The end of its name, which decides its media type. */
  kind: 'png' | 'jpg' | 'svg';
  bytes: Buffer;
  width: number;
  height: number;
}

/** Throws ImageError when the picture is larger than browsers should have to decode, or has no size. */
export function assertSize(width: number, height: number): void {
  if (width < 1 || height < 1) throw new ImageError(fault([], 'picture-dimensions'));
  if (width > imageLimits.side || height > imageLimits.side || width * height > imageLimits.pixels)
    throw new ImageError(fault([], 'picture-pixels', { width, height, side: imageLimits.side }));
}

export const damaged = (kind: string): ImageError =>
  new ImageError(fault([], 'picture-kind-damaged', { format: kind }));
