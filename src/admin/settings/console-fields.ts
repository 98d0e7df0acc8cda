// Settings as fields of a form, and the sent form as changes. A setting of the file or the environment, or without permission, is displayed and
// locked. What is more than a number, a switch, a choice or a list has fields of its own.

import { AppError, invalidInput } from '../../base/http/errors.ts';
import { describedFields } from '../../base/platform/described-fields.ts';
import { type FieldKeywords, fieldKeywords } from '../../base/schemas/json-schema.ts';
import { check, type Fault, fault, textFault } from '../../base/texts/faults.ts';
import { languageNames, languages } from '../../base/texts/languages.ts';
import { type PageText, sentences, t, textAt } from '../../base/texts/text.ts';
import { defaultSettings, type SettingEntry, type SettingName, settingSchemas } from '../../core/settings/settings.ts';
import { type SettingBox, settingFields } from '../../core/settings/value-schemas.ts';
import type { AttributeSchema } from '../../people/accounts/attributes.ts';
import {
  type AttributeKind,
  isFor,
  isSimpleSchema,
  type SimpleAttribute,
  schemaOf,
  simpleAttributes,
} from '../../people/accounts/simple-attributes.ts';
import { type Field, hiddenField } from '../console/blocks.ts';
import { baseOf, type FieldSource, type FormKey, keyOf, patchOf } from '../console/form-fields.ts';
import { asTyped, isRowButton, linesOf, ROWS, type Sent, sentValue } from '../console/row-buttons.ts';
import type { SettingChanges } from './settings.ts';

type Source = FieldSource & { name: SettingName };

const isSwitch = (name: SettingName) => typeof defaultSettings[name] === 'boolean';

/** Every setting as a field. */
export const settingSources: readonly Source[] = describedFields(settingSchemas, settingFields).map((field) => ({
  ...field,
  name: field.name as SettingName,
  // Both values are stored: what an administrator chose stays, whatever the default becomes.
  about: isSwitch(field.name as SettingName) ? { ...field.about, switch: { on: true, off: false } } : field.about,
  texts: 'console.setting.',
}));
const sourceOf = new Map(settingSources.map((source) => [source.name, source]));

/** Those of a box, in the order of their schemas. */
export const settingsIn = (box: SettingBox): SettingName[] =>
  settingSources.flatMap(({ name, about }) => (about.section === box ? name : []));

/** Label and explanation of a setting. */
export function settingTexts(name: SettingName): Field {
  const source = sourceOf.get(name);
  return source ? baseOf(source) : { name, label: name };
}

/** The hidden field with the names of the switches on the page: a browser sends only those that are on. */
const SWITCHES = 'switches';

/** Why a setting cannot be changed here. */
export type Lock = 'file' | 'permission' | { variable: string } | undefined;

export interface SettingField {
  entry: SettingEntry;
  lock: Lock;
}

/** The fields of one setting. `sent`: the form as it was sent. `entries`: all settings. */
export function fieldsOf({ entry, lock }: SettingField, sent: Sent, entries: readonly SettingEntry[]): Field[] {
  const { name, value } = entry;
  const locked = lock && { isLocked: true, isFromFile: lock === 'file' };
  if (isLanguageSetting(name)) {
    const [note] = reasonOf(lock);
    const standard = String(entries.find((one) => one.name === 'default_language')?.value);
    return languageFields(entry, { locked, note, sent, standard });
  }
  const fields = keyFor(name).fields({ [name]: value });
  const parts = PARTS[name];
  const own =
    (parts ? partFields(name, parts, value, lock) : ownFields[name]?.(value, lock)) ??
    fields.map((field) => ({ ...field, hint: hintOf(field, lock) }));
  const all = own.map((field) => ({ ...field, ...locked }));
  const wasSent = sent[SWITCHES] !== undefined || own.some((field) => sent[field.name] !== undefined);
  return wasSent || isRowButton(sent) ? asTyped(all, sent) : all;
}

interface Part {
  name: string;
  field?: Partial<Field>;
  isNumber?: boolean;
  /** Written and never displayed. */
  isSecret?: boolean;
}

const secret = { isSecret: true, field: { type: 'password', autocomplete: 'off' } } as const;
const tlsModes = ['starttls', 'implicit', 'none'] as const;

