// Settings in the formats of products: with texts in them, and with the name of this server, which an administrator chooses freely.
import { concatenated, isText, type PageText, type Text } from '../../../base/texts/text.ts';

/** Code, or a form with its values. Texts in it become words when the page is rendered; everything else stays as it is. */
export function code(literals: TemplateStringsArray, ...values: readonly unknown[]): Text {
  const parts = values.flatMap((value, at): PageText[] => [
    isText(value) ? value : String(value),
    literals[at + 1] ?? '',
  ]);
  return concatenated([literals[0] ?? '', ...parts]);
}

/** In double quotes: JSON, YAML, TOML and Python. */
export const quoted = (name: string): string => JSON.stringify(name);

/** In double quotes of Ruby, where #{…} is code. */
export const rubyQuoted = (name: string): string => quoted(name).replaceAll('#', '\\#');

/** A word of a shell. */
export const shellWord = (name: string): string =>
  isPlainWord(name) ? name : `'${name.replaceAll("'", String.raw`'\''`)}'`;

/** A word of PowerShell, to which every kind of single quotation mark ends a text. */
export const powerShellWord = (name: string): string =>
  isPlainWord(name) ? name : `'${name.replaceAll(/['\u2018-\u201b]/g, '$&$&')}'`;

/** A value of an INI file, where # and ; begin a comment. */
export const iniValue = (name: string): string => (/[#;]/.test(name) ? `\`${name}\`` : name);

const isPlainWord = (name: string): boolean => /^[\w.-]+$/.test(name);
