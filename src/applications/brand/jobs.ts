// Removes the pictures that no brand has any more. A day after they were stored: a form may wait for its sign-in, and pages of before
// are still open.

import type { Core } from '../../core/core.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import type { ImageStore } from './image-store.ts';
import { imageLimits } from './limits.ts';
import { pictureNames } from './pictures.ts';

export function brandJobs({ brandImages: images, settings, now }: Core & { brandImages: ImageStore }): ScheduledJob[] {
  const { unusedHours } = imageLimits;
  return [
    {
      name: 'brand-images',
      everySeconds: unusedHours * 3600,
      async run() {
        const used = pictureNames(await settings.reload());
        await images.removeOthers(used, new Date(now().getTime() - unusedHours * 3_600_000));
      },
    },
  ];
}
