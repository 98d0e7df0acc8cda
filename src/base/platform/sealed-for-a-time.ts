// Values that a browser carries for a time, in a cookie, a form or a link: sealed, so that nothing is stored for a browser that never comes back.
import { z } from 'zod';
import type { Clock } from './clock.ts';
import type { Vault } from './vault.ts';

interface Sealer {
  vault: Vault;
  now: Clock;
}

/**
 * Seals a value of JSON.
 *
 * @param context names the use, and the account or form that it is for: a value that is sealed for another does not open
 * @param seconds after which it does not open
 */
export function sealForATime({ vault, now }: Sealer, context: string, value: unknown, seconds: number): string {
  return vault.seal(JSON.stringify({ value, until: now().getTime() + seconds * 1000 }), context);
}

/** The value; undefined after its time, and for one that is modified, malformed, or sealed under another context or a secret that is gone. */
export function openInTime<Value>(
  { vault, now }: Sealer,
  context: string,
  schema: z.ZodType<Value>,
  sealed: string,
): Value | undefined {
  try {
    const content = JSON.parse(vault.open(sealed, context).toString());
    const { value, until } = z.object({ value: schema, until: z.number() }).parse(content);
    return until > now().getTime() ? value : undefined;
  } catch {
    return undefined;
  }
}
