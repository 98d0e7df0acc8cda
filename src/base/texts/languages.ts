// The languages of pages and mails: one for each folder of views/texts. README.md says how to add one.
import { existsSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { viewsDir } from '../platform/package.ts';

/** The language of the source texts, of logs, of JSON, and of what is not translated yet. */
export const SOURCE_LANGUAGE = 'en';

export const textsDir = path.join(viewsDir, 'texts');

/** The BCP 47 tags of all languages. */
export const languages: readonly string[] = readdirSync(textsDir).sort();

/** The languages that the settings offer, and the one for all whose language is not among them. */
export interface OfferedLanguages {
  tags: readonly string[];
  standard: string;
}

/** Where there are no settings. */
export const allLanguages: OfferedLanguages = { tags: languages, standard: SOURCE_LANGUAGE };

/** The folder with the texts of the console, inside of that of a language. */
export const CONSOLE_FOLDER = 'console';

/** Those that the console has too. */
export const consoleLanguages: readonly string[] = languages.filter((language) =>
  existsSync(path.join(textsDir, language, CONSOLE_FOLDER)),
);

const names = new Map<string, string>();

/** Its name in itself: `Deutsch`. */
export function nameOf(language: string): string {
  const known = names.get(language);
  if (known !== undefined) return known;
  const name = new Intl.DisplayNames([language], { type: 'language' }).of(language) ?? language;
  const capitalized = name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
  names.set(language, capitalized);
  return capitalized;
}

const displayNames = new Map<string, Intl.DisplayNames>();

function namesIn(language: string, type: 'language' | 'region'): Intl.DisplayNames {
  const key = `${type} ${language}`;
  const names = displayNames.get(key) ?? new Intl.DisplayNames([language], { type, languageDisplay: 'standard' });
  displayNames.set(key, names);
  return names;
}

/** The name of a country: `Switzerland` for the code `CH` (ISO 3166-1); a code that none has stays as it is. */
export const countryWithin = (language: string, code: string): string =>
  /^[A-Z]{2}$/.test(code) ? (namesIn(language, 'region').of(code) ?? code) : code;

/** The name of any tag in another language: `German (Switzerland)`; what is no tag stays as it is. */
export function nameWithin(language: string, tag: string): string {
  const canonical = canonicalTag(tag);
  if (canonical === undefined) return tag;
  const name = namesIn(language, 'language').of(canonical) ?? canonical;
  return name.charAt(0).toLocaleUpperCase(language) + name.slice(1);
}

export interface LanguageName {
  tag: string;
  name: string;
}

/** By the tags, because a list of offered languages is made again with each read of the settings. */
const sorted = new Map<string, readonly LanguageName[]>();

/** Every language with its name, sorted by name. */
export function languageNames(of = languages): readonly LanguageName[] {
  const tags = of.join();
  const known = sorted.get(tags);
  if (known) return known;
  const names = of
    .map((tag) => ({ tag, name: nameOf(tag) }))
    .sort((a, b) => a.name.localeCompare(b.name, SOURCE_LANGUAGE));
  sorted.set(tags, names);
  return names;
}

const RIGHT_TO_LEFT = new Set(['ar', 'dv', 'fa', 'he', 'ps', 'ur', 'yi']);

/** The value of the attribute `dir`. */
export function directionOf(language: string): 'ltr' | 'rtl' {
  return RIGHT_TO_LEFT.has(language.split('-')[0] ?? '') ? 'rtl' : 'ltr';
}

/** The first of these wishes that is available: `de-AT` finds `de`, `pt` finds `pt-BR`. Wishes are tags, in any case. */
export function bestLanguage(wishes: readonly string[], available = languages): string | undefined {
  for (const wish of wishes) {
    const exact = available.find((one) => one.toLowerCase() === wish.toLowerCase());
    const found = exact ?? available.find((one) => scriptOf(one) === scriptOf(wish));
    if (found !== undefined) return found;
  }
  return undefined;
}

/** Language and script, so that texts in an unreadable script are no match; undefined for what is no tag. */
function scriptOf(tag: string): string | undefined {
  try {
    const { language, script } = new Intl.Locale(tag).maximize();
    return `${language}-${script}`;
  } catch {
    return tag;
  }
}

/**
 * A BCP 47 tag in the case of its registration: `ja-Hani-JP`; undefined for what is no tag. A language has two or three letters: longer ones
 * are allowed by the syntax, but none is registered, and they are words such as `Deutsch`.
 */
export function canonicalTag(tag: string): string | undefined {
  try {
    return /^[a-z]{2,3}(-|$)/i.test(tag) ? Intl.getCanonicalLocales(tag)[0] : undefined;
  } catch {
    return undefined;
  }
}

const MAX_WISHES = 20;

/** The tags of the header Accept-Language, the most wanted first (RFC 9110, section 12.5.4). */
export function acceptedLanguages(header: string): string[] {
  return header
    .split(',', MAX_WISHES)
    .map((entry) => {
      const [tag = '', ...parameters] = entry.split(';').map((part) => part.trim());
      const quality = parameters.find((one) => one.startsWith('q='));
      return { tag, weight: quality === undefined ? 1 : Number(quality.slice(2)) };
    })
    .filter(({ tag, weight }) => /^[a-z]{2,8}(-[a-z0-9]{1,8})*$/i.test(tag) && weight > 0)
    .sort((a, b) => b.weight - a.weight)
    .map(({ tag }) => tag);
}
