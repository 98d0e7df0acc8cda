// /saml/slo: a service provider signs somebody out, or answers that it did (SAML Profiles 4.4). Only a signed request
// counts, only for sessions that this service provider took part in, and only once. An answer counts only where one is
// waited for, and a wrong one costs its sender's place in the result, never the rest of the sign-out.
import { setImmediate as othersTurn } from 'node:timers/promises';
import Router from '@koa/router';
import type { Audit } from '../audit/audit.ts';
import { readBody } from '../http/body.ts';
import type { Context, Extras, Middleware, State } from '../http/context.ts';
import { badRequest, unsupportedMediaType } from '../http/errors.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import { type DecodedMessage, decodePost, decodeRedirect } from '../saml/decode.ts';
import { SamlError, type SamlStatus } from '../saml/errors.ts';
import { authenticateMessage, type OpenedMessage, openMessage } from '../saml/inbound.ts';
import type { KeptRequests } from '../saml/kept-requests.ts';
import { statusCodes } from '../saml/names.ts';
import { asPage } from '../saml/page-error.ts';
import type { Participants } from '../saml/participants.ts';
import type { ServiceProvider, ServiceProviders } from '../saml/service-providers.ts';
import { claimedInResponseTo, type LogoutRequest, readLogoutRequest, selectSessions } from '../saml/slo.ts';
import type { XmlJudge } from '../saml/xml/schema.ts';
import type { EndSession } from './end-session.ts';
import type { Walker } from './run.ts';
import type { SamlMessages } from './saml-messages.ts';

export interface SamlLogoutNeeds {
  /** Public base URL. */
  base: string;
  /** Our entity ID. */
  issuer: string;
  now: Clock;
  skewSeconds(): number;
  judge: XmlJudge;
  serviceProviders: ServiceProviders;
  keptRequests: Pick<KeptRequests, 'isNew'>;
  participants: Participants;
  endSession: EndSession;
  samlMessages: SamlMessages;
  /** Takes the answer to a LogoutRequest of ours; src/logout/saml-answers.ts. */
  answers: SamlLogoutAnswers;
  /** The browser of a request, as the one that walks a sign-out. */
  walkerOf(ctx: Context): Walker;
  audit: Audit;
  /** Refuses an address that sends too much. */
  throttled: Middleware;
}

export interface SamlLogoutAnswers {
  /** The run that goes on. Throws SamlError when nobody waits for this answer. */
  take(opened: OpenedMessage, inResponseTo: string): Promise<string>;
  /** The same, for an answer that can't be read: its RelayState is the ID of our LogoutRequest. */
  takeUnreadable(relayState: string, reason: string): Promise<string | undefined>;
}

const FORM = 'application/x-www-form-urlencoded';

