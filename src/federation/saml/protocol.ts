// SAML 2.0 as service provider (SAML Profiles 4.1): sends an AuthnRequest, and redeems the answer that /saml/acs stored.

import { z } from 'zod';
import type { Clock } from '../../base/platform/clock.ts';
import { postMessage, redirectUrl } from '../../protocols/saml/messages/encode.ts';
import { newMessageId } from '../../protocols/saml/messages/message-id.ts';
import type { SeenMessages } from '../../protocols/saml/messages/seen-messages.ts';
import { bindings, nameIdFormats } from '../../protocols/saml/xml/names.ts';
import { element, samlTime, type XmlElement } from '../../protocols/saml/xml/write.ts';
import type { Connection, SamlConnection } from '../connections/connection.ts';
import type { SamlSettings } from '../connections/kinds/saml.ts';
import { quirksOf } from '../connections/presets/presets.ts';
import { FederationError } from '../faults.ts';
import type {
  PassedCheck,
  SentRequest,
  UpstreamAnswer,
  UpstreamProtocol,
  UpstreamRedirect,
  UpstreamRequirements,
} from '../upstream.ts';
import { checkAnswer } from './check-answer.ts';
import { identityOf } from './identity.ts';
import { authenticAnswer, type ReceiveDependencies } from './receive.ts';
import type { ServiceProvider } from './service-provider.ts';

export interface SamlProtocolDependencies extends ReceiveDependencies {
  serviceProvider: ServiceProvider;
  seenMessages: SeenMessages;
  now: Clock;
  /** How far the clock of an upstream may differ. */
  skewSeconds(): number;
}

/** What is stored with a request. */
const memorySchema = z.object({ requestId: z.string() });

export function createSamlProtocol(dependencies: SamlProtocolDependencies): UpstreamProtocol {
  const { identityProviders, serviceProvider, now } = dependencies;
  return {
    async begin(connection, requirements, acsUrl) {
      const saml = asSaml(connection);
      const { settings } = saml;
      const { sso, wantsSignedRequests } = await identityProviders.of(saml);
      const requestId = newMessageId();
      const message = authnRequest({
        id: requestId,
        issuer: serviceProvider.entityIdFor(saml),
        destination: sso.location,
        acsUrl,
        settings,
        requirements,
        now: now(),
      });
      const signer = settings.sign_requests || wantsSignedRequests ? serviceProvider.signer() : undefined;
      // It only tells an answer without InResponseTo from an unsolicited one, and is never an address.
      const relayState = requestId;
      const location = withLoginHint(sso.location, requirements.loginHint);
      const redirect: UpstreamRedirect =
        sso.binding === 'redirect'
          ? {
              method: 'redirect',
              url: redirectUrl({ location, parameter: 'SAMLRequest', message, relayState }, signer),
            }
          : {
              method: 'post',
              url: sso.location,
              fields: { SAMLRequest: postMessage(message, signer), RelayState: relayState },
            };
      return { handle: requestId, redirect, memory: { requestId } };
    },

    redeem: (connection, answer, request) => redeem(dependencies, asSaml(connection), answer, request),
  };
}

async function redeem(
  dependencies: SamlProtocolDependencies,
  connection: SamlConnection,
  answer: UpstreamAnswer,
  { memory, callbackUrl, sentAt }: SentRequest,
) {
  const { serviceProvider, seenMessages, now, skewSeconds } = dependencies;
  const { requestId } = memorySchema.parse(memory);
  const { trusted, identityProvider } = await authenticAnswer(dependencies, connection, answer.SAMLResponse ?? '');
  const checked = checkAnswer(trusted, {
    issuer: identityProvider.entityId,
    audience: serviceProvider.entityIdFor(connection),
    acsUrl: callbackUrl,
    requestId,
    sentAt,
    now: now(),
    skewSeconds: skewSeconds(),
  });
  const { id } = checked.assertion;
  if (!(await seenMessages.isNew(identityProvider.entityId, id))) {
    throw new FederationError('upstream_answer_invalid', {
      rule: 'replay',
      message: 'The assertion was used before.',
      expected: 'a new assertion',
      received: id,
    });
  }
  const signature: PassedCheck[] = [
    { name: 'Signature', expected: 'of the identity provider', received: trusted.response ? 'Response' : 'assertion' },
    {
      name: 'Encryption',
      expected: connection.settings.want_encrypted ? 'yes' : 'optional',
      received: trusted.wasEncrypted ? 'yes' : 'no',
    },
  ];
  return { identity: identityOf(connection, quirksOf(connection), checked), checks: [...signature, ...checked.checks] };
}

/** Entra ID and AD FS fill the address in; others ignore the parameter. SAML's own Subject would demand this user. */
function withLoginHint(location: string, loginHint: string | undefined): string {
  if (loginHint === undefined) return location;
  return `${location}${location.includes('?') ? '&' : '?'}${new URLSearchParams({ login_hint: loginHint })}`;
}

function asSaml(connection: Connection): SamlConnection {
  if (connection.kind !== 'saml') throw new TypeError(`${connection.id} is no SAML connection`);
  return connection;
}

interface AuthnRequestInput {
  id: string;
  issuer: string;
  destination: string;
  acsUrl: string;
  now: Date;
  settings: Pick<SamlSettings, 'name_id_format' | 'subject_attribute' | 'request_authn_context'>;
  requirements: UpstreamRequirements;
}

/** The unsigned element. */
function authnRequest(input: AuthnRequestInput): XmlElement {
  const { settings, requirements } = input;
  // SAML has no max_age, so an application that limits the age gets a new authentication.
  const isForced = requirements.forced || requirements.maxAgeSeconds !== undefined;
  return element(
    'samlp:AuthnRequest',
    {
      AssertionConsumerServiceURL: input.acsUrl,
      Destination: input.destination,
      ForceAuthn: isForced ? 'true' : undefined,
      ID: input.id,
      IssueInstant: samlTime(input.now),
      ProtocolBinding: bindings.post,
      Version: '2.0',
    },
    element('saml:Issuer', {}, input.issuer),
    nameIdPolicy(settings),
    settings.request_authn_context ? requestedContext(requirements.acrValues) : undefined,
  );
}

/** Where an attribute identifies the user, the upstream chooses the NameID unless the connection names a format. */
function nameIdPolicy({ name_id_format, subject_attribute }: AuthnRequestInput['settings']): XmlElement | undefined {
  const format = name_id_format ?? (subject_attribute === undefined ? 'persistent' : undefined);
  if (format === undefined) return undefined;
  return element('samlp:NameIDPolicy', { AllowCreate: 'true', Format: nameIdFormats[format] });
}

function requestedContext(classes: readonly string[]): XmlElement | undefined {
  if (classes.length === 0) return undefined;
  const names = classes.map((name) => element('saml:AuthnContextClassRef', {}, name));
  return element('samlp:RequestedAuthnContext', { Comparison: 'exact' }, ...names);
}
