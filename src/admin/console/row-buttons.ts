// The buttons that add a row to a list in a form, or remove one. They send the form, which comes back as it was typed, with one row
// more or less, and saves nothing. So they work without script.
import type { Field, RowColumn } from './blocks.ts';

/** The name of the buttons, also of those that tick several boxes. */
export const ROWS = 'rows';

/** A form as it was sent: every value of each name, trimmed. */
export type Sent = Readonly<Record<string, readonly string[]>>;

/** Of the input for the time beside a day, behind the name of the field. */
const TIME = '.time';

/** The form with each day and its time, which may be empty, as one value: `2026-12-31T18:00`. */
export function withTimes<Form extends Readonly<Record<string, unknown>>>(form: Form): Form {
  const joined: Record<string, unknown> = { ...form };
  for (const [key, value] of Object.entries(form)) {
    if (!key.endsWith(TIME)) continue;
    const [name, time] = [key.slice(0, -TIME.length), [value].flat().at(-1)];
    if (time) joined[name] = `${[form[name] ?? ''].flat().at(-1)}T${time}`;
    delete joined[key];
  }
  return joined as Form;
}

/** A form that was read with every field as a list. */
export const toSent = (form: Readonly<Record<string, string | string[]>>): Sent =>
  Object.fromEntries(
    Object.entries(withTimes(form)).map(([name, values]) => [name, [values].flat().map((one) => one.trim())]),
  );

/** The last value of a field; undefined where the form does not have it. */
export const sentValue = (sent: Sent, name: string): string | undefined => sent[name]?.at(-1);

/** The rows of a field, each with a value for each column, blank ones too. */
export function linesOf(sent: Sent, { name, columns = [] }: Field): string[][] {
  const parts = columns.map((column) => sent[column.name ? `${name}.${column.name}` : name] ?? []);
  const length = Math.max(0, ...parts.map((part) => part.length));
  return Array.from({ length }, (_, at) => parts.map((part) => part[at] ?? ''));
}

/** Whether the row was filled in: a value that is only chosen from a list does not make it one. */
export const isFilled = (line: readonly string[], columns: readonly RowColumn[]): boolean =>
  line.some((part, at) => part !== '' && columns[at]?.type !== 'select');

/** Whether one of the buttons sent the form. */
export const isRowButton = (sent: Sent): boolean => sent[ROWS] !== undefined;

/** The fields with what was typed into them, and with one row more or less where a button was pressed. */
export function asTyped(fields: readonly Field[], sent: Sent): Field[] {
  const [action, target, position] = (sentValue(sent, ROWS) ?? '').split(' ');
  return fields.map((field) => {
    const typed = field.isLocked ? field : withTyped(field, sent);
    if (field.type !== 'rows' || field.name !== target) return typed;
    const lines = typed.lines ?? [];
    if (action === 'remove') return { ...typed, lines: lines.filter((_, at) => String(at) !== position), focus: -1 };
    return { ...typed, lines: [...lines, (field.columns ?? []).map(() => '')], focus: lines.length };
  });
}

function withTyped(field: Field, sent: Sent): Field {
  const value = sentValue(sent, field.name);
  if (field.type === 'checkbox') return { ...field, checked: value === 'on' };
  if (field.type === 'checks') return { ...field, values: sent[field.name] ?? [] };
  if (field.type === 'rows') return { ...field, lines: linesOf(sent, field) };
  return value === undefined ? field : { ...field, value };
}

/** What a browser sends for these fields when nothing was typed. */
export function untouched(fields: readonly Field[]): Sent {
  const pairs = fields.flatMap((field): [string, readonly string[]][] => {
    if (field.isLocked) return [];
    if (field.type === 'checkbox') return field.checked ? [[field.name, ['on']]] : [];
    if (field.type === 'checks') {
      const ticked = (field.options ?? []).map(({ value }) => value).filter((value) => field.values?.includes(value));
      return [[field.name, ticked]];
    }
    if (field.type !== 'rows') return [[field.name, [String(field.value ?? '').trim()]]];
    const lines = (field.lines ?? []).map((line) => line.map((text) => text.trim()));
    return (field.columns ?? []).map(({ name }, at) => [
      name ? `${field.name}.${name}` : field.name,
      lines.map((line) => line[at] ?? ''),
    ]);
  });
  return Object.fromEntries(pairs);
}
