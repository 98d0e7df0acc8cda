// "Try it": a real sign-in at the upstream that writes nothing here. It lists what the upstream states, each check with what was
// expected and received, and what a sign-in would do. It works for a connection that is not enabled yet, too.

import { notFound } from '../base/http/errors.ts';
import { acrOf } from '../people/mfa/acr.ts';
import type { Preview } from './accounts/resolve.ts';
import { trustedAmr } from './assurance.ts';
import type { Connection } from './connections/connection.ts';
import { FederationError } from './faults.ts';
import type { AccountRejection } from './ldap/identity.ts';
import type { PassedCheck, Redeemed, UpstreamRedirect } from './upstream.ts';
import type { UpstreamSignInServices } from './upstream-sign-in.ts';

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
  /** Of a directory: why it would reject the right password. */
  rejection?: AccountRejection | undefined;
}

export type Tries = ReturnType<typeof createTries>;

export function createTries({ connections, directory, resolver, upstreamSignIn }: UpstreamSignInServices) {
  async function report(connection: Connection, { identity, checks }: Redeemed, amr: string[]): Promise<FinishedTry> {
    const { subject, claims, authTime, groups } = identity;
    return {
      ...(await resolver.preview(connection, identity)),
      outcome: 'finished',
      connectionId: connection.id,
      subject,
      claims,
      checks,
      amr,
      authTime,
      acr: acrOf(amr) ?? '',
      groups: groups?.names ?? [],
    };
  }

  return {
    /** Sends the request; bound to the session of the administrator. */
    async begin(connectionId: string, { ssoUid }: { ssoUid: string }): Promise<UpstreamRedirect | FailedTry> {
      const connection = await connections.get(connectionId);
      return asFailedTry({ connectionId }, () =>
        upstreamSignIn.begin({
          connection,
          purpose: 'test',
          boundTo: ssoUid,
          demands: { forced: false },
        }),
      );
    },

    /** Looks a login up in a directory, without its password. */
    async lookUp(connectionId: string, login: string): Promise<FinishedTry | FailedTry> {
      const connection = await connections.get(connectionId);
      if (connection.kind !== 'ldap') throw notFound();
      return asFailedTry({ connectionId }, async () => {
        const found = await directory.lookUp(connection, login);
        if (!found) throw unknownLogin(login);
        return { ...(await report(connection, found, found.identity.amr)), rejection: found.rejection };
      });
    },

    finish(answer: string, { ssoUid }: { ssoUid: string }): Promise<FinishedTry | FailedTry> {
      const begun = { connectionId: '' };
      return asFailedTry(begun, async () => {
        const { connection, identity, checks } = await upstreamSignIn.redeem(answer, 'test', ssoUid, begun);
        return report(connection, { identity, checks }, trustedAmr(identity, connection.settings));
      });
    },
  };
}

function unknownLogin(login: string): FederationError {
  return new FederationError('upstream_no_identity', {
    rule: 'subject',
    reason: 'The directory has no entry for this login. Check the filter and the base DN.',
    expected: 'one entry',
    received: login,
  });
}

async function asFailedTry<T>(begun: { connectionId: string }, work: () => Promise<T>): Promise<T | FailedTry> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof FederationError)) throw error;
    const { code, reason: message, rule, expected, received } = error;
    return { outcome: 'failed', connectionId: begun.connectionId, code, message, rule, expected, received };
  }
}
