// The configuration file through the API: the plan of applying one, and the export of the server as one.

import { isPicturePath, picturesIn } from '../../applications/brand/pictures.ts';
import { invalidInput } from '../../base/http/errors.ts';
import { fault } from '../../base/texts/faults.ts';
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
            ? [fault([section, index, 'metadata_file'], 'no-metadata-file')]
            : [],
        ),
      );
      const found = [...paths, ...pictures.map(({ path }) => fault(['settings', ...path], 'picture-path'))];
      const faults = found.length > 0 ? await parsed.locate(found) : parsed.faults;
      const result =
        faults.length > 0
          ? { ok: false as const, faults }
          : await dependencies.configFile.plan({ ...parsed, path: '' }, { hidesSecrets: true });
      if (result.ok) return result.plan;
      throw invalidInput(result.faults);
    },
  };
}
