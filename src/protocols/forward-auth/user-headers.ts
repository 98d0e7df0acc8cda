// What a website receives about its user: headers, and a signed statement of the same.

import { importJWK, SignJWT } from 'jose';
import { headersOf, type ProxiedSettings } from '../../applications/fields/proxied-application.ts';
import { limits } from '../../base/limits.ts';
import { BoundedMap } from '../../base/platform/bounded-map.ts';
import type { Core } from '../../core/core.ts';
import type { Account } from '../../people/accounts/account.ts';
import { attributesFor, claimsFor } from '../../people/accounts/claims.ts';
import { withVisibleRoles } from '../../people/accounts/visible-roles.ts';

/** Who sends a request: a user, or a client that acts for itself. */
export type Visitor = { account: Account } | { client: { clientId: string; name: string } };

/** How a visitor has signed in. */
export interface SignInProof {
  /** Of the session or credential: the statement is kept by it. */
  id: string;
  acr?: string | undefined;
  amr: readonly string[];
  /** When the user last authenticated. */
  authTime?: Date;
  /** The client that sends the request. */
  clientId?: string;
}

/** What a client is called in place of a user. No username has a space, so nobody has the name of a client. */
const clientName = (clientId: string) => `client ${clientId}`;

const LISTS: ReadonlySet<string> = new Set(['groups', 'roles', 'permissions']);

/** What a website receives about a visitor with every request. */
interface VisitorView {
  subject: string;
  profile: Record<string, unknown>;
  /** Of both, to compare. */
  text: string;
  headers: Readonly<Record<string, string>>;
}

/** Computed once for each object of an account or client and of a website. A change makes a new object; a new object may say the same as before. */
const views = new WeakMap<object, WeakMap<ProxiedSettings, VisitorView>>();

function viewOf(visitor: Visitor, website: ProxiedSettings): VisitorView {
  const about = 'account' in visitor ? visitor.account : visitor.client;
  const ofVisitor = views.get(about) ?? new WeakMap<ProxiedSettings, VisitorView>();
  views.set(about, ofVisitor);
  const known = ofVisitor.get(website);
  if (known) return known;
  const view = 'account' in visitor ? viewOfAccount(visitor.account, website) : viewOfClient(visitor.client, website);
  ofVisitor.set(website, view);
  return view;
}

function viewOfAccount(account: Account, website: ProxiedSettings): VisitorView {
  const visible = withVisibleRoles(account, website, limits.groups.inToken);
  const headers = headersFrom(website, (field) => attributesFor(visible, { value: field }).value ?? []);
  return { ...statementOf(account.id, claimsFor(visible)), headers };
}

function viewOfClient({ clientId, name }: { clientId: string; name: string }, website: ProxiedSettings): VisitorView {
  const subject = clientName(clientId);
  const values = new Map([
    ['sub', subject],
    ['preferred_username', subject],
    ['name', name],
  ]);
  return {
    ...statementOf(subject, { name }),
    headers: headersFrom(website, (field) => [values.get(field) ?? []].flat()),
  };
}

const statementOf = (subject: string, profile: Record<string, unknown>) => ({
  subject,
  profile,
  text: JSON.stringify([subject, profile]),
});

/**
 * Every configured header. One without a value is empty and not left out, because some proxies hand on what the client sent instead. Several
 * values have commas between them, and a comma in a value is `%2C`, in which `%25` keeps a `%` apart; text beyond ASCII is in UTF-8. For websites
 * that know the headers of authentik, it is `|` instead.
 */
export const userHeaders = (
  visitor: Visitor | undefined,
  website: ProxiedSettings,
): Readonly<Record<string, string>> => (visitor ? viewOf(visitor, website).headers : headersFrom(website, () => []));

function headersFrom(website: ProxiedSettings, valuesOf: (field: string) => string[]): Record<string, string> {
  const separator = website.headers === 'authentik' ? '|' : ',';
  const encoded = encodeURIComponent(separator);
  // A percent sign that would be read as one of the two encoded characters.
  const ambiguousPercent = new RegExp(`%(?=25|${encoded.slice(1)})`, 'gi');
  const encode = (value: string) => value.replaceAll(ambiguousPercent, '%25').replaceAll(separator, encoded);
  const headers: Record<string, string> = {};
  for (const [name, field] of Object.entries(headersOf(website.headers))) {
    const values = valuesOf(field);
    const isList = values.length > 1 || LISTS.has(field) || field.startsWith('attributes.');
    headers[name] = values.map((value) => headerText(isList ? encode(value) : value)).join(separator);
  }
  return headers;
}

/** As it may stand in a header (RFC 9110 5.5): without control characters, and its UTF-8 bytes as Node.js takes them. */
function headerText(value: string): string {
  const text = value.replace(/\p{Cc}+/gu, ' ').trim();
  return Buffer.from(text, 'utf8').toString('latin1');
}

export const WEBSITE_JWT_TYPE = 'gatehouse-website+jwt';
const LIFETIME_SECONDS = 300;
/** Issued again before it ends, so that the website has some time. */
const RENEWED_SECONDS = 60;
const MAX_KEPT = 10_000;

/**
 * Signs the statement about a user for one website (RFC 7519): `iss`, `aud` (its origin), `sub`, the profile, and how the user signed in. It
 * is kept per session or credential until it nearly ends, or says something else.
 */
export function createWebsiteTokens({ keyring, config: { issuer }, now }: Core) {
  const kept = new BoundedMap<string, { text: string; proof: string; jwt: string; until: number }>(MAX_KEPT);
  let signing: { kid: string; key: Awaited<ReturnType<typeof importJWK>> } | undefined;
  keyring.onChange(() => {
    signing = undefined;
    kept.clear();
  });

  async function signingKey() {
    if (signing) return signing;
    const jwk = keyring.jwks().keys.find(({ alg }) => alg === 'ES256');
    if (!jwk) throw new Error('there is no ES256 key');
    signing = { kid: jwk.kid, key: await importJWK(jwk as Parameters<typeof importJWK>[0], 'ES256') };
    return signing;
  }

  return async function tokenFor(
    origin: string,
    website: ProxiedSettings,
    visitor: Visitor,
    { acr, amr, authTime, id, clientId }: SignInProof,
  ): Promise<string> {
    const view = viewOf(visitor, website);
    const accountEnds = 'account' in visitor ? visitor.account.activeUntil?.getTime() : undefined;
    const proof = `${origin} ${accountEnds} ${acr} ${authTime?.getTime()} ${amr.join(' ')}`;
    const seconds = Math.floor(now().getTime() / 1000);
    const known = kept.get(id);
    if (known?.text === view.text && known.proof === proof && known.until > seconds) return known.jwt;
    const claims = {
      ...view.profile,
      acr,
      amr,
      ...(authTime && { auth_time: Math.floor(authTime.getTime() / 1000) }),
      ...(clientId !== undefined && { client_id: clientId }),
    };
    const { kid, key } = await signingKey();
    const ends = Math.min(seconds + LIFETIME_SECONDS, Math.floor((accountEnds ?? Infinity) / 1000));
    const jwt = await new SignJWT(claims)
      .setProtectedHeader({ alg: 'ES256', kid, typ: WEBSITE_JWT_TYPE })
      .setIssuer(issuer)
      .setAudience(origin)
      .setSubject(view.subject)
      .setIssuedAt(seconds)
      .setExpirationTime(ends)
      .sign(key);
    kept.set(id, { text: view.text, proof, jwt, until: ends - RENEWED_SECONDS });
    return jwt;
  };
}
