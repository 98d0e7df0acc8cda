// /saml/metadata, /saml/sso and /saml/sso/start. An AuthnRequest is checked, kept, and handed over to the authorization
// endpoint, where the same session, policy and access rule serve both protocols (response-mode.ts answers).
import { setImmediate as othersTurn } from 'node:timers/promises';
import Router from '@koa/router';
import { z } from 'zod';
import type { Audit } from '../audit/audit.ts';
import { readBody } from '../http/body.ts';
import type { Context, Extras, Middleware, State } from '../http/context.ts';
import { AppError, badRequest, forbidden, unsupportedMediaType } from '../http/errors.ts';
import { parseQuery } from '../http/input.ts';
import { limits } from '../limits.ts';
import type { Clock } from '../platform/clock.ts';
import type { Refusals } from '../refusals/refusals.ts';
import { defaultAcs } from './acs.ts';
import type { Answers } from './answers.ts';
import { type AuthnRequest, readAuthnRequest } from './authn-request.ts';
import { type DecodedMessage, decodePost, decodeRedirect } from './decode.ts';
import { SamlError } from './errors.ts';
import { authenticateMessage, type OpenedMessage, openMessage } from './inbound.ts';
import type { KeptRequests, Question } from './kept-requests.ts';
import { chooseNameIdFormat, mayCreateNameId } from './nameid.ts';
import { authorizationParameters } from './open-question.ts';
import { asPage } from './page-error.ts';
import { receivedOf } from './refused.ts';
import { checkAuthnRequest } from './request-checks.ts';
import type { ServiceProvider, ServiceProviders } from './service-providers.ts';
import type { XmlJudge } from './xml/schema.ts';

export interface SamlRoutesNeeds {
  /** Public base URL. */
  base: string;
  now: Clock;
  skewSeconds(): number;
  metadata(): string;
  judge: XmlJudge;
  serviceProviders: ServiceProviders;
  keptRequests: KeptRequests;
  answers: Answers;
  audit: Audit;
  refusals: Pick<Refusals, 'keep'>;
  /** Refuses an address that sends too much. */
  throttled: Middleware;
  /** The browser's own secret; made when it has none. */
  browser: { of(ctx: Context): string | undefined; remember(ctx: Context): string };
}

const startQuery = z.object({
  sp: z.string().min(1).max(1024),
  RelayState: z
    .string()
    .refine((value) => Buffer.byteLength(value) <= limits.saml.relayStateBytes, 'is too long')
    .optional(),
});
const METADATA_TYPE = 'application/samlmetadata+xml';
const FORM = 'application/x-www-form-urlencoded';

