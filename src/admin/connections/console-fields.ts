// The form fields of a connection, made of the schema of its kind, and the values that a form sends. Maps are written one a line
// as `name => value, value`.
import { describedFields, jsonSchemaOf } from '../../base/platform/described-fields.ts';
import { type PageText, sentences, t } from '../../base/texts/text.ts';
import type { ConnectionKind } from '../../federation/connections/connection.ts';
import {
  type ConnectionField,
  type ConnectionSection,
  connectionFields,
} from '../../federation/connections/kinds/fields.ts';
import { presetOf } from '../../federation/connections/presets/presets.ts';
import { entrySchemas, secretPurposeByField } from '../../federation/connections/schema.ts';
import type { Field } from '../console/blocks.ts';
import { baseOf, type FieldSource, optionsOf } from '../console/form-fields.ts';
import { lines } from '../console/text-area.ts';

type Shape = 'flag' | 'choice' | 'number' | 'text' | 'list' | 'map' | 'lists';
interface KnownField extends FieldSource {
  about: ConnectionField;
  shape: Shape;
  options: readonly string[];
  isRequired: boolean;
}

/** Sections of the edit page. */
export const sections = {
  upstream: t('console.connections.section.upstream'),
  button: t('console.connections.section.button'),
  users: t('console.connections.section.users'),
  roles: t('console.connections.section.roles'),
  assurance: t('console.connections.section.assurance'),
} as const satisfies Record<ConnectionSection, PageText>;
const LISTED_MAPS = ['role_mappings', 'acr_values', 'trusted_acr', 'trusted_amr'];

/** The fields of a kind, in the order of its schema. */
const knownFields = (kind: ConnectionKind): KnownField[] => {
  const { kind: _kind, ...shape } = entrySchemas[kind].shape;
  return describedFields(shape, connectionFields).map(({ name, schema, about }) => {
    const { type, enum: values, items, const: only } = jsonSchemaOf(schema) as Json;
    return {
      name,
      schema,
      texts: 'console.connection-field.',
      // A constant is no choice.
      about: only === undefined ? about : { ...about, section: null },
      shape: LISTED_MAPS.includes(name) ? 'lists' : values ? 'choice' : (shapes[type ?? ''] ?? 'text'),
      options: values ?? items?.enum ?? [],
      isRequired: !schema.safeParse(undefined).success,
    };
  });
};

type Json = { type?: string; enum?: readonly string[]; const?: unknown; items?: Json };
const shapes: Readonly<Record<string, Shape>> = { boolean: 'flag', integer: 'number', array: 'list', object: 'map' };

/** The fields of a section with their values; those of another vendor are left out. */
export function sectionFields(
  kind: ConnectionKind,
  section: ConnectionSection,
  values: Record<string, unknown>,
): Field[] {
  return fieldsIn(kind, String(values.preset), section).map((field) => fieldOf(field, values[field.name]));
}

/** The form of a new connection: only what this vendor needs. */
export function presetFields(kind: ConnectionKind, preset: string, given: Record<string, string>): Field[] {
  const known = new Map(knownFields(kind).map((field) => [field.name, field]));
  return (presetOf(preset, kind)?.fields ?? []).map(({ key, label, hint, placeholder, isRequired, type }): Field => {
    const example = placeholder ? [t('console.preset.such-as', { example: placeholder })] : [];
    const lines = [...(hint ? [hint] : []), ...example];
    const field = {
      name: key,
      label,
      hint: lines.length > 0 ? sentences(lines) : undefined,
      required: isRequired ?? false,
      value: given[key] ?? '',
    };
    if (type === 'secret' && key === 'private_key') return { ...field, type: 'textarea', rows: 6 };
    if (type === 'secret') return { ...field, type: 'password' };
    if (type === 'date') return { ...field, type: 'date' };
    if (type === 'long') return { ...field, type: 'textarea', rows: 8 };
    return ['list', 'map', 'lists'].includes(known.get(key)?.shape ?? '')
      ? { ...field, type: 'textarea', rows: 3 }
      : field;
  });
}

