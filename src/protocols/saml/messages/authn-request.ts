// An AuthnRequest as plain data (SAML Core 3.4.1), read from an authenticated message.

import { SamlError } from '../xml/errors.ts';
import { attribute, booleanAttribute, childOf, childrenOf, numberAttribute, textOf } from '../xml/read.ts';
import { type MessageHead, readHead } from './message-head.ts';
import { type NameId, type NameIdPolicy, readNameId } from './name-id.ts';
import type { TrustedMessage } from './open-message.ts';

export type Comparison = 'exact' | 'minimum' | 'maximum' | 'better';

export interface RequestedAuthnContext {
  comparison: Comparison;
  /** AuthnContextClassRefs, the preferred one first. */
  classes: string[];
  /** AuthnContextDeclRefs; none is supported. */
  declarations: string[];
}

export interface AuthnRequest extends MessageHead {
  forceAuthn: boolean;
  isPassive: boolean;
  acsUrl: string | undefined;
  acsIndex: number | undefined;
  protocolBinding: string | undefined;
  nameIdPolicy: NameIdPolicy | undefined;
  requestedAuthnContext: RequestedAuthnContext | undefined;
  /** The user that the assertion has to be about. `unreadable`: the identifier is encrypted, or of another kind than a NameID. */
  subject: NameId | 'unreadable' | undefined;
}

const maxContexts = 32;
const maxContextLength = 512;

/**
 * Reads an AuthnRequest. Scoping, Conditions, Consent and Extensions are ignored: they can only restrict the Response.
 *
 * @throws SamlError
 */
export function readAuthnRequest(message: TrustedMessage): AuthnRequest {
  const { root } = message;
  if (message.name !== 'AuthnRequest') throw new SamlError('wrong_root', { detail: message.name });
  const acsIndex = numberAttribute(root, 'AssertionConsumerServiceIndex');
  if (acsIndex === undefined && attribute(root, 'AssertionConsumerServiceIndex') !== undefined) {
    throw new SamlError('acs_not_registered', { detail: 'index is not a number' });
  }
  return {
    ...readHead(message),
    forceAuthn: booleanAttribute(root, 'ForceAuthn') ?? false,
    isPassive: booleanAttribute(root, 'IsPassive') ?? false,
    acsUrl: attribute(root, 'AssertionConsumerServiceURL') || undefined,
    acsIndex,
    protocolBinding: attribute(root, 'ProtocolBinding') || undefined,
    nameIdPolicy: readNameIdPolicy(root),
    requestedAuthnContext: readRequestedContext(root),
    subject: readSubject(root),
  };
}

function readNameIdPolicy(root: Element): NameIdPolicy | undefined {
  const policy = childOf(root, 'samlp:NameIDPolicy');
  if (!policy) return undefined;
  return {
    format: attribute(policy, 'Format') || undefined,
    allowCreate: booleanAttribute(policy, 'AllowCreate'),
    spNameQualifier: attribute(policy, 'SPNameQualifier') || undefined,
  };
}

function readRequestedContext(root: Element): RequestedAuthnContext | undefined {
  const requested = childOf(root, 'samlp:RequestedAuthnContext');
  if (!requested) return undefined;
  const classes = childrenOf(requested, 'saml:AuthnContextClassRef').map(textOf);
  const declarations = childrenOf(requested, 'saml:AuthnContextDeclRef').map(textOf);
  // Limited, because it is stored until the sign-in is complete and the sender may be unauthenticated.
  const names = [...classes, ...declarations];
  if (names.length > maxContexts || names.some((name) => name.length > maxContextLength)) {
    throw new SamlError('too_large', { detail: 'RequestedAuthnContext' });
  }
  // The schema allows four comparisons and no other.
  return { comparison: (attribute(requested, 'Comparison') ?? 'exact') as Comparison, classes, declarations };
}

/** A Subject without an identifier stands for any user (Core 3.4.1). */
function readSubject(root: Element): AuthnRequest['subject'] {
  const subject = childOf(root, 'saml:Subject');
  if (!subject) return undefined;
  if (childOf(subject, 'saml:EncryptedID') || childOf(subject, 'saml:BaseID')) return 'unreadable';
  const nameId = readNameId(subject);
  // Limited, because it is stored until the sign-in is complete.
  if (nameId && [nameId.value, nameId.format, nameId.nameQualifier ?? '', nameId.spNameQualifier ?? ''].some(isLong))
    throw new SamlError('too_large', { detail: 'Subject' });
  return nameId;
}

const isLong = (text: string): boolean => text.length > 1024;
