// /admin/security and /admin/settings: the settings in tabs, each with its source; /admin/settings/edit: all of them on one page.

import Router from '@koa/router';
import { z } from 'zod';
import type { Config } from '../../base/config.ts';
import type { Context, Extras, State } from '../../base/http/context.ts';
import { parseForm } from '../../base/http/input.ts';
import { packageVersion } from '../../base/platform/package.ts';
import { t, textAt } from '../../base/texts/text.ts';
import type { SettingEntry, SettingName } from '../../core/settings/settings.ts';
import { oneOf } from '../../people/rbac/rights.ts';
import { etagOf } from '../api/versions.ts';
import { type Block, type ConsolePage, type Field, type FormBlock, VERSION, versionField } from '../console/blocks.ts';
import { fileNotice } from '../console/managed-by-file.ts';
import { isRowButton, type Sent, sentValue } from '../console/row-buttons.ts';
import type { ConsoleServices } from '../console-services.ts';
import { changesOf, fieldsOf, type Lock, type SettingField, settingsIn, switchesField } from './console-fields.ts';
import { SECURITY, SETTINGS, type SettingGroup, type SettingTab, settingPermission } from './setting-tabs.ts';

const READ = 'gatehouse.settings:read' as const;
const CHANGE = oneOf('gatehouse.settings:write', 'gatehouse.settings:write-security');
const ALL = '/admin/settings/edit';
const form = z.record(z.string(), z.array(z.string().max(20_000)));

/** All pages below /admin/security and /admin/settings. */
export function settingRoutes(services: ConsoleServices): Router<State, Extras> {
  const { frame } = services;
  const router = new Router<State, Extras>();
  const { show, save } = createPages(services);

  for (const group of [SECURITY, SETTINGS])
    for (const tab of group.tabs) {
      router.get(tab.href, ...frame.page(READ), (ctx) => show(ctx, { group, tab }));
      if (tab.boxes.length > 0)
        router.post(tab.href, ...frame.change(CHANGE), (ctx) => save(ctx, tab.href, { group, tab }));
    }
  router.get(ALL, ...frame.page(CHANGE), (ctx) => show(ctx, 'all'));
  router.post(ALL, ...frame.change(CHANGE), (ctx) => save(ctx, '/admin/settings', 'all'));
  return router;
}

type Place = { group: SettingGroup; tab: SettingTab } | 'all';

function createPages({ frame, admin: { settings }, config }: ConsoleServices) {
  function lockOf(ctx: Context, { name, source }: SettingEntry): Lock {
    if (source === 'file') return 'file';
    return frame.may(ctx, settingPermission(name)) ? undefined : 'permission';
  }

  function pageOf(ctx: Context, place: Place, entries: SettingEntry[], sent: Sent = {}): ConsolePage {
    const found = (name: SettingName): SettingField[] =>
      entries.flatMap((entry) => (entry.name === name ? [{ entry, lock: lockOf(ctx, entry) }] : []));
    if (place === 'all') {
      const boxes = [SECURITY, SETTINGS].flatMap(({ tabs }) => tabs.flatMap((tab) => tab.boxes));
      const editable = (name: SettingName) => found(name).filter(({ lock }) => lock === undefined);
      return {
        title: t('console.settings.all'),
        lead: t('console.settings.all.lead'),
        back: { href: '/admin/settings', label: t('console.navigation.settings') },
        blocks: [formBlock(ALL, boxes, editable, { entries, sent, cancel: '/admin/settings' })],
      };
    }
    const { group, tab } = place;
    const blocks: Block[] =
      tab.boxes.length > 0
        ? [formBlock(tab.href, tab.boxes, found, { entries, sent, cancel: tab.href })]
        : [systemBlock(config)];
    const names = tab.boxes.flatMap(settingsIn);
    const isDeclared = entries.some(({ name, source }) => source === 'file' && names.includes(name));
    return {
      title: group.title,
      lead: tab.lead,
      tabs: group.tabs.map(({ href, label }) => ({ href, label, isCurrent: href === tab.href })),
      ...(tab.links && { actions: tab.links }),
      ...(tab.boxes.length === 0 &&
        frame.meets(ctx, CHANGE) && { actions: [{ label: t('console.settings.all.link'), href: ALL }] }),
      blocks: isDeclared ? [fileNotice(config.configFile, 'settings'), ...blocks] : blocks,
    };
  }

  return {
    async show(ctx: Context, place: Place): Promise<void> {
      frame.show(ctx, pageOf(ctx, place, await settings.list()));
    },

    async save(ctx: Context, next: string, place: Place): Promise<void> {
      const sent: Sent = await parseForm(ctx, form, { lists: 'every field' });
      const entries = await settings.list();
      if (isRowButton(sent)) return frame.show(ctx, pageOf(ctx, place, entries, sent));
      await frame.attempt(
        ctx,
        async () => {
          await settings.update(changesOf(entries, sent), frame.actor(ctx), sentValue(sent, VERSION) ?? '');
          frame.redirect(ctx, next, t('console.shared.saved'));
        },
        () => pageOf(ctx, place, entries, sent),
      );
    },
  };
}

