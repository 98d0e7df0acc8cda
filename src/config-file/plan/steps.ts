// The steps of a plan: one for each row that the file would create, change or delete, with the fields that differ. A plan
// never contains a secret, only that it changes.

import type { Tx } from '../../base/storage/database.ts';
import type { Fault } from '../../base/texts/faults.ts';
import type { EntrySection } from '../schema.ts';

export type Section = 'settings' | EntrySection;
export type FieldChange = { field: string; from?: unknown; to?: unknown };
export type StepKind = 'create' | 'change' | 'delete';

export type Step = {
  kind: StepKind;
  section: Section;
  name: string;
  fields: FieldChange[];
  /** Applies the step, inside the transaction of the apply. */
  run(tx: Tx): Promise<void>;
};

/** The plan of one section. */
export type Planned = { steps: Step[]; unchanged: number; faults: Fault[]; warnings: string[] };

export const SECRET = '(changed)';

export interface PlanOptions {
  /**
   * Compares no declared secret with a stored one: the plan says of each only that it would be set, so that it confirms no
   * guess. Such a plan cannot be applied.
   */
  hidesSecrets?: boolean;
  /** Gets each file that the configuration file names, when it is read. */
  onRead?(path: string, bytes: Buffer): void;
}

export function nothingPlanned(): Planned {
  return { steps: [], unchanged: 0, faults: [], warnings: [] };
}

/** The fields of `after` that differ from `before`, and those that only `before` has. Lists keep their order. */
export function differences(before: Record<string, unknown>, after: Record<string, unknown>): FieldChange[] {
  const fields = [...new Set([...Object.keys(after), ...Object.keys(before)])];
  return fields
    .filter((field) => canonical(before[field]) !== canonical(after[field]))
    .map((field) => ({
      field,
      ...(isEmpty(before[field]) ? {} : { from: before[field] }),
      ...(isEmpty(after[field]) ? {} : { to: after[field] }),
    }));
}

/** The field change of a secret, without its value. */
export function secretChange(field: string): FieldChange {
  return { field, to: SECRET };
}

/** The field change of a secret that is not compared with the stored one. */
export function secretSet(field: string): FieldChange {
  return { field, to: '(set)' };
}

/** The plan line of a row that was created elsewhere and that the file now declares. */
export function takeOver(source: string): FieldChange[] {
  return source === 'file' ? [] : [{ field: 'source', from: source, to: 'file' }];
}

function isEmpty(value: unknown): boolean {
  return value === undefined || value === null;
}

// JSON with sorted keys; empty and absent are the same.
function canonical(value: unknown): string {
  if (isEmpty(value)) return 'null';
  return JSON.stringify(value, (_key, inner: unknown) =>
    typeof inner === 'object' && inner !== null && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).sort(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}