/** What a form sends for these keys, as an entry declares it; an empty field is null, which gives it its default. */
export function valuesFrom(
  kind: ConnectionKind,
  keys: readonly string[],
  given: Record<string, string>,
): Record<string, unknown> {
  const known = knownFields(kind).filter(({ name }) => keys.includes(name));
  return Object.fromEntries(known.map((field) => [field.name, valueFrom(field, given[field.name] ?? '')]));
}

/** The secrets that a form sends, as an entry declares them. */
export function secretsFrom(given: Record<string, string>): Record<string, unknown> {
  return Object.fromEntries(
    Object.keys(secretPurposeByField).flatMap((key) => {
      const value = given[key]?.trim();
      if (!value) return [];
      const end = given[`${key}_expires_at`];
      return [[key, [{ value, ...(end ? { expires_at: end } : {}) }]]];
    }),
  );
}

/** The keys that the form of a section sends. */
export const keysOf = (kind: ConnectionKind, preset: string, section: ConnectionSection): string[] =>
  fieldsIn(kind, preset, section).map(({ name }) => name);

const fieldsIn = (kind: ConnectionKind, preset: string, section: ConnectionSection): KnownField[] =>
  knownFields(kind).filter(({ about }) => about.section === section && (about.vendor ?? preset) === preset);

function fieldOf(source: KnownField, value: unknown): Field {
  const { shape, about, isRequired } = source;
  const shared = { ...baseOf(source), required: isRequired };
  if (shape === 'flag') return { ...shared, required: false, type: 'checkbox', checked: value === true };
  if (shape === 'choice') {
    const all = optionsOf(source, source.options);
    const options = value === undefined ? [{ value: '', label: t('console.connections.default') }, ...all] : all;
    return { ...shared, type: 'select', value: String(value ?? ''), options };
  }
  if (shape === 'number') return { ...shared, type: 'number', value: value === undefined ? '' : Number(value) };
  if (shape === 'list')
    return { ...shared, type: 'textarea', rows: 3, value: (value as string[] | undefined)?.join('\n') };
  if (shape === 'map' || shape === 'lists') return { ...shared, type: 'textarea', rows: 3, value: mapText(value) };
  const text = value === undefined ? '' : String(value);
  return { ...shared, ...(about.rows && { type: 'textarea', rows: about.rows }), value: text };
}

function mapText(value: unknown): string {
  return Object.entries((value ?? {}) as Record<string, unknown>)
    .map(([name, one]) => `${name} => ${Array.isArray(one) ? one.join(', ') : String(one)}`)
    .join('\n');
}

function valueFrom({ name: key, shape }: KnownField, text: string): unknown {
  switch (shape) {
    case 'flag':
      return text === 'on';
    case 'number':
      return text.trim() === '' ? null : Number(text);
    case 'list':
      return key === 'certificates' || key === 'ca' ? certificatesFrom(text) : lines(text);
    case 'map':
    case 'lists':
      return text.trim() === '' && key === 'groups' ? null : mapFrom(key, text, shape === 'lists');
    default:
      return text.trim() === '' ? null : text.trim();
  }
}

function mapFrom(key: string, text: string, isListed: boolean): Record<string, unknown> {
  return Object.fromEntries(
    lines(text).map((line) => {
      const at = line.lastIndexOf('=>');
      const [name, value] = at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 2).trim()];
      if (isListed)
        return [
          name,
          value
            .split(',')
            .map((one) => one.trim())
            .filter((one) => one !== ''),
        ];
      return [name, key === 'groups' && /^(true|false)$/.test(value) ? value === 'true' : value];
    }),
  );
}

function certificatesFrom(text: string): string[] {
  const pems = text.match(/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----[\s\S]*?-----END [A-Z0-9 ]*CERTIFICATE-----/g);
  // Base64 alone is one certificate, in however many lines.
  return pems ?? (text.trim() === '' ? [] : [text]);
}
