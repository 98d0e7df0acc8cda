// Implements what the sign-in pages use (sign-in/first-factor/upstream.ts): the offer of the first page, the way to an upstream and back, and
// the end of the sign-in.

import { z } from 'zod';
import { acceptsSignIn, type SignInRule } from '../applications/rules/sign-in-rule.ts';
import { badRequest } from '../base/http/errors.ts';
import { domainOf } from '../base/network/domains.ts';
import { plural } from '../base/platform/plural.ts';
import type { RequestInfo } from '../base/platform/request-info.ts';
import { transaction } from '../base/storage/database.ts';
import { t } from '../base/texts/text.ts';
import type { Actor } from '../core/audit/audit.ts';
import type { Account } from '../people/accounts/account.ts';
import { isStaff } from '../people/rbac/built-in.ts';
import type { ProvenUpstream, SignInOffer, UpstreamResult, UpstreamSignIns } from '../sign-in/first-factor/upstream.ts';
import type { SignInPolicy } from '../sign-in/sign-in-policy.ts';
import { freshnessOf, statedAuthTime, trustedAmr } from './assurance.ts';
import type { Connection } from './connections/connection.ts';
import { logoOf } from './connections/presets/presets.ts';
import { FederationError } from './faults.ts';
import type { RejectedSignIn } from './rejected-sign-ins.ts';
import type { AnsweredRequest } from './requests.ts';
import { handleSchema } from './sessions.ts';
import type { UpstreamIdentity } from './upstream.ts';
import type { UpstreamSignInServices } from './upstream-sign-in.ts';

export function createSignIns(services: UpstreamSignInServices & { signInPolicy: SignInPolicy }): UpstreamSignIns {
  const { connections, rejected, upstreamSignIn } = services;
  return {
    stepUpAt: (at, level, rule) => services.stepUps.at(at, level, rule),
    hasDirectory: (accountId, rule) => services.stepUps.hasDirectory(accountId, rule),
    offer: (rule) => signInOffer(services, rule),
    complete: (proven, account, uid, by) =>
      rejected.withErrorPage(
        by.request as RequestInfo,
        () => aboutSignIn(services, proven.connectionId, uid),
        () => completeSignIn(services, proven, account, uid, by),
      ),
    async rejectOtherAccount({ connectionId }, uid, request) {
      throw await rejected.recordForPage(request, await aboutSignIn(services, connectionId, uid), otherAccount());
    },

    async isDirectory(connectionId) {
      const connection = await connections.find(connectionId);
      return connection !== undefined && isDirectory(connection);
    },

    async forLogin(login, rule) {
      const domain = domainOf(login);
      const connection = domain === '' ? undefined : await connections.forDomain(domain);
      if (!connection || !upstreamSignIn.hasProtocol(connection.kind)) return undefined;
      return acceptsSignIn(rule, connection.id) ? connection.id : undefined;
    },

    async requiredConnection(account) {
      const domain = account.email === null || isStaff(account) ? '' : domainOf(account.email);
      const connection = domain === '' ? undefined : await connections.forDomain(domain);
      return connection?.settings.required_for_domains ? { id: connection.id, name: connection.name } : undefined;
    },

    start: (connectionId, { uid, rule, demands, request }) =>
      rejected.withErrorPage(
        request,
        () => aboutSignIn(services, connectionId, uid),
        async () => {
          const connection = await upstreamSignIn.usable(connectionId, rule);
          const { level, isStepUp, loginHint, ...asked } = demands;
          return upstreamSignIn.begin({
            connection,
            purpose: 'sign-in',
            boundTo: uid,
            level,
            isStepUp,
            loginHint,
            demands: asked,
          });
        },
      ),

    finish(answer, signIn) {
      // `redeem` fills it in, for the error page.
      const begun = { connectionId: '' };
      return rejected.withErrorPage(
        signIn.request,
        () => aboutSignIn(services, begun.connectionId, signIn.uid),
        () => finish(services, answer, signIn, begun),
      );
    },
  };
}

/** For the page of a rejected sign-in. */
async function aboutSignIn(
  { connections }: UpstreamSignInServices,
  connectionId: string,
  uid: string,
): Promise<RejectedSignIn> {
  const connection = await connections.find(connectionId);
  const next = { href: `/signin/${uid}`, label: t('error.try-again-or-other-way') };
  return { connectionId, connectionName: connection?.name, next };
}

