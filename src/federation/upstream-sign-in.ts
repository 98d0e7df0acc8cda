// A sign-in at an upstream from its request to the verified identity, without HTTP: the routes bring answers and redirect browsers.

import { acceptsSignIn, type SignInRule } from '../applications/rules/sign-in-rule.ts';
import type { Base } from '../base/base.ts';
import { runInChildSpan, traced } from '../base/platform/tracing.ts';
import type { Core } from '../core/core.ts';
import type { Acr } from '../people/mfa/acr.ts';
import type { People } from '../people/people.ts';
import type { SessionServices } from '../protocols/logout/session-services.ts';
import type { Resolver } from './accounts/resolve.ts';
import type { Connection, ConnectionKind } from './connections/connection.ts';
import { FederationError } from './faults.ts';
import type { FederationServices } from './federation-services.ts';
import type { RejectedSignIns } from './rejected-sign-ins.ts';
import type { AnsweredRequest, Demands, Purpose } from './requests.ts';
import { signInAcrs, stepUpRequest } from './step-up.ts';
import type {
  PassedCheck,
  Protocols,
  UpstreamAnswer,
  UpstreamIdentity,
  UpstreamProtocol,
  UpstreamRedirect,
} from './upstream.ts';

/** The message of a rejection, by which its page knows it again. */
export const NOT_ENABLED = 'The connection is disabled or deleted.';

export interface BeginRequest {
  connection: Connection;
  purpose: Purpose;
  /** The interaction, or the single sign-on session. */
  boundTo: string;
  demands: Demands;
  /** The acr of this server that the sign-in has to reach. */
  level?: Acr | undefined;
  /** The user is known and has to reach the level now. */
  isStepUp?: boolean | undefined;
  loginHint?: string | undefined;
}

export type UpstreamSignIn = ReturnType<typeof createUpstreamSignIn>;

export interface RedeemedAnswer {
  request: AnsweredRequest;
  connection: Connection;
  identity: UpstreamIdentity;
  checks: PassedCheck[];
}

type UpstreamServices = Base & FederationServices & { protocols: Protocols };

/** What the sign-ins at upstreams share: for sign-in pages, account pages and the console. */
export type UpstreamSignInServices = Core &
  People &
  SessionServices &
  FederationServices & { resolver: Resolver; rejected: RejectedSignIns; upstreamSignIn: UpstreamSignIn };

export function createUpstreamSignIn(services: UpstreamServices) {
  const { upstreamRequests: requests, protocols, config } = services;
  const { issuer } = config;
  return {
    /** Whether a sign-in at connections of this kind goes through the browser. */
    hasProtocol: (kind: ConnectionKind): boolean => protocols[kind] !== undefined,
    /** Redeems an answer in the interaction or session that began it. */
    redeem: traced(
      'upstream answer',
      (answer: string, purpose: Purpose, boundTo: string, begun?: { connectionId: string }): Promise<RedeemedAnswer> =>
        redeemAnswer(services, answer, { purpose, boundTo }, begun),
      ({ connection }) => ({ 'gatehouse.connection': connection.id, 'gatehouse.protocol': connection.kind }),
    ),

    /** An enabled connection that the application accepts. Throws connection_disabled. */
    async usable(connectionId: string, rule: SignInRule | undefined): Promise<Connection> {
      const connection = await connectionFor(services, connectionId, 'sign-in');
      if (!acceptsSignIn(rule, connection.id))
        throw disabled('The application doesn’t accept this connection.', connection.id);
      if (connection.kind !== 'ldap') protocolOf(services, connection);
      return connection;
    },

    /** Sends a request; throws upstream_unavailable. */
    async begin({
      connection,
      purpose,
      boundTo,
      demands,
      level,
      isStepUp,
      loginHint,
    }: BeginRequest): Promise<UpstreamRedirect> {
      const { settings } = connection;
      const hint = settings.login_hint && loginHint ? { loginHint } : {};
      const asked = level && isStepUp ? stepUpRequest(connection, level) : undefined;
      const acrValues = asked?.acrValues ?? signInAcrs(connection, level);
      const requirements = { ...demands, acrValues, forced: demands.forced || asked?.isForced === true, ...hint };
      const protocol = protocolOf(services, connection);
      const attributes = { 'gatehouse.connection': connection.id, 'gatehouse.protocol': connection.kind };
      const begun = await runInChildSpan('upstream request', { attributes }, () =>
        protocol.begin(connection, requirements, callbackUrl(issuer, connection)),
      );
      const { handle, memory, redirect } = begun;
      await requests.store({ handle, connectionId: connection.id, purpose, boundTo, memory, demands });
      return redirect;
    },

    /** Stores an answer, once, and returns the path where its browser redeems it. Throws upstream_answer_invalid. */
    async receive(handle: string, connectionId: string, answer: UpstreamAnswer): Promise<string> {
      const stored = await requests.answered(handle, connectionId, answer);
      if (stored !== 'unknown') return pathOf(stored, connectionId);
      throw new FederationError('upstream_answer_invalid', {
        rule: 'replay',
        reason: 'The answer belongs to no open request of this connection. It is too old, already used, or forged.',
        expected: 'the state of an open request',
        received: handle,
      });
    },
  };
}

