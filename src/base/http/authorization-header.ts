// Reads the Authorization header: bearer tokens and client credentials.
import type { Context } from './context.ts';

/** One space after the scheme, of which RFC 9110 11.4 allows several: the engine accepts one only. */
export function withOneSpace(header: string): string {
  return header.replace(/^(\S+) +/, '$1 ');
}

/** The value of `Authorization: Bearer` (RFC 6750 2.1), if there is one. */
export function bearerOf(ctx: Context): string | undefined {
  return /^Bearer +([A-Za-z0-9._~+/-]{1,4096}=*)$/i.exec(ctx.get('Authorization'))?.[1];
}

/** Client and secret of `Authorization: Basic` (RFC 7617), each form-encoded (RFC 6749 2.3.1). */
export function basicOf(ctx: Context): { clientId: string; secret: string } | undefined {
  const [, encoded] = /^Basic +([A-Za-z0-9+/]{1,4096}={0,2})$/i.exec(ctx.get('Authorization')) ?? [];
  const text = Buffer.from(encoded ?? '', 'base64').toString();
  const colon = text.indexOf(':');
  if (colon < 1) return undefined;
  try {
    const [clientId, secret] = [text.slice(0, colon), text.slice(colon + 1)].map((part) =>
      decodeURIComponent(part.replaceAll('+', ' ')),
    );
    return clientId && secret ? { clientId, secret } : undefined;
  } catch {
    return undefined;
  }
}
