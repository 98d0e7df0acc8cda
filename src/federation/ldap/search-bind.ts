// The bind of the account that searches. A password that the directory rejects is not sent again until it changes: sign-in forms would
// lock the account otherwise. One sign-in at a time binds, so that many at once find a new rejection before they send the password too.
import type { LdapConnection } from '../../connections/connection.ts';
import type { Connections } from '../../connections/connections.ts';
import { isRejected } from '../../connections/secrets.ts';
import type { Clock } from '../../platform/clock.ts';
import { createConcurrencyLimit } from './concurrency-limit.ts';
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
