// The custom attributes of a user in a form: a field for each attribute that the setting user_attributes declares in a simple way, and rows
// with name, type and value for all others.

import { invalidInput } from '../../base/http/errors.ts';
import { fault } from '../../base/texts/faults.ts';
import { concatenated, type PageText, t } from '../../base/texts/text.ts';
import type { AttributeSchema } from '../../people/accounts/attributes.ts';
import { nameKey } from '../../people/accounts/names.ts';
import { type SimpleAttribute, simpleAttributes } from '../../people/accounts/simple-attributes.ts';
import type { Field, FormSection } from '../console/blocks.ts';
import { asTyped, linesOf, type Sent, sentValue } from '../console/row-buttons.ts';

export type Attributes = Readonly<Record<string, unknown>>;

const ROWS = 'attributes';
const COLUMNS = ['name', 'type', 'value'] as const;
const TYPES = ['text', 'number', 'flag', 'list', 'json'] as const;
type Type = (typeof TYPES)[number];

/** The attributes with a field of their own; the names of the columns belong to the rows. */
const declared = (schema: AttributeSchema) =>
  simpleAttributes(schema).filter(({ name }) => !COLUMNS.some((column) => column === name));

/** `Team: Ops`: the first value that begins with the text, as a search finds it, with the label of its field. */
export function matchedValue(schema: AttributeSchema, attributes: Attributes, search: string): PageText | undefined {
  const key = nameKey(search);
  if (key === '') return undefined;
  for (const [name, value] of Object.entries(attributes)) {
    const found = [value].flat().find((one) => typeof one !== 'object' && nameKey(String(one)).startsWith(key));
    if (found === undefined || typeof found === 'boolean') continue;
    const label = simpleAttributes(schema).find((one) => one.name === name)?.label ?? name;
    return concatenated([label, `: ${found}`]);
  }
  return undefined;
}

/** The part of the form; with `sent`, as it was typed. */
export function attributeSection(schema: AttributeSchema, attributes: Attributes, sent: Sent | undefined): FormSection {
  const own = declared(schema);
  const others = Object.entries(attributes).filter(([name, value]) => !hasField(own, name, value));
  const fields = [...own.map((attribute) => fieldOf(attribute, attributes[attribute.name])), rowsField(schema, others)];
  const count = Object.keys(attributes).length;
  return {
    title: t('console.users.form.attributes'),
    fields: sent ? asTyped(fields, sent) : fields,
    ...(own.length === 0 && {
      isAdvanced: true,
      summary: count === 0 ? t('console.page.none') : t('console.users.form.attributes.count', { count }),
    }),
  };
}

/** The attributes of the sent form; undefined when it leaves them as they are. Throws invalid_input. */
export function sentAttributes(schema: AttributeSchema, before: Attributes, sent: Sent): Attributes | undefined {
  const own = declared(schema);
  const isSent = (name: string) => sent[`${ROWS}.${name}`] !== undefined;
  if (!isSent('name') && !own.some(({ name }) => isSent(name))) return undefined;
  const typed = own.map(
    (attribute) => [attribute.name, sentAttribute(attribute, before[attribute.name], sent)] as const,
  );
  const lines = linesOf(sent, rowsField(schema, []));
  const rows = lines.filter(([name, , value]) => name || value).map(rowValue);
  const twice = rows.find(([name], at) =>
    [...own.map((one) => one.name), ...rows.slice(0, at).map(([one]) => one)].includes(name),
  );
  if (twice) throw wrong(twice[0], 'there-twice');
  const after = Object.fromEntries([...typed, ...rows].filter(([, value]) => value !== undefined));
  return sorted(after) === sorted(before) ? undefined : after;
}

const sorted = (attributes: Attributes) =>
  JSON.stringify(Object.entries(attributes).sort(([a], [b]) => (a < b ? -1 : 1)));

const wrong = (name: string, code: 'there-twice' | 'number' | 'yes-or-no' | 'json') =>
  invalidInput([fault([ROWS, name], code)]);

/** Whether the value fits the field of its attribute: one from before the schema may not. */
function hasField(own: readonly SimpleAttribute[], name: string, value: unknown): boolean {
  const kind = own.find((one) => one.name === name)?.kind;
  return kind !== undefined && kind === (typeOf(value) === 'json' ? 'json' : typeOfPlain(value));
}

const isTexts = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((one) => typeof one === 'string');

function typeOfPlain(value: unknown): Type {
  if (typeof value === 'string') return 'text';
  if (typeof value === 'number') return 'number';
  if (typeof value === 'boolean') return 'flag';
  return isTexts(value) ? 'list' : 'json';
}

