// `gatehouse upgrade check`: what a start of this version would do to the database. It changes nothing.
import { plural } from '../../base/platform/plural.ts';
import { type Commands, jsonOption } from '../command.ts';
import { CREATE_BACKUP, type FaultyEnvironment, type UpgradeReport } from './report.ts';

export const upgradeCommands: Commands = {
  'upgrade check': {
    summary: 'preview what this version changes at its first start',
    details: `Run it with the new version before its first start, while the servers of the old version run. It changes nothing. The exit code
is 1 if the start would fail.`,
    options: {
      backup: { type: 'string', value: 'FILE', help: "the backup to go back to, if it isn't in the audit log" },
      ...jsonOption,
    },
    async run(input) {
      const { reportOf } = await import('./report.ts');
      const backup = input.text('backup');
      const report = await reportOf({ ...(backup !== undefined && { backup }) });
      return {
        json: report,
        text: [
          ...(report.database === null ? [] : detailsOf(report)),
          ...report.errors.map((error) => `ERROR: ${error}`),
          `${resultOf(report)} Nothing changed.`,
        ],
        code: report.ok ? 0 : 1,
      };
    },
  },
};

function resultOf(report: UpgradeReport | FaultyEnvironment): string {
  if (!report.ok) return "Don't start this version yet.";
  return report.backup ? 'Ready to upgrade.' : `Ready, but without a backup: ${CREATE_BACKUP}.`;
}

function detailsOf(report: UpgradeReport): string[] {
  const { database, migrations, disk, backup, configuration, servers } = report;
  const changes = migrations.flatMap(({ name, tables }) => [
    `  ${name}`,
    ...tables.map(
      ({ table, change, rows }) =>
        `    ${table}: ${change}${rows === null || change === 'created' ? '' : `, ${plural(rows, 'row')}`}`,
    ),
  ]);
  return [
    `Gatehouse ${report.version}, ${database.kind} at ${database.where}, ${size(database.bytes)}`,
    '',
    migrations.length === 0 ? 'Migrations: none to apply.' : `Migrations: ${migrations.length} to apply.`,
    ...changes,
    disk.free === null
      ? `Disk: up to ${size(disk.needed)} more in the database; the free space there isn't known.`
      : `Disk: ${size(disk.free)} free, up to ${size(disk.needed)} needed${disk.ok ? '' : ': TOO LITTLE'}.`,
    backup ? `Backup: ${backup.file}, ${age(backup.age_seconds)} old.` : 'Backup: NONE RECORDED.',
    ...(configuration.length === 0
      ? ['Configuration: every key and variable is known.']
      : configuration.map((line) => `Configuration: ${line}`)),
    ...(servers ?? []).map(
      ({ version, address, connections }) =>
        `Running: Gatehouse ${version ?? '(version unknown)'} from ${address}, ${plural(connections, 'connection')}`,
    ),
    ...(servers === null
      ? ['Running servers: not known on this database. Stop the server before you start the new version.']
      : []),
    '',
  ];
}

function size(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MB`;
}

function age(seconds: number): string {
  if (seconds < 7200) return plural(Math.floor(seconds / 60), 'minute');
  return seconds < 172_800 ? plural(Math.floor(seconds / 3600), 'hour') : plural(Math.floor(seconds / 86_400), 'day');
}
