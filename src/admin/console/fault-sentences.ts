// What is wrong with a sent form, in sentences for an administrator. The faults come from the schemas of the configuration file and the API
// (platform/faults.ts), whose messages are halves of sentences about a key; here each gets the label of its field, and leads to it.
import type { FieldFault } from '../../http/errors.ts';
import type { ConsolePage, Field, FieldsElsewhere, PageFault } from './blocks.ts';

/** The faults as sentences, each with its field on the page. */
export function pageFaults(
  page: Pick<ConsolePage, 'blocks' | 'elsewhere'>,
  faults: readonly FieldFault[],
): PageFault[] {
  const fields = fieldsOf(page);
  const labels = labelsOf(fields, page.elsewhere ?? {});
  return faults.map(({ field: path, message }) => {
    const field = fieldAt(fields, path);
    if (!field) {
      const [key = ''] = path.split(/[.[]/);
      const other = page.elsewhere?.[key];
      return {
        field: undefined,
        message: sentenceOf(String(other?.label ?? path), String(message), labels),
        href: other?.href,
      };
    }
    const row = rowAt(field, path);
    const label = row === undefined ? String(field.label) : rowLabel(field, row);
    return {
      field: field.name,
      row,
      message: sentenceOf(label, String(message), labels, isChoice(field)),
    };
  });
}

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

function rowLabel({ label, adds = label }: Field, row: number): string {
  return `${capitalized(String(adds))} ${row + 1}`;
}

const isChoice = ({ type = 'text' }: Field) => ['select', 'radios', 'checks', 'checkbox'].includes(type);

/** Messages of the schemas that are about YAML or JSON, in words for a form. */
const inForms: readonly [RegExp, string][] = [
  [/, or \{.*\}(?= |$)/, ''],
  [/ \(\w+ is [\w.]+\)$/, ''],
  [/^must be (.+?), not (text|a list|a group of keys|empty|a number|a fraction|true or false)$/, 'must be $1'],
  [/^unknown key.*$/, 'is not a known field'],
  [/ beside it$/, ''],
  [/ beside /, ' together with '],
];

/** The whole sentence: the label of the field, and what is wrong with it. */
function sentenceOf(
  label: string,
  message: string,
  labels: Readonly<Record<string, string>>,
  isChoice = false,
): string {
  // Some messages are sentences already.
  if (/^[A-Z].*[.!?]$/s.test(message)) return message;
  if (/^(missing; |must not be empty$|must have at least 1 entr)/.test(message))
    return `${isChoice ? 'Select' : 'Enter'} ${uncapitalized(label)}.`;
  if (isChoice && /^must be (one of )?/.test(message)) return `Select one of the options of ${uncapitalized(label)}.`;
  const words = inForms.reduce((text, [pattern, instead]) => text.replace(pattern, instead), message);
  const named = words.replace(/\b[a-z]+(?:_[a-z0-9]+)*\b/g, (word) => (word.includes('_') && labels[word]) || word);
  return /^(must|has|have|is|are|needs?|belongs|does|never|contains|names|fits)\b/.test(named)
    ? `${label} ${named}.`
    : `${label}: ${named}.`;
}

/** A label inside a sentence: abbreviations stay as they are. */
function uncapitalized(label: string): string {
  return /^[A-Z][a-z]/.test(label) ? `${label[0]?.toLowerCase()}${label.slice(1)}` : label;
}

function capitalized(text: string): string {
  return `${text[0]?.toUpperCase() ?? ''}${text.slice(1)}`;
}
