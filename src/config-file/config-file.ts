// Plans and applies the configuration file. The file owns what it declares: rows that it no longer declares are deleted;
// rows created elsewhere stay unless it declares them, too. Applying it twice changes nothing.

import type { ApplicationServices } from '../applications/application-services.ts';
import { AppError } from '../base/http/errors.ts';
import { sha256 } from '../base/platform/random.ts';
import { isUniqueViolation, transaction } from '../base/storage/database.ts';
import type { AuditEventType } from '../core/audit/events.ts';
import type { Core } from '../core/core.ts';
import type { FederationServices } from '../federation/federation-services.ts';
import type { People } from '../people/people.ts';
import { isApplied, rememberApplied, stateOf } from './applied.ts';
import { forgetDeleted } from './plan/declared-credentials.ts';
import { type ConfigFileDependencies, type Plan, type PlanResult, planFile } from './plan/plan.ts';
import type { PlanOptions, Step } from './plan/steps.ts';
import type { ConfigurationFile } from './read-file.ts';

export type { ConfigFileDependencies, Plan, PlanResult } from './plan/plan.ts';

export type ConfigFile = ReturnType<typeof createConfigFile>;

const ATTEMPTS = 4;
// Thousands of users are one transaction.
const APPLY = { timeout: 300_000 };

/** Planning and applying a file that was read. */
export function createConfigFile(
  dependencies: Core & People & ApplicationServices & FederationServices & ConfigFileDependencies,
) {
  return {
    /** What applying the file would do; changes nothing. */
    plan: (file: ConfigurationFile, options?: PlanOptions): Promise<PlanResult> =>
      planFile(dependencies, file, options),
    /** Plans and applies in one transaction; retries when another instance did the same in between. */
    apply: (file: ConfigurationFile): Promise<PlanResult> => applyFile(dependencies, file),
    /** Whether applying the file at this path would change nothing, without reading it. False where only a plan can tell. */
    isApplied: (file: string): Promise<boolean> => isApplied(dependencies, file),
  };
}

async function applyFile(
  dependencies: Core & People & ApplicationServices & FederationServices & ConfigFileDependencies,
  file: ConfigurationFile,
): Promise<PlanResult> {
  for (let attempt = 1; ; attempt += 1) {
    const planned = await planAndRemember(dependencies, file);
    if (!planned.ok) return planned;
    if (planned.plan.steps.length === 0) {
      await dependencies.settings.reload(); // another instance may have just applied the file
      return planned;
    }
    try {
      await runSteps(dependencies, planned.plan);
      if (file.text !== undefined) await planAndRemember(dependencies, file); // finds nothing left to do
      return planned;
    } catch (error) {
      // Another instance or an administrator created one of these rows since the plan was made: plan again.
      if (!isConcurrentChange(error) || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Plans the file, and remembers it when nothing is left to do and nothing is to be said about it at each start. */
async function planAndRemember(
  dependencies: Core & People & ApplicationServices & FederationServices & ConfigFileDependencies,
  file: ConfigurationFile,
): Promise<PlanResult> {
  const { text, path } = file;
  if (text === undefined) return planFile(dependencies, file);
  const state = await stateOf(dependencies.db);
  const files: Record<string, string> = {};
  const planned = await planFile(dependencies, file, {
    onRead(name, bytes) {
      files[name] = sha256(bytes);
    },
  });
  const isDone = planned.ok && planned.plan.steps.length === 0 && planned.plan.warnings.length === 0;
  if (isDone) await rememberApplied(dependencies, { text, path }, { files, state });
  return planned;
}

async function runSteps({ db, audit, settings }: Core, { steps }: Plan): Promise<void> {
  await transaction(
    db,
    async (tx) => {
      for (const step of steps) {
        await step.run(tx);
        const type = eventOf(step);
        if (type) await audit.record({ type, outcome: 'success', data: { name: step.name, by: 'file' } }, tx);
      }
      await forgetDeleted(tx);
      const count = (kind: Step['kind']) => steps.filter((step) => step.kind === kind).length;
      const data = {
        created: count('create'),
        changed: count('change'),
        deleted: count('delete'),
        settings: steps.flatMap(({ section, name, kind, fields }) =>
          section === 'settings' ? [{ name, kind, fields }] : [],
        ),
      };
      await audit.record({ type: 'configuration.applied', outcome: 'success', data }, tx);
    },
    APPLY,
  );
  await settings.reload();
}

// The other sections are audited by the domains that change them.
function eventOf({ section, kind }: Step): AuditEventType | undefined {
  if (section === 'settings') return 'setting.changed';
  if (section === 'resources')
    return ({ create: 'resource.created', change: 'resource.updated', delete: 'resource.deleted' } as const)[kind];
  if (section === 'sign_up_codes') {
    const types = { create: 'sign-up-code.created', change: 'sign-up-code.updated', delete: 'sign-up-code.revoked' };
    return types[kind] as AuditEventType;
  }
  return undefined;
}

function isConcurrentChange(error: unknown): boolean {
  if (error instanceof AppError) return [404, 409].includes(error.status) && error.code !== 'last_admin';
  return isUniqueViolation(error) || (error instanceof Error && 'code' in error && error.code === 'P2025'); // gone
}
