// What is wrong with a sent form, in sentences for an administrator. The faults come from the schemas of the configuration file and the API
// (platform/fault-messages.ts), whose messages are halves of sentences about a key; here each becomes a sentence in the language of the
// page with the label of its field, and leads to it.
import type { FieldFault } from '../../http/errors.ts';
import type { FaultKey } from '../../platform/fault-messages.ts';
import { SOURCE_LANGUAGE } from '../../texts/languages.ts';
import { currentLanguage, type PageText, Text, t } from '../../texts/text.ts';
import type { ConsolePage, Field, FieldsElsewhere, PageFault } from './blocks.ts';
import { knownFault } from './known-faults.ts';

/** What the sentence is about. */
interface Subject {
  label: string;
  /** Of the fields that a message may name. */
  labels: Readonly<Record<string, string>>;
  /** It is chosen, not typed. */
  isChoice?: boolean;
  /** Of a whole number. */
  range?: Field['range'];
  unit?: PageText | undefined;
}

/** The faults as sentences in the current language, each with its field on the page. */
export function pageFaults(
  page: Pick<ConsolePage, 'blocks' | 'elsewhere'>,
  faults: readonly FieldFault[],
): PageFault[] {
  const fields = fieldsOf(page);
  const labels = labelsOf(fields, page.elsewhere ?? {});
  const found = faults.map(({ field: path, message }): PageFault => {
    const field = fieldAt(fields, path);
    if (!field) {
      const [key = ''] = path.split(/[.[]/);
      const other = page.elsewhere?.[key];
      const said = sentenceOf(message, { label: String(other?.label ?? path), labels });
      return { field: undefined, ...said, href: other?.href };
    }
    const row = rowAt(field, path);
    const column = row === undefined ? undefined : columnAt(field, path, row, message);
    const label = row === undefined ? String(field.label) : rowLabel(field, row, column);
    return {
      field: field.name,
      row,
      column,
      ...sentenceOf(message, { ...field, label, labels, isChoice: isChoice(field) }),
    };
  });
  return found.filter((one, at) => found.findIndex((other) => isSame(one, other)) === at);
}

/** Two rules of one field may say the same. */
const isSame = (one: PageFault, other: PageFault) =>
  one.field === other.field && one.href === other.href && String(one.message) === String(other.message);

/** Every field of the forms of a page. */
function fieldsOf({ blocks }: Pick<ConsolePage, 'blocks'>): Field[] {
  return blocks.flatMap((block) =>
    block.kind === 'form' ? [...block.fields, ...(block.sections ?? []).flatMap(({ fields }) => fields)] : [],
  );
}

function labelsOf(fields: readonly Field[], elsewhere: FieldsElsewhere): Record<string, string> {
  const others = Object.entries(elsewhere).map(([key, { label }]) => [key, String(label)]);
  return Object.fromEntries([...others, ...fields.map(({ name, label }) => [name, String(label)])]);
}

const isUnder = (path: string, name: string) =>
  path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`);

/** The field with the longest name that the path begins with. */
function fieldAt(fields: readonly Field[], path: string): Field | undefined {
  const under = fields.filter(({ name, type }) => type !== 'hidden' && isUnder(path, name));
  return under.sort((a, b) => b.name.length - a.name.length)[0];
}

/** The row that the path names: by its number among those that are filled in, or by its first part. */
function rowAt({ name, type, columns = [], lines = [] }: Field, path: string): number | undefined {
  if (type !== 'rows' || path === name) return undefined;
  const [number] = /^[.[](\d+)/.exec(path.slice(name.length))?.slice(1) ?? [];
  const filled = lines.flatMap((line, at) =>
    line.some((part, column) => part !== '' && columns[column]?.type !== 'select') ? [at] : [],
  );
  if (number !== undefined) return filled[Number(number)];
  return filled.find((at) => isUnder(path, `${name}.${lines[at]?.[0]}`));
}

/** The column that the path names; in a map, whose rows the path names by their first part, the second column is the value. */
function columnAt({ name, columns = [], lines = [] }: Field, path: string, row: number, message: PageText): number {
  const rest = path.slice(name.length);
  const isNumbered = /^[.[]\d+/.test(rest);
  const part = isNumbered ? rest.replace(/^[.[]\d+\]?/, '') : rest.slice(1 + (lines[row]?.[0] ?? '').length);
  const named = columns.findIndex((column) => column.name !== '' && `.${column.name}` === part);
  if (named >= 0) return named;
  const isName = !(message instanceof Text) && knownFault(message)?.key === 'bad-name';
  return isNumbered || isName || columns.length < 2 ? 0 : 1;
}

/** The first column stands for the row; the label of another one may say that it can be empty. */
function rowLabel({ label, adds = label, columns = [] }: Field, row: number, column = 0): string {
  const text =
    column === 0 ? capitalized(String(adds)) : String(columns[column]?.label ?? label).replace(/ \(.*\)$/, '');
  return `${text} ${row + 1}`;
}

const isChoice = ({ type = 'text' }: Field) => ['select', 'radios', 'checks', 'checkbox'].includes(type);

/** The sentence, in English where the message has no text (platform/fault-messages.ts). */
function sentenceOf(message: PageText, subject: Subject): Pick<PageFault, 'message' | 'language'> {
  if (message instanceof Text) return { message: ofText(String(message), subject) };
  const text = translated(message, subject);
  if (text !== undefined) return { message: String(text) };
  const isForeign = currentLanguage() !== SOURCE_LANGUAGE;
  return { message: inEnglish(message, subject), ...(isForeign && { language: SOURCE_LANGUAGE }) };
}

/** A message of the schemas that is a whole sentence, or the rest of one that begins with the label, for a page in any language. */
export function faultText(message: string, label = ''): PageText {
  return translated(message, { label, labels: {} }) ?? message;
}

/** A text is a sentence, or the rest of one. */
function ofText(words: string, { label }: Subject): string {
  return /[.!?]$/.test(words) ? words : `${label} ${words}.`;
}

/** What the console says in place of a message of the schemas; undefined for one that is not in the table. */
function translated(message: string, { label, labels, isChoice, range, unit }: Subject): Text | undefined {
  const known = knownFault(message);
  if (!known) return undefined;
  const { key, values } = known;
  if (range && RANGED.has(key)) return rangeSentence(label, range, unit);
  const name = isEntered(key) ? withArticle(inSentence(label)) : inSentence(label);
  if (isChoice && ENTER.has(key)) return t('console.fault.select', { name });
  if (isChoice && message.startsWith('must be ')) return t('console.fault.choose', { name });
  const inner = key === 'bad-name' ? String(t('console.fault.the-name')) : label;
  const sentence =
    values.fault === undefined ? '' : translated(String(values.fault), { label: inner, labels, isChoice: false });
  if (sentence === undefined) return undefined;
  const named = Object.entries(values).map(([part, value]) => [part, labeled(value, labels)] as const);
  return new Text(`console.fault.${key}`, { field: label, name, sentence, ...Object.fromEntries(named) });
}

/** The whole range, because the number alone does not say its unit. */
function rangeSentence(field: string, { minimum, maximum }: NonNullable<Field['range']>, unit?: PageText): Text {
  if (maximum === undefined) return t('console.shared.minimum', { field, minimum, unit: unit ?? '' });
  return unit
    ? t('console.shared.range-of-unit', { field, unit, minimum, maximum })
    : t('console.shared.range', { field, minimum, maximum });
}

/** What can be wrong with a whole number that was typed. */
const RANGED: ReadonlySet<string> = new Set(['type', 'min', 'max', 'number']);

const isEntered = (key: FaultKey) => currentLanguage() === SOURCE_LANGUAGE && ENTER.has(key);

/** A value is missing. */
const ENTER: ReadonlySet<string> = new Set(['empty', 'missing', 'missing-choice', 'needed-by', 'needs-metadata']);

/** The whole sentence for a message that is not in the table: the label of the field, and what is wrong with it. */
function inEnglish(message: string, { label, labels }: Subject): string {
  if (/^[A-Z\u201c].*[.!?]$/s.test(message)) return message;
  const named = String(labeled(message, labels));
  return /^(must|has|have|is|are|needs?|belongs|does|never|contains|names|fits)\b/.test(named)
    ? `${label} ${named}.`
    : `${label}: ${named}.`;
}

/** Keys of the configuration file, such as metadata_url, as the labels of their fields. */
function labeled(value: string | number, labels: Subject['labels']): string | number {
  if (typeof value === 'number') return value;
  return value.replace(/\b[a-z]+(?:_[a-z0-9]+)+\b/g, (key) => labels[key] ?? key);
}

/** A label inside an English sentence: abbreviations stay as they are. Other languages have it between quotation marks. */
function inSentence(label: string): string {
  const isLowered = currentLanguage() === SOURCE_LANGUAGE && /^[A-Z][a-z]/.test(label);
  return isLowered ? `${label[0]?.toLowerCase()}${label.slice(1)}` : label;
}

/** An English label as an object: a name, an entity ID, a URL, but no article for several things, a number or what is not counted. */
function withArticle(name: string): string {
  if (/([^s]s|\d|data|content)$/i.test(name) || /^(the|a|an) /i.test(name)) return name;
  const isVowel = /^(?:[AEFHILMNORSX](?:[A-Z]|\b)|[aeio]|u(?!ser|ri|ni|se))/.test(name);
  return `${isVowel ? 'an' : 'a'} ${name}`;
}

function capitalized(text: string): string {
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
}
