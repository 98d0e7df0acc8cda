// /signout/:run, the page that every step of a logout run returns to, with or without script. The sessions have ended
// before it opens, so no failure here keeps one alive.
import Router from '@koa/router';
import { z } from 'zod';
import type { ApplicationServices } from '../../../applications/application-services.ts';
import type { Base } from '../../../base/base.ts';
import { type Context, type Extras, type State, seeOther } from '../../../base/http/context.ts';
import { badRequest, notFound } from '../../../base/http/errors.ts';
import { parseForm } from '../../../base/http/input.ts';
import { relaxPolicy } from '../../../base/http/security-headers.ts';
import { limits } from '../../../base/limits.ts';
import { randomToken } from '../../../base/platform/random.ts';
import { type PageText, sentences, t } from '../../../base/texts/text.ts';
import { statusCodes } from '../../saml/xml/names.ts';
import { INITIATOR, type LogoutRun, type Participant } from '../logout-run.ts';
import type { LogoutRunStore } from '../logout-run-store.ts';
import type { LogoutServices } from '../logout-services.ts';
import { createSamlProbe, probeFrame } from '../saml/probe.ts';
import { isSettled, type NextStep, needsBrowser, nextStep, type ProbeResult } from './next-step.ts';

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
  seeOther(ctx, address);
}

type Step<Kind extends NextStep['kind']> = Extract<NextStep, { kind: Kind }>;

/**
 * Runs the steps of a logout run: probes, settles and gives up what needs no page, then shows the page for the next step of the browser, or
 * completes the run.
 */
function createLogoutSteps(services: LogoutServices) {
  const { now, runs, upstreams, outgoing } = services;
  const probeSaml = createSamlProbe(services);

  async function advance(ctx: Context, run: LogoutRun): Promise<void> {
    const { participants, createdAt } = run;
    const step = nextStep(participants, createdAt, now());
    const named = (ids: string[]) => participants.filter(({ id }) => ids.includes(id));
    switch (step.kind) {
      case 'probe':
        await Promise.all(named(step.ids).map(probeParticipant));
        break;
      case 'leave-frames':
        await settleFrames(named(step.ids));
        break;
      case 'give-up':
        for (const participant of named([step.id])) await runs.browserFailed(participant, 'no_answer');
        break;
      case 'frames':
        return showFrames(services, ctx, run, step);
      case 'visit':
        return visit(services, ctx, run, step);
      case 'ask':
        return askUser(ctx, run, step.id);
      case 'wait':
      case 'settle':
        return showProgress(ctx, run, { afterSeconds: step.seconds, ...('id' in step && { current: step.id }) });
      case 'complete':
        return complete(services, ctx, run);
    }
    const updated = await runs.find(run.id);
    if (!updated) throw notFound();
    return advance(ctx, updated);
  }

  /** Asks the logout address of a participant whether it answers, and saves the result. */
  async function probeParticipant(participant: Participant): Promise<void> {
    if (participant.channel === 'upstream') return probeUpstream(participant);
    const result = await (participant.channel === 'front' ? probeFrontChannel : probeSaml)(participant);
    if (result) await runs.saveProbeResult(participant.id, result);
    else await runs.browserFailed(participant, 'switched_off');
  }

  async function probeFrontChannel(participant: Participant): Promise<ProbeResult | undefined> {
    const url = await frontChannelUrl(services, participant);
    return url === undefined ? undefined : probeFrame(url, outgoing);
  }

  /** Without parameters its logout endpoint ends no session. */
  async function probeUpstream(participant: Participant): Promise<void> {
    const url = await upstreams.addressOf(participant).catch(() => 'unreadable' as const);
    if (url === undefined) return void (await runs.settle(participant, { state: 'unsupported', reason: 'no_logout' }));
    await runs.saveProbeResult(participant.id, url === 'unreadable' ? 'unreachable' : await probeFrame(url, outgoing));
  }

  async function settleFrames(participants: readonly Participant[]): Promise<void> {
    for (const participant of participants) {
      // A frame reports nothing about its content; only the probe before it tells whether the application answers.
      if (participant.probeResult === 'unreachable') await runs.browserFailed(participant, 'no_answer');
      else await runs.settle(participant, { state: 'notified' });
    }
  }

  return {
    /** Does every step that needs no browser, then answers with the page or redirect of the next one. */
    advance,
    /** The frames of these participants have loaded, or have been open for long enough. */
    settleFrames,
  };
}

