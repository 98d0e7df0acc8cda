// A cookie jar as strict as a test needs: host, path, expiry and Secure. Ports share cookies, as in browsers.

export interface Cookie {
  name: string;
  value: string;
  host: string;
  path: string;
  expiresAt?: number;
  /** Lower-case name to value: `httponly`, `secure`, `samesite`, `max-age`. */
  attributes: Map<string, string>;
}

export interface CookieJar {
  /** Takes over the Set-Cookie headers of a response from this address. */
  store(url: URL, setCookie: readonly string[]): void;
  /** The Cookie header for a request to this address. */
  headerFor(url: URL): string;
  get(name: string): Cookie | undefined;
  set(cookie: Cookie): void;
  all(): Cookie[];
  clear(): void;
}

export function cookieJar(): CookieJar {
  const jar = new Map<string, Cookie>();
  const keyOf = (cookie: Cookie) => `${cookie.host}|${cookie.path}|${cookie.name}`;
  const all = () => [...jar.values()].filter((cookie) => (cookie.expiresAt ?? Infinity) > Date.now());
  return {
    store(url, setCookie) {
      for (const header of setCookie) {
        const cookie = parseSetCookie(header, url);
        jar.set(keyOf(cookie), cookie);
      }
    },
    headerFor(url) {
      return all()
        .filter((cookie) => isSentTo(cookie, url))
        .sort((a, b) => b.path.length - a.path.length)
        .map(({ name, value }) => `${name}=${value}`)
        .join('; ');
    },
    get: (name) => all().find((cookie) => cookie.name === name),
    set: (cookie) => void jar.set(keyOf(cookie), cookie),
    all,
    clear: () => jar.clear(),
  };
}

/** One Set-Cookie header, taken apart. */
export function parseSetCookie(header: string, url: URL): Cookie {
  const [pair = '', ...rest] = header.split(';').map((part) => part.trim());
  const equals = pair.indexOf('=');
  const attributes = new Map(
    rest.map((part) => {
      const [name = '', ...value] = part.split('=');
      return [name.toLowerCase(), value.join('=')] as const;
    }),
  );
  const maxAge = attributes.get('max-age');
  const expires = attributes.get('expires');
  return {
    name: pair.slice(0, equals),
    value: pair.slice(equals + 1),
    host: url.hostname,
    path: attributes.get('path') ?? '/',
    expiresAt: maxAge ? Date.now() + Number(maxAge) * 1000 : expires ? Date.parse(expires) : undefined,
    attributes,
  };
}

function isSentTo({ host, path, attributes }: Cookie, url: URL): boolean {
  if (host !== url.hostname) return false;
  // Browsers count loopback as secure.
  const secure = url.protocol === 'https:' || url.hostname === 'localhost' || url.hostname === '127.0.0.1';
  if (attributes.has('secure') && !secure) return false;
  return url.pathname === path || url.pathname.startsWith(path.endsWith('/') ? path : `${path}/`);
}
