// Puts sign-in at upstream identity providers together. What the engine and other services need of it as well (requests, sessions,
// identities) is created in federation-services.ts.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../base/http/context.ts';
import { AppError, notFound } from '../base/http/errors.ts';
import { bodyLimit, parseForm, parseQuery } from '../base/http/input.ts';
import { limits } from '../base/limits.ts';
import type { Clock } from '../base/platform/clock.ts';
import type { Logger } from '../base/platform/logger.ts';
import { plural } from '../base/platform/plural.ts';
import type { RequestInfo } from '../base/platform/request-info.ts';
import type { Vault } from '../base/platform/vault.ts';
import type { Db } from '../base/storage/database.ts';
import { t } from '../base/texts/text.ts';
import type { Audit } from '../core/audit/audit.ts';
import type { RepeatedEntries } from '../core/audit/repeated-entries.ts';
import type { NotifyOwner } from '../core/mail/notify-owner.ts';
import type { Outbox } from '../core/mail/outbox.ts';
import type { Rejections } from '../core/rejections/rejections.ts';
import type { Account } from '../people/accounts/account.ts';
import type { Accounts } from '../people/accounts/accounts.ts';
import type { Credentials } from '../people/credentials/credentials.ts';
import type { AccountFactors } from '../people/mfa/account-factors.ts';
import type { DirectoryBudget } from '../people/rate-limits/directory-budget.ts';
import type { SetConnectionRoles } from '../people/rbac/connection-roles.ts';
import type { EndSession } from '../protocols/logout/end-session.ts';
import type { LogoutBrowser } from '../protocols/logout/front-channel/logout-browser.ts';
import type { SignInPolicy } from '../sign-in/sign-in-policy.ts';
import { createResolver } from './accounts/resolve.ts';
import type { ClientSecrets } from './client-secrets.ts';
import type { Connections } from './connections/connections.ts';
import { createDirectories } from './directories.ts';
import { FederationError } from './faults.ts';
import type { ExternalIdentities } from './identities.ts';
import type { Directory } from './ldap/directory.ts';
import { createLinks } from './links.ts';
import { type UpstreamLogoutRoutesDependencies, upstreamLogoutRoutes } from './logout/routes.ts';
import { createRejectedSignIns, type RejectedSignIns } from './rejected-sign-ins.ts';
import type { UpstreamRequests } from './requests.ts';
import type { SamlUpstream } from './saml/create-saml-upstream.ts';
import type { SloRoutesDependencies } from './saml/slo-routes.ts';
import type { UpstreamSessions } from './sessions.ts';
import { createSignIns } from './sign-ins.ts';
import type { StepUps } from './step-up.ts';
import { createTries } from './tries.ts';
import { createUpstreamSignIn, type Protocols, type UpstreamSignIn } from './upstream-sign-in.ts';

export interface FederationDependencies {
  clientSecrets: ClientSecrets;
  db: Db;
  now: Clock;
  /** Public base URL. */
  issuer: string;
  accounts: Accounts;
  audit: Audit;
  repeatedEntries: RepeatedEntries;
  rejections: Rejections;
  connections: Connections;
  credentials: Credentials;
  factors: AccountFactors;
  identities: ExternalIdentities;
  requests: UpstreamRequests;
  sessions: UpstreamSessions;
  setConnectionRoles: SetConnectionRoles;
  stepUps: StepUps;
  signInPolicy: SignInPolicy;
  notifyOwner: NotifyOwner;
  outbox: Outbox;
  directoryBudget: DirectoryBudget;
  directory: Directory;
  logger: Logger;
  confirmAddress(account: Account, email: string, request: RequestInfo): Promise<void>;
  /** One for each kind of connection that has a redirect, but SAML. */
  protocols: Protocols;
  samlUpstream: SamlUpstream;
  endSession: EndSession;
  vault: Vault;
  logoutBrowserOf(ctx: Context): LogoutBrowser;
  logout: Omit<
    UpstreamLogoutRoutesDependencies,
    'connections' | 'rejected' | 'sessions' | 'audit' | 'now' | 'endSession' | 'runs'
  > &
    Pick<SloRoutesDependencies, 'runs'>;
}

