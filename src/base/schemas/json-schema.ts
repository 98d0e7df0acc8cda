// Compiles the JSON Schemas that administrators write (2020-12, without conditions and external references), with a cache. A check
// has a time limit, because a pattern such as ^(a+)+$ takes years for some values.

import vm from 'node:vm';
import { z } from 'zod';
import { limits } from '../limits.ts';
import { check, type Fault, fault } from '../texts/faults.ts';

/** The faults of `value`; empty when it is valid. */
export type JsonCheck = (value: unknown) => Fault[];

const MAX_CACHED = 20;
const cache = new Map<string, JsonCheck>();
const timeLimitedContext = vm.createContext({});
const callRun = new vm.Script('run()');

/** The check of a schema; throws when the schema is invalid or uses an unsupported keyword. */
export function compileJsonSchema(schema: Readonly<Record<string, unknown>>): JsonCheck {
  const text = JSON.stringify(schema);
  const cached = cache.get(text);
  if (cached) return cached;
  const compiled = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  const checkValue: JsonCheck = (value) => {
    const checked = withinTime(() => check(compiled, value));
    if (!checked) return [fault([], 'slow-pattern')];
    if (checked.ok) return [];
    return checked.faults.map((one) => (one.code === 'unknown-key' ? fault(one.path, 'unknown-attribute') : one));
  };
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(text, checkValue);
  return checkValue;
}

/** The result of `work`; undefined when it took too long. node:vm is what can stop a regular expression; it is no sandbox here. */
function withinTime<Result>(work: () => Result): Result | undefined {
  timeLimitedContext.run = work;
  try {
    return callRun.runInContext(timeLimitedContext, { timeout: limits.settings.schemaCheckMs }) as Result;
  } catch (error) {
    // By its code: an error of node:vm may belong to another realm, where instanceof does not work.
    if (Reflect.get(Object(error), 'code') === 'ERR_SCRIPT_EXECUTION_TIMEOUT') return undefined;
    throw error;
  } finally {
    timeLimitedContext.run = undefined;
  }
}
