// /admin/settings: what is set and by whom; changed behind a recent sign-in. What the file sets is the file's.
import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../http/context.ts';
import { badRequest } from '../../http/errors.ts';
import { parseForm } from '../../http/input.ts';
import { defaultSettings, type SettingEntry, type SettingName, settingNames, settingSchemas } from '../../settings.ts';
import type { SettingAdmin, SettingChanges } from '../settings.ts';
import { etagOf } from '../versions.ts';
import { type Cell, type Field, VERSION, versionField } from './blocks.ts';
import type { Frame, Problem } from './frame.ts';
import { lines } from './presets.ts';
import { settingTexts } from './setting-texts.ts';

const form = z.record(z.string(), z.string().max(20_000));

export function settingRoutes({ frame, settings }: { frame: Frame; settings: SettingAdmin }): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/admin/settings' });

  router.get('/', ...frame.page('gatehouse.settings:read'), async (ctx) => {
    const entries = await settings.list();
    frame.show(ctx, {
      title: 'Settings',
      actions: frame.may(ctx, 'gatehouse.settings:write')
        ? [{ label: 'Change', href: '/admin/settings/edit', look: 'primary' }]
        : [],
      blocks: [
        {
          kind: 'table',
          caption: 'Settings',
          columns: ['Setting', 'Value', 'Set by'],
          rows: entries.map(({ name, value, source }): Cell[] => [
            { text: settingTexts[name].label, small: name },
            textOf(value) === '' ? null : { text: shownValue(value), code: true },
            { default: 'default', local: 'an administrator', file: 'the configuration file' }[source],
          ]),
          empty: '',
        },
      ],
    });
  });

  router.get('/edit', ...frame.danger('gatehouse.settings:write'), async (ctx) => show(ctx, await settings.list()));

  router.post('/edit', ...frame.danger('gatehouse.settings:write'), async (ctx) => {
    const given = await parseForm(ctx, form);
    const entries = await settings.list();
    await frame.attempt(
      ctx,
      async () => {
        await settings.update(changesOf(entries, given), frame.by(ctx), given[VERSION] ?? '');
        frame.back(ctx, '/admin/settings', 'Saved.');
      },
      (problem) => show(ctx, entries, problem, given),
    );
  });

  function show(ctx: Context, entries: SettingEntry[], problem?: Problem, given: Record<string, string> = {}): void {
    const own = entries.filter(({ source }) => source !== 'file');
    const fields = [
      versionField(given[VERSION] ?? etagOf(entries)),
      ...own.map(({ name, value }) => fieldOf(name, given[name] ?? textOf(value))),
    ];
    frame.show(
      ctx,
      {
        title: 'Change settings',
        back: { href: '/admin/settings', label: 'Settings' },
        ...problem,
        blocks: [{ kind: 'form', action: '/admin/settings/edit', fields, button: 'Save', cancel: '/admin/settings' }],
      },
      problem?.status,
    );
  }

  return router;
}

const isGroup = (name: SettingName) => name === 'sms_gateway' || name === 'user_attributes';

function fieldOf(name: SettingName, value: string): Field {
  const fallback: unknown = defaultSettings[name];
  const { label, text: hint } = settingTexts[name];
  if (typeof fallback === 'boolean')
    return {
      ...{ name, label, hint },
      type: 'select',
      value,
      options: [
        { value: 'true', label: 'on' },
        { value: 'false', label: 'off' },
      ],
    };
  if (name === 'mfa')
    return {
      ...{ name, label, hint },
      type: 'select',
      value,
      options: ['off', 'optional', 'required'].map((one) => ({ value: one, label: one })),
    };
  if (typeof fallback === 'number') return { name, label, hint, type: 'number', value };
  return { name, label, hint, type: 'textarea', rows: 3, value };
}

function shownValue(value: unknown): string {
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : textOf(value);
}

function textOf(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (Array.isArray(value)) return value.join('\n');
  return typeof value === 'object' ? JSON.stringify(value, undefined, 2) : String(value);
}

/** What differs from what is there. */
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
  const parsed = settingSchemas[name].safeParse(typed(name, fallback, text));
  if (parsed.success) return parsed.data;
  throw badRequest('invalid_input', { fields: parsed.error.issues.map(({ message }) => ({ field: name, message })) });
}

function typed(name: SettingName, fallback: unknown, text: string): unknown {
  if (typeof fallback === 'boolean') return text === 'true';
  if (typeof fallback === 'number') return Number(text);
  if (Array.isArray(fallback)) return lines(text);
  if (!isGroup(name)) return text;
  try {
    return JSON.parse(text);
  } catch {
    throw badRequest('invalid_input', { fields: [{ field: name, message: 'is not JSON' }] });
  }
}
