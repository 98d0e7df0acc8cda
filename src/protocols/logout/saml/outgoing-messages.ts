import { type Context, seeOther } from '../../../base/http/context.ts';
import { UnexpectedAnswer } from '../../../base/network/outgoing-fetch.ts';
import type { Core } from '../../../core/core.ts';
import { newMessageId, postMessage, redirectUrl } from '../../saml/messages/encode.ts';
import { logoutRequest, logoutResponse } from '../../saml/messages/write-logout.ts';
import type { SloEndpoint } from '../../saml/metadata/entity.ts';
import type { ServiceProvider } from '../../saml/metadata/service-providers.ts';
import { readSoapAnswer, soapEnvelope, soapHeaders } from '../../saml/slo/soap.ts';
import type { SamlServices } from '../../saml/sso/saml-services.ts';
import { decodeXml } from '../../saml/xml/encoding.ts';
import type { SamlStatus } from '../../saml/xml/errors.ts';
import type { DeliveryResult } from '../deliveries.ts';
import type { LogoutRequestContext, Participant } from '../logout-run.ts';

/** A signed LogoutRequest to send through the browser. */
export interface PreparedRequest {
  messageId: string;
  send(ctx: Context, page: FormPage): void;
}

/** A signed LogoutRequest for a probe from this server. */
export interface ProbeRequest {
  sp: ServiceProvider;
  messageId: string;
  url: string;
  init: { method: 'GET' | 'POST'; body?: URLSearchParams };
}

/** What the page with the auto-submitting form needs besides the message. */
export interface FormPage {
  /** Where the browser goes when the service provider does not answer. */
  returnUrl: string;
  afterSeconds: number;
}

/** Where the browser goes with a LogoutResponse. */
export interface WayBack {
  action: string;
  /** The fields to post; absent: the address has the message. */
  message?: Record<string, string>;
}

export type OutgoingSamlMessages = ReturnType<typeof createOutgoingSamlMessages>;