/** The page with the front-channel logout of applications in frames. */
async function showFrames(
  services: LogoutServices,
  ctx: Context,
  run: LogoutRun,
  { ids, seconds }: Step<'frames'>,
): Promise<void> {
  const frames: { url: string; app: string }[] = [];
  for (const participant of run.participants.filter(({ id }) => ids.includes(id))) {
    const url = await frontChannelUrl(services, participant);
    if (!url) continue;
    await services.runs.startWaiting(participant.id, { seconds: limits.logout.frameSeconds });
    frames.push({ url, app: participant.name });
  }
  const urls = frames.map(({ url }) => url);
  allowFrames(ctx, urls, 'OpenID Connect front-channel logout');
  showProgress(ctx, run, { afterSeconds: seconds, frames, framesLoaded: `/signout/${run.id}?frames=loaded` });
}

/** Sends the browser to an application, or to several in frames. */
async function visit(
  { runs, outgoingMessages }: LogoutServices,
  ctx: Context,
  run: LogoutRun,
  { ids, inFrame }: Step<'visit'>,
): Promise<void> {
  const addressOfVisit = (id: string) => `/signout/${run.id}/to/${id}`;
  const seconds = limits.logout.hopSeconds;
  const afterSeconds = seconds + 1;
  const [current = '', ...others] = ids;
  if (!inFrame) return showProgress(ctx, run, { to: addressOfVisit(current), afterSeconds, current });
  const visited = run.participants.filter(({ id }) => ids.includes(id));
  const destinations = await Promise.all(visited.map((one) => outgoingMessages.destinationOf(one)));
  await runs.startFrameTimeout(ids, seconds);
  // The LogoutResponse returns inside the frame; the policy allows frames of this server anyway.
  const urls = destinations.filter((url) => url !== undefined);
  allowFrames(ctx, urls, 'SAML single logout of service providers that would keep the window');
  const frames = visited.map(({ id, name }) => ({ url: addressOfVisit(id), app: name }));
  showProgress(ctx, run, { frames, afterSeconds, ...(others.length === 0 && { current }) });
}

function allowFrames(ctx: Context, urls: string[], reason: string): void {
  relaxPolicy(ctx, { directive: 'frame-src', sources: urls.map((url) => new URL(url).origin), reason });
}

/** Whether the logout goes on to the upstream; the answer is sent to `/signout/:run/upstream`. */
function askUser(ctx: Context, run: LogoutRun, id: string): void {
  const upstream = run.participants.find((one) => one.id === id);
  const results = resultLines(run.participants.filter((one) => one.id !== id));
  ctx.render('logout/ask-upstream', { action: `/signout/${run.id}/upstream`, name: upstream?.name, results });
}

interface Progress {
  /** When the page loads the next step. */
  afterSeconds: number;
  /** ID of the participant that is being logged out. */
  current?: string;
  /** Where the browser goes at once. */
  to?: string;
  frames?: { url: string; app: string }[];
  /** Where the browser goes when all frames have loaded. */
  framesLoaded?: string;
}

/** The Refresh header works without script; the script does the same for a page that hangs. */
function showProgress(ctx: Context, run: LogoutRun, { to, afterSeconds, current, ...frames }: Progress): void {
  const next = `/signout/${run.id}`;
  ctx.set('Refresh', to ? `0;url=${to}` : `${afterSeconds};url=${next}`);
  const app = run.participants.find(({ id }) => id === current)?.name;
  ctx.render('logout/progress', { next, to, afterSeconds, app, ...frames, results: resultLines(run.participants) });
}

/** Completes a run: a LogoutResponse, the post-logout redirect of an RP, or the result page. */
async function complete(services: LogoutServices, ctx: Context, run: LogoutRun): Promise<void> {
  const { now, runs, outgoingMessages, serviceProviders } = services;
  const isFirst = await runs.finish(run.id);
  const { completion, participants } = run;
  if (completion.kind === 'saml' && isFirst) {
    const sp = await serviceProviders.find(completion.entityId);
    const subcode = isComplete(participants) ? {} : { subcode: statusCodes.PartialLogout };
    if (sp) return outgoingMessages.sendResponse(ctx, sp, completion, { code: statusCodes.Success, ...subcode });
  }
  if (completion.kind === 'upstream' && isFirst)
    return redirect(ctx, isComplete(participants) ? completion.path : `${completion.path}?partial=1`);
  // OIDC has no status for a partial logout, so the user sees the result before the redirect when an
  // application was not signed out. When all were, or the rest supports no logout, the browser returns at once.
  if (completion.kind === 'oidc' && !hasFailures(participants)) return redirect(ctx, completion.uri);
  const ageSeconds = (now().getTime() - run.createdAt.getTime()) / 1000;
  if (isInProgress(participants) && ageSeconds < limits.logout.watchSeconds)
    ctx.set('Refresh', `3;url=/signout/${run.id}`);
  ctx.render('logout/done', {
    ...(await linkOnResultPage(services, run)),
    isOpen: mayStillBeSignedIn(participants),
    results: resultLines(participants),
  });
}

