// /admin/settings: the settings and their sources, and a form behind a recent sign-in. Those of the file are read-only.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../http/context.ts';
import { badRequest } from '../../http/errors.ts';
import { parseForm } from '../../http/input.ts';
import { oneOf } from '../../rbac/rights.ts';
import {
  defaultSettings,
  type SettingEntry,
  type SettingName,
  settingNames,
  settingSchemas,
} from '../../settings/settings.ts';
import { etagOf } from '../api/versions.ts';
import { type Cell, type ConsolePage, type Field, VERSION, versionField } from '../console/blocks.ts';
import type { Frame } from '../console/frame.ts';
import { lines } from '../console/text-area.ts';
import type { SettingAdmin, SettingChanges } from './actions.ts';
import { settingTexts } from './console-texts.ts';
import { settingPermission } from './setting-groups.ts';

const CHANGE = oneOf('gatehouse.settings:write', 'gatehouse.settings:write-security');
const form = z.record(z.string(), z.string().max(20_000));

/** All pages below /admin/settings. */
export function settingRoutes({ frame, settings }: { frame: Frame; settings: SettingAdmin }): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/settings' });

  router.get('/', ...frame.page('gatehouse.settings:read'), async (ctx) => {
    frame.show(ctx, settingsPage(await settings.list(), frame.meets(ctx, CHANGE)));
  });

  router.get('/edit', ...frame.page(CHANGE), async (ctx) => {
    frame.show(ctx, editPage(ctx, await settings.list()));
  });

  router.post('/edit', ...frame.change(CHANGE), async (ctx) => {
    const given = await parseForm(ctx, form);
    const entries = await settings.list();
    await frame.attempt(
      ctx,
      async () => {
        await settings.update(changesOf(entries, given), frame.actor(ctx), given[VERSION] ?? '');
        frame.redirect(ctx, '/admin/settings', 'Saved.');
      },
      () => editPage(ctx, entries, given),
    );
  });

  function editPage(ctx: Context, entries: SettingEntry[], given: Record<string, string> = {}): ConsolePage {
    const editable = entries.filter(({ name, source }) => source !== 'file' && frame.may(ctx, settingPermission(name)));
    const fields = [
      versionField(given[VERSION] ?? etagOf(entries)),
      ...editable.map(({ name, value }) => fieldOf(name, given[name] ?? textOf(value))),
    ];
    return {
      title: 'Change settings',
      back: { href: '/admin/settings', label: 'Settings' },
      blocks: [{ kind: 'form', action: '/admin/settings/edit', fields, button: 'Save', cancel: '/admin/settings' }],
    };
  }

  return router;
}

function settingsPage(entries: SettingEntry[], mayChange: boolean): ConsolePage {
  return {
    title: 'Settings',
    lead: 'How this server behaves, and where each value comes from.',
    actions: mayChange ? [{ label: 'Change', href: '/admin/settings/edit', look: 'primary' }] : [],
    blocks: [
      {
        kind: 'table',
        caption: 'Settings',
        columns: ['Setting', 'Value', 'Set by'],
        rows: entries.map(({ name, value, source }): Cell[] => [
          { text: settingTexts[name].label, small: name },
          textOf(value) === '' ? null : { text: displayValue(value), code: true },
          { default: 'default', local: 'an administrator', file: 'the configuration file' }[source],
        ]),
        empty: '',
      },
    ],
  };
}

const isJson = (name: SettingName) => name === 'sms_gateway' || name === 'user_attributes';

const CHOICES: { [Name in SettingName]?: readonly string[] } = {
  mfa: ['off', 'optional', 'required'],
  admin_mfa: ['optional', 'required', 'phishing-resistant'],
  first_factor: ['open', 'window', 'approval'],
};

function fieldOf(name: SettingName, value: string): Field {
  const fallback: unknown = defaultSettings[name];
  const { label, text: hint } = settingTexts[name];
  if (typeof fallback === 'boolean')
    return {
      name,
      label,
      hint,
      type: 'select',
      value,
      options: [
        { value: 'true', label: 'on' },
        { value: 'false', label: 'off' },
      ],
    };
  const choices = CHOICES[name];
  if (choices)
    return {
      name,
      label,
      hint,
      type: 'select',
      value,
      options: choices.map((one) => ({ value: one, label: one })),
    };
  if (typeof fallback === 'number') return { name, label, hint, type: 'number', value };
  return { name, label, hint, type: 'textarea', rows: 3, value };
}

function displayValue(value: unknown): string {
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : textOf(value);
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.join('\n');
  return typeof value === 'object' ? JSON.stringify(value, undefined, 2) : String(value);
}

/** The settings that differ from the stored ones. */
function changesOf(entries: readonly SettingEntry[], given: Record<string, string>): SettingChanges {
  const changes: [SettingName, unknown][] = [];
  for (const name of settingNames) {
    const [text, before] = [given[name], entries.find((entry) => entry.name === name)];
    if (text === undefined || before?.source === 'file' || text.trim() === textOf(before?.value).trim()) continue;
    changes.push([name, parsedValue(name, text.trim())]);
  }
  return Object.fromEntries(changes) as SettingChanges;
}

function parsedValue(name: SettingName, text: string): unknown {
  const fallback: unknown = defaultSettings[name];
  if (text === '' && !Array.isArray(fallback)) return null;
  const parsed = settingSchemas[name].safeParse(settingValueOf(name, fallback, text));
  if (parsed.success) return parsed.data;
  throw badRequest('invalid_input', { fields: parsed.error.issues.map(({ message }) => ({ field: name, message })) });
}

function settingValueOf(name: SettingName, fallback: unknown, text: string): unknown {
  if (typeof fallback === 'boolean') return text === 'true';
  if (typeof fallback === 'number') return Number(text);
  if (Array.isArray(fallback)) return lines(text);
  if (!isJson(name)) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('invalid_input', { fields: [{ field: name, message: 'is not JSON' }] });
  }
}
