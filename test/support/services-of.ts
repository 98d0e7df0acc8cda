// The services of a test that creates only some: the code under test must use no others.

import type { Http } from '../../src/base/http/http.ts';
import { defaultSettings, type Settings, type SettingValues } from '../../src/core/settings/settings.ts';
import type { Services } from '../../src/server/services.ts';

export const servicesOf = (members: Partial<Services & Http>): Services & Http => members as Services & Http;

/** Settings with their defaults but for these, of a test that stores none. */
export const fixedSettings = (values: () => Partial<SettingValues> = () => ({})): Settings => {
  const latest = () => ({ ...defaultSettings, ...values() });
  return { latest, reload: async () => latest() } as Settings;
};