/** Where the result page leads. */
async function linkOnResultPage(
  { applications }: LogoutServices,
  { completion, initiator: id, participants }: LogoutRun,
): Promise<{ returnUrl: string; appName?: string }> {
  if (completion.kind === 'oidc') {
    const appName = participants.find(({ clientId }) => clientId === id)?.name ?? 'the app';
    return { returnUrl: completion.uri, appName };
  }
  const initiator = id === undefined ? undefined : await applications.find(id);
  // A website behind a proxy has no page of its own at the end.
  if (initiator?.protocol === 'proxy') return { returnUrl: `${initiator.clientId}/`, appName: initiator.name };
  return { returnUrl: '/' };
}

interface ResultLine {
  app: string;
  text: PageText;
  /** The user may still be signed in at the application. */
  isOpen: boolean;
}

/** If an application has several sessions, the most severe state is displayed. */
const SEVERITY = ['failed', 'retrying', 'unsupported', 'sent', 'waiting', 'notified', 'done'] as const;

/** One line per application, in the order of the participants. */
function resultLines(participants: readonly Participant[]): ResultLine[] {
  const worst = new Map<string, Participant>();
  for (const participant of participants) {
    const other = worst.get(participant.clientId);
    if (!other || severity(participant) < severity(other)) worst.set(participant.clientId, participant);
  }
  return [...worst.values()].map((participant) => ({
    app: participant.name,
    text: textOf(participant),
    isOpen: mayStillBeSignedIn([participant]),
  }));
}

function severity({ state }: Participant): number {
  return SEVERITY.indexOf(state);
}

function textOf({ state, reason, protocol }: Participant): PageText {
  switch (state) {
    case 'done':
      return reason === INITIATOR ? t('logout.app-initiator') : t('logout.app-done');
    case 'notified':
      return t('logout.app-notified');
    case 'waiting':
      return t('logout.app-waiting');
    case 'sent':
      return t('logout.app-sent');
    case 'retrying':
      return reason === 'rejected' ? t('logout.app-rejected-retrying') : t('logout.app-retrying');
    case 'unsupported':
      if (reason === NOT_CHOSEN) return t('logout.app-not-chosen');
      return reason === 'needs_browser' ? t('logout.app-needs-browser') : t('logout.app-unsupported');
    case 'failed':
      return sentences([failure(reason, protocol), t('logout.failed-advice')]);
  }
}

function failure(reason: string | undefined, protocol: Participant['protocol']): PageText {
  if (reason === 'rejected') return t('logout.failed-rejected');
  if (reason === 'switched_off') return t('logout.failed-disabled');
  if (reason === 'browser_left') return t('logout.failed-left');
  if (reason === 'other_person') return t('logout.failed-other-user');
  if (protocol === 'saml' && reason?.startsWith('invalid_answer')) return t('logout.failed-invalid');
  return t('logout.failed-no-answer');
}

// The URL of OIDC front-channel logout for one application (OIDC Front-Channel Logout 1.0 section 2).

/** With `iss` and `sid`, unless the application wants neither; undefined when the application is disabled or has no front-channel logout (any more). */
export async function frontChannelUrl(
  { config, applications }: Base & ApplicationServices,
  { clientId, data }: Participant,
): Promise<string | undefined> {
  const application = await applications.find(clientId);
  if (!application?.enabled || application.protocol !== 'oidc') return undefined;
  const { frontchannel_logout_uri: uri, frontchannel_logout_session_required: wantsSid } = application.metadata;
  if (!uri) return undefined;
  const url = new URL(uri);
  // They come together: a sid is unique for its issuer only.
  if (wantsSid !== false && data.sid) {
    url.searchParams.set('iss', config.issuer);
    url.searchParams.set('sid', data.sid);
  }
  return url.href;
}

// What the states of its participants say about a logout run as a whole.

/** Whether the notification of an application failed, which the user has to see. */
function hasFailures(participants: readonly Participant[]): boolean {
  return participants.some(({ state }) => state === 'failed' || state === 'retrying');
}

/** Whether the user may still be signed in at some application. */
function mayStillBeSignedIn(participants: readonly Participant[]): boolean {
  return hasFailures(participants) || participants.some(({ state }) => state === 'unsupported');
}

/** The reason of an upstream where the user chose to stay signed in. */
const NOT_CHOSEN = 'not_chosen';

/** Whether all participants have ended their sessions: Success, else PartialLogout (SAML Core 3.7.3.2). */
function isComplete(participants: readonly Participant[]): boolean {
  return participants.every(({ state, reason }) => state === 'done' || state === 'notified' || reason === NOT_CHOSEN);
}

/** Whether some notification is still in progress. */
function isInProgress(participants: readonly Participant[]): boolean {
  return participants.some(({ state }) => state === 'waiting' || state === 'sent' || state === 'retrying');
}
