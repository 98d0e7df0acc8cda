// Finds the message in platform/fault-messages.ts that a fault was made of, with its values. Between a schema and the page a fault is
// only a string, because zod supports no other form.
import { type FaultKey, faultEntries, typeNames } from '../../platform/fault-messages.ts';

export interface KnownFault {
  key: FaultKey;
  values: Record<string, string | number>;
}

interface Shape {
  pattern: string;
  read(text: string): string | number;
}

const asText = (text: string) => text;
const count = (text: string) => Number(text.replace(/\D/g, ''));
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const types = Object.values(typeNames).map(escaped).join('|');
const typeOf = (words: string) => Object.entries(typeNames).find(([, name]) => name === words)?.[0] ?? words;

/** The pattern of each named value; any text for other names. */
const shapes: Record<string, Shape> = {
  type: { pattern: '[a-z ]+?', read: typeOf },
  types: { pattern: `(?:${types})(?: or (?:${types}))+`, read: asText },
  kind: { pattern: `${types}|empty|a fraction`, read: asText },
  characters: { pattern: '[\\d,]+ characters?', read: count },
  entries: { pattern: '[\\d,]+ entr(?:y|ies)', read: count },
  days: { pattern: '[\\d,]+ days?', read: count },
  bound: { pattern: '-?\\d[\\d.]*', read: Number },
  key: { pattern: '\\S+?', read: asText },
  value: { pattern: '\\S+?', read: asText },
  instead: { pattern: '(?:, not .+)?', read: asText },
  advice: { pattern: '(?:; .+)?', read: asText },
};
const ANY: Shape = { pattern: '.+?', read: asText };

/** Longer messages are not compared with the patterns, to save time; no value is that long. */
const MAX_LENGTH = 2000;

const PLACEHOLDER = /\{(\w+)\}/;
const constant = new Map(faultEntries.filter(([, text]) => !PLACEHOLDER.test(text)).map(([key, text]) => [text, key]));
/** The longest message first, because it is the most specific. */
const withValues = faultEntries
  .filter(([, text]) => PLACEHOLDER.test(text))
  .map(([key, text]) => {
    const parts = text.split(PLACEHOLDER);
    const names = parts.filter((_, at) => at % 2 === 1);
    const source = parts.map((part, at) => (at % 2 === 0 ? escaped(part) : `(${(shapes[part] ?? ANY).pattern})`));
    const words = parts.filter((_, at) => at % 2 === 0).join('');
    return { key, names, pattern: new RegExp(`^${source.join('')}$`, 's'), length: words.length };
  })
  .sort((a, b) => b.length - a.length);

/** The key and the values of a message; undefined for one that is not in the table. */
export function knownFault(message: string): KnownFault | undefined {
  const key = constant.get(message);
  if (key) return { key, values: {} };
  if (message.length > MAX_LENGTH) return undefined;
  for (const one of withValues) {
    const found = one.pattern.exec(message);
    if (!found) continue;
    const values = one.names.map((name, at) => [name, (shapes[name] ?? ANY).read(found[at + 1] ?? '')] as const);
    return { key: one.key, values: Object.fromEntries(values) };
  }
  return undefined;
}
