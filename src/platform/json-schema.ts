// Compiles the JSON Schemas that administrators write (2020-12, without conditions and external references), with a cache.
import { z } from 'zod';

export interface JsonFault {
  path: readonly (string | number)[];
  message: string;
}

/** The faults of `value`; empty when it is valid. */
export type JsonCheck = (value: unknown) => JsonFault[];

const MAX_CACHED = 20;
const cache = new Map<string, JsonCheck>();

/** The check of a schema; throws when the schema is invalid or uses an unsupported keyword. */
export function compileJsonSchema(schema: Readonly<Record<string, unknown>>): JsonCheck {
  const text = JSON.stringify(schema);
  const cached = cache.get(text);
  if (cached) return cached;
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
  if (cache.size >= MAX_CACHED) cache.clear();
  cache.set(text, check);
  return check;
}
