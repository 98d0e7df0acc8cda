// `gatehouse apply`: applies the configuration file, or prints what it would change.

import { ConfigError } from '../base/config/config-error.ts';
import type { Plan } from '../config-file/config-file.ts';
import type { FieldChange, Step, StepKind } from '../config-file/planning.ts';
import { type Command, jsonOption } from './command.ts';
import { withServices } from './context.ts';
import { type Io, plain } from './io.ts';

const signs: Record<StepKind, string> = { create: '+', change: '~', delete: '-' };
const MAX_VALUE = 60;

export const applyCommand: Command = {
  name: 'apply',
  args: ['FILE'],
  summary: 'apply a configuration file or preview its changes',
  details: `The plan is printed first: + created, ~ changed, - deleted; secrets only as "(changed)". All of it is one transaction.
Entries that are no longer in the file are deleted. Entries created elsewhere don't change.`,
  options: {
    'dry-run': { type: 'boolean', help: 'print the changes without applying them' },
    ...jsonOption,
  },
  run: (input, io) =>
    withServices(
      io,
      async ({ configFile }) => {
        const [{ readValidFile }, { formatFault }] = await Promise.all([
          import('../config-file/read-file.ts'),
          import('../config-file/file.ts'),
        ]);
        const [path = ''] = input.words;
        const file = await readValidFile(path);
        const dryRun = input.flag('dry-run');
        const result = dryRun ? await configFile.plan(file) : await configFile.apply(file);
        if (!result.ok) throw new ConfigError(result.faults.map((fault) => formatFault(path, fault)));
        if (input.flag('json')) io.json(planJson(result.plan, dryRun));
        else printPlan(result.plan, dryRun, io);
        return 0;
      },
      { mayBegin: true },
    ),
};

function planJson({ steps, unchanged, warnings }: Plan, dryRun: boolean) {
  const of = (kind: StepKind) =>
    steps
      .filter((step) => step.kind === kind)
      .map(({ section, name, fields }) => ({ section, name, ...(kind === 'delete' ? {} : { fields }) }));
  return { applied: !dryRun, create: of('create'), change: of('change'), delete: of('delete'), unchanged, warnings };
}

function printPlan({ steps, unchanged, warnings }: Plan, dryRun: boolean, io: Io): void {
  for (const step of steps) {
    io.out(`${signs[step.kind]} ${step.section} ${plain(step.name)}`);
    if (step.kind === 'change') for (const field of step.fields) io.out(`    ${fieldLine(field)}`);
  }
  for (const warning of warnings) io.note(`warning: ${plain(warning)}`);
  const count = (kind: StepKind) => steps.filter((step: Step) => step.kind === kind).length;
  const counts = `${count('create')} created, ${count('change')} changed, ${count('delete')} deleted, ${unchanged} unchanged`;
  io.out(dryRun ? `Dry run: ${counts}. Nothing changed.` : `Applied: ${counts}`);
}

function fieldLine({ field, from, to }: FieldChange): string {
  if (to === '(changed)') return `${field} ${to}`;
  return `${field}: ${formatted(from)} -> ${formatted(to)}`;
}

function formatted(value: unknown): string {
  if (value === undefined) return '(none)';
  const text = plain(typeof value === 'string' ? value : JSON.stringify(value));
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE - 1)}…` : text;
}

// `gatehouse export`: writes the configuration file.

export const exportCommand: Command = {
  name: 'export',
  summary: 'print the configuration as YAML, without secrets',
  run: (_input, io) =>
    withServices(io, async (services) => {
      const { exportConfiguration } = await import('../config-file/export.ts');
      io.out((await exportConfiguration(services)).trimEnd());
      return 0;
    }),
};
