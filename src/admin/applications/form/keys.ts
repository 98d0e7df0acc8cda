// A key of an application's declaration as a field of a form: how it is displayed, and what a sent form makes of it. Each function makes
// one kind of field; the tables of keys are in oidc-keys.ts and saml-keys.ts.

import { badRequest } from '../../../base/http/errors.ts';
import { faultMessage } from '../../../base/platform/fault-messages.ts';
import type { PageText } from '../../../base/texts/text.ts';
import type { Field, Option, RowColumn } from '../../console/blocks.ts';
import { linesOf, type Sent, sentValue } from '../../console/row-buttons.ts';

/** Values of the declaration by key; those at their default may be absent. */
export type Values = Readonly<Record<string, unknown>>;

export interface Key {
  /** Its name in the configuration file. */
  key: string;
  /** Its fields, with this declaration. */
  fields(values: Values): Field[];
  /** The value; undefined: the key is left out. Throws invalid_input. */
  read(sent: Sent): unknown;
}

interface About {
  key: string;
  label: PageText;
  hint: PageText;
  unit?: PageText;
  range?: Field['range'];
  isHalf?: boolean;
}

const base = ({ key, label, hint, unit, range, isHalf }: About) => ({
  name: key,
  label,
  hint,
  ...(unit && { unit }),
  ...(range && { range }),
  ...(isHalf && { isHalf }),
});

/** One line of text, or several with `rows`. */
export function textKey(about: About, options: Pick<Field, 'isCode' | 'required' | 'rows'> = {}): Key {
  const { key } = about;
  return {
    key,
    fields: (values) => [
      { ...base(about), ...options, ...(options.rows && { type: 'textarea' }), value: text(values[key]) },
    ],
    // One that is required and empty is for the schema to reject; left out, it would fall back to its default.
    read: (sent) => sentValue(sent, key)?.replace(/\r\n/g, '\n') || (options.required ? '' : undefined),
  };
}

/** An address. */
export const urlKey = (about: About): Key => textKey(about, { isCode: true });

/** A whole number; empty is absent. */
export function numberKey(about: About): Key {
  const { key } = about;
  return {
    key,
    fields: (values) => [{ ...base(about), type: 'number', value: text(values[key]) }],
    read(sent) {
      const typed = sentValue(sent, key);
      if (!typed) return undefined;
      return /^-?\d{1,300}$/.test(typed) ? Number(typed) : typed;
    },
  };
}

/** A switch. `on` and `off` are the values; undefined: the key is left out. Without them it is `true` or left out. */
export function switchKey(
  about: About,
  values: { on?: unknown; off?: unknown; isOn?(value: unknown): boolean } = { on: true },
): Key {
  const { key } = about;
  const { on, off, isOn = (value) => value === on } = values;
  return {
    key,
    fields: (declared) => [{ ...base(about), type: 'checkbox', checked: isOn(declared[key]) }],
    read: (sent) => (sentValue(sent, key) === 'on' ? on : off),
  };
}

/**
 * One of several values, as a list, or as cards with a sentence each; another one that is set already stays as an option. An option with
 * the value '' leaves the key out.
 */
export function choiceKey(
  about: About,
  { options, byDefault = '', asCards = false }: { options: readonly Option[]; byDefault?: string; asCards?: boolean },
): Key {
  const { key } = about;
  return {
    key,
    fields(values) {
      const value = text(values[key] ?? byDefault);
      const isKnown = value === '' || options.some((option) => option.value === value);
      const all = isKnown ? options : [...options, { value, label: value }];
      return [{ ...base(about), type: asCards ? 'radios' : 'select', options: all, value }];
    },
    read: (sent) => sentValue(sent, key) || undefined,
  };
}

/** Some of several values; others that are set already stay as options. */
export function checksKey(
  about: About,
  { options, byDefault = [] }: { options: readonly Option[]; byDefault?: readonly string[] },
): Key {
  const { key } = about;
  return {
    key,
    fields(values) {
      const set = (values[key] as string[] | undefined) ?? byDefault;
      const unknown = set.filter((value) => !options.some((option) => option.value === value));
      const all = [...options, ...unknown.map((value) => ({ value, label: value }))];
      return [{ ...base(about), type: 'checks', options: all, values: set }];
    },
    read: (sent) => nonEmpty(sent[key] ?? []),
  };
}

/** A list of texts, a row each. */
export function listKey(about: About, adds: PageText): Key {
  const field = { ...base(about), type: 'rows', adds, columns: [{ name: '', label: about.label }] } as const;
  return {
    key: about.key,
    fields: (values) => [{ ...field, lines: ((values[about.key] as string[] | undefined) ?? []).map((one) => [one]) }],
    read: (sent) => nonEmpty(linesOf(sent, field).flatMap(([one]) => one || [])),
  };
}

/** A list of entries with several parts. `toLines` and `fromLines` turn the value into rows and back; blank rows are left out. */
export function rowsKey(
  about: About,
  {
    adds,
    columns,
    toLines,
    fromLines,
  }: {
    adds: PageText;
    columns: readonly RowColumn[];
    toLines(value: unknown): string[][];
    fromLines(lines: string[][]): unknown;
  },
): Key {
  const field = { ...base(about), type: 'rows', adds, columns } as const;
  // A row in which only a list has a value was not filled in.
  const isFilled = (line: string[]) => line.some((part, at) => part !== '' && columns[at]?.type !== 'select');
  return {
    key: about.key,
    fields: (values) => [{ ...field, lines: values[about.key] === undefined ? [] : toLines(values[about.key]) }],
    read: (sent) => fromLines(linesOf(sent, field).filter(isFilled)),
  };
}

/** Name -> text, a row each. */
export function mapKey(about: About, adds: PageText, columns: readonly [RowColumn, RowColumn]): Key {
  return rowsKey(about, {
    adds,
    columns,
    toLines: (value) => Object.entries(value as Record<string, string>),
    fromLines: (lines) => {
      assertDistinct(about.key, lines);
      return lines.length === 0 ? undefined : Object.fromEntries(lines);
    },
  });
}

/** A value as JSON. */
export function jsonKey(about: About): Key {
  const { key } = about;
  return {
    key,
    fields: (values) => [
      {
        ...base(about),
        type: 'textarea',
        rows: 6,
        isCode: true,
        value: values[key] === undefined ? '' : JSON.stringify(values[key], undefined, 2),
      },
    ],
    read(sent) {
      const typed = sentValue(sent, key);
      if (!typed) return undefined;
      try {
        return JSON.parse(typed) as unknown;
      } catch {
        throw badRequest('invalid_input', { fields: [{ field: key, message: faultMessage('json') }] });
      }
    },
  };
}

/** Throws invalid_input when two rows begin with the same name, of which one would be lost. */
export function assertDistinct(key: string, lines: readonly string[][]): void {
  const names = lines.map(([name = '']) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice === undefined) return;
  throw badRequest('invalid_input', { fields: [{ field: key, message: faultMessage('twice', { entry: twice }) }] });
}

export function nonEmpty<T>(list: readonly T[]): readonly T[] | undefined {
  return list.length === 0 ? undefined : list;
}

function text(value: unknown): string {
  return value === undefined || value === null ? '' : String(value);
}
