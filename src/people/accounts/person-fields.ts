// The own fields of the installation on the pages of a person: what the setting user_attributes lets the person see and change.

import { z } from 'zod';
import { invalidInput } from '../../base/http/errors.ts';
import { type Fault, faultText, textFault } from '../../base/texts/faults.ts';
import { hasText, type PageText, t } from '../../base/texts/text.ts';
import type { Settings } from '../../core/settings/settings.ts';
import type { Account } from './account.ts';
import type { Accounts } from './accounts.ts';
import type { AttributeSchema } from './attributes.ts';
import { attributesFor, changedBy, isFor, type SimpleAttribute, simpleAttributes } from './simple-attributes.ts';

type Attributes = Readonly<Record<string, unknown>>;

const MAX = 1000;
const inputName = ({ name }: SimpleAttribute) => `attributes.${name}`;
const shown = (schema: AttributeSchema) =>
  simpleAttributes(schema).filter(({ name }) => isFor('person', schema, name, 'visible_to'));
const typed = (schema: AttributeSchema) =>
  shown(schema).filter(({ name }) => isFor('person', schema, name, 'editable_by'));

/** The fields as a page displays them; `given`: as they were typed. */
export const personFields = (
  schema: AttributeSchema,
  attributes: Attributes,
  given: Readonly<Record<string, unknown>> = {},
) => shown(schema).map((one) => fieldOf(schema, one, given[inputName(one)] ?? textOf(attributes[one.name])));

function fieldOf(schema: AttributeSchema, attribute: SimpleAttribute, value: unknown) {
  const { name, label, kind, values, keywords, isRequired } = attribute;
  const choices: [string, PageText][] =
    kind === 'flag'
      ? [
          ['yes', t('profile.yes')],
          ['no', t('profile.no')],
        ]
      : values.map((one) => [one, one]);
  return {
    name: inputName(attribute),
    label,
    autocomplete: 'off',
    lines: kind === 'list' ? 3 : 1,
    value: String(value),
    hint: keywords.mask === undefined ? '' : t('profile.mask', { mask: keywords.mask }),
    isLocked: !isFor('person', schema, name, 'editable_by'),
    isRequired,
    ...(choices.length > 0 && { choices: choices.map(([tag, text]) => ({ tag, name: text })) }),
  };
}

/** `Badge: Enter it as A-99.`: a fault of an attribute, with the title of its field. */
export function fieldFault(schema: AttributeSchema, found: Fault): PageText {
  const [, name = ''] = found.path;
  const label = simpleAttributes(schema).find((one) => one.name === name)?.label ?? String(name);
  return t('profile.fault', { label, message: adviceOn(found) });
}

/** The texts of faults are those of the console, which has fewer languages than the pages of people. */
function adviceOn(found: Fault): PageText {
  const { code, values = {} } = found;
  if (code === 'mask') return t('profile.not-mask', { mask: String(values.mask) });
  if (hasText(code)) return faultText(found, '');
  return ADVICE[code] ?? t('profile.not-accepted');
}

const ADVICE: Record<string, PageText> = {
  empty: t('name.empty'),
  missing: t('name.empty'),
  'one-of': t('profile.not-choice'),
  'too-long': t('name.too-long'),
  'max-characters': t('name.too-long'),
};

function textOf(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return Array.isArray(value) ? value.join('\n') : String(value);
}

/** The part of a form with them. */
export const personForm = (schema: AttributeSchema) =>
  Object.fromEntries(typed(schema).map((one) => [inputName(one), z.string().trim().max(MAX).optional()]));

/** All attributes after a form; undefined where it has none of them. Throws invalid_input. */
export function attributesTyped(
  schema: AttributeSchema,
  before: Attributes,
  given: Readonly<Record<string, unknown>>,
): Record<string, unknown> | undefined {
  const sent = typed(schema).filter((one) => typeof given[inputName(one)] === 'string');
  if (sent.length === 0) return undefined;
  const after = attributesFor('person', schema, before, 'editable_by');
  for (const one of sent) {
    const value = givenValue(one, String(given[inputName(one)]));
    if (value === undefined) delete after[one.name];
    else after[one.name] = value;
  }
  return changedBy('person', schema, before, after);
}

function givenValue({ name, kind }: SimpleAttribute, text: string): unknown {
  if (text === '') return undefined;
  if (kind === 'flag') return text === 'yes';
  if (kind === 'list') return text.split(/\r?\n/).flatMap((line) => line.trim() || []);
  if (kind !== 'number') return text;
  const number = Number(text);
  if (!Number.isFinite(number)) throw invalidInput([textFault(['attributes', name], t('profile.not-number'))]);
  return number;
}

/** The schema without the fields that the directory of the account fills. */
export async function schemaToAsk(
  { accounts, settings }: { accounts: Accounts; settings: Settings },
  { id }: Account,
): Promise<AttributeSchema> {
  const schema = settings.latest().user_attributes;
  const directory = (await accounts.directoriesOf([id])).get(id);
  if (!directory || directory.deletedAt) return schema;
  const { properties = {}, required = [] } = schema as { properties?: object; required?: string[] };
  const isAsked = (name: string) => !directory.attributes.includes(name);
  return {
    ...schema,
    properties: Object.fromEntries(Object.entries(properties).filter(([name]) => isAsked(name))),
    required: required.filter(isAsked),
  };
}

/** The fields to ask the person for: they are empty, and the schema says so. */
export const missingFields = (
  schema: AttributeSchema,
  attributes: Attributes,
  given: Readonly<Record<string, unknown>> = {},
) =>
  typed(schema)
    .filter(({ name, keywords }) => keywords.ask === true && attributes[name] === undefined)
    .map((one) => fieldOf(schema, one, given[inputName(one)] ?? ''));
