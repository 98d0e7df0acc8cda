// Patch behind the engine: reading a registration (RFC 7592 2.1) returns the client_secret. Here the secret is stored as a
// MAC, and what the engine would return is a placeholder; the secret is displayed once, when the client is registered.
import type { Context } from '../../http/context.ts';
import { REGISTRATION } from '../engine/routes.ts';

/** @param route the engine's route of the request */
export function removeSecretPlaceholder(ctx: Context, route: string): void {
  if (route === REGISTRATION && isRecord(ctx.body)) delete ctx.body.client_secret;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
