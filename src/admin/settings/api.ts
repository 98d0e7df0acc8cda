// /api/admin/settings, and /api/admin/configuration: everything as a configuration file.

import { z } from 'zod';
import { imageLimits } from '../../applications/brand/limits.ts';
import { isPicturePath, picturesIn } from '../../applications/brand/pictures.ts';
import { invalidInput } from '../../base/http/errors.ts';
import { limits } from '../../base/limits.ts';
import { inTurns } from '../../base/platform/turns.ts';
import { fault } from '../../base/texts/faults.ts';
import type { Plan } from '../../config-file/config-file.ts';
import { exportConfiguration, exportedConfiguration } from '../../config-file/export.ts';
import { settingSchemas } from '../../core/settings/settings.ts';
import { oneOf } from '../../people/rbac/rights.ts';
import type { AdminServices } from '../admin-services.ts';
import { type Endpoint, endpoint } from '../api/endpoint.ts';
import { patchOf } from '../api/parts.ts';
import type { SettingAdmin, SettingChanges } from './actions.ts';

const READS_EVERY_SECTION = [
  'gatehouse.settings:read',
  'gatehouse.applications:read',
  'gatehouse.connections:read',
  'gatehouse.roles:read',
  'gatehouse.users:read',
] as const;

/** The first is the default. */
const EXPORTS = ['application/yaml', 'application/json'] as const;

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

/** /settings. */
export function settingEndpoints(settings: SettingAdmin): Endpoint[] {
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
        'A secret that is left out stays as it is, unless the URL that it belongs to has another origin. Settings that protect the server take gatehouse.settings:write-security, the others gatehouse.settings:write. Send a picture of the brand as a data URL; responses have the name under which it is stored.',
      body: patchOf(z.strictObject(settingSchemas)),
      maxBodyBytes: imageLimits.requestBytes,
      response: settingList,
      versioned: 'changes',
      handle: async ({ body, by, version }) => listed(await settings.update(body as SettingChanges, by, version)),
    }),
  ];
}

/** /configuration and /configuration/plan. */
export function configurationEndpoints(configuration: ConfigurationAdmin): Endpoint[] {
  return [
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
      maxBodyBytes: limits.configuration.bodyBytes,
      response: plan,
      streams: ['application/json'],
      handle: async ({ body }) => ({
        stream: planText(await configuration.plan(body)),
        type: 'application/json; charset=utf-8',
      }),
    }),
    endpoint({
      method: 'get',
      path: '/configuration',
      operationId: 'exportConfiguration',
      tag: 'Settings',
      needs: READS_EVERY_SECTION,
      summary: 'Everything as a configuration file, secrets left out',
      description: 'YAML unless the Accept header prefers JSON. Gatehouse reads a file of either form.',
      streams: EXPORTS,
      async handle({ ctx }) {
        ctx.vary('Accept');
        // A caller that accepts neither gets the default (RFC 9110 12.4.1).
        const isJson = ctx.accepts(...EXPORTS) === 'application/json';
        return {
          stream: asStream(isJson ? configuration.exportJson : configuration.export),
          type: isJson ? 'application/json; charset=utf-8' : 'application/yaml',
          fileName: isJson ? 'gatehouse.json' : 'gatehouse.yaml',
        };
      },
    }),
  ];
}

/** The plan as JSON of the schema above, a few steps at a time: that of thousands of users has megabytes. */
async function* planText({ steps, unchanged, warnings }: Plan): AsyncGenerator<string> {
  yield '{';
  for (const kind of ['create', 'change', 'delete'] as const) {
    let separator = `"${kind}":[`;
    for await (const { section, name, fields } of inTurns(steps.filter((one) => one.kind === kind))) {
      yield `${separator}${JSON.stringify({ section, name, fields })}`;
      separator = ',';
    }
    yield separator === ',' ? '],' : `${separator}],`;
  }
  yield `"unchanged":${unchanged},"warnings":${JSON.stringify(warnings)}}`;
}

async function* asStream(make: () => Promise<string>): AsyncGenerator<string> {
  yield await make();
}

// The configuration file through the API: the plan of applying one, and the export of the server as one.

type ConfigurationAdmin = ReturnType<typeof createConfigurationAdmin>;

/** Plans and exports; never applies a file. */
export function createConfigurationAdmin(services: AdminServices) {
  return {
    export: () => exportConfiguration(services),
    /** Hands entries of the file back. */
    release: services.configFile.release,
    /** The same as JSON. */
    exportJson: async (): Promise<string> => JSON.stringify(await exportedConfiguration(services)),

    /** Hides secrets (`PlanOptions`). Throws invalid_input with the line and column of every fault. */
    async plan(text: string): Promise<Plan> {
      const parsed = await services.fileReader.read(text);
      // It would read a file of this server.
      const pictures = picturesIn(structuredClone(parsed.declared.settings)).filter(({ value }) =>
        isPicturePath(value),
      );
      const paths = (['service_providers', 'connections'] as const).flatMap((section) =>
        parsed.declared[section].flatMap((entry, index) =>
          'metadata_file' in entry && entry.metadata_file !== undefined
            ? [fault([section, index, 'metadata_file'], 'no-metadata-file')]
            : [],
        ),
      );
      const { clients, service_providers, proxied_applications, scim, event_streams: streams } = parsed.declared;
      const secrets = [
        ...Object.entries({ clients, service_providers, proxied_applications }).flatMap(([section, entries]) =>
          entries.map(({ provision }, index) => ({
            file: provision?.token_file,
            path: [section, index, 'provision'],
            key: 'token',
          })),
        ),
        ...scim.map(({ token_file: file }, index) => ({ file, path: ['scim', index], key: 'token' })),
        ...streams.map(({ secret_file: file }, index) => ({ file, path: ['event_streams', index], key: 'secret' })),
      ];
      for (const { file, path, key } of secrets)
        if (file !== undefined) paths.push(fault([...path, `${key}_file`], 'for-file', { key }));
      const found = [...paths, ...pictures.map(({ path }) => fault(['settings', ...path], 'picture-path'))];
      const faults = found.length > 0 ? await parsed.locate(found) : parsed.faults;
      const result =
        faults.length > 0
          ? { ok: false as const, faults }
          : await services.configFile.plan({ ...parsed, path: '' }, { hidesSecrets: true });
      if (result.ok) return result.plan;
      throw invalidInput(result.faults);
    },
  };
}
