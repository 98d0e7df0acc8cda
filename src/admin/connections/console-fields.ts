// The fields of a connection, made of the schema of its kind, in the form engine of the console (console/form-fields.ts). Maps are written one
// a line as `name => value, value`.
import { describedFields, jsonSchemaOf } from '../../base/platform/described-fields.ts';
import { type PageText, sentences, t } from '../../base/texts/text.ts';
import type { ConnectionKind } from '../../federation/connections/connection.ts';
import { type ConnectionSection, connectionFields } from '../../federation/connections/kinds/fields.ts';
import type { Preset } from '../../federation/connections/presets/presets.ts';
import { entrySchemas, secretPurposeByField } from '../../federation/connections/schema.ts';
import type { Field } from '../console/blocks.ts';
import { baseOf, type FieldSource, type FormKey, type KeySection, keyOf } from '../console/form-fields.ts';
import { type Sent, sentValue } from '../console/row-buttons.ts';
import { lines } from '../console/text-area.ts';

const titles = {
  upstream: t('console.connections.section.upstream'),
  button: t('console.connections.section.button'),
  users: t('console.connections.section.users'),
  roles: t('console.connections.section.roles'),
  assurance: t('console.connections.section.assurance'),
} as const satisfies Record<ConnectionSection, PageText>;

/** The sections of the form; fields of another vendor are left out. */
export function sectionsOf(kind: ConnectionKind, preset: string): KeySection[] {
  const { kind: _kind, ...shape } = entrySchemas[kind].shape;
  const own = describedFields(shape, connectionFields)
    // A constant is no choice.
    .filter(({ schema, about }) => (about.vendor ?? preset) === preset && !('const' in jsonSchemaOf(schema)));
  return (Object.keys(titles) as ConnectionSection[]).map((section) => ({
    title: titles[section],
    keys: own.filter(({ about }) => about.section === section).map(({ name }) => connectionKey(kind, name)),
  }));
}

/** The key of an entry of this kind. */
export function connectionKey(kind: ConnectionKind, name: string): FormKey {
  const { [name]: schema } = entrySchemas[kind].shape as Record<string, FieldSource['schema']>;
  const about = schema && connectionFields.get(schema);
  if (!about) throw new Error(`a connection (${kind}) has no field ${name}`);
  const { type } = jsonSchemaOf(schema);
  const source: FieldSource = { name, schema, about, texts: 'console.connection-field.' };
  if (name === 'certificates' || name === 'ca')
    return textAreaKey(source, { toText: joined, fromText: certificatesIn });
  if (type === 'object') return textAreaKey(source, mapText(name));
  // Both sides of a switch are stored: what an administrator chose stays, whatever the default becomes.
  const typed = {
    ...about,
    ...(type === 'boolean' && { switch: { on: true, off: false } }),
    ...(type === 'array' && { rows: 3 }),
  };
  const key = keyOf({ ...source, about: typed }, {});
  if (type === 'boolean' || schema.safeParse(undefined).success) return key;
  return { ...key, fields: (values) => key.fields(values).map((field) => ({ ...field, required: true })) };
}

interface Written {
  toText(value: unknown): string;
  fromText(text: string): unknown;
}

function textAreaKey(source: FieldSource, { toText, fromText }: Written): FormKey {
  const { name } = source;
  const field = { ...baseOf(source), type: 'textarea', rows: 3, isCode: true } as const;
  return {
    key: name,
    fields: (values) => [{ ...field, value: toText(values[name]) }],
    read: (sent) => fromText(sentValue(sent, name) ?? ''),
  };
}

const joined = (value: unknown) => ((value ?? []) as string[]).join('\n');

function certificatesIn(text: string): string[] {
  const pems = text.match(/-----BEGIN [A-Z0-9 ]*CERTIFICATE-----[\s\S]*?-----END [A-Z0-9 ]*CERTIFICATE-----/g);
  // Base64 alone is one certificate, in however many lines.
  return pems ?? (text.trim() === '' ? [] : [text]);
}

/** The maps whose values are lists. */
const LISTED_MAPS = ['role_mappings', 'group_mappings', 'acr_values', 'trusted_acr', 'trusted_amr'];

const mapText = (key: string): Written => ({
  toText: (value) =>
    Object.entries((value ?? {}) as Record<string, unknown>)
      .map(([name, one]) => `${name} => ${Array.isArray(one) ? one.join(', ') : String(one)}`)
      .join('\n'),
  fromText(text) {
    if (text.trim() === '' && key === 'groups') return undefined;
    const entries = lines(text).map((line) => {
      const at = line.lastIndexOf('=>');
      const [name, value] = at < 0 ? [line, ''] : [line.slice(0, at).trim(), line.slice(at + 2).trim()];
      if (LISTED_MAPS.includes(key)) return [name, value.split(',').flatMap((one) => one.trim() || [])];
      return [name, key === 'groups' && /^(true|false)$/.test(value) ? value === 'true' : value];
    });
    return Object.fromEntries(entries);
  },
});

/** The form of a new connection: only what this vendor needs. */
export function presetFields({ kind, fields }: Preset): Field[] {
  return fields.map(({ key, label, hint, placeholder, isRequired = false, type }): Field => {
    const example = placeholder ? [t('console.preset.such-as', { example: placeholder })] : [];
    const hints = [...(hint ? [hint] : []), ...example];
    const own = { name: key, label, hint: hints.length > 0 ? sentences(hints) : undefined, required: isRequired };
    if (type === 'secret')
      return { ...own, ...(key === 'private_key' ? { type: 'textarea', rows: 6 } : { type: 'password' }) };
    if (type === 'date') return { ...own, type: 'date' };
    if (type === 'long') return { ...own, type: 'textarea', rows: 8 };
    const [field] = connectionKey(kind, key).fields({});
    return { ...field, ...own };
  });
}

/** What the form declares; fields that were left empty get the defaults of the preset. */
export function entryFrom({ kind, id: preset, fields }: Preset, sent: Sent): Record<string, unknown> {
  const keys = ['id', 'name', 'create_users', 'enabled', 'domains', ...fields.map(({ key }) => key)];
  const values = keys
    .filter((key) => !(key in secretPurposeByField) && !key.endsWith('_expires_at'))
    .map((key) => [key, connectionKey(kind, key).read(sent)] as const)
    .filter(([, value]) => value !== undefined && JSON.stringify(value) !== '[]');
  const secrets = Object.keys(secretPurposeByField).flatMap((key) => {
    const [value, end] = [sentValue(sent, key), sentValue(sent, `${key}_expires_at`)];
    return value ? [[key, [{ value, ...(end && { expires_at: end }) }]] as const] : [];
  });
  return { kind, preset, ...Object.fromEntries([...values, ...secrets]) };
}
