// How the engine's sessions reach our storage. By itself it destroys the old cookie's row and writes the whole session
// under the new one, over whatever another request has stored since; here both are one step that merges.

import { artifactId } from './adapter.ts';
import { engineSeconds } from './configuration.ts';
import { Provider } from './library.ts';
import type { SavedSession, SessionStore } from './session-store.ts';

const AS_READ = Symbol('the stored text');

interface EngineSession {
  id: string;
  oldId?: string;
  uid: string;
  accountId?: string;
  exp: number;
  touched: boolean;
  [AS_READ]?: string;
  getValueAndPayload(): Promise<{ payload: SavedSession['payload'] & { jti?: string } }>;
  save(ttl: number): Promise<string>;
}

interface SessionClass {
  prototype: EngineSession;
  instantiate(stored?: SavedSession['payload'] & { jti?: string }): EngineSession;
}

export interface SessionSavingNeeds {
  store: Pick<SessionStore, 'save'>;
  epoch(): number;
}

/** Puts our way to save a session in place of the engine's. Call once for each Provider. */
export function takeOverSaving(provider: Provider, { store, epoch }: SessionSavingNeeds): void {
  const sessions = provider.Session as unknown as SessionClass;
  const instantiate = sessions.instantiate;
  sessions.instantiate = function remember(stored) {
    const session = instantiate.call(sessions, stored);
    if (stored?.uid) noteText(session, stored);
    return session;
  };

  sessions.prototype.save = async function save(ttl) {
    this.exp = engineSeconds() + ttl;
    const { jti: _bearer, ...payload } = (await this.getValueAndPayload()).payload;
    const idOf = (value: string) => artifactId('Session', value);
    const isCurrent = await store.save({
      id: idOf(this.id),
      oldId: this.oldId && idOf(this.oldId),
      asRead: this[AS_READ],
      payload,
      expiresAt: epoch() + ttl,
    });
    if (this[AS_READ] === undefined) noteText(this, payload);
    delete this.oldId;
    this.touched = false;
    // Another answer has brought the browser a newer cookie, or will; ours would put a dead one in its place.
    if (!isCurrent) withholdCookie(provider);
    return this.id;
  };
}

/** Whether another request can already have found this session in the storage. */
export function isStored(session: object): boolean {
  return (session as EngineSession)[AS_READ] !== undefined;
}

function noteText(session: EngineSession, { jti: _bearer, ...kept }: SavedSession['payload'] & { jti?: string }): void {
  Object.defineProperty(session, AS_READ, { value: JSON.stringify(kept) });
}

function withholdCookie(provider: Provider): void {
  const { ctx } = Provider;
  if (!ctx) return;
  const name = provider.cookieName('session');
  const others = [ctx.response.get('Set-Cookie') ?? []].flat().filter((cookie) => !isOf(name, cookie));
  if (others.length > 0) ctx.set('Set-Cookie', others);
  else ctx.remove('Set-Cookie');
}

function isOf(name: string, cookie: string): boolean {
  return cookie.startsWith(`${name}=`) || cookie.startsWith(`${name}.sig=`);
}
