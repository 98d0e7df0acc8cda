// The checks of an AuthnRequest, in order (SAML Profiles 4.1.4.1). A check that fails before the ACS is known throws and
// becomes an error page; one that fails after that becomes a SAML status. Pure: replay of the ID is checked by the caller.

import type { ReceivedParameters } from '../../../core/rejections/rejections.ts';
import { type BrokenRule, type RuleId, type RuleResult, ruleResults } from '../../../core/rejections/rules.ts';
import type { AuthnRequest, RequestedAuthnContext } from '../messages/authn-request.ts';
import { checkHead, type Expectation, type MessageHead } from '../messages/message-head.ts';
import { chooseNameIdFormat, type NameIdChoice } from '../messages/name-id.ts';
import { MESSAGE_RULES } from '../messages/open-message.ts';
import type { AcsEndpoint } from '../metadata/parse.ts';
import { isSameAddress } from '../xml/addresses.ts';
import { SamlError } from '../xml/errors.ts';
import { bindings, contextClasses, type NameIdFormatName, nameIdFormats } from '../xml/names.ts';
import { isUnknownContext } from './authn-context.ts';
import { formatOf } from './requested-subject.ts';

export interface RequestSender extends NameIdChoice {
  acs: readonly AcsEndpoint[];
}

export type CheckedRequest =
  | { outcome: 'accepted'; acs: AcsEndpoint; nameIdFormat: NameIdFormatName }
  | { outcome: 'rejected'; acs: AcsEndpoint; reason: SamlError };

/**
 * Checks an authenticated AuthnRequest against the registration of its sender.
 *
 * @returns `rejected` when the service provider may learn the reason as a SAML status at its registered ACS
 * @throws SamlError when the reason may only be displayed as a page: sender, age, Destination or ACS are wrong
 */
export function checkAuthnRequest(
  request: AuthnRequest,
  sender: RequestSender,
  expectation: Omit<Expectation, 'entityId'>,
): CheckedRequest {
  checkHead(request, { ...expectation, entityId: sender.entityId });
  return checkRequestedValues(request, sender);
}

/** What an AuthnRequest asks for. */
type RequestedValues = Omit<AuthnRequest, keyof MessageHead>;

function checkRequestedValues(request: RequestedValues, sender: RequestSender): CheckedRequest {
  const acs = resolveAcs(request, sender.acs);
  try {
    checkProtocolBinding(request);
    // ForceAuthn takes a new sign-in, and IsPassive allows no page (Core 3.4.1).
    if (request.forceAuthn && request.isPassive) {
      throw new SamlError('no_passive', {
        received: 'ForceAuthn true, IsPassive true',
        expected: 'at most one of them',
      });
    }
    const nameIdFormat = chooseNameIdFormat(request.nameIdPolicy, sender);
    checkSubject(request.subject);
    const { requestedAuthnContext: context } = request;
    if (isUnknownContext(context))
      throw new SamlError('no_authn_context', { detail: context, ...brokenContextRule(context) });
    return { outcome: 'accepted', acs, nameIdFormat };
  } catch (reason) {
    if (reason instanceof SamlError && reason.status) return { outcome: 'rejected', acs, reason };
    throw reason;
  }
}

/** Throws SamlError, which has a status, when no user of this server can be the Subject. */
function checkSubject(subject: AuthnRequest['subject']): void {
  if (subject === 'unreadable')
    throw new SamlError('unknown_principal', {
      message: 'The Subject of the request has to be a NameID that is not encrypted.',
      received: 'another identifier',
      expected: 'a NameID',
    });
  if (subject && formatOf(subject) === undefined)
    throw new SamlError('unknown_principal', {
      message: 'The NameID of the Subject has a format that is not supported.',
      received: subject.format,
      expected: Object.values(nameIdFormats).join('\n'),
    });
}

// The ACS that a Response goes to. A request may only choose among the registered ones of its service provider (SAML
// Profiles 4.1.4.1).

/**
 * The registered ACS that the request names, by URL or index, or the default one.
 *
 * @throws SamlError acs_not_registered, which must not be sent to any URL of the request
 */
function resolveAcs(request: RequestedValues, registered: readonly AcsEndpoint[]): AcsEndpoint {
  const usable = registered.filter((endpoint) => endpoint.binding === bindings.post);
  const { acsUrl, acsIndex } = request;
  const acs = namedAcs(request, usable);
  // Core 3.4.1 makes them exclusive, because two readers of both could choose different ones. Some toolkits send both of the same one.
  if (acsUrl !== undefined && acsIndex !== undefined && acs?.index !== acsIndex) {
    throw new SamlError('acs_not_registered', {
      message: 'The request names an ACS URL and the index of another one.',
      detail: 'both URL and index',
      received: `${acsUrl} and index ${acsIndex}`,
      expected: 'one of the two, or both of the same ACS',
    });
  }
  if (!acs) {
    const isByIndex = acsUrl === undefined && acsIndex !== undefined;
    throw new SamlError('acs_not_registered', {
      ...(isByIndex && { message: 'The ACS index in the request isn’t registered for this application.' }),
      detail: { acsUrl, acsIndex },
      received: acsUrl ?? (isByIndex ? `index ${acsIndex}` : 'the default'),
      expected: usable.map(({ url, index }) => (isByIndex ? `index ${index}: ${url}` : url)).join('\n'),
    });
  }
  return acs;
}

