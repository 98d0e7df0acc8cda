// Reads the messages of a language when the first one is used, and formats them (ICU MessageFormat).
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { IntlMessageFormat } from 'intl-messageformat';
import { CONSOLE_FOLDER, SOURCE_LANGUAGE, textsDir } from './languages.ts';
import { withoutBadBreaks, withoutBreaksInEmail } from './line-breaks.ts';

/** Key -> message. */
export type Messages = Record<string, string>;
/** The value of a placeholder. */
export type Value = string | number | Date | Words;

/** A text (text.ts). */
export interface Words {
  toString(): string;
  toHtml(): string;
}

export interface Message {
  text: string;
  needsParser: boolean;
  /** The message as HTML, if it needs no parser. */
  escaped?: string;
  /** Parsed at first use; most messages have nothing to parse. */
  plain?: IntlMessageFormat;
  html?: IntlMessageFormat;
}

/** `{at, date, day}` is "November 21, 2026", `{at, date, minute} UTC` "November 21, 2026 at 9:45 AM UTC". */
const formats = {
  date: {
    day: { dateStyle: 'long', timeZone: 'UTC' },
    minute: { dateStyle: 'long', timeStyle: 'short', timeZone: 'UTC' },
  },
} as const;

/** The audience of a text. Texts of the console are not read before an administrator opens it. */
type Part = 'people' | 'console';
const CONSOLE_KEY = 'console.';
const loaded: Record<Part, Map<string, Map<string, Message>>> = { people: new Map(), console: new Map() };

/** The messages of one language for people or for the console, from all files of the folder. */
export function readMessages(language: string, part: Part = 'people'): Messages {
  const folder = path.join(textsDir, language, part === 'console' ? CONSOLE_FOLDER : '');
  const files = existsSync(folder) ? readdirSync(folder).filter((file) => file.endsWith('.json')) : [];
  return Object.assign({}, ...files.map((file) => JSON.parse(readFileSync(path.join(folder, file), 'utf8'))));
}

/** A text that is parsed when it is first used. */
export const messageOfText = (text: string): Message => ({ text, needsParser: needsParser(text) });

/** Messages that replace those of views/texts (overrides.ts). */
export interface MessageSource {
  find(language: string, key: string): Message | undefined;
}

/** Adds a language that has no folder, or replaces one: pseudo-languages of tests. */
export function addLanguage(language: string, messages: Messages, part: Part = 'people'): void {
  loaded[part].set(language, new Map(Object.entries(messages).map(([key, text]) => [key, messageOfText(text)])));
}

/** Whether there is such a message. */
export function hasMessage(key: string): boolean {
  return messagesOf(SOURCE_LANGUAGE, key).has(key);
}

/** The message of views/texts for people; undefined without one. */
export function peopleMessage(language: string, key: string): string | undefined {
  return key.startsWith(CONSOLE_KEY) ? undefined : messagesOf(language, key).get(key)?.text;
}

/** The language of the console for a user whose pages have this one. */
export function consoleLanguage(language: string): string {
  return messagesOf(language, CONSOLE_KEY).size > 0 ? language : SOURCE_LANGUAGE;
}

/** The message as plain text, without its tags. */
export function formatPlain(
  language: string,
  key: string,
  values: Record<string, Value> = {},
  overrides?: MessageSource,
): string {
  return plainOf(messageOf(language, key, overrides), language, values);
}

/** A message as plain text. */
export function plainOf(message: Message, language: string, values: Record<string, Value>): string {
  if (!message.needsParser) return message.text;
  message.plain ??= new IntlMessageFormat(message.text, language, formats);
  return String(message.plain.format({ ...mapped(values, String), ...plainTags }));
}

/** The message as HTML: its text and its values are escaped, its tags are those of `htmlTags`. */
export function formatHtml(
  language: string,
  key: string,
  values: Record<string, Value> = {},
  overrides?: MessageSource,
): string {
  const message = messageOf(language, key, overrides);
  const write = (words: string) =>
    escapeHtml(key.startsWith(CONSOLE_KEY) ? withoutBreaksInEmail(words) : withoutBadBreaks(words, language));
  if (!message.needsParser) {
    message.escaped ??= write(message.text);
    return message.escaped;
  }
  message.html ??= new IntlMessageFormat(withLiterals(message.text, language, write), language, formats);
  const escaped = mapped(values, htmlOf);
  return String(message.html.format(hasTags(message.text) ? { ...escaped, ...htmlTags(values) } : escaped));
}

