// `gatehouse upgrade check`: what a start of this version would do to the database. It changes nothing.
import { plural } from '../../base/platform/plural.ts';
import { type Command, jsonOption, UsageError } from '../command.ts';
import { type Io, plain } from '../io.ts';
import { CREATE_BACKUP, type FaultyEnvironment, type UpgradeReport } from './report.ts';

export const upgradeCheck: Command = {
  name: 'upgrade check',
  summary: 'preview what this version changes at its first start',
  details: `Run it with the new version before its first start, while the servers of the old version run. It changes nothing. The exit code
is 1 if the start would fail.`,
  options: {
    backup: { type: 'string', value: 'FILE', help: "the backup to go back to, if it isn't in the audit log" },
    ...jsonOption,
  },
  async run(input, io) {
    const { reportOf } = await import('./report.ts');
    if (input.words.length > 0) throw new UsageError('upgrade check takes no arguments');
    const backup = input.text('backup');
    const report = await reportOf({
      ...(backup !== undefined && { backup }),
    });
    if (input.flag('json')) io.json(report);
    else printReport(report, io);
    return report.ok ? 0 : 1;
  },
};

function printReport(report: UpgradeReport | FaultyEnvironment, io: Io): void {
  if (report.database !== null) printDetails(report, io);
  for (const error of report.errors) io.out(plain(`ERROR: ${error}`));
  io.out(`${resultOf(report)} Nothing changed.`);
}

function resultOf(report: UpgradeReport | FaultyEnvironment): string {
  if (!report.ok) return "Don't start this version yet.";
  return report.backup ? 'Ready to upgrade.' : `Ready, but without a backup: ${CREATE_BACKUP}.`;
}

function printDetails(report: UpgradeReport, io: Io): void {
  const { database, migrations, disk, backup, configuration, servers } = report;
  io.out(`Gatehouse ${report.version}, ${database.kind} at ${plain(database.where)}, ${size(database.bytes)}`);
  io.out('');
  io.out(migrations.length === 0 ? 'Migrations: none to apply.' : `Migrations: ${migrations.length} to apply.`);
  for (const { name, tables } of migrations) {
    io.out(`  ${name}`);
    for (const { table, change, rows } of tables)
      io.out(`    ${table}: ${change}${rows === null || change === 'created' ? '' : `, ${plural(rows, 'row')}`}`);
  }
  io.out(
    disk.free === null
      ? `Disk: up to ${size(disk.needed)} more in the database; the free space there isn't known.`
      : `Disk: ${size(disk.free)} free, up to ${size(disk.needed)} needed${disk.ok ? '' : ': TOO LITTLE'}.`,
  );
  io.out(backup ? `Backup: ${plain(backup.file)}, ${age(backup.age_seconds)} old.` : 'Backup: NONE RECORDED.');
  for (const line of configuration) io.out(plain(`Configuration: ${line}`));
  if (configuration.length === 0) io.out('Configuration: every key and variable is known.');
  for (const { version, address, connections } of servers ?? [])
    io.out(
      `Running: Gatehouse ${version ?? '(version unknown)'} from ${address}, ${plural(connections, 'connection')}`,
    );
  if (servers === null)
    io.out('Running servers: not known on this database. Stop the server before you start the new version.');
  io.out('');
}

function size(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function age(seconds: number): string {
  if (seconds < 7200) return plural(Math.floor(seconds / 60), 'minute');
  return seconds < 172_800 ? plural(Math.floor(seconds / 3600), 'hour') : plural(Math.floor(seconds / 86_400), 'day');
}
