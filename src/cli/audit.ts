// `gatehouse audit verify`: checks the hash chain of the audit log.
import { type Command, jsonOption } from './command.ts';
import { withServices } from './context.ts';
import { plain, showDate } from './io.ts';

export const auditVerify: Command = {
  name: 'audit verify',
  summary: 'check the hash chain of the audit log, and name the first entry that was changed or removed',
  details: `Exit code 1 when the log is not what was written. Entries join the chain some seconds after they are written;
those that have not yet are counted. GATEHOUSE_SECRET must hold the secret that the chain was last added to under.`,
  options: jsonOption,
  run: (input, io) =>
    withServices(io, async ({ auditChain }) => {
      const verdict = await auditChain.verify();
      if (input.flag('json')) io.json(verdict);
      else if (verdict.ok) {
        io.out(`${verdict.entries} entries are as they were written.`);
        if (verdict.unsealed > 0) io.out(`${verdict.unsealed} newer ones have not joined the chain yet.`);
      } else {
        const { message, seq, at } = verdict.fault;
        io.err(plain(message));
        io.err(`Place in the chain: ${seq}${at ? `, about ${showDate(at)}` : ''}. Compare with a backup or an export.`);
      }
      return verdict.ok ? 0 : 1;
    }),
};
