// A described field (base/platform/described-fields.ts) in a form of the console: how it is displayed, what a sent form makes of it, and what
// a sent form changes. Its texts are below a prefix by its name: `<name>.label`, `<name>.hint`, `<name>.<value>` and `<name>.<value>.hint` for
// what it can be, `<name>.absent` for no value, `<name>.adds` for a row of a list.

import type { z } from 'zod';
import { invalidInput } from '../../base/http/errors.ts';
import { type DescribedField, jsonSchemaOf } from '../../base/platform/described-fields.ts';
import { fault } from '../../base/texts/faults.ts';
import { type PageText, t, textAt } from '../../base/texts/text.ts';
import type { Field, FormSection, Option, RowColumn } from './blocks.ts';
import { asTyped, isFilled, linesOf, type Sent, sentValue, untouched } from './row-buttons.ts';
import { lines } from './text-area.ts';

/** Values by key; those at their default may be absent. */
export type Values = Readonly<Record<string, unknown>>;

/** What a key can be chosen from, by the name in its description. */
export type FieldOptions = Readonly<Record<string, readonly Option[]>>;

export interface FormKey {
  /** Its name in the configuration file. */
  key: string;
  /** Its fields, with these values. */
  fields(values: Values): Field[];
  /** The value; undefined: the key is left out. Throws invalid_input. */
  read(sent: Sent): unknown;
}

/** A part of a form: keys that belong together. */
export interface KeySection extends Omit<FormSection, 'fields' | 'summary'> {
  keys: readonly FormKey[];
  /** Of an advanced section: the current values in a few words. */
  summary?(values: Values): PageText;
}

/** A described field. */
export interface FieldSource {
  name: string;
  schema: z.ZodType;
  about: DescribedField;
  /** Where its texts are, such as `console.field.`. */
  texts: string;
}

type Json = {
  type?: string;
  enum?: readonly string[];
  items?: Json;
  default?: unknown;
  minimum?: number;
  maximum?: number;
  additionalProperties?: unknown;
};

/** The beginning of the keys of its texts. */
const at = ({ texts, name, about }: FieldSource) => `${texts}${about.text ?? name}`;

/** Name, label and hint of a field. */
export function baseOf(source: FieldSource): Field {
  const { name, about } = source;
  return {
    name,
    label: textAt(`${at(source)}.label`) ?? name,
    hint: textAt(`${at(source)}.hint`),
    ...(about.unit && { unit: t(`console.shared.unit.${about.unit}`) }),
    ...(about.isHalf && { isHalf: true }),
  };
}

/** A field that is written out, without its value; rows of one column. */
export function fieldKey(field: Field): FormKey {
  const { name, type, required } = field;
  const isNumber = type === 'number' || field.isNumber;
  return {
    key: name,
    fields({ [name]: value }) {
      if (type === 'checkbox') return [{ ...field, checked: value === true }];
      if (type === 'checks') return [{ ...field, values: (value ?? []) as string[] }];
      if (type === 'rows') return [{ ...field, lines: ((value ?? []) as string[]).map((one) => [one]) }];
      return [{ ...field, value: text(value) }];
    },
    read(sent) {
      if (type === 'checks') return sent[name] ?? [];
      if (type === 'rows') return (sent[name] ?? []).filter(Boolean);
      const typed = sentValue(sent, name)?.replace(/\r\n/g, '\n');
      if (type === 'checkbox') return typed === 'on';
      if (!typed) return required && !isNumber ? '' : undefined;
      return isNumber ? typedNumber(typed) : typed;
    },
  };
}

/** An object, from keys that are called `<name>.<part>`; undefined where none of them has a value. */
export function groupKey(name: string, keys: readonly FormKey[]): FormKey {
  const partOf = (key: string) => key.slice(name.length + 1);
  return {
    key: name,
    fields: ({ [name]: stored }) =>
      keys.flatMap(({ key, fields }) => fields({ [key]: (stored as Values | null | undefined)?.[partOf(key)] })),
    read(sent) {
      const given = Object.entries(bodyOf(keys, sent)).map(([key, value]) => [partOf(key), value]);
      return given.length > 0 ? Object.fromEntries(given) : undefined;
    },
  };
}

