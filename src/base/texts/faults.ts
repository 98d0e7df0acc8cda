// A fault is a wrong value, as data: its path, a code, and the values of its text `console.fault.<code>` in views/texts. The console says it
// with the label of the field in the language of the page (admin/console/faults.ts); for the API, the command line and the configuration file
// it is an English sentence that begins with the path.
import type { output, ZodType, z } from 'zod';
import { SOURCE_LANGUAGE } from './languages.ts';
import { hasText, inLanguage, type PageText, Text, type TextArguments, type TextKey } from './text.ts';

export type Path = readonly (string | number)[];

type FaultArguments = {
  [Key in TextKey as Key extends `console.fault.${infer Code}` ? Code : never]: TextArguments[Key];
};

/** The name of a text of faults. */
export type FaultCode = keyof FaultArguments;

export interface Fault {
  path: Path;
  /** The name of a text of faults, or the key of another text. */
  code: string;
  /** Words in the text; `key`, `other` and `third` are fields. `sentence` is another fault of the same field. */
  values?: FaultValues | undefined;
  /** Where it is in a file. */
  position?: Position;
}
export type Position = { line: number; column: number };
export type FaultValues = Readonly<Record<string, string | number | Fault>>;

// What `fault` takes after the code: nothing where the text has no value but `field`, else an object with its values.
type ValueOf<Name, Type> = Name extends 'sentence' ? Fault : [Type] extends [number] ? number : string | number;
type Values<Given> = [Given] extends [undefined]
  ? []
  : [Exclude<keyof Given, 'field'>] extends [never]
    ? []
    : [values: { [Name in Exclude<keyof Given, 'field'>]: ValueOf<Name, Given[Name]> }];
type ValuesOf<Code extends FaultCode> = Values<FaultArguments[Code]>;

/** What is wrong with the value at this path. */
export function fault<Code extends FaultCode>(path: Path, code: Code, ...values: ValuesOf<Code>): Fault;
export function fault(path: Path, code: FaultCode, values?: FaultValues): Fault {
  return values === undefined ? { path, code } : { path, code, values };
}

/** The same in the words of a text for people, which stands at the field. */
export function textFault(path: Path, { key, values }: Text): Fault {
  return values === undefined ? { path, code: key } : { path, code: key, values: values as FaultValues };
}

/** The fault that a broken check of a schema has, such as `.refine(isOrigin, rule('origin'))`; only `refine` can have values. */
export function rule<Code extends FaultCode>(code: Code, ...values: ValuesOf<Code>): Rule;
export function rule(code: FaultCode, values?: FaultValues): Rule {
  return { error: code, params: { ...values, fault: code } };
}
interface Rule {
  error: string;
  params: FaultValues & { fault: FaultCode };
}

/** The same for `superRefine`, where a function finds the fault. */
export function faultFrom<Value>(find: (value: Value) => Fault | undefined) {
  return (value: Value, context: z.core.$RefinementCtx): void => {
    const found = find(value);
    if (found) addFault(context, found);
  };
}

export function addFault(context: z.core.$RefinementCtx, { path, code, values }: Fault): void {
  context.addIssue({ code: 'custom', path: [...path], params: { ...values, fault: code } });
}

/** The same faults one level down: `at(['clients', 0], faults)`. */
export function at(path: Path, faults: readonly Fault[]): Fault[] {
  return faults.map((one) => ({ ...one, path: [...path, ...one.path] }));
}

export type Checked<T> = { ok: true; value: T } | { ok: false; faults: Fault[] };

/** `input` as `schema` reads it, or every fault; `rules` look at the whole once its parts are sound. */
export function check<Schema extends ZodType>(
  schema: Schema,
  input: unknown,
  rules: (value: output<Schema>) => Fault[] = () => [],
): Checked<output<Schema>> {
  // The message of an issue carries what is lost when zod finishes it: the code of the rule or, for an unknown key, the known keys of the schema.
  const error = (issue: z.core.$ZodRawIssue) =>
    issue.code === 'unrecognized_keys' ? knownKeys(issue.inst).join(' ') : '';
  const parsed = schema.safeParse(input, { error, reportInput: true });
  const faults = parsed.success ? rules(parsed.data) : parsed.error.issues.flatMap(faultsOf);
  if (parsed.success && faults.length === 0) return { ok: true, value: parsed.data };
  return { ok: false, faults };
}

function faultsOf(issue: z.core.$ZodIssue): Fault[] {
  const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
  const { code, message, input } = issue;
  if (code === 'custom' && issue.params) {
    const { fault: own, ...values } = issue.params;
    return [{ path, code: own, ...(Object.keys(values).length > 0 && { values }) }];
  }
  if (code === 'unrecognized_keys') {
    const known = message.split(' ').filter(Boolean);
    return issue.keys
      .slice(0, MAX_UNKNOWN_KEYS)
      .map((key) => fault([...path, key], 'unknown-key', suggestion(key, known)));
  }
  if (message !== '') return [fault(path, message as 'no-form')];
  switch (code) {
    case 'invalid_type':
      if (input === undefined) return [fault(path, 'missing', { type: issue.expected })];
      return [fault(path, 'type', { type: issue.expected, kind: kindOf(input) })];
    case 'invalid_value': {
      const values = issue.values.map(String).join(', ');
      if (input === undefined) return [fault(path, 'missing-choice', { values })];
      if (issue.values.length === 1) return [fault(path, 'exactly', { value: values, ...instead(input) })];
      return [fault(path, 'one-of', { values, ...instead(input) })];
    }
    case 'too_small':
      return [sizeFault(path, issue.origin, 'min', issue.minimum, input)];
    case 'too_big':
      return [sizeFault(path, issue.origin, 'max', issue.maximum, input)];
    case 'invalid_union':
      return at(path, branchFaults(issue.errors));
    case 'invalid_key':
      return [fault(path, 'bad-name', { sentence: issue.issues.flatMap(faultsOf)[0] ?? fault([], 'wrong-form') })];
    default:
      return [fault(path, 'wrong-form')];
  }
}

