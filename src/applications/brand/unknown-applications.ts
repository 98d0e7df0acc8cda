// Brands of applications that do not exist: most likely a typing error in the configuration file, so its sign-in pages have the brand of all.
import type { SettingValues } from '../../core/settings/settings.ts';

/** One sentence for each key of `brand_applications` that is the client ID or entity ID of no application. */
export function unknownBrandApplications(
  brands: SettingValues['brand_applications'] | undefined,
  isKnown: (id: string) => boolean,
): string[] {
  return Object.keys(brands ?? {})
    .filter((id) => !isKnown(id))
    .map((id) => `brand_applications names ${id}, which is the client ID or entity ID of no application`);
}