export type Federation = ReturnType<typeof createFederation>;

export function createFederation(dependencies: FederationDependencies) {
  const { issuer, connections, directory, requests, samlUpstream, signInPolicy: policy } = dependencies;
  const protocols = { ...dependencies.protocols, saml: samlUpstream.protocol };
  const upstreamSignIn = createUpstreamSignIn({
    issuer,
    requests,
    connections,
    protocols,
    clientSecrets: dependencies.clientSecrets,
  });
  const resolver = createResolver(dependencies);
  const rejected = createRejectedSignIns(dependencies);
  const directories = createDirectories({ ...dependencies, resolver, rejected, upstreamSignIn });
  const signIns = createSignIns({ ...dependencies, policy, resolver, rejected, upstreamSignIn });
  return {
    signIns,
    directories,
    links: createLinks({ ...dependencies, resolver, rejected, upstreamSignIn }),
    tries: createTries({ connections, directory, resolver, upstreamSignIn }),
    resolver,
    rejected,
    upstreamSignIn,
    routers: [
      callbackRoutes({ connections, rejected, upstreamSignIn }),
      upstreamLogoutRoutes({ ...dependencies, ...dependencies.logout, rejected }),
      samlUpstream.routes({ connections, rejected, upstreamSignIn }),
      samlUpstream.logoutRoutes({ ...dependencies, runs: dependencies.logout.runs }),
    ],
  };
}

// /upstream/:id/callback: the redirect URI of a connection. It stores the answer and sends the browser on; nothing is redeemed
// here, because a cross-site POST brings no cookie that proves the browser.

interface CallbackRoutesDependencies {
  connections: Connections;
  rejected: RejectedSignIns;
  upstreamSignIn: UpstreamSignIn;
}

const { answerParameters, parameterBytes, answerBytes } = limits.upstream;
const answerSchema = z
  .record(z.string().max(100), z.string().max(parameterBytes))
  .refine((answer) => Object.keys(answer).length <= answerParameters, 'has too many parameters');

function callbackRoutes(dependencies: CallbackRoutesDependencies): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/upstream/:id' });
  router.get('/callback', (ctx) =>
    receive(dependencies, ctx, ctx.params.id ?? '', async () => parseQuery(ctx, answerSchema)),
  );
  router.post('/callback', bodyLimit(answerBytes), (ctx) =>
    receive(dependencies, ctx, ctx.params.id ?? '', () => parseForm(ctx, answerSchema)),
  );
  return router;
}

async function receive(
  { connections, rejected, upstreamSignIn }: CallbackRoutesDependencies,
  ctx: Context,
  connectionId: string,
  read: () => Promise<Record<string, string>>,
): Promise<void> {
  const connection = await connections.find(connectionId);
  if (!connection || connection.kind === 'saml' || connection.kind === 'ldap') throw notFound();
  const next = { href: `/login?connection=${connectionId}`, label: t('logout.sign-in-again') };
  const about = () => ({ connectionId, connectionName: connection.name, next });
  const path = await rejected.withErrorPage(ctx.state.request, about, async () => {
    const answer = await read().catch((error: unknown) => Promise.reject(unreadable(error)));
    if (!answer.state) {
      throw new FederationError('upstream_answer_invalid', {
        rule: 'replay',
        message: 'The answer has no state, so it belongs to no request.',
        expected: 'state',
        received: Object.keys(answer).join(', '),
      });
    }
    return upstreamSignIn.receive(answer.state, connectionId, answer);
  });
  ctx.status = 303;
  ctx.set('Cache-Control', 'no-store');
  ctx.redirect(path);
}

/** An answer whose parameters cannot be read: repeated, too many or too long. */
function unreadable(error: unknown): unknown {
  if (!(error instanceof AppError) || error.status >= 500) return error;
  const faults = (error.fields ?? []).map(({ field, message }) => `${field} ${message}`.trim());
  return new FederationError('upstream_answer_invalid', {
    rule: 'parameters',
    message: 'The parameters of the answer can’t be read.',
    expected: `each parameter once, at most ${plural(answerParameters, 'parameter')} of at most ${plural(parameterBytes, 'character')}`,
    received: faults.join('; ') || error.message,
    cause: error,
  });
}
