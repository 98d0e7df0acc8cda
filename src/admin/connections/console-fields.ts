// The form fields of a connection, made of the schema of its kind, and the values that a form sends. Maps are written one a line
// as `name => value, value`.
import { z } from 'zod';
import { sentences, t } from '../../base/texts/text.ts';
import type { ConnectionKind } from '../../federation/connections/connection.ts';
import { presetOf } from '../../federation/connections/presets/presets.ts';
import { entrySchemas, secretPurposeByField } from '../../federation/connections/schema.ts';
import type { Field } from '../console/blocks.ts';
import { lines } from '../console/text-area.ts';
import { labels } from './console-labels.ts';

interface Json {
  type?: string;
  enum?: string[];
  const?: unknown;
  default?: unknown;
  anyOf?: Json[];
  items?: Json;
  properties?: Record<string, Json>;
}
type Shape = 'flag' | 'choice' | 'number' | 'text' | 'list' | 'map' | 'lists';
export interface KnownField {
  key: string;
  shape: Shape;
  options: string[];
  isRequired: boolean;
}

/** Sections of the edit page; a key of no other section belongs to the upstream. */
export const sections = {
  upstream: t('console.connections.section.upstream'),
  button: t('console.connections.section.button'),
  users: t('console.connections.section.users'),
  roles: t('console.connections.section.roles'),
  assurance: t('console.connections.section.assurance'),
} as const;
export type Section = keyof typeof sections;
const sectionKeys: Record<Exclude<Section, 'upstream'>, readonly string[]> = {
  button: ['name', 'logo', 'order', 'show_button', 'domains', 'required_for_domains', 'login_hint'],
  users: ['create_users', 'update_profile', 'link', 'link_only', 'trusted_email', 'attributes'],
  roles: ['groups_claim', 'groups', 'role_mappings'],
  assurance: ['acr_values', 'trusted_acr', 'trusted_amr', 'logout'],
};
/** Keys that one vendor alone has. The issuer says which tenant it is. */
const vendorKeys: Record<string, string> = {
  tenant: '',
  allowed_tenants: 'entra',
  allowed_hosted_domains: 'google',
  team_id: 'apple',
};
const LISTED_MAPS = ['role_mappings', 'acr_values', 'trusted_acr', 'trusted_amr'];
const LONG = ['metadata', 'metadata_certificate'];
const RENDERED_ELSEWHERE = ['id', 'kind', 'preset', 'enabled', 'metadata_file', ...Object.keys(secretPurposeByField)];

/** The fields of a kind, in the order of its schema. */
export function knownFields(kind: ConnectionKind): KnownField[] {
  const schema = z.toJSONSchema(entrySchemas[kind], { io: 'input', unrepresentable: 'any' }) as Json & {
    required?: string[];
  };
  return (
    Object.entries(schema.properties ?? {})
      // A constant is no choice.
      .filter(([key, json]) => !RENDERED_ELSEWHERE.includes(key) && json.const === undefined)
      .map(([key, json]) => ({
        key,
        shape: shapeOf(key, json),
        options: json.enum ?? json.items?.enum ?? [],
        isRequired: schema.required?.includes(key) ?? false,
      }))
  );
}

export function sectionOf(key: string): Section {
  const found = Object.entries(sectionKeys).find(([, keys]) => keys.includes(key));
  return (found?.[0] as Section | undefined) ?? 'upstream';
}

/** The fields of a section with their values; those of another vendor are left out. */
export function sectionFields(kind: ConnectionKind, section: Section, values: Record<string, unknown>): Field[] {
  const known = fieldsOfPreset(kind, String(values.preset)).filter(({ key }) => sectionOf(key) === section);
  const order = section === 'upstream' ? undefined : sectionKeys[section];
  const sorted = order ? [...known].sort((a, b) => order.indexOf(a.key) - order.indexOf(b.key)) : known;
  return sorted.map((field) => fieldOf(field, values[field.key]));
}

/** The form of a new connection: only what this vendor needs. */
export function presetFields(kind: ConnectionKind, preset: string, given: Record<string, string>): Field[] {
  const known = new Map(knownFields(kind).map((field) => [field.key, field]));
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
  const known = knownFields(kind).filter(({ key }) => keys.includes(key));
  return Object.fromEntries(known.map((field) => [field.key, valueFrom(field, given[field.key] ?? '')]));
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
export function keysOf(kind: ConnectionKind, preset: string, section: Section): string[] {
  return fieldsOfPreset(kind, preset).flatMap(({ key }) => (sectionOf(key) === section ? [key] : []));
}

function fieldsOfPreset(kind: ConnectionKind, preset: string): KnownField[] {
  return knownFields(kind).filter(({ key }) => (vendorKeys[key] ?? preset) === preset);
}

function shapeOf(key: string, json: Json): Shape {
  if (LISTED_MAPS.includes(key)) return 'lists';
  if (json.enum) return 'choice';
  if (json.type === 'boolean') return 'flag';
  if (json.type === 'integer') return 'number';
  if (json.type === 'array') return 'list';
  return json.type === 'object' ? 'map' : 'text';
}

function fieldOf({ key, shape, options, isRequired }: KnownField, value: unknown): Field {
  const { label = key, hint, choices } = labels[key] ?? {};
  const shared = { name: key, label, hint, required: isRequired };
  if (shape === 'flag') return { ...shared, required: false, type: 'checkbox', checked: value === true };
  if (shape === 'choice') {
    const all = options.map((one) => ({ value: one, label: choices?.[one] ?? one }));
    return {
      ...shared,
      type: 'select',
      value: String(value ?? ''),
      options: value === undefined ? [{ value: '', label: t('console.connections.default') }, ...all] : all,
    };
  }
  if (shape === 'number') return { ...shared, type: 'number', value: value === undefined ? '' : Number(value) };
  if (shape === 'list')
    return { ...shared, type: 'textarea', rows: 3, value: (value as string[] | undefined)?.join('\n') };
  if (shape === 'map' || shape === 'lists') return { ...shared, type: 'textarea', rows: 3, value: mapText(value) };
  const text = value === undefined ? '' : String(value);
  return LONG.includes(key) ? { ...shared, type: 'textarea', rows: 6, value: text } : { ...shared, value: text };
}

function mapText(value: unknown): string {
  return Object.entries((value ?? {}) as Record<string, unknown>)
    .map(([name, one]) => `${name} => ${Array.isArray(one) ? one.join(', ') : String(one)}`)
    .join('\n');
}

function valueFrom({ key, shape }: KnownField, text: string): unknown {
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
