// Ends the sessions whose user an OpenID Connect upstream has signed out, and everything that was opened with them.
import type { Audit } from '../../audit/audit.ts';
import type { Connection } from '../../connections/connection.ts';
import type { EndSession } from '../../logout/end-session.ts';
import type { RequestInfo } from '../../platform/request-info.ts';
import type { UpstreamSessions } from '../sessions.ts';
import type { NamedSessions } from './logout-token.ts';

export interface EndedByUpstreamDependencies {
  sessions: UpstreamSessions;
  endSession: EndSession;
  audit: Audit;
}

/**
 * Ends them without a browser: applications are notified by the server. A name that no session has is no error, because the
 * session may have ended before (OIDC Back-Channel Logout 1.0 section 2.8).
 */
export async function endNamedSessions(
  { sessions, endSession, audit }: EndedByUpstreamDependencies,
  { id }: Connection,
  named: NamedSessions,
  { request, channel }: { request: RequestInfo; channel: 'back' | 'front' },
): Promise<void> {
  const found = await sessions.named(id, named);
  const [first] = found;
  if (!first) return;
  const uids = found.map(({ sessionUid }) => sessionUid);
  if (!(await endSession.several(uids, 'upstream-signed-out', { request }))) return;
  const data = { connection: id, channel };
  await audit.record({ type: 'upstream.logout', outcome: 'success', subjectId: first.userId, request, data });
}
