// Whether an upstream accepts the client ID and the secret of a connection: tried when they are saved, and noted at every sign-in, so that
// the page of the connection, the warnings and `gatehouse doctor` name a wrong secret instead of an answer that is not valid.
import type { Connection, ConnectionKind } from '../connections/connection.ts';
import type { Connections } from '../connections/connections.ts';
import { quirksOf } from '../connections/presets/presets.ts';
import { FederationError } from './faults.ts';
import type { UpstreamProtocol } from './upstream.ts';

/** `unknown`: the upstream did not answer, or its answer says nothing about the secret. */
export type ClientTrial = 'accepted' | 'rejected' | 'unknown';

export interface ClientSecrets {
  /** Sends a code that no upstream issued; undefined for a connection without client authentication. */
  check(connection: Connection): Promise<ClientTrial | undefined>;
  /** What a sign-in says about the secret: its error, or none. */
  note(connection: Connection, error?: unknown): Promise<ClientTrial>;
}

/** Of RFC 6749 5.2, and of GitHub: the client was authenticated, and the code is wrong. */
const WRONG_CODE = ['invalid_grant', 'bad_verification_code'];

export function createClientSecrets({
  connections,
  protocols,
  issuer,
}: {
  connections: Pick<Connections, 'decryptedSecrets' | 'secretRejected' | 'secretAccepted'>;
  protocols: Partial<Record<ConnectionKind, UpstreamProtocol>>;
  issuer: string;
}): ClientSecrets {
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
      const text = error instanceof FederationError ? (error.received ?? error.message) : '';
      await connections.secretRejected(connection.id, secret.id, { reason: 'client_rejected', text });
    }
    return trial;
  }

  return {
    note,

    async check(connection) {
      const protocol = protocols[connection.kind];
      if (!protocol?.tryClient || !(await inUse(connection))) return undefined;
      const callback = `${issuer}/upstream/${connection.id}/callback`;
      try {
        return await protocol.tryClient(connection, callback);
      } catch (error) {
        if (!(error instanceof FederationError)) throw error;
        return note(connection, error);
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
