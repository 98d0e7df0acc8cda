// /admin/branding: the look of the pages and mails for people, with a preview of the real pages beside it; and their texts, each with its
// default and a field for another one.

import { readFileSync } from 'node:fs';
import path from 'node:path';
import Router from '@koa/router';
import { z } from 'zod';
import {
  type BrandSetting,
  brandImageSettings,
  brandOfApplication,
  brandSettings,
  imagePath,
} from '../../applications/brand/brand.ts';
import { ImageError } from '../../applications/brand/images/image-error.ts';
import { imageLimits } from '../../applications/brand/limits.ts';
import type { Context, Extras, Middleware, State } from '../../base/http/context.ts';
import { AppError, invalidInput } from '../../base/http/errors.ts';
import { acceptPictures, bodyLimit, parseForm, parseQuery } from '../../base/http/input.ts';
import { languageForPeople } from '../../base/http/pages/language.ts';
import { messageParts } from '../../base/texts/check-message.ts';
import type { Fault } from '../../base/texts/faults.ts';
import { languageNames, languages, SOURCE_LANGUAGE, textsDir } from '../../base/texts/languages.ts';
import { peopleMessage } from '../../base/texts/messages.ts';
import { type TextValues, textFaults } from '../../base/texts/overrides.ts';
import { listOf, type PageText, sentences, t } from '../../base/texts/text.ts';
import type { SettingEntry, SettingName, SettingValues } from '../../core/settings/settings.ts';
import { isImageData, isImageName, type SettingBox } from '../../core/settings/value-schemas.ts';
import { termsIn } from '../../people/accounts/terms.ts';
import { etagOf } from '../api/versions.ts';
import {
  ACCEPTED_PICTURES,
  type Block,
  type ConsolePage,
  type Field,
  type FormSection,
  hiddenField,
  selectField,
  tabLinks,
  VERSION,
  versionField,
} from '../console/blocks.ts';
import { listPath } from '../console/frame.ts';
import type { NamedField } from '../console/names.ts';
import { addPage, type FormReader, listForm, type Visit } from '../console/pages.ts';
import { type Sent, sentValue } from '../console/row-buttons.ts';
import type { ConsoleServices } from '../console-services.ts';
import { settingsOfFile } from '../settings/console.ts';
import { changesOf, type Lock, settingsIn, settingTexts } from '../settings/console-fields.ts';
import type { SettingChanges } from '../settings/settings.ts';
import {
  applicationField,
  brandPreviewRoutes,
  type Choice,
  namedApplication,
  previewAddress,
  previewFields,
  previewQuery,
} from './preview.ts';

const HERE = '/admin/branding';
const CHANGE = 'gatehouse.settings:write' as const;
const FORM = 'brand';
const APPLICATION = 'application';
/** The button of the preview. */
const SHOW = 'show';
const MAX_MEGABYTES = imageLimits.formBytes / 1024 / 1024;
const form = z.record(z.string(), z.array(z.string().max(imageLimits.formBytes * 2)));

/** The form as it was sent, each picture stored under its name, and what is wrong with those that are not. */
interface SentBrand {
  sent: Sent;
  faults: Fault[];
}

/** The page, its preview, and the page of texts. */
export function brandRoutes(services: ConsoleServices): Router<State, Extras>[] {
  const { frame, db, brandImages: images } = services;
  const { settings } = services.admin;
  const router = new Router<State, Extras>({ prefix: HERE });
  const isShown = (sent: Sent) => Boolean(sentValue(sent, SHOW));

  const readBrand: FormReader<SentBrand> = async (ctx) => {
    const faults: Fault[] = [];
    const sent = await withNames(await parseForm(ctx, form, { lists: 'every field' }), async (name, data) => {
      try {
        const image = await images.prepare(data);
        await images.save(db, image);
        return image.name;
      } catch (error) {
        if (!(error instanceof ImageError)) throw error;
        faults.push({ ...error.fault, path: [name] });
        return undefined;
      }
    });
    return { given: { sent, faults }, isRowButton: isShown(sent) && faults.length === 0 };
  };

  // The form again, although nothing of it could be read.
  const againIfTooLarge: Middleware = async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'body_too_large') throw error;
      ctx.set(error.headers);
      const page = await brandPage(services, ctx, {
        all: await settings.list(),
        may: (permission) => frame.may(ctx, permission),
      });
      frame.show(ctx, { ...page, error: t('console.branding.too-large', { size: MAX_MEGABYTES }) }, error.status);
    }
  };

  addPage<SettingEntry[], SentBrand>(router, frame, '/', {
    needs: ['gatehouse.settings:read'],
    submitNeeds: [CHANGE],
    load: () => settings.list(),
    accepts: [acceptPictures(imageLimits.formBytes), ...frame.page(CHANGE), againIfTooLarge],
    form: readBrand,
    page: ({ ctx, subject: all, may }, given) => brandPage(services, ctx, { all, may, sent: given?.sent }),
    async submit({ ctx, by, subject: entries }, { sent, faults }) {
      if (isShown(sent)) throw invalidInput(faults);
      const application = sentValue(sent, APPLICATION) ?? '';
      const changes = changesOf(application ? entriesOf(application, entries) : entries, sent, faults);
      const all = application ? { brand_applications: withChanges(application, entries, changes) } : changes;
      await settings.update(all, by, sentValue(sent, VERSION) ?? '');
      return { to: addressOf(choiceOf(ctx, sent)), notice: t('console.branding.saved') };
    },
  });
  return [router, brandPreviewRoutes(services), textRoutes(services)];
}