export function samlLogoutRoutes(needs: SamlLogoutNeeds): Router<State, Extras> {
  const { base, issuer, now, skewSeconds, judge, serviceProviders, keptRequests, participants } = needs;
  const { endSession, samlMessages, answers, walkerOf, audit, throttled } = needs;
  const endpoint = `${base}/saml/slo`;
  const router = new Router<State, Extras>();

  router.get('/saml/slo', throttled, (ctx) => handle(ctx, ctx.querystring, decodeRedirect));

  router.post('/saml/slo', throttled, async (ctx) => {
    if (!ctx.is(FORM)) throw unsupportedMediaType(FORM);
    const body = await readBody(ctx.req, limits.saml.bodyBytes);
    await handle(ctx, body, async (text) => decodePost(text));
  });

  async function handle(ctx: Context, text: string, decode: (text: string) => Promise<DecodedMessage>): Promise<void> {
    let sp: ServiceProvider | undefined;
    try {
      const decoded = await decode(text);
      const opened = openMessage(decoded, ['LogoutRequest', 'LogoutResponse'], judge);
      if (opened.name === 'LogoutResponse') {
        const runId = await answers.take(opened, claimedInResponseTo(opened.unverified.root) ?? '');
        return goOn(ctx, runId);
      }
      sp = await serviceProviders.find(opened.claimedIssuer);
      if (!sp) throw badRequest('service_provider_unknown', { detail: { entityId: opened.claimedIssuer } });
      await handleRequest(ctx, sp, opened);
    } catch (error) {
      if (!(error instanceof SamlError)) throw error;
      // To read what a stranger sent has cost a turn of the event loop; to tell of it is another.
      await othersTurn();
      // An unknown sender is only logged: a stranger must not be able to fill the audit log.
      if (sp) await record(ctx, sp, 'failure', error.code);
      const runId = sp ? undefined : await unreadable(text, error);
      if (runId === undefined) throw asPage(error, sp?.name);
      goOn(ctx, runId);
    }
  }

  async function handleRequest(ctx: Context, sp: ServiceProvider, opened: OpenedMessage): Promise<void> {
    // Whatever the registration says of sign-in requests: ending a session takes a signature.
    const message = authenticateMessage(opened, { ...sp, requireSigned: true });
    const expectation = { entityId: sp.entityId, endpoint, now: now(), skewSeconds: skewSeconds() };
    const request = readLogoutRequest(message, expectation);
    if (!(await keptRequests.isNew(sp.entityId, request.id))) throw new SamlError('replayed');
    const { binding, relayState } = opened.decoded;
    const question = { requestId: request.id, binding, ...(relayState === undefined ? {} : { relayState }) };
    const outcome = await signOut(ctx, sp, request, question);
    if ('runId' in outcome) goOn(ctx, outcome.runId);
    else samlMessages.answer(ctx, sp, question, outcome);
  }

  async function signOut(
    ctx: Context,
    sp: ServiceProvider,
    request: LogoutRequest,
    question: { requestId: string; binding: 'redirect' | 'post'; relayState?: string },
  ): Promise<SamlStatus | { runId: string }> {
    const { nameId } = request;
    if (!nameId) {
      await record(ctx, sp, 'failure', 'name_id_encrypted');
      return { code: statusCodes.Requester, subcode: statusCodes.RequestUnsupported };
    }
    const held = await participants.find(sp.applicationId, nameId.value);
    const parties = { identityProvider: issuer, serviceProvider: sp.entityId };
    const meant = selectSessions({ ...request, nameId }, held, parties);
    const [first] = meant;
    if (!first) {
      await record(ctx, sp, 'failure', 'no_such_session');
      return { code: statusCodes.Requester, subcode: statusCodes.UnknownPrincipal };
    }
    const ended = await endSession.several(
      meant.map(({ sessionUid }) => sessionUid),
      'application-signed-out',
      {
        clientId: sp.entityId,
        request: ctx.state.request,
        walk: { browser: walkerOf(ctx), answer: { kind: 'saml', entityId: sp.entityId, ...question } },
      },
    );
    await record(ctx, sp, 'success', undefined, first.userId);
    const run = ended?.run;
    return run && run.visits + run.calls > 0 ? { runId: run.id } : { code: statusCodes.Success };
  }

  function unreadable(text: string, error: SamlError): Promise<string | undefined> {
    const fields = new URLSearchParams(text);
    const relayState = fields.get('RelayState');
    if (!relayState || !fields.has('SAMLResponse') || error.code === 'unexpected_response')
      return Promise.resolve(undefined);
    return answers.takeUnreadable(relayState, error.code);
  }

  function goOn(ctx: Context, runId: string): void {
    ctx.status = 303;
    ctx.redirect(`/signout/${runId}`);
  }

  function record(
    ctx: Context,
    sp: ServiceProvider,
    outcome: 'success' | 'failure',
    reason?: string,
    subjectId?: string,
  ) {
    const about = { clientId: sp.entityId, ...(subjectId && { subjectId }), ...(reason && { reason }) };
    return audit.record({ type: 'saml.logout', outcome, request: ctx.state.request, ...about });
  }

  return router;
}
