// From the entries of a section to the steps of a plan: one for each row that the file would create, change or delete, with the fields
// that differ. A plan never contains a secret, only that it changes.

import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Application, accessOf } from '../applications/application.ts';
import type { ApplicationServices } from '../applications/application-services.ts';
import type { Access } from '../applications/fields/oidc-client.ts';
import type { metadataFaults } from '../applications/fields/service-provider.ts';
import type { Tx } from '../base/storage/database.ts';
import { at, type Fault, fault, type Path } from '../base/texts/faults.ts';
import type { Core } from '../core/core.ts';
import type { SettingName, SettingValues } from '../core/settings/settings.ts';
import type { FederationServices } from '../federation/federation-services.ts';
import type { People } from '../people/people.ts';
import type { EventStreams } from '../protocols/event-streams/streams.ts';
import type { SessionServices } from '../protocols/logout/session-services.ts';
import type { ScimConnections } from '../protocols/scim/connections.ts';
import type { Declared, EntrySection } from './schema.ts';

/** The metadata of service providers; both throw with a sentence for the administrator. */
type MetadataSource = {
  parse(
    xml: string,
  ): { entityId: string; leftOut: readonly { reason: string }[] } & Parameters<typeof metadataFaults>[1];
  /** The document behind a URL. */
  fetch(url: string, pinnedCertificate?: string): Promise<string>;
};

export type ConfigFileServices = Core &
  People &
  ApplicationServices &
  SessionServices &
  FederationServices & {
    metadata: MetadataSource;
    scimConnections: ScimConnections;
    eventStreams: EventStreams;
  };

/** What the plans of all sections know: the services, the whole file, and what there will be once it is applied. */
export type Planning = ConfigFileServices & {
  declared: Declared;
  /** The applications, also those that another program wrote, but for damaged ones. */
  stored: readonly Application[];
  hidesSecrets: boolean;
  roleNames: ReadonlySet<string>;
  groupNames: ReadonlySet<string>;
  connectionIds: ReadonlySet<string>;
  /** The client IDs and entity IDs of all applications; the plans of the applications keep it current. */
  applicationIds: Set<string>;
  settingAfter<Name extends SettingName>(name: Name): SettingValues[Name];
  /** A file that the configuration file names. Throws with what `reject` makes of its path and the reason. */
  readFile(name: string, reject: (file: string, cause: unknown) => Error): Promise<Buffer>;
};

export type Section = 'settings' | EntrySection;
export type FieldChange = { field: string; from?: unknown; to?: unknown };
export type StepKind = 'create' | 'change' | 'delete';

export type Step = {
  kind: StepKind;
  section: Section;
  name: string;
  fields: FieldChange[];
  /** Applies the step, inside the transaction of the apply. */
  run(tx: Tx): Promise<unknown>;
  /** What has to wait until every step has run: the first of all steps, then the second of all, and so on. */
  afterwards?: Afterwards;
};
type Afterwards = readonly ((tx: Tx) => Promise<unknown>)[] | undefined;

/** The secret of an entry: its value, or the text of the file that it names; or the fault of a file that cannot be read. */
export async function declaredSecret(
  { readFile }: Planning,
  { value, file }: { value: string | undefined; file: string | undefined },
  path: Path,
): Promise<{ secret: string | undefined; faults: Fault[] }> {
  if (file === undefined) return { secret: value, faults: [] };
  try {
    const bytes = await readFile(file, (name, cause) => new Error(`cannot be read: ${name}`, { cause }));
    return { secret: bytes.toString('utf8').trim(), faults: [] };
  } catch {
    return { secret: undefined, faults: [fault(path, 'unreadable-file', { file })] };
  }
}

/** The plan of one section. */
export type Planned = { steps: Step[]; unchanged: number; faults: Fault[]; warnings: string[] };

export interface PlanOptions {
  /**
   * Compares no declared secret with a stored one: the plan says of each only that it would be set, so that it confirms no
   * guess. Such a plan cannot be applied.
   */
  hidesSecrets?: boolean;
  /** Gets each file that the configuration file names, when it is read. */
  onRead?(path: string, bytes: Buffer): void;
}

/** How the entries of a section are compared and stored. */
interface EntryKind<Entry, Stored> {
  section: Section;
  declared: readonly Entry[];
  /** What is stored, by a key that an entry has or leads to. */
  stored: ReadonlyMap<string, Stored>;
  nameOf(row: Stored): string;
  /**
   * What an entry changes. `take` finds the row that it is about, which then is not deleted. Faults are at the keys of the entry, and end
   * the plan; without `fields` the entry is left out.
   */
  compare(entry: Entry, take: (key: string) => Stored | undefined, index: number): Promise<Comparison> | Comparison;
  remove(row: Stored, tx: Tx): Promise<unknown>;
  /** As `afterwards` of a comparison, for a row that is deleted. */
  afterRemoval?(row: Stored): Afterwards;
  /** Entries that are compared at the same time. */
  atOnce?: number;
}

