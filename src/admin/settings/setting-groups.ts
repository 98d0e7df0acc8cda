// The two groups of settings, each with a permission of its own. A setting is a security setting unless it is listed here,
// so that a new one is not open to more people than intended.
import { brandSettings } from '../../applications/brand/brand.ts';
import type { SettingName } from '../../core/settings/settings.ts';
import type { OwnPermission } from '../../people/rbac/built-in.ts';

/** Bounded so narrowly, or of so little effect, that a wrong value weakens nothing. */
const GENERAL: ReadonlySet<SettingName> = new Set([
  'brand_applications',
  ...brandSettings, // pictures that can do nothing, colors that can be read, and links
  'access_token_minutes',
  'clock_skew_seconds',
  'default_language',
  'languages',
  'reset_token_minutes',
  'user_attributes',
]);

/** Whether the setting protects the server and its users: who signs in how, what is limited, where codes are sent. */
export const isSecuritySetting = (name: SettingName): boolean => !GENERAL.has(name);

/** The permission that changes the setting. */
export function settingPermission(name: SettingName): OwnPermission {
  return isSecuritySetting(name) ? 'gatehouse.settings:write-security' : 'gatehouse.settings:write';
}
