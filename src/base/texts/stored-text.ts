// Texts in the database and in cookies: how they are made instead of their words, so that each reader gets them in the language of the page.
import { hasText, type PageText, Slot, Text, type TextForm, textOfForm } from './text.ts';

const MAX_TEXT = 500;
const MAX_VALUE = 200;

/** The text as it is stored. A string stays one; long strings are cut off. */
export function storedText(text: PageText): string {
  if (typeof text === 'string') return text.slice(0, MAX_TEXT);
  const values = Object.entries(text.values ?? {}).map(([name, value]) => [name, writtenValue(value)]);
  return JSON.stringify({ text: text.key, values: Object.fromEntries(values) });
}

/** The text that was stored; one that this version does not have stays as it is. */
export function readStoredText(stored: string): PageText {
  try {
    const { text: key, values } = JSON.parse(stored);
    const text = typeof key === 'string' && hasText(key) ? new Text(key, values) : stored;
    // A value that is missing shows only now.
    String(text);
    return text;
  } catch {
    return stored;
  }
}

const writtenValue = (value: unknown) => (typeof value === 'number' ? value : String(value).slice(0, MAX_VALUE));

/** The JSON of a page, or of anything else with texts in it. */
export function jsonWithTexts(content: unknown): string {
  // `value` has the words already: JSON.stringify calls toJSON first.
  return JSON.stringify(content, function (this: Record<string, unknown>, name, value: unknown) {
    const given = this[name];
    if (given instanceof Text) return { $text: given.form, $words: String(given) };
    return given instanceof Slot ? { $slot: given.content } : value;
  });
}

/** What `jsonWithTexts` wrote. A text that this version does not have is in the words with which it was written; times are times again. */
export function readJsonWithTexts(json: string): unknown {
  return JSON.parse(json, (_name, value: unknown) => {
    if (typeof value === 'string') return TIME.test(value) ? new Date(value) : value;
    if (!isMarked(value)) return value;
    if ('$slot' in value) return new Slot(value.$slot);
    return textOfForm(value.$text) ?? value.$words;
  });
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

/** What stands in the JSON for a text, and for a slot. */
type Marked = { $text: TextForm; $words: string } | { $slot: { text: PageText } };

const isMarked = (value: unknown): value is Marked =>
  typeof value === 'object' && value !== null && ('$text' in value || '$slot' in value);
