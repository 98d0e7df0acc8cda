// /admin/security and /admin/settings: the settings in tabs, each with its source; /admin/settings/edit: all of them on one page.

import Router from '@koa/router';
import { z } from 'zod';
import type { Extras, State } from '../../base/http/context.ts';
import { packageVersion } from '../../base/platform/package.ts';
import { t, textAt } from '../../base/texts/text.ts';
import { settingLabel } from '../../core/audit/sentence.ts';
import type { SettingEntry, SettingName } from '../../core/settings/settings.ts';
import { oneOf, RELEASE } from '../../people/rbac/rights.ts';
import { etagOf } from '../api/versions.ts';
import { type Block, type ConsolePage, type Field, type FormBlock, VERSION, versionField } from '../console/blocks.ts';
import { tableOf } from '../console/lists.ts';
import { fileNotice, releaseQuestion } from '../console/managed-by-file.ts';
import { userMarkOf } from '../console/names.ts';
import { addPage, addQuestion, listForm, type Visit } from '../console/pages.ts';
import { type Sent, sentValue } from '../console/row-buttons.ts';
import type { ConsoleServices } from '../console-services.ts';
import { documentPath } from '../documents/documents.ts';
import { testForm } from '../mail/console.ts';
import { unusedCell } from '../users/console-list.ts';
import { changesOf, fieldsOf, type Lock, type SettingField, settingsIn, switchesField } from './console-fields.ts';
import { retentionBlock } from './retention.ts';
import { SECURITY, SETTINGS, type SettingGroup, type SettingTab, settingPermission } from './setting-tabs.ts';

const CHANGE = oneOf('gatehouse.settings:write', 'gatehouse.settings:write-security');
const ALL = '/admin/settings/edit';
const WRITE = 'gatehouse.settings:write' as const;
/** The field with the names of settings that are taken out of the file. */
const NAMES = 'names';

/** All pages below /admin/security and /admin/settings. */
export function settingRoutes(services: ConsoleServices): Router<State, Extras> {
  const { frame } = services;
  const { settings } = services.admin;
  const router = new Router<State, Extras>();
  const page = { load: () => settings.list(), form: listForm };
  const save =
    (to: string) =>
    async ({ by, subject: entries }: Visit<SettingEntry[]>, sent: Sent) => {
      await settings.update(changesOf(entries, sent), by, sentValue(sent, VERSION) ?? '');
      return { to, notice: t('console.shared.saved') };
    };
  for (const group of [SECURITY, SETTINGS])
    for (const tab of group.tabs)
      addPage<SettingEntry[], Sent>(router, frame, tab.href, {
        ...page,
        needs: ['gatehouse.settings:read'],
        submitNeeds: [CHANGE],
        page: (visit, sent = {}) => tabPage(services, visit, { group, tab }, sent),
        ...(tab.boxes.length > 0 && { submit: save(tab.href) }),
      });
  addPage<SettingEntry[], Sent>(router, frame, ALL, {
    ...page,
    needs: [CHANGE],
    page: (visit, sent = {}) => allPage(services, visit, sent),
    submit: save('/admin/settings'),
  });
  addQuestion<SettingEntry[]>(router, frame, '/admin/settings/release', {
    ...releaseQuestion<SettingEntry[]>(services, [WRITE], {
      entriesOf: (_entries, { [NAMES]: names = [] }) => names.map((name) => ({ section: 'settings', name })),
      home: () => ({ href: '/admin/settings', label: t('console.navigation.settings') }),
    }),
    title: () => t('console.settings.release-title'),
    lead: () => t('console.settings.release-lead', { file: services.config.configFile ?? 'none' }),
    load: () => settings.list(),
    body: z.object({ [NAMES]: z.array(z.string()).min(1) }),
    fields: ({ ctx, subject }) => [
      {
        name: NAMES,
        label: t('console.settings.release-choice'),
        type: 'checks',
        isWide: true,
        required: true,
        values: new URLSearchParams(ctx.querystring).getAll(NAMES),
        options: subject
          .filter(({ source }) => source === 'file')
          .map(({ name }) => ({ value: name, label: settingLabel(name), hint: name })),
      },
    ],
  });
  return router;
}

/** What `fileNotice` says about these settings of the file, with the link to take them out of it. */
export const settingsOfFile = (
  { config: { configFile } }: ConsoleServices,
  may: Visit<unknown>['may'],
  names: readonly string[],
): Block => fileNotice(configFile, 'settings', may(RELEASE) && may(WRITE) && '/admin/settings', names);

