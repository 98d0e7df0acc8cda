// What is wrong with a sent form, in the language of the page: each fault (base/texts/faults.ts) as a sentence with the label of its field,
// which it leads to.
import type { AppError, ErrorCode } from '../../base/http/errors.ts';
import { type Fault, type FaultCode, faultText, formatPath } from '../../base/texts/faults.ts';
import { SOURCE_LANGUAGE } from '../../base/texts/languages.ts';
import { currentLanguage, hasText, type PageText, type Text, t, textAt } from '../../base/texts/text.ts';
import { type ConsolePage, type Field, type FieldsElsewhere, fieldsOf, formsOf, type PageFault } from './blocks.ts';

/** What is wrong with the fields of the page; a name that is taken has no fault in the error. */
export function fieldFaultsOf(page: ConsolePage, { code, faults }: AppError): readonly Fault[] {
  if (faults.length > 0) return faults;
  const taken = formsOf(page)
    .flatMap(fieldsOf)
    .find(({ name, type }) => type !== 'hidden' && name === TAKEN[code]);
  return taken ? [{ path: [taken.name], code: `error.${code}` }] : [];
}

/** The field of a form whose value another user, role or application has. */
const TAKEN: Partial<Record<ErrorCode, string>> = {
  user_name_taken: 'username',
  email_taken: 'email',
  role_name_taken: 'name',
  application_taken: 'entity_id',
};

/** The faults as sentences in the current language, each with its field on the page. */
export function pageFaults(page: ConsolePage, faults: readonly Fault[]): PageFault[] {
  const fields = formsOf(page).flatMap(fieldsOf);
  const labels = labelsOf(fields, page.elsewhere ?? {});
  const found = faults.map((fault): PageFault => {
    const path = formatPath(fault.path);
    const language = isEnglish(fault) ? { language: SOURCE_LANGUAGE } : {};
    const field = fieldAt(fields, path);
    if (!field) {
      const other = page.elsewhere?.[String(fault.path[0])];
      const message = sentence(fault, String(other?.label ?? path), labels);
      return { field: undefined, message, href: other?.href, ...language };
    }
    const row = rowAt(field, path);
    const column = row === undefined ? undefined : columnAt(field, path, row, fault);
    const name = fault.code === 'unknown-attribute' ? String(fault.path.at(-1)) : undefined;
    const label = name ?? (row === undefined ? labelOf(field, path) : rowLabel(field, row, column));
    return { field: field.name, row, column, message: formSentence(fault, field, label, labels), ...language };
  });
  return found.filter((one, at) => found.findIndex((other) => isSame(one, other)) === at);
}

type Labels = Readonly<Record<string, string>>;

function sentence(fault: Fault, label: string, labels: Labels): PageText {
  const text = faultText(fault, label, (key) => labels[key] ?? key);
  // A text of the pages for people stands at its field there, and may not name it; one of an error says the whole.
  const isWhole = /^(console|error)\./.test(text.key) || String(text).toLowerCase().includes(label.toLowerCase());
  return isWhole ? text : `${label}: ${text}`;
}

/** What a form says of some faults in its own words: a value is typed or selected there. */
function formSentence(fault: Fault, field: Field, label: string, labels: Labels): PageText {
  const { code } = fault;
  if (field.range && RANGED.has(code)) return rangeSentence(label, field.range, field.unit);
  if (MISSING.has(code)) {
    const own = field.type === 'rows' ? undefined : textAt(`console.fault.enter.${field.name}`);
    return own ?? t(isChoice(field) ? 'console.fault.select' : 'console.fault.enter', { field: label });
  }
  if (field.type === 'checks' && code === 'min-entries') return t('console.fault.tick', { field: label });
  if (isChoice(field) && NO_OPTION.has(code)) return t('console.fault.choose', { field: label });
  const key = `${code}.form`;
  return sentence(hasText(`console.fault.${key}`) ? { ...fault, code: key as FaultCode } : fault, label, labels);
}

/** What a library or another server says is not translated. */
const isEnglish = ({ code }: Fault) => code === 'english' && currentLanguage() !== SOURCE_LANGUAGE;

const MISSING: ReadonlySet<string> = new Set(['empty', 'missing', 'missing-choice', 'needed-by', 'needs-metadata']);
const NO_OPTION: ReadonlySet<string> = new Set(['type', 'either-type', 'one-of', 'exactly', 'no-form', 'wrong-form']);

/** Two rules of one field may say the same. */
const isSame = (one: PageFault, other: PageFault) =>
  one.field === other.field && one.href === other.href && String(one.message) === String(other.message);

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

/** The column that the path names; in a map, whose rows the path names by their first part, the next one that is typed is the value. */
function columnAt({ name, columns = [], lines = [] }: Field, path: string, row: number, { code }: Fault): number {
  const rest = path.slice(name.length);
  const isNumbered = /^[.[]\d+/.test(rest);
  const part = isNumbered ? rest.replace(/^[.[]\d+\]?/, '') : rest.slice(1 + (lines[row]?.[0] ?? '').length);
  const under = columns.filter((column) => column.name !== '' && isUnder(part, `.${column.name}`));
  const [longest] = under.sort((one, other) => other.name.length - one.name.length);
  const named = longest ? columns.indexOf(longest) : -1;
  if (named >= 0) return named;
  if (isNumbered || code === 'bad-name' || code === 'unknown-attribute' || columns.length < 2) return 0;
  const typed = columns.findIndex(({ type }, at) => at > 0 && type !== 'select');
  return typed < 0 ? 1 : typed;
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

/** The whole range, because the number alone does not say its unit. */
function rangeSentence(field: string, { minimum, maximum }: NonNullable<Field['range']>, unit?: PageText): Text {
  if (maximum === undefined) return t('console.shared.minimum', { field, minimum, unit: unit ?? '' });
  return unit
    ? t('console.shared.range-of-unit', { field, unit, minimum, maximum })
    : t('console.shared.range', { field, minimum, maximum });
}

/** What can be wrong with a whole number that was typed. */
const RANGED: ReadonlySet<string> = new Set(['type', 'min', 'max', 'number']);

function capitalized(text: string): string {
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
}
