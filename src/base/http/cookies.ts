// Every cookie that the service sets, and its attributes: HttpOnly, SameSite=Lax, Path=/, signed; with an https issuer
// also Secure and `__Host-`, so that another subdomain cannot plant one.
import { limits } from '../limits.ts';
import { hmacSha256 } from '../platform/hmac.ts';
import { safeEqual } from '../platform/random.ts';
import type { Context, CookieKeys } from './context.ts';

interface CookieRow {
  name: string;
  /** Lifetime in the browser; without it, until the browser is closed. */
  maxAgeSeconds?: number;
  /** Never gets the `__Host-` prefix: `sessionId` is a documented name. */
  fixedName?: true;
}

const cookieTable = {
  /** Single sign-on session of the identity provider; written by the OIDC engine, lifetime by setting. */
  session: { name: 'gatehouse_session' },
  /** The secret that `_csrf` tokens are derived from. */
  csrf: { name: 'gatehouse_csrf' },
  /** The engine's form that is open in a browser without a session: logout, device flow. */
  form: { name: 'gatehouse_form', maxAgeSeconds: limits.interaction.seconds },
  /** Session of the account pages and the console (src/account/rp). */
  rpSession: { name: 'sessionId', maxAgeSeconds: limits.rpSession.cookieSeconds, fixedName: true },
  /** State and PKCE verifier between `/login` and `/auth/callback`; one cookie for each sign-in, as tabs begin several at the same moment. */
  rpSignIn: { name: 'gatehouse_signin', maxAgeSeconds: limits.interaction.seconds },
  /** Binds a pending AuthnRequest to the browser that brought it. */
  samlRequest: { name: 'gatehouse_saml', maxAgeSeconds: limits.saml.keptRequestSeconds },
  /** Binds a logout run to the browser that started it. */
  logout: { name: 'gatehouse_signout', maxAgeSeconds: limits.interaction.seconds },
  /** Binds a device authorization to the browser that started it. */
  device: { name: 'gatehouse_device', maxAgeSeconds: limits.deviceCode.seconds },
  /** The browser that opened a password-reset or invitation link. */
  reset: { name: 'gatehouse_reset', maxAgeSeconds: limits.resetToken.maxMinutes * 60 },
  /** What an accepted invitation signs in with, once. */
  accepted: { name: 'gatehouse_accepted', maxAgeSeconds: limits.invitation.signInSeconds },
  /** The browser that opened another mailed link: an address to confirm, an account to unlock. */
  link: { name: 'gatehouse_link', maxAgeSeconds: limits.interaction.seconds },
  /** The result of a mailed link, for the page that displays it once. */
  linkDone: { name: 'gatehouse_done', maxAgeSeconds: 60 },
  /** The application of the sign-in in this browser; outlives the sign-in, to return to the application after it expired. */
  signInFor: { name: 'gatehouse_for', maxAgeSeconds: 24 * limits.interaction.seconds },
  /** The sign-in to return to after a mailed link. */
  returnToSignIn: { name: 'gatehouse_back', maxAgeSeconds: limits.interaction.seconds },
  /** A known browser of the user: exempt from the lockout, and may skip the second factor. */
  knownBrowser: { name: 'gatehouse_browser', maxAgeSeconds: limits.knownBrowser.days * 24 * 3600 },
  /** The test sign-in that an administrator started. */
  consoleTest: { name: 'gatehouse_test', maxAgeSeconds: limits.interaction.seconds },
  /** The language that the user picked in this browser. */
  language: { name: 'gatehouse_language', maxAgeSeconds: limits.knownBrowser.days * 24 * 3600 },
  /** The same until the browser is closed: it comes before the wishes of applications. */
  pickedLanguage: { name: 'gatehouse_picked' },
  /** A message to display once after a redirect. */
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

export type Cookies = ReturnType<typeof createCookies>;

/** The cookies of one deployment; `secure` is whether the issuer is https. */
export function createCookies({ secure }: { secure: boolean }) {
  const attributes: CookieAttributes = {
    httpOnly: true,
    sameSite: 'lax',
    path: '/',
    secure,
    signed: true,
    overwrite: true,
  };
  const nameOf = (key: CookieKey, id?: string) => {
    const row: CookieRow = cookieTable[key];
    const name = id === undefined ? row.name : `${row.name}_${id}`;
    return secure && !row.fixedName ? `__Host-${name}` : name;
  };
  return {
    /** For the OIDC engine, which writes its session cookie itself. */
    nameOf,
    attributes,
    /** @param id of one of several cookies of this kind */
    get: (ctx: Context, key: CookieKey, id?: string): string | undefined =>
      ctx.cookies.get(nameOf(key, id), { signed: true }) || undefined,
    set: (ctx: Context, key: CookieKey, value: string, options?: { maxAgeSeconds?: number; id?: string }): void => {
      const row: CookieRow = cookieTable[key];
      const maxAgeSeconds = options?.maxAgeSeconds ?? row.maxAgeSeconds;
      const name = nameOf(key, options?.id);
      ctx.cookies.set(name, value, {
        ...attributes,
        ...(maxAgeSeconds === undefined ? {} : { maxAge: maxAgeSeconds * 1000 }),
      });
      if (maxAgeSeconds !== undefined) addMaxAge(ctx, name, maxAgeSeconds);
    },
    clear: (ctx: Context, key: CookieKey, id?: string): void => {
      // With the attributes it was set with, or browsers ignore it for a `__Host-` cookie.
      ctx.cookies.set(nameOf(key, id), null, attributes);
    },
    /** The cookies of a kind with several that a request brought, the oldest first (RFC 6265 5.4), with the length of each value. */
    several(ctx: Context, key: CookieKey): { id: string; length: number }[] {
      const prefix = `${nameOf(key)}_`;
      return ctx
        .get('Cookie')
        .split(/; */)
        .flatMap((pair) => {
          const [name = '', value = ''] = pair.split('=');
          const id = name.slice(prefix.length);
          return name.startsWith(prefix) && /^[\w-]+$/.test(id) ? { id, length: value.length } : [];
        });
    },
  };
}

/** The library writes only Expires, which depends on the browser's clock; Max-Age does not (RFC 6265 section 4.1.2.2). */
function addMaxAge({ res }: Context, name: string, seconds: number): void {
  const lines = [res.getHeader('Set-Cookie') ?? []].flat().map(String);
  const isThisCookie = (line: string) => line.startsWith(`${name}=`) || line.startsWith(`${name}.sig=`);
  res.setHeader(
    'Set-Cookie',
    lines.map((line) => (isThisCookie(line) ? `${line}; max-age=${seconds}` : line)),
  );
}

/** Signs cookies for Koa and the OIDC engine; the first key signs, all keys verify. Keys: `vault.deriveKeys('cookies')`. */
export function cookieKeys(keys: readonly Buffer[]): CookieKeys {
  const macs = keys.map(hmacSha256);
  const [sign] = macs;
  if (!sign) throw new TypeError('at least one cookie key is needed');
  const index = (data: string, digest: string) => macs.findIndex((mac) => safeEqual(mac(data), digest));
  return { sign, index, verify: (data, digest) => index(data, digest) >= 0 };
}
