// The configuration file through the API: the plan of applying one, and the export of the server as one.

import { isPicturePath, picturesIn } from '../../applications/brand/pictures.ts';
import { invalidInput } from '../../base/http/errors.ts';
import { fault } from '../../base/texts/faults.ts';
import type { Plan } from '../../config-file/config-file.ts';
import { exportConfiguration, exportedConfiguration } from '../../config-file/export.ts';
import type { AdminServices } from '../admin-services.ts';

export type ConfigurationAdmin = ReturnType<typeof createConfigurationAdmin>;

/** Plans and exports; never applies a file. */
export function createConfigurationAdmin(services: AdminServices) {
  return {
    export: () => exportConfiguration(services),
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
