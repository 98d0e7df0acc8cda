// Patch: Session.instantiate, Session.get and Session.prototype.save. The engine deletes the row of the old cookie and writes the whole
// session under the new one, and overwrites the changes of parallel requests. Here both are one step that merges (store/sessions/merge-session.ts),
// without a lock, which would hold a connection through every request. A session of nobody is not stored: the form that it is for is in a
// cookie of its own (store/form-state.ts).

import { limits } from '../../../../base/limits.ts';
import { appContext } from '../../engine/app-context.ts';
import { engineSeconds, type KoaContextWithOIDC, Provider } from '../../engine/library.ts';
import { artifactId } from '../../store/adapter.ts';
import type { FormStates } from '../../store/form-state.ts';
import { hasNewLogin, setStoredText, storedTextOf } from '../../store/sessions/merge-session.ts';
import type { SavedSession, SessionStore } from '../../store/sessions/session-store.ts';

type StoredSession = SavedSession['payload'] & { jti?: string };

interface EngineSession {
  id: string;
  oldId?: string;
  uid: string;
  accountId?: string;
  exp: number;
  touched: boolean;
  state?: object;
  getValueAndPayload(): Promise<{ payload: StoredSession }>;
  save(ttl: number): Promise<string>;
}

interface SessionClass {
  prototype: EngineSession;
  instantiate(stored?: StoredSession): EngineSession;
  get(ctx: KoaContextWithOIDC): Promise<EngineSession>;
}

/** Where the engine checks the CSRF secret of its form. */
const FORM_ROUTES = new Set(['end_session_confirm', 'code_verification', 'device_resume']);

export interface SignedInSession {
  uid: string;
  accountId: string;
  /** The latest end of the session. */
  endsAt: Date;
}

export interface SessionSavingDependencies {
  store: SessionStore;
  forms: FormStates;
  /** Epoch seconds of this server's clock. */
  epoch(): number;
  /** The idle limit of a session. */
  idleSeconds(): number;
  /** Stores the browser of a sign-in together with its session. */
  recordBrowser(session: SignedInSession): Promise<void>;
  /** Called after the session of a sign-in is stored. */
  onSignedIn(session: SignedInSession): Promise<void>;
}

export function mergeSessionsOnSave(provider: Provider, dependencies: SessionSavingDependencies): void {
  const { store, forms, epoch, idleSeconds, recordBrowser, onSignedIn } = dependencies;
  const sessions = provider.Session as unknown as SessionClass;
  const { get, instantiate } = sessions;
  sessions.get = async function getWithForm(ctx) {
    const session = await get.call(sessions, ctx);
    const form = session.state === undefined && FORM_ROUTES.has(ctx.oidc?.route) && forms.find(appContext(ctx));
    if (form) {
      session.state = form;
      // The engine saves a session again that an error changed; a session of nobody has no end of its own yet.
      session.exp ??= engineSeconds() + limits.interaction.seconds;
    }
    return session;
  };

  sessions.instantiate = function instantiateWithStoredText(stored) {
    const session = instantiate.call(sessions, stored);
    if (stored?.uid) setStoredText(session, storedTextOf(stored) ?? textOf(stored));
    return session;
  };

  sessions.prototype.save = async function saveMerged(ttl) {
    this.exp = engineSeconds() + ttl;
    const { jti: _bearer, ...payload } = (await this.getValueAndPayload()).payload;
    const storedText = storedTextOf(this);
    if (payload.accountId === undefined && storedText === undefined && isHeldByBrowser(payload.state)) {
      this.touched = false;
      removeSessionCookie(provider);
      return this.id;
    }
    const endsAt = epoch() + ttl;
    const signedIn = signInOf(payload, storedText, endsAt);
    if (signedIn) await recordBrowser(signedIn);
    const isCurrent = await store.save({
      id: artifactId('Session', this.id),
      oldId: this.oldId && artifactId('Session', this.oldId),
      storedText,
      payload,
      endsAt,
      idleEndsAt: epoch() + idleSeconds(),
    });
    if (storedText === undefined) setStoredText(this, textOf(payload));
    delete this.oldId;
    this.touched = false;
    // Another response sets a newer cookie in the browser. The cookie of this response is no longer valid, so it is not sent.
    if (!isCurrent) removeSessionCookie(provider);
    if (isCurrent && signedIn) await onSignedIn(signedIn);
    return this.id;
  };

  /** Whether the browser holds the form of a session of nobody, in a cookie; a long one is stored. */
  function isHeldByBrowser(state: unknown): boolean {
    const { ctx } = Provider;
    return typeof state !== 'object' || state === null || (ctx !== undefined && forms.give(appContext(ctx), state));
  }
}

/** The session if this request has signed the user in; undefined otherwise. `endsAt`: its latest end, in epoch seconds. */
function signInOf(payload: StoredSession, storedText: string | undefined, endsAt: number): SignedInSession | undefined {
  const { uid, accountId } = payload;
  const before = storedText === undefined ? undefined : JSON.parse(storedText);
  if (!accountId || !hasNewLogin(before, payload)) return undefined;
  return { uid, accountId, endsAt: new Date(endsAt * 1000) };
}

/** Whether another request can already have read this session from the database. */
export function isStored(session: object): boolean {
  return storedTextOf(session) !== undefined;
}

function textOf({ jti: _bearer, ...stored }: StoredSession): string {
  return JSON.stringify(stored);
}

function removeSessionCookie(provider: Provider): void {
  const { ctx } = Provider;
  if (!ctx) return;
  const name = provider.cookieName('session');
  const isSessionCookie = (cookie: string) => cookie.startsWith(`${name}=`) || cookie.startsWith(`${name}.sig=`);
  const others = [ctx.response.get('Set-Cookie') ?? []].flat().filter((cookie) => !isSessionCookie(cookie));
  if (others.length > 0) ctx.set('Set-Cookie', others);
  else ctx.remove('Set-Cookie');
}
