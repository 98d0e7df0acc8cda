// `t('sign-in.identify.title')` is a text of views/texts. It becomes words where it is written: in the language of the page or mail that is
// being rendered, and in English everywhere else, such as logs and JSON. So code that finds out what to say needs not know to whom.
import type { TextArguments, TextKey } from '../generated/texts.ts';
import { SOURCE_LANGUAGE } from './languages.ts';
import { escapeHtml, formatHtml, formatPlain, hasMessage, type MessageSource, type Value } from './messages.ts';

export type { TextKey } from '../generated/texts.ts';

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

  toJSON(): string {
    return this.toString();
  }
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

class Joined extends Text {
  readonly #join: (parts: string[]) => string;
  readonly #parts: readonly PageText[];

  constructor(parts: readonly PageText[], join: (parts: string[]) => string) {
    super('');
    this.#parts = parts;
    this.#join = join;
  }

  override toString(): string {
    return this.#join(this.#parts.map(String));
  }

  override toHtml(): string {
    return this.#join(this.#parts.map((one) => (typeof one === 'string' ? escapeHtml(one) : one.toHtml())));
  }
}

/** Several sentences as one text. Japanese has no space between sentences. */
export function sentences(parts: readonly PageText[]): Text {
  return new Joined(parts, (words) => words.join(current === 'ja' ? '' : ' '));
}

/** The parts one after the other as they are, such as a file of settings with a text in it. */
export function concatenated(parts: readonly PageText[]): Text {
  return new Joined(parts, (words) => words.join(''));
}

/** `Payroll, Wiki`: names or texts, one after the other. */
export function listOf(parts: readonly PageText[]): Text {
  return new Joined(parts, listed);
}

/** `Editor or Viewer`: one of these names or texts. */
export function oneOf(parts: readonly PageText[]): Text {
  return new Joined(parts, (words) => new Intl.ListFormat(current, { type: 'disjunction' }).format(words));
}

/** `Authenticator app, 2 passkeys`: a list that begins with a capital. */
export function enumeration(parts: readonly PageText[]): Text {
  return new Joined(parts, (words) => {
    const text = listed(words);
    return text.charAt(0).toLocaleUpperCase(current) + text.slice(1);
  });
}

const listed = (words: string[]) => new Intl.ListFormat(current, { type: 'unit', style: 'short' }).format(words);
