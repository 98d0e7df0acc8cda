// The fields of texts, in a box for the pages of each: a field is called by the words of its text, has the text as it is now, its
// default below it, and a switch back to it. A form that comes back unchanged
// changes nothing.
import { messageParts } from '../../../base/texts/check-message.ts';
import type { TextValues } from '../../../base/texts/overrides.ts';
import { listOf, sentences, t } from '../../../base/texts/text.ts';
import type { Field, FormSection } from '../../console/blocks.ts';
import { type Sent, sentValue } from '../../console/row-buttons.ts';
import { type ListedText, originalOf } from './list.ts';

/** The beginnings of the names of the fields, before the key. */
export const FIELD = 'text.';
const RESET = 'reset.';
const LINE = 70;
const MAX_LABEL = 80;

export interface TextFieldOptions {
  /** Of the texts. */
  language: string;
  /** Of the page, in which the texts are called. */
  consoleLanguage: string;
  sent: Sent;
  mayChange: boolean;
}

export function textSections(texts: readonly ListedText[], options: TextFieldOptions): FormSection[] {
  const areas = [...new Set(texts.map(({ area }) => area))];
  return areas.map((area) => ({
    title: t(`console.branding.texts.area.${area}`),
    fields: textFields(
      texts.filter((text) => text.area === area),
      options,
    ),
  }));
}

function textFields(
  texts: readonly ListedText[],
  { language, consoleLanguage, sent, mayChange }: TextFieldOptions,
): Field[] {
  return texts.flatMap(({ key, original, own }): Field[] => {
    const label = wordsOf(originalOf(consoleLanguage, key));
    const value = sentValue(sent, FIELD + key) ?? own ?? original;
    const field: Field = {
      name: FIELD + key,
      label,
      type: 'textarea',
      hint: hintOf(language, key, original),
      value,
      rows: Math.min(6, Math.ceil(Math.max(value.length, 1) / LINE)),
      language,
      ...(!mayChange && { isLocked: true }),
    };
    if (own === undefined || !mayChange) return [field];
    const checked = sentValue(sent, RESET + key) === 'on';
    return [
      field,
      { name: RESET + key, label: t('console.branding.texts.reset', { text: label }), type: 'checkbox', checked },
    ];
  });
}

/** A message without its tags, in one line. */
function wordsOf(message: string): string {
  const words = message.replace(/<\/?\w+>/g, '');
  return words.length > MAX_LABEL ? `${words.slice(0, MAX_LABEL - 1).trimEnd()}…` : words;
}

function hintOf(language: string, key: string, original: string) {
  const { values, tags } = messageParts(language, key);
  const parts = [...[...values.keys()].map((name) => `{${name}}`), ...[...tags].map((name) => `<${name}>`)];
  return sentences([
    t('console.branding.texts.default', { text: original }),
    ...(parts.length > 0 ? [t('console.branding.texts.parts', { parts: listOf(parts) })] : []),
    t('console.branding.texts.key', { key }),
  ]);
}

/** All texts after those of the form: one that is empty or the default is not stored. */
export function changedTexts(before: TextValues, language: string, sent: Sent): TextValues {
  const own = new Map(Object.entries(before[language] ?? {}));
  for (const [name, values] of Object.entries(sent)) {
    if (!name.startsWith(FIELD)) continue;
    const key = name.slice(FIELD.length);
    const text = values.at(-1) ?? '';
    const isDefault = text.trim() === '' || text.trim() === originalOf(language, key).trim();
    if (isDefault || sentValue(sent, RESET + key) === 'on') own.delete(key);
    else own.set(key, text);
  }
  const { [language]: _before, ...others } = before;
  return own.size > 0 ? { ...others, [language]: Object.fromEntries(own) } : others;
}
