// Every check of an AuthnRequest in its order (SAML Profiles 4.1.4.1). What fails before the answer's address is known
// to be registered throws and becomes a page; what fails after it may be told to the service provider. Pure; whether
// the ID was seen before is asked of the store afterwards.
import type { Acr } from '../mfa/acr.ts';
import { type AcsEndpoint, checkProtocolBinding, resolveAcs } from './acs.ts';
import { acceptableAcrs, needsPassword } from './authn-context.ts';
import type { AuthnRequest } from './authn-request.ts';
import { SamlError } from './errors.ts';
import { checkHead, type Expectation } from './message-head.ts';
import { chooseNameIdFormat, type NameIdChoice } from './nameid.ts';
import type { NameIdFormatName } from './names.ts';

export interface RequestSender extends NameIdChoice {
  acs: readonly AcsEndpoint[];
}

export type Verdict =
  | {
      outcome: 'accepted';
      acs: AcsEndpoint;
      nameIdFormat: NameIdFormatName;
      /** acr values that meet RequestedAuthnContext, weakest first; undefined: any sign-in does. */
      acrs: Acr[] | undefined;
      needsPassword: boolean;
    }
  | { outcome: 'refused'; acs: AcsEndpoint; reason: SamlError };

/** Throws when nobody may be told but the person in front of the browser. */
export function checkAuthnRequest(
  request: AuthnRequest,
  sender: RequestSender,
  expectation: Omit<Expectation, 'entityId'>,
): Verdict {
  checkHead(request, { ...expectation, entityId: sender.entityId });
  const acs = resolveAcs(request, sender.acs);
  try {
    checkProtocolBinding(request);
    // To force a sign-in and to ask nothing cannot both be done.
    if (request.forceAuthn && request.isPassive) throw new SamlError('no_passive');
    const nameIdFormat = chooseNameIdFormat(request.nameIdPolicy, sender);
    const acrs = acceptableAcrs(request.requestedAuthnContext);
    if (acrs?.length === 0) throw new SamlError('no_authn_context', { detail: request.requestedAuthnContext });
    return {
      outcome: 'accepted',
      acs,
      nameIdFormat,
      acrs,
      needsPassword: needsPassword(request.requestedAuthnContext),
    };
  } catch (reason) {
    if (reason instanceof SamlError && reason.status) return { outcome: 'refused', acs, reason };
    throw reason;
  }
}
