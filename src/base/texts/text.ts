// `t('sign-in.identify.title')` is a text of views/texts. It becomes words where it is written: in the language of the page or mail that is
// being rendered, and in English everywhere else, such as logs and JSON. So code that finds out what to say needs not know to whom.
import type { TextArguments, TextKey } from '../../generated/texts.ts';
import { present } from '../platform/defined.ts';
import { bestLanguage, countryWithin, nameWithin, SOURCE_LANGUAGE } from './languages.ts';
import {
  escapeHtml,
  formatHtml,
  formatParts,
  formatPlain,
  hasMessage,
  type MessageSource,
  type Value,
} from './messages.ts';

export type { TextArguments, TextKey } from '../../generated/texts.ts';

/** What the keys below a prefix end in: the names of things of which each has a text. */
export type NamesBelow<Prefix extends string, Key = TextKey> = Key extends `${Prefix}.${infer Name}` ? Name : never;

/** What a page can print: a text of views/texts, or a string such as a name. */
export type PageText = string | Text;

export interface PageLink {
  href: string;
  label: PageText;
}

let current: string = SOURCE_LANGUAGE;
let currentOverrides: MessageSource | undefined;

/** The language in which texts become words now. */
export function currentLanguage(): string {
  return current;
}

/** Runs `work`, which must be synchronous, with texts in this language; `overrides` are in place of those of views/texts. */
export function inLanguage<Result>(
  language: string,
  work: () => Result,
  overrides: MessageSource | undefined = currentOverrides,
): Result {
  const before = [current, currentOverrides] as const;
  current = language;
  currentOverrides = overrides;
  try {
    return work();
  } finally {
    [current, currentOverrides] = before;
  }
}

export class Text {
  readonly key: string;
  readonly values: Record<string, Value> | undefined;

  constructor(key: string, values?: Record<string, Value>) {
    this.key = key;
    this.values = values;
  }

  /** Plain, in the current language. */
  toString(): string {
    return formatPlain(current, this.key, this.values, currentOverrides);
  }

  /** For a page: escaped, with the tags of the message. */
  toHtml(): string {
    return formatHtml(current, this.key, this.values, currentOverrides);
  }

  /** Its words and the slots among them, in the order of the current language. */
  toParts(): TextPart[] {
    const parts = formatParts(current, this.key, this.values, currentOverrides);
    return parts.flatMap((part): TextPart[] => {
      if (part instanceof Text) return part.toParts();
      return [part instanceof Slot ? part : String(part)];
    });
  }

  toJSON(): string {
    return this.toString();
  }

  /** What stored-text.ts stores of it. */
  get form(): TextForm {
    return { of: 'key', key: this.key, values: this.values ?? {} };
  }
}

/** A text as stored-text.ts stores it: what it is made of, in no language. */
export type TextForm =
  | { of: 'key'; key: string; values: Record<string, Value> }
  | { of: 'parts'; join: JoinName; parts: readonly PageText[] }
  | { of: 'capital'; text: Text }
  | { of: 'name'; name: string; names: Readonly<Record<string, string>> }
  | { of: 'language' | 'country'; tag: string };

/** A value that a page displays in its own way, such as a name as a link, wherever the language puts it. Elsewhere it is its text. */
export class Slot<Content extends { text: PageText } = { text: PageText }> {
  readonly content: Content;

  constructor(content: Content) {
    this.content = content;
  }

  toString(): string {
    return String(this.content.text);
  }

  toHtml(): string {
    return htmlOf(this.content.text);
  }
}

export type TextPart = string | Slot;

/** Its words and the slots among them, in the order of the current language. */
export function partsOf(text: PageText): TextPart[] {
  return typeof text === 'string' ? [text] : text.toParts();
}

/** Whether it can be printed as it is: a text or a string. */
export function isText(value: unknown): value is PageText {
  return typeof value === 'string' || value instanceof Text;
}

/** Whether there is a text with this key. */
export function hasText<Key extends string>(key: Key): key is Key & TextKey {
  return hasMessage(key);
}

/** The text with this key. `values` fill its placeholders, and are escaped in a page. */
export function t<Key extends TextKey>(
  key: Key,
  ...values: undefined extends TextArguments[Key] ? [] : [values: TextArguments[Key]]
): Text {
  return new Text(key, values[0] as Record<string, Value> | undefined);
}

/** The text with this key, which code puts together; undefined where there is none. */
export function textAt(key: string, values?: Record<string, Value>): Text | undefined {
  return hasMessage(key) ? new Text(key, values) : undefined;
}

const joins = {
  /** Japanese has no space between sentences. */
  sentences: (words: string[]) => words.join(current === 'ja' ? '' : ' '),
  concatenated: (words: string[]) => words.join(''),
  listOf: (words: string[]) => listed(words),
  oneOf: (words: string[]) => sentenceList(words, 'disjunction'),
  enumeration: (words: string[]) => capitalized(listed(words)),
  allOf: (words: string[]) => sentenceList(words, 'conjunction'),
};
type JoinName = keyof typeof joins;

class Joined extends Text {
  readonly #join: JoinName;
  readonly #parts: readonly PageText[];

  constructor(parts: readonly PageText[], join: JoinName) {
    super('');
    this.#parts = parts;
    this.#join = join;
  }

