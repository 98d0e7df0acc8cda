// The test of an application that an administrator started in this browser: a sealed cookie, valid for one request and a few
// minutes. Without it, no request may use the response mode of tests (engine/test-response-mode.ts).
import { z } from 'zod';
import type { Context } from '../../../base/http/context.ts';
import type { Cookies } from '../../../base/http/cookies.ts';
import { limits } from '../../../base/limits.ts';
import type { Clock } from '../../../base/platform/clock.ts';
import { safeEqual } from '../../../base/platform/random.ts';
import { openInTime, sealForATime } from '../../../base/platform/sealed-for-a-time.ts';
import type { Vault } from '../../../base/platform/vault.ts';

const testTicket = z.object({
  applicationId: z.string(),
  clientId: z.string(),
  redirectUri: z.string(),
  state: z.string(),
  /** The nonce of OpenID Connect; for SAML the ID of the request, empty when IdP-initiated. */
  nonce: z.string(),
  verifier: z.string(),
  /** The request as it was sent, to be displayed beside its response. */
  sent: z.string(),
  /** The administrator. */
  userId: z.string(),
});

export type TestTicket = z.output<typeof testTicket>;

export type TestTickets = ReturnType<typeof createTestTickets>;

const CONTEXT = 'console test';

export function createTestTickets({ cookies, ...sealer }: { cookies: Cookies; vault: Vault; now: Clock }) {
  function find(ctx: Context, state: string): TestTicket | undefined {
    const cookie = cookies.get(ctx, 'consoleTest');
    const ticket = cookie ? openInTime(sealer, CONTEXT, testTicket, cookie) : undefined;
    return ticket && safeEqual(ticket.state, state) ? ticket : undefined;
  }

  return {
    /** The ticket that `state` belongs to. */
    find,

    give(ctx: Context, ticket: TestTicket): void {
      cookies.set(ctx, 'consoleTest', sealForATime(sealer, CONTEXT, ticket, limits.interaction.seconds));
    },

    /** Whether the authorization request belongs to the ticket. */
    matches(ctx: Context, { client_id, redirect_uri, state }: Record<string, unknown>): boolean {
      const ticket = typeof state === 'string' ? find(ctx, state) : undefined;
      return ticket !== undefined && ticket.clientId === client_id && ticket.redirectUri === redirect_uri;
    },
  };
}
