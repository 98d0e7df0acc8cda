// `gatehouse upgrade check`: what a start of this version would do to the database, tried on a copy. It changes nothing.
import { type Command, jsonOption, UsageError } from '../command.ts';
import { type Io, plain } from '../io.ts';
import type { UpgradeReport } from './report.ts';

export const upgradeCheck: Command = {
  name: 'upgrade check',
  summary: 'say what a start of this version would change, and try it on a copy',
  details: `Run it with the new version before its first start, while the servers of the old version run. It changes nothing: the missing
migrations run on a copy of the SQLite file in the temporary folder (TMPDIR), or in a schema of the PostgreSQL database with
copied rows, in a transaction that is rolled back. Exit code 1 when the start would fail.`,
  options: {
    backup: { type: 'string', value: 'FILE', help: 'the backup to go back to, if the audit log does not record it' },
    'schema-only': {
      type: 'boolean',
      help: 'PostgreSQL: try the migrations on empty tables, without a copy of the rows',
    },
    ...jsonOption,
  },
  async run(input, io) {
    const { reportOf } = await import('./report.ts');
    if (input.words.length > 0) throw new UsageError('upgrade check takes no argument');
    const backup = input.text('backup');
    const report = await reportOf({
      ...(backup !== undefined && { backup }),
      withRows: !input.flag('schema-only'),
      onProgress: io.err,
    });
    if (input.flag('json')) io.json(report);
    else print(report, io);
    return report.ok ? 0 : 1;
  },
};

function print(report: UpgradeReport, io: Io): void {
  const { database, migrations, trial, disk, backup, configuration, servers } = report;
  io.out(`Gatehouse ${report.version}, ${database.kind} at ${plain(database.where)}, ${size(database.bytes)}`);
  io.out('');
  io.out(
    migrations.length === 0 ? 'Migrations: none is missing.' : `Migrations: ${migrations.length} would be applied.`,
  );
  for (const { name, tables } of migrations) {
    io.out(`  ${name}`);
    for (const { table, change, rows } of tables)
      io.out(`    ${table}: ${change}${rows === null || change === 'created' ? '' : `, ${rows} rows`}`);
  }
  if (trial?.ok && trial.on === 'nothing') io.out(`Trial: not possible (${trial.where}).`);
  else if (trial?.ok) io.out(`Trial: they succeed on a ${trial.on} (${trial.where}), in ${trial.seconds} s.`);
  if (trial && !trial.ok)
    io.out(plain(`Trial: FAILED on ${trial.on} (${trial.where}). ${trial.failed?.name}: ${trial.failed?.message}`));
  io.out(
    disk.free === null
      ? `Disk: up to ${size(disk.needed)} more in the database; what is free there is not known from here.`
      : `Disk: ${size(disk.free)} free, up to ${size(disk.needed)} needed${disk.ok ? '' : ': TOO LITTLE'}.`,
  );
  io.out(
    backup
      ? `Backup: ${plain(backup.file)}, ${age(backup.age_seconds)} old.`
      : 'Backup: none is recorded. Make one first: gatehouse backup FILE',
  );
  for (const line of configuration) io.out(plain(`Configuration: ${line}`));
  if (configuration.length === 0) io.out('Configuration: every key and variable is known.');
  for (const { version, address, connections } of servers ?? [])
    io.out(`Running: Gatehouse ${version ?? '(version unknown)'} from ${address}, ${connections} connections`);
  if (servers === null)
    io.out('Running servers: not known on this database. Stop the server before you start the new version.');
  io.out('');
  for (const problem of report.problems) io.out(plain(`PROBLEM: ${problem}`));
  io.out(
    report.ok ? 'The upgrade can start. Nothing was changed.' : 'Do not start this version yet. Nothing was changed.',
  );
}

function size(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function age(seconds: number): string {
  if (seconds < 7200) return `${Math.floor(seconds / 60)} minutes`;
  return seconds < 172_800 ? `${Math.floor(seconds / 3600)} hours` : `${Math.floor(seconds / 86_400)} days`;
}
