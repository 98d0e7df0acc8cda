// The rules of a SAML sign-in request, in the order in which the server asks them (saml/request-checks.ts).
import type { SamlApplication } from '../applications/application.ts';
import { type About, accessRule, clientRule, fingerprint, type RuleFacts } from './refusal-facts.ts';

/** Our reason -> the rule that failed. */
export const SAML_RULES: Record<string, string> = {
  service_provider_unknown: 'client',
  signature_missing: 'signed',
  signature_algorithm: 'algorithm',
  no_signing_key: 'certificate',
  signature_invalid: 'certificate',
  signature_shape: 'certificate',
  wrong_issuer: 'issuer',
  wrong_destination: 'destination',
  expired: 'time',
  from_future: 'time',
  acs_not_registered: 'acs',
  replayed: 'replay',
  unsupported_binding: 'binding',
  no_passive: 'passive',
  invalid_name_id_policy: 'name_id',
  no_authn_context: 'context',
  unmet_authentication_requirements: 'context',
  access_denied: 'access',
  unsupported_request: 'encryption',
};

export function samlRules(about: About, application: SamlApplication | undefined): RuleFacts[] {
  const { refusal, acsUrls, certificates } = about;
  const { received } = refusal;
  const { name_id_format, require_signed_requests, allow_sha1 } = application?.metadata ?? {};
  const acs = received.AssertionConsumerServiceURL;
  const { certificate } = received;
  return [
    { id: 'form', label: 'The message can be read and is a sign-in request', received: refusal.reason },
    clientRule(about),
    {
      id: 'signed',
      label: 'It is signed where it has to be',
      received: `signed: ${received.signed ?? 'no'}`,
      registered:
        require_signed_requests === undefined
          ? 'as its metadata says'
          : require_signed_requests
            ? 'required'
            : 'not required',
    },
    {
      id: 'algorithm',
      label: 'The signature algorithm is accepted',
      received: received.SignatureMethod,
      registered: allow_sha1 ? 'SHA-256 and better, SHA-1' : 'SHA-256 and better',
    },
    {
      id: 'certificate',
      label: 'Its certificate is registered',
      received: certificate
        ? fingerprint(certificate)
        : received.signed === 'yes'
          ? 'a signature, without its certificate'
          : undefined,
      registered: certificates.map(fingerprint).join('\n'),
      passesNow: certificate
        ? certificates.some((known) => fingerprint(known) === fingerprint(certificate))
        : undefined,
      explanation:
        'Compare the fingerprint with what the people who run the application tell you, on another way than this request.',
    },
    {
      id: 'issuer',
      label: 'Issuer and sender are the same',
      received: received.Issuer,
      registered: application?.clientId,
    },
    {
      id: 'destination',
      label: 'It was meant for this address',
      received: received.Destination,
      explanation: 'The application has another address of this server than the one in its metadata.',
    },
    {
      id: 'time',
      label: 'It is neither old nor from the future',
      received: received.IssueInstant,
      registered: refusal.at.toISOString(),
      explanation:
        'Beside it stands the time here. The clocks of the two servers differ, or the page stood open for long.',
    },
    {
      id: 'acs',
      label: 'The answer goes to a registered address (ACS)',
      received: acs ?? (received.AssertionConsumerServiceIndex && `index ${received.AssertionConsumerServiceIndex}`),
      registered: acsUrls.join('\n'),
      passesNow: acs === undefined ? undefined : acsUrls.includes(acs),
      explanation: 'They have to agree letter by letter.',
    },
    { id: 'replay', label: 'It was not seen before', received: received.ID },
    { id: 'binding', label: 'The answer may be posted', received: received.ProtocolBinding, registered: 'HTTP-POST' },
    {
      id: 'passive',
      label: 'It does not ask for two opposites',
      received: `ForceAuthn ${received.ForceAuthn ?? 'false'}, IsPassive ${received.IsPassive ?? 'false'}`,
    },
    {
      id: 'name_id',
      label: 'The identifier it asks for can be given',
      received: received.NameIDPolicy,
      registered: name_id_format ?? 'what it asks for',
    },
    { id: 'context', label: 'The kind of sign-in it asks for can be given', received: received.RequestedAuthnContext },
    {
      id: 'encryption',
      label: 'The assertion can be encrypted where it has to be',
      registered: application?.metadata.encrypt_assertion,
    },
    accessRule(about),
  ];
}