interface Comparison {
  name?: string;
  faults?: readonly Fault[];
  warnings?: readonly string[];
  fields?: FieldChange[];
  store?(tx: Tx): Promise<unknown>;
  afterwards?: Afterwards;
}

/** Plans a section: the file owns what it declares, so what it declared before, and does not any more, is deleted. */
export async function planEntries<Entry, Stored extends { source: string }>({
  section,
  declared,
  stored,
  nameOf,
  compare,
  remove,
  afterRemoval,
  atOnce = 1,
}: EntryKind<Entry, Stored>): Promise<Planned> {
  const plan: Planned = { steps: [], unchanged: 0, faults: [], warnings: [] };
  const left = new Map(stored);

  async function planEntry(entry: Entry, index: number): Promise<void> {
    let row: Stored | undefined;
    const take = (key: string) => {
      row = stored.get(key);
      left.delete(key);
      return row;
    };
    const { name = '', faults = [], warnings = [], fields, store, afterwards } = await compare(entry, take, index);
    plan.faults.push(...at(section === 'settings' ? [section] : [section, index], faults));
    plan.warnings.push(...warnings);
    if (faults.length > 0 || !fields || !store) return;
    const changes = row && row.source !== 'file' ? [...fields, takeOver(row.source)] : fields;
    if (row && changes.length === 0) plan.unchanged += 1;
    else plan.steps.push({ kind: row ? 'change' : 'create', section, name, fields: changes, run: store, afterwards });
  }

  for (let start = 0; start < declared.length; start += atOnce) {
    await Promise.all(declared.slice(start, start + atOnce).map((entry, offset) => planEntry(entry, start + offset)));
    await nextTurn(); // SQLite answers within the turn of the event loop: other requests get theirs between the entries
  }
  for (const row of left.values())
    if (row.source === 'file')
      plan.steps.push({
        kind: 'delete',
        section,
        name: nameOf(row),
        fields: [],
        run: (tx) => remove(row, tx),
        afterwards: afterRemoval?.(row),
      });
  return plan;
}

/** The plan line of a row that was created elsewhere and that the file now declares. */
const takeOver = (source: string): FieldChange => ({ field: 'source', from: source, to: 'file' });

/** Whether a change is that line. */
export const isTakeOver = ({ field, to }: FieldChange): boolean => field === 'source' && to === 'file';

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
  return { field, to: '(changed)' };
}

/** The field change of a secret that is not compared with the stored one. */
export function secretSet(field: string): FieldChange {
  return { field, to: '(set)' };
}

/**
 * The change of a declared secret; none where the file has none, or has the stored one.
 * @param isStored absent where nothing is stored
 */
export async function changeOfSecret(
  { hidesSecrets }: Planning,
  field: string,
  secret: unknown,
  isStored: false | undefined | (() => boolean | Promise<boolean>),
): Promise<FieldChange[]> {
  if (secret === undefined) return [];
  if (hidesSecrets || !isStored) return [secretSet(field)];
  return (await isStored()) ? [] : [secretChange(field)];
}

/** A fault for each role that does not exist once the file is applied. */
export function unknownRoles(names: readonly string[], { roleNames }: Planning, path: Fault['path']): Fault[] {
  return names.filter((name) => !roleNames.has(name)).map((name) => fault(path, 'unknown-role', { roles: name }));
}

/** A fault for each group that does not exist once the file is applied, at its place in the list. */
export function unknownGroups(names: readonly string[], { groupNames }: Planning, path: Fault['path']): Fault[] {
  return names.flatMap((group, index) =>
    groupNames.has(group) ? [] : [fault([...path, index], 'unknown-group', { groups: group })],
  );
}

/** A fault for each role and group of an access rule that does not exist once the file is applied. */
export function accessFaults({ access }: { access: Access }, planning: Planning): Fault[] {
  if (access === 'everyone') return [];
  const { roles, groups = [] } = access;
  return [...unknownRoles(roles, planning, ['access']), ...unknownGroups(groups, planning, ['access', 'groups'])];
}

/** In the order in which a stored rule has them. */
export function sortedAccess(access: Access): Access {
  return access === 'everyone' ? access : accessOf([...access.roles].sort(), [...(access.groups ?? [])].sort());
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
