// RequestedAuthnContext (SAML Core 3.3.2.2.1) compared with the acr levels of people/mfa/acr.ts. Pure. An assertion only states a
// class that is true of the sign-in: no password class for a user who used no password.
import {
  acrLevel,
  acrOf,
  acrValues,
  MFA_ACR,
  PASSWORD_ACR,
  PHISHING_RESISTANT_ACR,
  withMfa,
} from '../../../people/mfa/acr.ts';
import type { LackingContext } from '../../oidc/engine/saml-requirements.ts';
import type { RequestedAuthnContext } from '../messages/authn-request.ts';
import { contextClasses } from '../xml/names.ts';

/** The result of a completed sign-in. */
export interface CompletedSignIn {
  acr: string | undefined;
  amr: readonly string[];
}

const unspecified = 'urn:oasis:names:tc:SAML:2.0:ac:classes:unspecified';
const strength: readonly string[] = [contextClasses.password, contextClasses.mfa, contextClasses.passkey];
/** Other names for the same strength; stated only when the request names them. */
const aliases = new Map<string, string>([['urn:oasis:names:tc:SAML:2.0:ac:classes:Password', contextClasses.password]]);

/** The methods of a further factor, by the acr that they reach. */
const furtherFactors = { [MFA_ACR]: ['otp', 'mfa'], [PHISHING_RESISTANT_ACR]: ['hwk', 'user', 'mfa'] } as const;

/**
 * What has to be proven beside `proven` (values of `amr`) to meet the request; undefined: nothing. With nothing proven, the sign-in begins: a
 * request for the class of passwords then lacks the password, and one for MFA lacks a passkey alone or a password with a further factor. With a
 * password proven, the latter lacks the further factor alone.
 */
export function lackingContext(
  requested: RequestedAuthnContext | undefined,
  proven: readonly string[],
): LackingContext | undefined {
  if (acceptsAnyContext(requested)) return undefined;
  const isMetBy = (amr: readonly string[]) =>
    authnContextFor(requested, { acr: acrOf(amr), amr: withMfa(amr) }) !== undefined;
  const password = isMetBy([...proven, 'pwd']);

  if (proven.length === 0) {
    const acrs = acrValues.filter((acr) => {
      if (acr === PASSWORD_ACR) return password;
      return isMetBy(furtherFactors[acr]) || isMetBy(['pwd', ...furtherFactors[acr]]);
    });
    return { acrs, password };
  }

  if (isMetBy(proven)) return undefined;
  const acrs = ([MFA_ACR, PHISHING_RESISTANT_ACR] as const).filter((acr) =>
    isMetBy([...proven, ...furtherFactors[acr]]),
  );
  return { acrs, password };
}

/** Whether no sign-in at all meets the request. */
export function isUnknownContext(requested: RequestedAuthnContext | undefined): boolean {
  const lacking = lackingContext(requested, []);
  return lacking !== undefined && lacking.acrs.length === 0 && !lacking.password;
}

/** The class to state in the assertion; undefined: this sign-in does not meet the request (NoAuthnContext). */
export function authnContextFor(
  requested: RequestedAuthnContext | undefined,
  facts: CompletedSignIn,
): string | undefined {
  const trueClasses = classesOf(facts);
  const strongest = trueClasses.at(-1);
  if (acceptsAnyContext(requested)) return strongest ?? unspecified;
  if (!requested || requested.classes.length === 0) return undefined;
  if (requested.comparison === 'exact') {
    return requested.classes.find(
      (requestedClass) =>
        requestedClass === unspecified || trueClasses.includes(aliases.get(requestedClass) ?? requestedClass),
    );
  }
  const levels = requested.classes.map(levelOf);
  const known = levels.filter((level) => level !== undefined);
  if (known.length === 0) return undefined;
  switch (requested.comparison) {
    case 'minimum':
      return levelAtLeast(strongest, Math.min(...known));
    case 'better':
      // Stronger than each of them; nothing is known to be stronger than an unknown class.
      return known.length === levels.length ? levelAtLeast(strongest, Math.max(...known) + 1) : undefined;
    case 'maximum':
      return (
        trueClasses.filter((name) => strength.indexOf(name) <= Math.max(...known)).at(-1) ??
        (requested.classes.includes(unspecified) ? unspecified : undefined)
      );
  }
}

function acceptsAnyContext(requested: RequestedAuthnContext | undefined): boolean {
  return !requested || (requested.comparison === 'minimum' && requested.classes.includes(unspecified));
}

/** Every class that is true of the sign-in, weakest first. */
function classesOf({ acr, amr }: CompletedSignIn): string[] {
  const level = acrLevel(acr);
  return strength.filter((_, index) => (index === 0 ? amr.includes('pwd') : index < level));
}

function levelOf(contextClass: string): number | undefined {
  if (contextClass === unspecified) return -1;
  const level = strength.indexOf(aliases.get(contextClass) ?? contextClass);
  return level < 0 ? undefined : level;
}

function levelAtLeast(name: string | undefined, level: number): string | undefined {
  return name !== undefined && strength.indexOf(name) >= level ? name : undefined;
}
