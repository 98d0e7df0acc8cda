// Why a SAML message or metadata document is rejected. Each code has a public sentence and, where the sender may learn the
// reason at its ACS, a SAML status; without a status the rejection is an error page and nothing is signed.
import { limits } from '../../../base/limits.ts';
import { plural } from '../../../base/platform/plural.ts';
import type { BrokenRule, RuleId } from '../../../core/rejections/rules.ts';
import { statusCodes } from './names.ts';

/** A SAML status (Core 3.2.2.1): the top-level code and usually a second-level one. */
export interface SamlStatus {
  code: string;
  subcode?: string;
  message?: string;
}

interface Fault {
  message: string;
  /** The rule of a message that it breaks; where it is absent, the form of the message. */
  rule?: RuleId;
  /** What the rule demands, and what was received instead of it where that is the same each time. */
  expected?: string;
  received?: string;
  httpStatus?: 400 | 413;
  status?: SamlStatus;
}

const requester = (subcode: string): SamlStatus => ({ code: statusCodes.Requester, subcode });
const responder = (subcode: string): SamlStatus => ({ code: statusCodes.Responder, subcode });

const faults = {
  parameter_missing: { rule: 'parameters', expected: 'one SAMLRequest', message: 'The SAML message is missing.' },
  parameter_repeated: {
    rule: 'parameters',
    expected: 'each parameter once',
    message: 'A parameter of the SAML message was sent more than once.',
  },
  parameter_malformed: {
    rule: 'parameters',
    expected: 'well-formed parameters of SAML',
    message: 'A parameter of the SAML message is malformed.',
  },
  too_large: { rule: 'size', message: 'The SAML message is too large.', httpStatus: 413 },
  relay_state_too_long: {
    rule: 'size',
    received: 'a longer RelayState',
    expected: `a RelayState of at most ${plural(limits.saml.relayStateBytes, 'byte')}`,
    message: 'The RelayState is too long.',
    status: requester(statusCodes.RequestUnsupported),
  },
  bad_base64: {
    rule: 'base64',
    expected: 'base64 (RFC 4648 section 4)',
    message: "The SAML message isn't valid base64.",
  },
  bad_deflate: {
    rule: 'compression',
    expected: 'DEFLATE without a header (RFC 1951)',
    message: "The SAML message can't be decompressed.",
  },
  bad_encoding: {
    rule: 'charset',
    expected: 'UTF-8, UTF-16 or Latin-1',
    message: "The SAML message isn't UTF-8 text.",
  },
  forbidden_markup: {
    rule: 'xml',
    expected: 'XML without DOCTYPE, comments, CDATA and instructions',
    message: 'The SAML message contains forbidden markup.',
  },
  not_xml: { rule: 'xml', expected: 'well-formed XML', message: "The SAML message isn't well-formed XML." },
  wrong_root: { rule: 'kind', message: "This kind of SAML message doesn't belong at this address." },
  not_schema_valid: {
    rule: 'schema',
    expected: 'the schema of SAML 2.0',
    message: "The SAML message doesn't follow the SAML 2.0 schema.",
  },
  wrong_version: { rule: 'version', expected: '2.0', message: 'Only SAML 2.0 is supported.' },
  wrong_issuer: { rule: 'issuer', message: "The issuer of the SAML message isn't its sender." },
  wrong_destination: { rule: 'destination', message: 'The Destination of the SAML message is another address.' },
  expired: { rule: 'time', message: 'The SAML message is too old.' },
  replayed: { rule: 'replay', message: 'This SAML message was already used.' },
  from_future: { rule: 'time', message: 'The SAML message has a time in the future.' },
  acs_not_registered: {
    rule: 'acs',
    message: "The ACS URL in the request isn't registered for this application.",
  },
  signature_missing: { rule: 'signed', message: 'The SAML message must be signed.' },
  signature_invalid: { rule: 'signature', message: 'The signature of the SAML message is invalid.' },
  signature_shape: { rule: 'signature_form', message: "The signature doesn't cover the whole SAML message." },
  signature_algorithm: {
    rule: 'algorithm',
    message: "The signature algorithm of the SAML message isn't accepted.",
  },
  no_signing_key: {
    rule: 'signing_key',
    message: 'The SAML message is signed, but no signing certificate of its sender is registered.',
  },
  decryption_failed: { rule: 'decryption', message: "The assertion can't be decrypted." },
  encryption_missing: { rule: 'encryption', message: 'The assertion must be encrypted.' },
  encryption_algorithm: {
    rule: 'encryption',
    message: "The encryption algorithm of the assertion isn't accepted. Use AES-GCM and RSA-OAEP.",
  },
  assertion_count: { message: 'The response must contain exactly one assertion.' },
  unexpected_response: {
    rule: 'in_response_to',
    message: "The SAML response doesn't belong to a request of this server.",
  },
  unsupported_binding: {
    rule: 'binding',
    message: 'Responses are sent with the HTTP-POST binding only.',
    status: requester(statusCodes.UnsupportedBinding),
  },
  unsupported_request: {
    rule: 'encryption',
    message: "The request asks for something that isn't supported.",
    status: requester(statusCodes.RequestUnsupported),
  },
  invalid_name_id_policy: {
    rule: 'name_id',
    message: "The requested NameID format can't be provided.",
    status: requester(statusCodes.InvalidNameIDPolicy),
  },
  no_passive: {
    rule: 'passive',
    message: 'The user must interact to sign in, and the request forbids it (IsPassive).',
    status: responder(statusCodes.NoPassive),
  },
  no_authn_context: {
    rule: 'context',
    message: "The requested authentication context can't be provided.",
    status: responder(statusCodes.NoAuthnContext),
  },
  unknown_principal: {
    rule: 'principal',
    message: "The user who signed in isn't the Subject of the request.",
    status: requester(statusCodes.UnknownPrincipal),
  },
  no_such_session: {
    rule: 'session',
    message: 'The LogoutRequest names no session that this application has.',
    status: requester(statusCodes.UnknownPrincipal),
  },
  name_id_encrypted: {
    rule: 'session',
    message: "The NameID of the LogoutRequest is encrypted, which isn't supported.",
    status: requester(statusCodes.RequestUnsupported),
  },
  session_ended: {
    rule: 'session_end',
    message: "The user's session ended during the request.",
    status: responder(statusCodes.AuthnFailed),
  },
  metadata_expired: { rule: 'time', message: 'The metadata of this application has expired.' },
  metadata_rejected: { message: "The metadata can't be accepted." },
  weak_key: { message: 'A key is too weak. RSA keys need 2048 bits, elliptic curve keys 256 bits.' },
} as const satisfies Record<string, Fault>;

