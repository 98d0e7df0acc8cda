import { afterAll, describe, expect, it, vi } from 'vitest';
import type { AdapterPayload, Configuration } from '../../../../src/protocols/oidc/engine/library.ts';
import { routes } from '../../../../src/protocols/oidc/engine/routes.ts';
import { mergeSessionsOnSave } from '../../../../src/protocols/oidc/patches/provider/session-saving.ts';
import { artifactId } from '../../../../src/protocols/oidc/store/adapter.ts';
import type { SavedSession } from '../../../../src/protocols/oidc/store/sessions/session-store.ts';
import { appUri, sharedStore, signIn, startBareEngine } from '../../bare-engine.ts';

const calls: string[] = [];
const rows = new Map<string, AdapterPayload>();
const saved: SavedSession[] = [];
const signIns: string[] = [];
let isCurrent = true;

const sessionCalls = (store: ReturnType<typeof sharedStore>): Configuration['adapter'] => {
  return (model: string) => {
    const adapter = store(model);
    if (model !== 'Session') return adapter;
    return {
      ...adapter,
      async find(id) {
        const row = rows.get(artifactId('Session', id));
        return row ? { ...row, jti: id } : adapter.find(id);
      },
      findByUid: async (uid) => [...rows.values()].find((row) => row.uid === uid) ?? adapter.findByUid(uid),
      async upsert(id, payload, seconds) {
        calls.push('upsert');
        await adapter.upsert(id, payload, seconds);
      },
      async destroy(id) {
        calls.push('destroy');
        await adapter.destroy(id);
      },
    };
  };
};

const bare = await startBareEngine({ configuration: { adapter: sessionCalls(sharedStore()) } });
const patched = await startBareEngine({
  configuration: { adapter: sessionCalls(sharedStore()) },
  patch: (provider) =>
    mergeSessionsOnSave(provider, {
      epoch: () => 1000,
      idleSeconds: () => 600,
      recordBrowser: async () => {},
      onSignedIn: async ({ accountId }) => void signIns.push(accountId),
      forms: { give: () => true, find: () => undefined },
      store: {
        async save(session: SavedSession) {
          saved.push(session);
          if (session.oldId) rows.delete(session.oldId);
          if (isCurrent) rows.set(session.id, session.payload as AdapterPayload);
          return isCurrent;
        },
      } as never,
    }),
});
afterAll(() => Promise.all([bare.close(), patched.close()]));

describe('session-saving', () => {
  it('is needed: the engine changes the cookie of a session by deleting a row and writing another', async () => {
    const { browser } = await signIn(bare);
    await signIn(bare, { prompt: 'login' }, browser);
    expect(calls).toContain('destroy');
    expect(calls.slice(calls.indexOf('destroy'))).toContain('upsert');
  });

  it('saves each change of a session in one step, with the text that the request has read', async () => {
    calls.splice(0);
    const { browser } = await signIn(patched);
    const [first, ...later] = saved.splice(0);
    expect(first).toMatchObject({
      oldId: undefined,
      storedText: undefined,
      endsAt: 1000 + 3600,
      idleEndsAt: 1000 + 600,
    });
    expect(first?.payload).toMatchObject({ accountId: 'alice' });
    expect(Object.keys(first?.payload ?? {})).not.toContain('jti');
    // The engine tells sign-ins apart by their second.
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2000 });
    await signIn(patched, { prompt: 'login' }, browser).finally(() => vi.useRealTimers());
    const moved = saved.find(({ oldId }) => oldId !== undefined);
    expect(moved?.oldId).toBe((later.at(-1) ?? first)?.id);
    expect(JSON.parse(moved?.storedText ?? '{}')).toMatchObject({ uid: first?.payload.uid, accountId: 'alice' });
    expect(signIns).toHaveLength(2);
    expect(moved?.id).not.toBe(moved?.oldId);
    expect(calls).toEqual([]);
  });

  it('sets no cookie for a session that another request has moved', async () => {
    const { browser } = await signIn(patched);
    isCurrent = false;
    const query = { client_id: 'app', response_type: 'code', scope: 'openid', redirect_uri: appUri };
    const { setCookie } = await browser.get(`${patched.origin}${routes.authorization}?${new URLSearchParams(query)}`);
    expect(setCookie.filter((cookie) => cookie.startsWith('_session'))).toEqual([]);
  });
});
