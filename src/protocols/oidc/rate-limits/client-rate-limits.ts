// How often a client may fail to authenticate or send a bad request object (RFC 9101), and start device flows, from one address. Counted by
// client and address
// together, so that a client cannot be locked out from another address; the counts are shared by all instances. Clients that do
// not exist share one count for each address: otherwise every invented client_id would store a row.
import type { Context } from '../../../base/http/context.ts';
import { tooManyRequests } from '../../../base/http/errors.ts';
import type { RateLimits } from '../../../people/rate-limits/rate-limits.ts';
import { appContext } from '../engine/app-context.ts';
import { routes } from '../engine/configuration.ts';
import type { KoaContextWithOIDC } from '../engine/library.ts';
import { type AttemptVerdict, rejectUnlessAllowed } from './too-many-attempts.ts';

export type ClientLimits = ReturnType<typeof createClientLimits>;

export interface ClientLimitsDependencies {
  isRegistered(clientId: string): Promise<boolean>;
  /** Whether there were too many failures, without counting one. */
  failures(clientId: string, address: string): Promise<AttemptVerdict>;
  countFailure(clientId: string, address: string): Promise<void>;
  /** Counts the start of a device flow. */
  countDeviceStart(clientId: string, address: string): Promise<AttemptVerdict>;
}

/** What failed registrations are counted under. */
const REGISTRATION = 'registration';
/** What clients that do not exist are counted under. No client_id contains a line break (RFC 6749 A.1). */
const UNKNOWN = 'unknown\n';

export function createClientLimits({
  isRegistered,
  failures,
  countFailure,
  countDeviceStart,
}: ClientLimitsDependencies) {
  /** Which client each request tried to authenticate as. */
  const clientIds = new WeakMap<object, string>();
  const failed = new WeakSet<object>();
  const isRegistration = (ctx: Context) => ctx.method === 'POST' && ctx.path === routes.registration;

  async function beginRegistration({ req, state }: Context): Promise<void> {
    clientIds.set(req, REGISTRATION);
    const { allowed, retryAfterSeconds } = await failures(REGISTRATION, state.request.address);
    if (!allowed) throw tooManyRequests(retryAfterSeconds);
  }

  return {
    /** Before a client's credential is checked. Throws TooManyAttempts. */
    async admit(engineCtx: KoaContextWithOIDC, sentId: unknown): Promise<void> {
      const ctx = appContext(engineCtx);
      // The subject of a client assertion may be of any type.
      const clientId = typeof sentId === 'string' && (await isRegistered(sentId)) ? sentId : UNKNOWN;
      clientIds.set(ctx.req, clientId);
      const { address } = ctx.state.request;
      rejectUnlessAllowed(ctx, await failures(clientId, address));
      if (engineCtx.oidc.route === 'device_authorization') {
        rejectUnlessAllowed(ctx, await countDeviceStart(clientId, address));
      }
    },

    /** Before the engine: for registration, where there is no client yet; undefined for other requests. Rejects with too_many_requests. */
    begin: (ctx: Context): Promise<void> | undefined => (isRegistration(ctx) ? beginRegistration(ctx) : undefined),

    /** Called by the engine for a bad request object, which takes as much work as a credential. */
    markFailed: ({ req }: Context): void => void failed.add(req),

    /** After the engine: counts a failure; undefined where there is none. */
    end(ctx: Context): Promise<void> | undefined {
      const clientId = ctx.status === 401 || failed.has(ctx.req) ? clientIds.get(ctx.req) : undefined;
      return clientId === undefined ? undefined : countFailure(clientId, ctx.state.request.address);
    },
  };
}

/** The limits with the counts of all instances. */
export function clientLimitsOf(
  rateLimits: RateLimits,
  isRegistered: ClientLimitsDependencies['isRegistered'],
): ClientLimits {
  return createClientLimits({
    isRegistered,
    failures: (clientId, address) => rateLimits.peek('client-auth:address', { address, about: clientId }),
    async countFailure(clientId, address) {
      await rateLimits.consume('client-auth:address', { address, about: clientId });
    },
    countDeviceStart: (clientId, address) => rateLimits.consume('device-start:address', { address, about: clientId }),
  });
}
