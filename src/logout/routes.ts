// /signout/:run, the one address that every step of a sign-out comes back to (seed 4.3.5). It leads the browser from
// application to application, without script if need be, and at the end to whoever asked. The sessions are over before it
// is opened: whatever goes wrong here keeps nothing alive.
import Router from '@koa/router';
import type { Context, Extras, State } from '../http/context.ts';
import type { Cookies } from '../http/cookies.ts';
import { badRequest, notFound } from '../http/errors.ts';
import { relaxPolicy } from '../http/security-headers.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import { randomToken } from '../platform/random.ts';
import { statusCodes } from '../saml/names.ts';
import type { ServiceProviders } from '../saml/service-providers.ts';
import { isSettled, type NextHop, needsBrowser, nextHop, type Reach } from './next-hop.ts';
import type { Probe } from './probe.ts';
import { hasTrouble, isComplete, isUnderWay, livesOn, resultLines } from './results.ts';
import type { LogoutRun, Participant } from './run.ts';
import type { Runs } from './runs.ts';
import type { SamlMessages } from './saml-messages.ts';
import type { SamlProbe } from './saml-probe.ts';

export interface SignOutRoutesNeeds {
  now: Clock;
  cookies: Cookies;
  runs: Runs;
  probe: Probe;
  samlProbe: SamlProbe;
  samlMessages: SamlMessages;
  serviceProviders: Pick<ServiceProviders, 'find'>;
  /** Whose single sign-on session this browser holds, if any. */
  accountHere(ctx: Context): Promise<string | undefined>;
  /** The page of an OIDC application that ends its session in a frame, with `iss` and `sid`. */
  frontChannelUrl(participant: Participant): Promise<string | undefined>;
}

type Step<Kind extends NextHop['kind']> = Extract<NextHop, { kind: Kind }>;

