// A form whose values are checked while it is carried out, so that a fault is displayed in the form and not on an error page.
import type { output, ZodType } from 'zod';
import type { Context } from '../../base/http/context.ts';
import { type FieldOptions, parse, readForm } from '../../base/http/input.ts';

export interface TypedForm<Given> {
  /** As it was typed, where a value is wrong: for the form that is displayed again. */
  given: Given;
  /** Throws invalid_input with the wrong fields. Called first in `frame.attempt`. */
  check(): void;
}

/** Reads a form of text fields and boxes. */
export async function readTypedForm<Schema extends ZodType<object>>(
  ctx: Context,
  schema: Schema,
  options?: FieldOptions,
): Promise<TypedForm<output<Schema>>> {
  const sent = await readForm(ctx, options);
  const result = schema.safeParse(sent);
  if (result.success) return { given: result.data, check: () => {} };
  const empty = schema.safeParse({});
  const given = { ...(empty.success && empty.data), ...sent } as output<Schema>;
  return { given, check: () => void parse(schema, sent) };
}
