// The security headers of every response (docs/security.md). A page that a protocol needs otherwise relaxes one directive
// for itself only, with a reason.
import { limits } from '../limits.ts';
import type { Context, Middleware } from './context.ts';

const CONTENT_SECURITY_POLICY =
  "default-src 'self'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:";

/** Name and value of each, unless a page relaxes one. */
export const SECURITY_HEADERS = {
  'X-Frame-Options': 'SAMEORIGIN',
  // Sent over plain http too, where browsers ignore it (RFC 6797 8.1): one table for every deployment.
  'Strict-Transport-Security': `max-age=${limits.hsts.maxAgeSeconds}; includeSubDomains; preload`,
  // No form-action: Chromium applies it to the redirects after a form as well, and a sign-in ends in such a redirect.
  'Content-Security-Policy': CONTENT_SECURITY_POLICY,
  'X-Content-Type-Options': 'nosniff',
  'X-XSS-Protection': '1; mode=block',
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'Permissions-Policy': 'geolocation=(), microphone=(), camera=()',
} as const;

/** Sets them before anything else runs: the OIDC engine adds the hashes of its own small scripts to what it finds. */
export function securityHeaders(): Middleware {
  const headers = Object.entries(SECURITY_HEADERS);
  return (ctx, next) => {
    for (const [name, value] of headers) ctx.res.setHeader(name, value);
    return next();
  };
}

export interface Relaxation {
  directive: 'frame-src' | 'frame-ancestors' | 'form-action' | 'img-src' | 'script-src' | 'connect-src';
  /** Origins such as `https://app.example.com`, or a hash in quotes. */
  sources: readonly string[];
  /** Why this page needs it; logged. */
  reason: string;
}

/** Adds sources to one directive of the current response. Never use `form-action` on a sign-in page. */
export function relaxPolicy(ctx: Context, { directive, sources, reason }: Relaxation): void {
  for (const source of sources) {
    // A source may come from registered metadata; it must not end its directive and start another one.
    if (!/^[\w:./[\]'=+*-]+$/.test(source)) throw new TypeError(`not a source expression: ${source}`);
  }
  const policy = parsePolicy(String(ctx.response.get('Content-Security-Policy') || CONTENT_SECURITY_POLICY));
  const present = policy.get(directive) ?? ["'self'"];
  policy.set(directive, [...new Set([...present, ...sources])]);
  ctx.set('Content-Security-Policy', [...policy].map(([name, values]) => [name, ...values].join(' ')).join('; '));
  ctx.state.log().debug({ directive, sources, reason }, 'content security policy relaxed');
}

function parsePolicy(header: string): Map<string, string[]> {
  const directives = header.split(';').map((directive) => directive.trim().split(/\s+/));
  return new Map(directives.map(([name = '', ...sources]) => [name, sources]));
}