/** A setting, and whether the administrator may change it here. */
function settingIn(
  { mailServer: { fromEnvironment } }: ConsoleServices,
  { subject, may }: Visit<SettingEntry[]>,
  name: SettingName,
): SettingField[] {
  const given = fromEnvironment[name];
  if (given) {
    const { variable, value } = given;
    return [{ entry: { name, value, source: 'local' }, lock: { variable } }];
  }
  const lockOf = ({ source }: SettingEntry): Lock =>
    source === 'file' ? 'file' : may(settingPermission(name)) ? undefined : 'permission';
  return subject.flatMap((entry) => (entry.name === name ? [{ entry, lock: lockOf(entry) }] : []));
}

/** Every setting that the administrator may change. */
function allPage(services: ConsoleServices, visit: Visit<SettingEntry[]>, sent: Sent): ConsolePage {
  const boxes = [SECURITY, SETTINGS].flatMap(({ tabs }) => tabs.flatMap((tab) => tab.boxes));
  const editable = (name: SettingName) => settingIn(services, visit, name).filter(({ lock }) => lock === undefined);
  return {
    title: t('console.settings.all'),
    lead: t('console.settings.all.lead'),
    back: { href: '/admin/settings', label: t('console.navigation.settings') },
    blocks: [formBlock(ALL, boxes, editable, { entries: visit.subject, sent, cancel: '/admin/settings' })],
  };
}

async function tabPage(
  services: ConsoleServices,
  visit: Visit<SettingEntry[]>,
  { group, tab: { href, lead, boxes, links } }: { group: SettingGroup; tab: SettingTab },
  sent: Sent,
): Promise<ConsolePage> {
  const { subject: entries, meets, may } = visit;
  const names = boxes.flatMap(settingsIn);
  const declared = entries.flatMap(({ name, source }) => (source === 'file' && names.includes(name) ? name : []));
  const isSystem = boxes.length === 0;
  const all = isSystem && meets(CHANGE) ? [{ label: t('console.settings.all.link'), href: ALL }] : undefined;
  const actions = links ?? all;
  const find = (name: SettingName) => settingIn(services, visit, name);
  return {
    title: group.title,
    lead,
    tabs: group.tabs.map((tab) => ({ href: tab.href, label: tab.label, isCurrent: tab.href === href })),
    ...(actions && { actions }),
    blocks: [
      ...(declared.length > 0 ? [settingsOfFile(services, may, declared)] : []),
      ...(isSystem
        ? [systemBlock(services), AS_FILE]
        : [formBlock(href, boxes, find, { entries, sent, cancel: href })]),
      ...(boxes.includes('mail-server') && may('gatehouse.mail:write')
        ? [testForm({ to: services.frame.account(visit.ctx).email, from: 'settings' })]
        : []),
      ...(boxes.includes('retention')
        ? [...(await unusedBlock(visit, services)), await retentionBlock(services.admin.retention)]
        : []),
    ],
  };
}

/** The commands that keep all of this in a file. */
const AS_FILE: Block = {
  kind: 'text',
  tone: 'notice',
  text: t('console.settings.as-file'),
  link: { label: t('console.settings.as-file.link'), href: documentPath('configuration', 'configuration-in-git') },
};

/** The unused accounts that are disabled or deleted soon. */
async function unusedBlock({ by }: Visit<unknown>, { admin, names }: ConsoleServices): Promise<Block[]> {
  const soon = await admin.users.unusedSoon(by);
  if (soon.length === 0) return [];
  const users = await names.users(soon.map(({ id }) => id));
  return [
    {
      kind: 'table',
      title: t('console.overview.unused'),
      lead: t('console.users.unused-lead'),
      ...tableOf(soon, [
        [t('console.overview.user'), ({ id }) => userMarkOf(id, users)],
        [t('console.users.unused-then'), ({ end }) => unusedCell(end)],
      ]),
    },
  ];
}

/** What the environment says about this server, without secrets. */
function systemBlock({ config, admin: { mail } }: ConsoleServices): Block {
  const { configFile, databaseKind, issuer, trustProxy, workers } = config;
  const { host, sender } = mail.server();
  const rows = [
    { label: t('console.settings.system.version'), value: packageVersion() },
    {
      label: t('console.settings.system.address'),
      value: { text: issuer, copy: t('console.settings.system.address.copy') },
    },
    { label: t('console.settings.system.database'), value: databaseKind === 'sqlite' ? 'SQLite' : 'PostgreSQL' },
    {
      label: t('console.settings.system.mail-server'),
      value: host ?? t('console.settings.system.no-mail-server'),
    },
    { label: t('console.settings.system.mail-sender'), value: sender },
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
