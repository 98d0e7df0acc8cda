// Implements protocols/logout/upstream.ts: the upstream as the last participant of a logout run.

import { seeOther } from '../../base/http/context.ts';
import type { PlanUpstream, UpstreamParticipants } from '../../protocols/logout/upstream.ts';
import type { Connection } from '../connections/connection.ts';
import type { Connections } from '../connections/connections.ts';
import { FederationError } from '../faults.ts';
import type { UpstreamSessions } from '../sessions.ts';
import type { UpstreamRedirect, UpstreamSessionHandle } from '../upstream.ts';

/** Logout by the protocol of one kind of connection. */
export interface UpstreamLogoutProtocol {
  /** The address to probe; undefined when the upstream has no logout. Throws when it cannot be determined. */
  addressOf(connection: Connection): Promise<string | undefined>;
  /** `messageId`: what its answer brings back (`state`, InResponseTo). Undefined when the upstream has no logout. */
  request(
    connection: Connection,
    handle: UpstreamSessionHandle,
  ): Promise<{ messageId: string; redirect: UpstreamRedirect } | undefined>;
}

export type UpstreamLogoutProtocols = Partial<Record<UpstreamSessionHandle['kind'], UpstreamLogoutProtocol>>;

/** The prefix of the client_id of upstreams in logout runs, so that none is confused with an application. */
const PREFIX = 'connection:';

interface StoredUpstreams {
  connections: Connections;
  upstreamSessions: UpstreamSessions;
}

export function createPlanUpstream({ connections, upstreamSessions: sessions }: StoredUpstreams): PlanUpstream {
  return async (sessionUid, tx) => {
    const session = await sessions.latest(sessionUid, tx);
    const connection = session && (await connections.find(session.connectionId, tx));
    const { logout = 'never' } = connection?.settings ?? {};
    if (!session?.handle || !connection?.enabled || logout === 'never') return undefined;
    return {
      clientId: `${PREFIX}${connection.id}`,
      protocol: session.handle.kind,
      name: connection.name,
      channel: 'upstream',
      state: 'waiting',
      data: { upstreamSession: session.id, ...(logout === 'ask' && { asksUser: true }) },
    };
  };
}

export function createUpstreamParticipants(
  { connections, upstreamSessions: sessions }: StoredUpstreams,
  protocols: UpstreamLogoutProtocols,
): UpstreamParticipants {
  async function partsOf({ data }: { data: { upstreamSession?: string } }) {
    const session = await sessions.find(data.upstreamSession ?? '');
    const connection = session && (await connections.findEnabled(session.connectionId));
    const protocol = session?.handle && protocols[session.handle.kind];
    return connection && protocol && session.handle ? { connection, protocol, handle: session.handle } : undefined;
  }

  return {
    async addressOf(participant) {
      const parts = await partsOf(participant);
      return parts?.protocol.addressOf(parts.connection);
    },

    async prepare(participant) {
      const parts = await partsOf(participant);
      // Its documents cannot be read any more: the logout goes on without it.
      const request = await parts?.protocol.request(parts.connection, parts.handle).catch(withoutUpstream);
      if (!request) return undefined;
      const { messageId, redirect } = request;
      return {
        messageId,
        send(ctx, page) {
          if (redirect.method === 'redirect') return seeOther(ctx, redirect.url);
          const { url: action, fields } = redirect;
          ctx.render('form-post', { action, fields, appName: participant.name, ...page });
        },
      };
    },
  };
}

function withoutUpstream(error: unknown): undefined {
  if (!(error instanceof FederationError)) throw error;
}

/** The connection of a participant of a logout run; undefined for an application. */
export function connectionIdOf({ channel, clientId }: { channel: string; clientId: string }): string | undefined {
  return channel === 'upstream' ? clientId.slice(PREFIX.length) : undefined;
}
