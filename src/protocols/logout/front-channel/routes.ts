// /signout/:run, the page that every step of a logout run returns to, with or without script. The sessions have ended
// before it opens, so no failure here keeps one alive.

import Router from '@koa/router';
import { z } from 'zod';
import type { Context, Extras, State } from '../../../base/http/context.ts';
import { badRequest, notFound } from '../../../base/http/errors.ts';
import { parseForm } from '../../../base/http/input.ts';
import { limits } from '../../../base/limits.ts';
import { randomToken } from '../../../base/platform/random.ts';
import type { LogoutRun } from '../logout-run.ts';
import type { LogoutRunStore } from '../logout-run-store.ts';
import type { LogoutServices } from '../logout-services.ts';
import { isSettled, needsBrowser } from './next-step.ts';
import { createLogoutSteps, NOT_CHOSEN } from './steps.ts';

const upstreamForm = z.object({ choice: z.enum(['sign-out', 'stay']) });

export function logoutRoutes(services: LogoutServices): Router<State, Extras> {
  const { csrf, runs, outgoingMessages, upstreams } = services;
  const steps = createLogoutSteps(services);
  const router = new Router<State, Extras>({ prefix: '/signout' });

  router.get('/:run', async (ctx) => {
    const address = `/signout/${ctx.params.run}`;
    // An application returned inside a frame of this page: the whole window continues.
    if (ctx.get('Sec-Fetch-Dest') === 'iframe') return ctx.render('logout/leave-frame', { next: address });
    const run = await runOfBrowser(services, ctx);
    if (ctx.query.frames === 'loaded') {
      await steps.settleFrames(
        run.participants.filter(({ channel, state }) => channel === 'front' && state === 'sent'),
      );
      return redirect(ctx, address);
    }
    await steps.advance(ctx, run);
  });

  router.get('/:run/to/:participant', async (ctx) => {
    const run = await runOfBrowser(services, ctx);
    const participant = run.participants.find(({ id }) => id === ctx.params.participant);
    const sender = participant?.channel === 'upstream' ? upstreams : outgoingMessages;
    const request = participant && (await sender.prepare(participant));
    if (participant && !request) await runs.browserFailed(participant, 'switched_off');
    const seconds = limits.logout.hopSeconds;
    const isFirst =
      participant && request && (await runs.startWaiting(participant.id, { messageId: request.messageId, seconds }));
    // Sent once: the page before this one can be loaded again.
    if (!isFirst) return redirect(ctx, `/signout/${run.id}`);
    ctx.set('Cache-Control', 'no-store');
    request.send(ctx, { returnUrl: `/signout/${run.id}`, afterSeconds: seconds + 1 });
  });

  router.post('/:run/upstream', csrf.check, async (ctx) => {
    const { choice } = await parseForm(ctx, upstreamForm);
    const run = await runOfBrowser(services, ctx);
    const upstream = run.participants.find((one) => one.channel === 'upstream' && !isSettled(one));
    if (upstream && choice === 'sign-out') return redirect(ctx, `/signout/${run.id}/to/${upstream.id}`);
    if (upstream) await runs.settle(upstream, { state: 'unsupported', reason: NOT_CHOSEN });
    redirect(ctx, `/signout/${run.id}`);
  });

  return router;
}

/** The logout run of the address, if it belongs to this browser. */
async function runOfBrowser(
  { cookies, runs, sessions }: LogoutServices,
  ctx: Context & { params: Record<string, string> },
): Promise<LogoutRun> {
  const cookie = cookies.get(ctx, 'logout') ?? randomToken();
  const run = await runs.openInBrowser(ctx.params.run ?? '', cookie);
  if (!run) throw notFound();
  if (run === 'other-browser') throw badRequest('other_browser');
  ctx.state.requestedLanguages = run.languages;
  cookies.set(ctx, 'logout', cookie);
  const session = await sessions.ofCookie(cookies.get(ctx, 'session'));
  if (session === undefined || session.accountId === run.userId) return run;
  return (await skipBrowserSteps(runs, run)) ?? run;
}

/**
 * Another user is signed in in this browser: an attacker may have opened the logout of their own session here. The
 * applications of this browser must not end the session of its user, so none of them is visited.
 */
async function skipBrowserSteps(runs: LogoutRunStore, run: LogoutRun): Promise<LogoutRun | undefined> {
  const steps = run.participants.filter((one) => needsBrowser(one) && !isSettled(one));
  for (const participant of steps) await runs.browserFailed(participant, 'other_person');
  return steps.length > 0 ? runs.find(run.id) : run;
}

function redirect(ctx: Context, address: string): void {
  ctx.set('Cache-Control', 'no-store');
  ctx.status = 303;
  ctx.redirect(address);
}
