// The checks of an AuthnRequest, in order (SAML Profiles 4.1.4.1). A check that fails before the ACS is known throws and
// becomes an error page; one that fails after that becomes a SAML status. Pure: replay of the ID is checked by the caller.
import { type RuleId, type RuleResult, type RuleViolation, ruleResults } from '../../rejections/rules.ts';
import type { AuthnRequest, RequestedAuthnContext } from '../messages/authn-request.ts';
import { checkHead, type Expectation } from '../messages/message-head.ts';
import { chooseNameIdFormat, type NameIdChoice } from '../messages/name-id.ts';
import type { AcsEndpoint } from '../metadata/parse.ts';
import { SamlError } from '../xml/errors.ts';
import { type NameIdFormatName, nameIdFormats } from '../xml/names.ts';
import { checkProtocolBinding, resolveAcs } from './assertion-consumer-service.ts';
import { isUnknownContext } from './authn-context.ts';
import { formatOf } from './requested-subject.ts';

export interface RequestSender extends NameIdChoice {
  acs: readonly AcsEndpoint[];
}

export type Verdict =
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
): Verdict {
  checkHead(request, { ...expectation, entityId: sender.entityId });
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
      throw new SamlError('no_authn_context', { detail: context, received: context && contextText(context) });
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

/** A RequestedAuthnContext in words, for the list of rejected requests. */
export function contextText({ comparison, classes, declarations }: RequestedAuthnContext): string {
  return `${comparison}: ${[...classes, ...declarations].join(' ') || 'no class'}`;
}

/** The rules of an AuthnRequest, in the order in which routes.ts and checkAuthnRequest check them. */
const rules = [
  ...(['form', 'client', 'signed', 'algorithm', 'certificate', 'issuer', 'destination', 'time', 'acs'] as const),
  ...(['replay', 'binding', 'passive', 'name_id', 'context', 'encryption', 'access', 'principal'] as const),
] satisfies RuleId[];

/** A rule that an AuthnRequest can break. */
export type AuthnRequestRule = (typeof rules)[number];

/** Every rule of an AuthnRequest, with the one that it broke. */
export function authnRequestRules(violation: RuleViolation): RuleResult[] {
  return ruleResults(rules, violation);
}