/** Settings of several parts, in the order of the form. Without the first one, the setting has no value. */
const PARTS: { [Name in SettingName]?: readonly Part[] } = {
  mail_server: [
    { name: 'host', field: { isCode: true } },
    {
      name: 'tls',
      field: {
        type: 'select',
        options: tlsModes.map((value) => ({ value, label: t(`console.setting.mail_server.tls.${value}`) })),
      },
    },
    { name: 'port', isNumber: true, field: { type: 'number', range: { minimum: 1, maximum: 65_535 } } },
    { name: 'username', field: { isCode: true, autocomplete: 'off' } },
    { name: 'password', ...secret },
  ],
  mail_sender: [{ name: 'address', field: { type: 'email', autocomplete: 'off' } }, { name: 'name' }],
  sms_gateway: [{ name: 'url', field: { isCode: true } }, { name: 'token', ...secret }, { name: 'sender' }],
};

function partFields(setting: SettingName, parts: readonly Part[], value: unknown, lock: Lock): Field[] {
  const stored = (value ?? {}) as Record<string, string | number>;
  return parts
    .filter(({ isSecret }) => !isSecret || !lock)
    .map(({ name, field, isSecret }, at) => {
      const hint = textAt(`console.setting.${setting}.${name}.hint`);
      return {
        name: `${setting}.${name}`,
        label: textAt(`console.setting.${setting}.${name}.label`) ?? name,
        hint: sentences([...(hint ? [hint] : []), ...(at === 0 ? reasonOf(lock) : [])]),
        ...field,
        value: isSecret ? '' : (stored[name] ?? ''),
      };
    });
}

/** Settings with fields of their own. */
const ownFields: { [Name in SettingName]?: (value: unknown, lock: Lock) => Field[] } = {
  user_attributes(value, lock) {
    const rows = attributeRows(value as AttributeSchema);
    const field = { ...settingTexts('user_attributes'), type: 'textarea', rows: 8, isCode: true } as const;
    return [...(rows ? [rows] : []), { ...field, hint: hintOf(field, lock), value: jsonText(value) }];
  },
};

const jsonText = (value: unknown) => (value === undefined ? '' : JSON.stringify(value, undefined, 2));

/** Why it is locked, where no tag of the field says it. */
function reasonOf(lock: Lock): PageText[] {
  if (typeof lock === 'object') return [t('console.settings.from-environment', { variable: lock.variable })];
  return lock === 'permission' ? [t('console.settings.locked')] : [];
}

/** The explanation, with the range and the default of its schema, and why it is locked. */
function hintOf({ name, hint, range }: Field, lock: Lock): PageText {
  return sentences([...(hint ? [hint] : []), ...standardOf(name as SettingName, range), ...reasonOf(lock)]);
}

function standardOf(name: SettingName, range: Field['range']): PageText[] {
  const value: unknown = defaultSettings[name];
  if (typeof value === 'boolean') return [t('console.settings.default-switch', { state: value ? 'on' : 'off' })];
  if (typeof value === 'number') {
    const { minimum, maximum } = range ?? {};
    if (minimum === undefined || maximum === undefined) return [t('console.settings.default', { value })];
    return [t('console.settings.range', { minimum, maximum, value })];
  }
  const words = typeof value === 'string' && textAt(`console.setting.${name}.default`, { value });
  return words ? [words] : [];
}

function keyFor(name: SettingName): FormKey {
  const source = sourceOf.get(name);
  if (!source) throw new Error(`there is no setting ${name}`);
  return keyOf(source, {});
}

/** The hidden field that a form with these settings needs. */
export function switchesField(settings: readonly SettingField[]): Field {
  const names = settings.filter(({ entry, lock }) => !lock && isSwitch(entry.name)).map(({ entry }) => entry.name);
  return hiddenField(SWITCHES, names.join(' '));
}

/**
 * The settings that differ from the stored ones. Throws invalid_input with every faulty field.
 *
 * @param found faults that are known already
 */
export function changesOf(entries: readonly SettingEntry[], sent: Sent, found: readonly Fault[] = []): SettingChanges {
  const faults = [...found];
  const changes = entries.flatMap(({ name, value, source }): [SettingName, unknown][] => {
    if (source === 'file') return [];
    try {
      const changed = changeOf(name, value, sent);
      return changed === undefined ? [] : [[name, checked(name, changed)]];
    } catch (error) {
      if (!(error instanceof AppError) || error.faults.length === 0) throw error;
      faults.push(...error.faults);
      return [];
    }
  });
  const names = settingSources.map(({ name }) => name);
  const position = ({ path: [setting] }: Fault) => names.indexOf(setting as SettingName);
  faults.sort((a, b) => position(a) - position(b));
  if (faults.length > 0) throw invalidInput(faults);
  return Object.fromEntries(changes) as SettingChanges;
}