/** What the first page offers to an application with this rule. */
async function signInOffer(
  { connections, upstreamSignIn }: UpstreamSignInServices,
  rule: SignInRule | undefined,
): Promise<SignInOffer> {
  const enabled = await connections.enabled();
  const accepted = enabled.filter(({ id, kind }) => upstreamSignIn.hasProtocol(kind) && acceptsSignIn(rule, id));
  const buttons = accepted.filter(({ settings }) => settings.show_button && !settings.link_only);
  const domains = await Promise.all(accepted.map(({ id }) => connections.provenDomains(id)));
  const isLocalAllowed = acceptsSignIn(rule, undefined);
  return {
    connections: buttons.map((one) => ({ id: one.id, name: one.name, logo: logoOf(one) })),
    isLocalAllowed,
    takesPassword: isLocalAllowed || enabled.some((one) => isDirectory(one) && acceptsSignIn(rule, one.id)),
    asksAddressFirst: domains.flat().length > 0,
  };
}

/** The end of a sign-in (UpstreamSignIns.complete). */
async function completeSignIn(
  { connections, db, upstreamRequests: requests, resolver, upstreamSessions: sessions }: UpstreamSignInServices,
  proven: ProvenUpstream,
  account: Account,
  uid: string,
  by: Actor,
): Promise<string> {
  const stored = await requests.findIdentity(proven.requestId, uid);
  const connection = await connections.findEnabled(proven.connectionId);
  if (stored === undefined || !connection) throw badRequest('sign_in_expired');
  const identity = parseIdentity(stored);
  const { subject, session: handle } = identity;
  const row = { connectionId: connection.id, userId: account.id, subject, handle };
  if (proven.linkTo === undefined) {
    const session = await sessions.begin(row);
    await requests.end(proven.requestId);
    return session;
  }
  const done = await transaction(db, async (tx) => {
    const notify = await resolver.link(connection, identity, account, by, tx);
    return { notify, id: await sessions.begin(row, tx) };
  });
  await requests.end(proven.requestId);
  await done.notify();
  return done.id;
}

const isDirectory = ({ kind }: Connection) => kind === 'ldap';

async function finish(
  services: UpstreamSignInServices & { signInPolicy: SignInPolicy },
  answer: string,
  { uid, rule, invitedId, userId, request: info }: Parameters<UpstreamSignIns['finish']>[1],
  begun: { connectionId: string },
): Promise<UpstreamResult> {
  const { now, signInPolicy: policy, rejected, upstreamRequests: requests, resolver, upstreamSignIn } = services;
  const { request, connection, identity } = await upstreamSignIn.redeem(answer, 'sign-in', uid, begun);
  await upstreamSignIn.usable(connection.id, rule);
  const resolution = await resolver.resolve(connection, identity, { request: info, invitedId, userId });
  await requests.storeIdentity(request.id, identity);
  const { authTime } = identity;
  const freshness = freshnessOf(request.demands, { authTime, sentAt: request.sentAt });
  const needsOwnFactor = freshness === 'old' || freshness === 'unknown';
  const proven = {
    requestId: request.id,
    connectionId: connection.id,
    connectionName: connection.name,
    amr: trustedAmr(identity, connection.settings),
    authTime: statedAuthTime(authTime, now()),
    needsOwnFactor,
  };
  if (resolution.outcome === 'prove') return { proven: { ...proven, linkTo: resolution.accountId }, userId: undefined };
  const { account } = resolution;
  const isStale = needsOwnFactor && !(await policy.hasOwnFactor(account));
  const staleCode = isStale ? await rejected.record(info, connection.id, notFresh(request, authTime)) : undefined;
  return { proven, userId: account.id, staleCode };
}

function notFresh({ demands, sentAt }: AnsweredRequest, authTime: Date | undefined): FederationError {
  const { forced, maxAgeSeconds } = demands;
  const expected = forced
    ? `an authentication after ${sentAt.toISOString()}`
    : `one of the last ${plural(maxAgeSeconds ?? 0, 'second')}`;
  return new FederationError('upstream_not_fresh', {
    rule: 'fresh',
    reason: 'The identity provider didn’t confirm an authentication as recent as the application requires.',
    expected,
    received: authTime?.toISOString() ?? 'no time (auth_time, AuthnInstant)',
  });
}

function otherAccount(): FederationError {
  return new FederationError('upstream_other_account', {
    rule: 'account',
    reason: 'The user signed in to a different account than the one with the identity’s email address.',
    expected: 'the account with the address of the identity',
    received: 'another account',
  });
}

// A verified identity as text, while its sign-in goes on: the request that brought it stores it encrypted.

const schema = z.object({
  subject: z.string(),
  claims: z.record(z.string(), z.unknown()),
  groups: z.object({ names: z.array(z.string()), isComplete: z.boolean() }).optional(),
  acr: z.string().optional(),
  amr: z.array(z.string()),
  authTime: z.iso.datetime().optional(),
  session: handleSchema.optional(),
});

/** The identity that `JSON.stringify` has written. */
function parseIdentity(value: unknown): UpstreamIdentity {
  const { groups, acr, authTime, session, ...rest } = schema.parse(value);
  return { ...rest, groups, acr, authTime: authTime === undefined ? undefined : new Date(authTime), session };
}
