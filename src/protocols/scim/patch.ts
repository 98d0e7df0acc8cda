// PATCH (RFC 7644 3.5.2), also as Entra and Okta send it: `Add` and `Replace`, operations without a path whose keys are paths, values of a
// list that do not exist yet, and members to remove in `value`.
import { z } from 'zod';
import { limits } from '../../base/limits.ts';
import { present } from '../../base/platform/defined.ts';
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
      if (path || !isIgnored(key, type)) steps.push({ op, path: parsePath(key, type), value: part });
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

/** Whether a key of an operation without a path means nothing here, as in a body. Throws invalidPath for a path that cannot be read. */
function isIgnored(key: string, type: ResourceType): boolean {
  const isPath = /[[.:]/.test(key);
  if (!isPath && !type.attributes.has(key.toLowerCase())) return true;
  const { attribute } = parsePath(key, type);
  // `meta` and `groups` of a resource that the client has read.
  return attribute.mutability === 'readOnly' && attribute.name !== 'id';
}

function assertMutable({ attribute, sub }: Path, value: unknown, id: string): void {
  if ((sub ?? attribute).mutability !== 'readOnly' && attribute.mutability !== 'readOnly') return;
  if (attribute.name === 'id' && value === id) return;
  throw scimError('mutability', `${attribute.name} can only be read.`);
}

/** Carries out a step. Throws noTarget and invalidValue. */
export function applyStep(values: Values, step: Step): void {
  const { name } = step.path.attribute;
  const before = values.get(name);
  const after = step.op === 'remove' ? withoutPart(before, step) : withValue(before, step);
  if (after === undefined || (Array.isArray(after) && after.length === 0)) values.delete(name);
  else values.set(name, after);
}

/** The value of an attribute after `add` or `replace`. */
function withValue(before: Value | undefined, step: Step): Value | undefined {
  const { attribute, sub, filter } = step.path;
  if (filter) return withFiltered(listOf(before), filter, step);
  if (sub) return withSub(before, attribute, readSub(sub, step), sub);
  const read = readValue(attribute, step.value);
  if (attribute.multiValued) return withList(listOf(before), listOf(read), step);
  // The parts of an object that are not named stay.
  if (attribute.type === 'complex' && before instanceof Map && read instanceof Map)
    return new Map([...(before as Complex), ...(read as Complex)]);
  return read;
}

const readSub = (sub: Attribute, { path: { attribute }, value }: Step): Value | undefined =>
  readValue(sub, value, `${attribute.name}.${sub.name}`);

/** A sub-attribute is set in an object, or in each value of a list; in an empty list it is a new value. */
function withSub(
  before: Value | undefined,
  { multiValued }: Attribute,
  read: Value | undefined,
  sub: Attribute,
): Value | undefined {
  if (!multiValued) return withPart(before instanceof Map ? before : undefined, sub, read);
  const list = listOf(before).length === 0 ? [new Map()] : listOf(before);
  return present(list.map((one) => withPart(one, sub, read)));
}

/** `replace` puts another list in place of the one before; `add` adds to it, and replaces values that are the same. */
function withList(before: readonly Complex[], added: readonly Complex[], { op, path }: Step): Value {
  const same = new Set(added.map(identityOf));
  const kept = op === 'add' ? before.filter((one) => !one.has('value') || !same.has(identityOf(one))) : [];
  return onePrimary(limitedList([...kept, ...added], path.attribute.name));
}

/** Changes the values of a list that fit. Where none fits, a new one has what the filter says. */
function withFiltered(list: readonly Complex[], filter: Filter, step: Step): Complex[] {
  const { attribute, sub } = step.path;
  const seed = seedOf(filter);
  const changed = (one: Complex): Complex | undefined => {
    if (sub) return withPart(one, sub, readSub(sub, step));
    const [read] = listOf(readValue(attribute, step.value));
    // `replace` keeps what the filter says, so that the value still fits.
    return read && new Map([...(step.op === 'add' ? one : (seed ?? [])), ...read]);
  };
  if (list.some((one) => fits(filter, one)))
    return onePrimary(present(list.map((one) => (fits(filter, one) ? changed(one) : one))));
  if (!seed) throw scimError('noTarget', 'No value fits the filter of the path.');
  return onePrimary(limitedList(present([...list, changed(seed)]), attribute.name));
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

/** The value of an attribute after `remove`. */
function withoutPart(before: Value | undefined, { path: { attribute, sub, filter }, value }: Step): Value | undefined {
  if (attribute.required) throw scimError('invalidValue', `${attribute.name} cannot be removed.`);
  if (!attribute.multiValued) return sub && before instanceof Map ? withPart(before, sub, undefined) : undefined;
  const list = listOf(before);
  if (!filter && !sub) {
    if (value === undefined) return undefined;
    const named = namedIn(attribute, value);
    return list.filter((one) => !named.some((other) => includes(one, other)));
  }
  const isMeant = (one: Complex) => !filter || fits(filter, one);
  if (!sub) return list.filter((one) => !isMeant(one));
  return present(list.map((one) => (isMeant(one) ? withPart(one, sub, undefined) : one)));
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
const identityOf = (one: Complex): string => JSON.stringify([keyOf(one.get('value')), keyOf(one.get('type'))]);

/** Whether the value has everything that the other says. */
function includes(one: Complex, other: Complex): boolean {
  return [...other].every(([name, value]) => keyOf(one.get(name)) === keyOf(value));
}

const keyOf = (value: Value | undefined): string | undefined =>
  typeof value === 'string' ? value.toLowerCase() : JSON.stringify(value);

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

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const propertyOf = (object: Record<string, unknown>, name: string): unknown =>
  Object.entries(object).find(([key]) => key.toLowerCase() === name)?.[1];

const withLowerCase = (object: Record<string, unknown>) =>
  Object.fromEntries(['op', 'path', 'value'].map((name) => [name, propertyOf(object, name)]));
