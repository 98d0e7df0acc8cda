// A form of the engine that a browser without a session has open (logout, device flow): its CSRF secret and the request that it confirms,
// in a sealed cookie. A page that only renders a form stores nothing.
import { z } from 'zod';
import type { Context } from '../../../base/http/context.ts';
import type { Cookies } from '../../../base/http/cookies.ts';
import { limits } from '../../../base/limits.ts';
import type { Clock } from '../../../base/platform/clock.ts';
import { openInTime, sealForATime } from '../../../base/platform/sealed-for-a-time.ts';
import type { Vault } from '../../../base/platform/vault.ts';

export type FormStates = ReturnType<typeof createFormStates>;

const CONTEXT = 'engine form';
/** Browsers accept 4096 bytes with the name and the attributes (RFC 6265 6.1). */
const MAX_COOKIE = 3500;
const formState = z.looseObject({ secret: z.string() });

export function createFormStates({ cookies, ...sealer }: { cookies: Cookies; vault: Vault; now: Clock }) {
  return {
    /** False when it is too long for a cookie. */
    give(ctx: Context, state: object): boolean {
      const sealed = sealForATime(sealer, CONTEXT, state, limits.interaction.seconds);
      if (sealed.length > MAX_COOKIE) return false;
      cookies.set(ctx, 'form', sealed);
      return true;
    },

    find(ctx: Context): object | undefined {
      const cookie = cookies.get(ctx, 'form');
      return cookie ? openInTime(sealer, CONTEXT, formState, cookie) : undefined;
    },
  };
}
