// The engine's paths, their callers, and the methods that they allow.
import type { Context } from '../../../base/http/context.ts';
import { methodNotAllowed } from '../../../base/http/errors.ts';

/** The engine's paths (docs/api.md). */
export const routes = {
  authorization: '/authorize',
  token: '/token',
  jwks: '/jwks',
  userinfo: '/userinfo',
  introspection: '/introspect',
  revocation: '/revoke',
  pushed_authorization_request: '/par',
  code_verification: '/device',
  device_authorization: '/device/code',
  registration: '/register',
  end_session: '/end-session',
} as const;

export const DISCOVERY = ['/.well-known/openid-configuration', '/.well-known/oauth-authorization-server'];
export const PUBLIC_DOCUMENTS = new Set<string>([routes.jwks, ...DISCOVERY]);
const FOR_PROGRAMS = new Set<string>([
  routes.token,
  routes.introspection,
  routes.revocation,
  routes.userinfo,
  routes.pushed_authorization_request,
  routes.device_authorization,
  routes.registration,
  ...PUBLIC_DOCUMENTS,
]);
/** Endpoints that an application in a browser may read from its own origin. */
export const FOR_BROWSER_CLIENTS = new Set<string>([
  routes.token,
  routes.userinfo,
  routes.revocation,
  ...PUBLIC_DOCUMENTS,
]);
export const DEVICE_STEP = `${routes.code_verification}/:uid`;

export const REGISTRATION = `${routes.registration}/:uid`;
const READ = ['GET', 'HEAD'];
const ALLOWED = new Map<string, string[]>([
  ...[...PUBLIC_DOCUMENTS].map((path): [string, string[]] => [path, READ]),
  [routes.authorization, [...READ, 'POST']],
  [`${routes.authorization}/:uid`, READ],
  [routes.token, ['POST']],
  [routes.introspection, ['POST']],
  [routes.revocation, ['POST']],
  [routes.userinfo, [...READ, 'POST']],
  [routes.pushed_authorization_request, ['POST']],
  [routes.device_authorization, ['POST']],
  [routes.code_verification, [...READ, 'POST']],
  [DEVICE_STEP, READ],
  [routes.registration, ['POST']],
  [REGISTRATION, ['GET', 'HEAD', 'PUT', 'DELETE']],
  [routes.end_session, [...READ, 'POST']],
  [`${routes.end_session}/confirm`, ['POST']],
  [`${routes.end_session}/success`, READ],
]);

/** Whether programs call the path: its errors are always JSON in the form of RFC 6749 5.2, regardless of the Accept header. */
export function isForPrograms(path: string): boolean {
  return FOR_PROGRAMS.has(path) || path.startsWith(`${routes.registration}/`);
}

/** The engine's route that this path belongs to; undefined when it is not the engine's. */
export function engineRoute(path: string): string | undefined {
  if (ALLOWED.has(path)) return path;
  const parent = path.slice(0, path.lastIndexOf('/'));
  const step = `${parent}/:uid`;
  return path.length > parent.length + 1 && ALLOWED.has(step) ? step : undefined;
}

/**
 * Rejects a method that the route does not allow (405 with `Allow`, RFC 9110 15.5.6), and answers OPTIONS unless it is a
 * CORS preflight request, which the engine answers. Returns whether it responded.
 */
export function answerMethod(ctx: Context, route: string): boolean {
  const allowed = ALLOWED.get(route) ?? [];
  if (allowed.includes(ctx.method)) return false;
  if (ctx.method === 'OPTIONS' && FOR_BROWSER_CLIENTS.has(ctx.path) && ctx.get('Origin') !== '') return false;
  const headers = { Allow: [...allowed, 'OPTIONS'].join(', ') };
  if (ctx.method !== 'OPTIONS') throw methodNotAllowed('method_not_allowed', { headers });
  ctx.set(headers);
  ctx.status = 204;
  return true;
}
