// Every cookie that the service sets, and its attributes (seed 2.4, 5.4): HttpOnly, SameSite=Lax, Path=/, signed;
// Secure whenever the issuer is https, and then `__Host-` as well, so that no neighbouring subdomain can plant one.
import { createHmac } from 'node:crypto';
import { limits } from '../limits.ts';
import { safeEqual } from '../platform/random.ts';
import type { Context, CookieKeys } from './context.ts';

interface CookieRow {
  name: string;
  /** How long the browser keeps it; none = until it is closed. */
  maxAgeSeconds?: number;
  /** The seed gives `sessionId` its name; a prefix would change it. */
  fixedName?: true;
}

const cookieTable = {
  /** Single sign-on session of the identity provider; written by the OIDC engine, lifetime by setting. */
  session: { name: 'gatehouse_session' },
  /** The secret that `_csrf` fields are made from. */
  csrf: { name: 'gatehouse_csrf' },
  /** Session of the relying-party side (seed 2.4, 4.2). */
  rpSession: { name: 'sessionId', maxAgeSeconds: limits.rpSession.cookieSeconds, fixedName: true },
  /** State and PKCE verifier between `/login` and `/auth/callback`. */
  rpSignIn: { name: 'gatehouse_signin', maxAgeSeconds: limits.interaction.seconds },
  /** The browser that began a kept SAML request. */
  samlRequest: { name: 'gatehouse_saml', maxAgeSeconds: limits.saml.keptRequestSeconds },
  /** The browser that began a sign-out. */
  signOut: { name: 'gatehouse_signout', maxAgeSeconds: limits.interaction.seconds },
  /** The browser that asked for a device to be connected. */
  device: { name: 'gatehouse_device', maxAgeSeconds: limits.deviceCode.seconds },
  /** The browser that opened a password-reset or invitation link. */
  reset: { name: 'gatehouse_reset', maxAgeSeconds: limits.resetToken.maxMinutes * 60 },
  /** The browser that opened another mailed link: an address to confirm, an account to unlock. */
  link: { name: 'gatehouse_link', maxAgeSeconds: limits.interaction.seconds },
  /** What was just done with a mailed link in this browser: the page that says so, once. */
  linkDone: { name: 'gatehouse_done', maxAgeSeconds: 60 },
  /** The application that the sign-in in this browser is for; longer than the sign-in, which it leads back from. */
  signInFor: { name: 'gatehouse_for', maxAgeSeconds: 24 * limits.interaction.seconds },
  /** The sign-in that was left for a mailed link. */
  wayBack: { name: 'gatehouse_back', maxAgeSeconds: limits.interaction.seconds },
  /** Browsers that the person signed in from: they pass pauses, and may skip the second factor. */
  knownBrowser: { name: 'gatehouse_browser', maxAgeSeconds: limits.knownBrowser.days * 24 * 3600 },
  /** The test of an application that an administrator began. */
  consoleTest: { name: 'gatehouse_test', maxAgeSeconds: limits.interaction.seconds },
  /** A sentence to show once after a redirect. */
  notice: { name: 'gatehouse_notice', maxAgeSeconds: 60 },
} as const satisfies Record<string, CookieRow>;

export type CookieKey = keyof typeof cookieTable;

export interface CookieAttributes {
  httpOnly: true;
  sameSite: 'lax';
  path: '/';
  secure: boolean;
  signed: true;
  overwrite: true;
}

export interface Cookies {
  /** For the one party that writes a cookie itself, the OIDC engine. */
  nameOf(key: CookieKey): string;
  attributes: CookieAttributes;
  get(ctx: Context, key: CookieKey): string | undefined;
  set(ctx: Context, key: CookieKey, value: string, options?: { maxAgeSeconds?: number }): void;
  clear(ctx: Context, key: CookieKey): void;
}

/** The cookies of one deployment; `secure` is whether the issuer is https. */
export function createCookies({ secure }: { secure: boolean }): Cookies {
  const attributes: CookieAttributes = {
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    secure,
    signed: true,
    overwrite: true,
  };
  const nameOf = (key: CookieKey) => {
    const row: CookieRow = cookieTable[key];
    return secure && !row.fixedName ? `__Host-${row.name}` : row.name;
  };
  return {
    nameOf,
    attributes,
    get: (ctx, key) => ctx.cookies.get(nameOf(key), { signed: true }) || undefined,
    set: (ctx, key, value, options) => {
      const row: CookieRow = cookieTable[key];
      const maxAgeSeconds = options?.maxAgeSeconds ?? row.maxAgeSeconds;
      ctx.cookies.set(nameOf(key), value, {
        ...attributes,
        ...(maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds * 1000 }),
      });
      if (maxAgeSeconds !== undefined) addMaxAge(ctx, nameOf(key), maxAgeSeconds);
    },
    clear: (ctx, key) => {
      // With the attributes it was set with, or browsers refuse to touch a `__Host-` cookie.
      ctx.cookies.set(nameOf(key), null, attributes);
    },
  };
}

/** The library writes Expires alone, which a browser whose clock is wrong misreads (RFC 6265 4.1.2.2; seed 8). */
function addMaxAge({ res }: Context, name: string, seconds: number): void {
  const lines = [res.getHeader('Set-Cookie') ?? []].flat().map(String);
  const isOurs = (line: string) => line.startsWith(`${name}=`) || line.startsWith(`${name}.sig=`);
  res.setHeader(
    'Set-Cookie',
    lines.map((line) => (isOurs(line) ? `${line}; max-age=${seconds}` : line)),
  );
}

/** Signs cookies for Koa and the OIDC engine; the first key signs, all verify. Keys: `vault.deriveKeys('cookies')`. */
export function cookieKeys(keys: readonly Buffer[]): CookieKeys {
  const [first] = keys;
  if (!first) throw new TypeError('at least one cookie key is needed');
  const index = (data: string, digest: string) => keys.findIndex((key) => safeEqual(mac(key, data), digest));
  return { sign: (data) => mac(first, data), index, verify: (data, digest) => index(data, digest) >= 0 };
}

function mac(key: Buffer, data: string): string {
  return createHmac('sha256', key).update(data).digest('base64url');
}
