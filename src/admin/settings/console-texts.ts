// The label and explanation of each setting, understandable without documentation. The range and the default follow from its schema.

import { type PageText, t } from '../../base/texts/text.ts';
import { defaultSettings, type SettingName, settingNames } from '../../core/settings/settings.ts';
import { isLanguageSetting, type LanguageSetting } from './language-fields.ts';

/** The others are in language-fields.ts. */
export type TextedSetting = Exclude<SettingName, LanguageSetting>;

export interface SettingText {
  label: PageText;
  text: PageText;
  /** Beside a number. */
  unit?: PageText;
  /** Of a choice: what each value means. */
  choices?: Record<string, { label: PageText; hint: PageText }>;
  /** Of a choice: which value is the default. */
  standard?: PageText;
}

const SECONDS = { unit: t('console.shared.unit.seconds') };
const MINUTES = { unit: t('console.shared.unit.minutes') };
const HOURS = { unit: t('console.shared.unit.hours') };
const DAYS = { unit: t('console.shared.unit.days') };

const details: { [Name in TextedSetting]?: Omit<SettingText, 'label' | 'text'> } = {
  session_hours: HOURS,
  session_idle_minutes: MINUTES,
  max_sessions_per_user: { unit: t('console.shared.unit.sessions') },
  access_token_minutes: MINUTES,
  refresh_token_days: DAYS,
  refresh_token_retry_seconds: SECONDS,
  api_key_max_days: DAYS,
  reset_token_minutes: MINUTES,
  mfa: {
    choices: choicesOf(['required', 'optional', 'off'], (value) => ({
      label: t(`console.setting.mfa.${value}`),
      hint: t(`console.setting.mfa.${value}.hint`),
    })),
    standard: t('console.setting.mfa.default', { value: defaultSettings.mfa }),
  },
  admin_mfa: {
    choices: choicesOf(['required', 'phishing-resistant', 'optional'], (value) => ({
      label: t(`console.setting.admin_mfa.${value}`),
      hint: t(`console.setting.admin_mfa.${value}.hint`),
    })),
    standard: t('console.setting.admin_mfa.default', { value: defaultSettings.admin_mfa }),
  },
  first_factor: {
    choices: choicesOf(['open', 'window', 'approval'], (value) => ({
      label: t(`console.setting.first_factor.${value}`),
      hint: t(`console.setting.first_factor.${value}.hint`),
    })),
    standard: t('console.setting.first_factor.default', { value: defaultSettings.first_factor }),
  },
  first_factor_days: DAYS,
  remember_browser_days: DAYS,
  clock_skew_seconds: SECONDS,
};

export const settingTexts = Object.fromEntries(
  settingNames
    .filter((name) => !isLanguageSetting(name))
    .map((name): [TextedSetting, SettingText] => [
      name,
      { label: t(`console.setting.${name}.label`), text: t(`console.setting.${name}.text`), ...details[name] },
    ]),
) as Record<TextedSetting, SettingText>;

function choicesOf<Value extends string>(
  values: readonly Value[],
  textsOf: (value: Value) => { label: PageText; hint: PageText },
): Record<string, { label: PageText; hint: PageText }> {
  return Object.fromEntries(values.map((value) => [value, textsOf(value)]));
}
