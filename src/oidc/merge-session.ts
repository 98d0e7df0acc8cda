// Requests that carry one session cookie run at the same moment: tabs that a browser opens together. Each holds the whole
// session in memory and saves it at its end, so what the others have saved meanwhile is merged here, field by field.

/** What the engine stores of a session, without the cookie's value. */
export interface SessionPayload {
  uid?: string;
  exp?: number;
  accountId?: string;
  acr?: string;
  amr?: string[];
  loginTs?: number;
  transient?: boolean;
  /** A form of the engine that waits to be sent: sign-out, device flow. */
  state?: unknown;
  authorizations?: Record<string, Authorization>;
}

/** How one application takes part. */
export interface Authorization {
  sid?: string;
  grantId?: string;
  persistsLogout?: boolean;
}

/**
 * What to store when a request has read `asRead` and made `ours` of it, while another one has stored `stored`.
 * Undefined when nothing of ours belongs there any more.
 * @param hasMoved the other request has given the session a new cookie. Whoever sent the old one need not be the person
 *   who holds the new one (session fixation), so only applications of the same account are added.
 */
export function mergeSession(
  asRead: SessionPayload,
  ours: SessionPayload,
  stored: SessionPayload,
  { hasMoved }: { hasMoved: boolean },
): SessionPayload | undefined {
  if (hasMoved && ours.accountId !== stored.accountId) return undefined;
  const isNewestLogin = !same(login(asRead), login(ours)) && (ours.loginTs ?? 0) >= (stored.loginTs ?? 0);
  const isOurState = !hasMoved && !same(asRead.state, ours.state);
  return {
    ...stored,
    ...(isNewestLogin && login(ours)),
    ...(isOurState && { state: ours.state }),
    authorizations: mergeAuthorizations(asRead.authorizations, ours.authorizations, stored.authorizations),
  };
}

function login({ accountId, acr, amr, loginTs, transient, exp }: SessionPayload) {
  // An anonymous session lasts for some time from its last use, which is no login.
  return { accountId, acr, amr, loginTs, transient, exp: accountId === undefined ? undefined : exp };
}

type Authorizations = Record<string, Authorization>;

function mergeAuthorizations(asRead: Authorizations = {}, ours: Authorizations = {}, stored: Authorizations = {}) {
  const clientIds = new Set([...Object.keys(stored), ...Object.keys(ours)]);
  const merged = [...clientIds].flatMap((clientId) => {
    const one = mergeOne(own(asRead, clientId), own(ours, clientId), own(stored, clientId));
    return one ? [[clientId, one] as const] : [];
  });
  return Object.fromEntries(merged);
}

function mergeOne(
  asRead: Authorization | undefined,
  ours: Authorization | undefined,
  stored: Authorization | undefined,
) {
  if (same(asRead, ours)) return stored;
  // Signed out of meanwhile.
  if (!stored && asRead?.grantId !== undefined && asRead.grantId === ours?.grantId) return undefined;
  if (!ours || ours.grantId !== stored?.grantId) return ours;
  return { ...stored, ...ours };
}

/** The entry of one application, whatever its name is. */
export function own(authorizations: Authorizations, clientId: string): Authorization | undefined {
  return Object.hasOwn(authorizations, clientId) ? authorizations[clientId] : undefined;
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
