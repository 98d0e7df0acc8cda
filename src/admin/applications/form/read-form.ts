// What the forms of applications send, and the same form filled in again after a fault.
import { z } from 'zod';
import type { Context } from '../../../http/context.ts';
import { parseForm } from '../../../http/input.ts';
import type { Field } from '../../console/blocks.ts';

/** Metadata is pasted, and grows when it is sent. */
export const MAX_FORM_BYTES = 1024 * 1024;
const text = z.string().max(300_000).trim();
const answers = z.record(z.string(), z.union([text, z.array(text)]));

/** What was sent: one value for each field, and the roles that were ticked. */
export async function readForm(ctx: Context): Promise<{ one: Record<string, string>; roles: string[] }> {
  const { _csrf, roles = [], ...rest } = await parseForm(ctx, answers, { lists: ['roles'] });
  const one = Object.fromEntries(Object.entries(rest).map(([name, value]) => [name, [value].flat().join('\n')]));
  return { one, roles: [roles].flat() };
}

/** The fields with what was typed into them. */
export function withTypedValues(fields: readonly Field[], given: Record<string, string>): Field[] {
  return fields.map((field) => {
    const value = given[field.name];
    if (field.type === 'checkbox')
      return value === undefined && Object.keys(given).length === 0 ? field : { ...field, checked: value === 'on' };
    return value === undefined ? field : { ...field, value };
  });
}