/** The new value of a setting; null: its default, undefined: it stays. Throws invalid_input. */
function changeOf(name: SettingName, before: unknown, sent: Sent): unknown {
  if (name === 'languages') {
    const value = sentLanguages(sent);
    return JSON.stringify(value ?? []) === JSON.stringify(before) ? undefined : value;
  }
  const parts = PARTS[name];
  if (parts) return sentParts(name, parts, before, sent);
  if (name === 'user_attributes') return sentAttributes(before as AttributeSchema, sent);
  if (isSwitch(name) && !sentValue(sent, SWITCHES)?.split(' ').includes(name)) return undefined;
  return patchOf([keyFor(name)], { [name]: before }, sent)[name];
}

/** A value from its parts; a stored secret stays where none is sent. */
function sentParts(setting: SettingName, parts: readonly Part[], before: unknown, sent: Sent): unknown {
  const texts = parts.map(({ name }) => sentValue(sent, `${setting}.${name}`));
  if (texts[0] === undefined) return undefined;
  const given = parts.flatMap(({ name, isNumber }, at) => {
    const text = texts[at]?.trim();
    return text ? [[name, isNumber ? Number(text) : text] as const] : [];
  });
  if (!texts[0].trim() && before !== undefined) return null;
  // A choice is always sent.
  const isEmpty = given.every(([name]) => parts.some((part) => part.name === name && part.field?.options));
  if (isEmpty) return undefined;
  const value = Object.fromEntries(given);
  return JSON.stringify(value) === JSON.stringify(before) ? undefined : value;
}

/** The schema from its rows or its JSON. */
function sentAttributes(before: AttributeSchema, sent: Sent): unknown {
  const name = 'user_attributes';
  const schema = changedSchema(before, sent);
  // As a browser sends it, with CRLF at the end of each line.
  const text = sentValue(sent, name)?.replaceAll('\r\n', '\n').trim();
  const isTyped = text !== undefined && text !== jsonText(before).trim();
  if (schema && isTyped) throw invalidInput([textFault([name], t('console.settings.both'))]);
  if (schema || !isTyped) return schema;
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    throw invalidInput([fault([name], 'json')]);
  }
}

function checked(name: SettingName, value: unknown): unknown {
  if (value === null) return null;
  const result = check(settingSchemas[name], value);
  if (result.ok) return result.value;
  throw invalidInput(result.faults.map((one) => ({ ...one, path: PARTS[name] ? [name, ...one.path] : [name] })));
}

// The settings of languages as fields of a form. All boxes ticked is the default: languages that are added later are offered too.

const languageSettings = ['default_language', 'languages'] as const;

/** Says that the form had the boxes: a browser sends only those that are ticked. */
const HAS_BOXES = 'languages.listed';

/** The buttons that tick the boxes: of the default language alone, and of all. */
const ONLY = 'only languages';
const ALL = 'all languages';

type LanguageSetting = (typeof languageSettings)[number];

/** Whether its texts and fields are here, and not in console-fields.ts. */
function isLanguageSetting(name: SettingName): name is LanguageSetting {
  return languageSettings.some((one) => one === name);
}

interface LanguageFieldOptions {
  locked: Partial<Field> | undefined;
  note: PageText | undefined;
  /** The form as it was sent. */
  sent: Sent;
  /** The default language of the settings. */
  standard: string;
}

function languageFields(
  { name, value }: SettingEntry,
  { locked, note, sent, standard }: LanguageFieldOptions,
): Field[] {
  const hintWith = (text: PageText) => (note === undefined ? text : sentences([text, note]));
  const options = languageNames().map(({ tag, name }) => ({ value: tag, label: name, language: tag }));
  if (name === 'default_language') {
    const label = t('console.languages.default');
    const hint = hintWith(t('console.languages.default-hint'));
    return [{ name, label, hint, type: 'select', value: sentValue(sent, name) ?? String(value), options, ...locked }];
  }
  const stored = Array.isArray(value) && value.length > 0 ? value.map(String) : languages;
  const only = sentValue(sent, 'default_language') ?? standard;
  const pressed = sentValue(sent, ROWS);
  const ticked = { [ONLY]: [only], [ALL]: languages }[pressed ?? ''];
  const values = ticked ?? (sentValue(sent, HAS_BOXES) ? (sent[name] ?? []) : stored);
  const buttons = [
    { value: ONLY, label: t('console.languages.only'), isPressed: pressed === ONLY },
    { value: ALL, label: t('console.languages.all'), isPressed: pressed === ALL },
  ];
  const label = t('console.languages.offered');
  const hint = hintWith(t('console.languages.offered-hint'));
  const marker: Field[] = locked ? [] : [hiddenField(HAS_BOXES, 'yes')];
  return [
    ...marker,
    { name, label, hint, type: 'checks', isWide: true, values, options, ...(!locked && { buttons }), ...locked },
  ];
}

