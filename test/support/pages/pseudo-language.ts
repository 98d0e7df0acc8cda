// The pseudo-language en-XA: each message of views/texts/en in brackets, longer, and with accents where it has no placeholder. Text
// outside of brackets comes from no message.
import { addLanguage, type Messages, readMessages } from '../../../src/base/texts/messages.ts';

export const PSEUDO = 'en-XA';

const ACCENTS: Record<string, string> = { a: 'á', e: 'é', i: 'í', o: 'ó', u: 'ú', A: 'Á', E: 'É', O: 'Ó' };

/** Makes the language available in this process, and as ar-XB from right to left. */
export function addPseudoLanguage(): void {
  for (const language of [PSEUDO, 'ar-XB']) addLanguage(language, pseudoMessages('people'));
  addLanguage(PSEUDO, pseudoMessages('console'), 'console');
}

function pseudoMessages(part: 'people' | 'console'): Messages {
  const messages = Object.entries(readMessages('en', part)).map(([key, message]) => {
    const accented = /[{<]/.test(message) ? message : message.replace(/[aeiouAEO]/g, (letter) => ACCENTS[letter] ?? '');
    return [key, `⟦${accented}${'·'.repeat(Math.ceil(message.length * 0.35))}⟧`];
  });
  return Object.fromEntries(messages);
}

/** The words of a page that are in no message: in its text, and in the attributes that a user reads or hears. */
export function unbracketedWords(html: string): string[] {
  const attributes = [
    ...html.matchAll(
      /\s(?:aria-label|alt|title|data-(?:copied|hides|failed|exists|label|verifying|verified|wait))="([^"]*)"/g,
    ),
  ];
  const text = html
    .replace(/<(script|style|time|code)\b.*?<\/\1>/gs, ' ')
    .replace(/<span class="day">.*?<\/span>/gs, ' ')
    .replace(/<(p|a) class="brandmark".*?<\/\1>/gs, ' ')
    .replace(/ · Gatehouse<\/title>/, '</title>')
    .replace(/<[^>]*>/g, ' ');
  return [text, ...attributes.map(([, value = '']) => value)].flatMap(
    (one) => withoutMessages(one).match(/\p{L}{2,}/gu) ?? [],
  );
}

function withoutMessages(text: string): string {
  const rest = text.replace(/⟦[^⟦⟧]*⟧/gu, ' ');
  return rest === text ? rest : withoutMessages(rest);
}
