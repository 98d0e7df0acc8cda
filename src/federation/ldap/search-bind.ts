// The bind of the account that searches. A password that the directory rejects is not sent again until it changes: sign-in forms would
// lock the account otherwise. One sign-in at a time binds, so that many at once find a new rejection before they send the password too.

import { limits } from '../../base/limits.ts';
import type { Clock } from '../../base/platform/clock.ts';
import type { LdapConnection } from '../connections/connection.ts';
import type { Connections } from '../connections/connections.ts';
import { isRejected } from '../connections/secrets.ts';
import { FederationError } from '../faults.ts';
import { directoryUnavailable, searchAccountRejected } from './errors.ts';
import { type DirectorySession, withDirectory } from './session.ts';

export interface SearchBindOptions {
  /** An administrator asks: a rejected password is tried once more when no other is left. */
  triesRejected?: boolean;
}

/** Runs `work` bound to search; `rebind` does it again after a bind as a user. */
export type WithSearchBind = <T>(
  connection: LdapConnection,
  work: (session: DirectorySession, rebind: () => Promise<void>) => Promise<T>,
  options?: SearchBindOptions,
) => Promise<T>;

export interface SearchBindDependencies {
  connections: Connections;
  now: Clock;
}

export function createSearchBind({ connections, now }: SearchBindDependencies): WithSearchBind {
  const limitConcurrency = createConcurrencyLimit(now);
  const inTurn = createTurns();

  async function bind(session: DirectorySession, { id, settings }: LdapConnection, options: SearchBindOptions) {
    const { bind_dn: dn } = settings;
    if (dn === undefined) {
      const rejection = await session.bindToSearch(undefined, undefined);
      if (rejection) throw directoryUnavailable('the anonymous bind', new Error(rejection.text));
      return;
    }
    // Read in each turn: the sign-in before it, here or at another node, may have been rejected.
    const secrets = await connections.decryptedSecrets(id, 'bind-password');
    const usable = secrets.filter((one) => !isRejected(one, now()));
    const tried = usable.length > 0 || !options.triesRejected ? usable : secrets.slice(0, 1);
    if (secrets.length === 0) await session.bindToSearch(dn, undefined);
    for (const secret of tried) {
      const rejection = await session.bindToSearch(dn, secret.value);
      if (!rejection) {
        if (secret.rejectedAt) await connections.secretAccepted(id, secret.id);
        return;
      }
      await connections.secretRejected(id, secret.id, rejection);
    }
    const [latest] = await connections.decryptedSecrets(id, 'bind-password');
    throw searchAccountRejected(dn, latest?.rejectedText ?? 'no password');
  }

  return (connection, work, options = {}) =>
    limitConcurrency(connection.id, () => {
      const bindInTurn = (session: DirectorySession) => inTurn(connection.id, () => bind(session, connection, options));
      return withDirectory(connection.settings, {
        open: bindInTurn,
        work: (session) => work(session, () => bindInTurn(session)),
      });
    });
}

/** Runs the work of each key one after the other. */
function createTurns() {
  const last = new Map<string, Promise<unknown>>();
  return function inTurn<T>(key: string, work: () => Promise<T>): Promise<T> {
    const done = (last.get(key) ?? Promise.resolve()).then(work, work);
    last.set(
      key,
      done.catch(() => {}),
    );
    return done;
  };
}

type ConcurrencyLimit = <T>(connectionId: string, work: () => Promise<T>) => Promise<T>;

interface State {
  running: number;
  downUntil: number;
  /** In the order in which they came. `true`: a place is free. */
  waiting: ((hasPlace: boolean) => void)[];
}

/** Throws upstream_unavailable when the directory has no place in time. */
function createConcurrencyLimit(now: Clock): ConcurrencyLimit {
  const states = new Map<string, State>();
  const { maxConcurrent, maxWaiting, downSeconds, signInSeconds } = limits.ldap;
  const isDown = ({ downUntil }: State) => downUntil > now().getTime();

  /** Resolves with a place taken, or with `false`. */
  function place(state: State): Promise<boolean> {
    if (state.running < (isDown(state) ? 1 : maxConcurrent)) {
      state.running += 1;
      return Promise.resolve(true);
    }
    if (isDown(state) || state.waiting.length >= maxWaiting) return Promise.resolve(false);
    return new Promise((resolve) => {
      const settle = (hasPlace: boolean) => {
        clearTimeout(timer);
        state.waiting = state.waiting.filter((one) => one !== settle);
        if (hasPlace) state.running += 1;
        resolve(hasPlace);
      };
      const timer = setTimeout(() => settle(false), signInSeconds * 1000);
      state.waiting.push(settle);
    });
  }

  function release(state: State): void {
    state.running -= 1;
    if (isDown(state)) for (const settle of state.waiting) settle(false);
    else state.waiting[0]?.(true);
  }

  return async (id, work) => {
    const state = states.get(id) ?? { running: 0, downUntil: 0, waiting: [] };
    states.set(id, state);
    if (!(await place(state)))
      throw directoryUnavailable('the sign-in', new Error('too many sign-ins wait for the directory'));
    try {
      const result = await work();
      state.downUntil = 0;
      return result;
    } catch (error) {
      if (error instanceof FederationError && error.code === 'upstream_unavailable')
        state.downUntil = now().getTime() + downSeconds * 1000;
      throw error;
    } finally {
      release(state);
    }
  };
}
