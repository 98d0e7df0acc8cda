// Faults of a value as sentences for operators and users of the API; zod's own messages are for programmers. A value is
// repeated only where it cannot be a secret.
import type { z } from 'zod';
import { plural } from './plural.ts';

export type Path = readonly (string | number)[];
export type Fault = { path: Path; message: string };

const NO_BRANCH = 'fits none of the allowed forms';

/** The same faults one level down: `at(['clients', 0], faults)`. */
export function at(path: Path, faults: readonly Fault[]): Fault[] {
  return faults.map((fault) => ({ path: [...path, ...fault.path], message: fault.message }));
}

/** The faults of one issue of a schema parsed with `error: sentence`; one fault for each unknown key. */
export function faultsOf(issue: z.core.$ZodIssue): Fault[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  if (issue.code === 'invalid_union' && issue.message === NO_BRANCH) return at(path, branchFaults(issue.errors));
  if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
  const lines = issue.message.split('\n');
  return issue.keys.map((key, index) => ({ path: [...path, key], message: lines[index] ?? 'unknown key' }));
}

// Of several allowed forms, reports the faults of the one whose type matches, because the author probably meant it.
function branchFaults(branches: readonly z.core.$ZodIssue[][]): Fault[] {
  const isOtherType = (issue: z.core.$ZodIssue) => issue.code === 'invalid_type' && issue.path.length === 0;
  const likely = branches.find((issues) => !issues.some(isOtherType));
  if (likely) return likely.flatMap(faultsOf);
  const types = branches
    .flat()
    .flatMap((issue) => (isOtherType(issue) && 'expected' in issue ? typeName(issue.expected) : []));
  return [{ path: [], message: `must be ${[...new Set(types)].join(' or ')}` }];
}

/** Zod's `error` option: the sentence for an issue; undefined leaves zod's message. */
export function sentence(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return `missing; it must be ${typeName(issue.expected)}`;
      return `must be ${typeName(issue.expected)}, not ${kindOf(issue.input)}`;
    case 'invalid_value': {
      const allowed = issue.values.map(String).join(', ');
      if (issue.input === undefined) return `missing; one of ${allowed}`;
      return `must be ${issue.values.length > 1 ? 'one of ' : ''}${allowed}${repeated(issue.input)}`;
    }
    case 'unrecognized_keys': {
      const known = knownKeys(issue.inst);
      return issue.keys.map((key) => `unknown key${suggestion(key, known)}`).join('\n');
    }
    case 'too_small':
      return sizeOf(issue, 'at least', issue.minimum);
    case 'too_big':
      return sizeOf(issue, 'at most', issue.maximum);
    case 'invalid_union':
      return NO_BRANCH;
    case 'invalid_key':
      return `has a name that ${issue.issues[0]?.message ?? 'is not allowed'}`;
    case 'custom':
      // Its own message comes first.
      return undefined;
    default:
      return 'has the wrong form';
  }
}

function sizeOf(issue: z.core.$ZodRawIssue & { origin?: string }, word: string, bound: number | bigint): string {
  if (issue.origin === 'string')
    return bound === 1 ? 'must not be empty' : `must have ${word} ${plural(Number(bound), 'character')}`;
  if (issue.origin === 'array') return `must have ${word} ${plural(Number(bound), 'entry', 'entries')}`;
  return `must be ${word} ${bound}${repeated(issue.input)}`;
}

function typeName(expected: string): string {
  const names: Record<string, string> = {
    int: 'a whole number',
    number: 'a number',
    string: 'text',
    boolean: 'true or false',
    array: 'a list',
    object: 'a group of keys',
    record: 'a group of keys',
  };
  return names[expected] ?? expected;
}

function kindOf(input: unknown): string {
  if (input === null) return 'empty';
  if (Array.isArray(input)) return 'a list';
  if (typeof input === 'number') return Number.isInteger(input) ? 'a number' : 'a fraction';
  if (typeof input === 'string') return 'text';
  return typeof input === 'boolean' ? 'true or false' : 'a group of keys';
}

// Repeats only what cannot be a secret: short single words and numbers.
function repeated(input: unknown): string {
  if (typeof input === 'number') return `, not ${input}`;
  return typeof input === 'string' && /^[\w.:-]{1,24}$/.test(input) ? `, not "${input}"` : '';
}

function knownKeys(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null || !('shape' in schema)) return [];
  return typeof schema.shape === 'object' && schema.shape !== null ? Object.keys(schema.shape) : [];
}

function suggestion(key: string, known: readonly string[]): string {
  const plain = (name: string) => name.toLowerCase().replace(/[^a-z]/g, '');
  const near = known
    .map((name) => ({ name, distance: editDistance(plain(key), plain(name)) }))
    .sort((a, b) => a.distance - b.distance)[0];
  if (near && near.distance <= Math.max(1, Math.floor(near.name.length / 5))) return `; did you mean ${near.name}?`;
  return known.length > 0 && known.length <= 12 ? `; known here: ${known.join(', ')}` : '';
}

function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const substitution = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, substitution));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}
