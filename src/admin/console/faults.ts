// What is wrong with a sent form, in the language of the page: each fault (base/texts/faults.ts) as a sentence with the label of its field,
// which it leads to.
import type { AppError, ErrorCode } from '../../base/http/errors.ts';
import { type Fault, type FaultCode, faultText, formatPath } from '../../base/texts/faults.ts';
import { SOURCE_LANGUAGE } from '../../base/texts/languages.ts';
import { currentLanguage, hasText, type PageText, type Text, t, textAt } from '../../base/texts/text.ts';
import { type ConsolePage, type Field, type FieldsElsewhere, fieldsOf, formsOf, type PageFault } from './blocks.ts';
import { isFilled } from './row-buttons.ts';

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

// What follows the name of the field in a path: the number of an entry (`redirect_uris[1]`, `redirect_uris.1`), or in a map its name
// (`attributes.mail`); then, where an entry has several parts, the part (`aliases[1].value`, `attributes.mail.value`).

/** The number of the entry, if the path has one, and what follows it. */
function numberedEntry(path: string, name: string): { number: number; rest: string } | undefined {
  const [, number, rest = ''] = /^[.[](\d+)\]?(.*)$/s.exec(path.slice(name.length)) ?? [];
  return number === undefined ? undefined : { number: Number(number), rest };
}

/** The row that the path names. Its number is one among those that are filled in. */
function rowAt({ name, type, columns = [], lines = [] }: Field, path: string): number | undefined {
  if (type !== 'rows' || path === name) return undefined;
  const filled = [...lines.keys()].filter((at) => isFilled(lines[at] ?? [], columns));
  const entry = numberedEntry(path, name);
  return entry ? filled[entry.number] : filled.find((at) => isUnder(path, `${name}.${lines[at]?.[0]}`));
}

/** The column that the path names. Where it names none, it is about the entry, or in a map about its value: the next column that is typed. */
function columnAt({ name, columns = [], lines = [] }: Field, path: string, row: number, { code }: Fault): number {
  const entry = numberedEntry(path, name);
  const rest = entry ? entry.rest : path.slice(`${name}.${lines[row]?.[0] ?? ''}`.length);
  const named = columns.filter((column) => column.name !== '' && isUnder(rest, `.${column.name}`));
  const [longest] = named.sort((one, other) => other.name.length - one.name.length);
  if (longest) return columns.indexOf(longest);
  if (entry || code === 'bad-name' || code === 'unknown-attribute' || columns.length < 2) return 0;
  const typed = columns.findIndex(({ type }, at) => at > 0 && type !== 'select');
  return typed < 0 ? 1 : typed;
}

/** The label; with the line that the path names, if the field has a value on each line. */
function labelOf({ name, label, type, value = '' }: Field, path: string): string {
  const entry = numberedEntry(path, name);
  if (type !== 'textarea' || entry?.rest !== '') return String(label);
  const typed = String(value).split(/\r?\n/);
  // The number counts the lines that are not blank.
  const at = [...typed.keys()].filter((line) => typed[line]?.trim())[entry.number];
  if (at === undefined) return String(label);
  const line = typed[at]?.trim() ?? '';
  const text = line.length > MAX_QUOTED ? `${line.slice(0, MAX_QUOTED)}…` : line;
  return String(t('console.page.line', { field: label, line: at + 1, text }));
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
