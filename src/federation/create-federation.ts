// Puts sign-in at upstream identity providers together. What the engine and other services need of it as well (requests, sessions,
// identities) is created in federation-services.ts.

import Router from '@koa/router';
import { z } from 'zod';
import { type Context, type Extras, type State, seeOther } from '../base/http/context.ts';
import { AppError, notFound } from '../base/http/errors.ts';
import { bodyLimit, parseForm, parseQuery } from '../base/http/input.ts';
import { limits } from '../base/limits.ts';
import { plural } from '../base/platform/plural.ts';
import type { RequestInfo } from '../base/platform/request-info.ts';
import { faultLine, rule } from '../base/texts/faults.ts';
import { t } from '../base/texts/text.ts';
import type { Core } from '../core/core.ts';
import type { Account } from '../people/accounts/account.ts';
import type { People } from '../people/people.ts';
import type { LogoutBrowser } from '../protocols/logout/logout-run.ts';
import type { SessionServices } from '../protocols/logout/session-services.ts';
import type { SignInPolicy } from '../sign-in/sign-in-policy.ts';
import { createResolver } from './accounts/resolve.ts';
import { createDirectories } from './directories.ts';
import { FederationError } from './faults.ts';
import type { FederationServices } from './federation-services.ts';
import { createLinks } from './links.ts';
import { upstreamLogoutRoutes } from './logout/routes.ts';
import { createRejectedSignIns } from './rejected-sign-ins.ts';
import type { SamlUpstream } from './saml/saml-upstream.ts';
import { createSignIns } from './sign-ins.ts';
import { createTries } from './tries.ts';
import { createUpstreamSignIn, type UpstreamSignInServices } from './upstream-sign-in.ts';

export type Federation = ReturnType<typeof createFederation>;

export function createFederation(
  dependencies: Core &
    People &
    SessionServices &
    FederationServices & {
      signInPolicy: SignInPolicy;
      confirmAddress(account: Account, email: string, request: RequestInfo): Promise<void>;
      samlUpstream: SamlUpstream;
      logoutBrowserOf(ctx: Context): LogoutBrowser;
    },
) {
  const { samlUpstream, logoutBrowserOf } = dependencies;
  const protocols = { ...dependencies.upstreamProtocols, saml: samlUpstream.protocol };
  const upstreamSignIn = createUpstreamSignIn({ ...dependencies, protocols });
  const resolver = createResolver(dependencies);
  const rejected = createRejectedSignIns(dependencies);
  const services = { ...dependencies, resolver, rejected, upstreamSignIn };
  return {
    signIns: createSignIns(services),
    directories: createDirectories(services),
    links: createLinks(services),
    tries: createTries(services),
    resolver,
    rejected,
    upstreamSignIn,
    routers: [
      callbackRoutes(services),
      upstreamLogoutRoutes(services),
      samlUpstream.routes(services),
      samlUpstream.logoutRoutes(services, logoutBrowserOf),
    ],
  };
}

const { answerParameters, parameterBytes, answerBytes } = limits.upstream;
const answerSchema = z
  .record(z.string().max(100), z.string().max(parameterBytes))
  .refine((answer) => Object.keys(answer).length <= answerParameters, rule('too-many-parameters'));

function callbackRoutes(services: UpstreamSignInServices): Router<State, Extras> {
  const router = new Router<State, Extras>({ prefix: '/upstream/:id' });
  router.get('/callback', (ctx) =>
    receive(services, ctx, ctx.params.id ?? '', async () => parseQuery(ctx, answerSchema)),
  );
  router.post('/callback', bodyLimit(answerBytes), (ctx) =>
    receive(services, ctx, ctx.params.id ?? '', () => parseForm(ctx, answerSchema)),
  );
  return router;
}

async function receive(
  { connections, rejected, upstreamSignIn }: UpstreamSignInServices,
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
        reason: 'The answer has no state, so it belongs to no request.',
        expected: 'state',
        received: Object.keys(answer).join(', '),
      });
    }
    return upstreamSignIn.receive(answer.state, connectionId, answer);
  });
  ctx.set('Cache-Control', 'no-store');
  seeOther(ctx, path);
}

/** An answer whose parameters cannot be read: repeated, too many or too long. */
function unreadable(error: unknown): unknown {
  if (!(error instanceof AppError) || error instanceof FederationError || error.status >= 500) return error;
  const faults = error.faults.map(faultLine);
  return new FederationError('upstream_answer_invalid', {
    rule: 'parameters',
    reason: 'The parameters of the answer can’t be read.',
    expected: `each parameter once, at most ${plural(answerParameters, 'parameter')} of at most ${plural(parameterBytes, 'character')}`,
    received: faults.join(' ') || error.message,
    cause: error,
  });
}
