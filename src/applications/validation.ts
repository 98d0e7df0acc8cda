// Checks input against a schema and reports every fault with its path and a sentence.
import type { output, ZodType } from 'zod';
import { type Fault, faultsOf, type Path, sentence } from '../base/platform/faults.ts';

export type Checked<T> = { ok: true; value: T } | { ok: false; faults: Fault[] };

/** `input` as `schema` reads it, or every fault; `rules` look at the whole once its parts are sound. */
export function check<Schema extends ZodType>(
  schema: Schema,
  input: unknown,
  rules: (value: output<Schema>) => Fault[] = () => [],
): Checked<output<Schema>> {
  const parsed = schema.safeParse(input, { error: sentence });
  const faults = parsed.success ? rules(parsed.data) : parsed.error.issues.flatMap(faultsOf);
  if (parsed.success && faults.length === 0) return { ok: true, value: parsed.data };
  return { ok: false, faults };
}

/** `clients[0].redirect_uris[1]`. */
export function formatPath(path: Path): string {
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '');
}
