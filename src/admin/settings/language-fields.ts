// The settings of languages as fields of a form. All boxes ticked is the default: languages that are added later are offered too.
import { invalidInput } from '../../base/http/errors.ts';
import { textFault } from '../../base/texts/faults.ts';
import { languageNames, languages } from '../../base/texts/languages.ts';
import { type PageText, sentences, t } from '../../base/texts/text.ts';
import type { SettingEntry, SettingName } from '../../core/settings/settings.ts';
import type { Field } from '../console/blocks.ts';
import { ROWS, type Sent, sentValue } from '../console/row-buttons.ts';

const languageSettings = ['default_language', 'languages'] as const;

/** Says that the form had the boxes: a browser sends only those that are ticked. */
const HAS_BOXES = 'languages.listed';

/** The buttons that tick the boxes: of the default language alone, and of all. */
const ONLY = 'only languages';
const ALL = 'all languages';

export type LanguageSetting = (typeof languageSettings)[number];

/** Whether its texts and fields are here, and not in console-fields.ts. */
export function isLanguageSetting(name: SettingName): name is LanguageSetting {
  return languageSettings.some((one) => one === name);
}

export interface LanguageFieldOptions {
  locked: Partial<Field> | undefined;
  note: PageText | undefined;
  /** The form as it was sent. */
  sent: Sent;
  /** The default language of the settings. */
  standard: string;
}

export function languageFields(
  { name, value }: SettingEntry,
  { locked, note, sent, standard }: LanguageFieldOptions,
): Field[] {
  const hintWith = (text: PageText) => (note === undefined ? text : sentences([text, note]));
  const options = languageNames().map(({ tag, name }) => ({ value: tag, label: name, language: tag }));
  if (name === 'default_language') {
    const label = t('console.languages.default');
    const hint = hintWith(t('console.languages.default-hint'));
    return [{ name, label, hint, type: 'select', value: sentValue(sent, name) ?? String(value), options, ...locked }];
  }
  const stored = Array.isArray(value) && value.length > 0 ? value.map(String) : languages;
  const only = sentValue(sent, 'default_language') ?? standard;
  const pressed = sentValue(sent, ROWS);
  const ticked = { [ONLY]: [only], [ALL]: languages }[pressed ?? ''];
  const values = ticked ?? (sentValue(sent, HAS_BOXES) ? (sent[name] ?? []) : stored);
  const buttons = [
    { value: ONLY, label: t('console.languages.only'), isPressed: pressed === ONLY },
    { value: ALL, label: t('console.languages.all'), isPressed: pressed === ALL },
  ];
  const label = t('console.languages.offered');
  const hint = hintWith(t('console.languages.offered-hint'));
  const marker: Field[] = locked ? [] : [{ name: HAS_BOXES, label: '', type: 'hidden', value: 'yes' }];
  return [
    ...marker,
    { name, label, hint, type: 'checks', isWide: true, values, options, ...(!locked && { buttons }), ...locked },
  ];
}

/** The sent languages; undefined when the form did not have them, null for all. */
export function sentLanguages(sent: Sent): string[] | null | undefined {
  if (!sentValue(sent, HAS_BOXES)) return undefined;
  const chosen = languages.filter((tag) => sent.languages?.includes(tag));
  if (chosen.length === 0) throw invalidInput([textFault(['languages'], t('console.languages.choose'))]);
  return chosen.length === languages.length ? null : chosen;
}
