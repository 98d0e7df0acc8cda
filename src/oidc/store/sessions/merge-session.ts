// Parallel requests with one session cookie, such as tabs that a browser opens together: each holds the whole session in
// memory and saves it at its end, so what the others have saved meanwhile is merged here, field by field.

/** What the engine stores of a session, without the cookie's value. */
export interface SessionPayload {
  uid?: string;
  exp?: number;
  accountId?: string;
  acr?: string;
  amr?: string[];
  loginTs?: number;
  /** When the user authenticated at an upstream; patches/provider/session-auth-time.ts. */
  authTs?: number;
  transient?: boolean;
  /** A form of the engine that is not submitted yet: logout, device flow. */
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
 * What to store when a request has read `asRead` and changed it to `changed`, while another one has stored `stored`.
 * Undefined when nothing of `changed` belongs there any more.
 * @param hasMoved the other request has given the session a new cookie. The sender of the old one need not be the user who
 *   holds the new one (session fixation), so only applications of the same account are added.
 */
export function mergeSession(
  asRead: SessionPayload,
  changed: SessionPayload,
  stored: SessionPayload,
  { hasMoved }: { hasMoved: boolean },
): SessionPayload | undefined {
  if (hasMoved && changed.accountId !== stored.accountId) return undefined;
  const isNewestLogin = !same(login(asRead), login(changed)) && (changed.loginTs ?? 0) >= (stored.loginTs ?? 0);
  const isChangedState = !hasMoved && !same(asRead.state, changed.state);
  return {
    ...stored,
    ...(isNewestLogin && login(changed)),
    ...(isChangedState && { state: changed.state }),
    authorizations: mergeAuthorizations(asRead.authorizations, changed.authorizations, stored.authorizations),
  };
}

/** Whether the user has signed in, or has proven more, since `before` was read. */
export function hasNewLogin(before: SessionPayload | undefined, changed: SessionPayload): boolean {
  if (changed.accountId === undefined) return false;
  return !same(before && login({ ...before, exp: 0 }), login({ ...changed, exp: 0 }));
}

function login({ accountId, acr, amr, loginTs, authTs, transient, exp }: SessionPayload) {
  // An anonymous session lasts for some time from its last use, which is no login.
  return { accountId, acr, amr, loginTs, authTs, transient, exp: accountId === undefined ? undefined : exp };
}

type Authorizations = Record<string, Authorization>;

function mergeAuthorizations(asRead: Authorizations = {}, changed: Authorizations = {}, stored: Authorizations = {}) {
  const clientIds = new Set([...Object.keys(stored), ...Object.keys(changed)]);
  const merged = [...clientIds].flatMap((clientId) => {
    const one = mergeOne(
      authorizationOf(asRead, clientId),
      authorizationOf(changed, clientId),
      authorizationOf(stored, clientId),
    );
    return one ? [[clientId, one] as const] : [];
  });
  return Object.fromEntries(merged);
}

function mergeOne(
  asRead: Authorization | undefined,
  changed: Authorization | undefined,
  stored: Authorization | undefined,
) {
  if (same(asRead, changed)) return stored;
  // Another request has logged out of this application meanwhile.
  if (!stored && asRead?.grantId !== undefined && asRead.grantId === changed?.grantId) return undefined;
  if (!changed || changed.grantId !== stored?.grantId) return changed;
  return { ...stored, ...changed };
}

/** The entry of one application, whatever its name is. */
export function authorizationOf(authorizations: Authorizations, clientId: string): Authorization | undefined {
  return Object.hasOwn(authorizations, clientId) ? authorizations[clientId] : undefined;
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