/** The sent languages; undefined when the form did not have them, null for all. */
function sentLanguages(sent: Sent): string[] | null | undefined {
  if (!sentValue(sent, HAS_BOXES)) return undefined;
  const chosen = languages.filter((tag) => sent.languages?.includes(tag));
  if (chosen.length === 0) throw invalidInput([textFault(['languages'], t('console.languages.choose'))]);
  return chosen.length === languages.length ? null : chosen;
}

// The setting user_attributes as rows: name, type, allowed values, and whether it is required; below each its label, who sees and changes it, and
// its mask. A schema that says more stays as JSON.

/** The names of its fields begin with it. */
const ATTRIBUTE_ROWS = 'user_attributes.rows';

const KINDS: Record<AttributeKind, PageText> = {
  text: t('console.settings.kind.text'),
  number: t('console.settings.kind.number'),
  flag: t('console.settings.kind.flag'),
  list: t('console.settings.kind.list'),
};

/** What a person may do with an own field. Without a choice, as where the schema says nothing, the person does not see it. */
const PERSON: Record<string, PageText> = {
  '': t('console.settings.attributes.hidden'),
  see: t('console.settings.attributes.see'),
  change: t('console.settings.attributes.change'),
  ask: t('console.settings.attributes.ask'),
};
/** The same of the desk, which sees and changes what the schema says nothing about. */
const DESK: Record<string, PageText> = {
  '': t('console.settings.attributes.change'),
  see: t('console.settings.attributes.see'),
  hidden: t('console.settings.attributes.hidden'),
};

/** The rows; undefined where the schema says more. */
function attributeRows(schema: AttributeSchema): Field | undefined {
  if (!isSimpleSchema(schema)) return undefined;
  return {
    name: ATTRIBUTE_ROWS,
    label: t('console.settings.attributes'),
    type: 'rows',
    adds: t('console.settings.attributes.add'),
    details: t('console.settings.attributes.details'),
    columns: [
      { name: 'name', label: t('console.shared.name') },
      { name: 'kind', label: t('console.settings.attributes.type'), ...choiceOf(KINDS) },
      { name: 'values', label: t('console.settings.attributes.values') },
      {
        name: 'required',
        label: t('console.settings.attributes.required'),
        ...choiceOf({
          '': t('console.settings.attributes.optional'),
          yes: t('console.settings.attributes.required'),
        }),
      },
      { name: 'person', label: t('console.settings.attributes.person'), ...choiceOf(PERSON), isDetail: true },
      { name: 'desk', label: t('console.settings.attributes.desk'), ...choiceOf(DESK), isDetail: true },
      {
        name: 'title',
        label: t('console.settings.attributes.title'),
        hint: t('console.settings.attributes.title.hint'),
        isDetail: true,
      },
      {
        name: 'mask',
        label: t('console.settings.attributes.mask'),
        hint: t('console.settings.attributes.mask.hint'),
        isDetail: true,
      },
    ],
    lines: linesFor(schema),
    hint: t('console.settings.attributes.hint'),
  };
}

const choiceOf = (labels: Record<string, PageText>) => ({
  type: 'select' as const,
  options: Object.entries(labels).map(([value, label]) => ({ value, label })),
});

function linesFor(schema: AttributeSchema): string[][] {
  return simpleAttributes(schema).map(
    ({ name, kind, values, isRequired, keywords: { ask, title = '', mask = '' } }) => {
      const may = (audience: 'person' | 'desk') => ({
        see: isFor(audience, schema, name, 'visible_to'),
        change: isFor(audience, schema, name, 'editable_by'),
      });
      const person = ask ? 'ask' : personChoice(may('person'));
      const required = isRequired ? 'yes' : '';
      return [name, kind, values.join(', '), required, person, deskChoice(may('desk')), titleText(title), mask];
    },
  );
}

interface May {
  see: boolean;
  change: boolean;
}

/** One of PERSON. */
function personChoice({ see, change }: May): string {
  if (change) return 'change';
  return see ? 'see' : '';
}