async function brandPage(
  services: ConsoleServices,
  ctx: Context,
  { all, may, sent = {} }: { all: SettingEntry[]; may: Visit<unknown>['may']; sent?: Sent | undefined },
): Promise<ConsolePage> {
  const { accounts, names } = services;
  const mayChange = may(CHANGE);
  const chosen = choiceOf(ctx, sent);
  const { application, field } = await namedApplication(names, chosen.application);
  const choice = { ...chosen, application };
  const entries = application ? entriesOf(application, all) : all;
  const lockOf = ({ source }: SettingEntry): Lock =>
    source === 'file' ? 'file' : mayChange ? undefined : 'permission';
  const terms = application ? undefined : await termsNote(accounts, all);
  const sections = brandSections(entries, sent, lockOf, terms);
  const ofFile = sections.flatMap(({ fields }) => fields.flatMap(({ name, isFromFile }) => (isFromFile ? name : [])));
  const declared = application && ofFile.length > 0 ? ['brand_applications'] : ofFile;
  const typed = (name: BrandSetting) => valueIn(name, entries, sent);
  const blocks: Block[] = [
    ...(declared.length > 0 ? [settingsOfFile(services, may, declared)] : []),
    {
      kind: 'form',
      id: FORM,
      action: addressOf({ ...UNCHOSEN, application }),
      isUpload: true,
      fields: mayChange
        ? [
            versionField(sentValue(sent, VERSION) ?? etagOf(all)),
            hiddenField(APPLICATION, application),
            ...storedPictures(entries, sent),
          ]
        : [],
      sections,
      ...(mayChange && {
        button: t('console.shared.save-changes'),
        cancel: addressOf(choice),
        cancelLabel: t('console.shared.discard'),
      }),
    },
  ];
  const name = (await names.applications([application])).get(application)?.name;
  return {
    title: application
      ? t('console.branding.of', { application: name ?? application })
      : t('console.navigation.branding'),
    lead: application ? (name ? OF_APPLICATION : UNKNOWN) : OF_ALL,
    ...(application && { back: { href: HERE, label: t('console.navigation.branding') } }),
    ...(!application && {
      actions: [{ label: t('console.settings.tab.languages'), href: '/admin/settings/languages' }],
    }),
    tabs: brandTabs(''),
    isHalved: true,
    blocks,
    aside: previewBlocks(ctx, choice, { src: previewAddress(choice, typed), mayChange, field }),
  };
}

/** What was chosen with the form, else in the address. */
function choiceOf(ctx: Context, sent: Sent): Choice {
  const query = parseQuery(ctx, previewQuery);
  const names = Object.keys(previewQuery.shape);
  const given = names.flatMap((name) => (sent[name] === undefined ? [] : [[name, sentValue(sent, name)]]));
  return previewQuery.parse({ ...query, ...Object.fromEntries(given) });
}

/** The choices are sent with the form, so that nothing is lost that is typed there. */
function previewBlocks(
  ctx: Context,
  choice: Choice,
  { src, mayChange, field }: { src: string; mayChange: boolean } & { field: NamedField },
): Block[] {
  const { page, mode, language, application } = choice;
  const hidden = (values: Record<string, string | undefined>): Field[] =>
    Object.entries(values).map(([name, value]) => hiddenField(name, value));
  const fields = previewFields(choice, ctx.state.offeredLanguages().tags, languageForPeople(ctx));
  const show = { action: HERE, button: t('console.branding.show') };
  return [
    {
      kind: 'search',
      action: HERE,
      fields: [applicationField({ field }), ...hidden({ page, mode, language })],
      button: t('console.branding.open'),
    },
    mayChange
      ? { kind: 'search', ...show, of: FORM, fields }
      : { kind: 'search', ...show, fields: [...hidden({ application }), ...fields] },
    { kind: 'preview', title: t('console.branding.preview'), src, follows: FORM, isTall: true },
  ];
}

