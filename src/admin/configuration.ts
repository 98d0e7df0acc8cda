// The configuration file through the API: what applying one would do, and what the server looks like as one.
import { badRequest } from '../http/errors.ts';
import { parseFile } from '../provisioning/file.ts';
import type { Plan, Provisioning } from '../provisioning/provisioning.ts';

export interface ConfigurationAdmin {
  /** Throws invalid_input with the place of every fault. */
  plan(text: string): Promise<Plan>;
  export(): Promise<string>;
}

export interface ConfigurationAdminNeeds {
  provisioning: Pick<Provisioning, 'plan'>;
  exportConfiguration(): Promise<string>;
}

export function createConfigurationAdmin(needs: ConfigurationAdminNeeds): ConfigurationAdmin {
  return {
    export: needs.exportConfiguration,

    async plan(text) {
      const parsed = parseFile(text);
      // A path in a file that came from elsewhere would be one on this server.
      const paths = parsed.declared.service_providers.flatMap(({ metadata_file }, index) =>
        metadata_file === undefined
          ? []
          : [{ path: ['service_providers', index, 'metadata_file'], message: 'cannot be read here: use metadata' }],
      );
      const faults = [...parsed.faults, ...parsed.locate(paths)];
      const result =
        faults.length > 0 ? { ok: false as const, faults } : await needs.provisioning.plan({ ...parsed, path: '' });
      if (result.ok) return result.plan;
      const fields = result.faults.map(({ path, line, column, message }) => ({
        field: path || 'file',
        message: `${message} (line ${line}, column ${column})`,
      }));
      throw badRequest('invalid_input', { fields });
    },
  };
}
