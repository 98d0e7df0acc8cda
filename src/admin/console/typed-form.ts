// A form whose values are checked while it is carried out, so that a fault is displayed in the form and not on an error page.
import { type output, type ZodType, z } from 'zod';
import type { Context } from '../../base/http/context.ts';
import { type FieldOptions, parse, parseForm, readForm } from '../../base/http/input.ts';
import { type Sent, withTimes } from './row-buttons.ts';

/** Of a form with documents: metadata is pasted, and grows when it is sent. */
export const MAX_FORM_BYTES = 1024 * 1024;
const longText = z.string().max(300_000).trim();

/** A form with documents: every value of each field. */
export async function readLongForm(ctx: Context): Promise<Sent> {
  const { _csrf, ...sent } = await parseForm(ctx, z.record(z.string(), z.array(longText)), { lists: 'every field' });
  return sent;
}

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
  const sent = withTimes(await readForm(ctx, options));
  const result = schema.safeParse(sent);
  if (result.success) return { given: result.data, check: () => {} };
  const empty = schema.safeParse({});
  const given = { ...(empty.success && empty.data), ...sent } as output<Schema>;
  return { given, check: () => void parse(schema, sent) };
}
