// /saml/sp/slo: LogoutRequests of upstream identity providers, by redirect, POST and SOAP (SAML Bindings 3.2, 3.4, 3.5).

import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import Router from '@koa/router';
import { z } from 'zod';
import { readBytes, readForm } from '../../base/http/body.ts';
import { type Context, type Extras, type State, seeOther } from '../../base/http/context.ts';
import { notFound, unsupportedMediaType } from '../../base/http/errors.ts';
import { parseQuery } from '../../base/http/input.ts';
import { isPage } from '../../base/http/pages/page-request.ts';
import { relaxPolicy } from '../../base/http/security-headers.ts';
import { limits } from '../../base/limits.ts';
import type { Vault } from '../../base/platform/vault.ts';
import { type BrokenRule, ruleResults } from '../../core/rejections/rules.ts';
import type { People } from '../../people/people.ts';
import type { LogoutBrowser } from '../../protocols/logout/logout-run.ts';
import { type DecodedMessage, decodePost, decodeRedirect } from '../../protocols/saml/messages/decode.ts';
import { providerErrorPage } from '../../protocols/saml/messages/error-page.ts';
import { type OpenedMessage, openMessage } from '../../protocols/saml/messages/open-message.ts';
import { openSoap, soapEnvelope } from '../../protocols/saml/slo/soap.ts';
import { recordRejection } from '../../protocols/saml/sso/rejected-requests.ts';
import { decodeXml } from '../../protocols/saml/xml/encoding.ts';
import { SamlError, type SamlStatus } from '../../protocols/saml/xml/errors.ts';
import { statusCodes } from '../../protocols/saml/xml/names.ts';
import { attribute } from '../../protocols/saml/xml/read.ts';
import { connectionIdOf } from '../logout/upstream-participants.ts';
import { upstreamRules } from '../rejected-sign-ins.ts';
import type { UpstreamRedirect } from '../upstream.ts';
import type { UpstreamSamlServices } from './identity-provider.ts';
import type { ReceivedLogoutRequests, SentLogoutRequests } from './logout.ts';

type SloServices = People &
  UpstreamSamlServices & {
    /** LogoutRequests of upstreams, and those of this server. */
    received: ReceivedLogoutRequests;
    sent: SentLogoutRequests;
    logoutBrowserOf(ctx: Context): LogoutBrowser;
  };

const FORM = 'application/x-www-form-urlencoded';
const SOAP = 'text/xml';

/** What answers a LogoutRequest after its logout run, in the address of `/saml/sp/slo/answers/…`. */
const pendingAnswer = z.object({
  connectionId: z.string(),
  requestId: z.string(),
  binding: z.enum(['redirect', 'post']),
  relayState: z.string().optional(),
});
type PendingAnswer = z.output<typeof pendingAnswer>;
const PURPOSE = 'saml upstream logout';
const answerQuery = z.object({ partial: z.literal('1').optional() });

export function sloRoutes(services: SloServices): Router<State, Extras> {
  const { vault, rateLimit } = services;
  const router = new Router<State, Extras>({ prefix: '/saml/sp/slo' });

  router.get('/', rateLimit, async (ctx) => {
    // An upstream may probe this address before it sends the browser here. A probe stops at the redirect, and a browser follows it.
    if (ctx.method === 'HEAD' || !isFromBrowser(ctx)) return toBrowserAddress(services, ctx);
    return receive(services, ctx, () => decodeRedirect(ctx.querystring));
  });

  router.get('/browser', rateLimit, async (ctx) => {
    if (ctx.method === 'HEAD') return toBrowserAddress(services, ctx);
    return receive(services, ctx, () => decodeRedirect(ctx.querystring));
  });

  router.post('/', rateLimit, async (ctx) => {
    if (ctx.is(SOAP)) return receiveSoap(services, ctx);
    if (!ctx.is(FORM)) throw unsupportedMediaType(FORM);
    const body = await readForm(ctx.req, limits.saml.bodyBytes);
    return receive(services, ctx, async () => decodePost(body));
  });

  router.get('/answers/:sealed', async (ctx) => {
    const { partial } = parseQuery(ctx, answerQuery);
    const pending = pendingAnswer.safeParse(decryptPending(vault, ctx.params.sealed ?? ''));
    if (!pending.success) throw notFound();
    const subcode = partial === undefined ? {} : { subcode: statusCodes.PartialLogout };
    await answer(services, ctx, pending.data, { code: statusCodes.Success, ...subcode });
  });

  return router;
}

function decryptPending(vault: Vault, sealed: string): unknown {
  try {
    return JSON.parse(vault.open(sealed, PURPOSE).toString());
  } catch {
    return undefined;
  }
}

/** Every current browser sends Sec-Fetch-Site over https; older ones bring a cookie of this server. */
function isFromBrowser(ctx: Context): boolean {
  return ctx.get('Sec-Fetch-Site') !== '' || ctx.get('Cookie') !== '';
}

/** The same message at the address that ends sessions, with a cookie that a browser brings there. Nothing is used up. */
function toBrowserAddress({ logoutBrowserOf }: SloServices, ctx: Context): void {
  logoutBrowserOf(ctx);
  ctx.set('Cache-Control', 'no-store');
  seeOther(ctx, `/saml/sp/slo/browser?${ctx.querystring}`);
}

