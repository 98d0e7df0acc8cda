// Compiles the JSON Schemas that administrators write (2020-12, without conditions and external references), with a cache. A check
// has a time limit, because a pattern such as ^(a+)+$ takes years for some values.

import vm from 'node:vm';
import { z } from 'zod';
import { limits } from '../limits.ts';
import { BoundedMap } from '../platform/bounded-map.ts';
import { check, type Fault, fault } from '../texts/faults.ts';
import { languages } from '../texts/languages.ts';

/** The faults of `value`; empty when it is valid. */
export type JsonCheck = (value: unknown) => Fault[];

const MAX_CACHED = 20;
const MAX_TRIES = 4;
const cache = new BoundedMap<string, JsonCheck>(MAX_CACHED);
const timeLimitedContext = vm.createContext({});
const callRun = new vm.Script('run()');

const title = z.string().min(1).max(100);
const titles = z
  .record(z.string(), title)
  .refine((names) => Object.keys(names).every((one) => languages.includes(one)), {
    message: `title is for one of ${languages.join(', ')}`,
  });

/**
 * What a property can say beside JSON Schema, as a field of people. `mask`: how a text looks (`AA-999`); it takes the place of `pattern`, a
 * regular expression, wherever people type the value themselves.
 * `title`: its label, or one for each language.
 */
export const fieldKeywords = z
  .object({
    title: z.union([title, titles]).optional(),
    visible_to: z.array(z.enum(['person', 'desk'])).optional(),
    editable_by: z.array(z.enum(['person', 'desk'])).optional(),
    mask: z.string().min(1).max(100).optional(),
    ask: z.boolean().optional(),
  })
  .refine(({ editable_by: by = [], visible_to: to = ['desk'] }) => by.every((one) => to.includes(one)), {
    message: 'editable_by names only those in visible_to',
  })
  .refine((one) => !one.ask || one.editable_by?.includes('person'), { message: 'ask needs editable_by: [person]' });
export type FieldKeywords = z.output<typeof fieldKeywords>;

const propertiesOf = ({ properties = {} }: Readonly<Record<string, unknown>>) =>
  Object.entries(properties as Record<string, unknown>);

/** Throws when a property has a wrong keyword. */
function assertKeywords(schema: Readonly<Record<string, unknown>>): void {
  for (const [name, property] of propertiesOf(schema)) {
    if (typeof property !== 'object') continue;
    const checked = fieldKeywords.safeParse(property);
    if (!checked.success) throw new Error(`${name}: ${checked.error.issues[0]?.message ?? ''}`);
    if (checked.data.editable_by?.includes('person') && /"pattern(Properties)?":/.test(JSON.stringify(property)))
      throw new Error(`${name}: people type it, so use "mask" and no "pattern"`);
  }
}

/** Whether a letter of a text is what the sign of a mask stands for: `A` a letter, `9` a digit, `?` anything; else itself. */
function fits(sign: string | undefined, letter: string): boolean {
  if (sign === 'A') return /^\p{L}$/u.test(letter);
  if (sign === '9') return /^\d$/.test(letter);
  return sign === '?' || sign === letter;
}

/** Whether the text looks like the mask, in which `*` stands for any number of letters. At most `mask × text` steps, whatever they hold. */
export function matchesMask(mask: string, text: string): boolean {
  const [signs, letters] = [[...mask], [...text]];
  let [sign, letter] = [0, 0];
  /** The last star before `sign`, and where the letters end that it stands for so far. */
  let star: { at: number; end: number } | undefined;
  while (letter < letters.length) {
    if (signs[sign] === '*') {
      star = { at: sign, end: letter };
      sign += 1;
    } else if (fits(signs[sign], letters[letter] ?? '')) {
      sign += 1;
      letter += 1;
    } else if (star) {
      // It stands for one letter more, and what follows is compared again.
      star.end += 1;
      sign = star.at + 1;
      letter = star.end;
    } else return false;
  }
  return signs.slice(sign).every((one) => one === '*');
}

/** The faults of the texts that do not look like their masks. */
function maskFaults(schema: Readonly<Record<string, unknown>>, value: unknown): Fault[] {
  return propertiesOf(schema).flatMap(([name, property]) => {
    const { mask } = property as FieldKeywords;
    const text = mask === undefined ? undefined : Object(value)[name];
    if (typeof text !== 'string' || mask === undefined || matchesMask(mask, text)) return [];
    return [fault([name], 'mask', { mask })];
  });
}

/** The check of a schema; throws when the schema is invalid or uses an unsupported keyword. */
export function compileJsonSchema(schema: Readonly<Record<string, unknown>>): JsonCheck {
  const text = JSON.stringify(schema);
  const cached = cache.get(text);
  if (cached) return cached;
  assertKeywords(schema);
  const compiled = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  const checkValue: JsonCheck = (value) => {
    const checked = withinTime(() => check(compiled, value));
    if (!checked) return [fault([], 'slow-pattern')];
    if (checked.ok) return maskFaults(schema, value);
    return checked.faults.map((one) => (one.code === 'unknown-key' ? fault(one.path, 'unknown-attribute') : one));
  };
  cache.set(text, checkValue);
  return checkValue;
}

/**
 * The result of `work`; undefined when it took too long. node:vm is what can stop a regular expression; it is no sandbox here. It measures by
 * the clock: work that had to wait for a processor, as on a busy machine, is tried again.
 */
function withinTime<Result>(work: () => Result, tries = MAX_TRIES): Result | undefined {
  const timeout = limits.settings.schemaCheckMs;
  const before = process.cpuUsage();
  timeLimitedContext.run = work;
  try {
    return callRun.runInContext(timeLimitedContext, { timeout }) as Result;
  } catch (error) {
    // By its code: an error of node:vm may belong to another realm, where instanceof does not work.
    if (Reflect.get(Object(error), 'code') !== 'ERR_SCRIPT_EXECUTION_TIMEOUT') throw error;
    const { user, system } = process.cpuUsage(before);
    const hasWaited = (user + system) / 1000 < timeout / 2;
    return hasWaited && tries > 1 ? withinTime(work, tries - 1) : undefined;
  } finally {
    timeLimitedContext.run = undefined;
  }
}