/** A text area with a line for each entry, which grows with them. `toText` and `fromLines` turn the value into lines and back. */
export function entriesKey(
  field: Field & { rows: number },
  { toText, fromLines }: { toText(values: Values): string; fromLines(lines: string[]): unknown },
): FormKey {
  return {
    key: field.name,
    fields(values) {
      const value = toText(values);
      return [{ ...field, type: 'textarea', rows: Math.max(field.rows, lines(value).length + 1), value }];
    },
    read: (sent) => fromLines(lines(sentValue(sent, field.name))),
  };
}

/** The fields with these values, or as they were typed. */
export function fieldsOf(keys: readonly FormKey[], values: Values, sent: Sent | undefined): Field[] {
  const fields = keys.flatMap((key) => key.fields(values));
  return sent ? asTyped(fields, sent) : fields;
}

/** A choice of a number of days. */
export const daysField = (name: string, label: PageText, value: number, choices: readonly number[]): Field => ({
  name,
  label,
  type: 'select',
  isNumber: true,
  value: String(value),
  options: choices.map((count) => ({ value: String(count), label: t('console.shared.days', { count }) })),
});

/** What a form says as the body of an endpoint. A field that is empty is absent. */
export const bodyOf = (keys: readonly FormKey[], sent: Sent): Record<string, unknown> =>
  Object.fromEntries(keys.map((key) => [key.key, key.read(sent)] as const).filter(([, value]) => value !== undefined));

/** A field as its schema and its description say. */
export function keyOf(source: FieldSource, options: FieldOptions): FormKey {
  const { schema, about } = source;
  const { type, enum: values, items, default: standard, ...json } = jsonSchemaOf(schema) as Json;
  const listed = about.options === undefined ? undefined : (options[about.options] ?? []);
  if (about.switch || (type === 'boolean' && !about.isChoice))
    return switchKey(source, about.switch ?? { on: true }, standard);
  if (type === 'boolean') return booleanChoiceKey(source);
  if (type === 'array') {
    const offered = listed ?? (items?.enum && optionsOf(source, items.enum, true));
    if (about.rows) return linesKey(source);
    return offered ? checksKey(source, offered, standard) : listKey(source);
  }
  if (values || listed) {
    const named = values && optionsOf(source, values);
    const offered = listed?.filter(({ value }) => !values || values.includes(value)) ?? named ?? [];
    return choiceKey(source, offered, standard);
  }
  if (type === 'integer') return numberKey(source, json);
  return type === 'object' ? jsonKey(source) : textKey(source);
}

/** What it can be: each value in words where there are any. `withCodes`: with the value as the second line where nothing else is said. */
export function optionsOf(source: FieldSource, values: readonly string[], withCodes = false): Option[] {
  return values.map((value) => {
    const text = `${at(source)}.${value.split(':').at(-1)}`;
    const label = textAt(text);
    const hint = textAt(`${text}.hint`) ?? (label && withCodes ? value : undefined);
    return { value, label: label ?? value, ...(hint && { hint }) };
  });
}

/** One line of text, or several. */
function textKey(source: FieldSource): FormKey {
  const { isFreeText, isRequired, rows } = source.about;
  const field = {
    ...baseOf(source),
    ...(!isFreeText && { isCode: true }),
    ...(isRequired && { required: true }),
    ...(rows && { rows, type: 'textarea' as const }),
  };
  return {
    key: source.name,
    fields: (values) => [{ ...field, value: text(values[source.name]) }],
    // One that is required and empty is for the schema to reject; left out, it would fall back to its default.
    read: (sent) => sentValue(sent, source.name)?.replace(/\r\n/g, '\n') || (isRequired ? '' : undefined),
  };
}

/** A whole number, which the schema demands; empty is absent. */
function numberKey(source: FieldSource, { minimum, maximum = Number.MAX_SAFE_INTEGER }: Json): FormKey {
  const range = minimum !== undefined && { minimum, ...(maximum < Number.MAX_SAFE_INTEGER && { maximum }) };
  const field = { ...baseOf(source), type: 'number' as const, ...(range && { range }) };
  return {
    key: source.name,
    fields: (values) => [{ ...field, value: text(values[source.name]) }],
    read(sent) {
      const typed = sentValue(sent, source.name);
      return typed ? typedNumber(typed) : undefined;
    },
  };
}

