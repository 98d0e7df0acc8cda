// Faults of a value as sentences for operators and users of the API; zod's own messages are for programmers. A value is
// repeated only where it cannot be a secret.
import type { z } from 'zod';
import { faultMessage, typeNames } from './fault-messages.ts';
import { plural } from './plural.ts';

export type Path = readonly (string | number)[];
export type Fault = { path: Path; message: string };

const NO_BRANCH = faultMessage('no-form');

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
  return issue.keys.map((key, index) => ({
    path: [...path, key],
    message: lines[index] ?? faultMessage('unknown-key', { advice: '' }),
  }));
}

// Of several allowed forms, reports the faults of the one whose type matches, because the author probably meant it.
function branchFaults(branches: readonly z.core.$ZodIssue[][]): Fault[] {
  const isOtherType = (issue: z.core.$ZodIssue) => issue.code === 'invalid_type' && issue.path.length === 0;
  const likely = branches.find((issues) => !issues.some(isOtherType));
  if (likely) return likely.flatMap(faultsOf);
  const types = branches
    .flat()
    .flatMap((issue) => (isOtherType(issue) && 'expected' in issue ? typeName(issue.expected) : []));
  return [{ path: [], message: faultMessage('one-of-types', { types: [...new Set(types)].join(' or ') }) }];
}

/** Zod's `error` option: the sentence for an issue; undefined leaves zod's message. */
export function sentence(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return faultMessage('missing', { type: typeName(issue.expected) });
      return faultMessage('type', { type: typeName(issue.expected), kind: kindOf(issue.input) });
    case 'invalid_value': {
      const values = issue.values.map(String).join(', ');
      if (issue.input === undefined) return faultMessage('missing-choice', { values });
      const instead = repeated(issue.input);
      if (issue.values.length > 1) return faultMessage('one-of', { values, instead });
      return faultMessage('exactly', { value: values, instead });
    }
    case 'unrecognized_keys': {
      const known = knownKeys(issue.inst);
      return issue.keys.map((key) => faultMessage('unknown-key', { advice: suggestion(key, known) })).join('\n');
    }
    case 'too_small':
      return sizeOf(issue, 'min', issue.minimum);
    case 'too_big':
      return sizeOf(issue, 'max', issue.maximum);
    case 'invalid_union':
      return NO_BRANCH;
    case 'invalid_key':
      return faultMessage('bad-name', { fault: issue.issues[0]?.message ?? 'is not allowed' });
    case 'custom':
      // Its own message comes first.
      return undefined;
    default:
      return faultMessage('wrong-form');
  }
}

function sizeOf(issue: z.core.$ZodRawIssue & { origin?: string }, end: 'min' | 'max', bound: number | bigint): string {
  if (issue.origin === 'string' && end === 'min' && bound === 1) return faultMessage('empty');
  const count = Number(bound);
  if (issue.origin === 'string') return faultMessage(`${end}-characters`, { characters: plural(count, 'character') });
  if (issue.origin === 'array') return faultMessage(`${end}-entries`, { entries: plural(count, 'entry', 'entries') });
  return faultMessage(end, { bound: String(bound), instead: repeated(issue.input) });
}

function typeName(expected: string): string {
  const names: Record<string, string> = { ...typeNames, record: typeNames.object };
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
