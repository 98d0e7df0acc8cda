// `gatehouse secrets adopt`: creates the data keys and the MACs of a database of an older version.
import { plural } from '../../platform/plural.ts';
import type { Command } from '../command.ts';
import { readConfig } from '../context.ts';
import { plain } from '../io.ts';

const MAX_NAMED = 50;

export const secretsAdopt: Command = {
  name: 'secrets adopt',
  summary: 'adopt the database of an older version: create its data keys and the MACs of its rows',
  details: `Stop all servers and make a backup first. It trusts every row as it is now, so review the administrators, the
applications and the audit log first. If data keys exist already, it adds a MAC to rows that have none: rows of an older version,
and rows that you changed by SQL and whose "mac" you emptied. It never accepts a row with a wrong MAC. Another program can
empty a "mac" too: list the rows with --dry-run first, and check that you expect each of them.`,
  options: { 'dry-run': { type: 'boolean', help: 'list the rows without a MAC without changing them' } },
  async run(input, io) {
    const config = readConfig(io);
    const { adoptableRows, adoptDatabase } = await import('../../server/secrets/adopt.ts');
    if (input.flag('dry-run')) {
      for (const { table, count, names } of await adoptableRows(config, MAX_NAMED)) {
        io.out(`${table}: ${plural(count, 'row')} without a MAC.`);
        for (const name of names) io.out(plain(`  ${name}`));
        if (count > names.length) io.out(`  and ${count - names.length} more`);
      }
      return 0;
    }
    const adopted = await adoptDatabase(config);
    const changed = Object.entries(adopted).filter(([, count]) => count > 0);
    if (changed.length === 0) {
      io.err('Nothing to adopt: this database has its data keys, and every row has a MAC.');
      return 1;
    }
    for (const [table, count] of changed) io.out(`${table}: added a MAC to ${plural(count, 'row')}.`);
    return 0;
  },
};
