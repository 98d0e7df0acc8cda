// What the forms of applications send.
import { z } from 'zod';
import type { Context } from '../../../base/http/context.ts';
import { parseForm } from '../../../base/http/input.ts';
import type { Sent } from '../../console/row-buttons.ts';

/** Metadata is pasted, and grows when it is sent. */
export const MAX_FORM_BYTES = 1024 * 1024;
const text = z.string().max(300_000).trim();
const answers = z.record(z.string(), text);
const repeated = z.record(z.string(), z.array(text));

/** A form with one value for each field. */
export async function readForm(ctx: Context): Promise<Record<string, string>> {
  const { _csrf, ...given } = await parseForm(ctx, answers);
  return given;
}

/** A form with lists: every value of each field. */
export async function readSent(ctx: Context): Promise<Sent> {
  const { _csrf, ...sent } = await parseForm(ctx, repeated, { lists: 'every field' });
  return sent;
}
