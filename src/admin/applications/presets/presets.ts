// What "New application" offers: the kinds of views/products/own.yaml, and products by name with the addresses and attribute names of their
// own documentation (read 2026-11). Each asks only for what it needs and says how to set up the other side.
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { Application, Protocol } from '../../../applications/application.ts';
import { defined } from '../../../base/platform/defined.ts';
import { viewsDir } from '../../../base/platform/package.ts';
import { type Text, textAt } from '../../../base/texts/text.ts';
import { bodyOf, type FormKey, fieldKey, nonEmpty } from '../../console/form-fields.ts';
import { sentValue } from '../../console/row-buttons.ts';
import { lines, parseNameValueLines } from '../../console/text-area.ts';
import { applicationKey } from '../form/sections.ts';
import type { Declaration, Preset } from './parts.ts';
import type { ProductPreset } from './products.ts';
import { productPresets, webAddress } from './products.ts';

/** The field of an uploaded document. */
export const METADATA_FILE = 'metadata_file';

/** How a typed text becomes the declared value. */
const readers = {
  /** Also an empty one. */
  text: (typed: string) => typed,
  lines: (typed: string) => lines(typed),
  'lines if any': (typed: string) => nonEmpty(lines(typed)),
  pairs: parseNameValueLines,
  address: webAddress,
} as const;

const ownField = z.strictObject({
  /** The key of the declaration. */
  key: z.string(),
  /** The name of the field in the form; the key by default. */
  name: z.string().optional(),
  label: z.string().optional(),
  hint: z.string().default(''),
  type: z.literal('file').optional(),
  accept: z.string().optional(),
  rows: z.int().optional(),
  required: z.boolean().optional(),
  /** What the field begins with. */
  value: z.string().optional(),
  reads: z.enum(Object.keys(readers) as (keyof typeof readers)[]).optional(),
});
const ownPresets = z.array(
  z.strictObject({
    id: z.string(),
    title: z.string(),
    icon: z.string(),
    protocol: z.enum(['oidc', 'saml', 'proxy']),
    fields: z.array(ownField),
    /** What its declaration has beside the fields. */
    declaration: z.record(z.string(), z.json()).default({}),
  }),
);

let loaded: readonly Preset[] | undefined;

/** The presets of no product. */
export function genericPresets(): readonly Preset[] {
  loaded ??= ownPresets
    .parse(parse(readFileSync(path.join(viewsDir, 'products', 'own.yaml'), 'utf8'), { merge: true }))
    .map(({ id, icon, title, protocol, fields, declaration }) => {
      const keys = fields.map((field) => formKey(protocol, field));
      return {
        id,
        icon,
        title: textOf(title),
        text: textOf(`console.preset.${id}.text`),
        protocol,
        fields: keys.flatMap((key, at) => key.fields({ [key.key]: fields[at]?.value })),
        toDeclaration(answers) {
          const sent = Object.fromEntries(Object.entries(answers).map(([name, value]) => [name, [value]]));
          return { ...bodyOf(keys, sent), ...declaration };
        },
      };
    });
  return loaded;
}

/** The key of a field of own.yaml: the described one of the application where the field has no label of its own. */
function formKey(
  protocol: Protocol,
  { key, name = key, label, hint, reads, value: begun, ...field }: z.output<typeof ownField>,
): FormKey {
  if (label === undefined) {
    const described = applicationKey(protocol, key);
    return begun === undefined ? described : withoutNone(described);
  }
  const texts = { label: textOf(label), hint: textAt(hint) };
  const own = fieldKey({ ...(field.rows && { type: 'textarea' }), ...defined(field), name, ...texts });
  const fields: FormKey['fields'] = ({ [key]: value }) => own.fields({ [name]: value });
  const read: FormKey['read'] = (sent) => (reads ? readers[reads](sentValue(sent, name) ?? '') : own.read(sent));
  return { key, fields, read };
}

/** A choice without the option that chooses nothing. */
function withoutNone(key: FormKey): FormKey {
  const fields: FormKey['fields'] = (values) =>
    key.fields(values).map((field) => {
      const options = field.options?.filter(({ value }) => value !== '');
      return options ? { ...field, options } : field;
    });
  return { ...key, fields };
}

function textOf(key: string): Text {
  const text = textAt(key);
  if (!text) throw new Error(`there is no text ${key}`);
  return text;
}

/** The product whose guide an application has: the one that it names; without one, the one whose name its own begins with. */
export function productOf(application: Application): ProductPreset | undefined {
  const { protocol, metadata, name: title } = application;
  const ofProtocol = productPresets().filter((preset) => preset.protocol === protocol);
  return metadata.preset === undefined
    ? ofProtocol.find((preset) => title.startsWith(preset.title))
    : ofProtocol.find((preset) => preset.id === metadata.preset);
}

/** The preset with this id. */
export function presetOf(id: string): Preset | undefined {
  return [...genericPresets(), ...productPresets()].find((preset) => preset.id === id);
}

/** The groups that the declaration names in its access rule, and those that its product reads. */
export function groupsOf({ preset, access }: Declaration): { name: string; description?: string }[] {
  const read = productPresets().find(({ id }) => id === preset)?.groups ?? [];
  const named = (typeof access === 'object' && (access as { groups?: string[] }).groups) || [];
  return [
    ...read.map(({ name, description }) => ({ name, description: String(description) })),
    ...named.filter((name) => !read.some((one) => one.name === name)).map((name) => ({ name })),
  ];
}
