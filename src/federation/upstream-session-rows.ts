// A session at an upstream as a row: what of it is encrypted, and what finds it.

import { decodeJwt } from 'jose';
import { z } from 'zod';
import { sha256 } from '../base/platform/random.ts';
import type { Core } from '../core/core.ts';
import type { UpstreamSessionHandle } from './upstream.ts';

export interface UpstreamSession {
  id: string;
  /** The single sign-on session. */
  sessionUid: string;
  connectionId: string;
  userId: string;
  subject: string;
  handle: UpstreamSessionHandle | undefined;
}

/** In place of the session until `attach`. No session has it: uids of the engine have no dot. */
export const NOT_ATTACHED = '.';

export const handleSchema: z.ZodType<UpstreamSessionHandle> = z.union([
  z.object({ kind: z.literal('oidc'), sid: z.string().optional(), idToken: z.string() }).transform((one) => ({
    ...one,
    sid: one.sid,
  })),
  z
    .object({
      kind: z.literal('saml'),
      sessionIndex: z.string().optional(),
      nameId: z.record(z.string(), z.string()),
    })
    .transform((one) => ({ ...one, sessionIndex: one.sessionIndex })),
]);

/** What a LogoutRequest is looked up by. Its qualifiers are compared afterwards, because senders leave them out. */
export function nameIdHash({ value = '' }: Record<string, string>): string {
  return sha256(value);
}

/** What a logout by the upstream looks up: the NameID, or the `sub` of the ID token. */
export function nameHash(handle: UpstreamSessionHandle): string {
  return handle.kind === 'saml' ? nameIdHash(handle.nameId) : sha256(decodeJwt(handle.idToken).sub ?? '');
}

export interface SessionRow {
  id: string;
  sessionUid: string;
  connectionId: string;
  userId: string;
  subject: string;
  dataSealed: string;
}

const TABLE = 'upstream_sessions';

export function createUpstreamSessionRows({ vault }: Core) {
  return {
    seal: (id: string, handle: UpstreamSessionHandle | undefined) =>
      vault.seal(JSON.stringify(handle ?? null), `${TABLE}:${id}`),
    toSession({ id, sessionUid, connectionId, userId, subject, dataSealed }: SessionRow): UpstreamSession {
      const data: unknown = JSON.parse(vault.open(dataSealed, `${TABLE}:${id}`).toString());
      const handle = handleSchema.nullable().parse(data) ?? undefined;
      return { id, sessionUid, connectionId, userId, subject, handle };
    },
  };
}
