// Texts for people that an administrator wrote, in place of those of views/texts: a setting (`texts`), which may be older than this
// version. A message that does not fit the text of this version is ignored.
import { type MessageFault, messageFault } from './check-message.ts';
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

export interface TextFault {
  language: string;
  key: string;
  message: MessageFault;
}

/** What is wrong with these texts. One that `before` has too may be of an older version, and is no fault. */
export function textFaults(values: TextValues, before: TextValues = {}): TextFault[] {
  return Object.entries(values).flatMap(([language, messages]) =>
    Object.entries(messages).flatMap(([key, text]) => {
      if (before[language]?.[key] === text) return [];
      const message = messageFault(language, key, text);
      return message ? [{ language, key, message }] : [];
    }),
  );
}

/** The texts that this version cannot use, each with the reason: `de sign-in.old: isn’t a text of this version`. */
export function ignoredTexts(values: TextValues): string[] {
  return textFaults(values).map(({ language, key, message }) => `${language} ${key}: ${message}`);
}

/** The texts of `values` that `other` does not have in the same words. */
export function textsBeside(values: TextValues, other: TextValues): TextValues {
  const languages = Object.entries(values).map(([language, messages]) => {
    const changed = Object.entries(messages).filter(([key, text]) => other[language]?.[key] !== text);
    return [language, Object.fromEntries(changed)] as const;
  });
  return Object.fromEntries(languages.filter(([, messages]) => Object.keys(messages).length > 0));
}
