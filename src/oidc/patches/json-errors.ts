// Patch in front of the engine: it answers an error as a page when the Accept header prefers HTML. At endpoints that
// programs call the error is JSON (RFC 6749 5.2), whatever a client library sends by default.
import type { Context } from '../../http/context.ts';
import { routes } from '../engine/configuration.ts';
import { FOR_PROGRAMS } from '../engine/routes.ts';

/** @param route the engine's route of the request */
export function preferJsonErrors(ctx: Context, route: string): void {
  if (FOR_PROGRAMS.has(ctx.path) || route.startsWith(routes.registration)) ctx.req.headers.accept = 'application/json';
}
