// What sign-outs say to SAML service providers: LogoutRequests through the browser and by SOAP, and the LogoutResponse to
// the one that asked.
import type { Context } from '../http/context.ts';
import type { Clock } from '../platform/clock.ts';
import { newMessageId } from '../saml/answers.ts';
import type { SamlStatus } from '../saml/errors.ts';
import { logoutRequest, logoutResponse, postMessage, redirectUrl } from '../saml/logout-messages.ts';
import type { SloEndpoint } from '../saml/metadata-parse.ts';
import type { ServiceProvider, ServiceProviders } from '../saml/service-providers.ts';
import { readSoapAnswer, soapEnvelope, soapHeaders } from '../saml/soap.ts';
import type { XmlJudge } from '../saml/xml/schema.ts';
import type { Signer } from '../saml/xml/sign.ts';
import type { CallResult } from './deliveries.ts';
import type { Participant } from './run.ts';

export interface SamlMessagesNeeds {
  /** Our entity ID. */
  issuer: string;
  now: Clock;
  skewSeconds(): number;
  judge: XmlJudge;
  signer(): Signer;
  serviceProviders: Pick<ServiceProviders, 'find'>;
  fetch: typeof fetch;
}

/** A LogoutRequest that is ready to go through the browser. */
export interface PreparedRequest {
  messageId: string;
  send(ctx: Context, page: FormPage): void;
}

/** A LogoutRequest that is ready for a call of ours. */
export interface Trial {
  sp: ServiceProvider;
  messageId: string;
  url: string;
  init: { method: 'GET' | 'POST'; body?: URLSearchParams };
}

/** What the page with the self-sending form needs beside the message. */
export interface FormPage {
  /** Where the browser goes when the service provider lets it hang. */
  wayBack: string;
  afterSeconds: number;
}

export interface SamlMessages {
  /** Undefined when the service provider is not registered any more, or has lost that address. */
  request(participant: Participant): Promise<PreparedRequest | undefined>;
  /** The same message as the browser will bring, by the same binding, under an ID of its own. */
  trial(participant: Participant): Promise<Trial | undefined>;
  /** Calls the service provider itself. Throws when that should be tried again. */
  call(participant: Participant): Promise<CallResult>;
  /** By the binding of the request where the service provider has an address for it, else by the other one. */
  answer(ctx: Context, sp: ServiceProvider, question: Question, status: SamlStatus): void;
  /** Where the browser would be sent. */
  addressOf(participant: Participant): Promise<string | undefined>;
}

export interface Question {
  requestId: string;
  binding: 'redirect' | 'post';
  relayState?: string | undefined;
}

export function createSamlMessages(needs: SamlMessagesNeeds): SamlMessages {
  const { issuer, now, skewSeconds, judge, signer, serviceProviders, fetch } = needs;

  async function endpointOf({ clientId, channel }: Participant): Promise<SloEndpoint | undefined> {
    const sp = await serviceProviders.find(clientId);
    return sp?.slo.find(({ binding }) => binding === channel);
  }

  function build({ data }: Participant, destination: string, messageId: string, reason: 'user' | 'admin') {
    if (!data.nameId) throw new Error('a SAML participant without a NameID');
    const sessionIndexes = data.sessionIndex === undefined ? [] : [data.sessionIndex];
    return logoutRequest({
      id: messageId,
      issuer,
      destination,
      now: now(),
      nameId: data.nameId,
      sessionIndexes,
      reason,
    });
  }

  return {
    async request(participant) {
      const endpoint = await endpointOf(participant);
      if (!endpoint) return undefined;
      const { location, binding } = endpoint;
      const messageId = newMessageId();
      const message = build(participant, location, messageId, 'user');
      // Service providers give it back untouched, so an answer that can't even be read still finds its question. It is
      // random and goes to this one alone: nobody else who takes part can spoil its outcome.
      const relayState = messageId;
      return {
        messageId,
        send(ctx, page) {
          if (binding === 'redirect') {
            ctx.status = 303;
            ctx.redirect(redirectUrl({ location, parameter: 'SAMLRequest', message, relayState }, signer()));
            return;
          }
          const fields = { SAMLRequest: postMessage(message, signer()), RelayState: relayState };
          ctx.render('form-post', { action: location, fields, appName: participant.name, ...page });
        },
      };
    },

    async trial(participant) {
      const [sp, endpoint] = [await serviceProviders.find(participant.clientId), await endpointOf(participant)];
      if (!sp || !endpoint) return undefined;
      const { location, binding } = endpoint;
      const messageId = newMessageId();
      const message = build(participant, location, messageId, 'user');
      if (binding === 'redirect') {
        const url = redirectUrl({ location, parameter: 'SAMLRequest', message }, signer());
        return { sp, messageId, url, init: { method: 'GET' } };
      }
      const body = new URLSearchParams({ SAMLRequest: postMessage(message, signer()) });
      return { sp, messageId, url: location, init: { method: 'POST', body } };
    },

    async call(participant) {
      const sp = await serviceProviders.find(participant.clientId);
      const location = sp?.slo.find(({ binding }) => binding === 'soap')?.location;
      if (!sp || !location) return 'no-such-client';
      const messageId = newMessageId();
      const body = soapEnvelope(build(participant, location, messageId, 'admin'), signer());
      const response = await fetch(location, { method: 'POST', headers: soapHeaders, body });
      const text = await response.text();
      if (!response.ok) throw new Error(`answered with status ${response.status}`);
      const parties = { sp, location, now: now(), skewSeconds: skewSeconds(), judge };
      if (!readSoapAnswer(text, messageId, parties)) throw new Error('answered that it could not sign the person out');
      return 'sent';
    },

    answer(ctx, sp, { requestId, binding, relayState }, status) {
      const offered = sp.slo.filter((endpoint) => endpoint.binding !== 'soap');
      const target = offered.find((endpoint) => endpoint.binding === binding) ?? offered[0];
      if (!target) {
        ctx.render('sign-out/done', { appName: sp.name });
        return;
      }
      const destination = target.responseLocation ?? target.location;
      const message = logoutResponse({
        id: newMessageId(),
        issuer,
        destination,
        now: now(),
        inResponseTo: requestId,
        status,
      });
      if (target.binding === 'redirect') {
        ctx.status = 303;
        ctx.redirect(redirectUrl({ location: destination, parameter: 'SAMLResponse', message, relayState }, signer()));
        return;
      }
      const fields = {
        SAMLResponse: postMessage(message, signer()),
        ...(relayState === undefined ? {} : { RelayState: relayState }),
      };
      ctx.render('form-post', { action: destination, fields, appName: sp.name });
    },

    addressOf: async (participant) => (await endpointOf(participant))?.location,
  };
}
