// A stronger sign-in at the upstream where the user signed in (step-up, RFC 9470): which connections can prove a level, and what
// is requested for it. The answer decides, not the request: one that proves less changes nothing, and a factor of this server follows. It is
// requested once, counts for the same user only, and links nothing. A connection that trusts only `amr` has no value to request, so the user
// authenticates again there.
import { acceptsSignIn } from '../applications/rules/sign-in-rule.ts';
import { type Acr, acrLevel, PASSWORD_ACR, weakestOf } from '../people/mfa/acr.ts';
import type { UpstreamSignIns } from '../sign-in/first-factor/upstream.ts';
import type { Connection } from './connections/connection.ts';
import type { Connections } from './connections/connections.ts';
import { signInLevels } from './connections/kinds/common.ts';
import type { ExternalIdentities } from './identities.ts';
import type { UpstreamSessions } from './sessions.ts';

export function createStepUps({
  connections,
  sessions,
  identities,
}: {
  connections: Connections;
  sessions: UpstreamSessions;
  identities: ExternalIdentities;
}) {
  const at: UpstreamSignIns['stepUpAt'] = async (where, level, rule) => {
    const id = 'sessionUid' in where ? await sessions.ofSession(where.sessionUid) : where.connectionId;
    const connection = id === undefined ? undefined : await connections.findEnabled(id);
    if (!connection || !acceptsSignIn(rule, connection.id)) return undefined;
    const request = stepUpRequest(connection, level);
    return request && { connectionId: connection.id, connectionName: connection.name, isForced: request.isForced };
  };
  return {
    at,
    hasDirectory: (async (accountId, rule) => {
      const linked = await identities.ofUser(accountId);
      const found = await Promise.all(linked.map(({ connectionId }) => connections.findEnabled(connectionId)));
      return found.some((connection) => connection?.kind === 'ldap' && acceptsSignIn(rule, connection.id));
    }) satisfies UpstreamSignIns['hasDirectory'],
    /** Whether the upstream of this session can reach one of the acr values. */
    async canSatisfyAcr(sessionUid: string, acrs: readonly string[]): Promise<boolean> {
      const level = weakestOf(acrs);
      return level !== undefined && (await at({ sessionUid }, level, undefined)) !== undefined;
    },
  };
}

/** The acr values that the connection requests when a sign-in begins. */
export function signInAcrs({ settings }: Connection, level: Acr | undefined): string[] {
  const name = signInLevels[acrLevel(level) - 1];
  return name === undefined ? [] : [...(settings.acr_values[name] ?? [])];
}

/**
 * What is requested to raise a sign-in to the level; undefined where the connection trusts no value that proves it. Without a value to
 * request, the user has to authenticate again: with its old session the upstream would only repeat itself.
 */
export function stepUpRequest(
  connection: Connection,
  level: Acr,
): { acrValues: string[]; isForced: boolean } | undefined {
  const { kind, settings } = connection;
  if (kind !== 'oidc' && kind !== 'saml') return undefined;
  const { acr_values, trusted_acr, trusted_amr } = settings;
  // The password itself: no stronger factor states that it was used.
  const levels =
    level === PASSWORD_ACR ? (['password'] as const) : signInLevels.slice(Math.max(0, acrLevel(level) - 1));
  const weakestIn = (values: typeof acr_values | typeof trusted_acr | typeof trusted_amr) =>
    levels.map((one) => values[one] ?? []).find(({ length }) => length > 0);
  if (!weakestIn(trusted_acr) && !weakestIn(trusted_amr)) return undefined;
  const canRequest = kind === 'oidc' || settings.request_authn_context;
  const acrValues = canRequest ? (weakestIn(acr_values) ?? weakestIn(trusted_acr) ?? []) : [];
  return { acrValues: [...acrValues], isForced: acrValues.length === 0 };
}
