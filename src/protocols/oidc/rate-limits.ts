// Rate limits of the engine's endpoints: the error 429, guesses of user codes, and failed client authentications.
import type { Context } from '../../base/http/context.ts';
import { tooManyRequests } from '../../base/http/errors.ts';
import type { LimitResult, RateLimits } from '../../people/rate-limits/rate-limits.ts';
import { appContext } from './engine/app-context.ts';
import { errors, type KoaContextWithOIDC } from './engine/library.ts';
import { routes } from './engine/routes.ts';

/** Sets Retry-After and throws TooManyAttempts unless allowed. */
export function rejectUnlessAllowed(ctx: Context, { allowed, retryAfterSeconds }: LimitResult): void {
  if (allowed) return;
  ctx.set('Retry-After', String(retryAfterSeconds));
  throw new TooManyAttempts(retryAfterSeconds);
}

/** 429 in the form of RFC 6749 5.2, which has no error code for rate limits. */
export class TooManyAttempts extends errors.CustomOIDCProviderError {
  override statusCode = 429;
  override status = 429;
  /** At /authorize the error is displayed on a page, because an application that receives it might retry at once. */
  override allow_redirect = false;
  readonly retryAfterSeconds: number;

  constructor(retryAfterSeconds: number) {
    super('temporarily_unavailable', 'too many attempts; try again after the time that Retry-After says');
    this.retryAfterSeconds = retryAfterSeconds;
  }
}

// User codes of the device flow are short, so guessing them must be slow (RFC 8628 5.1). Each submitted code is counted
// before it is looked up, so that parallel guesses are counted too, and refunded unless it was unknown.

export type DeviceGuesses = ReturnType<typeof createDeviceGuesses>;

export function createDeviceGuesses({ rateLimits }: { rateLimits: RateLimits }) {
  const unknown = new WeakSet<object>();
  const isGuess = (ctx: Context) => ctx.method === 'POST' && ctx.path === routes.code_verification;
  return {
    /** Before the engine: counts a submitted user code. Rejects with too_many_requests. */
    async begin(ctx: Context): Promise<void> {
      if (!isGuess(ctx)) return;
      const result = await rateLimits.consume('device:address', { address: ctx.state.request.address });
      if (!result.allowed) throw tooManyRequests(result.retryAfterSeconds);
    },
    /** Records that the user code of this request is unknown. */
    markUnknown: ({ req }: Context): void => void unknown.add(req),
    /** After the engine: refunds a user code that was known. */
    async end(ctx: Context): Promise<void> {
      if (isGuess(ctx) && !unknown.has(ctx.req))
        await rateLimits.refund('device:address', { address: ctx.state.request.address });
    },
  };
}

// How often a client may fail to authenticate or send a bad request object (RFC 9101), and start device flows, from one address. Counted by
// client and address together, so that a client cannot be locked out from another address; the counts are shared by all instances. Clients
// that do not exist share one count for each address: otherwise every invented client_id would store a row.

export type ClientLimits = ReturnType<typeof createClientLimits>;

/** What failed registrations are counted under. */
const REGISTRATION = 'registration';
/** What clients that do not exist are counted under. No client_id contains a line break (RFC 6749 A.1). */
const UNKNOWN = 'unknown\n';

export function createClientLimits({
  rateLimits,
  isRegistered,
}: {
  rateLimits: RateLimits;
  isRegistered(clientId: string): Promise<boolean>;
}) {
  /** Whether there were too many failures, without counting one. */
  const failures = (about: string, address: string) => rateLimits.peek('client-auth:address', { address, about });
  /** Which client each request tried to authenticate as. */
  const clientIds = new WeakMap<object, string>();
  const failed = new WeakSet<object>();

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
        rejectUnlessAllowed(ctx, await rateLimits.consume('device-start:address', { address, about: clientId }));
      }
    },

    /** Before a registration, where there is no client yet. Rejects with too_many_requests. */
    async admitRegistration({ req, state }: Context): Promise<void> {
      clientIds.set(req, REGISTRATION);
      const { allowed, retryAfterSeconds } = await failures(REGISTRATION, state.request.address);
      if (!allowed) throw tooManyRequests(retryAfterSeconds);
    },

    /** Called by the engine for a bad request object, which takes as much work as a credential. */
    markFailed: ({ req }: Context): void => void failed.add(req),

    /** After the engine: counts a failure. */
    async end(ctx: Context): Promise<void> {
      const about = clientIds.get(ctx.req);
      if (about === undefined || !(ctx.status === 401 || failed.has(ctx.req))) return;
      await rateLimits.consume('client-auth:address', { address: ctx.state.request.address, about });
    },
  };
}
