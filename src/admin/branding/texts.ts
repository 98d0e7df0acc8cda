// /admin/branding/texts: the texts for people, each with its default and a field for another one.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { invalidInput } from '../../base/http/errors.ts';
import { bodyLimit, parseQuery } from '../../base/http/input.ts';
import { languageForPeople } from '../../base/http/pages/language.ts';
import { messageParts } from '../../base/texts/check-message.ts';
import { languageNames, languages, SOURCE_LANGUAGE, textsDir } from '../../base/texts/languages.ts';
import { peopleMessage } from '../../base/texts/messages.ts';
import { type TextValues, textFaults } from '../../base/texts/overrides.ts';
import { listOf, sentences, t } from '../../base/texts/text.ts';
import type { SettingEntry, SettingValues } from '../../core/settings/settings.ts';
import { etagOf } from '../api/versions.ts';
import {
  type Block,
  type ConsolePage,
  type Field,
  type FormSection,
  VERSION,
  versionField,
} from '../console/blocks.ts';
import { listPath } from '../console/frame.ts';
import { addPage, listForm, type Visit } from '../console/pages.ts';
import { type Sent, sentValue } from '../console/row-buttons.ts';
import type { ConsoleServices } from '../console-services.ts';
import { settingsOfFile } from '../settings/console.ts';

// The texts for people by the file that they are in.

/** The names of the files, in the order in which a person sees their pages. */
export const textAreas = [
  'sign-in',
  'mailed-links',
  'website',
  'account',
  'activity',
  'device',
  'logout',
  'errors',
  'mail',
  'page',
] as const;
type TextArea = (typeof textAreas)[number];

let keys: ReadonlyMap<TextArea, readonly string[]> | undefined;

/** The keys of the texts for people; those of all areas by default. Read once. */
function textKeys(area?: TextArea): readonly string[] {
  keys ??= new Map(textAreas.map((one) => [one, keysOf(one)]));
  return area ? (keys.get(area) ?? []) : [...keys.values()].flat();
}

function keysOf(area: TextArea): string[] {
  return Object.keys(JSON.parse(readFileSync(path.join(textsDir, SOURCE_LANGUAGE, `${area}.json`), 'utf8')));
}

const HERE = '/admin/branding/texts';
const CHANGE = 'gatehouse.settings:write-security' as const;
/** Twenty texts, percent-encoded. */
const MAX_FORM_BYTES = 512 * 1024;

export function textRoutes(services: ConsoleServices): Router<State, Extras> {
  const {
    frame,
    admin: { settings },
  } = services;
  const router = new Router<State, Extras>({ prefix: HERE });
  addPage<SettingEntry[], Sent>(router, frame, '/', {
    needs: ['gatehouse.settings:read'],
    submitNeeds: [CHANGE],
    load: () => settings.list(),
    accepts: bodyLimit(MAX_FORM_BYTES),
    form: listForm,
    page: (visit, sent = {}) => textsPage(visit, services, sent),
    async submit({ ctx, by, subject }, sent) {
      const before = valuesIn(subject);
      const query = queryOf(ctx);
      const texts = changedTexts(before, query.language, sent);
      const faults = textFaults(texts, before).map((one) => ({ ...one, path: [`${FIELD}${one.path[1]}`] }));
      if (faults.length > 0) throw invalidInput(faults);
      const isNone = Object.keys(texts).length === 0;
      const changes = { texts: isNone ? null : (texts as SettingValues['texts']) };
      await settings.update(changes, by, sentValue(sent, VERSION) ?? '');
      return { to: textsPath(query), notice: t('console.branding.texts.saved') };
    },
  });
  return router;
}

function queryOf(ctx: Context): TextsQuery {
  const query = parseQuery(ctx, textsQuery);
  return { ...query, language: query.language ?? languageForPeople(ctx) };
}

function entryIn(entries: readonly SettingEntry[]): SettingEntry | undefined {
  return entries.find(({ name }) => name === 'texts');
}

const valuesIn = (entries: readonly SettingEntry[]) => (entryIn(entries)?.value ?? {}) as TextValues;

