// The configuration file through the API: the plan of applying one, and the export of the server as one.

import { isPicturePath, picturesIn } from '../../applications/brand/pictures.ts';
import { badRequest } from '../../base/http/errors.ts';
import { faultMessage } from '../../base/platform/fault-messages.ts';
import type { ConfigFile, Plan } from '../../config-file/config-file.ts';
import type { FileReader } from '../../config-file/file-reader.ts';

export type ConfigurationAdmin = ReturnType<typeof createConfigurationAdmin>;

export interface ConfigurationAdminDependencies {
  configFile: ConfigFile;
  fileReader: FileReader;
  exportConfiguration(): Promise<string>;
  exportedConfiguration(): Promise<object>;
}

/** Plans and exports; never applies a file. */
export function createConfigurationAdmin(dependencies: ConfigurationAdminDependencies) {
  return {
    export: dependencies.exportConfiguration,
    /** The same as JSON. */
    exportJson: async (): Promise<string> => JSON.stringify(await dependencies.exportedConfiguration()),

    /** Hides secrets (`PlanOptions`). Throws invalid_input with the line and column of every fault. */
    async plan(text: string): Promise<Plan> {
      const parsed = await dependencies.fileReader.read(text);
      // It would read a file of this server.
      const pictures = picturesIn(structuredClone(parsed.declared.settings)).filter(({ value }) =>
        isPicturePath(value),
      );
      const paths = (['service_providers', 'connections'] as const).flatMap((section) =>
        parsed.declared[section].flatMap((entry, index) =>
          'metadata_file' in entry && entry.metadata_file !== undefined
            ? [{ path: [section, index, 'metadata_file'], message: faultMessage('no-metadata-file') }]
            : [],
        ),
      );
      const message = 'can’t be a path here: use a data URL';
      const found = [...paths, ...pictures.map(({ path }) => ({ path: ['settings', ...path], message }))];
      const faults = found.length > 0 ? await parsed.locate(found) : parsed.faults;
      const result =
        faults.length > 0
          ? { ok: false as const, faults }
          : await dependencies.configFile.plan({ ...parsed, path: '' }, { hidesSecrets: true });
      if (result.ok) return result.plan;
      const fields = result.faults.map(({ path, line, column, message }) => ({
        field: path || 'file',
        message: `${message} (line ${line}, column ${column})`,
      }));
      throw badRequest('invalid_input', { fields });
    },
  };
}
