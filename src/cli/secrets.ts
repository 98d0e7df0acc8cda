// `gatehouse secrets …`: the keys and MACs that hang on GATEHOUSE_SECRET.
import type { Command } from './command.ts';
import { readConfig } from './context.ts';

export const secretsAdopt: Command = {
  name: 'secrets adopt',
  summary: 'take over the database of an older version: make its data keys and the MACs of its rows',
  details: `Stop all servers and make a backup first. It trusts every row as it is now, so look through the administrators and the
audit log before. It does nothing where there are data keys already.`,
  async run(_input, io) {
    const config = readConfig(io);
    const { adoptDatabase } = await import('../server/adopt.ts');
    const adopted = await adoptDatabase(config);
    if (!adopted) {
      io.err('This database has its data keys already: there is nothing to adopt.');
      return 1;
    }
    for (const [table, count] of Object.entries(adopted)) io.out(`${table}: ${count} rows have a MAC now.`);
    return 0;
  },
};