function textsPage(
  { ctx, subject: entries, may, language: consoleLanguage }: Visit<SettingEntry[]>,
  services: ConsoleServices,
  sent: Sent,
): ConsolePage {
  const query = queryOf(ctx);
  const list = listTexts(query, valuesIn(entries));
  const isFromFile = entryIn(entries)?.source === 'file';
  const mayChange = may(CHANGE) && !isFromFile;
  const sections = textSections(list.texts, { language: query.language, sent, mayChange, consoleLanguage });
  const version = versionField(sentValue(sent, VERSION) ?? etagOf(entries));
  const blocks: Block[] = [
    ...(isFromFile ? [settingsOfFile(services, may)] : []),
    { kind: 'search', action: HERE, fields: filterFields(query), button: t('console.branding.texts.show') },
    list.count === 0
      ? { kind: 'text', text: t('console.branding.texts.none') }
      : {
          kind: 'form',
          action: textsPath(query),
          fields: mayChange ? [version] : [],
          sections,
          ...(mayChange && {
            button: t('console.branding.texts.save'),
            cancel: textsPath(query),
            cancelLabel: t('console.branding.texts.discard'),
          }),
        },
    {
      kind: 'more',
      count: t('console.branding.texts.count', { count: list.count }),
      pages: { previous: list.previous, next: list.next },
    },
  ];
  return {
    title: t('console.navigation.branding'),
    lead: t('console.branding.texts.lead'),
    actions: [{ label: t('console.settings.tab.languages'), href: '/admin/settings/languages' }],
    tabs: brandTabs('texts'),
    blocks,
  };
}

function filterFields({ language, area, q, changed }: TextsQuery): Field[] {
  const label = (key: 'language' | 'area' | 'words' | 'only') => t(`console.branding.texts.${key}`);
  const areas = textAreas.map((one) => ({ value: one, label: t(`console.branding.texts.area.${one}`) }));
  return [
    {
      name: 'language',
      label: label('language'),
      type: 'select',
      value: language,
      options: languageNames().map(({ tag, name }) => ({ value: tag, label: name })),
    },
    {
      name: 'area',
      label: label('area'),
      type: 'select',
      value: area ?? '',
      options: [{ value: '', label: t('console.branding.texts.all') }, ...areas],
    },
    { name: 'q', label: label('words'), type: 'search', value: q },
    {
      name: 'changed',
      label: label('only'),
      type: 'select',
      value: changed ?? '',
      options: [
        { value: '', label: t('console.branding.texts.all') },
        { value: 'on', label: t('console.branding.texts.changed') },
      ],
    },
  ];
}

// The texts for people that the page lists: those of an area, those that hold some words, those that were changed.

const TEXTS_HOME = '/admin/branding/texts';
const PAGE_SIZE = 20;

/** What the page lists. */
const textsQuery = z.object({
  language: z.enum(languages).optional().catch(undefined),
  area: z.enum(textAreas).optional().catch(undefined),
  q: z.string().max(200).catch(''),
  changed: z.literal('on').optional().catch(undefined),
  page: z.coerce.number().int().min(1).max(1000).catch(1),
});
type TextsQuery = z.output<typeof textsQuery> & { language: string };

export interface ListedText {
  key: string;
  area: TextArea;
  /** That of this version. */
  original: string;
  /** What the administrator wrote. */
  own: string | undefined;
}

interface TextList {
  texts: ListedText[];
  count: number;
  previous?: string | undefined;
  next?: string | undefined;
}

/** The address of the page with these filters. */
function textsPath({ language, area, q, changed, page }: TextsQuery, at = page): string {
  return listPath(TEXTS_HOME, { language, area, q, changed, page: at > 1 ? String(at) : undefined });
}

/** The message of views/texts in this language. */
export const originalOf = (language: string, key: string): string =>
  peopleMessage(language, key) ?? peopleMessage(SOURCE_LANGUAGE, key) ?? '';

/** One page of the list. Words are found in the key, in both texts and in the English one. */
function listTexts(query: TextsQuery, values: TextValues): TextList {
  const { language, area, q, changed } = query;
  const own = new Map(Object.entries(values[language] ?? {}));
  const words = q.toLowerCase().split(/\s+/).filter(Boolean);
  const found = (area ? [area] : textAreas)
    .flatMap((one) => textKeys(one).map((key) => ({ key, area: one })))
    .map((text) => ({ ...text, original: originalOf(language, text.key), own: own.get(text.key) }))
    .filter((text) => (changed ? text.own !== undefined : true) && hasWords(text, words));
  const page = Math.min(query.page, Math.max(1, Math.ceil(found.length / PAGE_SIZE)));
  return {
    texts: found.slice((page - 1) * PAGE_SIZE, page * PAGE_SIZE),
    count: found.length,
    previous: page > 1 ? textsPath(query, page - 1) : undefined,
    next: page * PAGE_SIZE < found.length ? textsPath(query, page + 1) : undefined,
  };
}

