// A text in the database, with its key and values, so that each reader gets it in the language of the page.
import { hasText, type PageText, Text } from './text.ts';

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
