// `gatehouse export`: writes the configuration file.
import type { Command } from './command.ts';
import { withServices } from './context.ts';

export const exportCommand: Command = {
  name: 'export',
  summary: 'print the configuration as YAML, without secrets',
  run: (_input, io) =>
    withServices(io, async (services) => {
      const { exportConfiguration } = await import('../config-file/export.ts');
      io.out((await exportConfiguration(services)).trimEnd());
      return 0;
    }),
};