/** One of DESK. */
function deskChoice({ see, change }: May): string {
  if (change) return '';
  return see ? 'see' : 'hidden';
}

/** `en: Badge; de: Ausweis` where it has several languages. */
const titleText = (title: NonNullable<FieldKeywords['title']>) =>
  typeof title === 'string'
    ? title
    : Object.entries(title)
        .map(([language, text]) => `${language}: ${text}`)
        .join('; ');

/** The title of this text. A language is one that the pages have. */
function typedTitle(text: string): NonNullable<FieldKeywords['title']> {
  const parts = text.split(/;\s*(?=[\w-]+:)/).map((part) => /^([\w-]+):\s*(.*\S)\s*$/.exec(part) ?? []);
  const named = parts.flatMap(([, language, title]) =>
    language && title && languages.includes(language) ? [[language, title]] : [],
  );
  return named.length < parts.length ? text : Object.fromEntries(named);
}

/** Among the columns of the rows. */
const TITLE_COLUMN = 6;

/** The schema that the rows were changed to; undefined when they say what `before` says. Throws invalid_input. */
function changedSchema(before: AttributeSchema, sent: Sent): AttributeSchema | undefined {
  const field = attributeRows(before);
  if (!field || sent[`${ATTRIBUTE_ROWS}.name`] === undefined) return undefined;
  const isTyped = (text: string, at: number) => text !== '' && field.columns?.[at]?.type !== 'select';
  const lines = linesOf(sent, field).filter((line) => line.some(isTyped));
  if (JSON.stringify(lines) === JSON.stringify(linesFor(before))) return undefined;
  const attributes = lines.map(withLabel).map(attributeOf);
  const twice = attributes.findIndex(({ name }, at) => attributes.findIndex((one) => one.name === name) !== at);
  if (twice >= 0)
    throw invalidInput([fault([ATTRIBUTE_ROWS, twice], 'name-twice', { entry: attributes[twice]?.name ?? '' })]);
  return schemaOf(attributes, before.properties ? before.additionalProperties : false);
}

/** A name with spaces is what people read: `Shirt size` is the label of `shirt_size`. */
function withLabel(line: string[]): string[] {
  const [typed = ''] = line;
  if (!/\s/.test(typed) || line[TITLE_COLUMN]) return line;
  const name = typed.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '_');
  return line.map((text, at) => (at === 0 ? name : at === TITLE_COLUMN ? typed : text));
}

function attributeOf(
  [name = '', kind = '', values = '', required, person = '', desk = '', title = '', mask = '']: string[],
  at: number,
): Omit<SimpleAttribute, 'label'> {
  const wrong = (column: string, code: `attribute-${'name' | 'type' | 'values' | 'mask'}`) =>
    invalidInput([fault([ATTRIBUTE_ROWS, at, column], code)]);
  if (!/^[^\s.\p{C}][^\s\p{C}]{0,63}$/u.test(name)) throw wrong('name', 'attribute-name');
  if (!Object.hasOwn(KINDS, kind)) throw wrong('kind', 'attribute-type');
  const allowed = values.split(',').flatMap((one) => one.trim() || []);
  if (allowed.length > 0 && kind !== 'text') throw wrong('values', 'attribute-values');
  if (mask && (allowed.length > 0 || kind !== 'text')) throw wrong('mask', 'attribute-mask');
  const rights = rightsOf(person, desk);
  const keywords = check(fieldKeywords, {
    ...(title && { title: typedTitle(title) }),
    ...rights,
    ...(mask && { mask }),
  });
  if (!keywords.ok)
    throw invalidInput(keywords.faults.map((one) => ({ ...one, path: [ATTRIBUTE_ROWS, at, ...one.path] })));
  return {
    name,
    kind: kind as AttributeKind,
    values: allowed,
    isRequired: required === 'yes',
    keywords: keywords.value,
  };
}

/** The rights of both as keywords. Left out is what a schema means that says nothing: the desk alone sees the field and changes it. */
function rightsOf(person: string, desk: string): FieldKeywords {
  const deskSees = desk === 'hidden' ? [] : (['desk'] as const);
  const deskChanges = desk === 'see' ? [] : deskSees;
  const sees = person === '' ? deskSees : (['person', ...deskSees] as const);
  const changes = person === '' || person === 'see' ? deskChanges : (['person', ...deskChanges] as const);
  return {
    ...(String(sees) !== 'desk' && { visible_to: [...sees] }),
    ...(String(changes) !== String(deskSees) && { editable_by: [...changes] }),
    ...(person === 'ask' && { ask: true }),
  };
}
