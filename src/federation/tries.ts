// "Try it": a real sign-in at the upstream that writes nothing here. It tells what the upstream states, each check with what was
// expected and received, and what a sign-in would do. It works for a connection that is not enabled yet, too.
import type { Connections } from '../connections/connections.ts';
import { acrOf } from '../mfa/acr.ts';
import type { Preview, Resolver } from './accounts/resolve.ts';
import { vouchedAmr } from './assurance.ts';
import { FederationError } from './faults.ts';
import type { PassedCheck, UpstreamRedirect } from './upstream.ts';
import type { UpstreamSignIn } from './upstream-sign-in.ts';

export interface FailedTry {
  outcome: 'failed';
  connectionId: string;
  /** The code of the error that a user would get. */
  code: string;
  message: string;
  rule: string;
  expected: string | undefined;
  received: string | undefined;
}

export interface FinishedTry extends Preview {
  outcome: 'finished';
  connectionId: string;
  subject: string;
  claims: Record<string, unknown>;
  checks: PassedCheck[];
  acr: string;
  amr: string[];
  /** Undefined: the upstream does not say when the user authenticated. */
  authTime: Date | undefined;
  groups: readonly string[];
}

export interface Tries {
  /** Sends the request; bound to the session of the administrator. */
  begin(connectionId: string, session: { ssoUid: string }): Promise<UpstreamRedirect | FailedTry>;
  finish(answer: string, session: { ssoUid: string }): Promise<FinishedTry | FailedTry>;
}

export interface TriesDependencies {
  connections: Pick<Connections, 'get'>;
  resolver: Pick<Resolver, 'preview'>;
  upstreamSignIn: Pick<UpstreamSignIn, 'begin' | 'redeem'>;
}

export function createTries({ connections, resolver, upstreamSignIn }: TriesDependencies): Tries {
  return {
    async begin(connectionId, { ssoUid }) {
      const connection = await connections.get(connectionId);
      return explained({ connectionId }, () =>
        upstreamSignIn.begin({
          ...{ connection, purpose: 'test', boundTo: ssoUid, demands: { forced: false } },
          ...{ requestedAcrs: [], loginHint: undefined },
        }),
      );
    },

    finish(answer, { ssoUid }) {
      const begun = { connectionId: '' };
      return explained(begun, async () => {
        const { connection, identity, checks } = await upstreamSignIn.redeem(answer, 'test', ssoUid, begun);
        const { subject, claims, authTime, groups } = identity;
        const amr = vouchedAmr(identity, connection.settings);
        return {
          ...(await resolver.preview(connection, identity)),
          ...{ outcome: 'finished' as const, connectionId: connection.id, subject, claims, checks, amr, authTime },
          acr: acrOf(amr) ?? '',
          groups: groups?.names ?? [],
        };
      });
    },
  };
}

async function explained<T>(begun: { connectionId: string }, work: () => Promise<T>): Promise<T | FailedTry> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FederationError)) throw error;
    const { code, message, rule, expected, received } = error;
    return { outcome: 'failed', connectionId: begun.connectionId, code, message, rule, expected, received };
  }
}
