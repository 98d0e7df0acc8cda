// SAML as a response mode of the authorization endpoint: the engine's outcome, or its error, becomes the Response to
// the kept AuthnRequest. The engine hands over here after sign-in, second factor, access rule and consent.
import { setImmediate as othersTurn } from 'node:timers/promises';
import type { KoaContextWithOIDC } from 'oidc-provider';
import type { Accounts } from '../accounts/accounts.ts';
import type { Audit } from '../audit/audit.ts';
import type { Context } from '../http/context.ts';
import { AppError, badRequest } from '../http/errors.ts';
import type { Metrics } from '../platform/metrics.ts';
import type { Refusals } from '../refusals/refusals.ts';
import type { Answers } from './answers.ts';
import { SamlError, type SamlStatus } from './errors.ts';
import type { KeptRequests, Question } from './kept-requests.ts';
import { statusCodes } from './names.ts';
import type { OpenQuestions } from './open-question.ts';
import type { Participants } from './participants.ts';
import type { ServiceProvider, ServiceProviders } from './service-providers.ts';

export interface ResponseModeNeeds {
  serviceProviders: ServiceProviders;
  keptRequests: KeptRequests;
  questions: Pick<OpenQuestions, 'isAsked'>;
  answers: Answers;
  participants: Participants;
  accounts: Pick<Accounts, 'find'>;
  audit: Audit;
  refusals: Pick<Refusals, 'keep'>;
  metrics: Metrics;
  /** How long a session lives from its sign-in. */
  sessionSeconds(): number;
  /** The browser's own secret for SAML requests. */
  browserOf(ctx: Context): string | undefined;
  /** Seals the answer to a test under its request's id. */
  seal(xml: string, id: string): string;
}

interface Outcome {
  state?: string;
  error?: string;
  error_description?: string;
}

/** The engine's errors in SAML's words (Core 3.2.2.2). */
const statuses: Record<string, SamlStatus> = {
  login_required: { code: statusCodes.Responder, subcode: statusCodes.NoPassive },
  interaction_required: { code: statusCodes.Responder, subcode: statusCodes.NoPassive },
  consent_required: { code: statusCodes.Responder, subcode: statusCodes.NoPassive },
  account_selection_required: { code: statusCodes.Responder, subcode: statusCodes.NoPassive },
  access_denied: { code: statusCodes.Responder, subcode: statusCodes.RequestDenied },
  unmet_authentication_requirements: { code: statusCodes.Responder, subcode: statusCodes.NoAuthnContext },
};
/** The page of the console that shows the answer to a test. */
export const SAML_TEST_RESULT = '/admin/test/saml';
const FAILED: SamlStatus = { code: statusCodes.Responder, subcode: statusCodes.AuthnFailed };