/** Every reason for which a SAML message or metadata document is rejected. */
export type SamlErrorCode = keyof typeof faults;

export interface SamlErrorOptions {
  /** Replaces the public sentence. */
  message?: string;
  /** For the log only. */
  detail?: unknown;
  /** What the check received and expected, for the list of rejected requests. */
  received?: string | undefined;
  expected?: string | undefined;
  /** The broken rule, where a code has several. */
  rule?: RuleId;
  cause?: unknown;
}

/** Ends the handling of one SAML message. `message` is public, `detail` and `cause` are for the log. */
export class SamlError extends Error {
  override name = 'SamlError';
  readonly code: SamlErrorCode;
  readonly httpStatus: 400 | 413;
  /** The status for the sender, once its ACS is known to be registered; undefined: an error page instead. */
  readonly status: SamlStatus | undefined;
  readonly detail: unknown;
  /** The rule of an AuthnRequest that the message broke, for the list of rejected requests. */
  readonly brokenRule: BrokenRule;

  constructor(code: SamlErrorCode, options: SamlErrorOptions = {}) {
    const fault: Fault = faults[code];
    super(options.message ?? fault.message, 'cause' in options ? { cause: options.cause } : undefined);
    this.code = code;
    this.httpStatus = fault.httpStatus ?? 400;
    this.status = fault.status;
    this.detail = options.detail;
    const { detail, received = typeof detail === 'string' ? detail : undefined } = options;
    const expected = options.expected ?? fault.expected;
    this.brokenRule = { rule: options.rule ?? fault.rule ?? 'form', received: received ?? fault.received, expected };
  }
}
