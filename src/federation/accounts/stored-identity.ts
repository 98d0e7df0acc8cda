// A verified identity as text, while its sign-in goes on: the request that brought it stores it encrypted.
import { z } from 'zod';
import type { UpstreamIdentity } from '../upstream.ts';
import { handleSchema } from '../upstream-session-rows.ts';

const schema = z.object({
  subject: z.string(),
  claims: z.record(z.string(), z.unknown()),
  groups: z.object({ names: z.array(z.string()), isComplete: z.boolean() }).optional(),
  acr: z.string().optional(),
  amr: z.array(z.string()),
  authTime: z.iso.datetime().optional(),
  session: handleSchema.optional(),
});

/** The identity that `JSON.stringify` has written. */
export function parseIdentity(value: unknown): UpstreamIdentity {
  const { groups, acr, authTime, session, ...rest } = schema.parse(value);
  return { ...rest, groups, acr, authTime: authTime === undefined ? undefined : new Date(authTime), session };
}