const OF_ALL = t('console.branding.lead');
const OF_APPLICATION = t('console.branding.lead-application');
const UNKNOWN = t('console.branding.lead-unknown');

const UNCHOSEN: Choice = previewQuery.parse({});

function addressOf({ application, page, language, mode }: Choice): string {
  return listPath(HERE, {
    [APPLICATION]: application,
    page: page === UNCHOSEN.page ? undefined : page,
    language,
    mode: mode === UNCHOSEN.mode ? undefined : mode,
  });
}

// The form of the brand: its settings as fields, and what was sent as it is stored. A picture that was sent is stored at once, under
// its name, so that the form can come back with it after a fault or a sign-in.

/** The boxes of the form. */
const SECTIONS: readonly { title: PageText; lead?: PageText; box: SettingBox }[] = [
  { title: t('console.branding.box.name'), box: 'brand-name' },
  { title: t('console.branding.box.pictures'), box: 'brand-pictures' },
  { title: t('console.branding.box.links'), lead: t('console.branding.box.links.lead'), box: 'brand-links' },
];

type Entries = readonly SettingEntry[];

type ImageSetting = (typeof brandImageSettings)[number];
type BrandField = BrandSetting | 'terms_version';
const isBrandField = (name: SettingName): name is BrandField =>
  name === 'terms_version' || brandSettings.some((one) => one === name);
const isImage = (name: BrandField): name is ImageSetting => brandImageSettings.some((one) => one === name);

/** The settings as an application has them: its own values under the names of the settings. */
function entriesOf(application: string, entries: Entries): SettingEntry[] {
  const brands = entries.find(({ name }) => name === 'brand_applications');
  const own = brandOfApplication(brandsIn(entries), application) ?? {};
  return brandSettings.map((name) => ({
    name,
    value: own[name],
    source: brands?.source === 'file' ? 'file' : 'local',
  }));
}

/** The brands of all applications after these changes of one. */
function withChanges(application: string, entries: Entries, changes: SettingChanges): Brands {
  const before = brandOfApplication(brandsIn(entries), application) ?? {};
  const after = brandSettings.flatMap((name) => {
    const value = changes[name] === undefined ? before[name] : changes[name];
    return value ? [[name.slice('brand_'.length), value] as const] : [];
  });
  const others = Object.entries(brandsIn(entries)).filter(([id]) => id !== application);
  return Object.fromEntries(after.length > 0 ? [...others, [application, Object.fromEntries(after)]] : others);
}

type Brands = SettingValues['brand_applications'];
const brandsIn = (entries: Entries) =>
  (entries.find(({ name }) => name === 'brand_applications')?.value ?? {}) as Brands;

/** What the form holds now: as it was sent, else what is stored. */
function valueIn(name: BrandField, entries: Entries, sent: Sent): string {
  const stored = entries.find((entry) => entry.name === name)?.value;
  return sentValue(sent, name) ?? (stored === undefined ? '' : String(stored));
}

/** @param terms what the field of the version says beside its hint */
function brandSections(
  entries: Entries,
  sent: Sent,
  lockOf: (entry: SettingEntry) => Lock,
  terms: PageText | undefined,
): FormSection[] {
  return SECTIONS.map(({ box, ...section }) => ({
    ...section,
    fields: settingsIn(box).flatMap((name) => {
      const entry = entries.find((one) => one.name === name);
      if (!entry || !isBrandField(name)) return [];
      return fieldsOf(name, valueIn(name, entries, sent), lockOf(entry), terms);
    }),
  }));
}

/** The pictures that the form has now, which a browser cannot send again. */
function storedPictures(entries: Entries, sent: Sent): Field[] {
  return brandImageSettings.flatMap((name) => {
    const value = valueIn(name, entries, sent);
    return isImageName(value) ? [hiddenField(`${name}.stored`, value)] : [];
  });
}

/** How many have accepted the version. */
async function termsNote(accounts: ConsoleServices['accounts'], entries: Entries): Promise<PageText | undefined> {
  const settings = Object.fromEntries(entries.map(({ name, value }) => [name, value])) as SettingValues;
  const terms = termsIn(settings);
  if (!terms) return undefined;
  const { version } = terms;
  return t('console.branding.terms-accepted', { ...(await accounts.countTerms(version)), version });
}