  override toString(): string {
    return joins[this.#join](this.#parts.map(String));
  }

  override toHtml(): string {
    return joins[this.#join](this.#parts.map(htmlOf));
  }

  override get form(): TextForm {
    return { of: 'parts', join: this.#join, parts: this.#parts };
  }

  override toParts(): TextPart[] {
    return [this.toString()];
  }
}

const htmlOf = (text: PageText) => (typeof text === 'string' ? escapeHtml(text) : text.toHtml());

class Capitalized extends Text {
  readonly #text: Text;

  constructor(text: Text) {
    super(text.key, text.values);
    this.#text = text;
  }

  override toString(): string {
    return this.toParts().map(String).join('');
  }

  override toHtml(): string {
    return this.toParts()
      .map((part) => (typeof part === 'string' ? escapeHtml(part) : part.toHtml()))
      .join('');
  }

  override toParts(): TextPart[] {
    const [first = '', ...rest] = this.#text.toParts();
    return [typeof first === 'string' ? capitalized(first) : first, ...rest];
  }

  override get form(): TextForm {
    return { of: 'capital', text: this.#text };
  }
}

/** The text with a capital at its beginning, but for a slot: a name stays as it is. */
export function sentenceCase(text: Text): Text {
  return new Capitalized(text);
}

const capitalized = (text: string) => text.charAt(0).toLocaleUpperCase(current) + text.slice(1);

/** Several sentences as one text: those that there are. */
export function sentences(parts: readonly (PageText | false | undefined)[]): Text {
  return new Joined(present(parts), 'sentences');
}

/** The parts one after the other as they are, such as a file of settings with a text in it. */
export function concatenated(parts: readonly PageText[]): Text {
  return new Joined(parts, 'concatenated');
}

/** `2 times · Firefox on Linux`: those that there are. */
export function dotted(parts: readonly (PageText | null | undefined | false)[]): PageText {
  const given = parts.flatMap((part) => part || []);
  return given.length === 0 ? '' : concatenated(given.flatMap((part, index) => (index === 0 ? [part] : [' · ', part])));
}

/** `Payroll, Wiki`: names or texts, one after the other. */
export function listOf(parts: readonly PageText[]): Text {
  return new Joined(parts, 'listOf');
}

/** `Editor or Viewer`: one of these names or texts. */
export function oneOf(parts: readonly PageText[]): Text {
  return new Joined(parts, 'oneOf');
}

/** `Authenticator app, 2 passkeys`: a list that begins with a capital. */
export function enumeration(parts: readonly PageText[]): Text {
  return new Joined(parts, 'enumeration');
}

/** `a password and a passkey`: all of them, in a sentence. */
export function allOf(parts: readonly PageText[]): Text {
  return new Joined(parts, 'allOf');
}

/** The texts have no comma before the last "and" or "or"; American English has. */
function sentenceList(words: string[], type: 'conjunction' | 'disjunction'): string {
  return new Intl.ListFormat(current === 'en' ? 'en-GB' : current, { type }).format(words);
}

class Named extends Text {
  readonly #name: string;
  readonly #names: Readonly<Record<string, string>>;

  constructor(name: string, names: Readonly<Record<string, string>>) {
    super('');
    this.#name = name;
    this.#names = names;
  }

  override toString(): string {
    const language = bestLanguage([current], Object.keys(this.#names));
    return (language && this.#names[language]) ?? this.#name;
  }

  override get form(): TextForm {
    return { of: 'name', name: this.#name, names: this.#names };
  }

  override toHtml(): string {
    return escapeHtml(this.toString());
  }

  override toParts(): TextPart[] {
    return [this.toString()];
  }
}

/** A name that is another one in some languages. `names`: language -> name. */
export function nameIn(name: string, names: Readonly<Record<string, string>>): Text {
  return new Named(name, names);
}

/** Of a language or a country. */
class DisplayName extends Text {
  readonly #of: 'language' | 'country';
  readonly #tag: string;

  constructor(of: 'language' | 'country', tag: string) {
    super('');
    this.#of = of;
    this.#tag = tag;
  }

  override toString(): string {
    return (this.#of === 'language' ? nameWithin : countryWithin)(current, this.#tag);
  }

  override get form(): TextForm {
    return { of: this.#of, tag: this.#tag };
  }

  override toHtml(): string {
    return escapeHtml(this.toString());
  }

  override toParts(): TextPart[] {
    return [this.toString()];
  }
}

/** The name of a language: `French` for the tag `fr`. */
export function languageName(tag: string): Text {
  return new DisplayName('language', tag);
}

/** The name of a country: `Switzerland` for the code `CH`. */
export function countryName(code: string): Text {
  return new DisplayName('country', code);
}

/** An address with its country, as far as they are known: `192.0.2.7 (Switzerland)`. */
export const addressIn = (address: string, country: string | undefined): PageText =>
  country === undefined ? address : concatenated([address, ' (', countryName(country), ')']);

/** The text of this form; undefined when this version has no such text. */
export function textOfForm(made: TextForm): Text | undefined {
  if (made.of === 'key') return hasText(made.key) ? new Text(made.key, made.values) : undefined;
  if (made.of === 'parts') return made.join in joins ? new Joined(made.parts, made.join) : undefined;
  if (made.of === 'capital') return new Capitalized(made.text);
  if (made.of === 'name') return new Named(made.name, made.names);
  return made.of === 'language' || made.of === 'country' ? new DisplayName(made.of, made.tag) : undefined;
}

/** Where the list of Intl has only spaces, or joins its "and" to the next name, which stands on the wrong side of one in Latin letters. */
const SEPARATORS: Readonly<Record<string, string>> = { ar: '، ', ja: '、' };

function listed(words: string[]): string {
  const separator = SEPARATORS[current];
  return separator
    ? words.join(separator)
    : new Intl.ListFormat(current, { type: 'unit', style: 'short' }).format(words);
}