function switchKey(
  source: FieldSource,
  { on, off }: NonNullable<DescribedField['switch']>,
  standard: unknown,
): FormKey {
  const isOn = (value = standard) => (on === undefined ? value !== off : value === on);
  return {
    key: source.name,
    fields: (values) => [{ ...baseOf(source), type: 'checkbox', checked: isOn(values[source.name]) }],
    read: (sent) => (sentValue(sent, source.name) === 'on' ? on : off),
  };
}

/** One of several values, as cards where each is explained; another one that is set already stays as an option. Absent is one where there is no default. */
export function choiceKey(source: FieldSource, offered: readonly Option[], standard?: unknown): FormKey {
  const hint = textAt(`${at(source)}.absent.hint`);
  const label = textAt(`${at(source)}.absent`) ?? t('console.page.none');
  const options = standard === undefined ? [{ value: '', label, ...(hint && { hint }) }, ...offered] : offered;
  const type = options.every((option) => option.hint) ? 'radios' : 'select';
  return {
    key: source.name,
    fields(values) {
      const value = text(values[source.name] ?? standard);
      const isKnown = value === '' || options.some((option) => option.value === value);
      const all = isKnown ? options : [...options, { value, label: value }];
      return [{ ...baseOf(source), type, options: all, value }];
    },
    read: (sent) => sentValue(sent, source.name) || undefined,
  };
}

function booleanChoiceKey(source: FieldSource): FormKey {
  const choice = choiceKey(source, optionsOf(source, ['true', 'false']));
  return { ...choice, read: (sent) => ({ true: true, false: false })[sentValue(sent, source.name) ?? ''] };
}

/** Some of several values; others that are set already stay as options. */
function checksKey(source: FieldSource, options: readonly Option[], standard: unknown): FormKey {
  const { name } = source;
  return {
    key: name,
    fields(values) {
      const set = (values[name] ?? standard ?? []) as string[];
      const unknown = set.filter((value) => !options.some((option) => option.value === value));
      const all = [...options, ...unknown.map((value) => ({ value, label: value }))];
      return [{ ...baseOf(source), type: 'checks', options: all, values: set }];
    },
    read: (sent) => nonEmpty(sent[name] ?? []),
  };
}

/** A list of texts, a row each. */
function listKey(source: FieldSource): FormKey {
  return rowsKey(source, {
    columns: [{ name: '', label: baseOf(source).label }],
    toLines: (value) => (value as string[]).map((one) => [one]),
    fromLines: (lines) => nonEmpty(lines.flat()),
  });
}

/** A list of many texts, a line each. */
function linesKey(source: FieldSource): FormKey {
  const { name, about } = source;
  const field = { ...baseOf(source), type: 'textarea' as const, isCode: true, rows: about.rows ?? 4 };
  return {
    key: name,
    fields: (values) => [{ ...field, value: ((values[name] ?? []) as string[]).join('\n') }],
    read: (sent) => lines(sentValue(sent, name)),
  };
}

/** A list of entries with several parts. `toLines` and `fromLines` turn the value into rows and back; blank rows are left out. */
export function rowsKey(
  source: FieldSource,
  parts: {
    columns: readonly RowColumn[];
    toLines(value: unknown): string[][];
    fromLines(lines: string[][]): unknown;
  },
): FormKey {
  const { name } = source;
  const { columns } = parts;
  const field = { ...baseOf(source), type: 'rows', adds: textAt(`${at(source)}.adds`) ?? name, columns } as const;
  return {
    key: name,
    fields: (values) => [{ ...field, lines: values[name] === undefined ? [] : parts.toLines(values[name]) }],
    read: (sent) => parts.fromLines(linesOf(sent, field).filter((line) => isFilled(line, columns))),
  };
}

/** Name -> text, a row each. */
export function mapKey(source: FieldSource, columns: readonly [RowColumn, RowColumn]): FormKey {
  return rowsKey(source, {
    columns,
    toLines: (value) => Object.entries(value as Record<string, string>),
    fromLines(lines) {
      assertDistinct(source.name, lines);
      return lines.length === 0 ? undefined : Object.fromEntries(lines);
    },
  });
}

