// What is wrong with a sent form, in sentences for an administrator. The faults come from the schemas of the configuration file and the API
// (base/platform/fault-messages.ts), whose messages are halves of sentences about a key; here each becomes a sentence in the language of the
// page with the label of its field, and leads to it.

import type { AppError, ErrorCode, FieldFault } from '../../base/http/errors.ts';
import { type FaultKey, faultEntries, typeNames } from '../../base/platform/fault-messages.ts';
import { SOURCE_LANGUAGE } from '../../base/texts/languages.ts';
import { currentLanguage, type PageText, Text, t } from '../../base/texts/text.ts';
import type { ConsolePage, Field, FieldsElsewhere, PageFault } from './blocks.ts';

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

/** What is wrong with the fields of the page; a name that is taken has no field in the error. */
export function fieldFaultsOf(page: Pick<ConsolePage, 'blocks'>, { code, text, fields }: AppError): FieldFault[] {
  if (fields.length > 0) return fields;
  const taken = fieldsOf(page).find(({ name, type }) => type !== 'hidden' && name === TAKEN[code]);
  return taken ? [{ field: taken.name, message: text }] : [];
}

/** The field of a form whose value another user, role or application has. */
const TAKEN: Partial<Record<ErrorCode, string>> = {
  user_name_taken: 'username',
  email_taken: 'email',
  role_name_taken: 'name',
  application_taken: 'entity_id',
};

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
    const label = row === undefined ? labelOf(field, path) : rowLabel(field, row, column);
    const said = sentenceOf(message, { ...field, label, labels, isChoice: isChoice(field) });
    return { field: field.name, row, column, ...said, message: named(said.message, message, label) };
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

/** The label; with the line that the path names, if the field has a value on each line. */
function labelOf({ name, label, type, value = '' }: Field, path: string): string {
  const [, entry] = /^[.[](\d+)\]?$/.exec(path.slice(name.length)) ?? [];
  if (type !== 'textarea' || entry === undefined) return String(label);
  const filled = String(value)
    .split(/\r?\n/)
    .flatMap((line, at) => (line.trim() ? [{ line: at + 1, text: line.trim() }] : []));
  const found = filled[Number(entry)];
  if (!found) return String(label);
  const text = found.text.length > MAX_QUOTED ? `${found.text.slice(0, MAX_QUOTED)}…` : found.text;
  return String(t('console.page.line', { field: label, line: found.line, text }));
}

const MAX_QUOTED = 100;

/** The first column stands for the row; the label of another one may say that it can be empty. */
function rowLabel({ label, adds = label, columns = [] }: Field, row: number, column = 0): string {
  const text =
    column === 0 ? capitalized(String(adds)) : String(columns[column]?.label ?? label).replace(/ \(.*\)$/, '');
  return `${text} ${row + 1}`;
}

const isChoice = ({ type = 'text' }: Field) => ['select', 'radios', 'checks', 'checkbox'].includes(type);

/** With the label before it, if the sentence doesn't name its field: one that people read at the field on their own pages. */
function named(said: PageText, message: PageText, label: string): PageText {
  const isOwn = message instanceof Text ? !message.key.startsWith('console.') : UNNAMED.has(knownFault(message)?.key);
  if (!isOwn || String(said).toLowerCase().includes(label.toLowerCase())) return said;
  return `${label}: ${said}`;
}

/** Messages about values of attributes, which don't name them. */
const UNNAMED: ReadonlySet<FaultKey | undefined> = new Set([
  ...(['attribute-value', 'unknown-attribute', 'slow-pattern', 'value-too-long'] as const),
]);

/** The sentence, in English where the message has no text (base/platform/fault-messages.ts). */
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

interface KnownFault {
  key: FaultKey;
  values: Record<string, string | number>;
}

interface Shape {
  pattern: string;
  read(text: string): string | number;
}

const asText = (text: string) => text;
const count = (text: string) => Number(text.replace(/\D/g, ''));
const escaped = (text: string) => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
const types = Object.values(typeNames).map(escaped).join('|');
const typeOf = (words: string) => Object.entries(typeNames).find(([, name]) => name === words)?.[0] ?? words;

/** The pattern of each named value; any text for other names. */
const shapes: Record<string, Shape> = {
  type: { pattern: '[a-z ]+?', read: typeOf },
  types: { pattern: `(?:${types})(?: or (?:${types}))+`, read: asText },
  kind: { pattern: `${types}|empty|a fraction`, read: asText },
  characters: { pattern: '[\\d,]+ characters?', read: count },
  entries: { pattern: '[\\d,]+ entr(?:y|ies)', read: count },
  days: { pattern: '[\\d,]+ days?', read: count },
  bound: { pattern: '-?\\d[\\d.]*', read: Number },
  key: { pattern: '\\S+?', read: asText },
  value: { pattern: '\\S+?', read: asText },
  instead: { pattern: '(?:, not .+)?', read: asText },
  advice: { pattern: '(?:; .+)?', read: asText },
};
const ANY: Shape = { pattern: '.+?', read: asText };

/** Longer messages are not compared with the patterns, to save time; no value is that long. */
const MAX_LENGTH = 2000;

const PLACEHOLDER = /\{(\w+)\}/;
const constant = new Map(faultEntries.filter(([, text]) => !PLACEHOLDER.test(text)).map(([key, text]) => [text, key]));
/** The longest message first, because it is the most specific. */
const withValues = faultEntries
  .filter(([, text]) => PLACEHOLDER.test(text))
  .map(([key, text]) => {
    const parts = text.split(PLACEHOLDER);
    const names = parts.filter((_, at) => at % 2 === 1);
    const source = parts.map((part, at) => (at % 2 === 0 ? escaped(part) : `(${(shapes[part] ?? ANY).pattern})`));
    const words = parts.filter((_, at) => at % 2 === 0).join('');
    return { key, names, pattern: new RegExp(`^${source.join('')}$`, 's'), length: words.length };
  })
  .sort((a, b) => b.length - a.length);

/** The key and the values of a message; undefined for one that is not in the table. */
export function knownFault(message: string): KnownFault | undefined {
  const key = constant.get(message);
  if (key) return { key, values: {} };
  if (message.length > MAX_LENGTH) return undefined;
  for (const one of withValues) {
    const found = one.pattern.exec(message);
    if (!found) continue;
    const values = one.names.map((name, at) => [name, (shapes[name] ?? ANY).read(found[at + 1] ?? '')] as const);
    return { key: one.key, values: Object.fromEntries(values) };
  }
  return undefined;
}