function hasWords({ key, original, own = '' }: ListedText, words: readonly string[]): boolean {
  const text = [key, original, own, originalOf(SOURCE_LANGUAGE, key)].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}

// The fields of texts, in a box for the pages of each: a field is called by the words of its text, has the text as it is now, its
// default below it, and a switch back to it. A form that comes back unchanged
// changes nothing.

/** The beginnings of the names of the fields, before the key. */
const FIELD = 'text.';
const RESET = 'reset.';
const LINE = 70;
const MAX_LABEL = 80;

interface TextFieldOptions {
  /** Of the texts. */
  language: string;
  /** Of the page, in which the texts are called. */
  consoleLanguage: string;
  sent: Sent;
  mayChange: boolean;
}

function textSections(texts: readonly ListedText[], options: TextFieldOptions): FormSection[] {
  const areas = [...new Set(texts.map(({ area }) => area))];
  return areas.map((area) => ({
    title: t(`console.branding.texts.area.${area}`),
    fields: textFields(
      texts.filter((text) => text.area === area),
      options,
    ),
  }));
}

function textFields(
  texts: readonly ListedText[],
  { language, consoleLanguage, sent, mayChange }: TextFieldOptions,
): Field[] {
  return texts.flatMap(({ key, original, own }): Field[] => {
    const label = wordsOf(originalOf(consoleLanguage, key));
    const value = sentValue(sent, FIELD + key) ?? own ?? original;
    const field: Field = {
      name: FIELD + key,
      label,
      type: 'textarea',
      hint: hintOf(language, key, original),
      value,
      rows: Math.min(6, Math.ceil(Math.max(value.length, 1) / LINE)),
      language,
      ...(!mayChange && { isLocked: true }),
    };
    if (own === undefined || !mayChange) return [field];
    const checked = sentValue(sent, RESET + key) === 'on';
    return [
      field,
      { name: RESET + key, label: t('console.branding.texts.reset', { text: label }), type: 'checkbox', checked },
    ];
  });
}

/** A message without its tags, in one line. */
function wordsOf(message: string): string {
  const words = message.replace(/<\/?\w+>/g, '');
  return words.length > MAX_LABEL ? `${words.slice(0, MAX_LABEL - 1).trimEnd()}…` : words;
}

function hintOf(language: string, key: string, original: string) {
  const { values, tags } = messageParts(language, key);
  const parts = [...[...values.keys()].map((name) => `{${name}}`), ...[...tags].map((name) => `<${name}>`)];
  return sentences([
    t('console.branding.texts.default', { text: original }),
    ...(parts.length > 0 ? [t('console.branding.texts.parts', { parts: listOf(parts) })] : []),
    t('console.branding.texts.key', { key }),
  ]);
}

/** All texts after those of the form: one that is empty or the default is not stored. */
function changedTexts(before: TextValues, language: string, sent: Sent): TextValues {
  const own = new Map(Object.entries(before[language] ?? {}));
  for (const [name, values] of Object.entries(sent)) {
    if (!name.startsWith(FIELD)) continue;
    const key = name.slice(FIELD.length);
    const text = values.at(-1) ?? '';
    const isDefault = text.trim() === '' || text.trim() === originalOf(language, key).trim();
    if (isDefault || sentValue(sent, RESET + key) === 'on') own.delete(key);
    else own.set(key, text);
  }
  const { [language]: _before, ...others } = before;
  return own.size > 0 ? { ...others, [language]: Object.fromEntries(own) } : others;
}

// The tabs of Branding.

export function brandTabs(current: 'look' | 'texts'): NonNullable<ConsolePage['tabs']> {
  return [
    { href: '/admin/branding', label: t('console.branding.tab.look'), isCurrent: current === 'look' },
    { href: '/admin/branding/texts', label: t('console.branding.tab.texts'), isCurrent: current === 'texts' },
  ];
}
