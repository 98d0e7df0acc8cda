// `gatehouse secrets rotate`: encrypts everything again under the first value of GATEHOUSE_SECRET.
import { plural } from '../base/platform/plural.ts';
import type { Commands } from './command.ts';

export const secretCommands: Commands = {
  'secrets rotate': {
    summary: 'encrypt everything again with the first value of GATEHOUSE_SECRET',
    details: `First put the new value in front of the old one and restart every server. Then run this command: servers can run meanwhile, and
you can repeat it. When "gatehouse doctor" says that everything is encrypted with the first secret, remove the old value. MACs and cookies
do not depend on the secret. The exit code is 1 if a value cannot be decrypted.`,
    async act({ db, vault, audit }, _input, io) {
      const { resealAll } = await import('../server/secrets/reseal.ts');
      const results = await resealAll({ db, vault }, ({ table, resealed, unreadable }) =>
        io.err(`${table}: ${resealed + unreadable.length} …`),
      );
      const changed = results.filter(({ resealed }) => resealed > 0);
      if (changed.length > 0) {
        const data = Object.fromEntries(changed.map(({ table, resealed }) => [table, resealed]));
        await audit.record({ type: 'secrets.rotated', outcome: 'success', data });
      }
      const isDone = results.every(({ resealed, unreadable }) => resealed + unreadable.length === 0);
      return {
        json: results,
        text: [
          ...changed.map(
            ({ table, resealed }) => `${table}: encrypted ${plural(resealed, 'value')} with the first secret.`,
          ),
          ...(isDone ? ['Everything is encrypted with the first secret.'] : []),
        ],
        errors: results.flatMap(({ table, unreadable }) => {
          if (unreadable.length === 0) return [];
          const rows = unreadable.slice(0, 10).join(', ');
          const values = plural(unreadable.length, 'value');
          return [`${table}: can't decrypt ${values} with any value of GATEHOUSE_SECRET: ${rows}`];
        }),
      };
    },
  },
};