/** The message as its words and its values in their order, without tags. Values that are no string, number or date stay as they are. */
export function formatParts(
  language: string,
  key: string,
  values: Record<string, Value> = {},
  overrides?: MessageSource,
): (string | Words)[] {
  const message = messageOf(language, key, overrides);
  if (!message.needsParser) return [message.text];
  message.plain ??= new IntlMessageFormat(message.text, language, formats);
  const parts = message.plain.formatToParts<Words>({ ...values, ...tagsOfParts });
  return parts.map(({ value }) => (typeof value === 'object' && 'toHtml' in value ? value : String(value)));
}

/** Numbers and dates stay as they are, for their formats. */
function mapped(values: Record<string, Value>, write: (value: string | Words) => string) {
  const written: Record<string, string | number | Date> = {};
  for (const [name, value] of Object.entries(values))
    written[name] = typeof value === 'number' || value instanceof Date ? value : write(value);
  return written;
}

const htmlOf = (value: string | Words) => (typeof value === 'string' ? escapeHtml(value) : value.toHtml());

function messageOf(language: string, key: string, overrides?: MessageSource): Message {
  const message =
    overrides?.find(language, key) ?? messagesOf(language, key).get(key) ?? messagesOf(SOURCE_LANGUAGE, key).get(key);
  if (!message) throw new Error(`there is no message ${key}`);
  return message;
}

/** The messages that contain this key. */
function messagesOf(language: string, key: string): Map<string, Message> {
  const part = key.startsWith(CONSOLE_KEY) ? 'console' : 'people';
  const messages = loaded[part].get(language);
  if (messages) return messages;
  addLanguage(language, readMessages(language, part), part);
  return messagesOf(language, key);
}

const needsParser = (message: string) => /[{}<>']/.test(message);
const hasTags = (message: string) => message.includes('<');

type Chunks = (string | number | Date)[];
const joined = (chunks: Chunks) => chunks.join('');

/** The tags that a message may have; no value has the name of a tag. */
const plainTags = {
  strong: joined,
  small: joined,
  a: joined,
  datetime: joined,
  moment: joined,
  hidden: joined,
  reference: joined,
};

/** The content between tags, part by part. */
const tagsOfParts = Object.fromEntries(
  Object.keys(plainTags).map((name) => [name, (chunks: (string | Words)[]) => chunks]),
) as unknown as Record<string, Words>;

/**
 * `a` links to the value `href`, `datetime` is the time in the value `at`, which page.js may write as `3 days ago`, and `moment` the same inside
 * of a sentence, always with its date; `hidden` is only for screen readers.
 */
function htmlTags({ href, at }: Record<string, Value>): Record<keyof typeof plainTags, (chunks: Chunks) => string> {
  const time = at instanceof Date ? at.toISOString() : '';
  return {
    strong: (chunks) => `<strong>${joined(chunks)}</strong>`,
    small: (chunks) => `<span class="small">${joined(chunks)}</span>`,
    a: (chunks) => `<a href="${escapeHtml(href)}">${joined(chunks)}</a>`,
    datetime: (chunks) => `<time datetime="${time}">${joined(chunks)}</time>`,
    moment: (chunks) => `<time datetime="${time}" data-exact>${joined(chunks)}</time>`,
    hidden: (chunks) => `<span class="sr-only">${joined(chunks)}</span>`,
    reference: (chunks) => `<strong class="nowrap select-all">${joined(chunks)}</strong>`,
  };
}

export const tagNames: readonly string[] = Object.keys(plainTags);

export type Ast = ReturnType<IntlMessageFormat['getAst']>;
const LITERAL = 0;

function withLiterals(message: string, language: string, write: (words: string) => string): Ast {
  const written = (elements: Ast): Ast =>
    elements.map((element) => {
      if (element.type === LITERAL) return { ...element, value: write(element.value) };
      if ('children' in element) return { ...element, children: written(element.children) };
      if (!('options' in element)) return element;
      const options = Object.entries(element.options).map(([name, option]) => [
        name,
        { ...option, value: written(option.value) },
      ]);
      return { ...element, options: Object.fromEntries(options) };
    });
  return written(new IntlMessageFormat(message, language).getAst());
}

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' };

/** Escapes text and values of attributes. */
export function escapeHtml(value: unknown): string {
  return String(value ?? '').replace(/[&<>"']/g, (character) => ENTITIES[character] ?? '');
}
