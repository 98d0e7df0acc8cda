// JSON Schemas that administrators write (2020-12, without conditions and references to elsewhere), compiled and kept.
import { z } from 'zod';

export interface JsonFault {
  path: readonly (string | number)[];
  message: string;
}

/** What is wrong with `value`; empty when nothing is. */
export type JsonCheck = (value: unknown) => JsonFault[];

const MAX_KEPT = 20;
const kept = new Map<string, JsonCheck>();

/** The check of a schema; throws with a sentence when it is not a schema that is understood here. */
export function compileJsonSchema(schema: Readonly<Record<string, unknown>>): JsonCheck {
  const text = JSON.stringify(schema);
  const known = kept.get(text);
  if (known) return known;
  const compiled = z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  const check: JsonCheck = (value) => {
    const result = compiled.safeParse(value);
    if (result.success) return [];
    return result.error.issues.flatMap((issue) => {
      const path = issue.path.map((part) => (typeof part === 'number' ? part : String(part)));
      if (issue.code !== 'unrecognized_keys') return [{ path, message: issue.message }];
      return issue.keys.map((key) => ({ path: [...path, key], message: 'There is no such attribute.' }));
    });
  };
  if (kept.size >= MAX_KEPT) kept.clear();
  kept.set(text, check);
  return check;
}
