// /saml/slo: LogoutRequests and LogoutResponses of service providers (SAML Profiles 4.4). An invalid response is a failure
// of its sender alone, and the logout run continues.
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import Router from '@koa/router';
import { readForm } from '../../http/body.ts';
import type { Context, Extras, Middleware, State } from '../../http/context.ts';
import { badRequest, unsupportedMediaType } from '../../http/errors.ts';
import { limits } from '../../limits.ts';
import { type DecodedMessage, decodePost, decodeRedirect } from '../../saml/messages/decode.ts';
import { samlErrorPage } from '../../saml/messages/error-page.ts';
import { openMessage } from '../../saml/messages/open-message.ts';
import { claimedInResponseTo } from '../../saml/messages/read-logout.ts';
import type { ServiceProvider, ServiceProviders } from '../../saml/metadata/service-providers.ts';
import { SamlError } from '../../saml/xml/errors.ts';
import type { XmlValidator } from '../../saml/xml/schema.ts';
import type { LogoutRequests } from './logout-requests.ts';
import type { LogoutResponses } from './logout-responses.ts';
import type { OutgoingSamlMessages } from './outgoing-messages.ts';

export interface SamlLogoutDependencies {
  validateXml: XmlValidator;
  serviceProviders: Pick<ServiceProviders, 'find'>;
  logoutRequests: LogoutRequests;
  logoutResponses: LogoutResponses;
  outgoingMessages: Pick<OutgoingSamlMessages, 'sendResponse'>;
  /** Rejects an address that sends too many messages. */
  rateLimit: Middleware;
}

const FORM = 'application/x-www-form-urlencoded';

export function samlLogoutRoutes(dependencies: SamlLogoutDependencies): Router<State, Extras> {
  const { validateXml, serviceProviders, logoutRequests, logoutResponses, outgoingMessages, rateLimit } = dependencies;
  const router = new Router<State, Extras>();

  router.get('/saml/slo', rateLimit, (ctx) => handle(ctx, ctx.querystring, decodeRedirect));

  router.post('/saml/slo', rateLimit, async (ctx) => {
    if (!ctx.is(FORM)) throw unsupportedMediaType(FORM);
    const body = await readForm(ctx.req, limits.saml.bodyBytes);
    await handle(ctx, body, async (text) => decodePost(text));
  });

  async function handle(ctx: Context, text: string, decode: (text: string) => Promise<DecodedMessage>): Promise<void> {
    let sp: ServiceProvider | undefined;
    try {
      const opened = openMessage(await decode(text), ['LogoutRequest', 'LogoutResponse'], validateXml);
      if (opened.name === 'LogoutResponse') {
        const runId = await logoutResponses.accept(opened, claimedInResponseTo(opened.unverified.root) ?? '');
        return redirectToRun(ctx, runId);
      }
      sp = await serviceProviders.find(opened.claimedIssuer);
      if (!sp) throw badRequest('service_provider_unknown', { detail: { entityId: opened.claimedIssuer } });
      const { context, outcome } = await logoutRequests.accept(ctx, sp, opened);
      if ('runId' in outcome) redirectToRun(ctx, outcome.runId);
      else outgoingMessages.sendResponse(ctx, sp, context, outcome);
    } catch (error) {
      if (!(error instanceof SamlError)) throw error;
      // Parsing an untrusted message took one turn of the event loop; recording its rejection takes another.
      await yieldToEventLoop();
      // An unknown sender is logged and not audited: anyone could fill the audit log.
      if (sp) await logoutRequests.record(ctx, sp, 'failure', error.code);
      const runId = sp ? undefined : await runOfUnreadable(text, error);
      if (runId === undefined) throw samlErrorPage(error, sp?.title);
      redirectToRun(ctx, runId);
    }
  }

  /** The logout run of a LogoutResponse that cannot be read, by its RelayState. */
  async function runOfUnreadable(text: string, error: SamlError): Promise<string | undefined> {
    const fields = new URLSearchParams(text);
    const relayState = fields.get('RelayState');
    if (!relayState || !fields.has('SAMLResponse') || error.code === 'unexpected_response') return undefined;
    return logoutResponses.acceptUnreadable(relayState, error.code);
  }

  return router;
}

function redirectToRun(ctx: Context, runId: string): void {
  ctx.status = 303;
  ctx.redirect(`/signout/${runId}`);
}