export function samlRoutes(needs: SamlRoutesNeeds): Router<State, Extras> {
  const {
    base,
    now,
    skewSeconds,
    judge,
    serviceProviders,
    keptRequests,
    answers,
    audit,
    refusals,
    browser,
    throttled,
  } = needs;
  const router = new Router<State, Extras>({ prefix: '/saml' });

  router.get('/metadata', (ctx) => {
    ctx.type = METADATA_TYPE;
    ctx.set('Cache-Control', 'public, max-age=3600');
    ctx.body = needs.metadata();
  });

  router.get('/sso', throttled, async (ctx) => {
    const accepted = await accept(ctx, () => decodeRedirect(ctx.querystring));
    if (!accepted) return;
    const id = await keptRequests.keep(accepted.sp.applicationId, accepted.question, browser.remember(ctx));
    authorize(ctx, accepted.question, id);
  });

  // From another site a POST comes without our SameSite=Lax cookies: the browser is told to come again by GET.
  router.post('/sso', throttled, async (ctx) => {
    if (!ctx.is(FORM)) throw unsupportedMediaType(FORM);
    const body = await readBody(ctx.req, limits.saml.bodyBytes);
    const accepted = await accept(ctx, async () => decodePost(body));
    if (!accepted) return;
    const id = await keptRequests.keep(accepted.sp.applicationId, accepted.question, undefined);
    ctx.status = 303;
    ctx.redirect(`${base}/saml/sso/continue?request=${id}`);
  });

  router.get('/sso/continue', async (ctx) => {
    const { request } = parseQuery(ctx, z.object({ request: z.string().min(1).max(64) }));
    const bound = await keptRequests.bind(request, browser.remember(ctx));
    if (!bound) throw badRequest('sign_in_expired');
    authorize(ctx, bound, request);
  });

  router.get('/sso/start', throttled, async (ctx) => {
    const { sp: entityId, RelayState } = parseQuery(ctx, startQuery);
    const sp = await serviceProviders.find(entityId);
    if (!sp) throw badRequest('service_provider_unknown', { detail: { entityId } });
    if (!sp.settings.idp_initiated) {
      throw forbidden('forbidden', {
        message: `${sp.name} can only be opened from its own page.`,
        advice: 'Open it there and sign in.',
      });
    }
    const acs = defaultAcs(sp.acs);
    if (!acs) throw badRequest('saml_request_invalid', { detail: 'no usable assertion consumer service' });
    const question: Question = {
      entityId,
      requestId: undefined,
      acsUrl: acs.url,
      relayState: RelayState,
      nameIdFormat: chooseNameIdFormat(undefined, sp),
      mayCreateNameId: true,
      requestedContext: undefined,
      acrs: undefined,
      needsPassword: false,
      forceAuthn: false,
      isPassive: false,
      subjectHint: undefined,
    };
    const id = await keptRequests.keep(sp.applicationId, question, browser.remember(ctx));
    authorize(ctx, question, id);
  });

  /** Every check of a request. Undefined when the refusal was told to the service provider. */
  async function accept(ctx: Context, decode: () => Promise<DecodedMessage>) {
    let sp: ServiceProvider | undefined;
    let opened: OpenedMessage | undefined;
    try {
      const decoded = await decode();
      opened = openMessage(decoded, ['AuthnRequest'], judge);
      sp = await serviceProviders.find(opened.claimedIssuer);
      if (!sp) throw badRequest('service_provider_unknown', { detail: { entityId: opened.claimedIssuer } });
      const request = readAuthnRequest(authenticateMessage(opened, sp));
      const expectation = { endpoint: `${base}/saml/sso`, now: now(), skewSeconds: skewSeconds() };
      const verdict = checkAuthnRequest(request, sp, expectation);
      if (!(await keptRequests.isNew(sp.entityId, request.id))) throw new SamlError('replayed');
      if (verdict.outcome === 'refused') {
        await refused(ctx, sp, verdict.reason);
        const refusal = kept(ctx, verdict.reason, opened);
        const { status } = verdict.reason;
        const message = `${verdict.reason.message} Refusal ${refusal}.`;
        const xml = status && answers.status(verdict.acs.url, request.id, { ...status, message });
        if (!xml) throw verdict.reason;
        answers.post(ctx, sp, { acsUrl: verdict.acs.url, relayState: decoded.relayState }, xml);
        return undefined;
      }
      return { sp, question: questionOf(sp, request, verdict, decoded.relayState) };
    } catch (error) {
      // To read what a stranger sent has cost a turn of the event loop; to tell of it is another.
      await othersTurn();
      // An unknown sender is only logged: a stranger must not be able to fill the audit log.
      if (sp && error instanceof SamlError) await refused(ctx, sp, error);
      if (!(error instanceof SamlError || error instanceof AppError)) throw error;
      throw asPage(error, sp?.name, kept(ctx, error, opened));
    }
  }

  function kept(ctx: Context, error: SamlError | AppError, opened: OpenedMessage | undefined): string {
    const detail = typeof error.detail === 'string' ? ` (${error.detail})` : '';
    return refusals.keep(ctx.state.request, {
      endpoint: 'saml',
      reason: error.code,
      message: `${error.message}${detail}`,
      clientId: opened?.claimedIssuer,
      received: opened ? receivedOf(opened) : {},
    });
  }

  function refused(ctx: Context, sp: ServiceProvider, error: SamlError): Promise<void> {
    const { request } = ctx.state;
    const { code: reason, detail = null } = error;
    const about = { clientId: sp.entityId, request, data: { detail } };
    return audit.record({ type: 'saml.request', outcome: 'failure', reason, ...about });
  }

  function authorize(ctx: Context, question: Question, id: string): void {
    ctx.status = 303;
    ctx.redirect(`${base}/authorize?${new URLSearchParams(authorizationParameters(question, id))}`);
  }

  return router;
}

const HINTING = [
  undefined,
  'urn:oasis:names:tc:SAML:1.1:nameid-format:unspecified',
  'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress',
];

function questionOf(
  sp: ServiceProvider,
  request: AuthnRequest,
  verdict: Extract<ReturnType<typeof checkAuthnRequest>, { outcome: 'accepted' }>,
  relayState: string | undefined,
): Question {
  const { subject } = request;
  return {
    entityId: sp.entityId,
    requestId: request.id,
    acsUrl: verdict.acs.url,
    relayState,
    nameIdFormat: verdict.nameIdFormat,
    mayCreateNameId: mayCreateNameId(request.nameIdPolicy),
    requestedContext: request.requestedAuthnContext,
    acrs: verdict.acrs,
    needsPassword: verdict.needsPassword,
    forceAuthn: request.forceAuthn,
    isPassive: request.isPassive,
    subjectHint: subject && HINTING.includes(subject.format) ? subject.value.slice(0, 254) : undefined,
  };
}
