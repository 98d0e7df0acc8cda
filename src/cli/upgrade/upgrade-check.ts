// `gatehouse upgrade check`: what a start of this version would do to the database, tried on a copy. It changes nothing.
import { type Command, jsonOption, UsageError } from '../command.ts';
import { printReport } from './print-report.ts';

export const upgradeCheck: Command = {
  name: 'upgrade check',
  summary: 'preview what this version changes at its first start, and try it on a copy',
  details: `Run it with the new version before its first start, while the servers of the old version run. It changes nothing: the missing
migrations run on a copy of the SQLite file in the temporary folder (TMPDIR), or in a schema of the PostgreSQL database with
copied rows, in a transaction that is rolled back. The exit code is 1 if the start would fail.`,
  options: {
    backup: { type: 'string', value: 'FILE', help: "the backup to go back to, if it isn't in the audit log" },
    'schema-only': {
      type: 'boolean',
      help: 'PostgreSQL: try the migrations on empty tables, without a copy of the rows',
    },
    ...jsonOption,
  },
  async run(input, io) {
    const { reportOf } = await import('./report.ts');
    if (input.words.length > 0) throw new UsageError('upgrade check takes no arguments');
    const backup = input.text('backup');
    const report = await reportOf({
      ...(backup !== undefined && { backup }),
      withRows: !input.flag('schema-only'),
      onProgress: io.note,
    });
    if (input.flag('json')) io.json(report);
    else printReport(report, io);
    return report.ok ? 0 : 1;
  },
};
