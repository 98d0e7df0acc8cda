// Parallel requests with one session cookie, such as tabs that a browser opens together: each has the whole session
// in memory and saves it at its end. This file merges the changes of the others into it, field by field: applications of both take part,
// the newest sign-in wins, and what either signed out of stays out.

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

/** The entry of one application in a session. */
export interface Authorization {
  sid?: string;
  grantId?: string;
  persistsLogout?: boolean;
  /** Whether it got a code, a token or an assertion in this session: a rejected person has an entry too. */
  isAnswered?: boolean;
}

/**
 * The payload to store if a request read `before` and changed it to `changed`, while another request stored `stored`.
 * Undefined if no change can be stored any more.
 * @param wasRenamed the other request has given the session a new cookie. The sender of the old one may be another
 *   person than the user with the new one (session fixation), so only applications of the same account are added.
 */
export function mergeSession(
  before: SessionPayload,
  changed: SessionPayload,
  stored: SessionPayload,
  { wasRenamed }: { wasRenamed: boolean },
): SessionPayload | undefined {
  if (wasRenamed && changed.accountId !== stored.accountId) return undefined;
  const isNewestLogin = !same(login(before), login(changed)) && (changed.loginTs ?? 0) >= (stored.loginTs ?? 0);
  const isChangedState = !wasRenamed && !same(before.state, changed.state);
  return {
    ...stored,
    ...(isNewestLogin && login(changed)),
    ...(isChangedState && { state: changed.state }),
    authorizations: mergeAuthorizations(before.authorizations, changed.authorizations, stored.authorizations),
  };
}

/** Whether the user has signed in, or has proven more, since `before` was read. */
export function hasNewLogin(before: SessionPayload | undefined, changed: SessionPayload): boolean {
  if (changed.accountId === undefined) return false;
  return !same(before && login({ ...before, exp: 0 }), login({ ...changed, exp: 0 }));
}

function login({ accountId, acr, amr, loginTs, authTs, transient, exp }: SessionPayload) {
  // Each use of an anonymous session changes its `exp`, which is no login.
  return { accountId, acr, amr, loginTs, authTs, transient, exp: accountId === undefined ? undefined : exp };
}

type Authorizations = Record<string, Authorization>;

function mergeAuthorizations(before: Authorizations = {}, changed: Authorizations = {}, stored: Authorizations = {}) {
  const clientIds = new Set([...Object.keys(stored), ...Object.keys(changed)]);
  const merged: [clientId: string, authorization: Authorization][] = [];
  for (const clientId of clientIds) {
    const authorization = mergeAuthorization(
      authorizationOf(before, clientId),
      authorizationOf(changed, clientId),
      authorizationOf(stored, clientId),
    );
    if (authorization) merged.push([clientId, authorization]);
  }
  return Object.fromEntries(merged);
}

/** One application; undefined: it takes no part in the session any more. */
function mergeAuthorization(
  before: Authorization | undefined,
  changed: Authorization | undefined,
  stored: Authorization | undefined,
): Authorization | undefined {
  const isChangedHere = !same(before, changed);
  if (!isChangedHere) return stored;
  const isRemovedHere = changed === undefined;
  if (isRemovedHere) return undefined;
  const isRemovedByOther = stored === undefined && before?.grantId !== undefined && before.grantId === changed.grantId;
  if (isRemovedByOther) return undefined;
  // Of two grants, that of this request counts; under one grant, both have added members.
  return changed.grantId === stored?.grantId ? { ...stored, ...changed } : changed;
}

/** The entry of one application; safe for a client_id such as `__proto__`. */
export function authorizationOf(authorizations: Authorizations, clientId: string): Authorization | undefined {
  return Object.hasOwn(authorizations, clientId) ? authorizations[clientId] : undefined;
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

// Remembers the stored text of a session object, so that its row is changed only if it still has this text.

const STORED_TEXT = Symbol('the stored text of a session as it was read');

interface WithText {
  [STORED_TEXT]?: string;
}

/** The text of the row when the session was read; undefined for a new session. */
export const storedTextOf = (session: object): string | undefined => (session as WithText)[STORED_TEXT];

/** The text is under a symbol that is not enumerable, so it is neither copied nor stored with the session. */
export function setStoredText(session: object, text: string): void {
  Object.defineProperty(session, STORED_TEXT, { value: text });
}
