// `gatehouse verify FILE`: checks a backup without restoring it.
import path from 'node:path';
import { loadConfig } from '../../base/config.ts';
import { systemClock } from '../../base/platform/clock.ts';
import { type Command, jsonOption } from '../command.ts';
import { printFindings } from '../doctor/findings.ts';
import { progressPrinter } from './progress.ts';

export const verifyCommand: Command = {
  name: 'verify',
  args: ['FILE'],
  summary: 'check that a backup is complete and intact, and that the secret opens it',
  details: `It works on a copy in the temporary folder (TMPDIR), and changes neither the backup nor the database. With the server's
secret, it also verifies the MAC of each row and the audit log. The exit code is 1 if a check failed.`,
  options: jsonOption,
  async run(input, io) {
    const config = loadConfig(undefined, { readOnly: true });
    const { verifyBackup } = await import('./verify-checks.ts');
    const file = path.resolve(input.words[0] ?? '');
    io.note('Reading the backup…');
    const result = await verifyBackup({ file, config, now: systemClock, onProgress: progressPrinter(io) });
    if (input.flag('json')) io.json(result);
    else printFindings(result.findings, io);
    return result.ok ? 0 : 1;
  },
};