export function signOutRoutes(needs: SignOutRoutesNeeds): Router<State, Extras> {
  const { now, cookies, runs, probe, samlProbe, samlMessages, serviceProviders } = needs;
  const { accountHere, frontChannelUrl } = needs;
  const router = new Router<State, Extras>({ prefix: '/signout' });

  router.get('/:run', async (ctx) => {
    const address = `/signout/${ctx.params.run}`;
    // Back in a frame of this very page: the whole window goes on.
    if (ctx.get('Sec-Fetch-Dest') === 'iframe') return ctx.render('sign-out/leave-frame', { next: address });
    const run = await ofThisBrowser(ctx);
    if (ctx.query.frames === 'loaded') {
      await leaveFrames(run.participants.filter(({ channel, state }) => channel === 'front' && state === 'asked'));
      return go(ctx, address);
    }
    await advance(ctx, run);
  });

  router.get('/:run/to/:participant', async (ctx) => {
    const run = await ofThisBrowser(ctx);
    const participant = run.participants.find(({ id }) => id === ctx.params.participant);
    const request = participant && (await samlMessages.request(participant));
    if (participant && !request) await runs.fail(participant, 'switched_off');
    const seconds = limits.signOut.hopSeconds;
    // Once: the page before this one may be loaded again.
    if (!participant || !request || !(await runs.ask(participant.id, { messageId: request.messageId, seconds }))) {
      return go(ctx, `/signout/${run.id}`);
    }
    ctx.set('Cache-Control', 'no-store');
    request.send(ctx, { wayBack: `/signout/${run.id}`, afterSeconds: seconds + 1 });
  });

  async function ofThisBrowser(ctx: Context & { params: Record<string, string> }): Promise<LogoutRun> {
    const cookie = cookies.get(ctx, 'signOut') ?? randomToken();
    const run = await runs.open(ctx.params.run ?? '', cookie);
    if (!run) throw notFound();
    if (run === 'other-browser') throw badRequest('other_browser');
    cookies.set(ctx, 'signOut', cookie);
    const account = await accountHere(ctx);
    if (account === undefined || account === run.userId) return run;
    return (await leaveOut(run)) ?? run;
  }

  /**
   * Somebody else is signed in here: a request of one person's application was opened in the browser of another, by an
   * attacker perhaps. The applications of this browser must not hear that their person has left, so it visits none.
   */
  async function leaveOut(run: LogoutRun): Promise<LogoutRun | undefined> {
    const visits = run.participants.filter((one) => needsBrowser(one) && !isSettled(one));
    for (const participant of visits) await runs.fail(participant, 'other_person');
    return visits.length > 0 ? runs.find(run.id) : run;
  }

  /** Does what needs no browser, until something does. */
  async function advance(ctx: Context, run: LogoutRun): Promise<void> {
    const { participants, createdAt } = run;
    const step = nextHop(participants, createdAt, now());
    const meant = (ids: string[]) => participants.filter(({ id }) => ids.includes(id));
    switch (step.kind) {
      case 'probe':
        await Promise.all(meant(step.ids).map(lookAhead));
        break;
      case 'leave-frames':
        await leaveFrames(meant(step.ids));
        break;
      case 'give-up':
        for (const participant of meant([step.id])) await runs.fail(participant, 'no_answer');
        break;
      case 'frames':
        return showFrames(ctx, run, step);
      case 'visit':
        return showVisit(ctx, run, step);
      case 'wait':
      case 'settle':
        return showProgress(ctx, run, { afterSeconds: step.seconds, ...('id' in step && { current: step.id }) });
      case 'answer':
        return answer(ctx, run);
    }
    const later = await runs.find(run.id);
    if (!later) throw notFound();
    return advance(ctx, later);
  }

  async function lookAhead(participant: Participant): Promise<void> {
    const reach = await (participant.channel === 'front' ? reachOfFrame : samlProbe)(participant);
    if (reach) await runs.noteReach(participant.id, reach);
    else await runs.fail(participant, 'switched_off');
  }

  async function reachOfFrame(participant: Participant): Promise<Reach | undefined> {
    const url = await frontChannelUrl(participant);
    return url === undefined ? undefined : probe(url);
  }

  async function leaveFrames(participants: readonly Participant[]): Promise<void> {
    for (const participant of participants) {
      // A frame says nothing of what it shows, so the call that went before it has to do.
      if (participant.reach === 'dead') await runs.fail(participant, 'no_answer');
      else await runs.settle(participant, { state: 'told' });
    }
  }

  async function showFrames(ctx: Context, run: LogoutRun, { ids, seconds }: Step<'frames'>): Promise<void> {
    const frames: { url: string; app: string }[] = [];
    for (const participant of run.participants.filter(({ id }) => ids.includes(id))) {
      const url = await frontChannelUrl(participant);
      if (!url) continue;
      await runs.ask(participant.id, { seconds: limits.signOut.frameSeconds });
      frames.push({ url, app: participant.name });
    }
    allowFrames(
      ctx,
      frames.map(({ url }) => url),
      'OpenID Connect front-channel logout',
    );
    showProgress(ctx, run, { afterSeconds: seconds, frames, framesLoaded: `/signout/${run.id}?frames=loaded` });
  }

  async function showVisit(ctx: Context, run: LogoutRun, { ids, inFrame }: Step<'visit'>): Promise<void> {
    const addressOfVisit = (id: string) => `/signout/${run.id}/to/${id}`;
    const seconds = limits.signOut.hopSeconds;
    const afterSeconds = seconds + 1;
    const [current = '', ...others] = ids;
    if (!inFrame) return showProgress(ctx, run, { to: addressOfVisit(current), afterSeconds, current });
    const visited = run.participants.filter(({ id }) => ids.includes(id));
    const addresses = await Promise.all(visited.map((one) => samlMessages.addressOf(one)));
    await runs.noteShown(ids, seconds);
    // The answer comes back in the frame, so our own address is shown in one as well.
    const foreign = addresses.filter((address) => address !== undefined);
    allowFrames(ctx, foreign, 'SAML single logout of service providers that would keep the window');
    const frames = visited.map(({ id, name }) => ({ url: addressOfVisit(id), app: name }));
    showProgress(ctx, run, { frames, afterSeconds, ...(others.length === 0 && { current }) });
  }

  function allowFrames(ctx: Context, urls: string[], reason: string): void {
    relaxPolicy(ctx, { directive: 'frame-src', sources: urls.map((url) => new URL(url).origin), reason });
  }

  interface Progress {
    afterSeconds: number;
    current?: string;
    /** Left for at once. */
    to?: string;
    frames?: { url: string; app: string }[];
    framesLoaded?: string;
  }

  /** In the header, because it works without script; the script of the page does the same for a page that hangs. */
  function showProgress(ctx: Context, run: LogoutRun, { to, afterSeconds, current, ...frames }: Progress): void {
    const next = `/signout/${run.id}`;
    ctx.set('Refresh', to ? `0;url=${to}` : `${afterSeconds};url=${next}`);
    const app = run.participants.find(({ id }) => id === current)?.name;
    ctx.render('sign-out/progress', { next, to, afterSeconds, app, ...frames, results: resultLines(run.participants) });
  }

  async function answer(ctx: Context, run: LogoutRun): Promise<void> {
    const isFirst = await runs.finish(run.id);
    const { answer: asked, participants } = run;
    if (asked.kind === 'saml' && isFirst) {
      const sp = await serviceProviders.find(asked.entityId);
      const subcode = isComplete(participants) ? {} : { subcode: statusCodes.PartialLogout };
      if (sp) return samlMessages.answer(ctx, sp, asked, { code: statusCodes.Success, ...subcode });
    }
    // OIDC has no word for a sign-out that went half well, so the person is told before they are sent back.
    if (asked.kind === 'oidc' && !hasTrouble(participants)) return go(ctx, asked.uri);
    const age = (now().getTime() - run.createdAt.getTime()) / 1000;
    if (isUnderWay(participants) && age < limits.signOut.watchSeconds) ctx.set('Refresh', `3;url=/signout/${run.id}`);
    const back = asked.kind === 'oidc' ? { returnUrl: asked.uri, appName: nameOfAsker(run) } : { returnUrl: '/' };
    ctx.render('sign-out/done', { ...back, isOpen: livesOn(participants), results: resultLines(participants) });
  }

  return router;
}

function nameOfAsker({ askedBy, participants }: LogoutRun): string {
  return participants.find(({ clientId }) => clientId === askedBy)?.name ?? 'the application';
}

function go(ctx: Context, address: string): void {
  ctx.set('Cache-Control', 'no-store');
  ctx.status = 303;
  ctx.redirect(address);
}