/** The type of a row: a list whose texts have commas is JSON, because commas separate them. */
function typeOf(value: unknown): Type {
  const isSplit = isTexts(value) && (value.length === 0 || value.some((one) => one !== one.trim() || /^$|,/.test(one)));
  return isSplit ? 'json' : typeOfPlain(value);
}

function fieldOf({ name, label, kind, values, isRequired }: SimpleAttribute, value: unknown): Field {
  const field = {
    name: `${ROWS}.${name}`,
    label,
    ...(isRequired && { hint: t('console.users.form.attributes.required') }),
  };
  const option = (one: string, text: PageText = one) => ({ value: one, label: text });
  switch (kind) {
    case 'list':
      return {
        ...field,
        type: 'rows',
        adds: t('console.users.form.attributes.adds-value'),
        columns: [{ name: '', label: field.label }],
        lines: isTexts(value) ? value.map((one) => [one]) : [],
      };
    case 'flag':
      return {
        ...field,
        type: 'select',
        isHalf: true,
        value: typeof value === 'boolean' ? (value ? 'yes' : 'no') : '',
        options: [
          option('', '–'),
          option('yes', t('console.users.form.attributes.yes')),
          option('no', t('console.users.form.attributes.no')),
        ],
      };
    case 'number':
      return { ...field, isHalf: true, value: typeof value === 'number' ? value : '' };
    case 'text': {
      const text = typeof value === 'string' ? value : '';
      if (values.length === 0) return { ...field, isHalf: true, value: text };
      const options = [option('', '–'), ...values.map((one) => option(one))];
      return { ...field, type: 'select', isHalf: true, value: text, options };
    }
  }
}

/** Rows for what has no field of its own. A schema that allows nothing else still allows values of its fields in other languages. */
function rowsField(schema: AttributeSchema, others: readonly (readonly [string, unknown])[]): Field {
  const [first] = declared(schema);
  const isClosed = schema.additionalProperties === false && others.every(([name]) => name.includes('#'));
  const label = isClosed ? t('console.users.form.attributes.languages') : t('console.users.form.attributes.more');
  return {
    name: ROWS,
    label: first ? label : t('console.users.form.attributes'),
    type: 'rows',
    adds: t('console.users.form.attributes.adds'),
    columns: [
      { name: 'name', label: t('console.shared.name') },
      {
        name: 'type',
        label: t('console.users.form.attributes.type'),
        type: 'select',
        options: TYPES.map((value) => ({ value, label: t(`console.users.form.attributes.kind.${value}`) })),
      },
      { name: 'value', label: t('console.users.form.attributes.value') },
    ],
    lines: others.map(([name, value]) => [name, typeOf(value), attributeText(value)]),
    hint:
      first && isClosed
        ? t('console.users.form.attributes.languages-hint', { example: `${first.name}#ja` })
        : t('console.users.form.attributes.hint'),
  };
}

/** The value for people. */
export function attributeWords(value: unknown): PageText {
  if (typeof value === 'boolean') return value ? t('console.users.yes') : t('console.users.no');
  return attributeText(value);
}

/** The value as it is typed into a row. */
function attributeText(value: unknown): string {
  const type = typeOf(value);
  if (type === 'json') return JSON.stringify(value);
  if (type === 'flag') return value === true ? 'yes' : 'no';
  return isTexts(value) ? value.join(', ') : String(value);
}

/** The value of an attribute with a field; undefined: none. */
function sentAttribute({ name, kind }: SimpleAttribute, before: unknown, sent: Sent): unknown {
  const field = `${ROWS}.${name}`;
  if (sent[field] === undefined) return before;
  if (kind === 'list') {
    const texts = sent[field].filter((one) => one !== '');
    return texts.length > 0 ? texts : undefined;
  }
  const text = sentValue(sent, field) ?? '';
  return text === '' ? undefined : parsed(name, kind, text);
}

function rowValue([name = '', type = '', text = '']: string[]): [name: string, value: unknown] {
  if (!name) throw invalidInput([fault([ROWS], 'need-names')]);
  return [name, parsed(name, type as Type, text)];
}

function parsed(name: string, type: Type, text: string): unknown {
  switch (type) {
    case 'number': {
      const number = Number(text);
      if (text === '' || !Number.isFinite(number)) throw wrong(name, 'number');
      return number;
    }
    case 'flag': {
      const flag = { yes: true, true: true, no: false, false: false }[text.toLowerCase()];
      if (flag === undefined) throw wrong(name, 'yes-or-no');
      return flag;
    }
    case 'list':
      return text.split(',').flatMap((one) => one.trim() || []);
    case 'json':
      try {
        return JSON.parse(text);
      } catch {
        throw wrong(name, 'json');
      }
    default:
      return text;
  }
}
