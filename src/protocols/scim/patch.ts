// PATCH (RFC 7644 3.5.2), also as Entra and Okta send it: `Add` and `Replace`, operations without a path whose keys are paths, values of a
// list that do not exist yet, and members to remove in `value`.
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { inTurns } from '../../base/platform/turns.ts';
import { scimError } from './errors.ts';
import { type Complex, type Filter, fits, listOf, type Path, parsePath, type Value } from './filter.ts';
import { limitedList, MAX_MEMBERS, onePrimary, readValue, type Values } from './resource-values.ts';
import type { Attribute, ResourceType } from './schemas.ts';

/** Steps in one turn of the event loop. */
export const STEPS = 5;

const operation = z.object({
  op: z
    .string()
    .transform((op) => op.toLowerCase())
    .pipe(z.enum(['add', 'replace', 'remove'])),
  path: z.string().max(2048).nullish(),
  value: z.unknown(),
});

/** The body of a PATCH; names of a different case are read too. */
export const patchBody = z.preprocess(
  (body) => (isObject(body) ? { operations: propertyOf(body, 'operations') } : body),
  z.object({
    operations: z
      .array(z.preprocess((one) => (isObject(one) ? withLowerCase(one) : one), operation))
      .min(1)
      .max(limits.scim.operations),
  }),
);

/** One change of one attribute. */
export interface Step {
  op: 'add' | 'replace' | 'remove';
  path: Path;
  value: unknown;
}

/** The operations as single steps, in their order. Throws invalidPath, noTarget, mutability, invalidSyntax. */
export async function stepsOf(
  { operations }: z.output<typeof patchBody>,
  type: ResourceType,
  id: string,
): Promise<Step[]> {
  const steps: Step[] = [];
  let values = 0;
  for await (const { op, path, value } of inTurns(operations, STEPS)) {
    const parts: [string, unknown][] = path ? [[path, value]] : attributesIn(op, value);
    for (const [, part] of parts) values += Array.isArray(part) ? part.length : 1;
    if (values > MAX_MEMBERS) throw scimError('tooMany', `The operations have more than ${MAX_MEMBERS} values.`);
    for (const [key, part] of parts)
      if (path) steps.push({ op, path: parsePath(key, type), value: part });
      else steps.push(...stepOf(op, key, part, type));
    if (steps.length > limits.scim.operations)
      throw scimError('tooMany', `The operations change more than ${limits.scim.operations} attributes.`);
  }
  for (const { path, value } of steps) assertMutable(path, value, id);
  return steps.filter(({ path }) => path.attribute.mutability !== 'readOnly');
}

/** The attributes that an operation without a path changes. */
function attributesIn(op: Step['op'], value: unknown): [string, unknown][] {
  if (op === 'remove') throw scimError('noTarget', 'An operation `remove` needs a path.');
  if (!isObject(value))
    throw scimError('invalidValue', `An operation \`${op}\` without a path has an object as value.`);
  return Object.entries(value);
}