export function createOutgoingSamlMessages(services: Core & SamlServices) {
  const { entityId: issuer, now, skewSeconds, validateXml, signer, serviceProviders, outgoing: fetch } = services;

  /** Undefined when the service provider or its endpoint is no longer registered. */
  async function targetOf({
    clientId,
    channel,
  }: Participant): Promise<{ sp: ServiceProvider; endpoint: SloEndpoint } | undefined> {
    const sp = await serviceProviders.find(clientId);
    const endpoint = sp?.slo.find(({ binding }) => binding === channel);
    return sp && endpoint && { sp, endpoint };
  }

  /** The LogoutRequest of a participant, not yet signed (SAML Core 3.7.1). */
  function build({ data }: Participant, destination: string, reason: 'user' | 'admin') {
    if (!data.nameId) throw new Error('a SAML participant without a NameID');
    const { nameId, sessionIndex } = data;
    const sessionIndexes = sessionIndex === undefined ? [] : [sessionIndex];
    const messageId = newMessageId();
    const about = { id: messageId, issuer, destination, now: now(), nameId, sessionIndexes, reason };
    return { messageId, message: logoutRequest(about) };
  }

  /**
   * The LogoutResponse (SAML Core 3.7.2) for the browser: an address to go to, or a form to post, by the binding of the request where
   * the service provider has an endpoint for it, else by the other one. Undefined when it takes none.
   */
  function responseTo(
    sp: ServiceProvider,
    { requestId, binding, relayState }: LogoutRequestContext,
    status: SamlStatus,
  ): WayBack | undefined {
    const offered = sp.slo.filter((endpoint) => endpoint.binding !== 'soap');
    const target = offered.find((endpoint) => endpoint.binding === binding) ?? offered[0];
    if (!target) return undefined;
    const destination = target.responseLocation ?? target.location;
    const about = { id: newMessageId(), issuer, destination, now: now(), inResponseTo: requestId, status };
    const message = logoutResponse(about);
    if (target.binding === 'redirect') {
      const parameter = 'SAMLResponse';
      return { action: redirectUrl({ location: destination, parameter, message, relayState }, signer()) };
    }
    const fields = {
      SAMLResponse: postMessage(message, signer()),
      ...(relayState === undefined ? {} : { RelayState: relayState }),
    };
    return { action: destination, message: fields };
  }

  return {
    responseTo,

    /** Undefined when the service provider or its endpoint is no longer registered. */
    async prepare(participant: Participant): Promise<PreparedRequest | undefined> {
      const target = await targetOf(participant);
      if (!target) return undefined;
      const { location, binding } = target.endpoint;
      const { messageId, message } = build(participant, location, 'user');
      // Service providers return it unchanged, so that even a response that cannot be read is matched to its request. It
      // is random and known to this one alone: no other participant can change its outcome.
      const relayState = messageId;
      return {
        messageId,
        send(ctx, page) {
          if (binding === 'redirect')
            return seeOther(ctx, redirectUrl({ location, parameter: 'SAMLRequest', message, relayState }, signer()));
          const fields = { SAMLRequest: postMessage(message, signer()), RelayState: relayState };
          ctx.render('form-post', { action: location, fields, appName: participant.name, ...page });
        },
      };
    },

    /** The message that the browser will send, by the same binding, with an ID of its own. */
    async probeRequest(participant: Participant): Promise<ProbeRequest | undefined> {
      const target = await targetOf(participant);
      if (!target) return undefined;
      const { sp, endpoint } = target;
      const { location, binding } = endpoint;
      const { messageId, message } = build(participant, location, 'user');
      if (binding === 'redirect') {
        const url = redirectUrl({ location, parameter: 'SAMLRequest', message }, signer());
        return { sp, messageId, url, init: { method: 'GET' } };
      }
      const body = new URLSearchParams({ SAMLRequest: postMessage(message, signer()) });
      return { sp, messageId, url: location, init: { method: 'POST', body } };
    },

    /** Sends the LogoutRequest by SOAP and reads the LogoutResponse in the answer (SAML Bindings 3.2). Throws when it should be retried. */
    async sendBySoap(participant: Participant): Promise<DeliveryResult> {
      const target = await targetOf({ ...participant, channel: 'soap' });
      if (!target) return 'switched_off';
      const { sp, endpoint } = target;
      const { location } = endpoint;
      const { messageId, message } = build(participant, location, 'admin');
      const body = soapEnvelope(message, signer());
      const response = await fetch(location, { method: 'POST', headers: soapHeaders, body });
      const octets = Buffer.from(await response.arrayBuffer());
      if (!response.ok) throw new UnexpectedAnswer(response.status, octets.toString());
      const text = decodeXml(octets, response.headers.get('Content-Type') ?? '');
      const parties = { sp, location, now: now(), skewSeconds: skewSeconds(), validateXml };
      // A LogoutResponse with another status than Success: the status is the answer, far behind the beginning.
      const status = text.slice(Math.max(0, text.search(/<(?:[\w-]{1,20}:)?Status>/)));
      if (!(await readSoapAnswer(text, messageId, parties))) throw new UnexpectedAnswer(response.status, status);
      return 'sent';
    },

    /** Sends the user with `responseTo`, else shows that they are signed out. */
    sendResponse(ctx: Context, sp: ServiceProvider, request: LogoutRequestContext, status: SamlStatus): void {
      const back = responseTo(sp, request, status);
      if (!back) ctx.render('logout/done', { appName: sp.title });
      else if (back.message) ctx.render('form-post', { action: back.action, fields: back.message, appName: sp.title });
      else seeOther(ctx, back.action);
    },

    /** The URL that `prepare` sends the browser to. */
    destinationOf: async (participant: Participant): Promise<string | undefined> =>
      (await targetOf(participant))?.endpoint.location,
  };
}
