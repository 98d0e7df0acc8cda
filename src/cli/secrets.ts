// `gatehouse secrets …`: the keys and MACs that hang on GATEHOUSE_SECRET.

import { plural } from '../platform/plural.ts';
import type { ResealResult } from '../server/secrets/reseal.ts';
import { type Command, jsonOption } from './command.ts';
import { readConfig, withServices } from './context.ts';
import { type Io, plain } from './io.ts';

export const secretsRotate: Command = {
  name: 'secrets rotate',
  summary: 'encrypt everything again under the first value of GATEHOUSE_SECRET',
  details: `First put the new value in front of the old one and restart every server. Then run this command: servers can run meanwhile, and
you can repeat it. When "gatehouse doctor" says that everything is under the first secret, remove the old value. MACs and cookies
do not depend on the secret. The exit code is 1 if a value cannot be decrypted.`,
  options: jsonOption,
  run: (input, io) =>
    withServices(io, async ({ db, vault, audit }) => {
      const { resealAll } = await import('../server/secrets/reseal.ts');
      const results = await resealAll({ db, vault }, (result) => printProgress(result, io));
      const changed = results.filter(({ resealed }) => resealed > 0);
      if (changed.length > 0) {
        const data = Object.fromEntries(changed.map(({ table, resealed }) => [table, resealed]));
        await audit.record({ type: 'secrets.rotated', outcome: 'success', data });
      }
      if (input.flag('json')) io.json(results);
      else printResults(results, io);
      return results.some(({ unreadable }) => unreadable.length > 0) ? 1 : 0;
    }),
};

function printProgress({ table, resealed, unreadable }: ResealResult, io: Io): void {
  io.err(`${table}: ${resealed + unreadable.length} …`);
}

function printResults(results: readonly ResealResult[], io: Io): void {
  for (const { table, resealed, unreadable } of results) {
    if (resealed > 0) io.out(`${table}: encrypted ${plural(resealed, 'value')} with the first secret.`);
    if (unreadable.length > 0) {
      const rows = unreadable.slice(0, 10).join(', ');
      io.err(
        plain(
          `${table}: can't decrypt ${plural(unreadable.length, 'value')} with any value of GATEHOUSE_SECRET: ${rows}`,
        ),
      );
    }
  }
  if (results.every(({ resealed, unreadable }) => resealed + unreadable.length === 0))
    io.out('Everything is under the first secret.');
}

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
    const { adoptableRows, adoptDatabase } = await import('../server/secrets/adopt.ts');
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
