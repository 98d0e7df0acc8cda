// `gatehouse plan`, `apply`, `release` and `export`: the configuration file and the database.

import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { ConfigError } from '../base/config/config-error.ts';
import type { Plan } from '../config-file/config-file.ts';
import { type FieldChange, isTakeOver, type Step, type StepKind } from '../config-file/planning.ts';
import type { Services } from '../server/services.ts';
import { type Commands, type Result, UsageError } from './command.ts';
import { withServices } from './context.ts';
import { plain } from './io.ts';

const signs: Record<StepKind, string> = { create: '+', change: '~', delete: '-' };
const MAX_VALUE = 60;
/** The exit code of a plan with changes, with `--exit-code`. */
const CHANGES = 2;

export const fileCommands: Commands = {
  plan: {
    args: ['FILE'],
    summary: 'print what applying a configuration file would change',
    details: `+ created, ~ changed, - deleted; secrets only as "(changed)". Changes nothing, and fails where apply would fail.`,
    options: {
      'exit-code': { type: 'boolean', help: 'exit with 0 without changes, 2 with changes and 1 for an error' },
    },
    mayBegin: true,
    async act(services, input) {
      const plan = await planOf(services, input.words, 'tryOut');
      return { ...resultOf(plan, false), code: input.flag('exit-code') && plan.steps.length > 0 ? CHANGES : 0 };
    },
  },

  apply: {
    args: ['FILE'],
    summary: 'apply a configuration file',
    details: `What changes is printed as by "gatehouse plan". All of it is one transaction.
Entries that are no longer in the file are deleted, unless "gatehouse release" took them out of it. Entries created elsewhere don't change.`,
    mayBegin: true,
    act: async (services, { words }) => resultOf(await planOf(services, words, 'apply'), true),
  },

  release: {
    args: ['[ENTRY…]'],
    summary: 'take entries out of the ownership of the configuration file',
    details: `An entry is SECTION:NAME as in a plan, such as clients:wiki, users:alice or settings:mfa. It stays as it is, and can be
changed in the console. Then remove it from the file: a file that still has it takes it again when it is applied.`,
    options: { all: { type: 'boolean', help: 'everything that the file owns' } },
    async act({ configFile }, input) {
      const { parseEntry } = await import('../config-file/release.ts');
      if (input.flag('all') === input.words.length > 0) throw new UsageError('name the entries, or use --all');
      const entries = input.flag('all')
        ? await configFile.entries()
        : input.words.map((text) => parseEntry(text) ?? failUsage(`${text} isn't SECTION:NAME`));
      await configFile.release(entries, {});
      return {
        json: entries,
        text: entries.map(({ section, name }) => `${section}:${name}`),
        notes: [`${entries.length} released. Remove them from the file before it is applied again.`],
      };
    },
  },

  export: {
    summary: 'print the configuration as YAML, without secrets',
    options: {
      only: { type: 'string', value: 'SECTION', multiple: true, help: 'only this section, such as clients' },
      'no-users': { type: 'boolean', help: 'without the users, and without the members and owners of groups' },
      pictures: {
        type: 'string',
        value: 'FOLDER',
        help: 'write the pictures of the brand into files there, instead of into the YAML',
      },
    },
    run: (input, io) =>
      withServices(io, async (services) => {
        const { exportConfiguration, exportedSections } = await import('../config-file/export.ts');
        const only = input.texts('only');
        const unknown = only.find((name) => !exportedSections.some((section) => section === name));
        if (unknown !== undefined) failUsage(`--only ${unknown}: allowed are ${exportedSections.join(', ')}`);
        const folder = input.text('pictures');
        if (folder !== undefined) mkdirSync(folder, { recursive: true });
        const options = {
          ...(only.length > 0 && { only }),
          withUsers: !input.flag('no-users'),
          ...(folder !== undefined && {
            savePicture(name: string, bytes: Uint8Array) {
              writeFileSync(path.join(folder, name), bytes);
              return path.isAbsolute(folder)
                ? path.join(folder, name)
                : `./${path.posix.join(...folder.split(path.sep), name)}`;
            },
          }),
        };
        io.out((await exportConfiguration(services, options)).trimEnd());
        return 0;
      }),
  },
};

/** Throws ConfigError with every fault of the file. */
async function planOf(
  { configFile }: Services,
  [name = '']: readonly string[],
  work: 'tryOut' | 'apply',
): Promise<Plan> {
  const [{ readValidFile }, { formatFault }] = await Promise.all([
    import('../config-file/read-file.ts'),
    import('../config-file/file.ts'),
  ]);
  const result = await configFile[work](await readValidFile(name));
  if (result.ok) return result.plan;
  throw new ConfigError(result.faults.map((fault) => formatFault(name, fault)));
}

function resultOf({ steps, unchanged, warnings }: Plan, isApplied: boolean): Result {
  const of = (kind: StepKind) =>
    steps
      .filter((step) => step.kind === kind)
      .map(({ section, name, fields }) => ({ section, name, ...(kind === 'delete' ? {} : { fields }) }));
  const [create, change, remove] = [of('create'), of('change'), of('delete')];
  return {
    json: { applied: isApplied, create, change, delete: remove, unchanged, warnings },
    text: [
      ...steps.flatMap(linesOf),
      isApplied
        ? `Applied: ${create.length} created, ${change.length} changed, ${remove.length} deleted, ${unchanged} unchanged`
        : `Plan: ${create.length} to create, ${change.length} to change, ${remove.length} to delete, ${unchanged} unchanged`,
    ],
    errors: warnings.map((one) => `warning: ${one}`),
    code: 0,
  };
}

function linesOf({ kind, section, name, fields }: Step): string[] {
  const isChange = kind === 'change';
  const taken = isChange && fields.some(isTakeOver) ? ' (now managed by the file)' : '';
  const changed = isChange ? fields.filter((one) => !isTakeOver(one)) : [];
  return [`${signs[kind]} ${section} ${name}${taken}`, ...changed.map((field) => `    ${fieldLine(field)}`)];
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

function failUsage(message: string): never {
  throw new UsageError(message);
}