/** A value as JSON. */
function jsonKey(source: FieldSource): FormKey {
  const { name } = source;
  const field = { ...baseOf(source), type: 'textarea' as const, rows: 6, isCode: true };
  return {
    key: name,
    fields: (values) => [
      { ...field, value: values[name] === undefined ? '' : JSON.stringify(values[name], undefined, 2) },
    ],
    read(sent) {
      const typed = sentValue(sent, name);
      if (!typed) return undefined;
      try {
        return JSON.parse(typed) as unknown;
      } catch {
        throw invalidInput([fault([name], 'json')]);
      }
    },
  };
}

/** Throws invalid_input when two rows begin with the same name, of which one would be lost. */
export function assertDistinct(key: string, lines: readonly string[][]): void {
  const names = lines.map(([name = '']) => name);
  const twice = names.find((name, index) => names.indexOf(name) !== index);
  if (twice === undefined) return;
  throw invalidInput([fault([key], 'twice', { entry: twice })]);
}

/** A number that was typed; anything else is for the schema to reject. */
const typedNumber = (typed: string): number | string =>
  /^-?\d{1,300}(\.\d{1,300})?$/.test(typed) ? Number(typed) : typed;

export function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

function text(value: unknown): string {
  return value === undefined || value === null ? '' : String(value);
}

/** The sections with their fields; with `sent`, as they were typed. `isLocked`: nothing may be changed. `locked`: keys that another one decides, with the reason. */
export function formSections(
  sections: readonly KeySection[],
  values: Values,
  { isLocked, locked = {}, sent }: { isLocked: boolean; locked?: Record<string, PageText>; sent?: Sent | undefined },
): FormSection[] {
  return sections.map(({ keys, summary, ...section }) => {
    const fields = keys.flatMap((key) => {
      const reason = locked[key.key];
      return key.fields(values).map((field) => lockedField(field, isLocked, reason));
    });
    return {
      ...section,
      ...(summary && { summary: summary(values) }),
      fields: sent ? asTyped(fields, sent) : fields,
    };
  });
}

function lockedField(field: Field, isLocked: boolean, reason: PageText | undefined): Field {
  if (!isLocked && reason === undefined) return field;
  return { ...field, isLocked: true, ...(reason && { hint: reason }) };
}

/** The values that the form changes; null: the key is left out. Throws invalid_input. */
export function changedValues(keys: readonly FormKey[], values: Values, sent: Sent): Record<string, unknown> {
  const before = untouched(keys.flatMap((key) => key.fields(values)));
  const changed = keys
    .filter((key) => isSent(key.fields(values), sent))
    .map((key) => ({ key: key.key, old: key.read(before), value: key.read(sent) }))
    .filter(({ old, value }) => JSON.stringify(old) !== JSON.stringify(value));
  return Object.fromEntries(changed.map(({ key, value }) => [key, value ?? null]));
}

/** The same as JSON merge patch (RFC 7396), which would keep the entries of a map that the new one lacks. */
export function patchOf(keys: readonly FormKey[], values: Values, sent: Sent): Record<string, unknown> {
  const changed = Object.entries(changedValues(keys, values, sent));
  return Object.fromEntries(changed.map(([key, value]) => [key, withRemovals(values[key], value)]));
}

/** A browser sends nothing for a box that is not ticked; another field that is absent was not on the form. */
function isSent(fields: readonly Field[], sent: Sent): boolean {
  return fields.every(({ type, name, columns }) => {
    if (type === 'checkbox' || type === 'checks') return true;
    if (type !== 'rows') return sent[name] !== undefined;
    return (columns ?? []).some((column) => sent[column.name ? `${name}.${column.name}` : name] !== undefined);
  });
}

function withRemovals(before: unknown, value: unknown): unknown {
  if (!isMap(before) || !isMap(value)) return value;
  const removed = Object.keys(before).filter((name) => !Object.hasOwn(value, name));
  const kept = Object.entries(value).map(([name, part]) => [name, withRemovals(before[name], part)]);
  return { ...Object.fromEntries(removed.map((name) => [name, null])), ...Object.fromEntries(kept) };
}

function isMap(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