function fieldsOf(name: BrandField, value: string, lock: Lock, terms: PageText | undefined): Field[] {
  const texts = settingTexts(name);
  const locked = lock && { isLocked: true, isFromFile: lock === 'file' };
  const field: Field = { ...texts, value, ...locked };
  if (name === 'brand_color') return [{ ...field, type: 'color', isCode: true, placeholder: '#1f6650' }];
  if (name === 'brand_name') return [field];
  if (name === 'terms_version') {
    const hint = sentences([texts.hint, terms].filter((one) => one !== undefined));
    return [{ ...field, hint, isCode: true, placeholder: '2026-11' }];
  }
  if (!isImage(name)) return [{ ...field, isCode: true, placeholder: 'https://' }];
  const isStored = isImageName(value);
  const picture = isStored ? { src: imagePath(value), isDark: name === 'brand_logo_dark' } : undefined;
  const file: Field = { ...texts, type: 'file', accept: ACCEPTED_PICTURES, picture, ...locked };
  if (!isStored || lock) return [file];
  const remove = { name: `${name}.remove`, label: t(`console.branding.remove.${name}`), type: 'checkbox' as const };
  return [file, remove];
}

/**
 * The form with the name of each picture in place of its content; with the one before where `store` cannot use it.
 *
 * @param store stores a picture, and returns its name
 */
async function withNames(
  sent: Sent,
  store: (name: BrandSetting, data: string) => Promise<string | undefined>,
): Promise<Sent> {
  const named: Record<string, readonly string[]> = { ...sent };
  for (const name of brandImageSettings) {
    const [content = '', stored] = [sentValue(sent, name), sentValue(sent, `${name}.stored`)];
    const added = isImageData(content) ? await store(name, content) : undefined;
    const value = added ?? (sentValue(sent, `${name}.remove`) === 'on' ? '' : stored);
    if (value === undefined) delete named[name];
    else named[name] = [value];
  }
  return named;
}

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

const TEXTS = '/admin/branding/texts';
const CHANGE_TEXTS = 'gatehouse.settings:write-security' as const;
/** Twenty texts, percent-encoded. */
const MAX_FORM_BYTES = 512 * 1024;

/** /admin/branding/texts. */
function textRoutes(services: ConsoleServices): Router<State, Extras> {
  const { frame } = services;
  const { settings } = services.admin;
  const router = new Router<State, Extras>({ prefix: TEXTS });
  addPage<SettingEntry[], Sent>(router, frame, '/', {
    needs: ['gatehouse.settings:read'],
    submitNeeds: [CHANGE_TEXTS],
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
  const mayChange = may(CHANGE_TEXTS) && !isFromFile;
  const sections = textSections(list.texts, { language: query.language, sent, mayChange, consoleLanguage });
  const version = versionField(sentValue(sent, VERSION) ?? etagOf(entries));
  const blocks: Block[] = [
    ...(isFromFile ? [settingsOfFile(services, may, ['texts'])] : []),
    { kind: 'search', action: TEXTS, fields: filterFields(query), button: t('console.branding.texts.show') },
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
  const areas = Object.fromEntries(textAreas.map((one) => [one, t(`console.branding.texts.area.${one}`)]));
  return [
    {
      name: 'language',
      label: label('language'),
      type: 'select',
      value: language,
      options: languageNames().map(({ tag, name }) => ({ value: tag, label: name })),
    },
    selectField('area', label('area'), area ?? '', { '': t('console.branding.texts.all'), ...areas }),
    { name: 'q', label: label('words'), type: 'search', value: q },
    selectField('changed', label('only'), changed ?? '', {
      '': t('console.branding.texts.all'),
      on: t('console.branding.texts.changed'),
    }),
  ];
}

// The texts for people that the page lists: those of an area, those that hold some words, those that were changed.

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

interface ListedText {
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
  return listPath(TEXTS, { language, area, q, changed, page: at > 1 ? String(at) : undefined });
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
      hint: hintOf(language, key, value.trim() === original.trim() ? undefined : original),
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

/** @param original what the field had, where it has another text now */
function hintOf(language: string, key: string, original: string | undefined) {
  const { values, tags } = messageParts(language, key);
  const parts = [...[...values.keys()].map((name) => `{${name}}`), ...[...tags].map((name) => `<${name}>`)];
  return sentences([
    ...(original === undefined ? [] : [t('console.branding.texts.default', { text: original })]),
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

const brandTabs = (current: '' | 'texts') =>
  tabLinks(HERE, current, { '': t('console.branding.tab.look'), texts: t('console.branding.tab.texts') });
