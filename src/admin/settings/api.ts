// /api/admin/settings, and /api/admin/configuration: everything as a configuration file.
import { z } from 'zod';
import { oneOf } from '../../rbac/rights.ts';
import { settingSchemas } from '../../settings/settings.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { patchOf } from '../api/parts.ts';
import type { SettingAdmin, SettingChanges } from './actions.ts';
import type { ConfigurationAdmin } from './configuration.ts';

const MAX_FILE_BYTES = 4 * 1024 * 1024;

const READS_EVERY_SECTION = [
  'gatehouse.settings:read',
  'gatehouse.applications:read',
  'gatehouse.roles:read',
  'gatehouse.users:read',
] as const;

const setting = z
  .object({ name: z.string(), value: z.json(), source: z.enum(['default', 'local', 'file']) })
  .meta({ id: 'Setting' });
const settingList = z.object({ items: z.array(setting) });

const step = z.object({
  section: z.string(),
  name: z.string(),
  fields: z.array(z.object({ field: z.string(), from: z.json().optional(), to: z.json().optional() })),
});
const plan = z.object({
  create: z.array(step),
  change: z.array(step),
  delete: z.array(step),
  unchanged: z.int(),
  warnings: z.array(z.string()),
});

/** /settings, /configuration and /configuration/plan. */
export function settingEndpoints(settings: SettingAdmin, configuration: ConfigurationAdmin): Endpoint[] {
  const listed = (items: Awaited<ReturnType<SettingAdmin['list']>>) => ({
    body: {
      items: items.map((entry) => ({ ...entry, value: (entry.value ?? null) as z.output<typeof setting>['value'] })),
    },
    version: items,
  });

  return [
    endpoint({
      method: 'get',
      path: '/settings',
      operationId: 'listSettings',
      tag: 'Settings',
      needs: ['gatehouse.settings:read'],
      summary: 'Every setting and its source',
      response: settingList,
      versioned: 'shows',
      handle: async () => listed(await settings.list()),
    }),
    endpoint({
      method: 'patch',
      path: '/settings',
      operationId: 'updateSettings',
      tag: 'Settings',
      needs: [oneOf('gatehouse.settings:write', 'gatehouse.settings:write-security')],
      summary: 'Changes the given settings; null resets one to its default',
      description:
        'A secret that is left out stays as it is, unless the URL that it belongs to has another origin. Settings that protect the server take gatehouse.settings:write-security, the others gatehouse.settings:write.',
      body: patchOf(z.strictObject(settingSchemas)),
      response: settingList,
      versioned: 'changes',
      handle: async ({ body, by, version }) => listed(await settings.update(body as SettingChanges, by, version)),
    }),
    endpoint({
      method: 'post',
      path: '/configuration/plan',
      operationId: 'planConfiguration',
      tag: 'Settings',
      // The plan compares every section with the file, also one that the file leaves out: what the file owned would be deleted.
      needs: ['gatehouse.settings:write', ...READS_EVERY_SECTION],
      summary: 'What applying a configuration file would change; changes nothing',
      description: 'Of a password, hash, TOTP secret, client secret or token it says only that it would be set.',
      accepts: 'application/yaml',
      body: z.string(),
      maxBodyBytes: MAX_FILE_BYTES,
      response: plan,
      async handle({ body }) {
        const { steps, unchanged, warnings } = await configuration.plan(body);
        const of = (kind: string) =>
          steps
            .filter((one) => one.kind === kind)
            .map(({ section, name, fields }) => ({ section, name, fields: fields as z.output<typeof step>['fields'] }));
        return { body: { create: of('create'), change: of('change'), delete: of('delete'), unchanged, warnings } };
      },
    }),
    endpoint({
      method: 'get',
      path: '/configuration',
      operationId: 'exportConfiguration',
      tag: 'Settings',
      needs: READS_EVERY_SECTION,
      summary: 'Everything as a configuration file, secrets left out',
      streams: ['application/yaml'],
      handle: async () => ({
        stream: once(configuration.export),
        type: 'application/yaml',
        fileName: 'gatehouse.yaml',
      }),
    }),
  ];
}

async function* once(make: () => Promise<string>): AsyncGenerator<string> {
  yield await make();
}
