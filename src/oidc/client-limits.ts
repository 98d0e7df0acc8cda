// How often an application may fail to prove itself, and start device flows, from one address. Counted by application
// and address together, so that no stranger locks an application out; the counts are shared by all instances.
import type { Context } from '../http/context.ts';
import { tooManyRequests } from '../http/errors.ts';
import { routes } from './configuration.ts';
import { errors, Provider } from './library.ts';

interface Verdict {
  allowed: boolean;
  retryAfterSeconds: number;
}

export interface ClientLimits {
  /** Call once for each Provider. */
  guard(provider: Provider): void;
  /** In front of the engine: for registration, whose callers have no client yet. */
  begin(ctx: Context): Promise<void>;
  /** After the engine has answered. */
  end(ctx: Context): Promise<void>;
}

export interface ClientLimitsNeeds {
  /** Whether there were too many failures, without counting one. */
  failures(who: string, address: string): Promise<Verdict>;
  failed(who: string, address: string): Promise<void>;
  /** Counts the start of a device flow. */
  deviceStart(who: string, address: string): Promise<Verdict>;
}

/** The engine's names of the endpoints at which clients prove themselves. */
const PROVING = new Set([
  'token',
  'introspection',
  'revocation',
  'pushed_authorization_request',
  'device_authorization',
]);
const REGISTRATION = 'registration';

export function createClientLimits({ failures, failed, deviceStart }: ClientLimitsNeeds): ClientLimits {
  /** Who tried to prove what they are, by request. */
  const tried = new WeakMap<object, string>();

  async function admit(ctx: Context, route: string, clientId: string): Promise<void> {
    tried.set(ctx.req, clientId);
    const { address } = ctx.state.request;
    refuse(ctx, await failures(clientId, address));
    if (route === 'device_authorization') refuse(ctx, await deviceStart(clientId, address));
  }

  const isRegistration = (ctx: Context) => ctx.method === 'POST' && ctx.path === routes.registration;

  return {
    guard(provider) {
      const { find } = provider.Client;
      provider.Client.find = async function findAdmitted(id: string) {
        const ctx = Provider.ctx;
        const isProving = ctx !== undefined && PROVING.has(ctx.oidc.route) && ctx.oidc.client === undefined;
        const outer = ctx as unknown as Context;
        // Before the first look at the client, which is before any credential is looked at.
        if (isProving && !tried.has(outer.req)) await admit(outer, ctx.oidc.route, id);
        return find.call(provider.Client, id);
      };
    },

    async begin(ctx) {
      if (!isRegistration(ctx)) return;
      tried.set(ctx.req, REGISTRATION);
      const { allowed, retryAfterSeconds } = await failures(REGISTRATION, ctx.state.request.address);
      if (!allowed) throw tooManyRequests(retryAfterSeconds);
    },

    async end(ctx) {
      const who = tried.get(ctx.req);
      if (who !== undefined && ctx.status === 401) await failed(who, ctx.state.request.address);
    },
  };
}

function refuse(ctx: Context, { allowed, retryAfterSeconds }: Verdict): void {
  if (allowed) return;
  ctx.set('Retry-After', String(retryAfterSeconds));
  throw new TooManyAttempts();
}

/** 429 in the form of RFC 6749 5.2, which has no code of its own for it. */
export class TooManyAttempts extends errors.CustomOIDCProviderError {
  override statusCode = 429;
  override status = 429;

  constructor() {
    super('temporarily_unavailable', 'too many attempts; try again after the time that Retry-After says');
  }
}