async function receive(services: SloServices, ctx: Context, decode: () => Promise<DecodedMessage>): Promise<void> {
  const { received, validateXml, vault, logoutBrowserOf } = services;
  let opened: OpenedMessage | undefined;
  try {
    const decoded = await decode();
    opened = openMessage(decoded, ['LogoutRequest', 'LogoutResponse'], validateXml);
    if (opened.name === 'LogoutResponse') return await continueRun(services, ctx, opened);
    const accepted = await received.accept(opened);
    const { connection, requestId } = accepted;
    const { binding, relayState } = decoded;
    const pending = {
      connectionId: connection.id,
      requestId,
      binding,
      ...(relayState !== undefined && { relayState }),
    };
    const path = `/saml/sp/slo/answers/${vault.seal(JSON.stringify(pending), PURPOSE)}`;
    const { request } = ctx.state;
    // Without a browser, or inside a frame of the upstream, no page of a logout run would ever open: the applications are
    // notified by deliveries at once.
    const outcome = await (isFromBrowser(ctx) && isPage(ctx)
      ? received.endSessions(accepted, {
          request,
          frontChannel: { browser: logoutBrowserOf(ctx), completion: { kind: 'upstream', path } },
        })
      : received.endSessions(accepted, { request }));
    if (!('runId' in outcome)) return await answer(services, ctx, pending, outcome);
    seeOther(ctx, `/signout/${outcome.runId}`);
  } catch (error) {
    // Parsing an untrusted message took one turn of the event loop; writing the page takes another.
    await yieldToEventLoop();
    throw await rejectionPage(services, ctx, error, opened);
  }
}

/** The error page of a message that is not accepted, also of one that cannot be decoded; recorded for the console. */
async function rejectionPage(
  services: SloServices,
  ctx: Context,
  error: unknown,
  opened: OpenedMessage | undefined,
): Promise<unknown> {
  if (!(error instanceof SamlError)) return error;
  const issuer = opened?.claimedIssuer;
  const sender = (await services.connections.enabled()).find(
    (one) => one.kind === 'saml' && issuer !== undefined && one.settings.entity_id === issuer,
  );
  const rejected = { error, message: opened, upstream: { connectionId: sender?.id } };
  const rulesOf = (brokenRule: BrokenRule) => ruleResults(upstreamRules, brokenRule);
  return providerErrorPage(error, await recordRejection(services, ctx, rulesOf, rejected));
}

/** The upstream answers the LogoutRequest of this server, which was the last step of a logout run. */
async function continueRun(
  { connections, sent, runs }: SloServices,
  ctx: Context,
  opened: OpenedMessage,
): Promise<void> {
  const requestId = attribute(opened.unverified.root, 'InResponseTo') ?? '';
  const participant = requestId === '' ? undefined : await runs.findByMessageId(requestId.slice(0, 256));
  const connection = participant && (await connections.find(connectionIdOf(participant) ?? ''));
  if (!participant || connection?.kind !== 'saml') throw new SamlError('unexpected_response');
  try {
    if (await sent.isConfirmed(connection, opened, requestId)) await runs.settle(participant, { state: 'done' });
    else await runs.browserFailed(participant, 'rejected');
  } catch (error) {
    if (!(error instanceof SamlError)) throw error;
    await runs.browserFailed(participant, `invalid_answer: ${error.code}`);
  }
  ctx.set('Cache-Control', 'no-store');
  seeOther(ctx, `/signout/${participant.runId}`);
}

/** Without a browser: applications are notified by deliveries. */
async function receiveSoap(services: SloServices, ctx: Context): Promise<void> {
  const { received, ownServiceProvider, validateXml } = services;
  let opened: OpenedMessage | undefined;
  try {
    const text = decodeXml(await readBytes(ctx.req, limits.saml.bodyBytes), ctx.get('Content-Type'));
    const decoded = openSoap(text, 'SAMLRequest');
    opened = openMessage(decoded, ['LogoutRequest'], validateXml);
    const accepted = await received.accept(opened);
    const outcome = await received.endSessions(accepted, { request: ctx.state.request });
    const status = 'runId' in outcome ? { code: statusCodes.Success } : outcome;
    ctx.type = SOAP;
    ctx.body = soapEnvelope(received.soapAnswer(accepted, status), ownServiceProvider.signer());
  } catch (error) {
    await yieldToEventLoop();
    throw await rejectionPage(services, ctx, error, opened);
  }
}

async function answer(
  { connections, received }: SloServices,
  ctx: Context,
  { connectionId, ...request }: PendingAnswer,
  status: SamlStatus,
): Promise<void> {
  const connection = await connections.find(connectionId);
  if (connection?.kind !== 'saml') throw notFound();
  const accepted = { connection, requestId: request.requestId };
  const { binding, relayState } = request;
  const sent = await received.answer(accepted, { binding, relayState, status });
  ctx.set('Cache-Control', 'no-store');
  if (sent) return send(ctx, sent, connection.name);
  ctx.render('logout/done', { appName: connection.name });
}

function send(ctx: Context, sent: UpstreamRedirect, appName: string): void {
  if (sent.method === 'post') {
    if (!isPage(ctx)) allowFrameOf(ctx, sent.url);
    ctx.render('form-post', { action: sent.url, fields: sent.fields, appName });
    return;
  }
  seeOther(ctx, sent.url);
}

/** The page that brings the answer opens in the frame in which the upstream sent its LogoutRequest. */
function allowFrameOf(ctx: Context, upstreamUrl: string): void {
  ctx.remove('X-Frame-Options'); // knows no other origins
  relaxPolicy(ctx, {
    directive: 'frame-ancestors',
    sources: [new URL(upstreamUrl).origin],
    reason: 'SAML single logout by an upstream, in a frame',
  });
}