async function redeemAnswer(
  services: UpstreamServices,
  answer: string,
  { purpose, boundTo }: { purpose: Purpose; boundTo: string },
  begun: { connectionId: string } = { connectionId: '' },
): Promise<RedeemedAnswer> {
  const { upstreamRequests: requests, config } = services;
  const { issuer } = config;
  const request = await requests.redeem(answer, purpose, boundTo);
  if (!request) {
    throw new FederationError('upstream_answer_invalid', {
      rule: 'replay',
      reason: 'The answer is too old, already used, or from another browser.',
      expected: 'an unused answer to a request of this browser',
      received: 'an answer that is not open in this browser',
    });
  }
  begun.connectionId = request.connectionId;
  const connection = await connectionFor(services, request.connectionId, purpose);
  const { memory, sentAt } = request;
  const sent = { callbackUrl: callbackUrl(issuer, connection), memory, sentAt };
  const { identity, checks } = await protocolOf(services, connection)
    .redeem(connection, request.answer, sent)
    .catch(async (error: unknown) => {
      await services.clientSecrets.note(connection, error);
      throw error;
    });
  await services.clientSecrets.note(connection);
  if (identity.subject.trim() === '') {
    throw new FederationError('upstream_no_identity', {
      rule: 'subject',
      reason: 'The identity provider didn’t send the user’s identifier.',
      expected: 'subject_claim' in connection.settings ? connection.settings.subject_claim : 'a subject',
      received: `claims: ${Object.keys(identity.claims).join(', ') || 'none'}`,
    });
  }
  return { request, connection, identity, checks };
}

function callbackUrl(issuer: string, { id, kind }: Connection): string {
  return kind === 'saml' ? `${issuer}/saml/acs` : `${issuer}/upstream/${id}/callback`;
}

function protocolOf({ protocols }: UpstreamServices, { kind }: Connection): UpstreamProtocol {
  const protocol = protocols[kind];
  if (!protocol) throw disabled('The server has no such protocol.', kind);
  return protocol;
}

/** A test also works for a connection that is not enabled yet. */
async function connectionFor({ connections }: UpstreamServices, id: string, purpose: Purpose): Promise<Connection> {
  const connection = await (purpose === 'test' ? connections.find(id) : connections.findEnabled(id));
  if (!connection) throw disabled(NOT_ENABLED, id);
  return connection;
}

function pathOf(
  { purpose, boundTo, answer }: { purpose: Purpose; boundTo: string; answer: string },
  connectionId: string,
): string {
  if (purpose === 'sign-in') return `/signin/${boundTo}/upstream/${answer}`;
  if (purpose === 'link') return `/account/connections/finish/${answer}`;
  return `/admin/connections/${connectionId}/test/${answer}`;
}

function disabled(message: string, received: string): FederationError {
  return new FederationError('connection_disabled', {
    rule: 'connection',
    reason: message,
    expected: 'an enabled connection',
    received,
  });
}
