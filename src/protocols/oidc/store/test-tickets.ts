// The test of an application that an administrator started in this browser: a sealed cookie, valid for one request and a few
// minutes. Without it, no request may use the response mode of tests (engine/test-response-mode.ts).
import type { Context } from '../../../base/http/context.ts';
import type { Cookies } from '../../../base/http/cookies.ts';
import { limits } from '../../../base/limits.ts';
import type { Clock } from '../../../base/platform/clock.ts';
import { safeEqual } from '../../../base/platform/random.ts';
import type { Vault } from '../../../base/platform/vault.ts';

export interface TestTicket {
  applicationId: string;
  clientId: string;
  redirectUri: string;
  state: string;
  /** The nonce of OpenID Connect; for SAML the ID of the request, empty when IdP-initiated. */
  nonce: string;
  verifier: string;
  /** The request as it was sent, to be displayed beside its response. */
  sent: string;
  /** The administrator. */
  userId: string;
}

export type TestTickets = ReturnType<typeof createTestTickets>;

const CONTEXT = 'console test';

export function createTestTickets({ cookies, vault, now }: { cookies: Cookies; vault: Vault; now: Clock }) {
  function find(ctx: Context, state: string): TestTicket | undefined {
    const cookie = cookies.get(ctx, 'consoleTest');
    if (!cookie) return undefined;
    try {
      const { until, ...ticket } = JSON.parse(vault.open(cookie, CONTEXT).toString()) as TestTicket & { until: number };
      return until > now().getTime() && safeEqual(ticket.state, state) ? ticket : undefined;
    } catch {
      return undefined;
    }
  }

  return {
    /** The ticket that `state` belongs to. */
    find,

    give(ctx: Context, ticket: TestTicket): void {
      const until = now().getTime() + limits.interaction.seconds * 1000;
      cookies.set(ctx, 'consoleTest', vault.seal(JSON.stringify({ ...ticket, until }), CONTEXT));
    },

    /** Whether the authorization request belongs to the ticket. */
    matches(ctx: Context, { client_id, redirect_uri, state }: Record<string, unknown>): boolean {
      const ticket = typeof state === 'string' ? find(ctx, state) : undefined;
      return ticket !== undefined && ticket.clientId === client_id && ticket.redirectUri === redirect_uri;
    },
  };
}