export function createResponseMode(needs: ResponseModeNeeds) {
  const {
    serviceProviders,
    keptRequests,
    questions,
    answers,
    participants,
    accounts,
    audit,
    refusals,
    metrics,
    sessionSeconds,
    browserOf,
    seal,
  } = needs;

  async function answer(ctx: KoaContextWithOIDC, sp: ServiceProvider, question: Question): Promise<string> {
    const { session, client } = ctx.oidc;
    const account = session?.accountId ? await accounts.find(session.accountId) : undefined;
    const sessionIndex = client && session?.sidFor(client.clientId);
    if (!session || !account || !sessionIndex) throw new Error('the engine answered without a session');
    // A session that has just begun is saved after the answer: it has no `exp` yet.
    const signedInAt = new Date((session.loginTs ?? 0) * 1000);
    const sessionEndsAt = new Date(signedInAt.getTime() + sessionSeconds() * 1000);
    const isTransient = question.nameIdFormat === 'transient';
    const before = isTransient ? await participants.inSession(session.uid, sp.applicationId) : undefined;
    const { xml, nameId, contextClass } = await answers.success(sp, question, {
      account,
      acr: session.acr,
      amr: session.amr ?? [],
      signedInAt,
      sessionEndsAt,
      sessionIndex,
      held: before?.userId === account.id ? before.nameId : undefined,
    });
    // Before the assertion leaves: whoever holds it has to be found at sign-out. A test's never leaves.
    const joins = question.isTest ? undefined : participants.add;
    await joins?.(
      { sessionUid: session.uid, userId: account.id, applicationId: sp.applicationId, nameId, sessionIndex },
      sessionEndsAt,
    );
    const about = { actorId: account.id, subjectId: account.id, clientId: sp.entityId };
    const data = { nameIdFormat: nameId.format, contextClass, ...(question.isTest && { test: true }) };
    await audit.record({
      type: 'saml.response',
      outcome: 'success',
      ...about,
      request: outerOf(ctx).state.request,
      data,
    });
    metrics.samlResponses.inc({ outcome: 'success' });
    return xml;
  }

  async function refuse(
    ctx: KoaContextWithOIDC,
    sp: ServiceProvider,
    question: Question,
    status: SamlStatus,
    reason: string,
  ) {
    const subjectId = ctx.oidc.session?.accountId;
    await audit.record({
      type: 'saml.response',
      outcome: 'failure',
      reason,
      clientId: sp.entityId,
      request: outerOf(ctx).state.request,
      ...(subjectId && { subjectId }),
    });
    metrics.samlResponses.inc({ outcome: 'refused' });
    // That nobody may be asked anything is an answer, no fault.
    if (status.subcode === statusCodes.NoPassive) return answers.status(question.acsUrl, question.requestId, status);
    const code = refusals.keep(outerOf(ctx).state.request, {
      endpoint: 'saml',
      reason,
      message: status.message ?? reason,
      clientId: sp.entityId,
      subjectId,
      received: {
        Issuer: sp.entityId,
        AssertionConsumerServiceURL: question.acsUrl,
        NameIDPolicy: question.nameIdFormat,
      },
    });
    const message = `${status.message ?? 'The sign-in was refused.'} Refusal ${code}.`;
    return answers.status(question.acsUrl, question.requestId, { ...status, message });
  }

  return async function respond(
    ctx: KoaContextWithOIDC,
    acsUrl: string,
    payload: Record<string, unknown>,
  ): Promise<void> {
    const outer = outerOf(ctx);
    const { state = '', error } = payload as Outcome;
    if (error === 'server_error') throw new AppError('internal', { detail: payload });
    // The engine's errors come here before its admission has looked at the parameters: what was edited uses nothing up.
    const isAsked = await questions.isAsked(outer, { ...ctx.oidc.params });
    const sp = ctx.oidc.client && (await serviceProviders.find(ctx.oidc.client.clientId));
    const question = isAsked && sp && (await keptRequests.take(state, sp.applicationId, browserOf(outer)));
    // Never sign for a client that is no service provider, nor without the one open question of this browser.
    if (!sp || !question || question.acsUrl !== acsUrl) {
      throw badRequest('saml_request_invalid', { detail: { error, clientId: ctx.oidc.client?.clientId } });
    }
    // Signing is a turn of the event loop of its own.
    await othersTurn();
    const xml = error
      ? await refuse(ctx, sp, question, statuses[error] ?? FAILED, error)
      : await answer(ctx, sp, question).catch((reason: unknown) => {
          if (!(reason instanceof SamlError) || !reason.status) throw reason;
          return refuse(ctx, sp, question, reason.status, reason.code);
        });
    outer.state.log.info({ clientId: sp.entityId, error }, 'SAML response');
    if (question.isTest) {
      await keptRequests.keepAnswer(state, seal(xml, state));
      outer.status = 303;
      outer.redirect(`${SAML_TEST_RESULT}?${new URLSearchParams({ request: state })}`);
      return;
    }
    answers.post(outer, sp, question, xml);
  };
}

function outerOf(ctx: KoaContextWithOIDC): Context {
  return ctx as unknown as Context;
}
