// Settings as fields of a form, and the sent form as changes. A setting of the file, or without permission, is displayed and locked.

import { z } from 'zod';
import { AppError, badRequest, type FieldFault } from '../../base/http/errors.ts';
import { faultMessage } from '../../base/platform/fault-messages.ts';
import { faultsOf, sentence } from '../../base/platform/faults.ts';
import { type PageText, sentences, t } from '../../base/texts/text.ts';
import {
  defaultSettings,
  type SettingEntry,
  type SettingName,
  settingNames,
  settingSchemas,
} from '../../core/settings/settings.ts';
import type { AttributeSchema } from '../../people/accounts/attributes.ts';
import type { Field } from '../console/blocks.ts';
import { asTyped, isRowButton, type Sent } from '../console/row-buttons.ts';
import { lines } from '../console/text-area.ts';
import type { SettingChanges } from './actions.ts';
import { ATTRIBUTE_ROWS, attributeRows, changedSchema } from './attribute-rows.ts';
import { settingTexts, type TextedSetting } from './console-texts.ts';
import { isLanguageSetting, languageFields, sentLanguages } from './language-fields.ts';

type Texts = Readonly<Record<string, string>>;

const textsOf = (sent: Sent): Texts =>
  Object.fromEntries(Object.entries(sent).map(([name, values]) => [name, values.at(-1) ?? '']));

/** The hidden field with the names of the switches on the page: a browser sends only those that are on. */
const SWITCHES = 'switches';
const GATEWAY = ['url', 'token', 'sender'] as const;
const isJson = (name: SettingName) => name === 'sms_gateway' || name === 'user_attributes';
const isSwitch = (name: SettingName) => typeof defaultSettings[name] === 'boolean';

/** Why a setting cannot be changed here. */
export type Lock = 'file' | 'permission' | undefined;

export interface SettingField {
  entry: SettingEntry;
  lock: Lock;
}

/** The fields of one setting: one, or one for each part of the SMS gateway. `all`: the form as it was sent. `entries`: all settings. */
export function fieldsOf({ entry, lock }: SettingField, all: Sent, entries: readonly SettingEntry[]): Field[] {
  const { name, value } = entry;
  const locked = lock && { isLocked: true, isFromFile: lock === 'file' };
  if (isLanguageSetting(name)) {
    const [note] = reasonOf(lock);
    const standard = String(entries.find((one) => one.name === 'default_language')?.value);
    return languageFields(entry, { locked, note, sent: all, standard });
  }
  const sent = textsOf(all);
  if (name === 'sms_gateway' && sent.sms_gateway === undefined) return gatewayFields(value, lock, sent);
  const { label, unit, choices } = settingTexts[name];
  const hint = hintOf(name, lock);
  if (isSwitch(name)) {
    const isOn = sent[SWITCHES] === undefined ? value === true : isTrue(sent[name]);
    return [{ name, label, hint, type: 'checkbox', checked: isOn, ...locked }];
  }
  const text = sent[name] ?? textOf(value);
  if (choices) {
    const options = Object.entries(choices).map(([one, words]) => ({ value: one, ...words }));
    return [{ name, label, hint, type: 'radios', value: text, options, ...locked }];
  }
  if (typeof defaultSettings[name] === 'number')
    return [{ name, label, hint, type: 'number', value: text, ...(unit && { unit }), ...rangeOf(name), ...locked }];
  const area = { name, label, hint, rows: isJson(name) ? 8 : 4, isCode: true, value: text, ...locked };
  const rows = name === 'user_attributes' ? attributeRows(value as AttributeSchema) : undefined;
  const typed = rows && (isRowFormSent(all) && !lock ? asTyped([rows], all) : [{ ...rows, ...locked }]);
  return [...(typed ?? []), { ...area, type: 'textarea' }];
}

const isRowFormSent = (sent: Sent) => sent[`${ATTRIBUTE_ROWS}.name`] !== undefined || isRowButton(sent);

/** The hidden field that a form with these settings needs. */
export function switchesField(settings: readonly SettingField[]): Field {
  const names = settings.filter(({ entry, lock }) => !lock && isSwitch(entry.name)).map(({ entry }) => entry.name);
  return { name: SWITCHES, label: '', type: 'hidden', value: names.join(' ') };
}

function gatewayFields(value: unknown, lock: Lock, sent: Texts): Field[] {
  const stored = (value ?? {}) as { url?: string; sender?: string };
  const locked = lock && { isLocked: true, isFromFile: lock === 'file' };
  return [
    {
      name: 'sms_gateway.url',
      label: t('console.settings.gateway.url'),
      hint: sentences([t('console.settings.gateway.url.hint'), ...reasonOf(lock)]),
      value: sent['sms_gateway.url'] ?? stored.url ?? '',
      isCode: true,
      ...locked,
    },
    ...(lock
      ? []
      : [
          {
            name: 'sms_gateway.token',
            label: t('console.settings.gateway.token'),
            type: 'password' as const,
            hint: t('console.settings.gateway.token.hint'),
            value: '',
            autocomplete: 'off',
          },
        ]),
    {
      name: 'sms_gateway.sender',
      label: t('console.settings.gateway.sender'),
      hint: t('console.settings.gateway.sender.hint'),
      value: sent['sms_gateway.sender'] ?? stored.sender ?? '',
      ...locked,
    },
  ];
}

