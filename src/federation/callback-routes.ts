// /upstream/:id/callback: the redirect URI of a connection. It stores the answer and sends the browser on; nothing is redeemed
// here, because a cross-site POST brings no cookie that proves the browser.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../base/http/context.ts';
import { AppError, notFound } from '../base/http/errors.ts';
import { bodyLimit, parseForm, parseQuery } from '../base/http/input.ts';
import { limits } from '../base/limits.ts';
import { plural } from '../base/platform/plural.ts';
import { t } from '../base/texts/text.ts';
import type { Connections } from './connections/connections.ts';
import { FederationError } from './faults.ts';
import type { RejectedSignIns } from './rejected-sign-ins.ts';
import type { UpstreamSignIn } from './upstream-sign-in.ts';

export interface CallbackRoutesDependencies {
  connections: Connections;
  rejected: RejectedSignIns;
  upstreamSignIn: UpstreamSignIn;
}

const { answerParameters, parameterBytes, answerBytes } = limits.upstream;
const answerSchema = z
  .record(z.string().max(100), z.string().max(parameterBytes))
  .refine((answer) => Object.keys(answer).length <= answerParameters, 'has too many parameters');

export function callbackRoutes(dependencies: CallbackRoutesDependencies): Router<State, Extras> {
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
