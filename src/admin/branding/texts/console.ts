// /admin/branding/texts: the texts for people, each with its default and a field for another one.

import Router from '@koa/router';
import type { Context, Extras, State } from '../../../base/http/context.ts';
import { invalidInput } from '../../../base/http/errors.ts';
import { bodyLimit, parseQuery } from '../../../base/http/input.ts';
import { languageForPeople } from '../../../base/http/pages/language.ts';
import { textAreas } from '../../../base/texts/areas.ts';
import { languageNames } from '../../../base/texts/languages.ts';
import { type TextValues, textFaults } from '../../../base/texts/overrides.ts';
import { t } from '../../../base/texts/text.ts';
import type { SettingEntry, SettingValues } from '../../../core/settings/settings.ts';
import { etagOf } from '../../api/versions.ts';
import { type Block, type ConsolePage, type Field, VERSION, versionField } from '../../console/blocks.ts';
import { fileNotice } from '../../console/managed-by-file.ts';
import { addPage, listForm, type Visit } from '../../console/pages.ts';
import { type Sent, sentValue } from '../../console/row-buttons.ts';
import type { ConsoleServices } from '../../console-services.ts';
import { brandTabs } from '../tabs.ts';
import { changedTexts, FIELD, textSections } from './fields.ts';
import { listTexts, type TextsQuery, textsPath, textsQuery } from './list.ts';

const HERE = '/admin/branding/texts';
const CHANGE = 'gatehouse.settings:write-security' as const;
/** Twenty texts, percent-encoded. */
const MAX_FORM_BYTES = 512 * 1024;

export function textRoutes({
  frame,
  admin: { settings },
  config: { configFile },
}: ConsoleServices): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: HERE });
  addPage<SettingEntry[], Sent>(router, frame, '/', {
    needs: ['gatehouse.settings:read'],
    submitNeeds: [CHANGE],
    load: () => settings.list(),
    accepts: bodyLimit(MAX_FORM_BYTES),
    form: listForm,
    page: (visit, sent = {}) => textsPage(visit, configFile, sent),
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
  configFile: string | undefined,
  sent: Sent,
): ConsolePage {
  const query = queryOf(ctx);
  const list = listTexts(query, valuesIn(entries));
  const isFromFile = entryIn(entries)?.source === 'file';
  const mayChange = may(CHANGE) && !isFromFile;
  const sections = textSections(list.texts, { language: query.language, sent, mayChange, consoleLanguage });
  const version = versionField(sentValue(sent, VERSION) ?? etagOf(entries));
  const blocks: Block[] = [
    ...(isFromFile ? [fileNotice(configFile, 'settings')] : []),
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
    actions: [{ label: t('console.languages.tab'), href: '/admin/settings/languages' }],
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