/** Why it is locked, where no tag of the field says it. */
const reasonOf = (lock: Lock): PageText[] => (lock === 'permission' ? [t('console.settings.locked')] : []);

/** The explanation, with the range and the default of its schema, and why it is locked. */
function hintOf(name: TextedSetting, lock: Lock): PageText {
  return sentences([settingTexts[name].text, ...standardOf(name), ...reasonOf(lock)]);
}

function rangeOf(name: TextedSetting): { range?: Required<NonNullable<Field['range']>> } {
  const schema = z.toJSONSchema(settingSchemas[name], { io: 'input', unrepresentable: 'any' });
  const { minimum, maximum } = schema as { minimum?: number; maximum?: number };
  return minimum === undefined || maximum === undefined ? {} : { range: { minimum, maximum } };
}

function standardOf(name: TextedSetting): PageText[] {
  const value: unknown = defaultSettings[name];
  if (typeof value === 'boolean') return [t('console.settings.default-switch', { state: value ? 'on' : 'off' })];
  if (typeof value !== 'number') return settingTexts[name].standard ? [settingTexts[name].standard] : [];
  const { range } = rangeOf(name);
  return [range ? t('console.settings.range', { ...range, value }) : t('console.settings.default', { value })];
}

/** The value as text; lists have a line for each entry. */
export function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.join('\n');
  return typeof value === 'object' ? JSON.stringify(value, undefined, 2) : String(value);
}

const BOTH = t('console.settings.both');

/**
 * The settings that differ from the stored ones. Throws invalid_input with every faulty field.
 *
 * @param found faults that are known already
 */
export function changesOf(
  entries: readonly SettingEntry[],
  all: Sent,
  found: readonly FieldFault[] = [],
): SettingChanges {
  const faults = [...found];
  const changes = settingNames.flatMap((name): [SettingName, unknown][] => {
    try {
      const value = changeOf(
        name,
        entries.find((entry) => entry.name === name),
        all,
      );
      return value === undefined ? [] : [[name, value]];
    } catch (error) {
      if (!(error instanceof AppError) || error.fields.length === 0) throw error;
      faults.push(...error.fields);
      return [];
    }
  });
  const position = ({ field }: FieldFault) => settingNames.findIndex((name) => `${field}.`.startsWith(`${name}.`));
  faults.sort((a, b) => position(a) - position(b));
  if (faults.length > 0) throw badRequest('invalid_input', { fields: faults });
  return Object.fromEntries(changes) as SettingChanges;
}

/** The new value of a setting; null: its default, undefined: it stays. Throws invalid_input. */
function changeOf(name: SettingName, before: SettingEntry | undefined, all: Sent): unknown {
  if (before?.source === 'file') return undefined;
  const sent = textsOf(all);
  if (name === 'user_attributes') {
    const schema = changedSchema((before?.value ?? {}) as AttributeSchema, all);
    const isBoth = schema && (sent[name] ?? '').trim() !== textOf(before?.value).trim();
    if (isBoth && sent[name] !== undefined)
      throw badRequest('invalid_input', { fields: [{ field: name, message: BOTH }] });
    if (schema) return parsedValue(name, JSON.stringify(schema));
  }
  if (name === 'languages') {
    const value = sentLanguages(all);
    return JSON.stringify(value ?? []) === JSON.stringify(before?.value) ? undefined : value;
  }
  const switches = sent[SWITCHES]?.split(' ') ?? [];
  const text = switches.includes(name) ? String(isTrue(sent[name])) : sentText(name, before?.value, sent);
  if (text === undefined || text.trim() === textOf(before?.value).trim()) return undefined;
  return parsedValue(name, text.trim());
}

const isTrue = (text: string | undefined) => text === 'on' || text === 'true';

/** The text of a setting; that of the SMS gateway from its parts. */
function sentText(name: SettingName, before: unknown, sent: Texts): string | undefined {
  if (name !== 'sms_gateway' || sent.sms_gateway !== undefined || sent['sms_gateway.url'] === undefined)
    return sent[name];
  const given = GATEWAY.flatMap((part) => {
    const text = sent[`sms_gateway.${part}`]?.trim();
    return text ? [[part, text] as const] : [];
  });
  if (!sent['sms_gateway.url'].trim()) return before === undefined && given.length === 0 ? undefined : '';
  return textOf(Object.fromEntries(given));
}

function parsedValue(name: SettingName, text: string): unknown {
  const fallback: unknown = defaultSettings[name];
  if (text === '' && !Array.isArray(fallback)) return null;
  const parsed = settingSchemas[name].safeParse(settingValueOf(name, fallback, text), { error: sentence });
  if (parsed.success) return parsed.data;
  const fields = parsed.error.issues.flatMap(faultsOf).map(({ message, path }) => ({
    field: name === 'sms_gateway' ? [name, ...path].join('.') : name,
    message,
  }));
  throw badRequest('invalid_input', { fields });
}

function settingValueOf(name: SettingName, fallback: unknown, text: string): unknown {
  if (typeof fallback === 'boolean') return text === 'true';
  if (typeof fallback === 'number') return Number(text);
  if (Array.isArray(fallback)) return lines(text);
  if (!isJson(name)) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('invalid_input', { fields: [{ field: name, message: faultMessage('json') }] });
  }
}
