// The pictures among settings: those of the brand, and those of the brands of applications.
import type { Fault } from '../../base/texts/faults.ts';
import type { Core } from '../../core/core.ts';
import type { ScheduledJob } from '../../core/jobs/scheduler.ts';
import { isImageData, isImageName } from '../../core/settings/value-schemas.ts';
import { brandImageSettings } from './brand.ts';
import type { NewImage } from './image-reader.ts';
import type { ImageStore } from './image-store.ts';
import { ImageError } from './images/image-error.ts';
import { imageLimits } from './limits.ts';

type ImageSetting = (typeof brandImageSettings)[number];
type ImagePart = 'logo' | 'logo_dark' | 'icon' | 'background';

/** Settings, as far as they hold pictures; null resets one. */
export type PictureValues = { [Name in ImageSetting]?: string | null | undefined } & {
  brand_applications?:
    | { readonly [application: string]: { [Part in ImagePart]?: string | undefined } }
    | null
    | undefined;
};

interface Picture {
  /** Where it is, from the name of the setting on. */
  path: [ImageSetting | 'brand_applications', ...string[]];
  value: string;
  replace(value: string): void;
}

const PARTS: readonly ImagePart[] = ['logo', 'logo_dark', 'icon', 'background'];

/** Every picture of these settings; `replace` changes them. */
export function picturesIn(values: PictureValues): Picture[] {
  const own = brandImageSettings.flatMap((name): Picture[] => {
    const value = values[name];
    const replace = (text: string) => {
      values[name] = text;
    };
    return value ? [{ path: [name], value, replace }] : [];
  });
  const ofApplications = Object.entries(values.brand_applications ?? {}).flatMap(([application, brand]) =>
    PARTS.flatMap((part): Picture[] => {
      const value = brand[part];
      const replace = (text: string) => {
        brand[part] = text;
      };
      return value ? [{ path: ['brand_applications', application, part], value, replace }] : [];
    }),
  );
  return [...own, ...ofApplications];
}

/** The names of the pictures that these settings have. */
export function pictureNames(values: PictureValues): Set<string> {
  return new Set(picturesIn(structuredClone(values)).map(({ value }) => value));
}

/** Whether the value of a picture is the path of a file. */
export const isPicturePath = (value: string): boolean => !isImageName(value) && !isImageData(value);

export interface StoredPictures<Values> {
  /** The settings with the name of each picture. */
  values: Values;
  /** Those to save, each with its setting. */
  images: { setting: string; image: NewImage }[];
  faults: Fault[];
}

/**
 * @param used the names that the settings have now, which need not be saved again
 * @param read returns the data URL or the name of a picture
 */
export async function withStoredPictures<Values extends PictureValues>(
  before: Values,
  store: ImageStore,
  used: ReadonlySet<string>,
  read = async (value: string) => value,
): Promise<StoredPictures<Values>> {
  const values = structuredClone(before);
  const stored: StoredPictures<Values> = { values, images: [], faults: [] };
  for (const { path, value, replace } of picturesIn(values)) {
    if (used.has(value)) continue;
    try {
      const image = await store.prepare(await read(value));
      replace(image.name);
      stored.images.push({ setting: path[0], image });
    } catch (error) {
      if (!(error instanceof ImageError)) throw error;
      stored.faults.push({ ...error.fault, path });
    }
  }
  return stored;
}

// Removes the pictures that no brand has any more. A day after they were stored: a form may wait for its sign-in, and pages of before
// are still open.

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
