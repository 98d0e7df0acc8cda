// Texts for people that an administrator wrote, in place of those of views/texts: a setting (`texts`), which may be older than this
// version. A message that does not fit the text of this version is ignored.
import { messageFault } from './check-message.ts';
import { at, type Fault, sentenceOf } from './faults.ts';
import { type Message, type MessageSource, messageOfText } from './messages.ts';

/** Language -> key -> message. */
export type TextValues = { readonly [language: string]: { readonly [key: string]: string } };

/** Checks and parses each message at its first use. */
export function createOverrides(values: TextValues): MessageSource {
  const languages = new Map(
    Object.entries(values).map(([language, messages]) => [language, new Map(Object.entries(messages))]),
  );
  const checked = new Map<string, Map<string, Message | undefined>>();
  return {
    find(language, key) {
      const text = languages.get(language)?.get(key);
      if (text === undefined) return undefined;
      const known = checked.get(language) ?? new Map<string, Message | undefined>();
      checked.set(language, known);
      if (!known.has(key)) known.set(key, messageFault(language, key, text) ? undefined : messageOfText(text));
      return known.get(key);
    },
  };
}

/** What is wrong with these texts, at `language.key`. One that `before` has too may be of an older version, and is no fault. */
export function textFaults(values: TextValues, before: TextValues = {}): Fault[] {
  return Object.entries(values).flatMap(([language, messages]) =>
    Object.entries(messages).flatMap(([key, text]) => {
      if (before[language]?.[key] === text) return [];
      const found = messageFault(language, key, text);
      return found ? at([language, key], [found]) : [];
    }),
  );
}

/** The texts that this version cannot use, each with the reason: `de.sign-in.old doesn’t exist in this version.` */
export function ignoredTexts(values: TextValues): string[] {
  return textFaults(values).map((found) => sentenceOf(found));
}

/** The texts of `values` that are missing or different in `other`. */
export function differingTexts(values: TextValues, other: TextValues): TextValues {
  const languages = Object.entries(values).map(([language, messages]) => {
    const changed = Object.entries(messages).filter(([key, text]) => other[language]?.[key] !== text);
    return [language, Object.fromEntries(changed)] as const;
  });
  return Object.fromEntries(languages.filter(([, messages]) => Object.keys(messages).length > 0));
}
