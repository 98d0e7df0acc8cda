// Where a line of HTML must not end. Browsers allow a break after each hyphen and each space, languages do not.

const NO_BREAK_SPACE = '\u00a0';
/** Keeps the hyphen of the font: that of U+2011 can be another one. */
const HYPHEN_WITH_WORD_JOINER = '-\u2060';
/** For mail programs, of which some do not hide U+2060. */
const NO_BREAK_HYPHEN = '\u2011';

/** A hyphen next to a part of one letter: e-mail, E-Mail, redefina-a. */
const HYPHEN_AT_LETTER = /(?<=(?<![\p{L}\p{N}-])\p{L})-(?=\p{L})|(?<=\p{L})-(?=\p{L}(?![\p{L}\p{N}-]))/gu;
/** The word e-mail in any of its forms, but not an address that begins with it. */
const HYPHEN_OF_EMAIL = /(?<=(?<![\p{L}\p{N}@._-])e)-(?=mail(?![\w.+-]*@))/giu;
/** The space after a word of one letter, which Polish does not leave at the end of a line. */
const SPACE_AFTER_LETTER = /(?<=(?<![\p{L}\p{N}-])[aiouwz]) (?=\S)/giu;
/** The space between a number or a name in Latin letters and the Japanese word that belongs to it: a counter or a particle. */
const SPACE_BEFORE_JAPANESE =
  /(?<=\d) (?=[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}])|^ (?=[\p{Script=Han}\p{Script=Hiragana}])/gu;

/** The end of a time: `9:45 AM UTC`. */
const END_OF_TIME = /(?<=\d)(?: \p{L}{1,2})? UTC$/u;

/** The words of a message, without its values, with characters that do not end a line where its language has no break. */
export function withoutBadBreaks(words: string, language: string): string {
  return withoutBadSpaces(words, language).replace(HYPHEN_AT_LETTER, HYPHEN_WITH_WORD_JOINER);
}

/** The same for texts that name headers and options, which are copied from there: only in the word e-mail. */
export function withoutBreaksInEmail(words: string): string {
  return words.replace(HYPHEN_OF_EMAIL, HYPHEN_WITH_WORD_JOINER);
}

/** The same for a finished text of a mail, whose names and addresses must stay as they are. */
export function withoutBadBreaksInMail(text: string, language: string): string {
  return withoutBadSpaces(text, language)
    .replace(HYPHEN_OF_EMAIL, NO_BREAK_HYPHEN)
    .replace(END_OF_TIME, (end) => end.replaceAll(' ', NO_BREAK_SPACE));
}

function withoutBadSpaces(text: string, language: string): string {
  if (language === 'pl') return text.replace(SPACE_AFTER_LETTER, NO_BREAK_SPACE);
  if (language === 'ja') return text.replace(SPACE_BEFORE_JAPANESE, NO_BREAK_SPACE);
  return text;
}
