// The setting user_attributes as rows: name, type, allowed values, and whether it is required. A schema that says more stays as JSON.

import { invalidInput } from '../../base/http/errors.ts';
import { fault } from '../../base/texts/faults.ts';
import { type PageText, t } from '../../base/texts/text.ts';
import type { AttributeSchema } from '../../people/accounts/attributes.ts';
import {
  type AttributeKind,
  isSimpleSchema,
  type SimpleAttribute,
  schemaOf,
  simpleAttributes,
} from '../../people/accounts/simple-attributes.ts';
import type { Field } from '../console/blocks.ts';
import { linesOf, type Sent } from '../console/row-buttons.ts';

/** The names of its fields begin with it. */
export const ATTRIBUTE_ROWS = 'user_attributes.rows';

const KINDS: Record<AttributeKind, PageText> = {
  text: t('console.settings.kind.text'),
  number: t('console.settings.kind.number'),
  flag: t('console.settings.kind.flag'),
  list: t('console.settings.kind.list'),
};

/** The rows; undefined where the schema says more. */
export function attributeRows(schema: AttributeSchema): Field | undefined {
  if (!isSimpleSchema(schema)) return undefined;
  return {
    name: ATTRIBUTE_ROWS,
    label: t('console.settings.attributes'),
    type: 'rows',
    adds: t('console.settings.attributes.add'),
    columns: [
      { name: 'name', label: t('console.shared.name') },
      {
        name: 'kind',
        label: t('console.settings.attributes.type'),
        type: 'select',
        options: Object.entries(KINDS).map(toOption),
      },
      { name: 'values', label: t('console.settings.attributes.values') },
      {
        name: 'required',
        label: t('console.settings.attributes.required'),
        type: 'select',
        options: [
          { value: '', label: t('console.settings.attributes.optional') },
          { value: 'yes', label: t('console.settings.attributes.required') },
        ],
      },
    ],
    lines: linesFor(schema),
    hint: t('console.settings.attributes.hint'),
  };
}

const toOption = ([value, label]: [string, PageText]) => ({ value, label });

function linesFor(schema: AttributeSchema): string[][] {
  return simpleAttributes(schema).map(({ name, kind, values, isRequired }) => [
    name,
    kind,
    values.join(', '),
    isRequired ? 'yes' : '',
  ]);
}

/** The schema that the rows were changed to; undefined when they say what `before` says. Throws invalid_input. */
export function changedSchema(before: AttributeSchema, sent: Sent): AttributeSchema | undefined {
  const field = attributeRows(before);
  if (!field || sent[`${ATTRIBUTE_ROWS}.name`] === undefined) return undefined;
  const lines = linesOf(sent, field).filter(([name, , values]) => name || values);
  if (JSON.stringify(lines) === JSON.stringify(linesFor(before))) return undefined;
  const attributes = lines.map(attributeOf);
  const twice = attributes.findIndex(({ name }, at) => attributes.findIndex((one) => one.name === name) !== at);
  if (twice >= 0)
    throw invalidInput([fault([ATTRIBUTE_ROWS, twice], 'name-twice', { entry: attributes[twice]?.name ?? '' })]);
  return schemaOf(attributes, before.properties ? before.additionalProperties : false);
}

function attributeOf([name = '', kind = '', values = '', required]: string[], at: number): SimpleAttribute {
  if (!/^[^\s.\p{C}][^\s\p{C}]{0,63}$/u.test(name)) throw wrong(at, 'attribute-name');
  if (!Object.hasOwn(KINDS, kind)) throw wrong(at, 'attribute-type');
  const allowed = values.split(',').flatMap((one) => one.trim() || []);
  if (allowed.length > 0 && kind !== 'text') throw wrong(at, 'attribute-values');
  return { name, kind: kind as AttributeKind, values: allowed, isRequired: required === 'yes' };
}

const wrong = (at: number, code: 'attribute-name' | 'attribute-type' | 'attribute-values') =>
  invalidInput([fault([ATTRIBUTE_ROWS, at], code)]);