// Of several allowed forms, reports the faults of the one whose type matches, because the author probably meant it.
function branchFaults(branches: readonly z.core.$ZodIssue[][]): Fault[] {
  const isOtherType = (issue: z.core.$ZodIssue) => issue.code === 'invalid_type' && issue.path.length === 0;
  const likely = branches.find((issues) => !issues.some(isOtherType));
  if (likely) return likely.flatMap(faultsOf);
  const types = branches.flat().flatMap((issue) => (issue.code === 'invalid_type' ? [issue.expected] : []));
  const [type, second, ...more] = new Set(types);
  return [type && second && more.length === 0 ? fault([], 'either-type', { type, second }) : fault([], 'no-form')];
}

function sizeFault(path: Path, origin: string, end: 'min' | 'max', bound: number | bigint, input: unknown): Fault {
  if (origin === 'string' && end === 'min' && bound === 1) return fault(path, 'empty');
  const count = Number(bound);
  if (origin === 'string') return fault(path, `${end}-characters`, { characters: count });
  if (origin === 'array') return fault(path, `${end}-entries`, { entries: count });
  return fault(path, end, { bound: count, ...instead(input) });
}

/** The text `console.fault.type-name` has their names. */
function kindOf(input: unknown): string {
  if (input === null) return 'null';
  if (Array.isArray(input)) return 'array';
  if (typeof input === 'number') return Number.isInteger(input) ? 'number' : 'fraction';
  return typeof input;
}

// Repeats only what cannot be a secret: short single words and numbers.
function instead(input: unknown): { isGiven: string; given: string } {
  const isHarmless = typeof input === 'number' || (typeof input === 'string' && /^[\w.:-]{1,24}$/.test(input));
  return isHarmless
    ? { isGiven: 'yes', given: typeof input === 'number' ? String(input) : `"${input}"` }
    : { isGiven: 'no', given: '' };
}

function knownKeys(schema: unknown): string[] {
  if (typeof schema !== 'object' || schema === null || !('shape' in schema)) return [];
  return typeof schema.shape === 'object' && schema.shape !== null ? Object.keys(schema.shape) : [];
}

// What is looked for has limits: a body with thousands of unknown keys, or a long one, would take a second.
const MAX_UNKNOWN_KEYS = 20;
const MAX_KEY = 60;

/** @returns the advice, and the keys for it */
function suggestion(key: string, known: readonly string[]): { advice: string; known: string } {
  const plain = (name: string) => name.toLowerCase().replace(/[^a-z]/g, '');
  const near = (key.length > MAX_KEY ? [] : known)
    .map((name) => ({ name, distance: editDistance(plain(key), plain(name)) }))
    .sort((a, b) => a.distance - b.distance)[0];
  if (near && near.distance <= Math.max(1, Math.floor(near.name.length / 5)))
    return { advice: 'near', known: near.name };
  // With a word more or less, as other sections have it: `name` for `client_name`.
  const [alike, ...others] = known.filter(
    (name) => name.endsWith(`_${key}`) || key.endsWith(`_${name}`) || (key.length > 2 && name.startsWith(key)),
  );
  if (alike && others.length === 0) return { advice: 'near', known: alike };
  return known.length > 0 && known.length <= 12
    ? { advice: 'list', known: known.join(', ') }
    : { advice: 'none', known: '' };
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

/** `clients[0].redirect_uris[1]`. */
export function formatPath(path: Path): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '');
}

/** Values that are types of JSON, and those that are names of fields. */
const TYPES = new Set(['type', 'kind', 'second']);
const FIELDS = new Set(['key', 'other', 'third']);

/** The text of a fault of the field with this label; `labelOf` gives the label of another field. */
export function faultText({ code, values = {} }: Fault, field: PageText, labelOf = (key: string) => key): Text {
  function written(name: string, value: FaultValues[string]): string | number {
    if (isFault(value)) return String(faultText(value, fieldOfSentence(field, values), labelOf));
    if (TYPES.has(name)) return String(new Text('console.fault.type-name', { type: value }));
    return FIELDS.has(name) ? labelOf(String(value)) : value;
  }
  const entries = Object.entries(values).map(([name, value]) => [name, written(name, value)]);
  const key = `console.fault.${code}`;
  return new Text(hasText(key) ? key : code, { field, ...Object.fromEntries(entries) });
}

/** What a fault within the text is about: the field, or of one with several keys (JWKs) the key of this number. */
const fieldOfSentence = (field: PageText, { number }: FaultValues): PageText =>
  number === undefined ? field : new Text('console.fault.key-name', { number: Number(number) });

const isFault = (value: unknown): value is Fault => typeof value === 'object' && value !== null && 'code' in value;

/** The sentence for programs and the command line: `redirect_uris[1] must not have a fragment (#…).` */
export function sentenceOf(found: Fault, field = formatPath(found.path) || 'The value'): string {
  return inLanguage(SOURCE_LANGUAGE, () => String(faultText(found, field)));
}

/** The same, after the path where the sentence does not name it. */
export function faultLine(found: Fault): string {
  const [path, sentence] = [formatPath(found.path), sentenceOf(found)];
  return sentence.includes(path) ? sentence : `${path}: ${sentence}`;
}

/** A fault as programs get it in JSON. */
export function publicFault(found: Fault) {
  return { path: formatPath(found.path), code: found.code, message: sentenceOf(found), ...found.position };
}