/** Keys without a meaning here are ignored, as in a body; a path that cannot be read is an error. */
function stepOf(op: Step['op'], key: string, value: unknown, type: ResourceType): Step[] {
  const isPath = /[[.:]/.test(key);
  if (!isPath && !type.attributes.has(key.toLowerCase())) return [];
  const path = parsePath(key, type);
  const { attribute } = path;
  // `meta` and `groups` of a resource that the client has read.
  if (attribute.mutability === 'readOnly' && attribute.name !== 'id') return [];
  return [{ op, path, value }];
}

function assertMutable({ attribute, sub }: Path, value: unknown, id: string): void {
  if ((sub ?? attribute).mutability !== 'readOnly' && attribute.mutability !== 'readOnly') return;
  if (attribute.name === 'id' && value === id) return;
  throw scimError('mutability', `${attribute.name} can only be read.`);
}

/** Carries out a step. Throws noTarget and invalidValue. */
export function applyStep(values: Values, step: Step): void {
  const { name } = step.path.attribute;
  const after = step.op === 'remove' ? withoutPart(values.get(name), step) : withValue(values.get(name), step);
  if (after === undefined || (Array.isArray(after) && after.length === 0)) values.delete(name);
  else values.set(name, after);
}

function withValue(before: Value | undefined, { op, path, value }: Step): Value | undefined {
  const { attribute, sub, filter } = path;
  if (filter) return withFiltered(listOf(before), path, filter, { op, value });
  if (sub) {
    const read = readValue(sub, value, `${attribute.name}.${sub.name}`);
    if (!attribute.multiValued) return withPart(before instanceof Map ? before : undefined, sub, read);
    const list = listOf(before);
    return (list.length === 0 ? [new Map()] : list).flatMap((one) => withPart(one, sub, read) ?? []);
  }
  const read = readValue(attribute, value);
  if (attribute.multiValued) {
    const added = listOf(read);
    const same = new Set(added.flatMap((one) => identityOf(one) ?? []));
    const kept = op === 'add' ? listOf(before).filter((one) => !same.has(identityOf(one) ?? '')) : [];
    return onePrimary(limitedList([...kept, ...added], attribute.name));
  }
  const isMerged = attribute.type === 'complex' && before instanceof Map && read instanceof Map;
  return isMerged ? new Map([...(before as Complex), ...(read as Complex)]) : read;
}

/** The list with the values that fit changed; one that does not exist yet is made of what the filter says. */
function withFiltered(
  list: readonly Complex[],
  { attribute, sub }: Path,
  filter: Filter,
  { op, value }: Pick<Step, 'op' | 'value'>,
): Complex[] {
  const seed = seedOf(filter);
  const change = (one: Complex): Complex[] => {
    if (sub) return [withPart(one, sub, readValue(sub, value, `${attribute.name}.${sub.name}`)) ?? []].flat();
    const [read] = listOf(readValue(attribute, value));
    return read ? [new Map([...(op === 'add' ? one : (seed ?? [])), ...read])] : [];
  };
  if (list.some((one) => fits(filter, one)))
    return onePrimary(list.flatMap((one) => (fits(filter, one) ? change(one) : [one])));
  if (!seed) throw scimError('noTarget', 'No value fits the filter of the path.');
  return onePrimary(limitedList([...list, ...change(seed)], attribute.name));
}

/** What a value has that fits `type eq "work" and primary eq true`; undefined for a filter with anything but equations. */
function seedOf(filter: Filter): Complex | undefined {
  if (filter.kind === 'and') {
    const seeds = filter.of.map(seedOf);
    return seeds.includes(undefined) ? undefined : new Map(seeds.flatMap((seed) => [...(seed ?? [])]));
  }
  if (filter.kind !== 'compare' || filter.op !== 'eq' || filter.value === null) return undefined;
  const { attribute } = filter.path;
  const read = readValue(attribute, filter.value);
  return new Map(read === undefined ? [] : [[attribute.name, read]]);
}

function withoutPart(before: Value | undefined, { path: { attribute, sub, filter }, value }: Step): Value | undefined {
  if (attribute.required) throw scimError('invalidValue', `${attribute.name} cannot be removed.`);
  if (!attribute.multiValued) return sub && before instanceof Map ? withPart(before, sub, undefined) : undefined;
  const isAll = value === undefined && !filter && !sub;
  if (isAll) return undefined;
  const removed = filter || sub ? [] : namedIn(attribute, value);
  const concerns = (one: Complex) =>
    filter ? fits(filter, one) : sub || removed.some((other) => includes(one, other));
  return listOf(before).flatMap((one) => {
    if (!concerns(one)) return [one];
    return sub ? (withPart(one, sub, undefined) ?? []) : [];
  });
}

/** The values that an operation names: none only by an empty list, because a mistake is not to remove all. Throws invalidValue. */
function namedIn(attribute: Attribute, value: unknown): readonly Complex[] {
  const given = Array.isArray(value) ? value : [value];
  const named = given.flatMap((one) => listOf(readValue(attribute, one)));
  if (named.length === given.length) return named;
  throw scimError('invalidValue', `The values of ${attribute.name} are not named.`);
}

/** Undefined where nothing is left. */
function withPart(of: Complex | undefined, { name }: Attribute, value: Value | undefined): Complex | undefined {
  const parts = new Map(of ?? []);
  if (value === undefined) parts.delete(name);
  else parts.set(name, value);
  return parts.size === 0 ? undefined : parts;
}

/** Equal for values of a list that are the same one (RFC 7644 3.5.2.1): the same `value`, of the same kind. */
const identityOf = (one: Complex): string | undefined =>
  one.has('value') ? JSON.stringify([keyOf(one.get('value')), keyOf(one.get('type'))]) : undefined;

/** Whether the value has everything that the other says. */
function includes(one: Complex, other: Complex): boolean {
  return [...other].every(([name, value]) => keyOf(one.get(name)) === keyOf(value));
}

const keyOf = (value: Value | undefined): string | undefined =>
  typeof value === 'string' ? value.toLowerCase() : value === undefined ? undefined : JSON.stringify(value);

/** Who joins and who leaves by a step about `members`. */
export type MemberStep = { kind: 'add' | 'remove' | 'replace'; ids: string[] };

/** Undefined for a step about another attribute. Throws invalidPath. */
export function memberStepOf({ op, path, value }: Step): MemberStep | undefined {
  const { attribute, sub, filter } = path;
  if (attribute.name !== 'members') return undefined;
  if (sub) throw scimError('invalidPath', 'Members are added and removed as a whole.');
  if (op !== 'remove') {
    if (filter) throw scimError('invalidPath', 'Members are added without a filter in the path.');
    return { kind: op, ids: value === null ? [] : idsOf(namedIn(attribute, value)) };
  }
  if (filter) return { kind: 'remove', ids: idsIn(filter) };
  return value === undefined ? { kind: 'replace', ids: [] } : { kind: 'remove', ids: idsOf(namedIn(attribute, value)) };
}

const idsOf = (members: readonly Complex[]) => members.map((one) => one.get('value')) as string[];

/** `value eq "…"`, or several with `or`. */
function idsIn(filter: Filter): string[] {
  if (filter.kind === 'or') return filter.of.flatMap(idsIn);
  if (filter.kind === 'compare' && filter.path.attribute.name === 'value' && filter.op === 'eq' && filter.value)
    return [String(filter.value)];
  throw scimError('invalidPath', 'Members are removed by `members[value eq "…"]`.');
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const propertyOf = (object: Record<string, unknown>, name: string): unknown =>
  Object.entries(object).find(([key]) => key.toLowerCase() === name)?.[1];

const withLowerCase = (object: Record<string, unknown>) =>
  Object.fromEntries(['op', 'path', 'value'].map((name) => [name, propertyOf(object, name)]));
