// Patch behind the engine: reading and updating a registration (RFC 7592) returns the client_secret. Here the secret is stored
// as a MAC, and what the engine would return is a placeholder; a secret is displayed once, when it is made.
import type { Context } from '../../../../base/http/context.ts';
import { engineContext } from '../../engine/app-context.ts';
import { REGISTRATION } from '../../engine/routes.ts';

/** @param route the engine's route of the request */
export function removeSecretPlaceholder(ctx: Context, route: string): void {
  if (route !== REGISTRATION || !isRecord(ctx.body)) return;
  // The client as it was before the update: one without a secret has been given one.
  const before = engineContext(ctx)?.client;
  if (ctx.method === 'PUT' && before && before.clientSecret === undefined) return;
  delete ctx.body.client_secret;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
