// Whether an upstream accepts the client ID and the secret of a connection, and a directory its settings: tried when they are saved,
// however they are saved, and noted at every sign-in, so that the page of the connection, the warnings and `gatehouse doctor` name a
// wrong secret instead of an answer that is not valid.

import type { Clock } from '../base/platform/clock.ts';
import type { Connection, ConnectionKind, LdapConnection } from './connections/connection.ts';
import type { Connections } from './connections/connections.ts';
import { quirksOf } from './connections/presets/presets.ts';
import { rejectedSecret } from './connections/secrets.ts';
import { FederationError } from './faults.ts';
import type { Directory } from './ldap/directory.ts';
import type { UpstreamProtocol } from './upstream.ts';

/** `unknown`: the upstream did not answer, or its answer says nothing about the secret. */
export type ClientTrial = 'accepted' | 'rejected' | 'unknown';

export interface ConnectionTrial {
  outcome: ClientTrial;
  /** What was wrong, in the words of the upstream or of the network. */
  error?: string | undefined;
}

/** How long a secret is new: longer than the pause between two runs of the job. */
const NEW_MINUTES = 10;

/** Of RFC 6749 5.2, and of GitHub: the client was authenticated, and the code is wrong. */
const WRONG_CODE = ['invalid_grant', 'bad_verification_code'];

export function createClientSecrets({
  connections,
  directory,
  protocols,
  issuer,
  now,
}: {
  connections: Connections;
  directory: Directory;
  protocols: Partial<Record<ConnectionKind, UpstreamProtocol>>;
  issuer: string;
  now: Clock;
}) {
  /** Ids of the secrets that were tried since this process began. */
  const tried = new Set<string>();

  /** The secret that a request is sent with. */
  async function inUse(connection: Connection) {
    if (connection.kind !== 'oidc' && connection.kind !== 'oauth2') return undefined;
    const method = connection.settings.token_endpoint_auth_method;
    if (method === 'none') return undefined;
    const isKey = method === 'private_key_jwt' || quirksOf(connection).clientSecret === 'apple-jwt';
    const [secret] = await connections.decryptedSecrets(connection.id, isKey ? 'private-key' : 'client-secret');
    return secret;
  }

  async function note(connection: Connection, error?: unknown): Promise<ClientTrial> {
    const trial = trialOf(error);
    const secret = trial === 'unknown' ? undefined : await inUse(connection);
    if (!secret) return trial;
    if (trial === 'accepted') {
      if (secret.rejectedAt) await connections.secretAccepted(connection.id, secret.id);
    } else if (!secret.rejectedAt) {
      const text = error instanceof FederationError ? (error.received ?? error.reason) : '';
      await connections.secretRejected(connection.id, secret.id, { reason: 'client_rejected', text });
    }
    return trial;
  }

  /** The directory notes a rejected password itself. One that was rejected now is said also where an older one was accepted. */
  async function checkDirectory(connection: LdapConnection): Promise<ConnectionTrial> {
    const begin = now();
    const rejectedNow = async () => {
      const secrets = await connections.secretInfos(connection.id);
      return (
        secrets.find(({ rejectedAt }) => rejectedAt !== null && rejectedAt >= begin) ?? rejectedSecret(secrets, now())
      );
    };
    try {
      await directory.probe(connection);
    } catch (error) {
      if (!(error instanceof FederationError)) throw error;
      return { outcome: (await rejectedNow()) ? 'rejected' : 'unknown', error: error.received ?? error.reason };
    }
    const rejected = await rejectedNow();
    return rejected ? { outcome: 'rejected', error: rejected.rejectedText ?? '' } : { outcome: 'accepted' };
  }

  async function check(connection: Connection): Promise<ConnectionTrial | undefined> {
    for (const { id } of await connections.secretInfos(connection.id)) tried.add(id);
    if (connection.kind === 'ldap') return checkDirectory(connection);
    const protocol = protocols[connection.kind];
    if (!protocol?.tryClient || !(await inUse(connection))) return undefined;
    const callback = `${issuer}/upstream/${connection.id}/callback`;
    try {
      return await protocol.tryClient(connection, callback);
    } catch (error) {
      if (!(error instanceof FederationError)) throw error;
      const outcome = await note(connection, error);
      return outcome === 'accepted' ? { outcome } : { outcome, error: error.received ?? error.reason };
    }
  }

  return {
    /** What a sign-in says about the secret: its error, or none. */
    note,
    /**
     * Sends a code that no upstream issued; binds to a directory and searches with the filter of the connection. Undefined for a connection
     * without client authentication.
     */
    check,

    /** Tries the secrets that were stored in the last minutes, such as by the configuration file. A job. */
    async checkNew(): Promise<void> {
      const since = now().getTime() - NEW_MINUTES * 60_000;
      for (const connection of await connections.enabled()) {
        const secrets = await connections.secretInfos(connection.id);
        const isNew = secrets.some(({ id, createdAt }) => createdAt.getTime() >= since && !tried.has(id));
        if (isNew) await check(connection);
      }
    },
  };
}

function trialOf(error: unknown): ClientTrial {
  if (error === undefined) return 'accepted';
  if (!(error instanceof FederationError)) return 'unknown';
  if (error.rule === 'secret') return 'rejected';
  return error.rule === 'answer' && WRONG_CODE.includes(error.received ?? '') ? 'accepted' : 'unknown';
}
