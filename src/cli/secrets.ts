// `gatehouse secrets rotate`: encrypts everything again under the first value of GATEHOUSE_SECRET.
import { plural } from '../base/platform/plural.ts';
import type { ResealResult } from '../server/secrets/reseal.ts';
import { type Command, jsonOption } from './command.ts';
import { withServices } from './context.ts';
import { type Io, plain } from './io.ts';

export const secretsRotate: Command = {
  name: 'secrets rotate',
  summary: 'encrypt everything again with the first value of GATEHOUSE_SECRET',
  details: `First put the new value in front of the old one and restart every server. Then run this command: servers can run meanwhile, and
you can repeat it. When "gatehouse doctor" says that everything is encrypted with the first secret, remove the old value. MACs and cookies
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
  io.note(`${table}: ${resealed + unreadable.length} …`);
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
    io.out('Everything is encrypted with the first secret.');
}