function namedAcs({ acsUrl, acsIndex }: RequestedValues, usable: readonly AcsEndpoint[]): AcsEndpoint | undefined {
  if (acsUrl !== undefined) return endpointAt(acsUrl, usable);
  return acsIndex === undefined ? defaultAcs(usable) : usable.find(({ index }) => index === acsIndex);
}

/** The registered endpoint at this address: the Response goes to the URL as it is registered. */
function endpointAt(url: string, usable: readonly AcsEndpoint[]): AcsEndpoint | undefined {
  return usable.find((endpoint) => endpoint.url === url) ?? usable.find((endpoint) => isSameAddress(endpoint.url, url));
}

/** SAML Metadata 2.2.3: the one with isDefault=true, else the first without isDefault, else the first. */
export function defaultAcs(registered: readonly AcsEndpoint[]): AcsEndpoint | undefined {
  const usable = registered.filter((endpoint) => endpoint.binding === bindings.post);
  return (
    usable.find((endpoint) => endpoint.isDefault === true) ??
    usable.find((endpoint) => endpoint.isDefault === undefined) ??
    usable[0]
  );
}

/** Only HTTP-POST is offered for Responses. Throws SamlError unsupported_binding, which has a status. */
function checkProtocolBinding({ protocolBinding }: RequestedValues): void {
  if (protocolBinding !== undefined && protocolBinding !== bindings.post) {
    throw new SamlError('unsupported_binding', {
      detail: protocolBinding,
      received: protocolBinding,
      expected: 'HTTP-POST',
    });
  }
}

// The rule that a request broke, for the list of rejected requests in the console.

/** The rules of an AuthnRequest, in the order in which they are checked. */
const rules = [
  ...MESSAGE_RULES,
  ...(['destination', 'time', 'acs', 'replay', 'binding', 'passive', 'qualifier', 'name_id'] as const),
  ...(['context_declaration', 'context', 'session_end', 'encryption', 'allow_create'] as const),
  ...(['email', 'access', 'principal'] as const),
] satisfies RuleId[];

/** Every rule of an AuthnRequest, with the one that it broke. */
export function authnRequestRules(brokenRule: BrokenRule): RuleResult[] {
  return ruleResults(rules, brokenRule);
}

/** A RequestedAuthnContext in words, for the list of rejected requests. */
export function contextText({ comparison, classes, declarations }: RequestedAuthnContext): string {
  return `${comparison}: ${[...classes, ...declarations].join(' ') || 'no class'}`;
}

/** A RequestedAuthnContext that no sign-in can meet. */
function brokenContextRule(requested: RequestedAuthnContext | undefined) {
  if (!requested) return {};
  const received = contextText(requested);
  return requested.classes.length === 0
    ? { rule: 'context_declaration' as const, received, expected: 'AuthnContextClassRef' }
    : { received, expected: Object.values(contextClasses).join('\n') };
}

/**
 * The rule that a recorded AuthnRequest (rejected-requests.ts) breaks with this registration; undefined: it passes all that depend on the
 * registration. A value that was cut off when it was recorded breaks its rule.
 *
 * @param sender `ignoresContext`: the application has Gatehouse ignore RequestedAuthnContext
 */
export function brokenRuleOfRecorded(
  received: ReceivedParameters,
  sender: RequestSender & { ignoresContext: boolean },
): BrokenRule | undefined {
  if (Object.values(received).some((value) => value.endsWith('…'))) return { rule: 'size' };
  const { AssertionConsumerServiceURL: acsUrl, AssertionConsumerServiceIndex: index, NameIDPolicy: format } = received;
  const hasPolicy = format !== undefined || received.SPNameQualifier !== undefined;
  const requested: RequestedValues = {
    acsUrl,
    acsIndex: index === undefined ? undefined : Number(index),
    protocolBinding: received.ProtocolBinding,
    forceAuthn: isTrue(received.ForceAuthn),
    isPassive: isTrue(received.IsPassive),
    nameIdPolicy: hasPolicy
      ? {
          format: format === 'any' ? undefined : format,
          allowCreate: undefined,
          spNameQualifier: received.SPNameQualifier,
        }
      : undefined,
    requestedAuthnContext: sender.ignoresContext ? undefined : recordedContext(received.RequestedAuthnContext),
    subject: undefined,
  };
  try {
    const result = checkRequestedValues(requested, sender);
    return result.outcome === 'accepted' ? undefined : result.reason.brokenRule;
  } catch (error) {
    if (error instanceof SamlError) return error.brokenRule;
    throw error;
  }
}

const isTrue = (text: string | undefined) => text === 'true' || text === '1';

/** The inverse of `contextText`. */
function recordedContext(text: string | undefined): RequestedAuthnContext | undefined {
  const [, comparison, classes = ''] = /^(exact|minimum|maximum|better): (.*)$/.exec(text ?? '') ?? [];
  if (comparison === undefined) return undefined;
  const names = classes === 'no class' ? [] : classes.split(' ');
  return { comparison: comparison as RequestedAuthnContext['comparison'], classes: names, declarations: [] };
}
