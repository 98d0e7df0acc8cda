// Whether a message can take the place of one of views/texts: a text for people, valid MessageFormat, with no other placeholders and tags
// than the original, each used as there, so that it can always be formatted.
import { IntlMessageFormat } from 'intl-messageformat';
import { type Fault, fault } from './faults.ts';
import { languages, SOURCE_LANGUAGE } from './languages.ts';
import { type Ast, hasMessage, messageOfText, peopleMessage, plainOf, type Value } from './messages.ts';

export const textLimits = { characters: 1000, total: 200_000, depth: 8 } as const;

/** Control characters, halves of characters, and what reorders or hides text; not the isolates, which Arabic needs. */
const CONTROL = /[\p{Cc}\p{Cs}]/u;
const HIDING = /[\u00ad\u115f\u1160\u200b\u202a-\u202e\u2060-\u2064\u3164\ufeff\uffa0\u{e0000}-\u{e007f}]/u;

/** What is wrong with a message; undefined for one that can be used. */
export function messageFault(language: string, key: string, message: string): Fault | undefined {
  if (!languages.includes(language)) return fault([], 'text-language', { language });
  if (key.startsWith('console.')) return fault([], 'text-console');
  if (!hasMessage(key)) return fault([], 'text-key');
  if (message.length > textLimits.characters) return fault([], 'max-characters', { characters: textLimits.characters });
  if (message.trim() === '') return fault([], 'empty');
  if (CONTROL.test(message)) return fault([], 'text-control');
  if (HIDING.test(message)) return fault([], 'invisible-characters');
  return formatFault(language, key, message);
}

function formatFault(language: string, key: string, message: string): Fault | undefined {
  const parts = parsedParts(message, language);
  if (parts instanceof Error) return fault([], 'text-syntax', { reason: parts.message });
  if (parts.depth > textLimits.depth) return fault([], 'text-nested', { max: textLimits.depth });
  const original = messageParts(language, key);
  const tag = [...parts.tags].find((name) => !original.tags.has(name));
  if (tag !== undefined) return fault([], 'text-tag', { tag: `<${tag}>`, ...allowedOf(original.tags, tagged) });
  for (const [name, uses] of parts.values) {
    const allowed = original.values.get(name);
    if (!allowed) return fault([], 'text-value', { value: `{${name}}`, ...allowedOf(original.values.keys(), braced) });
    if ([...uses].some((use) => !isAllowed(use, allowed))) return fault([], 'text-use', { value: `{${name}}` });
  }
  const values = Object.fromEntries([...original.values].map(([name, uses]) => [name, exampleOf(uses)]));
  return plainOf(messageOfText(message), language, values).trim() === '' ? fault([], 'empty') : undefined;
}

const tagged = (name: string) => `<${name}>`;
const braced = (name: string) => `{${name}}`;
const allowedOf = (names: Iterable<string>, write: (name: string) => string) => {
  const all = [...names].map(write);
  return { some: all.length > 0 ? 'yes' : 'no', allowed: all.join(', ') };
};

/** How a value is used: `plain`, `plural`, `select`, or a format such as `date:"day"`. */
type Use = string;

interface Parts {
  values: Map<string, Set<Use>>;
  tags: Set<string>;
  depth: number;
}

/** A number can be written as it is, or as a plural. */
const isAllowed = (use: Use, allowed: ReadonlySet<Use>) =>
  allowed.has(use) || (allowed.has('plural') && (use === 'plain' || use === 'number'));

function exampleOf(uses: ReadonlySet<Use>): Value {
  if (uses.has('plural') || uses.has('number')) return 2;
  return [...uses].some((use) => /^(date|time)/.test(use)) ? new Date(0) : 'x';
}

/** The placeholders and tags that the text of this key may have: those of its original in the language and in English. */
export function messageParts(language: string, key: string): Parts {
  const parts: Parts = { values: new Map(), tags: new Set(), depth: 0 };
  for (const one of new Set([language, SOURCE_LANGUAGE])) {
    const message = peopleMessage(one, key);
    if (message !== undefined) collect(new IntlMessageFormat(message, one).getAst(), parts, 0);
  }
  return parts;
}

function parsedParts(message: string, language: string): Parts | Error {
  const parts: Parts = { values: new Map(), tags: new Set(), depth: 0 };
  try {
    collect(new IntlMessageFormat(message, language).getAst(), parts, 0);
    return parts;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

/** The numbers of TYPE in @formatjs/icu-messageformat-parser: what an element of a parsed message is. */
const [LITERAL, ARGUMENT, NUMBER, DATE, TIME, SELECT, PLURAL, TAG] = [0, 1, 2, 3, 4, 5, 6, 8];
const KINDS: Record<number, string> = {
  [ARGUMENT]: 'plain',
  [NUMBER]: 'number',
  [DATE]: 'date',
  [TIME]: 'time',
  [SELECT]: 'select',
  [PLURAL]: 'plural',
};

function collect(elements: Ast, parts: Parts, depth: number): void {
  parts.depth = Math.max(parts.depth, depth);
  for (const element of elements) {
    if (!('value' in element) || element.type === LITERAL) continue;
    if (element.type === TAG) parts.tags.add(element.value);
    else {
      const style = 'style' in element && element.style ? `:${JSON.stringify(element.style)}` : '';
      const uses = parts.values.get(element.value) ?? new Set();
      parts.values.set(element.value, uses.add(`${KINDS[element.type]}${style}`));
    }
    if ('options' in element)
      for (const option of Object.values(element.options)) collect(option.value, parts, depth + 1);
    if ('children' in element) collect(element.children, parts, depth + 1);
  }
}