/** What the environment says about this server, without secrets. */
function systemBlock(config: Config): Block {
  const { configFile, databaseKind, issuer, mailFrom, smtpUrl, trustProxy, workers } = config;
  const rows = [
    { label: t('console.settings.system.version'), value: packageVersion() },
    {
      label: t('console.settings.system.address'),
      value: { text: issuer, copy: t('console.settings.system.address.copy') },
    },
    { label: t('console.settings.system.database'), value: databaseKind === 'sqlite' ? 'SQLite' : 'PostgreSQL' },
    {
      label: t('console.settings.system.mail-server'),
      value: smtpUrl ? new URL(smtpUrl).host : t('console.settings.system.no-mail-server'),
    },
    { label: t('console.settings.system.mail-sender'), value: mailFrom },
    {
      label: t('console.page.configuration-file'),
      value: configFile ? { text: configFile, code: true } : t('console.settings.system.no-file'),
    },
    { label: t('console.settings.system.proxies'), value: String(trustProxy) },
    { label: t('console.settings.system.processes'), value: String(workers) },
  ];
  return { kind: 'facts', title: t('console.settings.server'), lead: t('console.settings.server.lead'), rows };
}

/** A box for each part; without a button where nothing can be changed. */
function formBlock(
  action: string,
  boxes: SettingTab['boxes'],
  find: (name: SettingName) => SettingField[],
  { entries, sent, cancel }: { entries: SettingEntry[]; sent: Sent; cancel: string },
): FormBlock {
  const onPage = boxes.flatMap(settingsIn).flatMap(find);
  const mayChange = onPage.some(({ lock }) => lock === undefined);
  const sections = boxes.flatMap((name) => {
    const fields = settingsIn(name)
      .flatMap(find)
      .flatMap((field) => fieldsOf(field, sent, entries));
    const hasRows = fields.some(({ type }) => type === 'rows');
    const lead = textAt(`console.settings.box.${name}.lead`);
    const box = { title: textAt(`console.settings.box.${name}`) ?? name, ...(lead && { lead }) };
    if (!hasRows) return [{ ...box, fields }];
    const isArea = ({ type }: Field) => type === 'textarea';
    return [
      { ...box, fields: fields.filter((field) => !isArea(field)) },
      {
        title: t('console.settings.schema'),
        isAdvanced: true,
        summary: t('console.settings.schema.summary'),
        fields: fields.filter(isArea),
      },
    ];
  });
  return {
    kind: 'form',
    action,
    fields: mayChange ? [versionField(sentValue(sent, VERSION) ?? etagOf(entries)), switchesField(onPage)] : [],
    sections: sections.filter(({ fields }) => fields.length > 0),
    ...(mayChange && { button: t('console.shared.save-changes'), cancel, cancelLabel: t('console.shared.discard') }),
  };
}
